// SPDX-License-Identifier: GPL-2.0
/* Part of record.c: hits on a buffer that was not handed over. */
#include <kunit/test.h>
#include <linux/vmalloc.h>

#define KUNIT_KEY	0x5a5a12345678abcdULL
#define KUNIT_MAJOR	42

static void part_alloc(struct kunit *test, struct adopted *b, int part,
		       u32 entries, size_t bytes)
{
	struct buffer_part *p = &b->parts[part];

	p->entries = entries;
	p->stride = round_up(bytes, 8);
	p->base = vzalloc(p->stride * entries);
	KUNIT_ASSERT_NOT_NULL(test, p->base);
}

static void buffer_free(struct adopted *b)
{
	for (int i = 0; i < RASTRACE_PARTS; i++)
		vfree(b->parts[i].base);
}

static void record_test_exit(struct kunit *test)
{
	buffer_free(test->priv);
}

static int record_test_init(struct kunit *test)
{
	const size_t around = RAS_SLICE_HEADER + RAS_RECORD_MAX;
	struct adopted *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	test->priv = b;
	b->key = KUNIT_KEY;
	b->slice_bytes = RAS_SLICE_MIN;
	b->nest_bytes = RAS_NEST_BYTES;
	b->cpus = nr_cpu_ids;
	b->statics = true;
	part_alloc(test, b, RASTRACE_BUFFER, b->cpus, b->slice_bytes + around);
	part_alloc(test, b, RASTRACE_NEST, b->cpus * RAS_NEST_LEVELS,
		   b->nest_bytes + around);
	part_alloc(test, b, RASTRACE_TRIGGER, 1, sizeof(struct ras_trigger));
	part_alloc(test, b, RASTRACE_STATE, 1, sizeof(struct ras_state));
	part_alloc(test, b, RASTRACE_COUNT,
		   RAS_STATIC_MAJORS * b->cpus * (1 + RAS_NEST_LEVELS),
		   sizeof(struct ras_count));
	part_alloc(test, b, RASTRACE_WHY, RAS_STATIC_MAJORS * b->cpus,
		   sizeof(struct ras_why));
	part_alloc(test, b, RASTRACE_MAJORS, 1, RAS_STATIC_MAJORS);
	*(u32 *)b->parts[RASTRACE_STATE].base = RAS_STATE_ON;
	((u8 *)b->parts[RASTRACE_MAJORS].base)[KUNIT_MAJOR] = 1;
	return 0;
}

/* A hit of CPU 0 with this data */
static int hit_make(struct adopted *b, const void *data, size_t length)
{
	struct hit hit = {
		.buffer = b, .major = KUNIT_MAJOR, .minor = 3,
		.data = data, .length = length,
	};
	int ret;

	preempt_disable();
	ret = hit_record(&hit);
	preempt_enable();
	return ret;
}

static struct ras_slice *main_slice(const struct adopted *b)
{
	return buffer_entry(b, RASTRACE_BUFFER, 0);
}

static struct ras_count *kunit_count(const struct adopted *b, u32 slice)
{
	const struct hit hit = { .buffer = b, .major = KUNIT_MAJOR };

	return count_row(&hit, slice);
}

static u64 kunit_filtered(const struct adopted *b, int kind)
{
	const struct ras_why *why =
		buffer_entry(b, RASTRACE_WHY, KUNIT_MAJOR * b->cpus);

	return why->filtered[kind];
}

static void record_test_written(struct kunit *test)
{
	struct adopted *b = test->priv;
	struct ras_slice *slice = main_slice(b);
	const struct ras_record *record = (const void *)slice->data;

	KUNIT_EXPECT_EQ(test, hit_make(b, "hello", 5), 0);
	KUNIT_EXPECT_EQ(test, slice->head, RAS_RECORD_HEADER + 8ULL);
	KUNIT_EXPECT_EQ(test, slice->records, 1ULL);
	KUNIT_EXPECT_EQ(test, slice->lock, 0ULL);
	KUNIT_EXPECT_EQ(test, record->stamp, KUNIT_KEY);
	KUNIT_EXPECT_EQ(test, record->length, RAS_RECORD_HEADER + 5u);
	KUNIT_EXPECT_EQ(test, record->major, KUNIT_MAJOR);
	KUNIT_EXPECT_EQ(test, record->point, KUNIT_MAJOR);
	KUNIT_EXPECT_EQ(test, record->minor, 3);
	KUNIT_EXPECT_EQ(test, record->pid, current->tgid);
	KUNIT_EXPECT_EQ(test, memcmp(record + 1, "hello", 5), 0);
	KUNIT_EXPECT_TRUE(test, ras_record_valid(record, 0, slice->head,
						 KUNIT_KEY));
	KUNIT_EXPECT_EQ(test, kunit_count(b, 0)->recorded, 1ULL);
}

static void record_test_cut(struct kunit *test)
{
	static const u8 data[RAS_STATIC_DATA_MAX + 1];
	struct adopted *b = test->priv;
	const struct ras_record *record =
		(const void *)main_slice(b)->data;

	KUNIT_EXPECT_EQ(test, hit_make(b, data, sizeof(data)), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, record->flags, RAS_RECORD_CUT);
	KUNIT_EXPECT_EQ(test, record->length,
			RAS_RECORD_HEADER + (u32)RAS_STATIC_DATA_MAX);
}

