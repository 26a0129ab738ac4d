// SPDX-License-Identifier: GPL-2.0
/*
 * This process's own stacks, by tables made of its own files, equal to what
 * backtrace(3) finds at the same place: through frames of all kinds, libc's
 * callers and signals.
 */
#include <alloca.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gelf.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <bpf/bpf.h>
#include "bpf/bed.h"
#include "lib/arm/unwind.h"

#define DEPTH	TDF_STACK_MAX
#define RUNS	2000

#pragma GCC optimize("omit-frame-pointer")

static struct bed bed;
static struct unwind_state *unwind;
static struct unwind_fds fds;
static struct body_heap heap;
static int program;

/* Instruction, stack and frame pointer, as of here */
#ifdef __x86_64__
#define INPUT_IP	bed.input.regs.rip
#define INPUT_SP	bed.input.regs.rsp
#define INPUT_FP	bed.input.regs.rbp
#define HERE()								\
	asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2" : \
		     "=r"(INPUT_IP), "=r"(INPUT_SP), "=r"(INPUT_FP))
#else
#define INPUT_IP	bed.input.x[BED_PC]
#define INPUT_SP	bed.input.x[BED_SP]
#define INPUT_FP	bed.input.x[29]
#define HERE()								\
	asm volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\t"	\
		     "mov %3, x30" : "=r"(INPUT_IP), "=r"(INPUT_SP),	\
		     "=r"(INPUT_FP), "=r"(bed.input.x[30]))
#endif

struct found {
	uint64_t addresses[DEPTH];
	int count, end;
};

static bool found_read(const struct bed *b, uint64_t position,
		       struct found *found)
{
	const struct ras_record *r;
	const uint8_t *item;
	uint16_t length;

	r = (const void *)(bed_slice(b)->data +
			   (position & (b->target.slice_bytes - 1)));
	item = (const void *)(r + 1);
	memcpy(&length, item + 1, 2);
	found->end = item[3];
	found->count = (length - 2) / 8;
	memcpy(found->addresses, item + 5, length - 2);
	return bed_slice(b)->head != position &&
	       RAS_ITEM_KIND(item[0]) == RAS_ITEM_STACK;
}

/* The kernel's view of a stack that begins with these registers */
static bool run(struct found *found)
{
	uint64_t position = bed_slice(&bed)->head;

	bed_input(&bed);
	bed_run(program);
	return found_read(&bed, position, found);
}

static bool load(int depth)
{
	bed_clear(&bed);
	bed.site.symbol_offset = 4;
	bed_memory(&bed, TDF_STMT_STACK, depth, NULL, 0);
	program = bed_load(&bed);
	if (program < 0)
		tap_diag("%s", bed.log);
	return program >= 0;
}

static void found_print(const struct found *found, void **expected, int count)
{
	for (int i = 0; i < found->count || i < count; i++)
		tap_diag("%2d %#14llx %#14llx", i, i < found->count ?
			 (long long)found->addresses[i] : 0,
			 i < count ? (long long)(uintptr_t)expected[i] : 0);
	tap_diag("end %d", found->end);
}

static void compare(const char *name, void **expected, int count)
{
	struct found found;
	bool same = run(&found);

	if (count > DEPTH)
		count = DEPTH;
	same = same && found.count == count;
	for (int i = 0; same && i < count; i++)
		same = found.addresses[i] == (uintptr_t)expected[i];
	same = same && found.end == (count == DEPTH ? RAS_STACK_DEPTH :
				     RAS_STACK_OUTERMOST);
	tap_ok(same, "%s (%d frames)", name, count);
	if (!same)
		found_print(&found, expected, count);
}

/* Here: ours begins with the caller, backtrace's with this function. */
static __attribute__((noinline)) void look(const char *name)
{
	void *expected[DEPTH + 2];
	int count;

	HERE();
	count = backtrace(expected, DEPTH + 2);
	compare(name, expected + 1, count - 1);
	asm volatile("");
}

/* The compiler trusts raise() not to call back. */
static const char *volatile name_now;

#define BARRIER()	asm volatile("" ::: "memory")

static __attribute__((noinline)) int recurse(int depth)
{
	volatile char room[32 * depth + 1];

	room[0] = depth;
	if (depth)
		recurse(depth - 1);
	else
		look(name_now);
	BARRIER();
	return room[0];
}

