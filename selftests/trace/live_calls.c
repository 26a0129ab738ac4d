// SPDX-License-Identifier: GPL-2.0
/*
 * CALL and RELEASE points of this very program: of calls inside each other the
 * outermost is recorded, also when one is left by longjmp(), made by a signal's
 * handler, by a jump, in threads and in children.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <rastrace/rasfile.h>
#include "self_picture.h"
#include "self_tdf.h"
#include "lib/buffer/ring.h"

#define RECORDS		16384
#define ENTRY_VALUE	0xa3	/* DW_OP_ and numbers of registers */
#define REG		0x50
#define BREG		0x70
#define NE		0x2e
#define LIT		0x30

uint64_t give(uint64_t n);
uint64_t clear(uint64_t n);
uint64_t jumper(uint64_t n);
uint64_t leaver(uint64_t n);
uint64_t named(uint64_t n);
uint64_t named_array(uint64_t n);
void take(uint64_t block);
void take_jump(uint64_t block);
void take_call(uint64_t block);
uint64_t give_and_take(uint64_t n);
/* What give() does between its beginning and its end */
static void (*volatile inside)(void);
void inside_run(void);

void inside_run(void)
{
	if (inside)
		inside();
}

/* The argument into a register that calls keep, that into the result, with
 * 0x1000 added, or as it is; the result into that and the argument */
#ifdef __x86_64__
#define CALL(to)	"call " to "\n"
#define JUMP(to)	"jmp " to "\n"
#define DO_KEEP		"mov %rdi, %rbx\n"
#define DO_GIVE		"lea 0x1000(%rbx), %rax\n mov $7, %edi\n"
#define DO_KEPT		"mov %rbx, %rax\n"
#define DO_PASS		"mov %rax, %rbx\n mov %rax, %rdi\n"
#define DO_ONE		"mov $1, %eax\n"
#define DO_ODD		"or $1, %rdi\n"
#else
#define CALL(to)	"bl " to "\n"
#define JUMP(to)	"b " to "\n"
#define DO_KEEP		"mov x19, x0\n"
#define DO_GIVE		"add x0, x19, #0x1000\n"
#define DO_KEPT		"mov x0, x19\n"
#define DO_PASS		"mov x19, x0\n"
#define DO_ONE		"mov w0, #1\n"
#define DO_ODD		"orr x0, x0, #1\n"
#endif
#define RETURN		MACHINE_POP "ret\n"
#define FUNCTION(name, body) \
	".globl " name "\n.type " name ", %function\n" \
	name ": " MACHINE_PUSH body
__asm__(".text\n"
	FUNCTION("give", DO_KEEP CALL("inside_run") DO_GIVE RETURN)
	FUNCTION("clear", CALL("give") RETURN)
	FUNCTION("jumper", MACHINE_POP JUMP("clear"))
	FUNCTION("leaver", CALL("inside_run") DO_ONE RETURN)
	FUNCTION("named", DO_ODD CALL("give") RETURN)
	FUNCTION("named_array", MACHINE_POP JUMP("named"))
	FUNCTION("take", RETURN)
	FUNCTION("take_jump", MACHINE_POP JUMP("take"))
	FUNCTION("take_call", CALL("take_jump") RETURN)
	FUNCTION("give_and_take", CALL("give") DO_PASS CALL("take") DO_KEPT
		 RETURN));

/* Minors */
enum {
	GIVE = 1, CLEAR, JUMPER, LEAVER, NAMED, NAMED_ARRAY, TAKE, TAKE_JUMP,
	TAKE_CALL, GIVE_AND_TAKE, MINORS,
};

/* ---- the TDF ---- */

static struct tdf_stmt value(uint8_t flags)
{
	return (struct tdf_stmt){
		.kind = TDF_STMT_VALUE, .flags = flags, .length = 8,
	};
}

