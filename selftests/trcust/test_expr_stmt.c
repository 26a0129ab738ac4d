// SPDX-License-Identifier: GPL-2.0
/*
 * What VARS and IF become: the statements, the items, the types in the format
 * file; and what becomes of a variable that one of several sites lacks.
 */
#include "tap.h"

#include <inttypes.h>
#include "lib/formats/rpn.h"
#include "trcust/compile/analysis.h"
#include "trcust/compile/stmts.h"
#include "trcust/tsf/parse_point.h"

static char dir[] = "/tmp/expr.XXXXXX";
static struct compilation c;
static struct compiled compiled;
static struct compile_site site;

static void command(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static void command(const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (system(text))
		tap_bail("failed: %s", text);
}

static struct tsf *parse(const char *clauses)
{
	struct tsf *tsf;
	char text[512];

	snprintf(text, sizeof(text), "MODNAME=x MAXDATALENGTH=100\n"
		 "TRACE MINOR=1, TP=.f, %s\n", clauses);
	if (diag_open_text(&c.diag, "text", text, strlen(text), 2, NULL))
		tap_bail("no memory");
	if (tsf_parse(&tsf, c.diag, NULL, NULL) || tsf->points[0].discarded)
		tap_bail("%s isn't parsed", clauses);
	c.tsf = tsf;
	compiled.stmt_count = compiled.rpn.size = 0;
	return tsf;
}

static const char *const kinds[] = {
	[TDF_STMT_MEM] = "mem", [TDF_STMT_ASCIIZ] = "asciiz",
	[TDF_STMT_VALUE] = "value", [TDF_STMT_ABSENT] = "absent",
	[TDF_STMT_IF] = "if",
};

/* "kind length, kind length: item bytes type", or "error"; static. */
static const char *stmts(const char *expr)
{
	struct compile_item item = { .ctype = CTYPE_NONE };
	static char out[512];
	struct tsf *tsf;
	size_t used = 0;
	char text[256];
	int code;

	snprintf(text, sizeof(text), "VARS=(%s)", expr);
	tsf = parse(text);
	code = variable_compile(&(struct site_stmt){
		&c, &compiled, &site, &tsf->points[0].stmts[0], &item });
	for (size_t i = 0; i < compiled.stmt_count; i++)
		used += snprintf(out + used, sizeof(out) - used, "%s%s %u",
				 i ? ", " : "", kinds[compiled.stmts[i].kind],
				 compiled.stmts[i].length);
	snprintf(out + used, sizeof(out) - used, ": %s %u %s",
		 kinds[item.kind], item.bytes, item.ctype == CTYPE_NONE ? "-" :
		 compiled.ctypes.types[item.ctype].name);
	if (code)
		strcpy(out, "error");
	else if (!item.label || strncmp(item.label, expr, strlen(item.label)))
		strcpy(out, "the label is another");
	tsf_free(tsf);
	diag_close(c.diag);
	return out;
}

static const struct {
	const char *expr, *stmts;
} rows[] = {
	{ "first.len", "mem 4: mem 4 int" },
	{ "first.at", "mem 8: mem 8 point_t" },
	{ "first.next", "mem 8: mem 8 struct node *" },
	{ "first.name", "asciiz 16: asciiz 16 -" },
	{ "first.text", "asciiz 100: asciiz 100 -" },
	{ "first.text:7", "asciiz 7: asciiz 7 -" },
	{ "first.mac", "mem 6: mem 6 uint8_t[6]" },
	{ "first.mac:3", "mem 3: mem 3 uint8_t[3]" },
	{ "first.tail:4", "asciiz 4: asciiz 4 -" },
	{ "first.flags.c", "value 4: mem 4 int" },
	{ "first.flags.d", "value 8: mem 8 long unsigned int" },
	{ "first.ready", "mem 1: mem 1 _Bool" },
	{ "first.color", "mem 4: mem 4 enum color" },
	{ "first.call", "mem 8: mem 8 int (*)()" },
	{ "first.matrix", "mem 24: mem 24 int[2][3]" },
	{ "first.matrix[1]", "mem 12: mem 12 int[3]" },
	{ "&first.matrix[1]", "value 8: mem 8 int (*)[3]" },
	{ "&first", "value 8: mem 8 struct node *" },
	{ "*first.next", "mem 100: mem 100 struct node" },
	{ "first.next:1", "mem 100: mem 100 struct node[1]" },
	{ "table:1", "mem 12: mem 12 int[1][3]" },
	{ "table[0]:30", "mem 100: mem 100 int[25]" },
	{ "words", "mem 32: mem 32 char *[4]" },
	{ "words[0]", "asciiz 100: asciiz 100 -" },
	{ "anything:9", "mem 9: mem 9 -" },
	{ "first.len + 1", "value 4: mem 4 int" },
	{ "first.len < 1", "value 4: mem 4 int" },
	{ "sizeof first", "value 8: mem 8 long unsigned int" },
	{ "(uint8_t)1", "value 1: mem 1 uint8_t" },
	{ "(unsigned char)1", "value 1: mem 1 unsigned char" },
	{ "BLUE", "value 4: mem 4 enum color" },
	{ "enormous", "mem 16: mem 16 __int128 unsigned" },
	{ "single", "value 4: mem 4 float" },
	/* optimized out: an error at the only site */
	{ "gone", "error" },
	{ "gone + 1", "error" },
	{ "table[gone][0]", "error" },
};

static const struct {
	const char *expr, *stmts;
} absent_rows[] = {
	{ "gone", "absent 0: mem 2 short int" },
	{ "gone + 1", "absent 0: mem 4 int" },
	{ "(long)gone", "absent 0: mem 8 long int" },
	{ "n && gone", "absent 0: mem 4 int" },
	{ "gone ? table[0] : table[1]", "absent 0: mem 8 int *" },
	{ "words[gone]", "absent 0: asciiz 100 -" },
	{ "(&table[0][0] + gone):4", "absent 0: mem 16 int[4]" },
	{ "0 && gone", "value 4: mem 4 int" },
	{ "1 ? 2 : gone", "value 4: mem 4 int" },
	{ "sizeof gone", "value 8: mem 8 long unsigned int" },
	{ "table[gone][0]", "absent 0: mem 4 int" },
	{ "*words[gone]", "absent 0: mem 1 char" },
	{ "table[1][1]", "mem 4: mem 4 int" },
};

static void test_condition(const char *condition, const char *rpn)
{
	struct tsf *tsf;
	char text[256];
	int code;

	snprintf(text, sizeof(text), "IF=(%s)", condition);
	tsf = parse(text);
	code = condition_compile(&(struct site_stmt){ &c, &compiled, &site },
				 tsf->points[0].condition);
	if (code || compiled.stmt_count != 1 ||
	    compiled.stmts[0].kind != TDF_STMT_IF)
		strcpy(text, "error");
	else
		rpn_print(compiled.rpn.data + compiled.stmts[0].rpn,
			  compiled.stmts[0].rpn_length,
			  text, sizeof(text));
	tap_str(text, rpn, "IF=(%s)", condition);
	tsf_free(tsf);
	diag_close(c.diag);
}

/* What every reader of a TFF demands. */
static void test_types(void)
{
	bool ordered = true, unique = true;

	for (size_t i = 0; i < compiled.ctypes.count; i++) {
		const struct ctype *type = &compiled.ctypes.types[i];

		if (type->kind == TFF_CTYPE_ARRAY)
			ordered &= type->target < i;
		for (size_t m = 0; m < type->member_count; m++)
			ordered &= type->kind == TFF_CTYPE_ENUM ||
				   type->members[m].ctype < i;
		for (size_t j = 0; j < i; j++)
			unique &= !!strcmp(type->name,
					   compiled.ctypes.types[j].name);
	}
	tap_ok(ordered, "what a type has in it comes before it");
	tap_ok(unique, "no two types have the same name");
	tap_ok(!compiled.ctypes.failed, "all types were kept");
}

static const struct {
	const char *type, *member;
	int64_t value;
	uint32_t bits;
	const char *member_type;	/* NULL: an enumerator */
} member_rows[] = {
	{ "struct node", "next", 0, 0, "struct node *" },
	{ "struct node", "name", 64, 0, "char[16]" },
	{ "struct node", "", 576, 0, "union (unnamed)" },
	{ "struct flags", "a", 0, 3, "unsigned int" },
	{ "struct flags", "b", 3, 5, "unsigned int" },
	{ "struct flags", "c", 8, 7, "int" },
	{ "struct flags", "d", 15, 40, "long unsigned int" },
	{ "struct flags", "f", 64, 33, "long int" },
	{ "struct packed", "wide", 8, 61, "long unsigned int" },
	{ "struct packed", "last", 69, 60, "long int" },
	{ "point_t", "y", 32, 0, "int" },
	{ "enum color", "RED", 0, 0, NULL },
	{ "enum color", "GREEN", 5, 0, NULL },
	{ "enum balance", "BELOW", -3, 0, NULL },
};

static const struct ctype *type_find(const char *name)
{
	for (size_t i = 0; i < compiled.ctypes.count; i++)
		if (!strcmp(compiled.ctypes.types[i].name, name))
			return &compiled.ctypes.types[i];
	return NULL;
}

static void test_members(const char *options)
{
	for (size_t i = 0; i < sizeof(member_rows) / sizeof(*member_rows);
	     i++) {
		const struct ctype *type = type_find(member_rows[i].type);
		const struct ctype_member *m = type ? type->members : NULL;

		while (m && m < type->members + type->member_count &&
		       strcmp(m->name, member_rows[i].member))
			m++;
		tap_ok(m && m < type->members + type->member_count &&
			       m->value == member_rows[i].value &&
			       m->bits == member_rows[i].bits &&
			       (!member_rows[i].member_type ||
				!strcmp(compiled.ctypes.types[m->ctype].name,
					member_rows[i].member_type)),
		       "%s: %s of %s", options, member_rows[i].member,
		       member_rows[i].type);
	}
}

static void open_program(const char *options)
{
	struct dwarf_search search = {0};
	const struct module_symbol *symbol;
	const char *top = getenv("TOP");
	char program[64];
	struct error err;
	bool others;

	snprintf(program, sizeof(program), "%s/program", dir);
	command("cd %s/selftests/trcust/expr && gcc -g -O2 %s -o %s "
		"language.c opaque.c", top ? top : "../..", options, program);
	if (module_open(&c.module, program, program, TDF_MODULE_USER, &err) ||
	    dwarf_file_open(&c.dwarf, c.module, program, &search, &err))
		tap_bail("%s", err.text);
	if (analysis_begin(&c))
		tap_bail("no memory");
	symbol = module_symbol_find(c.module, "at_work", MODULE_CODE, &others);
	if (!symbol)
		symbol = module_symbol_find(c.module, "at_work", MODULE_DATA,
					    &others);
	if (!symbol)
		tap_bail("no at_work");
	site.address = site.nominal = site.from.pc = symbol->address;
}

static void close_program(void)
{
	c.tsf = NULL;
	compile_free(&c, &compiled);
	dwarf_file_close(c.dwarf);
	module_close(c.module);
	memset(&c, 0, sizeof(c));
	memset(&compiled, 0, sizeof(compiled));
}

int main(void)
{
	if (system("command -v gcc >/dev/null"))
		tap_skip_all("needs gcc");
	if (!mkdtemp(dir))
		tap_bail("no directory");
	open_program("-gdwarf-5");
	site.alone = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		tap_str(stmts(rows[i].expr), rows[i].stmts, "%s",
			rows[i].expr);
	test_condition("1", "lit1");
	site.alone = false;
	for (size_t i = 0; i < sizeof(absent_rows) / sizeof(*absent_rows); i++)
		tap_str(stmts(absent_rows[i].expr), absent_rows[i].stmts,
			"one of several sites: %s", absent_rows[i].expr);
	test_condition("gone > 1", "lit1; lit0; div");
	test_types();
	test_members("DWARF 5");
	close_program();
	open_program("-gdwarf-4 -gstrict-dwarf");
	tap_str(stmts("first"), "mem 100: mem 100 struct node", "DWARF 4");
	test_members("DWARF 4");
	close_program();
	command("rm -r %s", dir);
	return tap_done();
}
