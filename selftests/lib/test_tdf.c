// SPDX-License-Identifier: GPL-2.0
/*
 * What tdf_open() lets through: statements of every kind with the flags that
 * they may have, and sites of a tracepoint that log the same. Everything else
 * is refused, and the message says why.
 */
#include <elf.h>
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "lib/hash.h"
#include "lib/formats/rpn.h"
#include "lib/formats/tdf.h"

#define STMTS	6
#define SITES	3

/* Expressions that leave one entry, two, none. */
static const uint8_t rpn[] = {
	RPN_lit, RPN_lit, RPN_lit + 1, RPN_nop, RPN_lit, RPN_lit, RPN_xderef,
	RPN_kept, 2, RPN_elapsed, RPN_at_entry, 1,
};
#define ONE	.rpn = 0, .rpn_length = 1
#define TWO	.rpn = 1, .rpn_length = 2
#define NOTHING	.rpn = 3, .rpn_length = 1
#define XDEREF	.rpn = 4, .rpn_length = 3
#define KEPT	.rpn = 7, .rpn_length = 2
#define ELAPSED	.rpn = 9, .rpn_length = 1
#define ENTRY_VALUE .rpn = 10, .rpn_length = 2	/* the second */
#define LEN	.len_bytes = 2, .len_rpn = 0, .len_rpn_length = 1

struct image {
	struct tdf_header header;
	struct tdf_module module;
	struct tdf_point points[2];
	struct tdf_site sites[SITES];
	struct tdf_stmt stmts[SITES][STMTS];
	struct tdf_section sections[3];
	struct tdf_name names[2];
	uint8_t rpn[16];
	char strings[32];
};

static struct tdf_table table(const struct image *image, const void *at,
			      uint32_t count)
{
	return (struct tdf_table){ (char *)at - (char *)image, count };
}

/* One tracepoint with one site, without statements. */
static void prepare(struct image *image)
{
	*image = (struct image){
		.header = {
			.magic = TDF_MAGIC, .version = TDF_VERSION,
			.header_size = sizeof(image->header),
			.file_size = sizeof(*image), .major = 5,
			.maxdata = 100,
			.modules = table(image, &image->module, 1),
			.points = table(image, image->points, 1),
			.sites = table(image, image->sites, SITES),
			.stmts = table(image, image->stmts, SITES * STMTS),
			.rpn = table(image, image->rpn, sizeof(rpn)),
			.strings = table(image, image->strings,
					 sizeof(image->strings)),
		},
		.module = {
			.path = 1, .name = 1, .machine = EM_X86_64,
			.elf_class = ELFCLASS64, .id_kind = TDF_ID_BUILD,
			.id_length = 20,
		},
		.points = { { .minor = 1, .sites = 1 } },
		.strings = "\0name\0a/b\0of eight\0and nine.",
	};
	memcpy(image->rpn, rpn, sizeof(rpn));
	for (int i = 0; i < SITES; i++)
		image->sites[i] = (struct tdf_site){
			.symbol = 1, .insn_length = 1,
			.first_stmt = i * STMTS,
		};
}

static const char *refused(const void *file, size_t size)
{
	static struct error err;
	struct tdf *tdf = (struct tdf *)file;	/* until it is set */
	int code;

	err.text[0] = '\0';
	code = tdf_parse(&tdf, file, size, "it", &err);
	tdf_close(tdf);
	return code ? err.text : NULL;
}

static void check_file(const void *file, size_t size, const char *expected,
		       const char *name)
{
	const char *why = refused(file, size);

	if (!tap_ok(expected ? why && strstr(why, expected) : !why, "%s",
		    name))
		tap_diag("got: %s", why ? why : "accepted");
}

/* `image`, and as many bytes after it as its header says */
static void check(struct image *image, const char *expected, const char *name)
{
	size_t size = image->header.file_size;

	image->header.crc = 0;
	image->header.crc = hash_crc32(0, image, size);
	check_file(image, size, expected, name);
}

