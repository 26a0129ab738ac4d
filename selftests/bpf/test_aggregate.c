// SPDX-License-Identifier: GPL-2.0
/*
 * What bodies add up in the kernel: every kind of aggregate by every kind of key,
 * compared with the same sums made here; with and without a record, with plain
 * additions and atomic ones, with what cannot be read and a map that is full.
 */
#include <stdlib.h>
#include "bed.h"
#include "lib/bucket.h"

#define RAX	OP_breg + 0, 0
#define RBX	OP_breg + 3, 0
#define ROOM	4096
#define KEY	128

static struct bed bed;
static uint64_t values[256];

static void maps_renew(unsigned int room)
{
	struct body_target *t = &bed.target;

	if (t->aggregates_fd > 0)
		close(t->aggregates_fd);
	t->aggregate_key = KEY;
	t->aggregates_fd = bed_hash("aggregates", BPF_MAP_TYPE_PERCPU_HASH, KEY,
				    sizeof(struct ras_aggregate), room);
}

static void aggregate(int kind, const uint8_t *rpn, size_t size)
{
	bed_memory(&bed, TDF_STMT_AGGREGATE, 0, rpn, size)->reg = kind;
}

static void by(int kind, int length, const uint8_t *rpn, size_t size)
{
	bed_memory(&bed, TDF_STMT_BY, length, rpn, size)->reg = kind;
}

static int load(void)
{
	int prog = bed_load(&bed);

	if (prog < 0)
		tap_bail("%s", bed.log);
	return prog;
}

/* What the map has for a key on this CPU; nothing: zeros. */
static struct ras_aggregate found(int statement, unsigned int bucket,
				  const void *by_values, size_t size)
{
	struct ras_aggregate rows[1024] = { { 0 } };
	struct {
		struct ras_aggregate_key head;
		uint8_t by[KEY - sizeof(struct ras_aggregate_key)];
	} key = {
		.head = { .point = 1, .statement = statement,
			  .bucket = bucket },
	};

	memcpy(key.by, by_values, size);
	bpf_map_lookup_elem(bed.target.aggregates_fd, &key, rows);
	return rows[bed.cpu];
}

static unsigned int keys_count(void)
{
	uint8_t key[KEY], next[KEY];
	unsigned int count = 0;

	while (!bpf_map_get_next_key(bed.target.aggregates_fd,
				     count ? key : NULL, next)) {
		memcpy(key, next, KEY);
		count++;
	}
	return count;
}

static struct ras_aggregated aggregated(void)
{
	struct ras_aggregated row;
	__u32 key = bed.target.cpus + bed.cpu;

	bpf_map_lookup_elem(bed.target.aggregated_fd, &key, &row);
	return row;
}

static void all_kinds(void)
{
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	aggregate(TDF_AGGREGATE_SUM, RPN(RAX));
	aggregate(TDF_AGGREGATE_MIN, RPN(RAX));
	aggregate(TDF_AGGREGATE_MAX, RPN(RAX));
	aggregate(TDF_AGGREGATE_HIST, RPN(RAX));
}

static void values_make(void)
{
	for (int i = 0; i < 256; i++) {
		values[i] = i < 64 ? (1ULL << i) - 1 : i < 128 ?
			1ULL << (i - 64) : (uint64_t)rand() << (rand() % 40);
		if (i % 5 == 4)
			values[i] = -values[i];
	}
}

