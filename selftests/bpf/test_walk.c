// SPDX-License-Identifier: GPL-2.0
/*
 * Bodies that bring absent memory in are twice as long: the verifier takes those
 * of all shapes and sizes; what reads no memory of the program isn't one.
 */
#include "bed.h"
#include "lib/arm/kernel/features.h"

static struct bed bed;

#define RDI	5	/* DWARF numbers */
#define RSI	4

static void registers(void)
{
	bed_reg(&bed, RDI, 8);
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8, RPN(OP_breg + RSI, 1));
}

static void bytes(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 4, RPN(OP_breg + RDI, 0));
}

static void chain(void)
{
	bed_memory(&bed, TDF_STMT_MEM, 4,
		   RPN(OP_breg + RDI, 8, OP_deref, OP_deref));
}

static void value(void)
{
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 4, RPN(OP_breg + RDI, 0, OP_deref));
}

static void raw(void)
{
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_RAW, 4, RPN(OP_breg + RDI, 0));
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_RAW, 8, RPN(OP_breg + RSI, 0));
}

static void pieces(void)
{
	bed_stmt(&bed, TDF_STMT_MEM, 0, 4, RPN(OP_breg + RDI, 0));
	bed_stmt(&bed, TDF_STMT_MEM, TDF_STMT_MORE, 4, RPN(OP_breg + RSI, 0));
	bed_stmt(&bed, TDF_STMT_VALUE, TDF_STMT_MORE, 3,
		 RPN(OP_breg + RSI, 0, OP_deref));
}

static void condition(void)
{
	bed_stmt(&bed, TDF_STMT_IF, 0, 8, RPN(OP_breg + RDI, 0, OP_deref));
	bed_reg(&bed, RDI, 8);
}

static void condition_and_string(void)
{
	condition();
	bed_memory(&bed, TDF_STMT_ASCIIZ, 64, RPN(OP_breg + RSI, 0));
}

static void division(void)
{
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8,
		 RPN(OP_breg + RDI, 0, OP_deref, OP_breg + RSI, 0, OP_div));
}

static void counted(void)
{
	bed.point.maxhits = 5;
	bed.point.passcount = 3;
	condition_and_string();
}

static void strings(int count, int length)
{
	for (int i = 0; i < count; i++)
		bed_memory(&bed, TDF_STMT_ASCIIZ, length,
			   RPN(OP_breg + (i & 7), 0, OP_deref));
}

static void strings_short(void)
{
	strings(20, 20);
}

static void strings_long(void)
{
	strings(20, 500);
}

static void lengths(void)
{
	for (int i = 0; i < 20; i++)
		bed_len(&bed, bed_memory(&bed, TDF_STMT_MEM, 64,
					 RPN(OP_breg + RDI, 0, OP_deref)),
			4, RPN(OP_breg + RSI, 0));
}

/* More items than have bits of their own */
static void items(void)
{
	for (int i = 0; i < 100; i++)
		bed_memory(&bed, TDF_STMT_MEM, 2,
			   RPN(OP_breg + (i & 7), 0, OP_deref));
}

/* Of 16 nodes, each from the one before */
static void nodes(const uint8_t *next, size_t size)
{
	bed_memory(&bed, TDF_STMT_VALUE, 8, RPN(OP_breg + RDI, 0))->reg = 1;
	for (int i = 0; i < 16; i++) {
		uint8_t rpn[16] = { OP_kept, 1 + i % 2 };

		memcpy(rpn + 2, next, size);
		bed_memory(&bed, TDF_STMT_VALUE, 8, rpn, 2 + size)->reg =
			2 - i % 2;
		bed_memory(&bed, TDF_STMT_MEM, 8, rpn, 2);
	}
}

static void list(void)
{
	nodes(RPN(OP_deref));
}

static void tree(void)
{
	nodes(RPN(OP_tree_next, 0, 8, 16, 12));
}

/* The frame's end */
static void far_strings(void)
{
	for (int i = 0; i < 10; i++)
		bed_memory(&bed, TDF_STMT_ASCIIZ, 40,
			   RPN(OP_breg + RDI, 0, OP_breg + RSI, 0))->flags =
				TDF_STMT_SEGMENT;
}