/* Without a return probe where `returns` isn't set. */
static void call_add(struct self_tdf *tdf, const void *function,
		     uint16_t level, bool returns)
{
	struct tdf_point *point = self_point(tdf);

	point->flags = TDF_POINT_CALL;
	point->level = level;
	self_site(tdf, function, MACHINE_PUSH_BYTES)->flags = TDF_SITE_CALL;
	if (!returns) {
		self_stmt(tdf, value(TDF_STMT_SIZE),
			  SELF_RPN(BREG + MACHINE_ARG1, 0));
		return;
	}
	self_site(tdf, function, MACHINE_PUSH_BYTES)->flags = TDF_SITE_RETURN;
	self_stmt(tdf, (struct tdf_stmt){ .kind = TDF_STMT_IF },
		  SELF_RPN(BREG + MACHINE_RESULT, 0, LIT, NE));
	self_stmt(tdf, value(TDF_STMT_RAW | TDF_STMT_BLOCK),
		  SELF_RPN(BREG + MACHINE_RESULT, 0));
	self_stmt(tdf, value(TDF_STMT_RAW | TDF_STMT_SIZE),
		  SELF_RPN(ENTRY_VALUE, 1, REG + MACHINE_ARG1));
}

static void release_add(struct self_tdf *tdf, const void *function,
			uint16_t level)
{
	struct tdf_point *point = self_point(tdf);

	point->flags = TDF_POINT_RELEASE;
	point->level = level;
	self_site(tdf, function, MACHINE_PUSH_BYTES);
	self_stmt(tdf, value(TDF_STMT_RAW | TDF_STMT_BLOCK),
		  SELF_RPN(BREG + MACHINE_ARG1, 0));
	self_stmt(tdf, value(TDF_STMT_RAW), SELF_RPN(LIT));
}

static void tdf_write(void)
{
	static struct self_tdf tdf;

	self_begin(&tdf);
	call_add(&tdf, give, 1, true);
	call_add(&tdf, clear, 2, true);
	call_add(&tdf, jumper, 3, true);
	call_add(&tdf, leaver, 2, true);
	call_add(&tdf, named, 4, false);
	call_add(&tdf, named_array, 6, false);
	release_add(&tdf, take, 1);
	release_add(&tdf, take_jump, 4);
	release_add(&tdf, take_call, 6);
	call_add(&tdf, give_and_take, 2, true);
	self_write(&tdf);
}

/* ---- what was recorded ---- */

static struct ras_record *records[RECORDS];
static size_t record_count;
static uint64_t taken_until;	/* time of the last record looked at */

static void slice_take(void *context, const struct ras_slice_copy *copy,
		       uint64_t length, uint64_t key)
{
	struct ring ring = {
		.data = (const void *)(copy + 1), .first = copy->first,
		.head = copy->head,
	};
	struct ring_walk walk = { .position = copy->first };
	const struct ras_record *record;

	while ((record = ring_next(&ring, key, &walk)) &&
	       record_count < RECORDS) {
		if (record->time <= taken_until)
			continue;
		records[record_count] = malloc(record->length);
		memcpy(records[record_count++], record, record->length);
	}
}

