// SPDX-License-Identifier: GPL-2.0
/* Debug information in files of its own: found where the field keeps it, and
 * never taken from another build. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "compiled.h"
#include "lib/debug/dwarf/dwarf.h"

static const char source[] =
	"#define NAME_(number) node_##number\n"
	"#define NAME(number) NAME_(number)\n"
	"struct node { struct node *next; int value; } NAME(NUMBER);\n"
	"__attribute__((noinline)) static int work(struct node *n)\n"
	"{\n"
	"	return n->value + n->next->value;\n"
	"}\n"
	"int main(void) { struct node n = { &n, NUMBER }; return work(&n); }\n";

/* What the next module is looked for with. */
static struct dwarf_search search;

static bool finds_work(struct compiled *c)
{
	struct dwarf_functions found;
	bool good;

	if (!c->dwarf || dwarf_function_find(c->dwarf, "work", NULL, &found))
		return false;
	good = found.count == 1 &&
	       found.functions[0].entry == compiled_symbol(c, "work");
	dwarf_functions_free(&found);
	return good;
}

static void expect_found(const char *module, const char *name)
{
	struct compiled c;

	if (!compiled_open(&c, module, &search))
		return;
	if (!tap_ok(finds_work(&c), "%s", name))
		tap_diag("%s: %s", c.dwarf ? c.dwarf->path : "none",
			 c.err.text);
	compiled_close(&c);
}

/* Nothing is taken; the text has each of the words. */
static void expect_refused(const char *module, int code, const char *name,
			   const char *word, const char *other)
{
	struct dwarf_file *dwarf;
	struct module *opened;
	struct error err = {0};
	const char *said;
	int got;

	if (module_open(&opened, module, module, 0, &err)) {
		tap_ok(false, "open %s", module);
		return;
	}
	got = dwarf_file_open(&dwarf, opened, module, &search, &err);
	said = dwarf_refusal(opened, dwarf);
	if (!tap_ok(got == code && !dwarf && strstr(err.text, word) &&
		    strstr(err.text, other) &&
		    !strcmp(said ? said : "", err.text), "%s", name))
		tap_diag("%d: %s", got, err.text);
	dwarf_file_close(dwarf);
	module_close(opened);
}

static char ids[2][64];

static void read_id(const char *program, char *id)
{
	char command[128];
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "readelf -n %s | sed -n 's/.*Build ID: //p'", program);
	pipe = popen(command, "r");
	if (!pipe || fscanf(pipe, "%63s", id) != 1)
		tap_bail("no build-id in %s", program);
	pclose(pipe);
}

/* one, one.debug, two.debug of another build; bare ones have no build-id. */
static bool build(void)
{
	compiled_write("a.c", source);
	return compiled_run(
		"for n in 1:one 2:two; do "
		"  gcc -O1 -g -DNUMBER=${n%%%%:*} a.c -o whole.${n#*:} && "
		"  gcc -O1 -g -Wl,--build-id=none -DNUMBER=${n%%%%:*} a.c "
		"      -o whole.bare.${n#*:} && "
		"  for p in ${n#*:} bare.${n#*:}; do "
		"    objcopy --only-keep-debug whole.$p $p.debug && "
		"    strip -o $p whole.$p || exit 1; done; done") &&
	       compiled_run("cp one nolink && cp bare.one bare.nolink && "
			    "objcopy --add-gnu-debuglink=one.debug one && "
			    "objcopy --add-gnu-debuglink=bare.one.debug bare.one");
}

