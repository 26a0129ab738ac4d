// SPDX-License-Identifier: GPL-2.0
/* From source lines to addresses, beside what gdb and readelf say. */
#include "compiled.h"
#include "lib/debug/dwarf/dwarf.h"

#define ADDRESSES_MAX	64

static const char header[] =
	"static inline __attribute__((always_inline)) int inside(int a)\n"
	"{\n"
	"	a *= 3;\n"
	"	return a + 1;\n"
	"}\n"
	"template<class T> T larger(T a, T b)\n"
	"{\n"
	"	return a > b ? a : b;\n"
	"}\n";

static const char source[] =
	"#include <cstdio>\n"
	"#include \"part.h\"\n"
	"namespace ns { struct cls { int fn(int); int fn(const char *); int x; };\n"
	"int cls::fn(int a)\n"
	"{\n"
	"	if (a > 10)\n"
	"		printf(\"cold\");\n"
	"	return inside(a) + x;\n"
	"}\n"
	"int cls::fn(const char *s)\n"
	"{\n"
	"	return s[0];\n"
	"}\n"
	"}\n"
	"static int local(int a)\n"
	"{\n"
	"	return inside(a) * 2;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	ns::cls c{3};\n"
	"	for (int i = 0; i < argc; i++)\n"
	"		printf(\"%d\\n\", c.fn(inside(local(argc))));\n"
	"\n"
	"	return larger(argc, 3) + larger(2.0, 3.0 * argc) + c.fn(argv[0]);\n"
	"}\n";

/* Prints "line address..." as gdb would break there. */
static const char gdb_script[] =
	"import gdb\n"
	"for file, last in (('a.cc', 27), ('part.h', 10)):\n"
	"    for line in range(1, last):\n"
	"        try:\n"
	"            where = gdb.decode_line('%s:%d' % (file, line))[1]\n"
	"        except gdb.error:\n"
	"            where = []\n"
	"        found = sorted(set(s.pc for s in where if s.pc))\n"
	"        print('%s %d %s' % (file, line,\n"
	"              ' '.join('%x' % a for a in found)))\n";

static char *sites_print(const struct dwarf_line_sites *sites, char *text)
{
	char *at = text;

	*at = '\0';
	for (size_t i = 0; i < sites->count && i < ADDRESSES_MAX; i++)
		at += sprintf(at, "%s%llx", i ? " " : "",
			      (unsigned long long)sites->sites[i].address);
	return text;
}

/* gdb has one address of each function; here copies of a line that was
 * optimised come after it. */
static bool is_same(const struct dwarf_line_sites *sites, const char *text,
		    const char *gdb)
{
	return !strcmp(text, gdb) ||
	       (sites->count > 1 && sites->sites[0].optimized &&
		sites->sites[0].function == sites->sites[1].function &&
		!strncmp(text, gdb, strlen(gdb)));
}

static void check_gdb(struct compiled *c, const char *program,
		      const char *flags)
{
	char line[1024], command[128], text[ADDRESSES_MAX * 20], file[64];
	unsigned int number, compared = 0, differ = 0, some = 0;
	FILE *pipe;
	int after;

	snprintf(command, sizeof(command),
		 "gdb -nx -batch -x gdb.py %s 2>/dev/null", program);
	pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof(line), pipe)) {
		struct dwarf_line_sites sites;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%63s %u %n", file, &number, &after) < 2 ||
		    dwarf_line_find(c->dwarf, file, number, &sites))
			continue;
		compared++;
		some += sites.count > 1;
		if (!is_same(&sites, sites_print(&sites, text),
			     line + after)) {
			tap_diag("%s:%u: %s, gdb: %s", file, number, text,
				 line + after);
			differ++;
		}
		dwarf_line_sites_free(&sites);
	}
	if (pipe)
		pclose(pipe);
	tap_ok(compared == 35 && some && !differ, "as gdb has it: %s", flags);
}

