// SPDX-License-Identifier: GPL-2.0
/* Debug information that is cut, damaged, circular or large, or changes while
 * it is read: every look-up ends, soon, and nothing is made up. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include "compiled.h"
#include "lib/debug/dwarf/dwarf.h"

#define CUTS	64

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

struct visit {
	struct dwarf_file *dwarf;
	unsigned int count;
};

static int visit_take(void *context, const char *name,
		      const struct dwarf_function *function)
{
	struct visit *visit = context;
	struct dwarf_functions found;
	struct dwarf_line_sites sites;
	const char *file;
	uint32_t line;

	visit->count++;
	for (size_t i = 0; i < function->range_count; i++) {
		size_t available;

		if (!module_code(visit->dwarf->module,
				 function->ranges[i].end - 1, &available, NULL))
			tap_ok(false, "code of %s that isn't there", name);
	}
	if (!dwarf_function_find(visit->dwarf, name, NULL, &found))
		dwarf_functions_free(&found);
	if (!dwarf_function_at(visit->dwarf, function->entry, &found))
		dwarf_functions_free(&found);
	if (dwarf_line_of(visit->dwarf, function->entry, &file, &line) &&
	    !dwarf_line_find(visit->dwarf, file, line, &sites))
		dwarf_line_sites_free(&sites);
	return 0;
}

/* Everything that can be asked; returns how many functions there are. */
static unsigned int visit_all(struct dwarf_file *dwarf)
{
	struct visit visit = { dwarf };
	struct dwarf_functions found;
	struct dwarf_line_sites sites;

	dwarf_function_each(dwarf, visit_take, &visit);
	if (!dwarf_function_find(dwarf, "work", "a.c", &found))
		dwarf_functions_free(&found);
	if (!dwarf_line_find(dwarf, "a.c", 5, &sites))
		dwarf_line_sites_free(&sites);
	return visit.count;
}

static unsigned int visit_file(const char *path)
{
	static const struct dwarf_search search;
	unsigned int count = 0;
	struct dwarf_file *dwarf;
	struct module *module;
	struct error err;

	if (module_open(&module, path, path, 0, &err))
		return 0;
	if (!dwarf_file_open(&dwarf, module, path, &search, &err)) {
		count = visit_all(dwarf);
		dwarf_file_close(dwarf);
	}
	module_close(module);
	return count;
}

static const char program[] =
	"static inline __attribute__((always_inline)) int part(int a)\n"
	"{ return a * 3; }\n"
	"__attribute__((noinline)) static int work(int a)\n"
	"{\n"
	"	return part(a) + 1;\n"
	"}\n"
	"int main(int argc, char **argv) { return work(argc) + part(2); }\n";

/* Debug information that ends too early, in a file of its own. */
static void check_cut(void)
{
	struct compiled whole;
	struct stat st;
	double start;

	compiled_write("a.c", program);
	if (!compiled_run("gcc -O1 -g a.c -o a") || stat("a", &st)) {
		tap_skip("cut debug information", "needs gcc");
		return;
	}
	if (!compiled_open(&whole, "a", NULL) || !whole.dwarf)
		tap_bail("no debug information");
	tap_is(visit_all(whole.dwarf), 2, "functions in the whole one");
	compiled_close(&whole);
	start = now();
	for (int i = 1; i < CUTS; i++) {
		long part = st.st_size / CUTS;

		compiled_run("cp a b && dd if=/dev/zero of=b bs=1 conv=notrunc "
			     "seek=%ld count=%ld", part * i, part);
		visit_file("b");
		compiled_run("head -c %ld a >b", part * i);
		visit_file("b");
	}
	tap_ok(now() - start < 5, "parts of it are missing");
}

static void check_refused(const char *path, const char *name)
{
	struct compiled c;

	if (!compiled_open(&c, path, NULL))
		return;
	tap_ok(!c.dwarf && strstr(c.err.text, "a string has no end"),
	       "strings without an end: %s", name);
	compiled_close(&c);
}

