// SPDX-License-Identifier: GPL-2.0
#include "compile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include "expr.h"
#include "lib/command.h"
#include "lib/maps_line.h"
#include "lib/outfile.h"
#include "lib/path.h"
#include "sibling.h"

#define KERNEL	"vmlinux"

/* A module: its name in the TSF, and the file to read. */
struct compile_module {
	char name[PATH_MAX];
	char file[PATH_MAX];
};

static bool file_is_there(const char *path)
{
	return !access(path, R_OK);
}

bool compile_path_search(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");

	while (dirs && *dirs) {
		int n = strcspn(dirs, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", n, dirs, n ? "/" : "",
			 name);
		if (!access(path, X_OK))
			return true;
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

/* No script for the linker, as libc.so is one. */
static bool file_is_elf(const char *path)
{
	char magic[SELFMAG] = "";
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG &&
		  !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return is;
}

static bool pattern_search(const char *pattern, char path[PATH_MAX])
{
	bool found = false;
	glob_t files;

	if (glob(pattern, 0, NULL, &files))
		return false;
	for (size_t i = 0; i < files.gl_pathc && !found; i++)
		found = file_is_elf(files.gl_pathv[i]) &&
			realpath(files.gl_pathv[i], path);
	globfree(&files);
	return found;
}

/* "libc.so.6", "libc.so" and "libc" all name the first such file. */
static bool compile_library_find(const char *name, char path[PATH_MAX])
{
	static const char *const dirs[] = {
		"/lib/%s-linux-gnu", "/usr/lib/%s-linux-gnu", "/lib64",
		"/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib",
	};
	static const char *const ends[] = { "", ".so", ".so.*", ".*" };
	struct utsname uts;

	uname(&uts);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		for (size_t k = 0; k < sizeof(ends) / sizeof(*ends); k++) {
			char dir[256], pattern[PATH_MAX];

			snprintf(dir, sizeof(dir), dirs[i], uts.machine);
			snprintf(pattern, sizeof(pattern), "%s/%s%s", dir, name,
				 ends[k]);
			if (pattern_search(pattern, path))
				return true;
		}
	}
	return false;
}

/* Does the file name of a mapping begin with the library's? */
static bool mapping_is(const char *path, const char *name)
{
	const char *base = path_base(path);
	size_t n = strlen(name);

	return path[0] == '/' && !strncmp(base, name, n) &&
	       (!base[n] || base[n] == '.' || base[n] == '-');
}

/* What the process has mapped by this name */
static bool mapping_search(uint32_t pid, const char *name,
			   char path[PATH_MAX])
{
	struct maps_lines lines;
	struct maps_line maps;
	bool found = false;

	if (maps_lines_open(&lines, pid))
		return false;
	while (!found && maps_lines_next(&lines, &maps))
		found = mapping_is(maps.path, name) &&
			strlen(maps.path) < PATH_MAX;
	if (found)
		strcpy(path, maps.path);
	maps_lines_close(&lines);
	return found;
}

/* The file as seen from here, of a path of the process */
static void process_file(uint32_t pid, const char *path, char file[PATH_MAX])
{
	if (snprintf(file, PATH_MAX, "/proc/%u/root%s", pid, path) >= PATH_MAX ||
	    !file_is_there(file))
		snprintf(file, PATH_MAX, "%s", path);
}

static int compile_module_find_subject(struct compile_module *module,
				       const struct compile_subject *subject,
				       struct error *err)
{
	ssize_t n;

	if (subject->pid) {
		snprintf(module->file, PATH_MAX, "/proc/%u/exe", subject->pid);
		n = readlink(module->file, module->name, PATH_MAX - 1);
		if (n < 0)
			return error_set(err, -errno,
					 "cannot find the program of process %u: %s",
					 subject->pid, strerror(errno));
		module->name[n] = '\0';
		return 0;
	}
	if (!subject->program)
		return error_set(err, -EINVAL,
				 "'-e' needs a program to run, --pid, or the name of a module: -e MODULE:FUNCTION");
	if (strchr(subject->program, '/'))
		snprintf(module->file, PATH_MAX, "%s", subject->program);
	else if (!compile_path_search(subject->program, module->file))
		return error_set(err, -ENOENT, "there is no '%s' in PATH",
				 subject->program);
	if (!realpath(module->file, module->name))
		return error_set(err, -errno, "cannot open '%s': %s",
				 module->file, strerror(errno));
	return 0;
}

static int compile_module_find(struct compile_module *module,
			       const char *given,
			       const struct compile_subject *subject,
			       struct error *err)
{
	char path[PATH_MAX];
	bool found;

	if (!given)
		return compile_module_find_subject(module, subject, err);
	if (!strcmp(given, "kernel") || !strcmp(given, KERNEL)) {
		strcpy(module->name, KERNEL);
		module->file[0] = '\0';
		return 0;
	}
	if (subject->pid && !strchr(given, '/') &&
	    mapping_search(subject->pid, given, path)) {
		snprintf(module->name, PATH_MAX, "%s", path);
		process_file(subject->pid, path, module->file);
		return 0;
	}
	if (strchr(given, '/'))
		found = realpath(given, path);
	else
		found = (!strstr(given, ".so") && compile_path_search(given, path)) ||
			compile_library_find(given, path);
	if (!found) {
		error_set(err, -ENOENT, "there is no program or library '%s'",
			  given);
		error_hint(err, "give its path: -e PATH:FUNCTION");
		return -ENOENT;
	}
	snprintf(module->name, PATH_MAX, "%s", path);
	snprintf(module->file, PATH_MAX, "%s", path);
	return 0;
}

static int compile_run(char **argv, int output, int messages, struct error *err)
{
	pid_t pid = sibling_start(argv, output, messages, err);
	int status = pid < 0 ? pid : sibling_wait(pid, argv[0], err);

	if (status == -ENOENT)
		error_hint(err, "compile where it is, and bring the TDF: trace run --print-tsf -e EXPR >app.tsf; trcust app.tsf");
	return status > 0 ? error_set(err, -EINVAL,
				      "trcust refused it, see above") : status;
}

/* trcust finds the functions of a pattern, and writes the TSF. */
static int pattern_write(const struct probe_expr *expr,
			 const struct compile_module *module,
			 unsigned int major, int output, struct error *err)
{
	char number[16];
	char *argv[] = {
		"trcust", "--from-module", "--args", "--retep", "--include",
		expr->place, "--modname", (char *)module->name, "--major",
		number, (char *)module->file, NULL, NULL, NULL,
	};
	char *condition = expr->whole ? expr_if(expr) : NULL;
	int code;

	snprintf(number, sizeof(number), "%u", major);
	if (condition) {
		argv[12] = argv[10];
		argv[10] = "--call";
		argv[11] = condition;
	}
	if (!module->file[0])
		return error_set(err, -EINVAL,
				 "functions of the kernel need values, such as 'kernel:%s()'",
				 expr->place);
	code = compile_run(argv, output, -1, err);
	free(condition);
	return code;
}

/* calls: see expr_write_tsf() */
static int tsf_write(const struct probe_expr *expr,
		     const struct compile_module *module, unsigned int major,
		     bool calls, int output, struct error *err)
{
	FILE *out;

	if (expr_is_pattern(expr))
		return pattern_write(expr, module, major, output, err);
	out = fdopen(dup(output), "w");
	if (!out)
		return error_set(err, -errno, "cannot write the TSF: %s",
				 strerror(errno));
	expr_write_tsf(expr, module->name, major, calls, out);
	return fclose(out) ? error_set(err, -errno, "cannot write the TSF: %s",
				       strerror(errno)) : 0;
}

/* Is there a function whose entry and exits are apart? */
static bool tsf_has_pairs(const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	bool has = false;

	while (file && !has && getline(&line, &room, file) > 0)
		has = strstr(line, ",RETEP");
	free(line);
	if (file)
		fclose(file);
	return has;
}

/* Write the TSF and compile it; messages: of trcust, see sibling_start() */
static int tsf_compile(struct expr_tdfs *compiled, const struct probe_expr *expr,
		       const struct compile_module *module, const char *tsf,
		       bool calls, int messages, struct error *err)
{
	unsigned int major = compiled->count + 1;
	char *argv[] = {
		"trcust", "-W", "1", "-o", compiled->directory,
		"--module", (char *)module->file, (char *)tsf, NULL,
	};
	int fd = open(tsf, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int code;

	if (fd < 0)
		return error_set(err, -errno, "cannot make '%s': %s", tsf,
				 strerror(errno));
	if (!module->file[0]) {
		argv[5] = (char *)tsf;
		argv[6] = NULL;
	}
	code = tsf_write(expr, module, major, calls, fd, err);
	close(fd);
	return code ? code : compile_run(argv, messages < 0 ? STDERR_FILENO :
					 messages, messages, err);
}

/* What tracefmt leaves out of the events of this major */
static int condition_add(struct expr_tdfs *compiled,
			 const struct probe_expr *expr,
			 struct error *err)
{
	char *own = expr_call_condition(expr), *all = NULL;

	if (!own || asprintf(&all, "%s%s(major != %u || (%s))",
			     compiled->condition ? compiled->condition : "",
			     compiled->condition ? " && " : "",
			     compiled->count, own) < 0)
		all = NULL;
	free(own);
	if (!all)
		return error_no_memory(err);
	free(compiled->condition);
	compiled->condition = all;
	return 0;
}

/* A name that only tracefmt knows, of a call: tracefmt(1) */
static bool name_is_of_tracefmt(const char *name)
{
	static const char *const names[] = {
		"entry", "exit", "event", "time", "time_ns", "boot_ns", "host",
		"major", "minor", "desc", "pid", "tid", "comm", "cpu", "length",
		"function", "self", "parent", "depth", "doubt",
	};
	size_t n = strcspn(name, " ");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (n == strlen(names[i]) && !strncmp(name, names[i], n))
			return true;
	return false;
}

#define WHY_MOST	512

/* The first error of what trcust has said; "": there is none. */
static void refusal_read(int messages, char why[WHY_MOST])
{
	static const char mark[] = "error: ";
	char text[4096];
	ssize_t n = pread(messages, text, sizeof(text) - 1, 0);
	char *begin;

	text[n > 0 ? n : 0] = '\0';
	begin = strstr(text, mark);
	begin = begin ? begin + strlen(mark) : text + strlen(text);
	snprintf(why, WHY_MOST, "%.*s", (int)strcspn(begin, "\n"), begin);
}

/* tracefmt reads the expression before a file, which is none here. */
static bool tracefmt_takes(const struct probe_expr *expr)
{
	char *condition = expr_call_condition(expr);
	char *argv[] = { "tracefmt", "--field", condition, "/dev/null", NULL };
	int none = open("/dev/null", O_WRONLY | O_CLOEXEC), status = 0;
	struct error ignored = { 0 };
	pid_t pid = condition ? sibling_start(argv, none, none, &ignored) : -1;

	if (pid > 0)
		status = sibling_wait(pid, argv[0], &ignored);
	free(condition);
	if (none >= 0)
		close(none);
	return status != COMMAND_MISUSE;
}

/* Does tracefmt not know that name, or not take the condition, either? */
static bool refusal_is_final(const struct probe_expr *expr, const char *why)
{
	static const char unknown[] = "symbol not found: ";

	return !expr_is_for_tracefmt(expr) ||
	       (!strncmp(why, unknown, strlen(unknown)) &&
		!name_is_of_tracefmt(why + strlen(unknown))) ||
	       !tracefmt_takes(expr);
}

/*
 * A condition on whole calls is evaluated where they end. Where that is impossible,
 * because only tracefmt knows what is in it, all calls are recorded, and tracefmt
 * leaves some out: `why` says why, else it is "".
 */
static int tsf_choose(struct expr_tdfs *compiled, const struct probe_expr *expr,
		      const struct compile_module *module, const char *tsf,
		      int messages, char why[WHY_MOST], struct error *err)
{
	bool calls = expr->whole;
	int code;

	why[0] = '\0';
	code = tsf_compile(compiled, expr, module, tsf, calls, messages, err);
	if (code != -EINVAL || !calls || expr_is_pattern(expr))
		return code;
	refusal_read(messages, why);
	if (refusal_is_final(expr, why))
		return code;
	*err = (struct error){ 0 };
	if (ftruncate(messages, 0))
		return error_set(err, -errno, "cannot run trcust: %s",
				 strerror(errno));
	lseek(messages, 0, SEEK_SET);
	return tsf_compile(compiled, expr, module, tsf, false, messages, err);
}

static int messages_open(struct error *err)
{
	int fd = memfd_create("messages", MFD_CLOEXEC);

	return fd < 0 ? error_set(err, -errno, "cannot run trcust: %s",
				  strerror(errno)) : fd;
}

static void file_copy(int from, FILE *to)
{
	char text[4096];
	off_t at = 0;
	ssize_t n;

	for (; (n = pread(from, text, sizeof(text), at)) > 0; at += n)
		fwrite(text, 1, n, to);
}

static int tdf_make(struct expr_tdfs *compiled, const struct probe_expr *expr,
		    const struct compile_module *module, struct error *err)
{
	unsigned int major = compiled->count + 1;
	char tsf[PATH_MAX], why[WHY_MOST];
	int messages = messages_open(err), code;

	if (messages < 0)
		return messages;
	snprintf(tsf, sizeof(tsf), "%.4000s/e%u.tsf", compiled->directory,
		 major);
	code = tsf_choose(compiled, expr, module, tsf, messages, why, err);
	file_copy(messages, stderr);
	close(messages);
	if (code)
		return code;
	snprintf(compiled->tdfs[compiled->count++], PATH_MAX,
		 "%.4000s/e%u.tdf", compiled->directory, major);
	if (why[0])
		fprintf(stderr, "trace: '%s': the condition cannot be evaluated in the kernel: %s\n",
			expr->text, why);
	return expr->whole && expr_is_for_tracefmt(expr) &&
	       tsf_has_pairs(tsf) ?
	       condition_add(compiled, expr, err) : 0;
}

static int expr_compile(struct expr_tdfs *compiled, const char *text,
			const struct compile_subject *subject,
			struct error *err)
{
	struct compile_module module = { "" };
	struct probe_expr expr;
	int code = expr_parse(&expr, text, err);

	if (!code)
		code = compile_module_find(&module, expr.module, subject, err);
	if (!code)
		code = tdf_make(compiled, &expr, &module, err);
	expr_free(&expr);
	return code;
}

static int directory_make(struct expr_tdfs *compiled, struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	int code;

	snprintf(compiled->directory, sizeof(compiled->directory),
		 "%.4000s/rastrace-XXXXXX",
		 temporary && *temporary ? temporary : "/tmp");
	if (mkdtemp(compiled->directory))
		return 0;
	code = error_set(err, -errno, "cannot make '%s': %s",
			 compiled->directory, strerror(errno));
	compiled->directory[0] = '\0';
	return code;
}

int compiled_make(struct expr_tdfs *compiled, const char *const *exprs,
		  unsigned int count, const struct compile_subject *subject,
		  struct error *err)
{
	int code;

	*compiled = (struct expr_tdfs){ 0 };
	compiled->tdfs = calloc(count, sizeof(*compiled->tdfs));
	if (!compiled->tdfs)
		return error_no_memory(err);
	code = directory_make(compiled, err);
	for (unsigned int i = 0; i < count && !code; i++)
		code = expr_compile(compiled, exprs[i], subject, err);
	return code;
}

static void entry_remove(int directory, const char *name, void *context)
{
	unlinkat(directory, name, 0);
}

void compiled_remove(struct expr_tdfs *compiled)
{
	int fd = compiled->directory[0] ?
		 open(compiled->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) :
		 -1;

	if (fd >= 0) {
		directory_each(fd, entry_remove, NULL);
		close(fd);
		rmdir(compiled->directory);
	}
	free(compiled->tdfs);
	free(compiled->condition);
	*compiled = (struct expr_tdfs){ 0 };
}

void compile_field_print(const char *condition, FILE *out)
{
	fputs("tracefmt --field '", out);
	for (; *condition; condition++)
		if (*condition == '\'')
			fputs("'\\''", out);
		else
			putc(*condition, out);
	putc('\'', out);
}

/*
 * Print as CALL what trcust takes as such, else as run records it. What trcust takes
 * in neither form, or cannot be compiled here, is CALL.
 */
static int whole_print(const struct probe_expr *expr,
		       const struct compile_module *module, unsigned int major,
		       struct error *err)
{
	struct expr_tdfs compiled = { .count = major - 1 };
	int messages = messages_open(err), code;
	char tsf[PATH_MAX], why[WHY_MOST] = "";
	struct error ignored = { 0 };

	if (messages < 0)
		return messages;
	code = directory_make(&compiled, err);
	snprintf(tsf, sizeof(tsf), "%.4000s/e.tsf", compiled.directory);
	if (!code && tsf_choose(&compiled, expr, module, tsf, messages, why,
				&ignored) && module->file[0])
		why[0] = '\0';
	compiled.count = major;
	if (!code && why[0])
		code = condition_add(&compiled, expr, err);
	if (!code && why[0]) {
		printf("; the condition cannot be evaluated in the kernel: %s\n; ",
		       why);
		compile_field_print(compiled.condition, stdout);
		putchar('\n');
		fflush(stdout);
	}
	close(messages);
	compiled_remove(&compiled);
	return code ? code : tsf_write(expr, module, major, !why[0],
				       STDOUT_FILENO, err);
}

int compile_print(const char *const *exprs, unsigned int count,
		  const struct compile_subject *subject, struct error *err)
{
	int code = 0;

	for (unsigned int i = 0; i < count && !code; i++) {
		struct compile_module module = { "" };
		struct probe_expr expr;

		code = expr_parse(&expr, exprs[i], err);
		if (!code)
			code = compile_module_find(&module, expr.module,
						   subject, err);
		if (!code) {
			printf("; %s\n", exprs[i]);
			fflush(stdout);
			code = (expr.whole && !expr_is_pattern(&expr) ?
				whole_print(&expr, &module, i + 1, err) :
				tsf_write(&expr, &module, i + 1, false,
					  STDOUT_FILENO, err));
		}
		expr_free(&expr);
	}
	return code;
}