static const struct stmt_row {
	const char *name;
	struct tdf_stmt stmts[STMTS];
	const char *error;	/* NULL: it is fine */
} stmt_rows[] = {
	{ "no statements", { { 0 } }, NULL },
	{ "register", { { TDF_STMT_REG, .reg_bytes = 4 } }, NULL },
	{ "register of 3 bytes", { { TDF_STMT_REG, .reg_bytes = 3 } },
	  "register statement of 3 bytes" },
	{ "raw register", { { TDF_STMT_REG, TDF_STMT_RAW, .reg_bytes = 4 } },
	  "flags 0x4" },
	{ "memory", { { TDF_STMT_MEM, .length = 100, ONE } }, NULL },
	{ "memory above MAXDATALENGTH",
	  { { TDF_STMT_MEM, .length = 101, ONE } }, "101 bytes" },
	{ "memory of no bytes", { { TDF_STMT_MEM, ONE } }, "0 bytes" },
	{ "memory with two entries left",
	  { { TDF_STMT_MEM, .length = 1, TWO } }, "2 values left" },
	{ "memory without an expression",
	  { { TDF_STMT_MEM, .length = 1 } }, "expression of 0 bytes" },
	{ "an unknown flag", { { TDF_STMT_MEM, 0x40, .length = 1, ONE } },
	  "flags 0x40" },
	{ "far memory",
	  { { TDF_STMT_MEM, TDF_STMT_SEGMENT, .length = 1, TWO } }, NULL },
	{ "far memory with one entry left",
	  { { TDF_STMT_MEM, TDF_STMT_SEGMENT, .length = 1, ONE } },
	  "1 values left instead of 2" },
	{ "xderef", { { TDF_STMT_MEM, .length = 1, XDEREF } }, NULL },
	{ "far string",
	  { { TDF_STMT_ASCIIZ, TDF_STMT_SEGMENT, .length = 9, TWO } }, NULL },
	{ "raw string", { { TDF_STMT_ASCIIZ, TDF_STMT_RAW, .length = 9, ONE } },
	  "flags 0x4" },
	{ "string with LEN",
	  { { TDF_STMT_ASCIIZ, TDF_STMT_LEN, .length = 9, ONE, LEN } },
	  "flags 0x1" },
	{ "LEN", { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 9, ONE, LEN } },
	  NULL },
	{ "LEN of 3 bytes",
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 9, ONE, .len_bytes = 3,
	      .len_rpn_length = 1 } }, "length field of 3" },
	{ "LEN without an expression",
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 9, ONE, .len_bytes = 2 } },
	  "expression of 0 bytes" },
	{ "LEN with a value",
	  { { TDF_STMT_MEM, TDF_STMT_LEN | TDF_STMT_LEN_VALUE, .length = 9,
	      ONE, LEN } }, NULL },
	{ "far LEN",
	  { { TDF_STMT_MEM, TDF_STMT_LEN | TDF_STMT_LEN_SEGMENT, .length = 9,
	      ONE, .len_bytes = 2, .len_rpn = 1, .len_rpn_length = 2 } },
	  NULL },
	{ "far LEN with one entry left",
	  { { TDF_STMT_MEM, TDF_STMT_LEN | TDF_STMT_LEN_SEGMENT, .length = 9,
	      ONE, LEN } }, "1 values left instead of 2" },
	{ "far LEN with a value",
	  { { TDF_STMT_MEM, TDF_STMT_LEN | TDF_STMT_LEN_VALUE |
	      TDF_STMT_LEN_SEGMENT, .length = 9, ONE, LEN } },
	  "LEN with flags 0x23" },
	{ "a value of LEN without LEN",
	  { { TDF_STMT_MEM, TDF_STMT_LEN_VALUE, .length = 9, ONE, LEN } },
	  "no LEN" },
	{ "raw LEN",
	  { { TDF_STMT_MEM, TDF_STMT_LEN | TDF_STMT_RAW, .length = 9, ONE,
	      LEN } }, "LEN with flags 0x5" },
	{ "raw memory", { { TDF_STMT_MEM, TDF_STMT_RAW, .length = 9, ONE } },
	  NULL },
	{ "value of 8 bytes", { { TDF_STMT_VALUE, .length = 8, ONE } }, NULL },
	{ "value of 9 bytes", { { TDF_STMT_VALUE, .length = 9, ONE } },
	  "9 bytes" },
	{ "value of no bytes", { { TDF_STMT_VALUE, ONE } }, "0 bytes" },
	{ "value that is none", { { TDF_STMT_VALUE, .length = 8, NOTHING } },
	  "0 values left" },
	{ "far value",
	  { { TDF_STMT_VALUE, TDF_STMT_SEGMENT, .length = 8, TWO } },
	  "flags 0x10" },
	{ "kept", { { TDF_STMT_VALUE, .reg = 2, .length = 8, ONE },
		    { TDF_STMT_VALUE, .reg = TDF_KEPT_MAX, .length = 8, KEPT },
		    { TDF_STMT_MEM, TDF_STMT_LEN | TDF_STMT_LEN_VALUE,
		      .length = 8, KEPT, .len_rpn = 7, .len_rpn_length = 2 } },
	  NULL },
	{ "kept too high",
	  { { TDF_STMT_VALUE, .reg = TDF_KEPT_MAX + 1, .length = 8, ONE } },
	  "value kept as 13" },
	{ "kept without a prefix",
	  { { TDF_STMT_VALUE, TDF_STMT_RAW, .reg = 2, .length = 8, ONE } },
	  "value kept as 2" },
	{ "kept later", { { TDF_STMT_MEM, .length = 8, KEPT },
			  { TDF_STMT_VALUE, .reg = 2, .length = 8, ONE } },
	  "no statement before kept" },
	{ "kept by itself", { { TDF_STMT_VALUE, .reg = 2, .length = 8, ONE },
			      { TDF_STMT_VALUE, .reg = 2, .length = 8, KEPT } },
	  "no statement before kept" },
	{ "kept of an IF", { { TDF_STMT_IF, KEPT } },
	  "no statement before kept" },
	{ "kept for a length",
	  { { TDF_STMT_MEM, TDF_STMT_LEN | TDF_STMT_LEN_VALUE, .length = 8, ONE,
	      .len_rpn = 7, .len_rpn_length = 2 } },
	  "no statement before kept" },
	{ "absent", { { TDF_STMT_ABSENT } }, NULL },
	{ "absent, with an expression", { { TDF_STMT_ABSENT, ONE } },
	  "expression of a statement of kind 4" },
	{ "raw absent", { { TDF_STMT_ABSENT, TDF_STMT_RAW } }, "flags 0x4" },
	{ "stack", { { TDF_STMT_STACK, .length = TDF_STACK_MAX } }, NULL },
	{ "deep stack", { { TDF_STMT_STACK, .length = TDF_STACK_MAX + 1 } },
	  "33 bytes" },
	{ "no stack", { { TDF_STMT_STACK } }, "0 bytes" },
	{ "stack with its frame", { { TDF_STMT_STACK, .length = 2, ONE } },
	  NULL },
	{ "stack with a far frame", { { TDF_STMT_STACK, .length = 2, TWO } },
	  "2 values left" },
	{ "stack with LEN",
	  { { TDF_STMT_STACK, TDF_STMT_LEN, .length = 2, LEN } },
	  "flags 0x1" },
	{ "LEN of 1 byte",
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 9, ONE, .len_bytes = 1,
	      .len_rpn_length = 1 } }, NULL },
	{ "LEN of 4 bytes",
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 9, ONE, .len_bytes = 4,
	      .len_rpn_length = 1 } }, NULL },
	{ "LEN of 8 bytes",
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 9, ONE, .len_bytes = 8,
	      .len_rpn_length = 1 } }, NULL },
	{ "an expression past the table",
	  { { TDF_STMT_MEM, .length = 1, .rpn = 11, .rpn_length = 2 } },
	  "expression of 2 bytes at 11" },
	{ "an unknown kind", { { 99, .length = 1, ONE } }, "kind 99" },
	{ "a key", { { TDF_STMT_KEY, ONE } }, "no whole call" },
	{ "a key with flags", { { TDF_STMT_KEY, TDF_STMT_RAW, ONE } },
	  "flags 0x4" },
	{ "a key without an expression", { { TDF_STMT_KEY } },
	  "expression of 0 bytes" },
	{ "elapsed, of no call", { { TDF_STMT_IF, ELAPSED } }, "no whole call" },
	{ "IF", { { TDF_STMT_IF, ONE },
		  { TDF_STMT_REG, .reg_bytes = 4 } }, NULL },
	{ "IF after a register",
	  { { TDF_STMT_REG, .reg_bytes = 4 }, { TDF_STMT_IF, ONE } },
	  "IF after" },
	{ "two IF", { { TDF_STMT_IF, ONE }, { TDF_STMT_IF, ONE } },
	  "IF after" },
	{ "pieces",
	  { { TDF_STMT_VALUE, .length = 3, ONE },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 90, ONE },
	    { TDF_STMT_VALUE, TDF_STMT_MORE, .length = 7, ONE } }, NULL },
	{ "pieces above MAXDATALENGTH",
	  { { TDF_STMT_VALUE, .length = 3, ONE },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 90, ONE },
	    { TDF_STMT_VALUE, TDF_STMT_MORE, .length = 8, ONE } },
	  "item of 101" },
	{ "raw pieces",
	  { { TDF_STMT_VALUE, TDF_STMT_RAW, .length = 3, ONE },
	    { TDF_STMT_MEM, TDF_STMT_MORE | TDF_STMT_RAW, .length = 90,
	      ONE } }, NULL },
	{ "a raw piece after a prefix",
	  { { TDF_STMT_VALUE, .length = 3, ONE },
	    { TDF_STMT_MEM, TDF_STMT_MORE | TDF_STMT_RAW, .length = 90,
	      ONE } }, "MORE after" },
	{ "a piece of nothing",
	  { { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE without" },
	{ "a piece of an IF",
	  { { TDF_STMT_IF, ONE },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE without" },
	{ "a piece of a register",
	  { { TDF_STMT_REG, .reg_bytes = 4 },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE after" },
	{ "a piece of a string",
	  { { TDF_STMT_ASCIIZ, .length = 4, ONE },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE after" },
	{ "a piece after LEN",
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 4, ONE, LEN },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE after" },
	/* aggregates */
	{ "aggregates by a number and a text",
	  { { TDF_STMT_IF, ONE },
	    { TDF_STMT_BY, .length = 8, ONE },
	    { TDF_STMT_BY, .reg = TDF_BY_TEXT, .length = 62, ONE },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_COUNT },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_HIST, ONE } }, NULL },
	{ "aggregates by a stack",
	  { { TDF_STMT_BY, .reg = TDF_BY_STACK, .length = 32, ONE },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_COUNT } }, NULL },
	{ "aggregates by a stack without its frame",
	  { { TDF_STMT_BY, .reg = TDF_BY_STACK, .length = 1 },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_COUNT } }, NULL },
	{ "aggregates by a deep stack",
	  { { TDF_STMT_BY, .reg = TDF_BY_STACK, .length = 33, ONE },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_COUNT } },
	  "BY of 33 bytes" },
	{ "aggregates by two stacks",
	  { { TDF_STMT_BY, .reg = TDF_BY_STACK, .length = 2 },
	    { TDF_STMT_BY, .reg = TDF_BY_STACK, .length = 2 },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_COUNT } },
	  "BY of two stacks" },
	{ "an aggregate after data",
	  { { TDF_STMT_REG, .reg_bytes = 8 },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, ONE } }, NULL },
	{ "data after an aggregate",
	  { { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, ONE },
	    { TDF_STMT_REG, .reg_bytes = 8 } }, "after an aggregate" },
	{ "BY after an aggregate",
	  { { TDF_STMT_BY, .length = 8, ONE },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, ONE },
	    { TDF_STMT_BY, .length = 8, ONE },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, ONE } },
	  "BY after" },
	{ "more BY after an aggregate",
	  { { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, ONE },
	    { TDF_STMT_BY, .length = 8, ONE },
	    { TDF_STMT_BY, .length = 8, ONE },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, ONE } },
	  "BY after" },
	{ "BY of nothing", { { TDF_STMT_BY, .length = 8, ONE } },
	  "BY of no aggregate" },
	{ "five BY",
	  { { TDF_STMT_BY, .length = 8, ONE }, { TDF_STMT_BY, .length = 8, ONE },
	    { TDF_STMT_BY, .length = 8, ONE }, { TDF_STMT_BY, .length = 8, ONE },
	    { TDF_STMT_BY, .length = 8, ONE },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_COUNT } }, "by 5" },
	{ "an aggregate of another kind",
	  { { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_KINDS, ONE } },
	  "of kind 5" },
	{ "an aggregate with a length",
	  { { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, .length = 1,
	      ONE } }, "of 1 bytes" },
	{ "COUNT of a value",
	  { { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_COUNT, ONE } },
	  "with an expression" },
	{ "SUM of nothing",
	  { { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM } },
	  "with an expression" },
	{ "an aggregate with a far text",
	  { { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, ONE,
	      .len_rpn = 9999 } }, "without its text" },
	{ "an aggregate of what is kept",
	  { { TDF_STMT_VALUE, .reg = 2, .length = 8, ONE },
	    { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, KEPT } },
	  "kept, in an aggregate" },
	{ "BY of another kind",
	  { { TDF_STMT_BY, .reg = TDF_BY_KINDS, .length = 8, ONE } },
	  "BY of kind" },
	{ "BY of 4 bytes", { { TDF_STMT_BY, .length = 4, ONE } },
	  "BY of 4 bytes" },
	{ "BY of a long text",
	  { { TDF_STMT_BY, .reg = TDF_BY_TEXT, .length = 63, ONE } },
	  "63 bytes" },
	{ "BY of no address",
	  { { TDF_STMT_BY, .reg = TDF_BY_TEXT, .length = 8 } },
	  "expression of 0" },
	{ "a piece of what is absent",
	  { { TDF_STMT_ABSENT },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE after" },
};

static uint32_t stmts_fill(struct image *image, int site,
			   const struct tdf_stmt *stmts)
{
	static const struct tdf_stmt none;
	uint32_t count = 0;

	while (count < STMTS && memcmp(&stmts[count], &none, sizeof(none))) {
		image->stmts[site][count] = stmts[count];
		count++;
	}
	image->sites[site].stmts = count;
	return count;
}

static void check_stmts(void)
{
	struct image image;

	for (size_t i = 0; i < sizeof(stmt_rows) / sizeof(*stmt_rows); i++) {
		const struct stmt_row *row = &stmt_rows[i];

		prepare(&image);
		stmts_fill(&image, 0, row->stmts);
		check(&image, row->error, row->name);
	}
}

#define VALUE8		{ TDF_STMT_VALUE, TDF_STMT_RAW, .length = 8, ONE }
#define KEY		{ TDF_STMT_KEY, ONE }

/* Of a whole call: what its entry has, and two exits */
static const struct whole_row {
	const char *name;
	struct tdf_stmt entry[STMTS], exit[STMTS], other[STMTS];
	uint16_t values;
	const char *error;
	uint32_t flags;		/* of the point, beside */
} whole_rows[] = {
	{ "a whole call", { KEY, VALUE8, VALUE8, { TDF_STMT_ABSENT } },
	  { KEY, { TDF_STMT_IF, ELAPSED }, { TDF_STMT_VALUE, .length = 8, ENTRY_VALUE } },
	  { KEY, { TDF_STMT_IF, ENTRY_VALUE }, { TDF_STMT_VALUE, .length = 8, ONE } },
	  2, NULL, 0 },
	{ "a call without a key", { VALUE8 }, { KEY }, { KEY }, 0,
	  "without an entry, an exit or a key", 0 },
	{ "an exit without a key", { KEY }, { KEY }, { { TDF_STMT_ABSENT } }, 0,
	  "differ in their", 0 },
	{ "a key in the middle", { { TDF_STMT_ABSENT }, KEY }, { KEY }, { KEY }, 0,
	  "KEY after", 0 },
	{ "IF before the key", { KEY }, { { TDF_STMT_IF, ONE }, KEY },
	  { { TDF_STMT_IF, ONE }, KEY }, 0, "KEY after", 0 },
	{ "a key of the entry's values", { KEY, VALUE8, VALUE8 },
	  { { TDF_STMT_KEY, ENTRY_VALUE } }, { KEY }, 2, "KEY after", 0 },
	{ "IF at an entry", { KEY, { TDF_STMT_IF, ONE } }, { KEY }, { KEY }, 0,
	  "at an entry", 0 },
	{ "an aggregate at an entry",
	  { KEY, { TDF_STMT_AGGREGATE, .reg = TDF_AGGREGATE_SUM, ONE } },
	  { KEY }, { KEY }, 0, "at an entry", 0 },
	{ "elapsed at an entry", { KEY, { TDF_STMT_VALUE, .length = 8, ELAPSED } },
	  { KEY }, { KEY }, 0, "at an entry", 0 },
	{ "a value that no entry has", { KEY, VALUE8 },
	  { KEY, { TDF_STMT_IF, ENTRY_VALUE } }, { KEY, { TDF_STMT_IF, ONE } }, 1,
	  "1 values of the entry", 0 },
	{ "more values than there are", { KEY, VALUE8 }, { KEY }, { KEY }, 2,
	  "2 values of the entry", 0 },
	{ "a value with a prefix", { KEY, { TDF_STMT_VALUE, .length = 8, ONE } },
	  { KEY }, { KEY }, 1, "value 0 of the entry", 0 },
	{ "a value of 4 bytes",
	  { KEY, { TDF_STMT_VALUE, TDF_STMT_RAW, .length = 4, ONE } },
	  { KEY }, { KEY }, 1, "value 0 of the entry", 0 },
	{ "a whole call of an allocator", { KEY }, { KEY }, { KEY }, 0,
	  "flags 0xc", TDF_POINT_RELEASE },
};

static void check_wholes(void)
{
	struct image image;

	for (size_t i = 0; i < sizeof(whole_rows) / sizeof(*whole_rows); i++) {
		const struct whole_row *row = &whole_rows[i];

		prepare(&image);
		image.points[0].sites = SITES;
		image.points[0].flags = TDF_POINT_WHOLE | row->flags;
		image.points[0].level = row->flags != 0;
		image.points[0].entry_values = row->values;
		image.sites[0].flags = TDF_SITE_ENTRY;
		stmts_fill(&image, 0, row->entry);
		stmts_fill(&image, 1, row->exit);
		stmts_fill(&image, 2, row->other);
		check(&image, row->error, row->name);
	}
	prepare(&image);
	image.sites[0].flags = TDF_SITE_ENTRY;
	check(&image, "no whole call", "an entry of no whole call");
	prepare(&image);
	image.points[0].entry_values = 1;
	check(&image, "no whole call", "values of no whole call");
	prepare(&image);
	image.points[0].flags = TDF_POINT_WHOLE;
	image.module.kind = TDF_MODULE_KERNEL;
	image.strings[1] = 'k';
	image.sites[0].symbol = 1;
	check(&image, "without an entry", "a whole call in the kernel, the same");
}

static const struct layout_row {
	const char *name;
	struct tdf_stmt stmts[SITES][STMTS];	/* of each site */
	const char *error;
} layout_rows[] = {
	{ "memory, a value, pieces", {
	  { { TDF_STMT_MEM, .length = 8, ONE } },
	  { { TDF_STMT_VALUE, .length = 8, ONE } },
	  { { TDF_STMT_MEM, .length = 4, ONE },
	    { TDF_STMT_VALUE, TDF_STMT_MORE, .length = 4, ONE } } }, NULL },
	{ "another length", {
	  { { TDF_STMT_MEM, .length = 8, ONE } },
	  { { TDF_STMT_VALUE, .length = 8, ONE } },
	  { { TDF_STMT_VALUE, .length = 7, ONE } } }, "differ in item 0" },
	{ "another length than after what is absent", {
	  { { TDF_STMT_ABSENT } },
	  { { TDF_STMT_VALUE, .length = 8, ONE } },
	  { { TDF_STMT_VALUE, .length = 7, ONE } } }, "differ in item 0" },
	{ "absent memory, string", {
	  { { TDF_STMT_MEM, .length = 8, ONE }, { TDF_STMT_ABSENT } },
	  { { TDF_STMT_ABSENT }, { TDF_STMT_ASCIIZ, .length = 4, ONE } },
	  { { TDF_STMT_ABSENT }, { TDF_STMT_ABSENT } } }, NULL },
	{ "a register, its bytes computed", {
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_VALUE, TDF_STMT_RAW, .length = 8, ONE } },
	  { { TDF_STMT_REG, .reg_bytes = 8 } } }, NULL },
	{ "a register, fewer bytes computed", {
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_VALUE, TDF_STMT_RAW, .length = 4, ONE } },
	  { { TDF_STMT_REG, .reg_bytes = 8 } } }, "differ in item 0" },
	{ "a register, a value with a prefix", {
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_VALUE, .length = 8, ONE } },
	  { { TDF_STMT_REG, .reg_bytes = 8 } } }, "differ in item 0" },
	{ "absent register", {
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_ABSENT } } }, "differ in item 0" },
	{ "raw memory after what is absent", {
	  { { TDF_STMT_ABSENT } },
	  { { TDF_STMT_MEM, TDF_STMT_RAW, .length = 8, ONE } },
	  { { TDF_STMT_ABSENT } } }, "differ in item 0" },
	{ "a prefix here, none there", {
	  { { TDF_STMT_MEM, TDF_STMT_RAW, .length = 8, ONE } },
	  { { TDF_STMT_MEM, TDF_STMT_RAW, .length = 8, ONE } },
	  { { TDF_STMT_MEM, .length = 8, ONE } } }, "differ in item 0" },
	{ "LEN here, none there", {
	  { { TDF_STMT_MEM, .length = 8, ONE } },
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 8, ONE, LEN } },
	  { { TDF_STMT_MEM, .length = 8, ONE } } }, "differ in item 0" },
	{ "a length from memory, a value", {
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 8, ONE, LEN } },
	  { { TDF_STMT_MEM, TDF_STMT_LEN | TDF_STMT_LEN_VALUE, .length = 8,
	      ONE, LEN } },
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 8, ONE, LEN } } }, NULL },
	{ "a string for memory", {
	  { { TDF_STMT_MEM, .length = 8, ONE } },
	  { { TDF_STMT_ASCIIZ, .length = 8, ONE } },
	  { { TDF_STMT_MEM, .length = 8, ONE } } }, "differ in item 0" },
	{ "one more", {
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_REG, .reg_bytes = 8 },
	    { TDF_STMT_REG, .reg_bytes = 8 } } }, "differ in their" },
	{ "what isn't right at one site", {
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_REG, .reg_bytes = 3 } },
	  { { TDF_STMT_REG, .reg_bytes = 8 } } },
	  "register statement of 3 bytes" },
	{ "IF at one site only", {
	  { { TDF_STMT_IF, ONE }, { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_REG, .reg_bytes = 8 } },
	  { { TDF_STMT_REG, .reg_bytes = 8 } } }, "differ in their" },
};