static void check_links(void)
{
	expect_found("one", ".gnu_debuglink, beside it");
	expect_found("bare.one", ".gnu_debuglink by its checksum");
	compiled_run("mkdir .debug && mv one.debug .debug");
	expect_found("one", ".debug/");
	compiled_run("mkdir -p root/usr/lib/debug$PWD && "
		     "mv .debug/one.debug root/usr/lib/debug$PWD");
	expect_refused("one", -ENOENT, "nowhere: no text", "", "");
	search.sysroot = "root";
	expect_found("one", "the tree in /usr/lib/debug, by path");
	compiled_run("mkdir -p root/opt && cp one root/opt && "
		     "mkdir -p root/usr/lib/debug/opt && "
		     "mv root/usr/lib/debug$PWD/one.debug "
		     "root/usr/lib/debug/opt");
	search.sysroot = "root/";
	expect_refused("one", -ENOENT, "not by another path", "", "");
	search.sysroot = NULL;
	compiled_run("mv root/usr/lib/debug/opt/one.debug .");
}

static void check_build_id(void)
{
	const char *id = ids[0];

	compiled_run("mkdir -p root/usr/lib/debug/.build-id/%.2s && "
		     "cp one.debug root/usr/lib/debug/.build-id/%.2s/%s.debug",
		     id, id, id + 2);
	search.sysroot = "root";
	expect_found("nolink", "the build-id tree");
	compiled_run("cp two.debug root/usr/lib/debug/.build-id/%.2s/%s.debug",
		     id, id + 2);
	expect_refused("nolink", -ENOENT, "a wrong one there, with both ids",
		       ids[0], ids[1]);
	search.sysroot = NULL;
	compiled_run("mkdir -p .debug/.build-id/%.2s && "
		     "cp one.debug .debug/.build-id/%.2s/%s.debug", id, id,
		     id + 2);
	expect_found("nolink", "a build-id tree beside the module");
	compiled_run("rm -r .debug root");
}

static void check_wrong(void)
{
	compiled_run("mv one.debug right && cp two.debug one.debug");
	expect_refused("one", -ENOENT, "the link leads to another build",
		       ids[0], ids[1]);
	compiled_run("mv right one.debug && mv bare.one.debug right && "
		     "cp bare.two.debug bare.one.debug");
	expect_refused("bare.one", -ENOENT,
		       "the link leads to a file with another checksum",
		       "'", "checksum is");
	compiled_run("mv right bare.one.debug");
}

static void check_given(void)
{
	search.file = "one.debug";
	expect_found("nolink", "--debug");
	search.file = "whole.one";
	expect_found("nolink", "--debug with the program itself");
	search.file = "two.debug";
	expect_refused("one", -ESTALE, "--debug of another build", ids[0],
		       ids[1]);
	search.file = "bare.one.debug";
	expect_refused("one", -ESTALE, "--debug without a build-id",
		       "is none", ids[0]);
	expect_found("bare.one", "--debug by its checksum");
	expect_refused("bare.nolink", -ESTALE, "--debug of an unknown build",
		       "neither a build-id nor", "");
	search.file = "whole.bare.one";
	expect_found("bare.nolink", "--debug with the same code");
	search.file = "nothing.debug";
	expect_refused("one", -ENOENT, "--debug that isn't there",
		       "cannot open", "No such file");
	search.file = ".";
	expect_refused("one", -EINVAL, "--debug with a directory",
		       "not a regular file", "");
	search.file = "one";
	expect_refused("one", -ENOEXEC, "--debug without DWARF",
		       "no debug information", "");
	search.file = "a.c";
	expect_refused("one", -ESTALE, "--debug with a text", "is none", "");
	search.file = NULL;
}

static void check_compressed(void)
{
	compiled_run("objcopy --compress-debug-sections=zlib one.debug z.debug");
	search.file = "z.debug";
	expect_found("one", "compressed sections");
	compiled_run("objcopy --compress-debug-sections=zlib-gnu one.debug "
		     "z.debug");
	expect_found("one", "compressed sections of the old kind");
	search.file = NULL;
}

