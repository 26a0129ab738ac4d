// SPDX-License-Identifier: GPL-2.0
/* From a TSF to its TDF and TFF. */
#include <stdio.h>
#include <stdlib.h>
#include "lib/guard.h"
#include "trcust/compile/compile.h"
#include "trcust/compile/review.h"
#include "trcust/tsf/parse_point.h"
#include "explain.h"
#include "input.h"
#include "locate.h"
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

struct tsf_run {
	const struct settings *s;
	const char *tsf, *given;	/* given: name of the TDF; NULL */
};

static const struct arch *tsf_find_arch(void *context, const char *modname)
{
	const struct tsf_run *run = context;

	return input_arch(run->s, modname, run->tsf);
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

static int run_file(void *context)
{
	struct tsf_run *run = context;
	const struct settings *s = run->s;
	struct compilation c = { .mode = s->site };
	struct compiled out = { 0 };
	struct srcpos nowhere = { 0 };
	struct tsf *tsf = NULL;
	bool replaced;
	int code = -1;
	char *tdf;

	guard_file(run->tsf);
	if (diag_open(&c.diag, run->tsf, s->level))
		return 1;
	tdf = locate_tdf(run->tsf, run->given, s->output, &replaced);
	if (!tdf) {
		diag_no_memory(c.diag, nowhere);
	} else if (replaced) {
		diag_report(c.diag, nowhere, TRCERR_BAD_EXTN, run->given, tdf);
		diag_hint(c.diag, "a TDF is named *.tdf");
	}
	if (tdf)
		code = tsf_parse(&tsf, c.diag, tsf_find_arch, run);
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
	return stdout_check() ? 1 : code;
}

int run_dump_tsf(const struct settings *s, const char *path)
{
	struct tsf_run run = { s, path };
	struct tsf *tsf = NULL;
	struct diag *diag;
	bool failed;

	if (diag_open(&diag, path, s->level))
		return 1;
	failed = tsf_parse(&tsf, diag, tsf_find_arch, &run);
	if (!failed)
		tsf_dump(tsf, stdout);
	failed |= diag_count(diag, DIAG_ERROR) > 0;
	tsf_free(tsf);
	diag_close(diag);
	return failed;
}

int run_compile(const struct settings *s, const char *tsf, const char *tdf)
{
	char *path = locate_tsf(tsf), *file = NULL;
	struct tsf_run run = { s, path ? path : tsf, tdf };
	struct error err = { 0 };
	int code = guard_run(run_file, &run, &file, &err);
	struct diag *diag;

	/* The compiler has crashed: as after other fatal messages, no TDF is
	 * left that the TSF was compiled to before. */
	if (code < 0 && !diag_open(&diag, run.tsf, s->level)) {
		char *old = locate_tdf(run.tsf, tdf, s->output,
				       &(bool){ false });

		input_report_damaged(diag, file, &err);
		if (old && !s->explain) {
			output_remove(diag, old);
			report_left(s, NULL, old, 0);
		}
		free(old);
		diag_close(diag);
	}
	free(file);
	free(path);
	return code < 0 ? 1 : code;
}
