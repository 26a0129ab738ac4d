// SPDX-License-Identifier: GPL-2.0
/*
 * Direct reads never yield a byte that was not at that address while they were
 * under way, whatever happens to the mappings meanwhile. LONG=1: 10^9 reads with
 * KSM and compaction; READS=n: so many.
 *
 * Each word of a page says where it belongs (its slot and place) and which
 * generation it is of. `done` of a slot is the last generation that is wholly in
 * place, `started` the last one of which something may be: a word must be of
 * one between `done` before the read and `started` after it. It may be 0 while
 * these differ. Some programs wait between the walk through the tables and the
 * read of the page, so that most of what can happen does happen there.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <sys/wait.h>
#include "direct_bed.h"

#define PAGE		4096UL
#define PAGE_WORDS	(PAGE / 8)
#define LARGE		(2UL << 20)
#define SLOTS		64
#define AREA		0x200000000000UL	/* slot n is at AREA + n * GAP */
#define GAP		(16 * PAGE)
#define ELSEWHERE	(AREA + (1UL << 32))	/* where pages move to */
#define STAGE		(AREA + (2UL << 32))	/* ... and come from */
#define FOREIGN		0xfefefefefefefefeULL
#define TEXT_BYTES	34
#define KINDS		6			/* of programs */
#define ACTORS		2			/* threads that change slots */

/* What is shared with the programs, in words */
enum {
	AT_DONE = 0, AT_STARTED = AT_DONE + SLOTS,
	AT_ADDRESS = AT_STARTED + SLOTS, AT_TAG = AT_ADDRESS + SLOTS,
	AT_INDEX = AT_TAG + SLOTS,		/* of each word of a page */
	AT_HOT = AT_INDEX + PAGE_WORDS,		/* slots that change now */
	AT_READS = AT_HOT + ACTORS,		/* by slot */
	AT_LEFT = AT_READS + SLOTS, AT_BAD,
	AT_BAD_WORD, AT_BAD_ADDRESS, AT_BAD_DONE, AT_BAD_STARTED,
	AT_TEXT,
	AT_END = AT_TEXT + 16,
};
#define BYTES_AT(word)	(8 * (word))

static struct direct_bed bed;
static volatile bool stop;
static bool is_long, is_short;

/* No byte is 0, so that strings don't end; larger numbers stay larger. */
static uint64_t number_code(uint32_t number)
{
	uint64_t code = 0;

	for (int i = 0; i < 4; i++)
		code |= (uint64_t)((number >> 7 * i & 127) | 128) << 8 * i;
	return code;
}

static uint64_t word_code(int slot, unsigned int index, uint32_t generation)
{
	return bed.map[AT_TAG + slot] << 48 |
	       bed.map[AT_INDEX + index] << 32 | number_code(generation);
}

/* The program: random words of a random slot, verified on the spot. */

/* reg = the map's word with this number, in a register, from `at` on */
static void table_load(struct code *c, int reg, int at, int number)
{
	code_move(c, R1, number);
	code_alu_imm(c, BPF_LSH, R1, 3);
	code_move(c, R2, CONTEXT);
	code_alu(c, BPF_ADD, R2, R1);
	code_load(c, 8, reg, R2, BYTES_AT(at));
}

static void count(struct code *c, int at)
{
	code_const(c, R1, 1);
	code_atomic(c, BPF_ADD, CONTEXT, BYTES_AT(at), R1);
}

struct race {			/* registers */
	int slot, index, address, done, started, tag;
};

static void word_check(struct code *c, const struct race *race, int word,
		       int more, code_label bad)
{
	code_label fine = code_label_new(c), there = code_label_new(c);
	int expected = code_temp_new(c), index = code_copy(c, race->index);

	code_jump_imm(c, BPF_JNE, word, 0, there);
	code_jump_if(c, BPF_JEQ, race->done, race->started, bad);
	code_jump(c, fine);
	code_label_place(c, there);
	code_alu_imm(c, BPF_ADD, index, more);
	code_alu_imm(c, BPF_AND, index, PAGE_WORDS - 1);
	table_load(c, expected, AT_INDEX, index);
	code_move(c, R1, race->tag);
	code_alu_imm(c, BPF_LSH, R1, 16);
	code_alu(c, BPF_OR, R1, expected);
	code_move(c, R2, word);
	code_alu_imm(c, BPF_RSH, R2, 32);
	code_jump_if(c, BPF_JNE, R1, R2, bad);
	code_move(c, R2, word);
	code_zext32(c, R2);
	code_jump_if(c, BPF_JGT, race->done, R2, bad);
	code_jump_if(c, BPF_JLT, race->started, R2, bad);
	code_label_place(c, fine);
}

