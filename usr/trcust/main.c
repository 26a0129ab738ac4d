// SPDX-License-Identifier: GPL-2.0
/*
 * trcust: parse the TSF, find the module, compile the tracepoints, write TFF
 * and TDF.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../lib/options.h"
#include "../lib/tdf.h"
#include "compile.h"
#include "dump.h"
#include "locate.h"
#include "write.h"

struct settings {
	const char *output_dir, *module, *sysroot;
	int level;		/* messages: 0, 1, 2 */
	bool dump, exit_zero, wrong;
};

static int take_level(void *context, const char *value)
{
	struct settings *s = context;

	if (value[0] >= '0' && value[0] <= '2' && !value[1]) {
		s->level = value[0] - '0';
		return 0;
	}
	fprintf(stderr, "trcust: the level of messages is 0, 1 or 2, not '%s'\n",
		value);
	return -1;
}

static int take_output_dir(void *context, const char *value)
{
	((struct settings *)context)->output_dir = value;
	return 0;
}

static int take_module(void *context, const char *value)
{
	((struct settings *)context)->module = value;
	return 0;
}

static int take_sysroot(void *context, const char *value)
{
	((struct settings *)context)->sysroot = value;
	return 0;
}

static int take_dump(void *context, const char *value)
{
	((struct settings *)context)->dump = true;
	return 0;
}

static int take_exit_zero(void *context, const char *value)
{
	((struct settings *)context)->exit_zero = true;
	return 0;
}

static const struct option_def options[] = {
	{ "level", 'W', "N", "messages: 0 fatal and severe, 1 errors too, 2 all (default)",
	  take_level },
	{ "output-dir", 'o', "DIR", "where TDF and TFF are written",
	  take_output_dir },
	{ "module", 'm', "FILE", "the module that MODNAME means", take_module },
	{ "sysroot", 0, "DIR", "where the target's absolute paths begin",
	  take_sysroot },
	{ "exit-zero", 0, NULL, "exit 0 whatever the TSF holds",
	  take_exit_zero },
	{ "dump", 0, NULL, "print the files named (TDF, TFF) as text",
	  take_dump },
	{ 0 },
};

static const struct command_def command = {
	"trcust", NULL, "APP.TSF [APP.TDF] [/W0|/W1|/W2]",
	"compile a trace source file into a TDF and a TFF", options,
};

/* /W0, /W1, /W2, /M=file, /C=file in these exact forms; anything else that
 * begins with a slash is a path. True: it was one. */
static bool take_slash_option(struct settings *s, const char *text)
{
	if (!strncmp(text, "/W", 2) && text[2] >= '0' && text[2] <= '2' &&
	    !text[3]) {
		s->level = text[2] - '0';
		return true;
	}
	if (strncmp(text, "/M=", 3) && strncmp(text, "/C=", 3))
		return false;
	fprintf(stderr, "trcust: '%.2s' is not supported yet: '%s'\n", text,
		text);
	s->wrong = true;
	return true;
}

/* Move the slash options out of the operands; returns how many are left. */
static int take_slash_options(struct settings *s, int count, char **operands)
{
	int kept = 0;

	for (int i = 0; i < count; i++)
		if (!take_slash_option(s, operands[i]))
			operands[kept++] = operands[i];
	return kept;
}

/* What went wrong with the module, in the manual's terms. */
static void tell_module(struct diag *diag, const struct tsf *tsf,
			const char *file, int code, const struct error *err)
{
	char text[16];

	switch (code) {
	case -ENOENT:
	case -EACCES:
	case -EISDIR:
	case -EINVAL:
		diag_tell(diag, tsf->modname_pos, TRCERR_NO_FILE, file);
		break;
	case -ENOEXEC:
		diag_tell(diag, tsf->modname_pos, TRCERR_BAD_EXEH, file);
		break;
	case -ENOMEM:
		diag_tell(diag, tsf->modname_pos, TRCERR_NO_MEM);
		break;
	default:
		snprintf(text, sizeof(text), "%d", -code);
		diag_tell(diag, tsf->modname_pos, TRCERR_FILE_READ, file,
			  text);
		break;
	}
	if (err->text[0])
		diag_hint(diag, "%s", err->text);
	if (err->hint[0])
		diag_hint(diag, "%s", err->hint);
}

