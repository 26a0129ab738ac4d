// SPDX-License-Identifier: GPL-2.0
/*
 * What tdf_open() lets through: statements of every kind with the flags that
 * they may have, and sites of a tracepoint that log the same. Everything else
 * is refused, and the message says why.
 */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "tap.h"
#include "usr/lib/hash.h"
#include "usr/lib/rpn.h"
#include "usr/lib/tdf.h"

#define STMTS	6
#define SITES	3

/* Expressions that leave one entry, two, none. */
static const uint8_t rpn[] = {
	RPN_lit, RPN_lit, RPN_lit + 1, RPN_nop, RPN_lit, RPN_lit, RPN_xderef,
};
#define ONE	.rpn = 0, .rpn_length = 1
#define TWO	.rpn = 1, .rpn_length = 2
#define NOTHING	.rpn = 3, .rpn_length = 1
#define XDEREF	.rpn = 4, .rpn_length = 3
#define LEN	.len_bytes = 2, .len_rpn = 0, .len_rpn_length = 1

struct image {
	struct tdf_header header;
	struct tdf_module module;
	struct tdf_point points[2];
	struct tdf_site sites[SITES];
	struct tdf_stmt stmts[SITES][STMTS];
	struct tdf_section sections[3];
	uint8_t rpn[8];
	char strings[16];
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
			.strings = table(image, image->strings, 16),
		},
		.module = {
			.path = 1, .name = 1, .machine = EM_X86_64,
			.elf_class = ELFCLASS64, .id_kind = TDF_ID_BUILD,
			.id_length = 20,
		},
		.points = { { .minor = 1, .sites = 1 } },
		.strings = "\0name\0a/b",
	};
	memcpy(image->rpn, rpn, sizeof(rpn));
	for (int i = 0; i < SITES; i++)
		image->sites[i] = (struct tdf_site){
			.symbol = 1, .insn_length = 1,
			.first_stmt = i * STMTS,
		};
}

static const char *refused(struct image *image)
{
	static struct error err;
	struct tdf *tdf;
	int code;

	image->header.crc = 0;
	image->header.crc = hash_crc32(0, image, sizeof(*image));
	err.text[0] = '\0';
	code = tdf_parse(&tdf, image, sizeof(*image), "it", &err);
	tdf_close(tdf);
	return code ? err.text : NULL;
}

static void check(struct image *image, const char *expected, const char *name)
{
	const char *why = refused(image);

	if (!tap_ok(expected ? why && strstr(why, expected) : !why, "%s",
		    name))
		tap_diag("got: %s", why ? why : "accepted");
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
	{ "an unknown kind", { { 7, .length = 1, ONE } }, "kind 7" },
	{ "IF", { { TDF_STMT_IF, ONE },
		  { TDF_STMT_REG, .reg_bytes = 4 } }, NULL },
	{ "IF behind a register",
	  { { TDF_STMT_REG, .reg_bytes = 4 }, { TDF_STMT_IF, ONE } },
	  "IF behind" },
	{ "two IF", { { TDF_STMT_IF, ONE }, { TDF_STMT_IF, ONE } },
	  "IF behind" },
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
	{ "a raw piece behind a prefix",
	  { { TDF_STMT_VALUE, .length = 3, ONE },
	    { TDF_STMT_MEM, TDF_STMT_MORE | TDF_STMT_RAW, .length = 90,
	      ONE } }, "MORE behind" },
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
	  "MORE behind" },
	{ "a piece of a string",
	  { { TDF_STMT_ASCIIZ, .length = 4, ONE },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE behind" },
	{ "a piece behind LEN",
	  { { TDF_STMT_MEM, TDF_STMT_LEN, .length = 4, ONE, LEN },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE behind" },
	{ "a piece of what is absent",
	  { { TDF_STMT_ABSENT },
	    { TDF_STMT_MEM, TDF_STMT_MORE, .length = 1, ONE } },
	  "MORE behind" },
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
	{ "another length than behind what is absent", {
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
	{ "raw memory behind what is absent", {
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
	image.sites[0].flags = 8;
	check(&image, "site with flags 0x8", "an unknown flag of a site");
	image.sites[0].flags = 0;
	image.sites[0].semaphore = 0x1234;
	check(&image, NULL, "a semaphore");
	image.module.kind = TDF_MODULE_KERNEL;
	check(&image, "semaphore", "a semaphore in the kernel");
	prepare(&image);
	image.sites[0].text = sizeof(image.strings) - 1;
	check(&image, NULL, "the text of an instruction");
	image.sites[0].text = sizeof(image.strings);
	check(&image, "text of its instruction", "one past the strings");
	prepare(&image);
	image.points[0].flags = TDF_POINT_CONTINUE;
	check(&image, NULL, "ONFAULT=CONTINUE");
	image.points[0].flags = 8;
	check(&image, "tracepoint with flags 0x8",
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
		memcpy(image.sections, row->sections,
		       sizeof(row->sections));
		image.header.sections = table(&image, image.sections,
					       row->count);
		check(&image, row->error, row->name);
	}
}

int main(void)
{
	check_stmts();
	check_layouts();
	check_sharing();
	check_sites();
	check_calls();
	check_sections();
	return tap_done();
}
