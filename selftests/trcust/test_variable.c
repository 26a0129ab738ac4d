// SPDX-License-Identifier: GPL-2.0
/*
 * Which variable a name means at an address, as C and C++ see it from there.
 * The programs of places/ are compiled in several ways; the size of its type
 * distinguishes a variable from others of the same name.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "tap.h"
#include "lib/debug/dwarf/dwarf.h"

#define NONE	(-1)
#define ENUM	(-2)		/* an enumerator */

struct query {
	const char *label, *name;
	int size;
};

static const struct query c_queries[] = {
	{ "in_block", "x", 22 },
	{ "in_block", "glob", 28 },
	{ "in_block", "parameter", 8 },
	{ "in_block", "stat_of_nested", 27 },
	{ "in_block", "stat", 11 },
	{ "after_block", "x", 21 },
	{ "after_block", "glob", 12 },
	{ "in_inlined", "x", 23 },
	{ "in_inlined", "in_static", 24 },
	{ "in_inlined", "outer", 26 },
	{ "after_inlined", "x", 25 },
	{ "after_inlined", "parameter", NONE },
	{ "after_inlined", "other", 13 },
	{ "after_inlined", "same", 14 },
	{ "after_inlined", "only_here", 15 },
	{ "after_inlined", "scope2.c:same", 16 },
	{ "after_inlined", "scope.c:same", 14 },
	{ "after_inlined", "places/scope2.c:same", 16 },
	{ "after_inlined", "scope3.c:same", NONE },
	{ "after_inlined", "cope2.c:same", NONE },
	{ "after_inlined", "ONE", ENUM },
	{ "after_inlined", "FOUR", ENUM },
	{ "after_inlined", "THREE", NONE },
	{ "after_inlined", "nothing", NONE },
	{ "after_inlined", "", NONE },
	{ "after_inlined", "::", NONE },
	{ "in_unions", "THREE", ENUM },
	{ "in_unions", "elsewhere", 17 },
	{ "in_second", "same", 16 },
	{ "in_second", "only_here", 15 },
	{ "in_second", "stat", 11 },
	{ "in_second", "scope.c:same", 14 },
};

static const struct query cxx_queries[] = {
	{ "in_method", "this", 8 },
	{ "in_method", "parameter", 4 },
	{ "in_method", "member", 35 },
	{ "in_method", "constant", 4 },
	{ "in_method", "in_inner", 33 },
	{ "in_method", "in_outer", 31 },
	{ "in_method", "in_inline", 32 },
	{ "in_method", "twice", 34 },
	{ "in_method", "outer::twice", 36 },
	{ "in_method", "kind::red", ENUM },
	{ "in_method", "red", NONE },
	{ "in_method", "anonymous", 37 },
	{ "in_method", "as_int", 4 },
	{ "in_main", "twice", 38 },
	{ "in_main", "::twice", 38 },
	{ "in_main", "inner::twice", 34 },
	{ "in_main", "outer::inner::twice", 34 },
	{ "in_main", "ner::twice", NONE },
	{ "in_main", "cls::member", 35 },
	{ "in_main", "inner::cls::member", 35 },
	{ "in_main", "member", NONE },
	{ "in_main", "in_inner", NONE },
	{ "in_main", "outer::in_inline", 32 },
	{ "in_main", "through_using", 39 },
	{ "in_main", "in_outer", 31 },
	{ "in_main", "anonymous", 37 },
	{ "in_main", "local", 41 },
	{ "in_main", "in_lambda", NONE },
	{ "in_body_of_lambda", "in_lambda", 42 },
	{ "in_body_of_lambda", "parameter", 1 },
	{ "in_instance", "filled", 43 },
};

static struct dwarf_file *dwarf;

static int find(const struct query *query)
{
	struct dwarf_variable variable[2];
	const struct module_symbol *symbol;
	struct dwarf_from from = { 0 };
	Dwarf_Word size;
	bool others;

	symbol = module_symbol_find(dwarf->module, query->label, MODULE_CODE,
				    &others);
	if (!symbol)
		return -3;
	from.pc = symbol->address;
	if (dwarf_variable_find(dwarf, &from, query->name, variable))
		return NONE;
	if (dwarf_tag(&variable->die) == DW_TAG_enumerator)
		return ENUM;
	return dwarf_aggregate_size(&variable->type, &size) ? -4 : (int)size;
}

static void check(const char *how, const char *program,
		  const struct query *queries, size_t count)
{
	struct dwarf_search search = {0};
	struct error err = {0};
	struct module *module;
	size_t good = 0;

	if (module_open(&module, program, program, TDF_MODULE_USER, &err) ||
	    dwarf_file_open(&dwarf, module, program, &search, &err)) {
		tap_ok(false, "%s: %s", how, err.text);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		int got = find(&queries[i]);

		good += got == queries[i].size;
		if (got != queries[i].size)
			tap_diag("'%s' at %s: got %d, expected %d",
				 queries[i].name, queries[i].label, got,
				 queries[i].size);
	}
	tap_ok(good == count, "%s", how);
	dwarf_file_close(dwarf);
	module_close(module);
}

#define CHECK(how, queries) \
	check(how, "program", queries, sizeof(queries) / sizeof(queries[0]))

static void run(const char *compiler, const char *options, const char *sources,
		bool cxx)
{
	char command[1024], how[256];

	snprintf(how, sizeof(how), "%s %s", compiler, options);
	snprintf(command, sizeof(command), "%s %s -o program %s 2>/dev/null",
		 compiler, options, sources);
	if (system(command)) {
		tap_skip(how, "the compiler can't do it");
		return;
	}
	if (cxx)
		CHECK(how, cxx_queries);
	else
		CHECK(how, c_queries);
}

int main(int argc, char **argv)
{
	static const char *const options[] = {
		"-g -O0", "-g -O2", "-gdwarf-4 -O2", "-g -O2 -gsplit-dwarf",
		"-gdwarf-4 -O2 -gsplit-dwarf", "-g -O3", "-g -O2 -flto",
		"-g -O2 -fdebug-types-section",
	};
	char directory[] = "/tmp/rastrace.XXXXXX", command[4096];
	const char *top = getenv("TOP");

	elf_version(EV_CURRENT);
	if (!mkdtemp(directory))
		tap_bail("no directory to build in");
	snprintf(command, sizeof(command), "cp -r %s/selftests/trcust/places %s",
		 top ? top : "../../..", directory);
	if (system(command) || chdir(directory))
		tap_bail("no directory to build in");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		run("gcc", options[i], "places/scope.c places/scope2.c", false);
		run("clang", options[i], "places/scope.c places/scope2.c",
		    false);
		run("g++", options[i], "places/scope.cc", true);
		run("clang++", options[i], "places/scope.cc", true);
	}
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return tap_done() | (system(command) != 0);
}