/* No file was found for MODNAME. */
static void tell_missing(struct compilation *c, const struct locate_module *at,
			 int code, const struct settings *s)
{
	struct error err = {0};

	if (at->file && at->file[0] == '/')
		error_set(&err, code, "looked for it below '%s'",
			  s->sysroot ? s->sysroot : "/");
	else
		error_set(&err, code, "looked for it in the current directory "
				      "and beside the TSF");
	error_hint(&err, "--module FILE names it");
	tell_module(c->diag, c->tsf, at->file ? at->file : "", code, &err);
}

static bool tsf_is_static(const struct tsf *tsf)
{
	for (size_t i = 0; i < tsf->point_count; i++)
		if (tsf->points[i].tp.kind != TSF_TP_STATIC)
			return false;
	return true;
}

static int open_module(struct compilation *c, const struct locate_module *at,
		       const struct settings *s)
{
	struct error err = {0};
	int code;

	if (at->kind == TDF_MODULE_KMOD) {
		diag_tell(c->diag, c->tsf->modname_pos, TRCERR_UNSUPPORTED,
			  "kernel modules");
		return -1;
	}
	if (at->file)
		code = module_open(&c->module, at->file, at->path, at->kind,
				   &err);
	else
		code = module_open_kernel(&c->module, &err);
	if (code) {
		tell_module(c->diag, c->tsf, at->file ? at->file : "vmlinux",
			    code, &err);
		return -1;
	}
	if (at->file)
		c->dwarf = dwarf_file_open(c->module, at->file, s->sysroot);
	return 0;
}

static void tell_write(struct diag *diag, const char *path, int code,
		       const struct error *err)
{
	if (code == -EEXIST)
		diag_tell(diag, (struct srcpos){0}, TRCERR_DIF_MAJOR, path);
	else
		diag_tell(diag, (struct srcpos){0}, TRCERR_FILE_WRITE, path);
	if (code != -EEXIST)
		diag_hint(diag, "%s", err->text);
	if (err->hint[0])
		diag_hint(diag, "%s", err->hint);
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat st[2];

	return !strcmp(a, b) ||
	       (!stat(a, &st[0]) && !stat(b, &st[1]) &&
		st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino);
}

/* There is nothing for a TDF; one that the TSF was compiled to before must not
 * be armed by mistake. */
static int remove_tdf(const struct compilation *c, const char *path,
		      struct error *err)
{
	struct tdf *tdf;
	bool own;

	if (tdf_open(&tdf, path, NULL))
		return 0;
	own = is_same_file(tdf_string(tdf, tdf->header->tsf),
			   diag_path(c->diag));
	tdf_close(tdf);
	if (own && unlink(path))
		return error_set(err, -errno, "cannot remove '%s': %s", path,
				 strerror(errno));
	if (!own)
		fprintf(stderr, "trcust: '%s' is of another TSF and is left as it is\n",
			path);
	return 0;
}

/* Both are written before either is put in place. */
static int write_files(const struct compilation *c, const char *tdf,
		       const char *tff, const char *module_path)
{
	struct outfile *tdf_out = NULL, *tff_out = NULL;
	int lock = outfile_lock_directory(tff);
	const char *path = tff;
	struct error err = {0};
	int code;

	if (c->dynamic_count && !strcmp(tdf, tff))
		code = error_set(&err, -EINVAL, "it is the name of the TFF");
	else
		code = tff_write(&tff_out, tff, c, module_path, &err);
	if (!code)
		code = outfile_sync(tff_out, &err);
	if (!code && c->dynamic_count) {
		path = tdf;
		code = tdf_write(&tdf_out, tdf, c, &err);
	}
	if (!code && tdf_out)
		code = outfile_sync(tdf_out, &err);
	if (!code) {
		path = tff;
		code = outfile_commit(tff_out, &err);
		tff_out = NULL;
	}
	if (!code && tdf_out) {
		path = tdf;
		code = outfile_commit(tdf_out, &err);
		tdf_out = NULL;
	} else if (!code) {
		path = tdf;
		code = remove_tdf(c, tdf, &err);
	}
	outfile_abort(tff_out);
	outfile_abort(tdf_out);
	if (lock >= 0)
		close(lock);
	if (code)
		tell_write(c->diag, path, code, &err);
	return code;
}

