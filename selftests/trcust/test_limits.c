// SPDX-License-Identifier: GPL-2.0
/* Large inputs: as many tracepoints as there may be, long and deep things. */
#include "tap.h"
#include <time.h>
#include "trcust/tsf/parse_point.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Parse what was written to `file`; takes the memory. */
static int text_parse(struct tsf **tsf, FILE *file, char **text, size_t *size,
		      double *took)
{
	struct diag *diag;
	double begin;
	int status;

	fclose(file);
	if (diag_open_text(&diag, "text", *text, *size, 2, NULL))
		tap_bail("no memory");
	begin = now();
	status = tsf_parse(tsf, diag, NULL, NULL);
	*took = now() - begin;
	diag_close(diag);
	free(*text);
	return status;
}

static void points_check(unsigned int count, bool bad)
{
	struct tsf *tsf;
	char *text;
	size_t size;
	double took;
	FILE *file = open_memstream(&text, &size);
	int status;

	fputs("MODNAME=x.so\nTYPELIST NAME=PRE,ID=1\n", file);
	for (unsigned int i = 1; i <= count; i++)
		fprintf(file, "TRACE MINOR=%u, TP=.function_%u+4,\n"
			"\tTYPE=(PRE%s), /* one of many */\n"
			"\tDESC=\"(x) function %u Pre-Invocation\",\n"
			"\tFMT=\"  a = %%D  b = %%P%%D\", FMT=\"%%P%%S\",\n"
			"\tREGS=(EAX),\n\tMEM32=(.b,INDIRECT*+4*+8,4),\n"
			"\tASCIIZ32=(FRDI+RSI+8,INDIRECT,100)\n",
			i, i, bad ? "+" : "", i);
	status = text_parse(&tsf, file, &text, &size, &took);
	if (count > TDF_POINTS_MAX) {
		tap_ok(status == -1 && !tsf, "%u tracepoints", count);
	} else {
		tap_ok(!status && tsf->point_count == count &&
		       tsf->points[count - 1].minor == count &&
		       tsf->points[count - 1].discarded == bad,
		       "%u %s tracepoints", count, bad ? "bad" : "good");
		tap_ok(took < 5, "%u in %.3f s", count, took);
	}
	tsf_free(tsf);
}

/* `count` times `piece` between the other two */
static void repeat_check(const char *begin, const char *piece,
			 unsigned int count, const char *end, int expected,
			 const char *name)
{
	struct tsf *tsf;
	char *text;
	size_t size;
	double took;
	FILE *file = open_memstream(&text, &size);
	int status;

	fputs("MODNAME=x.so\nTRACE TP=.f,DESC=\"\"", file);
	fputs(begin, file);
	while (count--)
		fputs(piece, file);
	fputs(end, file);
	status = text_parse(&tsf, file, &text, &size, &took);
	tap_ok(status == expected && took < 5, "%s: %.3f s", name, took);
	tsf_free(tsf);
}

int main(void)
{
	points_check(TDF_POINTS_MAX, false);
	points_check(TDF_POINTS_MAX, true);
	points_check(TDF_POINTS_MAX + 1, false);
	repeat_check(",", "x", 1 << 20, "", -1, "a line of a megabyte");
	repeat_check(";", "\n", 1 << 20, "", 0, "a million lines");
	repeat_check("", "/*\n", 1 << 20, "", -1, "a million open comments");
	repeat_check("/*", "*/\n/*", 1 << 20, "*/", 0, "a million comments");
	repeat_check(",MEM32=(.x", "+1\n", 1 << 20, ",D,4)", 0,
		     "a million displacements");
	repeat_check(",MEM32=(FRAX", "+RBX\n", 1 << 18, ",D,4)", 0,
		     "many registers");
	repeat_check(",MEM32=(.x,I", "*+8\n", 1 << 18, ",4)", 0,
		     "a long chain");
	repeat_check(",REGS=(AX", ",\nBX", 1 << 18, ")", 0, "many statements");
	repeat_check(",?", " TRACE,\n", 1 << 18, "", 0,
		     "names that do not resynchronise");
	repeat_check("", "\nTRACE TRACE", 1 << 15, "\n", -1,
		     "too many empty tracepoints");
	return tap_done();
}
