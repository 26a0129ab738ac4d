// SPDX-License-Identifier: GPL-2.0
/* Functions and inlined copies by name and by address, beside nm and
 * addr2line. */
#include "compiled.h"
#include "lib/debug/dwarf/dwarf.h"

static const char header[] =
	"static inline __attribute__((always_inline)) int inside(int a)\n"
	"{\n"
	"	asm volatile(\"nop\");\n"
	"	return a + 1;\n"
	"}\n";

static const char source_a[] =
	"#include \"part.h\"\n"
	"namespace ns {\n"
	"struct cls {\n"
	"	cls(int);\n"
	"	~cls();\n"
	"	int fn(int) const;\n"
	"	int fn(const char *);\n"
	"	int operator()(int);\n"
	"	bool operator<(const cls &) const;\n"
	"	template<class T> T tm(T);\n"
	"	int x;\n"
	"};\n"
	"cls::cls(int a) : x(a) {}\n"
	"cls::~cls() { x = 0; }\n"
	"int cls::fn(int a) const { return inside(a) + x; }\n"
	"int cls::fn(const char *s) { return *s; }\n"
	"int cls::operator()(int a) { return a; }\n"
	"bool cls::operator<(const cls &o) const { return x < o.x; }\n"
	"template<class T> T cls::tm(T t) { return t + x; }\n"
	"template int cls::tm<int>(int);\n"
	"template long cls::tm<long>(long);\n"
	"extern \"C\" int in_c(int a) { return a + 5; }\n"
	"namespace { __attribute__((noinline)) int hidden(int a) {\n"
	"	asm volatile(\"\");\n"
	"	return a * 3; } }\n"
	"int call(int a) { return hidden(a); }\n"
	"}\n"
	"__attribute__((noinline)) static int twice(int a)\n"
	"{\n"
	"	asm volatile(\"\");\n"
	"	return a * 2;\n"
	"}\n"
	"template<class T> T out(T t) { return t * 2; }\n"
	"template int out<int>(int);\n"
	"int fn(int a) { return twice(inside(a)); }\n"
	"int other(int);\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	return fn(argc) + inside(argc) + other(3);\n"
	"}\n";

static const char source_b[] =
	"#include \"part.h\"\n"
	"__attribute__((noinline)) static int twice(int a)\n"
	"{\n"
	"	asm volatile(\"\");\n"
	"	return a + a;\n"
	"}\n"
	"int other(int a) { return twice(inside(a)); }\n";

static const struct {
	const char *name, *file;
	const char *symbols[4];	/* mangled, where it has code of its own */
	unsigned int inlined;	/* copies of it */
} names[] = {
	{ "main", NULL, { "main" } },
	{ "fn", NULL, { "_Z2fni", "_ZNK2ns3cls2fnEi", "_ZN2ns3cls2fnEPKc" } },
	{ "cls::fn", NULL, { "_ZNK2ns3cls2fnEi", "_ZN2ns3cls2fnEPKc" } },
	{ "fn(int)", NULL, { "_Z2fni", "_ZNK2ns3cls2fnEi" } },
	{ "fn(int) const", NULL, { "_ZNK2ns3cls2fnEi" } },
	{ "ns::cls::fn(const char *)", NULL, { "_ZN2ns3cls2fnEPKc" } },
	{ "ns::cls::fn(char const*)", NULL, { "_ZN2ns3cls2fnEPKc" } },
	{ "_ZN2ns3cls2fnEPKc", NULL, { "_ZN2ns3cls2fnEPKc" } },
	{ "s::cls::fn", NULL, { 0 } },
	{ "cls::fn(long)", NULL, { 0 } },
	{ "tm", NULL, { "_ZN2ns3cls2tmIiEET_S2_", "_ZN2ns3cls2tmIlEET_S2_" } },
	{ "cls::tm<long>", NULL, { "_ZN2ns3cls2tmIlEET_S2_" } },
	{ "int ns::cls::tm<int>(int)", NULL, { "_ZN2ns3cls2tmIiEET_S2_" } },
	{ "long ns::cls::tm<int>(int)", NULL, { 0 } },
	{ "int out<int>(int)", NULL, { "_Z3outIiET_S0_" } },
	{ "operator()", NULL, { "_ZN2ns3clsclEi" } },
	{ "cls::operator<", NULL, { "_ZNK2ns3clsltERKS0_" } },
	{ "cls::~cls", NULL, { "_ZN2ns3clsD1Ev" } },
	{ "in_c", NULL, { "in_c" } },
	{ "hidden", NULL, { "_ZN2ns12_GLOBAL__N_16hiddenEi" } },
	{ "ns::(anonymous namespace)::hidden", NULL,
	  { "_ZN2ns12_GLOBAL__N_16hiddenEi" } },
	{ "other", NULL, { "_Z5otheri" } },
	{ "other", "b.cc", { "_Z5otheri" } },
	{ "other", "a.cc", { 0 } },
	{ "inside", NULL, { 0 }, 4 },
	{ "inside", "part.h", { 0 }, 4 },
	{ "inside", "a.cc", { 0 }, 3 },
	{ "inside", "B.CC", { 0 }, 1 },
	{ "inside(int)", NULL, { 0 }, 4 },
	{ "nothing", NULL, { 0 } },
};

