// SPDX-License-Identifier: GPL-2.0
/* From a TSF to its TDF and TFF. */
#include <stdio.h>
#include <stdlib.h>
#include "lib/guard.h"
#include "trcust/compile/compile.h"
#include "trcust/compile/inlined.h"
#include "trcust/tsf/parse_point.h"
#include "explain.h"
#include "input.h"
#include "locate.h"
#include "output.h"
#include "run.h"

static bool tsf_is_static(const struct tsf *tsf)
{
	for (size_t i = 0; i < tsf->point_count; i++)
		if (tsf->points[i].tp.kind != TSF_TP_STATIC)
			return false;
	return true;
}

/* What was compiled is explained, or written. */
static int tsf_finish(const struct compilation *c, const struct compiled *out,
		      const struct settings *s, const struct input *input,
		      const char *tdf)
{
	const char *path = input->at.path;

	if (c->module && c->module->exhausted)
		return diag_no_memory(c->diag, input->pos);
	if (input_check(c, input))
		return -1;
	if (!s->explain)
		return output_write(c, out, tdf, path ? path : c->tsf->modname);
	explain_points(c, out, stdout);
	return 0;
}

static int compile_tsf(struct compilation *c, struct compiled *out,
		       const struct settings *s, const char *tdf)
{
	struct input input = { .pos = c->tsf->modname_pos };
	int code = input_open_map(c, s);

	if (!code)
		code = input_open(c, s, &input, c->tsf->modname,
				   diag_path(c->diag), !tsf_is_static(c->tsf));
	if (!code)
		code = compile_points(c, out);
	if (!code)
		code = inlined_check(c, out);
	if (code && !s->explain)
		output_remove(c->diag, tdf);
	if (!code)
		code = tsf_finish(c, out, s, &input, tdf);
	compile_free(c, out);
	input_close(c, &input);
	return code;
}

/* The name of the TDF; NULL after a message. */
static char *tdf_name(const struct settings *s, struct diag *diag,
		      const char *tsf, const char *given)
{
	struct srcpos nowhere = { 0 };
	bool replaced;
	char *tdf = locate_tdf(tsf, given, s->output, &replaced);

	if (!tdf) {
		diag_no_memory(diag, nowhere);
	} else if (replaced) {
		diag_report(diag, nowhere, TRCERR_BAD_EXTN, given, tdf);
		diag_hint(diag, "a TDF is named *.tdf");
	}
	return tdf;
}

struct peek {
	const struct settings *s;
	const char *tsf;
};

static const struct arch *tsf_find_arch(void *context, const char *modname)
{
	const struct peek *peek = context;

	return input_arch(peek->s, modname, peek->tsf);
}

/* After errors: how much of the TSF there is a TDF for. */
static void report_left(const struct settings *s, const struct tsf *tsf,
			const char *tdf, size_t written)
{
	size_t all = 0;

	if (!s->level || s->explain)
		return;
	for (size_t i = 0; tsf && i < tsf->point_count; i++)
		all += tsf->points[i].tp.kind != TSF_TP_STATIC;
	if (written)
		fprintf(stderr, "trcust: '%s' has %zu of %zu tracepoints\n",
			tdf, written, all);
	else
		fputs("trcust: no TDF is written\n", stderr);
}

static int run_file(const struct settings *s, const char *path,
		    const char *given)
{
	struct compilation c = { .mode = s->site };
	struct compiled out = { 0 };
	struct peek peek = {s, path};
	struct tsf *tsf = NULL;
	char *tdf;
	int code;

	guard_file(path);
	if (diag_open(&c.diag, path, s->level))
		return 1;
	tdf = tdf_name(s, c.diag, path, given);
	code = tdf ? tsf_parse(&tsf, c.diag, tsf_find_arch, &peek) : -1;
	c.tsf = tsf;
	if (!code)
		code = compile_tsf(&c, &out, s, tdf);
	else if (tdf && !s->explain)
		output_remove(c.diag, tdf);
	if (code || diag_count(c.diag, DIAG_ERROR)) {
		report_left(s, tsf, tdf, code ? 0 : out.dynamic_count);
		code = 1;
	}
	free(tdf);
	tsf_free(tsf);
	diag_close(c.diag);
	return code;
}

int run_dump_tsf(const struct settings *s, const char *path)
{
	struct peek peek = {s, path};
	struct tsf *tsf = NULL;
	struct diag *diag;
	bool failed;

	if (diag_open(&diag, path, s->level))
		return 1;
	failed = tsf_parse(&tsf, diag, tsf_find_arch, &peek);
	if (!failed)
		tsf_dump(tsf, stdout);
	failed |= diag_count(diag, DIAG_ERROR) > 0;
	tsf_free(tsf);
	diag_close(diag);
	return failed;
}

struct file_run {
	const struct settings *settings;
	const char *tsf, *tdf;
};

static int run_files(void *context)
{
	const struct file_run *run = context;

	int code = run_file(run->settings, run->tsf, run->tdf);

	return run_finish_output() ? 1 : code;
}

/* As after other fatal messages, no TDF is left that the TSF was compiled to
 * before. */
static int report_damaged(const struct file_run *run, const char *file,
			  struct error *err)
{
	const struct settings *s = run->settings;
	struct diag *diag;
	char *tdf;

	if (diag_open(&diag, run->tsf, s->level))
		return 1;
	tdf = locate_tdf(run->tsf, run->tdf, s->output, &(bool){ false });
	input_report_damaged(diag, file, err);
	if (tdf && !s->explain) {
		output_remove(diag, tdf);
		report_left(s, NULL, tdf, 0);
	}
	free(tdf);
	diag_close(diag);
	return 1;
}

int run_compile(const struct settings *s, const char *tsf, const char *tdf)
{
	char *path = locate_tsf(tsf), *file = NULL;
	struct file_run run = { s, path ? path : tsf, tdf };
	struct error err = { 0 };
	int code = guard_run(run_files, &run, &file, &err);

	if (code < 0)
		code = report_damaged(&run, file, &err);
	free(file);
	free(path);
	return code;
}