/* AArch64's rows have no room for its distance from the address to return to,
 * unless they are in a frame record. */
#ifdef __aarch64__
__attribute__((optimize("no-omit-frame-pointer")))
#endif
static __attribute__((noinline)) void big(void)
{
	volatile char room[3 << 20];

	room[0] = 1;
	look("3 MiB in a frame");
	BARRIER();
	room[1] = room[0];
}

static __attribute__((noinline)) void realigned(size_t bytes)
{
	volatile char aligned[64] __attribute__((aligned(256)));
	volatile char *room = alloca(bytes);

	aligned[0] = room[0] = 1;
	look("a realigned stack");
	BARRIER();
	room[0] = aligned[0];
}

static __attribute__((noinline, optimize("no-omit-frame-pointer")))
void framed(void)
{
	name_now = "with and without frame pointers";
	recurse(2);
	BARRIER();
}

/* The call is the last instruction, the next function's first follows. */
static __attribute__((noinline, noreturn)) void last(void)
{
	look("from a function that doesn't return");
	pthread_exit(NULL);
}

static void *thread(void *arg)
{
	look("a thread");
	last();
}

static int order(const void *a, const void *b)
{
	if (name_now)
		look(name_now);
	name_now = NULL;
	BARRIER();
	return *(const int *)a - *(const int *)b;
}

static void walk(const void *node, VISIT visit, int depth)
{
	order(&depth, &depth);
	BARRIER();
}

static void callbacks(void)
{
	int numbers[] = { 3, 1, 2, 7, 5 }, key = 2;
	void *root = NULL;

	name_now = "called back by qsort";
	qsort(numbers, 5, sizeof(int), order);
	name_now = "called back by bsearch";
	bsearch(&key, numbers, 5, sizeof(int), order);
	name_now = NULL;
	tsearch(&numbers[0], &root, order);
	name_now = "called back by twalk";
	twalk(root, walk);
	tdelete(&numbers[0], &root, order);
}

static void handler(int number)
{
	look(name_now);
	BARRIER();
}

/* An instruction that is interrupted is the first of its function; in front of
 * it another function's frame is bigger. */
void interrupted(void);
#ifdef __x86_64__
#define CONTEXT_IP	gregs[REG_RIP]
#define CONTEXT_SKIP	2
asm(".text\n"
    "	.cfi_startproc\n"
    "	sub $64, %rsp\n"
    "	.cfi_adjust_cfa_offset 64\n"
    "	ud2\n"
    "	.cfi_endproc\n"
    "interrupted:\n"
    "	.cfi_startproc\n"
    "	ud2\n"
    "	ret\n"
    "	.cfi_endproc\n");
#else
#define CONTEXT_IP	pc
#define CONTEXT_SKIP	4
asm(".text\n"
    "	.cfi_startproc\n"
    "	sub sp, sp, #64\n"
    "	.cfi_adjust_cfa_offset 64\n"
    "	udf #0\n"
    "	.cfi_endproc\n"
    "interrupted:\n"
    "	.cfi_startproc\n"
    "	udf #0\n"
    "	ret\n"
    "	.cfi_endproc\n");
#endif

static void illegal(int number, siginfo_t *info, void *context)
{
	ucontext_t *ucontext = context;

	look("interrupted where a function begins");
	ucontext->uc_mcontext.CONTEXT_IP += CONTEXT_SKIP;
}

static void interrupt(void)
{
	struct sigaction action = {
		.sa_sigaction = illegal, .sa_flags = SA_SIGINFO,
	};

	sigaction(SIGILL, &action, NULL);
	interrupted();
	BARRIER();
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = handler };
	stack_t other = { .ss_sp = malloc(1 << 17), .ss_size = 1 << 17 };

	sigaction(SIGUSR1, &action, NULL);
	name_now = "in a signal handler";
	raise(SIGUSR1);
	sigaltstack(&other, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	name_now = "in one on a stack of its own";
	raise(SIGUSR1);
	free(other.ss_sp);
}

/* What libc calls of ours: the allocator */
void *__libc_realloc(void *block, size_t size);
void *__libc_malloc(size_t size);
static bool watched;