/* Twice round the ring: nothing is written after the slice's slack. */
static void record_test_wraps(struct kunit *test)
{
	static const u8 data[RAS_STATIC_DATA_MAX];
	struct adopted *b = test->priv;
	struct ras_slice *slice = main_slice(b), *next = (void *)slice +
		b->parts[RASTRACE_BUFFER].stride;
	u64 count = 0;

	while (slice->head < 2 * b->slice_bytes) {
		KUNIT_ASSERT_EQ(test, hit_make(b, data, count % sizeof(data)),
				0);
		count++;
	}
	KUNIT_EXPECT_EQ(test, slice->records, count);
	KUNIT_EXPECT_EQ(test, kunit_count(b, 0)->recorded, count);
	if (b->cpus > 1)
		KUNIT_EXPECT_NULL(test, memchr_inv(next, 0, RAS_SLICE_HEADER));
	slice->head = U64_MAX;		/* damage */
	KUNIT_EXPECT_EQ(test, hit_make(b, data, sizeof(data)), 0);
	if (b->cpus > 1)
		KUNIT_EXPECT_NULL(test, memchr_inv(next, 0, RAS_SLICE_HEADER));
}

static void record_test_nests(struct kunit *test)
{
	struct adopted *b = test->priv;

	main_slice(b)->lock = 1;
	for (u32 level = 0; level < RAS_NEST_LEVELS; level++) {
		struct ras_slice *nest = buffer_entry(b, RASTRACE_NEST, level);

		KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), 0);
		KUNIT_EXPECT_EQ(test, nest->records, 1ULL);
		KUNIT_EXPECT_EQ(test, kunit_count(b, b->cpus + level)->recorded,
				1ULL);
		nest->lock = 1;
	}
	KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, main_slice(b)->dropped, 1ULL);
	KUNIT_EXPECT_EQ(test, kunit_count(b, 0)->dropped, 1ULL);
}

static void record_test_states(struct kunit *test)
{
	struct adopted *b = test->priv;
	u32 *state = b->parts[RASTRACE_STATE].base;

	*state = RAS_STATE_SUSPENDED;
	KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), -EAGAIN);
	KUNIT_EXPECT_EQ(test, kunit_filtered(b, RAS_FILTERED_SUSPENDED), 1ULL);
	*state = RAS_STATE_OFF;
	KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), -ENOENT);
	*state = RAS_STATE_ON;
	((u8 *)b->parts[RASTRACE_MAJORS].base)[KUNIT_MAJOR] = 0;
	KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, main_slice(b)->records, 0ULL);
}

static void record_test_trigger(struct kunit *test)
{
	struct adopted *b = test->priv;
	struct ras_trigger *trigger = b->parts[RASTRACE_TRIGGER].base;

	trigger->state = RAS_TRIGGER_CLAIMED;
	trigger->left = 2;
	KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), 0);
	KUNIT_EXPECT_EQ(test, trigger->left, 2LL);
	trigger->state = RAS_TRIGGER_COUNTING;
	KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), 0);
	KUNIT_EXPECT_EQ(test, trigger->state, (u64)RAS_TRIGGER_COUNTING);
	KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), 0);
	KUNIT_EXPECT_EQ(test, trigger->state, (u64)RAS_TRIGGER_FROZEN);
	KUNIT_EXPECT_EQ(test, hit_make(b, "x", 1), -EAGAIN);
	KUNIT_EXPECT_EQ(test, kunit_filtered(b, RAS_FILTERED_FROZEN), 1ULL);
	KUNIT_EXPECT_EQ(test, main_slice(b)->records, 3ULL);
}

/* The key of a constant major, and of one that isn't; neither was switched. */
static void record_test_off(struct kunit *test)
{
	volatile unsigned int major = KUNIT_MAJOR;

	KUNIT_EXPECT_FALSE(test, rastrace_enabled(KUNIT_MAJOR));
	KUNIT_EXPECT_FALSE(test, rastrace_enabled(major));
	KUNIT_EXPECT_EQ(test, rastrace_write(KUNIT_MAJOR, 1, "x", 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, rastrace_write(major, 1, "x", 1), -ENOENT);
	major = RAS_STATIC_MAJORS;
	KUNIT_EXPECT_EQ(test, rastrace_write(major, 1, "x", 1), -ENOENT);
}

static struct kunit_case record_test_cases[] = {
	KUNIT_CASE(record_test_off),
	KUNIT_CASE(record_test_written),
	KUNIT_CASE(record_test_cut),
	KUNIT_CASE(record_test_wraps),
	KUNIT_CASE(record_test_nests),
	KUNIT_CASE(record_test_states),
	KUNIT_CASE(record_test_trigger),
	{ }
};

static struct kunit_suite record_test_suite = {
	.name = "rastrace_record",
	.init = record_test_init,
	.exit = record_test_exit,
	.test_cases = record_test_cases,
};

kunit_test_suite(record_test_suite);