/* Each value once, by its remainder of 3 */
static bool kinds_right(bool with_by)
{
	uint64_t sum[3] = { 0 }, count[3] = { 0 };
	int64_t least[3], most[3];
	unsigned int parts = with_by ? 3 : 1, wrong = 0;
	static uint64_t buckets[3][RAS_BUCKETS + 1], sums[3][RAS_BUCKETS + 1];
	int prog = load();

	memset(buckets, 0, sizeof(buckets));
	memset(sums, 0, sizeof(sums));
	for (int i = 0; i < 256; i++) {
		unsigned int k = with_by ? values[i] % 3 : 0;
		int64_t value = values[i];

		bed.input.regs.rax = value;
		bed.input.regs.rbx = k;
		bed_input(&bed);
		bed_run(prog);
		least[k] = !count[k] || value < least[k] ? value : least[k];
		most[k] = !count[k] || value > most[k] ? value : most[k];
		count[k]++;
		sum[k] += value;
		buckets[k][bucket_find(value)]++;
		sums[k][bucket_find(value)] += value;
	}
	close(prog);
	for (uint64_t k = 0; k < parts; k++) {
		size_t size = with_by ? 8 : 0;
		struct ras_aggregate a = found(0, 0, &k, size);

		wrong += a.count != count[k];
		a = found(1, 0, &k, size);
		wrong += a.sum != sum[k] || a.count != count[k];
		a = found(2, 0, &k, size);
		wrong += (int64_t)(~a.least ^ 1ULL << 63) != least[k];
		a = found(3, 0, &k, size);
		wrong += (int64_t)(a.most ^ 1ULL << 63) != most[k];
		for (unsigned int b = 0; b <= RAS_BUCKETS; b++) {
			a = found(4, b, &k, size);
			wrong += a.count != buckets[k][b] ||
				 a.sum != sums[k][b];
		}
	}
	if (wrong)
		tap_diag("%u figures are wrong", wrong);
	return !wrong;
}

static void begin(void)
{
	bed_clear(&bed);
	maps_renew(ROOM);
}

static void test_kinds(const char *how)
{
	struct bed_counts before = bed_counts(&bed, 1);
	struct ras_aggregated was = aggregated();
	uint64_t head = bed_slice(&bed)->head;

	begin();
	all_kinds();
	tap_ok(kinds_right(false), "all kinds are exact, %s", how);
	tap_ok(bed_slice(&bed)->head == head &&
	       aggregated().hits == was.hits + 256,
	       "no record is made, the hits are counted");
	begin();
	by(TDF_BY_UNSIGNED, 8, RPN(RBX));
	all_kinds();
	tap_ok(kinds_right(true), "by a number");
	was = aggregated();
	begin();
	bed_reg(&bed, 0, 8);
	by(TDF_BY_UNSIGNED, 8, RPN(RBX));
	all_kinds();
	tap_ok(kinds_right(true), "with a record");
	tap_ok(bed_counts(&bed, 1).count.recorded ==
	       before.count.recorded + 256 && aggregated().hits == was.hits,
	       "... which counts as one");
}

static void test_text(void)
{
	static const char text[] = "a key of 25 characters...";
	char key[32] = "a key of 25 characters...";
	int prog, cut;

	begin();
	bed.input.regs.rbx = (uintptr_t)text;
	by(TDF_BY_TEXT, 25, RPN(RBX));
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	bed_input(&bed);
	prog = load();
	bed_run(prog);
	bed.input.regs.rbx = (uintptr_t)(text + 25);
	bed_input(&bed);
	bed_run(prog);
	tap_ok(found(0, 0, key, 32).count == 1 && keys_count() == 2,
	       "by a text that just fits");
	tap_is(found(0, 0, "", 1).count, 1, "by an empty one");
	close(prog);
	begin();
	bed.input.regs.rbx = (uintptr_t)text;
	by(TDF_BY_TEXT, 22, RPN(RBX));
	by(TDF_BY_SIGNED, 8, RPN(OP_lit + 7));
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	bed_input(&bed);
	prog = load();
	bed_run(prog);
	close(prog);
	memset(key, 0, sizeof(key));
	memcpy(key, text, 22);
	key[23] = 1;
	key[24] = 7;
	cut = found(0, 0, key, 32).count;
	tap_is(cut, 1, "by one that is cut, and says so, and a number");
}

static void test_absent(void)
{
	struct bed_counts before = bed_counts(&bed, 1);
	int prog, after;
	uint64_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin();
	by(TDF_BY_UNSIGNED, 8, RPN(OP_lit));
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	aggregate(TDF_AGGREGATE_SUM, RPN(RBX, OP_deref));
	aggregate(TDF_AGGREGATE_MAX, RPN(OP_lit + 3));
	bed.input.regs.rbx = 8;
	bed_input(&bed);
	prog = load();
	bed_run(prog);
	after = bed_faults(bed_why(&bed, 1));
	tap_ok(after == (int)bed_faults(&before.why) + 1 &&
	       found(0, 0, "", 0).count == 1 && !found(1, 0, "", 0).count &&
	       found(2, 0, "", 0).most == (3 | 1ULL << 63),
	       "what cannot be read is a fault, the others are added");
	bed.input.regs.rbx = (uintptr_t)page;
	bed_input(&bed);
	bed_run(prog);
	close(prog);
	tap_is(found(1, 0, "", 0).count, bed.target.bring_in,
	       "a page that is absent is%s brought in",
	       bed.target.bring_in ? "" : " not");
	begin();
	before = bed_counts(&bed, 1);
	by(TDF_BY_UNSIGNED, 8, RPN(RBX, OP_deref));
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	bed.input.regs.rbx = 8;
	bed_input(&bed);
	prog = load();
	bed_run(prog);
	close(prog);
	after = bed_faults(bed_why(&bed, 1));
	tap_ok(after == (int)bed_faults(&before.why) + 1 && !keys_count(),
	       "without a key nothing is added");
	munmap(page, 4096);
}