static void check_layouts(void)
{
	struct image image;

	for (size_t i = 0; i < sizeof(layout_rows) / sizeof(*layout_rows);
	     i++) {
		const struct layout_row *row = &layout_rows[i];

		prepare(&image);
		image.points[0].sites = SITES;
		for (int k = 0; k < SITES; k++)
			stmts_fill(&image, k, row->stmts[k]);
		check(&image, row->error, row->name);
	}
}

/* What a statement can't have, one by one */
static void check_flags(void)
{
	static const uint8_t kinds[] = { TDF_STMT_REG, TDF_STMT_ABSENT };
	struct image image;
	char name[64], error[32];

	for (int i = 0; i < 2 * 8; i++) {
		const struct tdf_stmt stmts[STMTS] = { {
			.kind = kinds[i / 8], .flags = 1 << i % 8,
			.reg_bytes = i < 8 ? 4 : 0,
		} };

		prepare(&image);
		stmts_fill(&image, 0, stmts);
		snprintf(name, sizeof(name), "kind %u with flag %u", kinds[i / 8],
			 i % 8);
		snprintf(error, sizeof(error), "flags %#x", 1 << i % 8);
		check(&image, error, name);
	}
}

static const struct tdf_stmt two_registers[STMTS] = {
	{ TDF_STMT_REG, .reg_bytes = 8 }, { TDF_STMT_REG, .reg_bytes = 2 },
};

