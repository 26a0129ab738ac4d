// SPDX-License-Identifier: GPL-2.0
/* A TSF made from a module. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/guard.h"
#include "from_module.h"
#include "input.h"
#include "run.h"

static int write_tsf(const struct compilation *c, const struct settings *s,
		     const char *modname)
{
	struct from_module in = {
		.modname = s->modname ? s->modname : modname,
		.module = c->module,
		.dwarf = c->dwarf,
		.major = s->major ? s->major : 1,
		.include = s->include.globs,
		.include_count = s->include.count,
		.exclude = s->exclude.globs,
		.exclude_count = s->exclude.count,
		.retep = s->retep,
		.args = s->args,
	};
	struct error err = { 0 };
	size_t size, left_out = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	int code = out ? from_module_write(&in, out, &left_out, &err) :
			 error_no_memory(&err);

	if (out && fclose(out) && !code)
		code = error_no_memory(&err);
	if (left_out)
		fprintf(stderr, "trcust: %zu functions can't be traced and are left out\n",
			left_out);
	if (!code)
		return run_print(s, text, size);
	error_print("trcust", &err);
	free(text);
	return 1;
}

struct module_run {
	const struct settings *settings;
	const char *module;
};

static int run_module(void *context)
{
	const struct module_run *run = context;
	const struct settings *s = run->settings;
	const char *module = run->module;
	struct compilation c = { 0 };
	struct input input = { 0 };
	int code = 1;

	if (diag_open(&c.diag, NULL, s->level))
		return 1;
	if (!input_open(&c, s, &input, module, "", true))
		code = write_tsf(&c, s, module);
	input_close(&c, &input);
	diag_close(c.diag);
	return run_finish_output() ? 1 : code;
}

int run_from_module(const struct settings *s, const char *module)
{
	struct module_run run = { s, module };
	struct error err = { 0 };
	struct diag *diag;
	char *file = NULL;
	int code = guard_run(run_module, &run, &file, &err);

	if (code < 0) {
		code = 1;
		if (!diag_open(&diag, NULL, s->level)) {
			input_report_damaged(diag, file, &err);
			diag_close(diag);
		}
	}
	free(file);
	return code;
}