static void test_full(void)
{
	struct ras_aggregated before = aggregated();
	int prog;

	bed_clear(&bed);
	maps_renew(10);
	by(TDF_BY_UNSIGNED, 8, RPN(RBX));
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	prog = load();
	for (int i = 0; i < 25; i++) {
		bed.input.regs.rbx = i;
		bed_input(&bed);
		bed_run(prog);
	}
	close(prog);
	tap_ok(keys_count() == 10 && aggregated().lost == before.lost + 15 &&
	       aggregated().hits == before.hits + 25,
	       "what finds no room is counted");
}

static void test_limits(void)
{
	struct bed_counts before = bed_counts(&bed, 1);
	struct ras_why why;
	int prog;

	begin();
	memset(bed.limits, 0, BED_POINTS * sizeof(*bed.limits));
	bed.point.passcount = 3;
	bed.point.maxhits = 5;
	bed_memory(&bed, TDF_STMT_IF, 0, RPN(RBX));
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	prog = load();
	for (int i = 0; i < 20; i++) {
		bed.input.regs.rbx = i & 1;
		bed_input(&bed);
		bed_run(prog);
	}
	close(prog);
	why = bed_counts(&bed, 1).why;
	tap_ok(found(0, 0, "", 0).count == 5 &&
	       why.filtered[RAS_FILTERED_CONDITION] ==
	       before.why.filtered[RAS_FILTERED_CONDITION] + 10 &&
	       why.filtered[RAS_FILTERED_PASSED] ==
	       before.why.filtered[RAS_FILTERED_PASSED] + 3 &&
	       why.filtered[RAS_FILTERED_MAXHITS] ==
	       before.why.filtered[RAS_FILTERED_MAXHITS] + 2,
	       "IF, PASSCOUNT and MAXHITS come first");
}

static void test_trigger(void)
{
	begin();
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	bed.target.trigger = true;
	tap_ok(bed_load(&bed) == -EINVAL && strstr(bed.log, "no record"),
	       "what makes no record stops nothing");
	begin();
	bed_reg(&bed, 0, 8);
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	close(load());
	bed.target.trigger = false;
}

static void test_epoch(void)
{
	struct ras_state state = { .state = RAS_STATE_ON, .epoch = 0x10007 };
	uint8_t key[KEY] = { 0 };
	int prog;

	begin();
	aggregate(TDF_AGGREGATE_COUNT, NULL, 0);
	prog = load();
	bpf_map_update_elem(bed.target.state_fd, &(__u32){ 0 }, &state, 0);
	bed_run(prog);
	close(prog);
	bpf_map_get_next_key(bed.target.aggregates_fd, NULL, key);
	tap_is(((struct ras_aggregate_key *)key)->epoch, 7,
	       "the epoch is in the key");
	bed_state(&bed, RAS_STATE_ON);
}

int main(void)
{
	__u32 off, on;

	bed_open(&bed, BODY_TEST);
	srand(26);
	values_make();
	bed.target.aggregated_fd = bed_map("aggregated",
					   sizeof(struct ras_aggregated),
					   BED_POINTS * bed.target.cpus);
	bed.input.cookie = RAS_COOKIE(0x1234, 1, 0);
	off = bed.target.preempt_disable;
	on = bed.target.preempt_enable;
	test_kinds("plain");
	bed.target.preempt_disable = bed.target.preempt_enable = 0;
	test_kinds("atomic");
	bed.target.preempt_disable = off;
	bed.target.preempt_enable = on;
	test_text();
	test_absent();
	test_full();
	test_limits();
	test_trigger();
	test_epoch();
	return tap_done();
}