static void check_sharing(void)
{
	struct image image;

	prepare(&image);
	image.points[0].sites = SITES;
	for (int i = 0; i < SITES; i++) {
		stmts_fill(&image, i, two_registers);
		image.sites[i].first_stmt = 0;
	}
	check(&image, NULL, "sites have their statements in common");
	image.sites[1].first_stmt = STMTS;
	check(&image, "statements 0 to 2",
	      "but not with the site before the last");
	image.sites[2].first_stmt = 1;
	image.sites[1].first_stmt = 0;
	check(&image, "statements 1 to 3", "they don't overlap");
	image.sites[2].first_stmt = 0;
	image.sites[2].stmts = 1;
	check(&image, "statements 0 to 1", "nor one with a part of another");
	image.sites[2].stmts = 2;
	image.sites[2].first_stmt = SITES * STMTS - 1;
	check(&image, "statements 17 to 19", "they end with the table");
	prepare(&image);
	image.points[1] = (struct tdf_point){
		.minor = 2, .first_site = 1, .sites = 1,
	};
	image.header.points.count = 2;
	stmts_fill(&image, 0, two_registers);
	stmts_fill(&image, 1, two_registers);
	check(&image, NULL, "two tracepoints");
	image.sites[1].first_stmt = 0;
	check(&image, "statements 0 to 2",
	      "tracepoints have none in common");
}

