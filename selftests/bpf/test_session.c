// SPDX-License-Identifier: GPL-2.0
/*
 * A CALL whose beginning and return are one program, at real functions: it
 * records what two programs would, and is called at the return only when there
 * may be something to record.
 */
#include <bpf/bpf.h>
#include "bed.h"
#include "probed.h"
#include "lib/arm/arm_tdf.h"
#include "lib/arm/kernel/features.h"
#include "lib/sysbpf.h"

#define RAX	0		/* DWARF numbers */
#define RDI	5
#define BLOCK	0x7000

enum { INNER = 1, OUTER = 2 };	/* levels; minors are the same */

__attribute__((noipa)) static uintptr_t inner(size_t size)
{
	return size ? BLOCK + size : 0;
}

__attribute__((noipa)) static uintptr_t outer(size_t size)
{
	return inner(size) + 1;
}

static struct tdf_site sites[2];

struct session {
	int program, link;
};

/* The statements are those of heap.h: block, size, old block. */
static struct session session_arm(struct bed *bed, int level, int flags,
				  const void *function)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = SYSBPF_UPROBE_SESSION);
	uint64_t offset = file_offset(function);
	uint64_t cookie = RAS_COOKIE(level, 0, 1) | RAS_COOKIE_LEVEL(level);
	struct session s = { -1, -1 };
	struct error err = { 0 };
	struct body body;

	bed_clear(bed);
	bed->point = (struct tdf_point){
		.flags = TDF_POINT_CALL | flags, .level = level,
		.minor = level, .sites = 2,
	};
	bed_stmt(bed, TDF_STMT_IF, 0, 0, RPN(OP_breg + RAX, 0));
	bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_BLOCK, 8,
		 RPN(OP_breg + RAX, 0));
	bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_SIZE, 8,
		 RPN(OP_entry_value, 1, 0x50 + RDI));
	bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_RAW | TDF_STMT_OLD, 8,
		 RPN(OP_lit));
	sites[1] = bed->site;
	sites[0].flags = TDF_SITE_CALL;
	sites[1].flags = TDF_SITE_RETURN;
	bed->tdf.sites = sites;
	if (body_generate(&body, &bed->tdf, &bed->point, &sites[1],
			  &bed->target, &err))
		tap_bail("%s", err.text);
	s.program = bed_program(bed, &body, &opts);
	body_free(&body);
	if (s.program >= 0)
		s.link = sysbpf_multi_link(s.program, "/proc/self/exe",
			&(struct sysbpf_multi){ .offsets = &offset,
				.cookies = &cookie, .count = 1,
				.session = true });
	if (s.link < 0)
		tap_bail("cannot arm: %s", strerror(s.program < 0 ?
						    -s.program : -s.link));
	return s;
}

static void session_disarm(struct session *s)
{
	close(s->link);
	close(s->program);
}

static int runs(const struct session *s)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	bpf_obj_get_info_by_fd(s->program, &info, &size);
	return info.run_cnt;
}

static uint64_t filtered(const struct bed *bed, int kind)
{
	return bed_why(bed, 0)->filtered[kind];
}

/* "minor:block:size ..." since the position, which moves */
static void expect(struct bed *bed, uint64_t *position, const char *expected,
		   const char *name)
{
	const struct ras_slice *slice = bed_slice(bed);
	char text[256] = "";
	size_t used = 0;

	while (*position < slice->head && used < sizeof(text)) {
		const struct ras_record *r = bed_record(bed, *position);
		uint64_t data[3];

		memcpy(data, r + 1, sizeof(data));
		used += snprintf(text + used, sizeof(text) - used,
				 "%s%u:%lx:%lu", used ? " " : "", r->minor,
				 data[0], data[1]);
		*position += (r->length + 7) & ~7u;
	}
	tap_str(text, expected, "%s", name);
}

static void test_call(struct bed *bed)
{
	struct session s = session_arm(bed, INNER, TDF_POINT_LEAF, inner);
	uint64_t at = bed_slice(bed)->head;
	uint64_t was = filtered(bed, RAS_FILTERED_SUSPENDED);
	uint64_t failed = filtered(bed, RAS_FILTERED_CONDITION);

	inner(8);
	expect(bed, &at, "1:7008:8", "a call");
	tap_is(runs(&s), 2, "  begins and returns");
	inner(0);
	expect(bed, &at, "", "one that fails");
	tap_is(filtered(bed, RAS_FILTERED_CONDITION), failed + 1,
	       "  counts as filtered");
	tap_is(runs(&s), 4, "  where it returns");
	bed_state(bed, RAS_STATE_SUSPENDED);
	inner(8);
	expect(bed, &at, "", "one while it is suspended");
	tap_is(filtered(bed, RAS_FILTERED_SUSPENDED), was + 1,
	       "  counts as filtered, once");
	tap_is(runs(&s), 5, "  where it begins");
	bed_state(bed, RAS_STATE_OFF);
	inner(8);
	tap_is(runs(&s), 6, "one while nothing is armed only begins");
	bed_state(bed, RAS_STATE_ON);
	session_disarm(&s);
}

static void test_nested(struct bed *bed)
{
	struct session in = session_arm(bed, INNER, 0, inner);
	struct session out = session_arm(bed, OUTER, 0, outer);
	uint64_t at = bed_slice(bed)->head;
	uint64_t was = filtered(bed, RAS_FILTERED_NESTED);

	outer(8);
	inner(9);
	outer(10);
	expect(bed, &at, "2:7009:8 1:7009:9 2:700b:10", "the outer one of two");
	tap_is(filtered(bed, RAS_FILTERED_NESTED), was + 2,
	       "  the other counts as filtered");
	tap_is(runs(&out), 4, "  both ends of that");
	tap_is(runs(&in), 4, "  and no return inside it");
	session_disarm(&in);
	session_disarm(&out);
}

static void test_size(struct bed *bed, int flags)
{
	struct session s = session_arm(bed, INNER, flags, inner);
	uint64_t at = bed_slice(bed)->head;
	uint64_t was = filtered(bed, RAS_FILTERED_CONDITION);

	tap_diag(flags ? "decided where it begins" : "where it returns");
	inner(99);
	inner(100);
	inner(99);
	inner(300);
	expect(bed, &at, "1:7064:100 1:712c:300", "blocks that aren't small");
	tap_is(filtered(bed, RAS_FILTERED_CONDITION), was + 2,
	       "  the others count as filtered");
	tap_is(runs(&s), flags ? 6 : 8, "  calls of the program");
	session_disarm(&s);
}

int main(void)
{
	static struct body_heap heap;
	static struct bed bed;
	struct features features;
	int stats;

	bed_open(&bed, BODY_UPROBE);
	if (features_probe(&features, ATTACH_AUTO, NULL))
		tap_skip_all("needs BPF");
	bed.target.is_return = features_session(&features);
	if (!bed.target.is_return)
		tap_skip_all("needs uprobe sessions");
	heap = HEAP_MAPS_NONE;
	bed.target.heap = &heap;
	if (heap_maps_make(&heap, NULL))
		tap_bail("cannot make the map 'calls'");
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0)
		tap_bail("cannot count runs: %s", strerror(errno));
	test_call(&bed);
	test_nested(&bed);
	heap.min_size = 100;
	if (heap_maps_make(&heap, NULL))
		tap_bail("cannot make the map 'blocks'");
	test_size(&bed, 0);
	test_size(&bed, TDF_POINT_LEAF);
	close(stats);
	return tap_done();
}