static void race_begin(struct code *c, struct race *race)
{
	code_label any = code_label_new(c);

	race->slot = code_temp_new(c);
	race->index = code_temp_new(c);
	race->address = code_temp_new(c);
	race->done = code_temp_new(c);
	race->started = code_temp_new(c);
	race->tag = code_temp_new(c);
	code_call(c, BPF_FUNC_get_prandom_u32);
	code_move(c, race->slot, R0);
	code_alu_imm(c, BPF_AND, race->slot, SLOTS - 1);
	code_move(c, race->index, R0);
	code_alu_imm(c, BPF_RSH, race->index, 16);
	code_alu_imm(c, BPF_AND, race->index, PAGE_WORDS - 1);
	code_move(c, R1, R0);
	code_alu_imm(c, BPF_AND, R1, 0x700);
	code_jump_imm(c, BPF_JEQ, R1, 0, any);
	code_alu_imm(c, BPF_RSH, R0, 12);
	code_alu_imm(c, BPF_AND, R0, ACTORS - 1);
	table_load(c, race->slot, AT_HOT, R0);
	code_alu_imm(c, BPF_AND, race->slot, SLOTS - 1);
	code_label_place(c, any);
	table_load(c, race->done, AT_DONE, race->slot);
	table_load(c, race->tag, AT_TAG, race->slot);
	table_load(c, race->address, AT_ADDRESS, race->slot);
	code_move(c, R1, race->index);
	code_alu_imm(c, BPF_LSH, R1, 3);
	code_alu(c, BPF_ADD, race->address, R1);
}

/* Some time passes: `turns` calls. */
static void delay(struct code *c, int turns)
{
	code_label again = code_label_new(c);
	int turn = code_temp_new(c);

	code_const(c, turn, turns);
	code_label_place(c, again);
	code_call(c, BPF_FUNC_get_prandom_u32);
	code_alu_imm(c, BPF_SUB, turn, 1);
	code_jump_imm(c, BPF_JNE, turn, 0, again);
}

struct race_kind {
	uint32_t bytes;
	bool string;		/* of TEXT_BYTES */
	int times;		/* that a test run repeats it */
	int turns;		/* of delay(), between a first read and this one */
};

static int program_make(const struct race_kind *kind)
{
	struct gen_shared shared = { 0 };
	struct code code, *c = &code;
	struct gen gen = { .plan = &bed.plan, .c = c, .shared = &shared };
	struct direct_to to = { .base = kind->string ? CONTEXT : NO_REG };
	uint32_t bytes = kind->bytes;
	struct race race;
	code_label slow, bad;
	int word;

	code_begin(c);
	slow = code_label_new(c);
	bad = code_label_new(c);
	word = code_temp_new(c);
	code_const(c, word, 0);
	code_map_value(c, CONTEXT, bed.map_fd, 0);
	race_begin(c, &race);
	direct_bed_begin(&bed, &gen);
	to.slot = code_slot_new(c, bytes);
	if (kind->turns) {	/* the page is known then */
		direct_read(&gen, &to, 8, race.address, slow);
		delay(c, kind->turns);
		table_load(c, race.done, AT_DONE, race.slot);
	}
	if (kind->string) {
		to.off = BYTES_AT(AT_TEXT);
		for (int at = 0; at < TEXT_BYTES; at += 8)
			code_store_imm(c, 8, CONTEXT, to.off + at, 0);
		direct_string(&gen, &to, TEXT_BYTES, race.address, slow);
		bytes = TEXT_BYTES & ~7u;
	} else {
		direct_read(&gen, &to, bytes, race.address, slow);
	}
	table_load(c, race.started, AT_STARTED, race.slot);
	for (uint32_t at = 0; at < bytes; at += 8) {
		if (kind->string)
			code_load(c, 8, word, CONTEXT, to.off + at);
		else
			code_slot_load(c, 8, word, to.slot, at);
		word_check(c, &race, word, at / 8, bad);
	}
	code_move(c, R1, race.slot);
	code_alu_imm(c, BPF_LSH, R1, 3);
	code_alu(c, BPF_ADD, R1, CONTEXT);
	code_const(c, R2, 1);
	code_atomic(c, BPF_ADD, R1, BYTES_AT(AT_READS), R2);
	code_const(c, R0, 0);
	code_exit(c);
	code_rare_begin(c);
	code_label_place(c, slow);
	count(c, AT_LEFT);
	code_const(c, R0, 0);
	code_exit(c);
	code_rare_end(c);
	code_rare_begin(c);
	code_label_place(c, bad);
	count(c, AT_BAD);
	code_store(c, 8, CONTEXT, BYTES_AT(AT_BAD_WORD), word);
	code_store(c, 8, CONTEXT, BYTES_AT(AT_BAD_ADDRESS), race.address);
	code_store(c, 8, CONTEXT, BYTES_AT(AT_BAD_DONE), race.done);
	code_store(c, 8, CONTEXT, BYTES_AT(AT_BAD_STARTED), race.started);
	code_const(c, R0, 0);
	code_exit(c);
	code_rare_end(c);
	return direct_bed_load(c);
}