static const struct call_row {
	const char *name;
	uint32_t flags;		/* of the point */
	uint16_t level;
	uint8_t sites[2];	/* flags of them; 0xff: there is no second */
	struct tdf_stmt stmts[2][STMTS];
	const char *error;
} call_rows[] = {
	{ "a call", TDF_POINT_CALL, 1, { TDF_SITE_CALL, TDF_SITE_RETURN },
	  { { }, { { TDF_STMT_VALUE, TDF_STMT_BLOCK, .length = 8, ONE } } },
	  NULL },
	{ "one that makes no record", TDF_POINT_CALL, 255,
	  { TDF_SITE_CALL, 0xff },
	  { { { TDF_STMT_VALUE, TDF_STMT_SIZE, .length = 8, ONE } } }, NULL },
	{ "two places where it begins", TDF_POINT_CALL, 1,
	  { TDF_SITE_CALL, TDF_SITE_CALL }, { }, NULL },
	{ "a release", TDF_POINT_RELEASE, 1, { 0, 0xff },
	  { { { TDF_STMT_VALUE, TDF_STMT_BLOCK, .length = 8, ONE } } }, NULL },
	{ "both", TDF_POINT_CALL | TDF_POINT_RELEASE, 1, { 0, 0xff }, { },
	  "tracepoint with flags 0x6" },
	{ "a leaf that is no call", TDF_POINT_RELEASE | TDF_POINT_LEAF, 1,
	  { 0, 0xff }, { }, "tracepoint with flags 0x14" },
	{ "a call without a level", TDF_POINT_CALL, 0, { TDF_SITE_CALL, 0xff },
	  { }, "tracepoint of level 0" },
	{ "too high a level", TDF_POINT_CALL, 256, { TDF_SITE_CALL, 0xff },
	  { }, "tracepoint of level 256" },
	{ "a level of something else", 0, 1, { 0, 0xff }, { },
	  "tracepoint of level 1" },
	{ "a call that never begins", TDF_POINT_CALL, 1,
	  { TDF_SITE_RETURN, 0xff }, { }, "doesn't begin where calls do" },
	{ "something else that begins", 0, 0, { TDF_SITE_CALL, 0xff }, { },
	  "doesn't begin where calls do" },
	{ "a call that is hit inside", TDF_POINT_CALL, 1, { TDF_SITE_CALL, 0 },
	  { }, "doesn't begin where calls do" },
	{ "a release that returns", TDF_POINT_RELEASE, 1,
	  { TDF_SITE_RETURN, 0xff }, { }, "release where" },
	{ "two sizes where a call begins", TDF_POINT_CALL, 1,
	  { TDF_SITE_CALL, 0xff },
	  { { { TDF_STMT_VALUE, TDF_STMT_SIZE, .length = 8, ONE },
	      { TDF_STMT_VALUE, TDF_STMT_SIZE, .length = 8, ONE } } },
	  "statements where a call begins" },
	{ "a size in memory where a call begins", TDF_POINT_CALL, 1,
	  { TDF_SITE_CALL, 0xff },
	  { { { TDF_STMT_MEM, TDF_STMT_SIZE, .length = 8, ONE } } },
	  "statements where a call begins" },
	{ "a size that is too wide where a call begins", TDF_POINT_CALL, 1,
	  { TDF_SITE_CALL, 0xff },
	  { { { TDF_STMT_VALUE, TDF_STMT_SIZE, .length = 9, ONE } } },
	  "9 bytes" },
	{ "a record where a call begins", TDF_POINT_CALL, 1,
	  { TDF_SITE_CALL, 0xff },
	  { { { TDF_STMT_VALUE, TDF_STMT_BLOCK, .length = 8, ONE } } },
	  "statements where a call begins" },
};

