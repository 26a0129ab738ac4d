// SPDX-License-Identifier: GPL-2.0
/*
 * FMT against the data statements: each row is a tracepoint, what is reported
 * about it and where; nothing is reported about the samples of the manual. And
 * the formats of tracepoints without FMT.
 *
 * What a statement logs is made up here: 2, 4 or 8 bytes of a register by its
 * first letter, and of MEM the type that the symbol's name says.
 */
#include <tap.h>
#include "trcust/compile/format_check.h"
#include "trcust/tsf/parse_point.h"

enum { INT, CHAR, NAME, PAIR, CLASS, CELLS, ODD, POINTER };

static struct ctype all[] = {
	[INT] = { .name = "int", .kind = TFF_CTYPE_INT, .bytes = 4 },
	[CHAR] = { .name = "char", .kind = TFF_CTYPE_CHAR, .bytes = 1 },
	[NAME] = { .name = "char[8]", .kind = TFF_CTYPE_ARRAY, .bytes = 8,
		   .target = CHAR, .count = 8 },
	[PAIR] = { .name = "struct pair", .kind = TFF_CTYPE_STRUCT,
		   .bytes = 8 },
	[CLASS] = { .name = "hex", .kind = TFF_CTYPE_STRUCT, .bytes = 4 },
	[CELLS] = { .name = "int[4]", .kind = TFF_CTYPE_ARRAY, .bytes = 16,
		    .target = INT, .count = 4 },
	[ODD] = { .name = "odd}", .kind = TFF_CTYPE_STRUCT, .bytes = 4 },
	[POINTER] = { .name = "char *", .kind = TFF_CTYPE_POINTER,
		      .bytes = 8, .target = CTYPE_NONE },
};

static const struct {
	const char *symbol;
	uint32_t ctype;
} symbols[] = {
	{ "i", INT }, { "name", NAME }, { "pair", PAIR }, { "cls", CLASS },
	{ "cells", CELLS }, { "odd", ODD }, { "ptr", POINTER },
};

struct row {
	const char *clauses;	/* from line 3 on */
	const char *reported;	/* "line:column:NAME" of each */
};