/* What happens to the slots. */

struct slot {
	int number;
	uint32_t generation;
	uint64_t *page;
	bool free;		/* the page moved away */
};

static struct slot slots[SLOTS];
static char file_path[64];
static int file_fd;

static void slot_fill(const struct slot *slot, volatile uint64_t *page,
		      uint32_t generation)
{
	for (unsigned int i = 0; i < PAGE_WORDS; i++)
		page[i] = word_code(slot->number, i, generation);
}

static void foreign_fill(volatile uint64_t *page)
{
	for (unsigned int i = 0; i < PAGE_WORDS; i++)
		page[i] = FOREIGN;
}

static uint32_t slot_start(struct slot *slot)
{
	__atomic_store_n(&bed.map[AT_STARTED + slot->number],
			 number_code(++slot->generation), __ATOMIC_SEQ_CST);
	return slot->generation;
}

static void slot_done(const struct slot *slot)
{
	__atomic_store_n(&bed.map[AT_DONE + slot->number],
			 number_code(slot->generation), __ATOMIC_SEQ_CST);
}

static void map_at(void *at, size_t bytes)
{
	if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		 MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		tap_bail("mmap: %s", strerror(errno));
}

/* Other content for what was freed: pages go round */
static void churn(void)
{
	size_t bytes = 8 * PAGE;
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		tap_bail("mmap: %s", strerror(errno));
	memset(pages, FOREIGN & 0xff, bytes);
	munmap(pages, bytes);
}

static void act_unmap(struct slot *slot)
{
	slot_start(slot);
	munmap(slot->page, PAGE);
	if (random() % 2)
		churn();
	map_at(slot->page, PAGE);
	slot_fill(slot, slot->page, slot->generation);
	slot_done(slot);
}

static void act_discard(struct slot *slot)
{
	slot_start(slot);
	madvise(slot->page, PAGE, random() % 2 ? MADV_DONTNEED : MADV_FREE);
	if (random() % 2)
		churn();
	slot_fill(slot, slot->page, slot->generation);
	slot_done(slot);
}

/* Another page takes the place of the one that is there. */
static void act_replace(struct slot *slot)
{
	uint64_t *stage = (void *)(STAGE + slot->number * GAP);

	map_at(stage, PAGE);
	slot_fill(slot, stage, slot->generation + 1);
	slot_start(slot);
	mremap(stage, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, slot->page);
	slot_done(slot);
}

/* The page moves away and is overwritten there, by the thread that waits for it as
 * well. */
static void act_move(struct slot *slot)
{
	uint64_t *elsewhere = (void *)(ELSEWHERE + slot->number * GAP);

	slot_start(slot);
	mremap(slot->page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
	       elsewhere);
	foreign_fill(elsewhere);
	map_at(slot->page, PAGE);
	slot_fill(slot, slot->page, slot->generation);
	slot_done(slot);
	munmap(elsewhere, PAGE);
}

static void act_protect(struct slot *slot)
{
	mprotect(slot->page, PAGE, PROT_NONE);
	mprotect(slot->page, PAGE, PROT_READ);
	mprotect(slot->page, PAGE, PROT_READ | PROT_WRITE);
	slot_start(slot);
	slot_fill(slot, slot->page, slot->generation);
	slot_done(slot);
}

/* The child writes to its copies, we to ours. */
static void act_fork(struct slot *slot)
{
	pid_t child = fork();

	if (!child) {
		for (int turn = 0; turn < 3; turn++)
			for (int i = 0; i < SLOTS; i++)
				if (slots[i].number % 8 == slot->number % 8)
					foreign_fill(slots[i].page);
		_exit(0);
	}
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].number % 8 == slot->number % 8) {
			slot_start(&slots[i]);
			slot_fill(&slots[i], slots[i].page,
				  slots[i].generation);
			slot_done(&slots[i]);
		}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* Two pages become one while they are equal, and two again when one is written. */