static void check_calls(void)
{
	struct image image;

	for (size_t i = 0; i < sizeof(call_rows) / sizeof(*call_rows); i++) {
		const struct call_row *row = &call_rows[i];
		int sites = row->sites[1] == 0xff ? 1 : 2;

		prepare(&image);
		image.points[0].flags = row->flags;
		image.points[0].level = row->level;
		image.points[0].sites = sites;
		for (int k = 0; k < sites; k++) {
			image.sites[k].flags = row->sites[k];
			stmts_fill(&image, k, row->stmts[k]);
		}
		check(&image, row->error, row->name);
	}
	prepare(&image);
	image.points[0].flags = TDF_POINT_CALL;
	image.points[0].level = 1;
	image.sites[0].flags = TDF_SITE_CALL;
	image.module.kind = TDF_MODULE_KERNEL;
	check(&image, "tracepoint with flags 0x2", "a call in the kernel");
	prepare(&image);
	image.points[0].flags = TDF_POINT_CALL;
	image.points[0].level = 1;
	image.points[0].sites = 2;
	image.sites[0].flags = TDF_SITE_RETURN;
	image.sites[1].flags = TDF_SITE_CALL;
	image.sites[0].stmts = image.sites[1].stmts = 1;
	image.sites[1].first_stmt = 0;
	image.stmts[0][0] = (struct tdf_stmt){
		TDF_STMT_VALUE, TDF_STMT_SIZE, .length = 8, ONE,
	};
	check(&image, "statements 0 to 1",
	      "where it begins and returns have none in common");
}

static void check_sites(void)
{
	struct image image;

	prepare(&image);
	image.sites[0].flags = TDF_SITE_RETURN;
	check(&image, NULL, "a return probe");
	image.sites[0].flags = TDF_SITE_TAIL_CALL;
	check(&image, NULL, "a tail call");
	image.sites[0].flags = TDF_SITE_TAIL_CALL | TDF_SITE_RETURN;
	check(&image, "site with flags 0x3", "both at once");
	image.sites[0].flags = 0x80;
	check(&image, "site with flags 0x80", "an unknown flag of a site");
	image.sites[0].flags = 0;
	image.sites[0].semaphore = 0x1234;
	check(&image, NULL, "a semaphore");
	image.module.kind = TDF_MODULE_KERNEL;
	check(&image, "semaphore", "a semaphore in the kernel");
	for (const char *p = " \n\t\x7f\r\x1"; *p; p++) {
		prepare(&image);
		image.strings[3] = *p;
		check(&image, NULL, "a character of a program's symbol");
		image.module.kind = TDF_MODULE_KERNEL;
		check(&image, "with blanks in it", "the same in the kernel");
	}
	prepare(&image);
	image.sites[0].text = sizeof(image.strings) - 1;
	check(&image, NULL, "the text of an instruction");
	image.sites[0].text = sizeof(image.strings);
	check(&image, "text of its instruction", "one past the strings");
	prepare(&image);
	image.points[0].flags = TDF_POINT_CONTINUE;
	check(&image, NULL, "ONFAULT=CONTINUE");
	image.points[0].flags = 0x800;
	check(&image, "tracepoint with flags 0x800",
	      "an unknown flag of a tracepoint");
	image.points[0] = (struct tdf_point){ .minor = 1 };
	check(&image, "sites of tracepoint 1", "no sites");
	image.points[0].sites = SITES + 1;
	check(&image, "sites of tracepoint 1", "sites past the table");
}

#define NAME	.name = 1

static const struct section_row {
	const char *name;
	struct tdf_section sections[3];
	uint32_t count;
	uint8_t kind;
	const char *error;
} section_rows[] = {
	{ "sections",
	  { { 0x100, 0x10, NAME }, { 0x110, 1, NAME }, { 0x200, 8, NAME } }, 3,
	  TDF_MODULE_KMOD, NULL },
	{ "one at 0, for each processor",
	  { { 0, 0x2000, NAME, .flags = TDF_SECTION_PERCPU } }, 1,
	  TDF_MODULE_KERNEL, NULL },
	{ "of a program", { { 0x100, 0x10, NAME } }, 1, TDF_MODULE_USER,
	  "section of module 0" },
	{ "of no module", { { 0x100, 0x10, NAME, .module = 1 } }, 1,
	  TDF_MODULE_KMOD, "section of module 1" },
	{ "an unknown flag of a section",
	  { { 0x100, 0x10, NAME, .flags = 2 } }, 1, TDF_MODULE_KMOD,
	  "flags 0x2" },
	{ "without a name", { { 0x100, 0x10 } }, 1, TDF_MODULE_KMOD,
	  "without a name" },
	{ "with a path for a name", { { 0x100, 0x10, 6 } }, 1,
	  TDF_MODULE_KMOD, "without a name" },
	{ "with a name outside the file", { { 0x100, 0x10, 99 } }, 1,
	  TDF_MODULE_KMOD, "without a name" },
	{ "overlapping", { { 0x100, 0x10, NAME }, { 0x10f, 1, NAME } }, 2,
	  TDF_MODULE_KMOD, "section at 0x10f" },
	{ "descending", { { 0x100, 0x10, NAME }, { 0x80, 1, NAME } }, 2,
	  TDF_MODULE_KMOD, "section at 0x80" },
	{ "empty", { { 0x100, 0, NAME } }, 1, TDF_MODULE_KMOD,
	  "section at 0x100" },
	{ "up to the end of memory", { { ~2ULL, 2, NAME } }, 1,
	  TDF_MODULE_KMOD, NULL },
	{ "past the end of memory", { { ~0ULL, 2, NAME } }, 1,
	  TDF_MODULE_KMOD, "section at 0xffffffffffffffff" },
	{ "too many", { { 0 } }, TDF_SECTIONS_MAX + 1, TDF_MODULE_KMOD,
	  "lies outside the file" },
};

static void check_sections(void)
{
	struct image image;

	for (size_t i = 0; i < sizeof(section_rows) / sizeof(*section_rows);
	     i++) {
		const struct section_row *row = &section_rows[i];

		prepare(&image);
		image.module.kind = row->kind;
		/* would be the kind of a second module */
		image.points[0].type = TDF_MODULE_KMOD << 8;
		memcpy(image.sections, row->sections,
		       sizeof(row->sections));
		image.header.sections = table(&image, image.sections,
					       row->count);
		check(&image, row->error, row->name);
	}
}

#define FIELD(name)	offsetof(struct image, name), \
			sizeof(((struct image *)NULL)->name)
#define STRINGS		sizeof(((struct image *)NULL)->strings)