static const struct row rows[] = {
	/* what fits */
	{ "FMT=\"none\"", "" },
	{ "FMT=\"AX=%W EBX=%F\",\nREGS=(AX,EBX)", "" },
	{ "FMT=\"%b %b %Q\",\nREGS=(BX,EAX,EBX)", "" },
	{ "FMT=\"%A\",\nREGS=(SS,SP)", "" },
	{ "FMT=\"%P%W%W %I2\",\nMEM32=(.x,D,6)", "" },
	{ "FMT=\"%P%S %W\",\nASCIIZ32=(.x,D,8), REGS=(AX)", "" },
	{ "FMT=\"%P%D %W\",\nMEM32=(.x,D,4), REGS=(AX)", "" },
	{ "FMT=\"%R%W AX=%W\",\nMEM32=(.x,D,8), REGS=(AX)", "" },
	{ "FMT=\"%P%S\",\nMEM32=(.x,D,8)", "" },
	{ "FMT=\"%P%S\",\nMEM32=(.name,D,8)", "" },
	{ "FMT=\"%R%C\",\nASCIIZ32=(.x,D,8)", "" },
	{ "FMT=\"%P%{int} %{struct pair}\",\nMEM32=(.pair,D,12)", "" },
	{ "FMT=\"%P%{struct hex}\",\nMEM32=(.cls,D,4)", "" },
	{ "FMT=\"%{int}\",\nREGS=(EAX)", "" },
	{ "FMT=\"%R%{p64}\",\nSTACK=(4)", "" },
	{ "FMT=\"%P%{stack}\",\nSTACK=(4)", "" },
	{ "FMT=\"%R%{sym}\",\nSTACK=(4)", "" },
	{ "FMT=\"%W %U\",\nREGS=(AX), MEM32=(.x,D,3)", "" },
	{ "FMT=\"%P\",\nFMT=\"%W\",\nMEM32=(.x,D,2)", "" },
	{ "FMT=\"%X %Y %%\"", "" },
	/* less than all is fine; of memory any part is */
	{ "FMT=\"%W\",\nREGS=(AX,EBX), MEM32=(.x,D,4)", "" },
	{ "FMT=\"%P%W %P%B\",\nMEM32=(.x,D,20), MEM32=(.y,D,4)", "" },
	/* of an item of any length anything may match */
	{ "FMT=\"%P%W%D%Q %P%U\",\nLEN=(.n,D), MEM32=(.x,D,LEN),"
	  "MEM32=(.y,D,4)", "" },
	{ "FMT=\"%P%W AX=%W %P%W\",\nLEN=(.n,D), MEM32=(.x,D,LEN), REGS=(AX),"
	  "MEM32=(.y,D,2)", "" },
	{ "FMT=\"%R%D\",\nLEN=(.n,D), MEM32=(.x,D,LEN)", "" },
	{ "FMT=\"%PW %PI2 %pd\",\nMEM32=(.x,D,2), MEM32=(.x,D,2),"
	  "MEM32=(.y,D,4)", "" },
	{ "FMT=\"x = %PD\",\nMEM32=(.x,D,2)", "3:11:FORMAT_WIDE" },
	/* no prefix where memory is */
	{ "FMT=\"x = %W\",\nMEM32=(.x,D,2)", "3:10:FORMAT_PREFIX" },
	{ "FMT=\"\\\"\\x41\\t%W\",\nMEM32=(.x,D,2)", "3:14:FORMAT_PREFIX" },
	{ "FMT=\"%P%W\",\nFMT=\"%W\",\nMEM32=(.x,D,2), MEM32=(.y,D,2)",
	  "4:6:FORMAT_PREFIX" },
	{ "FMT=\"%S %P%D\",\nASCIIZ32=(.x,D,8), MEM32=(.y,D,4)",
	  "3:6:FORMAT_PREFIX" },
	/* a prefix where a register is */
	{ "FMT=\"AX = %P%W\",\nREGS=(AX)", "3:11:FORMAT_REGISTER" },
	{ "FMT=\"%P%W %P%D\",\nREGS=(AX), MEM32=(.x,D,4)",
	  "3:6:FORMAT_REGISTER" },
	{ "FMT=\"%P%D\",\nREGS=(AX), MEM32=(.x,D,4)", "3:6:FORMAT_REGISTER" },
	{ "FMT=\"%R%W\",\nREGS=(AX)", "3:6:FORMAT_REGISTER" },
	/* wider than what is left */
	{ "FMT=\"%P%D\",\nMEM32=(.x,D,2)", "3:8:FORMAT_WIDE" },
	{ "FMT=\"%P%W%D %P%W\",\nMEM32=(.x,D,4), MEM32=(.y,D,2)",
	  "3:10:FORMAT_WIDE" },
	{ "FMT=\"%P%I9 %P%W\",\nMEM32=(.x,D,8), MEM32=(.y,D,2)",
	  "3:8:FORMAT_WIDE" },
	{ "FMT=\"%R%D\",\nMEM32=(.x,D,6)", "3:8:FORMAT_WIDE" },
	{ "FMT=\"%P%{d64}\",\nMEM32=(.i,D,4)", "3:8:FORMAT_WIDE" },
	{ "FMT=\"%P%{struct pair}\",\nMEM32=(.i,D,4)", "3:8:FORMAT_WIDE" },
	{ "FMT=\"%P%{hex5}\",\nMEM32=(.x,D,4)", "3:8:FORMAT_WIDE" },
	{ "FMT=\"%D\",\nREGS=(AX)", "3:6:FORMAT_WIDE" },
	{ "FMT=\"%Q %P%W\",\nREGS=(EAX,AX), MEM32=(.x,D,2)",
	  "3:6:FORMAT_WIDE" },
	{ "FMT=\"%W %F %F\",\nREGS=(EAX,EBX,ECX)", "3:9:FORMAT_WIDE" },
	/* a register in part shifts the rest */
	{ "FMT=\"%W\",\nREGS=(EAX)", "3:6:FORMAT_CUT" },
	{ "FMT=\"%W %P%W\",\nREGS=(EAX), MEM32=(.x,D,2)", "3:6:FORMAT_CUT" },
	{ "FMT=\"%W %W\",\nREGS=(AX,EBX)", "3:9:FORMAT_CUT" },
	/* kinds */
	{ "FMT=\"%S\",\nREGS=(EAX)", "3:6:FORMAT_STRING" },
	{ "FMT=\"%P%S\",\nMEM32=(.i,D,4)", "3:8:FORMAT_STRING" },
	{ "FMT=\"%P%{s}\",\nMEM32=(.ptr,D,8)", "3:8:FORMAT_STRING" },
	{ "FMT=\"%P%S\",\nSTACK=(4)", "3:8:FORMAT_STRING" },
	{ "FMT=\"a = %P%D b = %P%S\",\nASCIIZ32=(.x,D,8), MEM32=(.y,D,4)",
	  "3:12:FORMAT_NUMBER" },
	{ "FMT=\"%P%{d32}\",\nASCIIZ32=(.x,D,8)", "3:8:FORMAT_NUMBER" },
	{ "FMT=\"%R%W\",\nASCIIZ32=(.x,D,8)", "3:8:FORMAT_NUMBER" },
	/* beyond all data */
	{ "FMT=\"%W %B %B\",\nREGS=(AX)", "3:9:FORMAT_BEYOND" },
	{ "FMT=\"%W\"", "3:6:FORMAT_BEYOND" },
	{ "FMT=\"%W %P%W\",\nREGS=(AX)", "3:9:FORMAT_BEYOND" },
	{ "FMT=\"%P%S %S\",\nASCIIZ32=(.x,D,8)", "3:11:FORMAT_BEYOND" },
	{ "FMT=\"%U %U\",\nREGS=(AX)", "" },
	/* several */
	{ "FMT=\"%W\",\nFMT=\"%D %P%D\",\nMEM32=(.x,D,2), REGS=(AX), "
	  "MEM32=(.y,D,2)",
	  "3:6:FORMAT_PREFIX 4:6:FORMAT_WIDE 4:11:FORMAT_WIDE" },
	/* types */
	{ "FMT=\"%P%{struct none} %{int}\",\nMEM32=(.i,D,4)",
	  "3:8:BADCONTROL" },
	{ "FMT=\"%P%{union hex}\",\nMEM32=(.cls,D,4)", "3:8:BADCONTROL" },
	/* widths that no C type has, names of values, strings of a size */
	{ "FMT=\"%{u12} %P%{x24be}%{d5}\",\nREGS=(AX), MEM32=(.x,D,4)", "" },
	{ "FMT=\"%P%{enum8:A=1,B=2}%{flags24be:A=1/3}\",\nMEM32=(.x,D,4)", "" },
	{ "FMT=\"%P%{str4}%{dump4}%{time_ms}\",\nMEM32=(.x,D,16)", "" },
	{ "FMT=\"%P%{u40}\",\nMEM32=(.x,D,4)", "3:8:FORMAT_WIDE" },
	{ "FMT=\"%P%{flags33:A=1}\",\nMEM32=(.x,D,4)", "3:8:FORMAT_WIDE" },
	{ "FMT=\"%P%{str5}\",\nMEM32=(.x,D,4)", "3:8:FORMAT_WIDE" },
	{ "FMT=\"%{u8} %P%W\",\nREGS=(AX), MEM32=(.x,D,2)", "3:6:FORMAT_CUT" },
	{ "FMT=\"%P%{str4}\",\nMEM32=(.i,D,4)", "3:8:FORMAT_STRING" },
	{ "FMT=\"%P%{enum8:A=1}\",\nASCIIZ32=(.x,D,8)", "3:8:FORMAT_NUMBER" },
	{ "FMT=\"%P%{enum8:A=256}\",\nMEM32=(.x,D,1)", "3:8:BADCONTROL" },
	{ "FMT=\"%P%{u65}\",\nMEM32=(.x,D,8)", "3:8:BADCONTROL" },
};