static uint64_t symbol_of(const struct compiled *c, const char *name)
{
	const struct module_symbol *symbol;
	bool others;

	symbol = module_symbol_find(c->module, name, MODULE_CODE, &others);
	return symbol ? symbol->address : 0;
}

/* The innermost source line that addr2line -i gives is in part.h; some split
 * debug information it can't read. */
static bool is_inside(const char *program, uint64_t address)
{
	char command[128];

	snprintf(command, sizeof(command),
		 "addr2line -e %s -i -s %#llx | head -1 | grep -q '^part.h:\\|^[?][?]'",
		 program, (unsigned long long)address);
	return !system(command);
}

/* Returns how many are wrong. */
static unsigned int check_name(struct compiled *c, size_t i, bool whole)
{
	struct dwarf_functions found;
	size_t own = 0, inlined = 0;
	bool good = true;

	if (dwarf_function_find(c->dwarf, names[i].name, names[i].file,
				&found))
		return 1;
	for (size_t k = 0; k < found.count; k++) {
		uint64_t entry = found.functions[k].entry;
		bool known = false;

		if (found.functions[k].inlined) {
			/* optimisation makes more of them */
			inlined++;
			good &= !names[i].inlined || is_inside("a", entry);
			continue;
		}
		own++;
		for (size_t n = 0; n < 4 && names[i].symbols[n]; n++)
			known |= symbol_of(c, names[i].symbols[n]) == entry;
		good &= known;
	}
	for (size_t n = 0; n < 4 && names[i].symbols[n]; n++)
		own -= symbol_of(c, names[i].symbols[n]) != 0;
	good &= !own && (!names[i].inlined || inlined) &&
		(!whole || inlined == names[i].inlined);
	if (!good)
		tap_diag("'%s' in %s: %zu found, %zu of them inlined, %zd own too many",
			 names[i].name, names[i].file ? names[i].file : "-",
			 found.count, inlined, own);
	dwarf_functions_free(&found);
	return !good;
}

struct each {
	struct compiled *c;
	unsigned int count, wrong;
	bool found_cls, found_hidden;
};

static int each_take(void *context, const char *name,
		     const struct dwarf_function *function)
{
	struct each *each = context;
	struct dwarf_functions at;

	each->count++;
	each->found_cls |= !strcmp(name, "ns::cls::fn");
	each->found_hidden |= !strcmp(name, "ns::(anonymous namespace)::hidden");
	if (dwarf_function_at(each->c->dwarf, function->ranges[0].end - 1,
			      &at))
		return 1;
	each->wrong += at.count != 1 ||
		       at.functions[0].entry != function->entry;
	dwarf_functions_free(&at);
	return 0;
}