/* One number is another one. */
static const struct field_row {
	size_t at, bytes;
	uint64_t value;
	const char *error;
	uint8_t kind;		/* of the module */
} field_rows[] = {
	{ FIELD(header.magic[0]), 'r', "is not a TDF" },
	{ FIELD(header.magic[7]), 0, "is not a TDF" },
	{ FIELD(header.version), TDF_VERSION - 1,
	  "TDF 'it' has version 3, this program reads version 4" },
	{ FIELD(header.version), TDF_VERSION + 1, "this program reads" },
	{ FIELD(header.header_size), sizeof(struct tdf_header) - 8,
	  "header of" },
	{ FIELD(header.header_size), sizeof(struct tdf_header) + 8,
	  "header of" },
	{ FIELD(header.flags), 1, "unknown flags 0x1" },
	{ FIELD(header.major), 0, "major code 0" },
	{ FIELD(header.major), 1, NULL },
	{ FIELD(header.major), 255, NULL },
	{ FIELD(header.major), 256, "major code 256" },
	{ FIELD(header.maxdata), 19, "MAXDATALENGTH 19" },
	{ FIELD(header.maxdata), 20, NULL },
	{ FIELD(header.maxdata), 512, NULL },
	{ FIELD(header.maxdata), 4095, NULL },
	{ FIELD(header.maxdata), 4096, NULL },
	{ FIELD(header.maxdata), 4097, "MAXDATALENGTH 4097" },
	{ FIELD(header.tsf), STRINGS - 1, NULL },
	{ FIELD(header.tsf), STRINGS, "name of the TSF" },
	{ FIELD(header.modules.count), 0, "0 modules" },
	{ FIELD(header.strings.count), 0, "strings are not terminated" },
	{ FIELD(strings[0]), 'x', "strings are not terminated" },
	{ FIELD(strings[STRINGS - 1]), 'x', "strings are not terminated" },
	{ FIELD(module.path), STRINGS - 1, NULL },
	{ FIELD(module.path), STRINGS, "module without a name" },
	{ FIELD(module.name), STRINGS, "module without a name" },
	{ FIELD(module.elf_class), 0, "module of class 0" },
	{ FIELD(module.elf_class), 1, NULL },
	{ FIELD(module.elf_class), 3, "module of class 3" },
	{ FIELD(module.kind), TDF_MODULE_KERNEL, NULL },
	{ FIELD(module.kind), TDF_MODULE_KMOD, NULL },
	{ FIELD(module.kind), 3, "module of kind 3" },
	{ FIELD(module.id_kind), TDF_ID_CONTENT, NULL },
	{ FIELD(module.id_kind), 3, "identity of kind 3" },
	{ FIELD(module.id_length), 30, NULL },
	{ FIELD(module.id_length), 31, "module identity" },
	{ FIELD(module.id_kind), TDF_ID_NONE, "without an identity" },
	{ FIELD(module.id_kind), TDF_ID_NONE, NULL, TDF_MODULE_KERNEL },
	{ FIELD(names[0].name), 19, "name 0 of a type" },
	{ FIELD(names[1].name), 10, NULL },
	{ FIELD(names[1].name), 19, "name 1 of a type" },
	{ FIELD(names[1].name), STRINGS, "name 1 of a type" },
	{ FIELD(points[0].minor), 0, "minor codes don't ascend" },
	{ FIELD(points[0].minor), 65535, NULL },
	{ FIELD(points[0].module), 1, "tracepoint 1" },
	{ FIELD(points[0].name), STRINGS - 1, NULL },
	{ FIELD(points[0].name), STRINGS, "tracepoint 1" },
	{ FIELD(points[0].first_site), SITES - 1, NULL },
	{ FIELD(points[0].first_site), SITES, "sites of tracepoint 1" },
	{ FIELD(points[0].sites), SITES, NULL },
	{ FIELD(sites[0].symbol), STRINGS - 1, NULL },
	{ FIELD(sites[0].symbol), STRINGS, "without a symbol name" },
	{ FIELD(sites[0].symbol), 0, NULL },
	{ FIELD(sites[0].symbol), 0, "without a symbol", TDF_MODULE_KERNEL },
	{ FIELD(sites[0].cost), TDF_COST_UNKNOWN, NULL },
	{ FIELD(sites[0].cost), TDF_COST_UNKNOWN + 1, "site of cost 4" },
	{ FIELD(sites[0].insn_length), 15, NULL },
	{ FIELD(sites[0].insn_length), 16, "instruction of 16 bytes" },
	{ FIELD(sites[0].insn_length), 0, "instruction of 0 bytes" },
	{ FIELD(sites[0].insn_length), 0, NULL, TDF_MODULE_KERNEL },
	{ FIELD(sites[0].flags), 5, "site with flags 0x5" },
};

static void check_fields(void)
{
	struct image image;
	char name[64];

	for (size_t i = 0; i < sizeof(field_rows) / sizeof(*field_rows); i++) {
		const struct field_row *row = &field_rows[i];

		prepare(&image);
		image.header.types = table(&image, image.names, 2);
		image.header.groups = image.header.types;
		image.module.kind = row->kind;
		memcpy((char *)&image + row->at, &row->value, row->bytes);
		snprintf(name, sizeof(name), "%zu bytes at %zu are %llu",
			 row->bytes, row->at, (unsigned long long)row->value);
		check(&image, row->error, name);
	}
}

/* Tables that are larger than the image: zeros after it. */
static const struct limit_row {
	size_t table;		/* its offset in the header */
	uint32_t most;
	const char *full, *above;
} limit_rows[] = {
#define LIMIT(name)	offsetof(struct tdf_header, name)
	{ LIMIT(modules), 65535, "module of class 0", "65536 modules" },
	{ LIMIT(types), TDF_TYPES_MAX, NULL, "17 names" },
	{ LIMIT(groups), TDF_GROUPS_MAX, NULL, "49 names" },
	{ LIMIT(points), TDF_POINTS_MAX, "don't ascend", "65536 tracepoints" },
	{ LIMIT(sites), TDF_SITES_MAX, "instruction of 0", "of tracepoint 1" },
	{ LIMIT(stmts), TDF_STMTS_MAX, "register statement of 0",
	  "257 statements" },
	{ LIMIT(rpn), TDF_RPN_MAX, "bad operation", "expression of 4096" },
	{ LIMIT(sections), TDF_SECTIONS_MAX, "section without a name",
	  "257 sections" },
#undef LIMIT
};