/* What dwz moved out of several debug files. */
static void check_shared(void)
{
	struct compiled c;

	if (!compiled_run("cp one.debug d1 && cp two.debug d2 && "
			  "dwz -m shared d1 d2 && readelf -p "
			  ".gnu_debugaltlink d1")) {
		tap_skip("dwz", "it isn't there");
		return;
	}
	search.file = "d1";
	if (compiled_open(&c, "one", &search)) {
		tap_ok(finds_work(&c) && !dwarf_refusal(c.module, c.dwarf),
		       "a file shared by several (dwz)");
		compiled_close(&c);
	}
	compiled_run("mv shared away");
	if (compiled_open(&c, "one", &search)) {
		tap_ok(c.dwarf && c.dwarf->note &&
		       strstr(c.dwarf->note, "shared"),
		       "is missing: %s", c.dwarf ? c.dwarf->note : "none");
		compiled_close(&c);
	}
	compiled_run("cp two.debug shared");
	if (compiled_open(&c, "one", &search)) {
		tap_ok(c.dwarf && c.dwarf->note, "is another one: %s",
		       c.dwarf ? c.dwarf->note : "none");
		compiled_close(&c);
	}
	search.file = NULL;
}

static void expect_split(bool found, const char *name)
{
	struct compiled c;
	bool finds;

	if (!compiled_open(&c, "s", &search))
		return;
	finds = finds_work(&c);
	if (!tap_ok(c.dwarf && finds == found &&
		    !dwarf_refusal(c.module, c.dwarf) == found, "%s", name))
		tap_diag("%s", c.dwarf ? c.dwarf->note : c.err.text);
	compiled_close(&c);
}

/* Split debug information stays beside the objects. */
static void check_split(void)
{
	if (!compiled_run("gcc -O1 -g -gsplit-dwarf -DNUMBER=1 -c a.c -o s.o && "
			  "gcc s.o -o s && mv s.dwo right && "
			  "gcc -O1 -g -gsplit-dwarf -DNUMBER=2 -c a.c -o s2.o && "
			  "cp s2.dwo s.dwo")) {
		tap_skip("split debug information", "the compiler can't do it");
		return;
	}
	expect_split(false, "a .dwo of another build isn't used");
	compiled_run("rm s.dwo");
	expect_split(false, "a .dwo isn't there");
	compiled_run("mv right s.dwo");
	expect_split(true, "a .dwo");
}

static void check_debuginfod(void)
{
	char url[64];

	compiled_run("mkdir -p server/buildid/%s cache && "
		     "cp one.debug server/buildid/%s/debuginfo", ids[0],
		     ids[0]);
	snprintf(url, sizeof(url), "file://%s/server", compiled_directory);
	setenv("DEBUGINFOD_CACHE_PATH", "cache", 1);
	setenv("DEBUGINFOD_URLS", url, 1);
	if (!compiled_have("ldconfig") ||
	    !compiled_run("ldconfig -p | grep libdebuginfod.so.1")) {
		tap_skip("debuginfod", "the library isn't there");
	} else {
		expect_found("nolink", "debuginfod");
		compiled_run("rm -r cache server/buildid/*");
		expect_refused("nolink", -ENOENT, "debuginfod hasn't got it",
			       "debuginfod", "");
	}
	unsetenv("DEBUGINFOD_URLS");
}

static void check_changed(void)
{
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	struct compiled c;

	if (!compiled_open(&c, "one", &search) || !c.dwarf) {
		tap_ok(false, "a debug file");
		return;
	}
	tap_ok(!dwarf_check_unchanged(c.dwarf, &c.err), "nothing changed");
	utimensat(AT_FDCWD, "one.debug", times, 0);
	tap_ok(dwarf_check_unchanged(c.dwarf, &c.err) == -EAGAIN,
	       "the debug file was written to");
	compiled_close(&c);
}

int main(void)
{
	compiled_begin();
	unsetenv("DEBUGINFOD_URLS");
	if (!build())
		tap_skip_all("needs gcc and objcopy");
	read_id("one", ids[0]);
	read_id("two", ids[1]);
	check_links();
	check_build_id();
	check_wrong();
	check_given();
	check_compressed();
	check_shared();
	check_split();
	check_debuginfod();
	check_changed();
	return tap_done();
}