/* Every address has a row of the line that is the start of a statement. */
static void check_rows(struct compiled *c, const char *program,
		       const char *flags)
{
	unsigned int line, checked = 0, missing = 0;
	char command[256], row[64];

	if (!compiled_run("readelf --debug-dump=decodedline %s | "
			  "awk '/x$/ { print $1, $2, $3 }' >rows", program)) {
		tap_ok(false, "readelf: %s", flags);
		return;
	}
	for (line = 1; line < 27; line++) {
		const char *file = line < 10 ? "part.h" : "a.cc";
		struct dwarf_line_sites sites;

		if (dwarf_line_find(c->dwarf, file, line, &sites))
			continue;
		for (size_t i = 0; i < sites.count &&
				   sites.verdict != DWARF_LINE_PART; i++) {
			snprintf(row, sizeof(row), "%s %u 0x%llx", file,
				 sites.line,
				 (unsigned long long)sites.sites[i].address);
			snprintf(command, sizeof(command),
				 "grep -qi '^%s$' rows", row);
			checked++;
			if (system(command)) {
				tap_diag("no row: %s", row);
				missing++;
			}
		}
		dwarf_line_sites_free(&sites);
	}
	tap_ok(checked > 8 && !missing, "%u rows as readelf has them: %s",
	       checked, flags);
}

static const struct {
	const char *compile;
	bool gdb;		/* gdb has its own way with gcc -O2 */
} builds[] = {
	{ "g++ -O0 -gdwarf-4", true },
	{ "g++ -O0 -gdwarf-5", true },
	{ "g++ -O2 -gdwarf-5", false },
	{ "g++ -O0 -gdwarf-5 -gz", true },
	{ "g++ -O0 -gdwarf-4 -gz=zlib-gnu", true },
	{ "g++ -O0 -gdwarf-5 -gsplit-dwarf", true },
	{ "g++ -O0 -gdwarf-4 -gsplit-dwarf", true },
	{ "g++ -O2 -flto -gdwarf-5", false },
	{ "g++ -O0 -g -ffunction-sections -Wl,--gc-sections", true },
	{ "g++ -O0 -g -fdebug-types-section", true },
	{ "clang++ -O0 -gdwarf-4", true },
	{ "clang++ -O2 -gdwarf-5", true },
	{ "clang++ -O2 -gdwarf-5 -gsplit-dwarf", true },
	{ "clang++ -O1 -gdwarf-4 -fuse-ld=lld", true },
};

static void check_builds(void)
{
	compiled_write("part.h", header);
	compiled_write("a.cc", source);
	compiled_write("gdb.py", gdb_script);
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		const char *flags = builds[i].compile;
		struct compiled c;

		if (!compiled_run("rm -f a *.dwo; %s a.cc -o a", flags)) {
			tap_skip(flags, "the compiler can't do it");
			continue;
		}
		if (!compiled_open(&c, "a", NULL))
			continue;
		if (!c.dwarf)
			tap_ok(false, "DWARF: %s", flags);
		else if (builds[i].gdb && compiled_have("gdb"))
			check_gdb(&c, "a", flags);
		else
			check_rows(&c, "a", flags);
		compiled_close(&c);
	}
}

/*
 * Line tables written by hand: what compilers do rarely. `hot` and `cold` are
 * one function, the copy of a function that line 10 calls begins with it;
 * `one` and `two` are in the same line; `gone` is left out by the linker.
 */
