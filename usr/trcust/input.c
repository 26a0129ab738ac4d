// SPDX-License-Identifier: GPL-2.0
#include "input.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/debug/module/module.h"
#include "lib/formats/tdf.h"
#include "lib/guard.h"
#include "lib/outfile.h"
#include "trcust/write/tdf_write.h"
#include "trcust/write/tff_write.h"

static const char *input_name(const struct input *input)
{
	return input->at.file ? input->at.file : "vmlinux";
}

int input_open_map(struct compilation *c, const struct settings *s)
{
	struct srcpos nowhere = { 0 };
	struct error err = { 0 };
	char *path;
	int code;

	if (!s->map)
		return 0;
	if (!map_name_valid(s->map)) {
		diag_report(c->diag, nowhere, TRCERR_MAP_EXTN, s->map);
		diag_hint(c->diag, "it is named *.map or System.map*");
		return -1;
	}
	path = locate_input(s->map);
	code = path ? map_open(&c->map, path, &err) : -ENOMEM;
	if (code)
		diag_report_error(c->diag, nowhere, path ? path : s->map, code,
				  &err);
	free(path);
	return code ? -1 : 0;
}

const struct arch *input_arch(const struct settings *s, const char *modname,
			      const char *tsf)
{
	const struct arch *arch = NULL;
	struct locate_module at;

	if (!locate_module(&at, modname, tsf, s->module, s->sysroot))
		arch = at.file ? module_arch(at.file) : s->arch;
	locate_module_free(&at);
	return arch;
}

int input_open(struct compilation *c, const struct settings *s,
	       struct input *input, const char *modname, const char *tsf,
	       bool needed)
{
	struct dwarf_search search = {
		.file = s->debug, .sysroot = s->sysroot,
	};
	struct locate_module *at = &input->at;
	int code = locate_module(at, modname, tsf, s->module, s->sysroot);
	const char *file = at->file ? at->file : "";
	struct error err = { 0 };

	if (!needed)
		return 0;
	if (code == -ENOENT) {
		if (file[0] == '/')
			error_set(&err, code, "looked for it below '%s'",
				  s->sysroot ? s->sysroot : "/");
		else
			error_set(&err, code, "looked for it in the current "
				  "directory and beside the TSF");
		error_hint(&err, "--module FILE names it");
	}
	if (!code) {
		file = input_name(input);
		guard_file(file);
		code = at->file ? module_open(&c->module, at->file, at->path,
					      at->kind, &err) :
				  module_open_kernel(&c->module, s->arch, &err);
	}
	if (!code && at->file) {
		file = s->debug ? s->debug : at->file;
		code = dwarf_file_open(&c->dwarf, c->module, at->file, &search,
				       &err);
		if (!code && c->dwarf && c->dwarf->path)
			guard_file(c->dwarf->path);
		if (code == -ENOENT && !s->debug)	/* it may have none */
			code = 0;
	}
	if (code)
		diag_report_error(c->diag, input->pos, file, code, &err);
	return code ? -1 : 0;
}

void input_report_damaged(struct diag *diag, const char *file,
			  struct error *err)
{
	error_hint(err, "it is damaged, or holds what the reader of debug "
			"information (libdw) can't read: build it again, or "
			"take what 'strip -g' leaves of it");
	diag_report_error(diag, (struct srcpos){ 0 }, file ? file : "",
			  -EBADMSG, err);
}

int input_check(const struct compilation *c, const struct input *input)
{
	struct error err = { 0 };
	const char *name = input_name(input);
	int code = c->module ? module_check_unchanged(c->module, &err) : 0;

	if (!code && c->dwarf) {
		code = dwarf_check_unchanged(c->dwarf, &err);
		name = c->dwarf->path ? c->dwarf->path : name;
	}
	if (code)
		diag_report_error(c->diag, input->pos, name, code, &err);
	return code ? -1 : 0;
}

void input_close(struct compilation *c, struct input *input)
{
	dwarf_file_close(c->dwarf);
	module_close(c->module);
	map_close(c->map);
	locate_module_free(&input->at);
}

static enum diag_id output_failure(int code)
{
	switch (code) {
	case -EEXIST:
		return TRCERR_DIF_MAJOR;
	case -EINVAL:		/* something else is there */
		return TRCERR_FILE_ACCESS;
	case -ENOENT:
	case -ENOTDIR:
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -ELOOP:
		return TRCERR_FILE_OPEN;
	case -ENAMETOOLONG:
		return TRCERR_FILENAME;
	case -ENOMEM:
		return TRCERR_NO_MEM;
	default:
		return TRCERR_FILE_WRITE;
	}
}

void output_report(struct diag *diag, const char *path, int code,
		   const struct error *err)
{
	diag_report(diag, (struct srcpos){ 0 }, output_failure(code), path);
	if (err->text[0])
		diag_hint(diag, "%s", err->text);
	if (err->hint[0])
		diag_hint(diag, "%s", err->hint);
}

/* One that the TSF was compiled to before must not be armed by mistake. */
static int remove_tdf(struct diag *diag, const char *path, struct error *err)
{
	struct tdf *tdf;
	bool own;

	if (tdf_open(&tdf, path, NULL))
		return 0;
	own = outfile_is_same(tdf_string(tdf, tdf->header->tsf), diag_path(diag));
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
static int write_files(const struct compilation *c,
		       const struct compiled *compiled, const char *tdf,
		       const char *tff, const char *module)
{
	struct outfile *tdf_out = NULL, *tff_out = NULL;
	int lock = outfile_lock_directory(tff);
	const char *path = tff;
	struct error err = { 0 };
	int code = tff_write(&tff_out, tff, c, compiled, module, &err);

	if (!code)
		code = outfile_sync(tff_out, &err);
	if (!code && compiled->dynamic_count) {
		path = tdf;
		code = tdf_write(&tdf_out, tdf, c, compiled, &err);
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
		code = remove_tdf(c->diag, tdf, &err);
	}
	outfile_abort(tff_out);
	outfile_abort(tdf_out);
	if (lock >= 0)
		close(lock);
	if (code)
		output_report(c->diag, path, code, &err);
	return code;
}

int output_remove(struct diag *diag, const char *tdf)
{
	struct error err = { 0 };
	int code = remove_tdf(diag, tdf, &err);

	if (code)
		output_report(diag, tdf, code, &err);
	return code;
}

int output_write(const struct compilation *c,
		 const struct compiled *compiled, const char *tdf,
		 const char *module)
{
	char *tff;
	int code;

	if (!compiled->point_count)
		return output_remove(c->diag, tdf);
	tff = locate_tff(tdf, c->tsf->major);
	if (!tff)
		diag_no_memory(c->diag, (struct srcpos){ 0 });
	code = tff ? write_files(c, compiled, tdf, tff, module) : -ENOMEM;
	free(tff);
	return code;
}

int output_print(const struct settings *s, char *text, size_t size)
{
	struct outfile *out;
	struct error err = { 0 };
	int code = 0;

	if (s->output) {
		code = outfile_open(&out, s->output, &err);
		if (!code) {
			outfile_write(out, text, size);
			code = outfile_commit(out, &err);
		}
	} else {
		fwrite(text, 1, size, stdout);	/* main() checks */
	}
	if (code)
		error_print("trcust", &err);
	free(text);
	return code ? 1 : 0;
}

int stdout_check(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "trcust: cannot write: %s\n", strerror(errno));
	return 1;
}
