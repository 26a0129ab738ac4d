// SPDX-License-Identifier: GPL-2.0
#include "input.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/guard.h"
#include "lib/debug/module/module.h"

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