/* Strings would be read past their section. */
static void check_strings(void)
{
	static const char *const sections[] = {
		".debug_str", ".debug_line_str",
	};
	const char *single =
		".section .debug_info,\"\",@progbits\n"
		"unit: .long end-start\nstart: .short 4\n .long abbrev\n"
		" .byte 8\n .uleb128 1\n .ascii \"a.c\"\nend:\n"
		".section .debug_abbrev,\"\",@progbits\nabbrev:\n"
		" .uleb128 1,0x11\n .byte 0\n .uleb128 3,8, 0,0, 0\n"
		".text\n.globl main\nmain: ret\n";

	for (size_t i = 0; i < 2; i++) {
		if (compiled_run("gcc -gdwarf-5 a.c -o a && "
				 "objcopy --dump-section %s=strings a && "
				 "tr '\\0' x <strings >endless && "
				 "objcopy --update-section %s=endless a b",
				 sections[i], sections[i]))
			check_refused("b", sections[i]);
		else
			tap_skip(sections[i], "the compiler has none");
	}
	compiled_write("h.s", single);
	if (compiled_run("gcc -nostdlib -static -Wl,-emain h.s -o h"))
		check_refused("h", "in .debug_info");
	else
		tap_skip("in .debug_info", "the assembler can't do it");
}

/* The file shrinks between two look-ups. */
static void check_change(void)
{
	struct compiled c;

	for (int when = 0; when < 2; when++) {
		static const struct dwarf_search search;

		compiled_run("rm -f c && cp a c");
		memset(&c, 0, sizeof(c));
		if (module_open(&c.module, "c", "c", 0, &c.err))
			tap_bail("%s", c.err.text);
		if (!when && truncate("c", 100))
			tap_bail("truncate");
		dwarf_file_open(&c.dwarf, c.module, "c", &search, &c.err);
		if (when && truncate("c", 100))
			tap_bail("truncate");
		if (c.dwarf)
			visit_all(c.dwarf);
		tap_ok(module_check_unchanged(c.module, &c.err) == -EAGAIN,
		       "it is seen that the file changed");
		compiled_close(&c);
	}
}

/* Abbreviations 1 to 9: unit, function, copy of a function, definition of a
 * declaration, block, namespace, inlined copy, function with ranges, with a
 * sibling. */
static const char abbreviations[] =
	".section .debug_abbrev,\"\",@progbits\n"
	"abbrev:\n"
	".macro entry code, tag, children\n"
	" .uleb128 \\code, \\tag\n .byte \\children\n"
	".endm\n"
	"entry 1, 0x11, 1\n .uleb128 3,8, 0x10,0x17, 0x11,1, 0x12,7, 0,0\n"
	"entry 2, 0x2e, 1\n .uleb128 3,8, 0x11,1, 0x12,7, 0,0\n"
	"entry 3, 0x2e, 0\n .uleb128 0x31,0x13, 0x11,1, 0x12,7, 0,0\n"
	"entry 4, 0x2e, 0\n .uleb128 0x47,0x13, 0x11,1, 0x12,7, 0,0\n"
	"entry 5, 0x0b, 1\n .uleb128 0,0\n"
	"entry 6, 0x39, 1\n .uleb128 3,8, 0,0\n"
	"entry 7, 0x1d, 0\n .uleb128 0x31,0x13, 0x11,1, 0x12,7, 0,0\n"
	"entry 8, 0x2e, 0\n .uleb128 3,8, 0x55,0x17, 0,0\n"
	"entry 9, 0x39, 1\n .uleb128 3,8, 1,0x13, 0,0\n"
	" .byte 0\n";