void *realloc(void *block, size_t size)
{
	void *moved;

	if (watched) {
		watched = false;
		look(name_now);
	}
	moved = __libc_realloc(block, size);
	BARRIER();
	return moved;
}

void *malloc(size_t size)
{
	void *block;

	if (watched) {
		watched = false;
		look(name_now);
	}
	block = __libc_malloc(size);
	BARRIER();
	return block;
}

static void library(void)
{
	char *line = NULL;
	size_t room = 0;
	FILE *file;

	name_now = "libc's fopen allocates";
	watched = true;
	file = fopen("/proc/self/maps", "r");
	name_now = "libc's getline allocates";
	watched = true;
	if (getline(&line, &room, file) <= 0)
		tap_diag("no line");
	fclose(file);
	free(line);
}

/* Without tables: the code's frame pointers, or the stack says why not. */
static void missing(void)
{
	struct found found;

	HERE();
	INPUT_IP = 0x10000;
	INPUT_FP = 77;
	tap_ok(run(&found) && !found.count &&
	       found.end == RAS_STACK_NO_TABLE, "code that has no table");
	unwind_drop_process(unwind, getpid());
	HERE();
	INPUT_FP = 77;
	tap_ok(run(&found) && !found.count &&
	       found.end == RAS_STACK_NO_TABLE, "a process that has none");
	unwind_add_process(unwind, getpid(), NULL);
}

/* All rows that are remembered get another CFA, and another space or the same. */
static unsigned int cache_change(uint32_t generation, int cfa)
{
	unsigned int changed = 0;
	int cpus = libbpf_num_possible_cpus();
	struct unwind_cached *rows = calloc(cpus, sizeof(*rows));

	for (uint32_t i = 0; rows && i < UNWIND_CACHE; i++) {
		if (bpf_map_lookup_elem(fds.cache, &i, rows))
			break;
		for (int cpu = 0; cpu < cpus; cpu++) {
			changed += rows[cpu].pc != 0;
			rows[cpu].space.generation += generation;
			rows[cpu].row.cfa += cfa;
		}
		bpf_map_update_elem(fds.cache, &i, rows, BPF_ANY);
	}
	free(rows);
	return changed;
}

static void cached(void)
{
	struct found found;

	tap_ok(cache_change(0, 8) > 3, "rows are remembered");
	HERE();
	tap_ok(run(&found) && found.end != RAS_STACK_OUTERMOST,
	       "and what is remembered is used");
	cache_change(0, -8);
	cache_change(1, 8);
	look("not if it is of other mappings");
	look("it is found anew");
}

/* What frame pointers lead to: the frames of code that has no table. */
static void records(void)
{
	static const uint64_t returns[] = { 0x20000, 0x30000, 0x40000 };
	struct { uint64_t next, address; } frames[3];
	struct found found;

	for (int i = 0; i < 3; i++) {
		frames[i].next = i < 2 ? (uintptr_t)&frames[i + 1] : 0;
		frames[i].address = returns[i];
	}
	INPUT_IP = 0x10000;
	INPUT_SP = INPUT_FP = (uintptr_t)&frames[0];
	tap_ok(run(&found) && found.count == 3 &&
	       !memcmp(found.addresses, returns, sizeof(returns)) &&
	       found.end == RAS_STACK_OUTERMOST, "by frame pointers");
	INPUT_SP += 8;
	tap_ok(run(&found) && !found.count &&
	       found.end == RAS_STACK_NO_TABLE,
	       "not by one that is in front of the stack");
}

#ifdef __x86_64__
/* Its section header, in the program's own file */
static bool plt_find(uint64_t *start, uint64_t *end)
{
	Elf *elf;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;
	bool found = false;
	int fd = open("/proc/self/exe", O_RDONLY);

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (!found && !elf_getshdrstrndx(elf, &names) &&
	       (scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &sh))
		found = !strcmp(elf_strptr(elf, names, sh.sh_name), ".plt");
	if (found) {
		*start = sh.sh_addr + getauxval(AT_PHDR) - 64;
		*end = *start + sh.sh_size;
	}
	elf_end(elf);
	close(fd);
	return found;
}