static void act_merge(struct slot *slot)
{
	uint64_t *twin = slot->page + PAGE_WORDS;

	slot_start(slot);
	slot_fill(slot, slot->page, slot->generation);
	slot_done(slot);
	slot_fill(slot, twin, slot->generation);
	if (is_long)
		usleep(random() % 20000);
	foreign_fill(twin);
}

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

/* All slots of the kind are in one huge page that comes and goes. */
static void act_huge(struct slot *slot)
{
	void *area = (void *)((uintptr_t)slot->page & ~(LARGE - 1));

	madvise(area, LARGE, MADV_COLLAPSE);
	slot_start(slot);
	if (random() % 2) {
		madvise(slot->page, PAGE, MADV_DONTNEED);
	} else {
		mprotect(slot->page, PAGE, PROT_READ);
		mprotect(slot->page, PAGE, PROT_READ | PROT_WRITE);
	}
	slot_fill(slot, slot->page, slot->generation);
	slot_done(slot);
}

/* Out to swap, if there is any, or to its file; and in again. */
static void act_pageout(struct slot *slot)
{
	madvise(slot->page, PAGE, MADV_PAGEOUT);
	churn();
	if (random() % 2)
		(void)*(volatile uint64_t *)slot->page;
	slot_start(slot);
	slot_fill(slot, slot->page, slot->generation);
	slot_done(slot);
}

static void act_truncate(struct slot *slot)
{
	off_t at = slot->number * PAGE;
	uint64_t words[PAGE_WORDS];

	slot_start(slot);
	fallocate(file_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at,
		  PAGE);
	churn();
	slot_fill(slot, words, slot->generation);
	if (pwrite(file_fd, words, PAGE, at) != PAGE)
		tap_bail("cannot write '%s': %s", file_path, strerror(errno));
	(void)*(volatile uint64_t *)slot->page;
	slot_done(slot);
}

static const struct act {
	const char *name;
	void (*run)(struct slot *slot);
	bool in_file, is_slow;
} acts[8] = {		/* slot n has the one with number n % 8 */
	{ "munmap, replaced", act_unmap },
	{ "mremap", act_move },
	{ "mprotect", act_protect },
	{ "fork and copy on write", act_fork, .is_slow = true },
	{ "KSM", act_merge, .is_slow = true },
	{ "huge pages", act_huge, .is_slow = true },
	{ "page out", act_pageout },
	{ "files", act_truncate, .in_file = true },
};

static void slots_make(void)
{
	char *huge;

	snprintf(file_path, sizeof(file_path), "/tmp/direct_race.%d",
		 getpid());
	file_fd = open(file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file_fd < 0 || ftruncate(file_fd, SLOTS * PAGE))
		tap_bail("cannot make '%s': %s", file_path, strerror(errno));
	unlink(file_path);
	huge = (void *)(AREA + LARGE * 64);
	map_at(huge, LARGE);
	madvise(huge, LARGE, MADV_HUGEPAGE);
	memset(huge, 1, LARGE);
	for (int i = 0; i < SLOTS; i++) {
		const struct act *act = &acts[i % 8];
		struct slot *slot = &slots[i];

		slot->number = i;
		slot->page = act->run == act_huge ?
			(void *)(huge + i * PAGE) : (void *)(AREA + i * GAP);
		bed.map[AT_ADDRESS + i] = (uintptr_t)slot->page;
		bed.map[AT_TAG + i] = number_code(i) & 0xffff;
		if (act->in_file)
			mmap(slot->page, PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED, file_fd, i * PAGE);
		else if (act->run != act_huge)
			map_at(slot->page, 2 * PAGE);
		if (act->run == act_merge)
			madvise(slot->page, 2 * PAGE, MADV_MERGEABLE);
		slot_start(slot);
	}
	for (unsigned int i = 0; i < PAGE_WORDS; i++)
		bed.map[AT_INDEX + i] = number_code(i) & 0xffff;
	for (int i = 0; i < SLOTS; i++) {
		slot_fill(&slots[i], slots[i].page, slots[i].generation);
		slot_done(&slots[i]);
	}
}

static void *actor(void *context)
{
	unsigned int first = *(const unsigned int *)context;

	while (!stop) {
		struct slot *slot = &slots[random() % SLOTS / 2 * 2 + first];
		const struct act *act = &acts[slot->number % 8];

		if (act->is_slow && random() % 32)
			continue;
		bed.map[AT_HOT + first] = slot->number;
		if (act->run == act_unmap && random() % 3)
			(random() % 2 ? act_replace : act_discard)(slot);
		else
			act->run(slot);
	}
	return NULL;
}