/* A unit with these entries; main is 16 bytes of code. */
static bool build(const char *entries, const char *more)
{
	FILE *file = fopen("h.s", "w");

	if (!file)
		return false;
	fprintf(file,
		".file 1 \"a.c\"\n.text\n.globl main\n.type main,@function\n"
		"main: .loc 1 5\n .skip 8,0x90\n .loc 1 6\n .skip 7,0x90\n"
		" ret\n.size main,.-main\n"
		".section .debug_info,\"\",@progbits\n"
		"unit: .long end-start\n"
		"start: .short 4\n .long abbrev\n .byte 8\n"
		" .uleb128 1\n .asciz \"a.c\"\n .long line\n .quad main\n"
		" .quad 16\n%s .byte 0\nend:\n"
		".section .debug_line,\"\",@progbits\nline:\n%s%s",
		entries, abbreviations, more);
	fclose(file);
	return compiled_run("gcc -nostdlib -static -emain h.s -o h") ||
	       compiled_run("gcc -nostdlib -static -Wl,-emain h.s -o h");
}

static void check_entries(const char *entries, const char *more,
			  unsigned int functions, const char *name)
{
	double start;
	unsigned int count;

	if (!build(entries, more)) {
		tap_skip(name, "the assembler can't do it");
		return;
	}
	start = now();
	count = visit_file("h");
	tap_is(count, functions, "%s", name);
	tap_ok(now() - start < 1, "%s: at once", name);
}

static char *repeat(const char *text, unsigned int times)
{
	char *all = malloc(strlen(text) * times + 1), *at = all;

	if (!all)
		tap_bail("out of memory");
	*at = '\0';
	while (times--)
		at = stpcpy(at, text);
	return all;
}

static void check_damage(void)
{
	char *many, *more;

	check_entries(" .uleb128 2\n .asciz \"f\"\n .quad main, 16\n .byte 0\n",
		      "", 1, "a function");
	check_entries("one: .uleb128 3\n .long two-unit\n .quad main, 8\n"
		      "two: .uleb128 3\n .long one-unit\n .quad main+8, 8\n",
		      "", 0, "copies of each other");
	check_entries("one: .uleb128 4\n .long one-unit\n .quad main, 8\n"
		      "two: .uleb128 7\n .long two-unit\n .quad main+8, 8\n",
		      "", 0, "a definition of itself");
	check_entries(" .uleb128 3\n .long 0x7fffffff\n .quad main, 8\n",
		      "", 0, "a copy of what isn't there");
	check_entries(" .uleb128 2\n .asciz \"f\"\n .quad main, -1\n .byte 0\n",
		      "", 0, "a function around the end of the world");
	check_entries(" .uleb128 8\n .asciz \"f\"\n .long ranges\n",
		      ".section .debug_ranges,\"\",@progbits\nranges:\n"
		      " .quad main, -1, 0, -1, 0, 1<<40\n"
		      " .rept 50000\n .quad 0, 8\n .endr\n", 1,
		      "ranges without an end");
	check_entries("one: .uleb128 9\n .asciz \"n\"\n .long one-unit\n"
		      " .uleb128 2\n .asciz \"f\"\n .quad main, 16\n .byte 0\n"
		      " .byte 0\n", "", 1, "its own sibling");
	many = repeat(" .uleb128 5\n", 20000);
	check_entries(many, "", 0, "blocks in blocks");
	free(many);
	many = repeat(" .uleb128 9\n .asciz \"\"\n .long 1f-unit\n1:\n", 5000);
	check_entries(many, "", 0, "siblings that are children");
	free(many);
	many = repeat(" .uleb128 7\n .long one-unit\n .quad main, 16\n", 50000);
	more = malloc(strlen(many) + 64);
	if (!more)
		tap_bail("out of memory");
	sprintf(more, "one: .uleb128 2\n .asciz \"f\"\n .quad main, 16\n%s"
		      " .byte 0\n", many);
	check_entries(more, "", 1, "copies at one address");
	free(more);
	free(many);
}

int main(void)
{
	tap_limit_memory(1 << 30);
	compiled_begin();
	check_cut();
	check_strings();
	check_change();
	check_damage();
	return tap_done();
}