static void check_build(const char *flags, const char *after, bool whole)
{
	bool keeps_all = !strstr(flags, "-flto");
	struct each each = {0};
	unsigned int wrong = 0;
	struct compiled c;

	if (!compiled_run("rm -rf a *.o *.dwo; %s a.cc b.cc -o a && %s", flags,
			  after)) {
		tap_skip(flags, "the compiler can't do it");
		return;
	}
	if (!compiled_open(&c, "a", NULL) || !c.dwarf) {
		tap_ok(false, "DWARF: %s", flags);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		wrong += check_name(&c, i, whole);
	tap_ok(!wrong, "%u names of %zu wrong: %s; %s", wrong,
	       sizeof(names) / sizeof(names[0]), flags, after);
	each.c = &c;
	dwarf_function_each(c.dwarf, each_take, &each);
	if (!tap_ok(!each.wrong && each.found_cls == keeps_all &&
		    each.found_hidden == keeps_all && each.count > 1,
		    "each function, by its last byte, too"))
		tap_diag("%u functions, %u wrong, %d %d", each.count,
			 each.wrong, each.found_cls, each.found_hidden);
	compiled_close(&c);
}

static void check_builds(void)
{
	static const struct {
		const char *flags, *after;
		bool whole;	/* nothing but what has to be is inlined */
	} builds[] = {
		{ "g++ -O0 -gdwarf-4", ":", true },
		{ "g++ -O0 -gdwarf-5", ":", true },
		{ "g++ -O2 -gdwarf-5", ":", false },
		{ "g++ -O2 -gdwarf-5 -gsplit-dwarf", ":", false },
		{ "g++ -O0 -gdwarf-4 -gsplit-dwarf", ":", true },
		{ "g++ -O0 -gdwarf-5 -gz -fdebug-types-section", ":", true },
		{ "g++ -O0 -g -fno-eliminate-unused-debug-types", "dwz a", true },
		{ "g++ -O0 -g", "cp a b && dwz -m shared a b", true },
		{ "g++ -O2 -g -flto", ":", false },
		{ "clang++ -O0 -gdwarf-4", ":", true },
		{ "clang++ -O2 -gdwarf-5", ":", false },
		{ "clang++ -O2 -gdwarf-5 -gsplit-dwarf", ":", false },
	};

	compiled_write("part.h", header);
	compiled_write("a.cc", source_a);
	compiled_write("b.cc", source_b);
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++)
		check_build(builds[i].flags, builds[i].after, builds[i].whole);
}

static const char parted[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"__attribute__((cold,noinline)) void fail(int a) {\n"
	"	printf(\"%d\\n\", a); exit(1); }\n"
	"__attribute__((noinline)) int work(int a, int *p)\n"
	"{\n"
	"	if (__builtin_expect(!p, 0)) {\n"
	"		fail(a); fail(a + 1); fail(a + 2); fail(a * 3);\n"
	"	}\n"
	"	return *p + a;\n"
	"}\n"
	"int main(int argc, char **argv) { return work(argc, &argc); }\n";

/* The ranges don't ascend, or the one with the entry isn't the lowest. */
static void check_parts(const char *compiler)
{
	struct dwarf_functions found;
	struct compiled c;
	uint64_t cold;

	compiled_write("c.c", parted);
	if (!compiled_run("%s -O2 -g c.c -o c && nm c | grep -q work.cold",
			  compiler)) {
		tap_skip(compiler, "makes no cold parts");
		return;
	}
	if (!compiled_open(&c, "c", NULL) || !c.dwarf) {
		tap_ok(false, "cold parts: %s", compiler);
		return;
	}
	cold = compiled_symbol(&c, "work.cold");
	tap_ok(!dwarf_function_find(c.dwarf, "work", NULL, &found) &&
	       found.count == 1 && found.functions[0].range_count == 2 &&
	       found.functions[0].entry == compiled_symbol(&c, "work"),
	       "a function with a cold part begins where its symbol does");
	dwarf_functions_free(&found);
	tap_ok(!dwarf_function_at(c.dwarf, cold, &found) && found.count == 1 &&
	       found.functions[0].entry == compiled_symbol(&c, "work"),
	       "the cold part belongs to it");
	dwarf_functions_free(&found);
	tap_ok(!dwarf_function_at(c.dwarf, 1, &found) && !found.count,
	       "nothing belongs to no function");
	compiled_close(&c);
}

int main(void)
{
	compiled_begin();
	check_builds();
	check_parts("gcc");
	return tap_done();
}
