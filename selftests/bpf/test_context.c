// SPDX-License-Identifier: GPL-2.0
/*
 * The context of a record is between header and data: every part of it,
 * alone and with others, and the data after it is the interpreter's.
 */
#include <sys/prctl.h>
#include <sys/stat.h>
#include "bed.h"

#define FIXED	(RAS_CONTEXT_ALL & ~(RAS_CONTEXT_STACK | RAS_CONTEXT_OTEL))

static const char name[16] = "short";
static uint64_t cgroup;		/* 0: not known */

/* What the mask asks for, into data; its length. */
static size_t expected_context(const struct bed *bed, uint32_t mask,
			       uint8_t *data)
{
	uint32_t ids[] = { getuid(), getgid() };
	uint64_t cpu = bed->cpu, ppid = getppid();
	size_t n = 0;

	if (mask & (RAS_CONTEXT_COMM | RAS_CONTEXT_NAME))
		memcpy(data + n, name, 16), n += 16;
	if (mask & RAS_CONTEXT_UID)
		memcpy(data + n, ids, 8), n += 8;
	if (mask & RAS_CONTEXT_CGROUP)
		memcpy(data + n, &cgroup, 8), n += 8;
	if (mask & RAS_CONTEXT_CPU)
		memcpy(data + n, &cpu, 8), n += 8;
	if (mask & RAS_CONTEXT_PPID)
		memcpy(data + n, &ppid, 8), n += 8;
	return n;
}

/* Where cgroup2 is mounted, and what of it this process is in. */
static void cgroup_find(void)
{
	char mount[256] = "", own[256] = "", path[512], line[512];
	FILE *f = fopen("/proc/self/mounts", "r");
	struct stat st;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "cgroup2 %255s", mount) == 1)
			break;
	if (f)
		fclose(f);
	f = fopen("/proc/self/cgroup", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "0::%255s", own) == 1)
			break;
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "%s%s", mount, own);
	if (*mount && *own && !stat(path, &st))
		cgroup = st.st_ino;
}

static void statements(struct bed *bed)
{
	static const char text[] = "some text after the context";

	bed_clear(bed);
	bed->input.cookie = RAS_COOKIE(0x13, 1, 0);
	bed->input.regs.rbx = (uintptr_t)text;
	bed_reg(bed, 0, 8);
	bed_memory(bed, TDF_STMT_ASCIIZ, 40, RPN(OP_breg + 3, 0));
	bed_memory(bed, TDF_STMT_MEM, 9, RPN(OP_breg + 3, 5));
}

static bool context_same(struct bed *bed, uint32_t mask)
{
	uint64_t position = bed_slice(bed)->head;
	const struct ras_record *r = bed_record(bed, position);
	const uint8_t *got = (const uint8_t *)(r + 1);
	uint8_t expected[64];
	int ret;

	bed->target.context_mask = mask;
	bed->context = RAS_CONTEXT_BYTES(mask);
	if (expected_context(bed, mask, expected) != bed->context)
		tap_bail("the test's own length");
	ret = bed_check(bed);
	if (ret) {
		tap_diag("context %#x: %s", mask, strerror(-ret));
		return false;
	}
	if (!memcmp(got, expected, bed->context))
		return true;
	bed_dump("context", got, bed->context);
	bed_dump("expected", expected, bed->context);
	return false;
}

static void test_masks(struct bed *bed)
{
	uint32_t skip = cgroup ? 0 : RAS_CONTEXT_CGROUP;
	int wrong = 0;

	if (!bed->layout.task_parent)
		skip |= RAS_CONTEXT_PPID;
	for (uint32_t mask = 0; mask <= FIXED; mask++) {
		if (mask & (skip | RAS_CONTEXT_STACK))
			continue;
		statements(bed);
		wrong += !context_same(bed, mask);
	}
	tap_is(wrong, 0, "every context but the stack (without %#x)", skip);
	statements(bed);
	bed->header.maxdata = 20;
	tap_ok(context_same(bed, FIXED & ~skip),
	       "MAXDATALENGTH is that of the data");
	bed->header.maxdata = TDF_DATA_MAX;
	statements(bed);
	bed->point.flags = TDF_POINT_CONTINUE;
	bed_memory(bed, TDF_STMT_MEM, 9, RPN(OP_lit));
	bed_memory(bed, TDF_STMT_ASCIIZ, 9, RPN(OP_breg + 3, 2));
	tap_ok(context_same(bed, FIXED & ~skip), "with a fault after it");
	bed_clear(bed);
	bed->input.cookie = RAS_COOKIE(0x13, 1, 0);
	tap_ok(context_same(bed, FIXED & ~skip), "without data");
}