static void check_limits(void)
{
	const size_t size = 1 << 23;
	struct image *image = calloc(1, size);
	char name[32];

	if (!image)
		tap_bail("out of memory");
	for (size_t i = 0; i < 2 * sizeof(limit_rows) / sizeof(*limit_rows);
	     i++) {
		const struct limit_row *row = &limit_rows[i / 2];
		uint32_t count = row->most + i % 2;

		prepare(image);
		image->header.file_size = size;
		*(struct tdf_table *)((char *)&image->header + row->table) =
			table(image, image + 1, count);
		if (image->header.sites.count == count)
			image->points[0].sites = count;
		if (image->header.stmts.count == count)
			image->sites[0].stmts = count;
		if (image->header.rpn.count == count) {
			image->stmts[0][0] = (struct tdf_stmt){
				TDF_STMT_MEM, .length = 1, .rpn_length = count,
			};
			image->sites[0].stmts = 1;
		}
		snprintf(name, sizeof(name), "%u in the table at %zu", count,
			 row->table);
		check(image, i % 2 ? row->above : row->full, name);
	}
	free(image);
}

/* Two modules, the second one without anything */
static void check_modules(void)
{
	struct {
		struct image image;
		struct tdf_module modules[2];
	} both;

	memset(&both, 0, sizeof(both));
	prepare(&both.image);
	both.modules[0] = both.image.module;
	both.image.header.file_size = sizeof(both);
	both.image.header.modules = table(&both.image, both.modules, 2);
	check(&both.image, "module of class 0", "the second module");
	both.modules[1] = both.image.module;
	check(&both.image, NULL, "two modules");
	both.modules[0].kind = both.modules[1].kind = TDF_MODULE_KMOD;
	both.image.header.sections = table(&both.image, both.image.sections, 2);
	for (int i = 0; i < 2; i++)
		both.image.sections[i] = (struct tdf_section){
			.address = 16 * i, .size = 8, .name = 1, .module = i,
		};
	check(&both.image, "section of module 1", "sections of both");
	both.image.sections[0].module = 1;
	check(&both.image, NULL, "sections of the second one");
}

static void check_tables(void)
{
	static const char *const names[] = {
		"modules", "types", "groups", "points", "sites", "stmts",
		"rpn", "strings", "sections",
	};
	struct tdf_table *tables;
	struct image image;
	char error[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		prepare(&image);
		tables = &image.header.modules;
		tables[i] = (struct tdf_table){ 4, 1 };
		snprintf(error, sizeof(error), "table '%s' lies outside",
			 names[i]);
		check(&image, error, names[i]);
	}
}

static void check_bytes(void)
{
	struct image image;

	prepare(&image);
	image.header.file_size -= 8;
	check_file(&image, sizeof(image), "bytes instead of", "too long");
	prepare(&image);
	check_file(&image, sizeof(image), "wrong checksum", "no checksum");
	check_file(&image, sizeof(image.header) - 1, "header of",
		   "half a header");
	check_file(&image, 24, "header of", "what all tables have");
	image.header.file_size = sizeof(image.header);
	memset(&image.header.modules, 0, sizeof(image.header) -
	       offsetof(struct tdf_header, modules));
	check(&image, "strings are not terminated", "a header and no tables");
	check_file(&image, 23, "cut short: 23 bytes", "less than that");
	check_file(&image, 8, "cut short: 8 bytes", "no more than its magic");
	check_file("RASTDG\r\n", 8, "is not a TDF", "8 bytes of another");
	check_file("RASTDG", 6, "cut short: 6 bytes", "6 bytes");
}

/* What is taken for one, and isn't: what to do about it */
static void check_others(void)
{
	static const struct {
		const char *path, *bytes;
		const char *hint;	/* "": there is none */
	} rows[] = {
		{ "it", "\177ELF\2\1\1", "trcust --from-module" },
		{ "it", "\177ELF", "trcust --from-module" },
		{ "it", "\177EL", "make it anew" },
		{ "it.tsf", "\177ELF\2\1\1\0", "trcust --from-module" },
		{ "it.tsf", "MODNAME=app", "'trcust it.tsf' makes" },
		{ "it.TSF", "MODNAME=app", "'trcust it.TSF' makes" },
		{ "it.tsg", "MODNAME=app", "" },
		{ ".tsf", "MODNAME=app", "" },
	};
	struct error err;
	struct tdf *tdf;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		err = (struct error){ 0 };
		tdf_parse(&tdf, rows[i].bytes, strlen(rows[i].bytes),
			  rows[i].path, &err);
		if (!tap_ok(*rows[i].hint ? !!strstr(err.hint, rows[i].hint) :
			    !*err.hint, "%s of %zu bytes", rows[i].path,
			    strlen(rows[i].bytes)))
			tap_diag("hint: %s", err.hint);
	}
}

static void check_open(void)
{
	char path[] = "/tmp/rastrace.XXXXXX";
	struct error err = { 0 };
	int fd = mkstemp(path);
	struct image image;
	struct tdf *tdf;

	prepare(&image);
	image.header.crc = hash_crc32(0, &image, sizeof(image));
	if (fd < 0 || write(fd, &image, sizeof(image)) != sizeof(image))
		tap_bail("cannot write '%s'", path);
	close(fd);
	tap_is(tdf_open(&tdf, path, &err), 0, "a file is opened");
	tap_str(tdf->path, path, "it is known where it was");
	tap_is(tdf->header->major, 5, "what is in it");
	tdf_close(tdf);
	unlink(path);
	tap_is(tdf_open(&tdf, path, &err), -ENOENT, "one that isn't there");
	tap_ok(!tdf && strstr(err.text, path), "is none: %s", err.text);
}

static void check_points(void)
{
	struct image image;

	prepare(&image);
	image.header.points.count = 2;
	image.points[1] = (struct tdf_point){
		.minor = 1, .first_site = 1, .sites = 1,
	};
	check(&image, "minor codes don't ascend", "twice the same minor code");
	image.points[1].minor = 2;
	image.points[1].first_site = 0;
	check(&image, "sites of tracepoint 2", "twice the same site");
	image.header.points.count = 0;
	check(&image, NULL, "no tracepoints");
}

/* Nothing is left of those that are closed, or refused. */
static void check_memory(void)
{
	struct image image;
	size_t used = 0;

	prepare(&image);
	for (int i = 0; i < 20; i++) {
		image.header.major = i % 2 ? 5 : 0;
		image.header.crc = 0;
		image.header.crc = hash_crc32(0, &image, sizeof(image));
		refused(&image, sizeof(image));
		if (i == 9)
			used = mallinfo2().uordblks;
	}
	tap_is(mallinfo2().uordblks, used, "memory is given back");
}

int main(void)
{
	check_bytes();
	check_others();
	check_open();
	check_memory();
	check_modules();
	check_tables();
	check_fields();
	check_limits();
	check_points();
	check_stmts();
	check_layouts();
	check_wholes();
	check_flags();
	check_sharing();
	check_sites();
	check_calls();
	check_sections();
	return tap_done();
}