/* An entry of the PLT jumps, or pushes a number after 11 bytes and jumps. */
static void plt(void)
{
	uint64_t stack[] = { 0x20000, 0x30000 }, start, end;
	struct found found;
	int wrong = 0;

	if (!plt_find(&start, &end) || end - start < 32) {
		tap_skip("in the PLT", "it has none");
		return;
	}
	for (uint64_t ip = start + 16; ip < end; ip++) {
		INPUT_IP = ip;
		INPUT_SP = (uintptr_t)stack;
		INPUT_FP = 0;
		wrong += !run(&found) || found.count != 1 ||
			 found.addresses[0] != stack[ip % 16 >= 11];
	}
	tap_ok(!wrong, "in the PLT (%d places)", (int)(end - start - 16));
}
#endif

/* Of a program: ns per run, where the kernel reports it */
static uint64_t cost(int depth)
{
	struct bpf_prog_info before = { 0 }, after = { 0 };
	uint32_t size = sizeof(before);

	close(program);
	if (!load(depth) || bpf_obj_get_info_by_fd(program, &before, &size))
		return 0;
	HERE();
	bed_input(&bed);
	for (int i = 0; i < RUNS; i++)
		bed_run(program);
	bpf_obj_get_info_by_fd(program, &after, &size);
	return after.run_cnt > before.run_cnt ?
		(after.run_time_ns - before.run_time_ns) /
		(after.run_cnt - before.run_cnt) : 0;
}

static __attribute__((noinline)) void measure(int depth)
{
	volatile char room[64 + depth];

	room[0] = depth;
	if (depth) {
		measure(depth - 1);
	} else {
		int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
		uint64_t one = cost(1), many = cost(17);

		tap_diag("%llu ns for one frame, %llu for each one more",
			 (long long)one, (long long)(many - one) / 16);
		close(stats);
	}
	BARRIER();
	room[1] = room[0];
}

static void forked(bool copied, const char *what)
{
	pid_t child = fork();
	int status;

	if (!child) {
		if (copied)
			unwind_copy_process(unwind, getppid(), getpid());
		look(what);
		_exit(tap_failures);
	}
	waitpid(child, &status, 0);
	unwind_drop_process(unwind, child);
	tap_count++;
	tap_failures += WEXITSTATUS(status);
}

static void *ended(void *arg)
{
	return arg;
}

/* A child inherits its parent's segments, and nothing reads its maps. */
static void followed(void)
{
	struct unwind_space space;
	struct error err;
	pthread_t id;
	pid_t child;

	tap_ok(!unwind_follow(unwind, &err), "children inherit");
	forked(false, "a child has its parent's at once");
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	tap_ok(!bpf_map_lookup_elem(fds.spaces, &(uint32_t){ child },
				    &space) && space.segments,
	       "they are there until somebody drops them");
	unwind_drop_process(unwind, child);
	tap_is(bpf_map_lookup_elem(fds.spaces, &(uint32_t){ child },
				   &space), -ENOENT,
	       "and then gone");
	pthread_create(&id, NULL, ended, NULL);
	pthread_join(id, NULL);
	look("a thread changes nothing");
}

int main(void)
{
	struct error err;
	pthread_t id;

	bed_open(&bed, BODY_TEST);
	bed.module.machine = MACHINE_ELF;
	if (unwind_maps_make(&fds, 1 << 20, false, &err) ||
	    unwind_open(&unwind, &fds, &err))
		tap_bail("%s", err.text);
	heap = (struct body_heap) {
		.calls_fd = -1, .blocks_fd = -1, .owners_fd = -1,
		.rows_fd = fds.rows,
		.segments_fd = fds.segments, .spaces_fd = fds.spaces,
		.cache_fd = fds.cache, .asks_fd = -1,
	};
	bed.target.heap = &heap;
	backtrace((void *[1]){ NULL }, 1);
	if (unwind_add_process(unwind, getpid(), &err))
		tap_bail("%s", err.text);
	if (!load(DEPTH))
		tap_bail("cannot load");
	look("straight");
	cached();
	name_now = "recursion";
	recurse(5);
	name_now = "as deep as asked for";
	recurse(40);
	big();
	realigned(100);
	framed();
	callbacks();
	signals();
	interrupt();
	library();
	pthread_create(&id, NULL, thread, NULL);
	pthread_join(id, NULL);
	missing();
	records();
#ifdef __x86_64__
	plt();
#endif
	forked(true, "a child has its parent's");
	followed();
	measure(20);
	return tap_done();
}