static int record_compare(const void *a, const void *b)
{
	const struct ras_record *x = *(void *const *)a, *y = *(void *const *)b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static void records_take(void)
{
	struct error err;

	while (record_count)
		free(records[--record_count]);
	if (!self_slices_each(self_run, slice_take, NULL, &err))
		tap_bail("cannot read the buffer: %s", err.text);
	qsort(records, record_count, sizeof(*records), record_compare);
	if (record_count)
		taken_until = records[record_count - 1]->time;
}

/* "minor:block:size ...", in the order of time, of this process */
static void expect(const char *expected, const char *name)
{
	char text[4096] = "";
	size_t used = 0;

	records_take();
	for (size_t i = 0; i < record_count && used < sizeof(text); i++) {
		uint64_t data[2];

		memcpy(data, records[i] + 1, sizeof(data));
		used += snprintf(text + used, sizeof(text) - used,
				 "%s%u:%lx:%lu", used ? " " : "",
				 records[i]->minor, data[0], data[1]);
	}
	tap_str(text, expected, "%s", name);
}

/* ---- calls inside each other ---- */

static void check_plain(void)
{
	give(5);
	give(6);
	expect("1:1005:5 1:1006:6", "the argument as the call began");
	clear(5);
	expect("2:1005:5", "the outermost of two");
	jumper(9);
	expect("3:1009:9", "of a jump, and a call after it");
	clear(1);
	give(2);
	expect("2:1001:1 1:1002:2", "nothing of it is left");
	give(-0x1000UL);
	give(3);
	expect("1:1003:3", "one that isn't fulfilled leaves nothing");
}

static void check_named(void)
{
	named(4);
	expect("5:1005:4", "named by a function without a return probe");
	named_array(8);
	expect("6:1009:8", "by two of them, of which one jumps");
	named(0);
	give(2);
	expect("5:1001:0 1:1002:2", "one has one name only");
}

static void check_release(void)
{
	take(0x77);
	take(0x77);
	expect("7:77:0 7:77:0", "twice the same is twice");
	take_jump(0x78);
	expect("8:78:0", "by a jump");
	take_call(0x79);
	expect("9:79:0", "by a call, and a jump");
	take_call(0x79);
	take(0x79);
	expect("9:79:0 7:79:0", "and once more from the same frame");
	give_and_take(2);
	expect("10:1002:2", "inside a call");
}

/* ---- calls that are left ---- */

static jmp_buf away;

static void leave(void)
{
	inside = NULL;
	longjmp(away, 1);
}

/* From a frame that is `bytes` deeper */
static __attribute__((noinline)) void deep_give(size_t bytes, uint64_t n)
{
	volatile char *room = __builtin_alloca(bytes);

	room[0] = room[bytes - 1] = 0;
	give(n);
}

static __attribute__((noinline)) void leave_now(void)
{
	inside = leave;
	if (!setjmp(away))
		leaver(1);
}

static void check_left(void)
{
	leave_now();
	give(1);
	expect("1:1001:1", "after longjmp()");
	leave_now();
	deep_give(0x20000, 2);
	expect("1:1002:2", "after longjmp(), from a much deeper frame");
	leave_now();
	take(0x55);
	expect("7:55:0", "a release after longjmp()");
}

static void signal_give(int number)
{
	give(number);
}

static void raise_one(void)
{
	inside = NULL;
	raise(SIGUSR1);
}

static void recurse(void)
{
	static int depth;

	if (depth++ < 20)
		clear(100);
	depth--;
}

static void check_inside(void)
{
	signal(SIGUSR1, signal_give);
	raise(SIGUSR1);
	expect("1:100a:10", "of a handler");
	inside = raise_one;
	give(1);
	expect("1:1001:1", "of a handler inside a call");
	inside = recurse;
	clear(1);
	inside = NULL;
	expect("2:1001:1", "recursion");
	give(3);
	expect("1:1003:3", "and all is over after it");
}

/* ---- threads, children ---- */

#define THREADS	8
#define CALLS	500

static void *thread(void *context)
{
	uint64_t base = (uintptr_t)context << 16;

	for (uint64_t i = 0; i < CALLS; i++) {
		if (i % 4 == 0)
			clear(base + i);
		else if (i % 4 == 1)
			named(base + i);
		else
			give(base + i);
	}
	return NULL;
}

static void check_threads(void)
{
	unsigned int right = 0, minors[MINORS] = { 0 };
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	records_take();
	for (size_t i = 0; i < record_count; i++) {
		uint64_t data[2];

		memcpy(data, records[i] + 1, sizeof(data));
		minors[records[i]->minor]++;
		right += data[0] == 0x1000 + (records[i]->minor == NAMED ?
					      data[1] | 1 : data[1]);
	}
	tap_is(record_count, THREADS * CALLS, "threads: each call once");
	tap_is(right, THREADS * CALLS, "with its own argument");
	tap_is(minors[CLEAR], THREADS * CALLS / 4, "the outer ones");
	tap_is(minors[NAMED], THREADS * CALLS / 4, "the named ones");
}

static void fork_one(void)
{
	inside = NULL;
	if (!fork()) {
		give(0x20);
		_exit(0);
	}
	wait(NULL);
}

static void check_children(void)
{
	if (!fork()) {
		give(0x10);
		clear(0x11);
		_exit(0);
	}
	wait(NULL);
	give(0x12);
	expect("1:1010:16 2:1011:17 1:1012:18", "a child");
	inside = fork_one;
	give(0x21);
	expect("1:1020:32 1:1021:33", "a child that is made inside a call");
}

int main(void)
{
	static const char *const kinds[] = { "multi", "perf" };
	bool has_multi;

	self_open();
	tdf_write();
	has_multi = self_has_multi();
	for (int i = 0; i < 2; i++) {
		char line[512];

		if (!i && !has_multi)
			continue;
		snprintf(line, sizeof(line), "on --max-cpu=off --attach %s %s", kinds[i],
			 self_path);
		tap_diag("%s links", kinds[i]);
		tap_is(self_trace(line), 0, "armed");
		taken_until = 0;
		check_plain();
		check_named();
		check_release();
		check_left();
		check_inside();
		check_threads();
		check_children();
		self_trace("off --all");
	}
	self_close();
	return tap_done();
}