static __thread sigjmp_buf fault_jump;

static void fault_take(int signal)
{
	siglongjmp(fault_jump, signal);
}

/* Writes to where pages move, from the moment on at which they are there. */
static void *waiter(void *context)
{
	volatile unsigned int number = 0;

	(void)context;
	while (!stop) {
		number = (number + 8) % SLOTS;
		if (!sigsetjmp(fault_jump, 1))
			foreign_fill((void *)(ELSEWHERE + (number | 1) * GAP));
	}
	return NULL;
}

static void *compactor(void *context)
{
	(void)context;
	while (!stop) {
		int fd = open("/proc/sys/vm/compact_memory",
			      O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, "1", 1) < 0)
			stop = stop;
		if (fd >= 0)
			close(fd);
		usleep(50000);
	}
	return NULL;
}

static void ksm_set(const char *name, const char *value)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/mm/ksm/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		tap_diag("KSM: %s", strerror(errno));
	close(fd);
}

static uint64_t reads_sum(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < SLOTS; i++)
		sum += bed.map[AT_READS + i];
	return sum;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void race_run(uint64_t most, double seconds)
{
	static const struct race_kind kinds[] = {
		{ 8, .times = 20000 }, { 64, .times = 20000 },
		{ 24, .times = 20000 }, { 8, .times = 20000, .string = true },
		{ 8, .times = 5000, .turns = 100 },
		{ 64, .times = 200, .turns = 3000 },
	};
	int programs[KINDS];
	double end = now() + seconds;

	for (int i = 0; i < KINDS; i++)
		programs[i] = program_make(&kinds[i]);
	while (!bed.map[AT_BAD] && reads_sum() < most && now() < end)
		for (int i = 0; i < KINDS; i++) {
			int times = kinds[i].times / (is_short ? 4 : 1);
			int code = direct_bed_run(programs[i], is_long &&
						  !kinds[i].turns ?
						  10 * times : times);

			if (code < 0 && code != -EINTR)
				tap_bail("a test run fails: %s",
					 strerror(-code));
		}
	for (int i = 0; i < KINDS; i++)
		close(programs[i]);
}

int main(void)
{
	const char *text = getenv("READS");
	uint64_t most = text ? strtoull(text, NULL, 0) : 0;
	static unsigned int even = 0, odd = 1;
	pthread_t threads[4];
	int count = 0;

	is_long = getenv("LONG") || most;
	text = getenv("RASTRACE_SHORT");
	is_short = text && *text && !is_long;
	if (!most)
		most = is_long ? 1000000000 : UINT64_MAX;
	direct_bed_open(&bed, BYTES_AT(AT_END));
	slots_make();
	signal(SIGSEGV, fault_take);
	if (is_long) {
		ksm_set("sleep_millisecs", "0");
		ksm_set("pages_to_scan", "1000");
		ksm_set("run", "1");
		pthread_create(&threads[count++], NULL, compactor, NULL);
	}
	pthread_create(&threads[count++], NULL, actor, &even);
	pthread_create(&threads[count++], NULL, actor, &odd);
	pthread_create(&threads[count++], NULL, waiter, NULL);
	/* a slow machine needs longer for the first */
	for (int i = 0; i < 10 && !reads_sum(); i++)
		race_run(most, is_long ? 1e9 : 2);
	stop = true;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (is_long)
		ksm_set("run", "0");
	for (int kind = 0; kind < 8; kind++) {
		uint64_t reads = 0, generations = 0;

		for (int i = kind; i < SLOTS; i += 8) {
			reads += bed.map[AT_READS + i];
			generations += slots[i].generation;
		}
		if (!reads && !is_long) {
			tap_skip(acts[kind].name, "too slow for a direct read");
			continue;
		}
		tap_ok(reads > 0 && generations > 8,
		       "%s: %llu direct reads, %llu changes", acts[kind].name,
		       (unsigned long long)reads,
		       (unsigned long long)generations);
	}
	tap_diag("%llu direct reads, %llu left",
		 (unsigned long long)reads_sum(),
		 (unsigned long long)bed.map[AT_LEFT]);
	if (!tap_is(bed.map[AT_BAD], 0, "words that were not there"))
		tap_diag("%#llx at %#llx, done %#llx, started %#llx",
			 (unsigned long long)bed.map[AT_BAD_WORD],
			 (unsigned long long)bed.map[AT_BAD_ADDRESS],
			 (unsigned long long)bed.map[AT_BAD_DONE],
			 (unsigned long long)bed.map[AT_BAD_STARTED]);
	return tap_done();
}