/* The data after an item of variable length is where that ends. */
static void stack_row(struct bed *bed, uint32_t mask, int maxdata, int flags)
{
	uint64_t position = bed_slice(bed)->head;
	const struct ras_record *r = bed_record(bed, position);
	const uint8_t *item = (const uint8_t *)(r + 1) +
			      RAS_CONTEXT_BYTES(mask);
	struct expected x;
	uint16_t length;
	int prog;

	statements(bed);
	bed->point.flags = flags;
	bed->header.maxdata = maxdata;
	bed->target.context_mask = mask;
	bed->target.context_depth = 8;
	prog = bed_load(bed);
	if (prog < 0)
		tap_diag("%s", bed->log);
	bed_input(bed);
	bed_expect(bed, &x);
	bed_run(prog);
	close(prog);
	memcpy(&length, item + 1, 2);
	bed->context = RAS_CONTEXT_BYTES(mask) + RAS_ITEM_PREFIX + length;
	tap_ok(prog >= 0 && RAS_ITEM_KIND(item[0]) == RAS_ITEM_STACK &&
	       bed_same(bed, bed_slice(bed), bed->target.slice_bytes,
			position, &x),
	       "a stack of %u bytes, MAXDATALENGTH %d%s", length, maxdata,
	       flags ? ", ONFAULT=CONTINUE" : "");
	bed->header.maxdata = TDF_DATA_MAX;
}

/* Three frames above the one that rbp is of */
static void test_stack(struct bed *bed)
{
	static uint64_t frames[6];

	frames[0] = (uintptr_t)&frames[2];
	frames[1] = 0x401234;
	frames[2] = (uintptr_t)&frames[4];
	frames[3] = 0x401235;
	frames[4] = 0;
	frames[5] = 0x401236;
	for (int i = 0; i < 2; i++) {
		bed->input.regs.rbp = i ? 0 : (uintptr_t)frames;
		bed->input.regs.rsp = (uintptr_t)frames - 8;
		stack_row(bed, RAS_CONTEXT_STACK, TDF_DATA_MAX, 0);
		stack_row(bed, RAS_CONTEXT_STACK | RAS_CONTEXT_COMM, 24, 0);
		stack_row(bed, RAS_CONTEXT_STACK | RAS_CONTEXT_CPU, 24,
			  TDF_POINT_CONTINUE);
	}
	bed->context = 0;
}

static void test_refused(struct bed *bed)
{
	statements(bed);
	bed->target.context_mask = RAS_CONTEXT_ALL + 1;
	tap_is(bed_load(bed), -EINVAL, "an unknown context is refused: %s",
	       bed->log);
	bed->target.context_mask = RAS_CONTEXT_PPID;
	bed->target.layout = NULL;
	tap_is(bed_load(bed), -EOPNOTSUPP, "without BTF: %s", bed->log);
	bed->target.context_mask = RAS_CONTEXT_OTEL;
	tap_is(bed_load(bed), -EOPNOTSUPP, "OpenTelemetry's without it: %s",
	       bed->log);
	bed->target.layout = &bed->layout;
	bed->target.context_mask = RAS_CONTEXT_STACK;
	bed->target.context_depth = RAS_RECORD_MAX / 8;
	tap_is(bed_load(bed), -E2BIG, "a stack that is too deep: %s",
	       bed->log);
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	/* what was there before must not show */
	prctl(PR_SET_NAME, "a-longer-name");
	prctl(PR_SET_NAME, name);
	cgroup_find();
	test_masks(&bed);
	test_stack(&bed);
	test_refused(&bed);
	return tap_done();
}