/* The module stays as it was while it was read, then the files are written. */
static int finish(struct compilation *c, const char *tdf, const char *module)
{
	struct error err = {0};
	char *tff;
	int code;

	if (c->module && module_check_unchanged(c->module, &err)) {
		tell_module(c->diag, c->tsf, module, -EAGAIN, &err);
		return -1;
	}
	if (!c->point_count) {
		code = remove_tdf(c, tdf, &err);
		if (code)
			tell_write(c->diag, tdf, code, &err);
		return code;
	}
	tff = locate_tff(tdf, c->tsf->major);
	code = tff ? write_files(c, tdf, tff, module) : -ENOMEM;
	free(tff);
	return code;
}

static int compile_tsf(struct compilation *c, const struct settings *s,
		       const char *tdf)
{
	struct locate_module at;
	int code = locate_module(&at, c->tsf->modname, diag_path(c->diag),
				 s->module, s->sysroot);

	if (tsf_is_static(c->tsf))
		code = 0;
	else if (code)
		tell_missing(c, &at, code, s);
	else
		code = open_module(c, &at, s);
	if (!code)
		code = compile_points(c);
	if (!code)
		code = finish(c, tdf, at.path ? at.path : c->tsf->modname);
	compile_free(c);
	dwarf_file_close(c->dwarf);
	module_close(c->module);
	locate_module_free(&at);
	return code;
}

static int run_file(const struct settings *s, const char *tsf_path,
		    const char *tdf_name)
{
	struct compilation c = {0};
	struct tsf *tsf = NULL;
	int code = diag_open(&c.diag, tsf_path, s->level);
	char *tdf = locate_tdf(tsf_path, tdf_name, s->output_dir);

	if (!code && tdf)
		code = tsf_parse(&tsf, c.diag);
	c.tsf = tsf;
	if (!code && tdf)
		code = compile_tsf(&c, s, tdf);
	if (code || !tdf || diag_count(c.diag, DIAG_ERROR))
		code = 1;
	free(tdf);
	tsf_free(tsf);
	diag_close(c.diag);
	return code;
}

static void tell_no_tsf(const struct settings *s)
{
	struct diag *diag;

	if (!diag_open(&diag, NULL, s->level)) {
		diag_tell(diag, (struct srcpos){0}, TRCERR_NO_TSF);
		diag_hint(diag, "try 'trcust --help'");
	}
	diag_close(diag);
}

static int run_compile(const struct settings *s, int count, char **operands)
{
	char *tsf;
	int code;

	if (!count) {
		tell_no_tsf(s);
		return 2;
	}
	if (count > 2) {
		fprintf(stderr, "trcust: one TSF and one TDF at most, '%s' is too many\n",
			operands[2]);
		return 2;
	}
	tsf = locate_tsf(operands[0]);
	code = tsf ? run_file(s, tsf, count > 1 ? operands[1] : NULL) : 1;
	free(tsf);
	return code && s->exit_zero ? 0 : code;
}

/* What was printed has arrived; else 1. */
static int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "trcust: cannot write: %s\n", strerror(errno));
	return 1;
}

static int run_dump(int count, char **paths)
{
	int code = 0;

	if (!count) {
		fprintf(stderr, "trcust: --dump needs a TDF or TFF\n");
		return 2;
	}
	for (int i = 0; i < count; i++) {
		struct error err = {0};

		if (dump_file(paths[i], &err)) {
			error_print("trcust", &err);
			code = 1;
		}
	}
	return finish_output() ? 1 : code;
}

int main(int argc, char **argv)
{
	struct settings s = { .level = 2 };
	int first, count;

	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);	/* a message may have many parts */
	first = options_parse(&command, argc, argv, false, &s);
	if (first < 0)
		return first == OPTIONS_DONE ? finish_output() : 2;
	if (s.dump)
		return run_dump(argc - first, argv + first);
	count = take_slash_options(&s, argc - first, argv + first);
	return s.wrong ? 2 : run_compile(&s, count, argv + first);
}