static const char assembly[] =
	".file 1 \"src/Part.c\"\n"
	".file 2 \"lib/part.c\"\n"
	".file 3 \"src/part.c\"\n"
	".section .text.cold,\"ax\"\n"
	".globl cold\n"
	"cold:	.loc 1 10\n nop\n nop\n"
	".loc 1 12\n nop\n nop\n"
	".loc 1 11\n nop\n ret\n"
	".size cold,.-cold\n"
	"cold_end:\n"
	".text\n"
	".globl main\n"
	"main:\n"
	"hot:	.loc 1 10\n nop\n nop\n"
	"hot11:	.loc 1 11\n nop\n nop\n"
	"hot11a: .loc 1 11 2\n nop\n"
	".loc 1 14 0 is_stmt 0\n nop\n"
	".loc 1 11 0 is_stmt 1\n nop\n ret\n"
	"hot_end:\n"
	"one:	.loc 3 40\n nop\n ret\n"
	"one_end:\n"
	"two:	.loc 3 40\n nop\n ret\n"
	"two_end:\n"
	"lib:	.loc 2 60\n nop\n ret\n"
	"lib_end:\n"
	".type main,@function\n.size main,hot_end-main\n"
	".type one,@function\n.size one,one_end-one\n"
	".type two,@function\n.size two,two_end-two\n"
	".type lib,@function\n.size lib,lib_end-lib\n"
	".type cold,@function\n"
	".section .text.gone,\"ax\"\n"
	"gone:	.loc 1 20\n .skip 8192,0x90\n ret\n"
	".size gone,.-gone\n.type gone,@function\n"
	".section .debug_info,\"\",@progbits\n"
	".long info_end-info\n"
	"info: .short 4\n .long abbrev\n .byte 8\n"
	" .uleb128 1\n .asciz \"src/Part.c\"\n .asciz \"/made/in\"\n"
	" .byte 12\n .long line\n .long ranges\n .quad 0\n"
	" .uleb128 2\n .asciz \"hot\"\n .long ranges_hot\n"
	" .uleb128 4\n .quad hot\n .quad 2\n .byte 1\n .byte 10\n .byte 0\n"
	" .uleb128 3\n .asciz \"one\"\n .quad one\n .quad one_end-one\n"
	" .uleb128 3\n .asciz \"two\"\n .quad two\n .quad two_end-two\n"
	" .byte 0\n"
	"info_end:\n"
	".section .debug_abbrev,\"\",@progbits\n"
	"abbrev:\n"
	" .uleb128 1\n .uleb128 0x11\n .byte 1\n .uleb128 3\n .uleb128 8\n"
	" .uleb128 0x1b\n .uleb128 8\n .uleb128 0x13\n .uleb128 0xb\n"
	" .uleb128 0x10\n .uleb128 0x17\n .uleb128 0x55\n .uleb128 0x17\n"
	" .uleb128 0x11\n .uleb128 1\n .byte 0,0\n"
	" .uleb128 2\n .uleb128 0x2e\n .byte 1\n .uleb128 3\n .uleb128 8\n"
	" .uleb128 0x55\n .uleb128 0x17\n .byte 0,0\n"
	" .uleb128 3\n .uleb128 0x2e\n .byte 0\n .uleb128 3\n .uleb128 8\n"
	" .uleb128 0x11\n .uleb128 1\n .uleb128 0x12\n .uleb128 7\n .byte 0,0\n"
	" .uleb128 4\n .uleb128 0x1d\n .byte 0\n .uleb128 0x11\n .uleb128 1\n"
	" .uleb128 0x12\n .uleb128 7\n .uleb128 0x58\n .uleb128 0xb\n"
	" .uleb128 0x59\n .uleb128 0xb\n .byte 0,0\n"
	" .byte 0\n"
	".section .debug_ranges,\"\",@progbits\n"
	"ranges: .quad main,lib_end,cold,cold_end,gone,gone+8193,0,0\n"
	"ranges_hot: .quad hot,hot_end,cold,cold_end,0,0\n"
	".section .debug_line,\"\",@progbits\n"
	"line:\n";

struct expectation {
	const char *name, *file;
	uint32_t line;
	enum dwarf_line_verdict verdict;
	uint32_t found;
	const char *symbols[3];	/* where; NULL ends */
	bool several;
};