/* What the data statement logs. */
static struct compile_item item_make(const struct tsf_stmt *stmt)
{
	struct compile_item item = {
		.tsf = stmt, .bytes = stmt->length, .ctype = CTYPE_NONE,
		.kind = TDF_STMT_MEM, .variable = stmt->has_len,
		.label = stmt->address.name,
	};

	switch (stmt->kind) {
	case TSF_REGS:
		item.kind = TDF_STMT_REG;
		item.raw = true;
		item.label = stmt->reg.name;
		item.bytes = item.label[0] == 'R' ? 8 :
			     item.label[0] == 'E' && item.label[2] ? 4 : 2;
		break;
	case TSF_ASCIIZ:
		item.kind = TDF_STMT_ASCIIZ;
		item.variable = true;
		break;
	case TSF_STACK:
		item.kind = TDF_STMT_STACK;
		item.variable = true;
		item.bytes = 8 * stmt->length;
		item.label = (char *)"stack";
		break;
	default:
		item.bytes = stmt->has_len ? 512 : stmt->length;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (stmt->kind == TSF_MEM && stmt->address.name &&
		    !strcmp(stmt->address.name, symbols[i].symbol))
			item.ctype = symbols[i].ctype;
	return item;
}

static struct compile_point point_make(const struct tsf_point *tsf)
{
	struct compile_point point = {
		.tsf = tsf, .is_static = tsf->tp.kind == TSF_TP_STATIC,
		.items = calloc(tsf->stmt_count + 1, sizeof(*point.items)),
		.item_count = tsf->stmt_count,
	};