static const struct shape {
	const char *name;
	void (*make)(void);
	bool resident;
} shapes[] = {
	{ "registers", registers, .resident = true },
	{ "bytes", bytes },
	{ "a chain", chain },
	{ "a value", value },
	{ "bytes without a prefix", raw },
	{ "pieces", pieces },
	{ "a condition", condition },
	{ "a condition and a string", condition_and_string },
	{ "MAXHITS and PASSCOUNT", counted },
	{ "a division", division },
	{ "20 short strings", strings_short },
	{ "20 long strings", strings_long },
	{ "20 lengths", lengths },
	{ "100 items", items },
	{ "a list", list },
	{ "a tree", tree },
	{ "far strings", far_strings },
};

static void test_shape(const struct shape *shape, unsigned int flags)
{
	struct error err;
	struct body body;
	bool sleepable;
	int code;

	bed_clear(&bed);
	bed.point.flags = flags;
	shape->make();
	if (shape->make == far_strings && !bed.layout.tls_array) {
		tap_skip(shape->name, "this kernel has no segments");
		return;
	}
	code = body_generate(&body, &bed.tdf, &bed.point, &bed.site,
			     &bed.target, &err);
	if (code) {
		tap_ok(false, "%s: %s", shape->name, err.text);
		return;
	}
	sleepable = body.sleepable;
	code = bed_load_body(&bed, &body);
	if (!tap_ok(code >= 0, "%s%s", shape->name, flags ? ", going on" : ""))
		tap_diag("%s", bed.log);
	else
		close(code);
	tap_is(sleepable, !shape->resident, "  may sleep or not");
}

/* A body that is too long to be there twice is there once. */
static void test_too_long(void)
{
	uint8_t rpn[1001] = { OP_breg + RDI, 0 };
	struct error err;
	struct body body;
	int code;

	memset(rpn + 2, OP_deref, sizeof(rpn) - 2);
	bed_clear(&bed);
	for (int i = 0; i < 2; i++)
		bed_memory(&bed, TDF_STMT_MEM, 1, rpn, sizeof(rpn));
	code = body_generate(&body, &bed.tdf, &bed.point, &bed.site,
			     &bed.target, &err);
	tap_is(code, 0, "2000 dereferences: a body");
	tap_ok(!code && !body.sleepable, "  that doesn't bring in");
	if (!code)
		body_free(&body);
}

/* Static data after a return, without bpf_get_func_ip(). */
static void test_returned(void)
{
	uint8_t rpn[9] = { OP_addr };
	struct error err;
	struct body body;
	int code;

	bed_clear(&bed);
	bed.site.flags = TDF_SITE_RETURN;
	bed.target.func_ip = false;
	bed_memory(&bed, TDF_STMT_MEM, 8, rpn, sizeof(rpn));
	code = body_generate(&body, &bed.tdf, &bed.point, &bed.site,
			     &bed.target, &err);
	if (tap_is(code, 0, "static data after a return: a body")) {
		code = bed_load_body(&bed, &body);
		if (!tap_ok(code >= 0, "  which the kernel takes"))
			tap_diag("%s", bed.log);
		close(code);
	}
	bed.target.layout = NULL;
	code = body_generate(&body, &bed.tdf, &bed.point, &bed.site,
			     &bed.target, &err);
	tap_is(code, -EOPNOTSUPP, "  not without the kernel's structures");
	bed.target.layout = &bed.layout;
	bed.site.flags = 0;
}

int main(void)
{
	size_t count = sizeof(shapes) / sizeof(shapes[0]);
	struct body_layout layout;

	bed_open(&bed, BODY_UPROBE);
	if (features_read_layout(&layout) || !layout.vma)
		tap_skip_all("this kernel has no BTF");
	/* what counts interrupts is tested by trace/live_kprobe */
	tap_ok(!memcmp(&layout, &bed.layout,
		       offsetof(struct body_layout, task_count)),
	       "the kernel's structures are those that libbpf sees");
	bed.target.layout = &layout;
	bed.target.bring_in = true;
	for (size_t i = 0; i < count; i++) {
		test_shape(&shapes[i], 0);
		test_shape(&shapes[i], TDF_POINT_CONTINUE);
	}
	test_too_long();
	test_returned();
	return tap_done();
}