static const struct expectation expectations[] = {
	{ "the part with the entry, though it isn't lowest", "Part.c", 10,
	  DWARF_LINE_FOUND, 10, { "hot" } },
	{ "the first of a line", "Part.c", 11, DWARF_LINE_FOUND, 11,
	  { "hot11" } },
	{ "only in the cold part", "Part.c", 12, DWARF_LINE_FOUND, 12,
	  { "cold+2" } },
	{ "no statement begins in it", "Part.c", 14, DWARF_LINE_PART, 14,
	  { "hot11a+1" } },
	{ "what the linker left out has no lines", "Part.c", 20,
	  DWARF_LINE_PAST, 12, { 0 } },
	{ "the next line that has code", "Part.c", 1, DWARF_LINE_NEXT, 10,
	  { "hot" } },
	{ "exact case goes first", "part.c", 40, DWARF_LINE_FOUND, 40,
	  { "one", "two" }, true },
	{ "either case, the one that it is", "PART.C", 40, DWARF_LINE_FOUND,
	  40, { "one", "two" }, true },
	{ "a directory distinguishes files", "lib/part.c", 1, DWARF_LINE_NEXT,
	  60, { "lib" } },
	{ "a directory in either case, \\ separates", "LIB\\Part.c", 60,
	  DWARF_LINE_FOUND, 60, { "lib" } },
	{ "the whole path", "/made/in/lib/part.c", 60, DWARF_LINE_FOUND, 60,
	  { "lib" } },
	{ "dots in front", "../lib/part.c", 60, DWARF_LINE_FOUND, 60,
	  { "lib" } },
	{ "half a name is none", "art.c", 10, DWARF_LINE_NO_FILE, 10, { 0 } },
	{ "another directory", "in/part.c", 10, DWARF_LINE_NO_FILE, 10,
	  { 0 } },
	{ "after the last line", "lib/part.c", 61, DWARF_LINE_PAST, 60,
	  { 0 } },
};

static uint64_t address_of(const struct compiled *c, const char *text)
{
	char name[64];
	unsigned int plus = 0;

	sscanf(text, "%63[^+]+%u", name, &plus);
	return compiled_symbol(c, name) + plus;
}

static void check_expectation(struct compiled *c, const struct expectation *e)
{
	struct dwarf_line_sites sites;
	size_t count = 0;
	bool same;

	if (dwarf_line_find(c->dwarf, e->file, e->line, &sites)) {
		tap_ok(false, "%s: no memory", e->name);
		return;
	}
	while (count < 3 && e->symbols[count])
		count++;
	same = sites.verdict == e->verdict && sites.line == e->found &&
	       sites.count == count && sites.several_files == e->several;
	for (size_t i = 0; same && i < count; i++)
		same = sites.sites[i].address == address_of(c, e->symbols[i]);
	if (!tap_ok(same, "%s", e->name))
		tap_diag("verdict %d, line %u, %zu addresses from %#llx, %s",
			 sites.verdict, sites.line, sites.count,
			 sites.count ? (unsigned long long)sites.sites[0].address :
				       0, sites.file);
	dwarf_line_sites_free(&sites);
}

static void check_address(struct compiled *c, const char *at, uint32_t line,
			  bool begins)
{
	uint64_t address = address_of(c, at);
	const char *file = "";
	uint32_t found = 0;
	bool known = dwarf_line_of(c->dwarf, address, &file, &found);

	tap_ok(known == !!line && (!known || found == line) &&
	       dwarf_line_begins(c->dwarf, address) == begins,
	       "the line of %s is %u (%s:%u)", at, line, file, found);
}

static void check_by_hand(void)
{
	struct compiled c;

	compiled_write("b.s", assembly);
	if (!compiled_run("gcc -nostdlib -static -Wl,--gc-sections,-emain,"
			  "-u,cold b.s -o b")) {
		tap_skip("line tables by hand", "the assembler can't do it");
		return;
	}
	if (!compiled_open(&c, "b", NULL) || !c.dwarf) {
		tap_ok(false, "line tables by hand");
		return;
	}
	for (size_t i = 0; i < sizeof(expectations) / sizeof(expectations[0]);
	     i++)
		check_expectation(&c, &expectations[i]);
	check_address(&c, "hot", 10, true);
	check_address(&c, "hot+1", 10, false);
	check_address(&c, "hot11a", 11, true);
	check_address(&c, "hot11a+1", 14, false);
	check_address(&c, "hot_end", 40, true);
	check_address(&c, "cold+2", 12, true);
	compiled_close(&c);
}

int main(void)
{
	compiled_begin();
	check_by_hand();
	check_builds();
	return tap_done();
}