	for (size_t i = 0; i < tsf->stmt_count; i++)
		point.items[i] = item_make(&tsf->stmts[i]);
	return point;
}

struct source {
	struct compilation c;
	struct ctypes ctypes;
	struct tsf *tsf;
	char *reported;
	size_t size;
	FILE *out;
};

static void source_open(struct source *s, const char *text)
{
	*s = (struct source){ 0 };
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (ctypes_put(&s->ctypes, &all[i]) != i)
			tap_bail("type %zu is another one's", i);
	/* a name that the table would change */
	strcpy((char *)s->ctypes.types[ODD].name, all[ODD].name);
	s->out = open_memstream(&s->reported, &s->size);
	if (!s->out ||
	    diag_open_text(&s->c.diag, "t.tsf", text, strlen(text), 2,
			   s->out) ||
	    tsf_parse(&s->tsf, s->c.diag, NULL, NULL))
		tap_bail("cannot parse: %s", text);
	s->c.tsf = s->tsf;
}

/* "3:6:NAME 4:1:NAME" of the messages since */
static char *source_reported(struct source *s)
{
	char *line, *rest, *places, *name;

	fflush(s->out);
	places = calloc(1, s->size + 1);
	rest = s->reported;
	while ((line = strsep(&rest, "\n"))) {
		int at, column;

		name = strstr(line, " [TRCERR_");
		if (!name || sscanf(line, "t.tsf:%d:%d:", &at, &column) != 2)
			continue;
		name[strlen(name) - 1] = '\0';
		sprintf(places + strlen(places), "%s%d:%d:%s",
			*places ? " " : "", at, column,
			name + strlen(" [TRCERR_"));
	}
	return places;
}

static void source_close(struct source *s)
{
	tsf_free(s->tsf);
	ctypes_free(&s->ctypes);
	diag_close(s->c.diag);
	fclose(s->out);
	free(s->reported);
}

static void source_check(struct source *s)
{
	for (size_t i = 0; i < s->tsf->point_count; i++) {
		struct compile_point point = point_make(&s->tsf->points[i]);

		if (!s->tsf->points[i].discarded)
			format_check(&s->c, &s->ctypes, &point);
		free(point.items);
	}
}

static void row_run(const struct row *row)
{
	char text[1024], *reported;
	struct source s;

	snprintf(text, sizeof(text),
		 "MODNAME=x\nTRACE MINOR=1, TP=.f, DESC=\"d\",\n%s\n",
		 row->clauses);
	source_open(&s, text);
	source_check(&s);
	reported = source_reported(&s);
	tap_str(reported, row->reported, "%.*s",
		(int)strcspn(row->clauses, "\n"), row->clauses);
	free(reported);
	source_close(&s);
}

static void test_static(void)
{
	struct source s;
	char *reported;

	source_open(&s, "MODNAME=x\n"
			"TRACE MINOR=1, TP=@STATIC, DESC=\"d\",\n"
			"FMT=\"%W %S %{d32}\",\n"
			"FMT=\"%P%W\"\n");
	source_check(&s);
	reported = source_reported(&s);
	tap_str(reported, "4:6:FORMAT_STATIC", "prefixes in static tracepoints");
	free(reported);
	source_close(&s);
}

/* The other line is named. */
static void test_hint(void)
{
	struct source s;

	source_open(&s, "MODNAME=x\nTRACE MINOR=1, TP=.f, DESC=\"d\",\n"
			"FMT=\"%P%D\",\nREGS=(\nEAX)\n");
	source_check(&s);
	fflush(s.out);
	tap_ok(strstr(s.reported, "| line 5 logs 4 bytes there: EAX"),
	       "the hint names the statement");
	source_close(&s);
}

static void test_sample(const char *name)
{
	char path[4096], *text = calloc(1, 1 << 16), *reported;
	struct source s;
	FILE *file;

	snprintf(path, sizeof(path), "%s/selftests/trcust/samples/%s",
		 getenv("TOP") ? getenv("TOP") : ".", name);
	file = fopen(path, "r");
	if (!file || !fread(text, 1, (1 << 16) - 1, file))
		tap_bail("cannot read %s", path);
	fclose(file);
	source_open(&s, text);
	source_check(&s);
	reported = source_reported(&s);
	tap_ok(!strstr(reported, "FORMAT") && !strstr(reported, "BADCONTROL"),
	       "%s: no false warning (%s)", name, reported);
	tap_ok(s.tsf->point_count > 1, "%s: has tracepoints", name);
	free(reported);
	source_close(&s);
	free(text);
}

static const struct row defaults[] = {
	{ "REGS=(EAX,BX,RCX)", "EAX=%{x32} BX=%{x16} RCX=%{x64}\n" },
	{ "REGS=(EAX),\nREGS=(BX)", "EAX=%{x32}\nBX=%{x16}\n" },
	{ "MEM32=(.x,D,4)", "x = %P%{hex}\n" },
	{ "ASCIIZ32=(.x,D,4), REGS=(AX)", "x = %P%S\n"
					  "AX=%{x16}\n" },
	{ "MEM32=(.i,D,4)", "i = %P%{int}\n" },
	{ "MEM32=(.i,D,2)", "i = %P%{hex}\n" },
	{ "MEM32=(.i,D,8)", "i = %R%{int}\n" },
	{ "MEM32=(.i,D,6)", "i = %P%{hex}\n" },
	{ "MEM32=(.pair,D,8)", "pair = %P%{struct pair}\n" },
	{ "MEM32=(.pair,D,3)", "pair = %P%{struct pair}\n" },
	{ "MEM32=(.name,D,8)", "name = %P%{char[8]}\n" },
	{ "LEN=(.n,D), MEM32=(.x,D,LEN)", "x = %P%{hex}\n" },
	{ "LEN=(.n,D), MEM32=(.i,D,LEN)", "i = %R%{int}\n" },
	{ "LEN=(.n,D), MEM32=(.name,D,LEN)", "name = %R%C\n" },
	{ "LEN=(.n,D), MEM32=(.cells,D,LEN)", "cells = %R%{int}\n" },
	{ "MEM32=(.cls,D,4)", "cls = %P%{struct hex}\n" },
	{ "MEM32=(.odd,D,4)", "odd = %P%{hex}\n" },
	{ "STACK=(4)", "stack = %P%{stack}\n" },
	{ "REGS=(AX), MEM32=(.x,D,4), REGS=(BX,CX)",
	  "AX=%{x16}\nx = %P%{hex}\nBX=%{x16} CX=%{x16}\n" },
};

static void default_run(const struct row *row)
{
	char text[1024], *fmt;
	struct compile_point point;
	struct source s;

	snprintf(text, sizeof(text), "MODNAME=x\nTRACE MINOR=1, TP=.f,\n%s\n",
		 row->clauses);
	source_open(&s, text);
	point = point_make(s.tsf->points);
	fmt = format_default(&s.ctypes, &point);
	tap_str(fmt, row->reported, "default of %.*s",
		(int)strcspn(row->clauses, "\n"), row->clauses);
	free(fmt);
	free(point.items);
	source_close(&s);
}

/* Names with per cent signs; more than a format may have. */
static void test_labels(void)
{
	struct tsf_stmt stmt = { .kind = TSF_MEM };
	struct compile_item items[300];
	struct compile_point point = { .items = items, .item_count = 1 };
	struct ctypes types = { 0 };
	char *fmt;

	for (size_t i = 0; i < 300; i++)
		items[i] = (struct compile_item){
			.tsf = &stmt, .kind = TDF_STMT_MEM, .bytes = 3,
			.ctype = CTYPE_NONE, .label = (char *)"a % b",
		};
	fmt = format_default(&types, &point);
	tap_str(fmt, "a %% b = %P%{hex}\n", "a per cent sign in a name");
	free(fmt);
	point.item_count = 300;
	fmt = format_default(&types, &point);
	tap_ok(strlen(fmt) <= TFF_FMT_MAX && strlen(fmt) > TFF_FMT_MAX - 32 &&
		       !strcmp(fmt + strlen(fmt) - 4, "\n%U\n"),
	       "of too many the rest is printed as bytes");
	free(fmt);
	items[0].raw = true;
	point.item_count = 1;
	fmt = format_default(&types, &point);
	tap_str(fmt, "a %% b=%{hex3}\n", "a raw item of 3 bytes");
	free(fmt);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		row_run(&rows[i]);
	test_static();
	test_hint();
	test_sample("sample-16bit.tsf");
	test_sample("sample-32bit.tsf");
	test_sample("sample-doscall1.tsf");
	test_sample("sample-mixed.tsf");
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		default_run(&defaults[i]);
	test_labels();
	return tap_done();
}
