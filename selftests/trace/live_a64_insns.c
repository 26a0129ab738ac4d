// SPDX-License-Identifier: GPL-2.0
/*
 * What trcust believes of instructions of AArch64 under a uprobe, held against
 * this kernel: each is run from random states without and with a probe. Where a
 * probe may be, it can be put, is hit once each time, and makes no
 * difference; each class of those where none may be has one at least that is
 * refused, changed, or never done with. What is reported to be cheap is cheaper.
 */
#include "tap.h"

#ifndef __aarch64__

int main(void)
{
	tap_skip_all("needs an AArch64 processor");
}

#else

#include <asm/sigcontext.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include "a64_forms.h"
#include "hit_count.h"
#include "lib/debug/arch/arch.h"

#define SLOT_WORDS	32
#define SLOT		(SLOT_WORDS * 4)
#define START		8	/* word of a slot where its form begins */
#define LANDINGS	16	/* words that it may jump to */
#define FORMS_MAX	400
#define STATES		6
#define NZCV		0xf0000000
#define VECTORS		10
#define ALARM		SIGPROF

struct outcome {
	int signal, code;
	uint64_t fault, pc, sp, pstate;
	uint64_t x[31];
	__uint128_t v[VECTORS];
	uint8_t data[4096];
};

enum verdict { FINE, REFUSED, NEVER, OFTEN, CHANGED, NOT_TRIED };

static const char *const verdict_names[] = {
	"fine", "refused", "never hit", "hit too often", "changed", "not tried",
};

struct form {
	const uint32_t *words;
	size_t count, probed;	/* the word that a probe is on */
	struct arch_insn insn;
	char text[80];
	struct outcome plain[STATES];
	bool runs;		/* and comes to the same each time */
	enum verdict verdict;
};

static struct form forms[FORMS_MAX];
static size_t form_count;
static uint32_t *code;
static char path[64];
static uint8_t data[4096] __attribute__((aligned(4096)));

/* What the instruction is run with, and came to. */
static struct outcome state, result;
static uint32_t *slot;
static sigjmp_buf finished;
static volatile bool inside;

static struct fpsimd_context *vectors_of(ucontext_t *uc)
{
	struct _aarch64_ctx *record = (void *)uc->uc_mcontext.__reserved;

	while (record->magic && record->magic != FPSIMD_MAGIC)
		record = (void *)((char *)record + record->size);
	return record->magic ? (struct fpsimd_context *)record : NULL;
}

static void enter(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	struct fpsimd_context *vectors = vectors_of(uc);

	memcpy(uc->uc_mcontext.regs, state.x, sizeof(state.x));
	uc->uc_mcontext.sp = state.sp;
	uc->uc_mcontext.pc = (uintptr_t)(slot + START);
	uc->uc_mcontext.pstate &= ~(uint64_t)NZCV;
	uc->uc_mcontext.pstate |= state.pstate;
	if (vectors)
		memcpy(vectors->vregs, state.v, sizeof(state.v));
	memcpy(data, state.data, sizeof(data));
	inside = true;
}

static void leave(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	struct fpsimd_context *vectors = vectors_of(uc);

	if (!inside && signal == ALARM)
		return;
	inside = false;
	memset(&result, 0, sizeof(result));
	result.signal = signal;
	result.code = info->si_code;
	if (signal == SIGSEGV || signal == SIGBUS)
		result.fault = (uintptr_t)info->si_addr;
	result.pc = uc->uc_mcontext.pc;
	result.sp = uc->uc_mcontext.sp;
	result.pstate = uc->uc_mcontext.pstate & NZCV;
	memcpy(result.x, uc->uc_mcontext.regs, sizeof(result.x));
	if (vectors)
		memcpy(result.v, vectors->vregs, sizeof(result.v));
	memcpy(result.data, data, sizeof(data));
	siglongjmp(finished, 1);
}

static void signals_take(void)
{
	static const int ends[] = {
		SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGSYS, ALARM,
	};
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	stack_t stack = { .ss_size = 1 << 20 };

	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	action.sa_sigaction = leave;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &action, NULL);
	action.sa_sigaction = enter;
	sigaction(SIGUSR1, &action, NULL);
}

/* Numbers, of which some are special. */
static uint64_t number(uint64_t *seed)
{
	static const uint64_t special[] = {
		0, 1, -1, INT64_MIN, INT64_MAX, 0x80000000, 0xffffffff,
	};
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return z % 5 ? z : special[z / 5 % 7];
}

static void state_fill(uint64_t seed)
{
	for (size_t i = 0; i < 31; i++)
		state.x[i] = number(&seed);
	for (size_t i = 0; i < sizeof(data); i += 8)
		*(uint64_t *)(state.data + i) = number(&seed);
	for (size_t i = 0; i < VECTORS; i++)
		state.v[i] = (__uint128_t)number(&seed) << 64 | number(&seed);
	state.x[1] = (uintptr_t)data + 2048;
	state.x[29] = (uintptr_t)data + 3072;
	state.x[2] = seed >> 32 & 0x38;
	state.x[8] = 0x1000;
	state.x[9] = (uintptr_t)(slot + LANDINGS);
	state.x[30] = (uintptr_t)(slot + LANDINGS + 4);
	state.sp = (uintptr_t)data + 1024;
	state.pstate = number(&seed) & NZCV;
}

static void form_run(size_t index, uint64_t seed)
{
	struct itimerval second = { .it_value = { .tv_sec = 1 } };
	struct itimerval none = { 0 };

	slot = code + index * SLOT_WORDS;
	state_fill(index * 1000 + seed);
	setitimer(ITIMER_PROF, &second, NULL);
	if (!sigsetjmp(finished, 1))
		raise(SIGUSR1);
	setitimer(ITIMER_PROF, &none, NULL);
}

static void form_add(const uint32_t *words, size_t count, size_t probed)
{
	struct form *form = &forms[form_count];
	const uint8_t *at = (const uint8_t *)(words + probed);
	const char *why = arch_insn_held(&arch_aarch64, (uint8_t *)words,
					 probed * 4, true);

	if (form_count++ == FORMS_MAX)
		tap_bail("too many forms");
	form->words = words;
	form->count = count;
	form->probed = probed;
	if (arch_insn_decode(&arch_aarch64, at, 4, &form->insn) ||
	    arch_insn_print(&arch_aarch64, at, 4, 0x1000, form->text,
			    sizeof(form->text)))
		tap_bail("form %zu, %08x: doesn't decode", form_count - 1,
			 words[probed]);
	if (why && !form->insn.why) {
		form->insn.user_refused = true;
		form->insn.why = why;
	}
}

/* Words that aren't a form's are breakpoints. */
static void code_make(void)
{
	size_t size;
	uint32_t *words;
	int fd;

	for (size_t i = 0; i < a64_single_count; i++)
		form_add(a64_singles + i, 1, 0);
	for (size_t i = 0; i < a64_loop_count; i++)
		form_add(a64_loops[i], A64_LOOP, 1);
	size = form_count * SLOT;
	words = malloc(size);
	for (size_t i = 0; i < form_count * SLOT_WORDS; i++)
		words[i] = 0xd4200000 | (i % SLOT_WORDS + 1) << 5;
	for (size_t i = 0; i < form_count; i++)
		memcpy(words + i * SLOT_WORDS + START, forms[i].words,
		       forms[i].count * 4);
	strcpy(path, "/tmp/rastrace.code.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, words, size) != (ssize_t)size)
		tap_bail("%s: %s", path, strerror(errno));
	code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
	free(words);
}

static bool is_alike(const struct outcome *a, const struct outcome *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void plain_run(void)
{
	for (size_t i = 0; i < form_count; i++) {
		struct form *form = &forms[i];

		form->runs = true;
		for (size_t s = 0; s < STATES; s++) {
			form_run(i, s);
			form->plain[s] = result;
			form_run(i, s);
			if (!is_alike(&result, &form->plain[s]) ||
			    result.signal == SIGILL || result.signal == ALARM)
				form->runs = false;
		}
	}
}

static const char *difference(const struct outcome *a, const struct outcome *b)
{
	static char text[160];

	if (a->signal != b->signal || a->pc != b->pc || a->fault != b->fault)
		snprintf(text, sizeof(text),
			 "signal %d at %#llx (%#llx), was %d at %#llx (%#llx)",
			 a->signal, (long long)a->pc, (long long)a->fault,
			 b->signal, (long long)b->pc, (long long)b->fault);
	else
		snprintf(text, sizeof(text), "others are:%s%s%s%s",
			 a->sp == b->sp ? "" : " sp",
			 a->pstate == b->pstate ? "" : " flags",
			 memcmp(a->data, b->data, 4096) ? " data" : "",
			 memcmp(a->v, b->v, sizeof(a->v)) ? " vectors" : "");
	for (size_t i = 0; i < 31; i++)
		if (a->x[i] != b->x[i])
			snprintf(text + strlen(text),
				 sizeof(text) - strlen(text),
				 " x%zu (%#llx not %#llx)", i,
				 (long long)a->x[i], (long long)b->x[i]);
	return text;
}

static void form_try(const struct hit_count *h, size_t index)
{
	struct form *form = &forms[index];
	bool changed = false;
	uint64_t hits;

	for (size_t s = 0; s < STATES && !changed && form->runs; s++) {
		form_run(index, s);
		changed = !is_alike(&result, &form->plain[s]);
		if (changed && !form->insn.user_refused)
			tap_diag("%s: %s", form->text,
				 difference(&result, &form->plain[s]));
	}
	hits = hit_count_read(h, index);
	form->verdict = !form->runs ? NOT_TRIED : changed ? CHANGED :
			hits < STATES ? NEVER : hits > STATES ? OFTEN : FINE;
}

static void probe_all(void)
{
	static int links[FORMS_MAX];
	struct hit_count h;

	hit_count_open(&h, path, form_count, 0);
	for (size_t i = 0; i < form_count; i++) {
		uint64_t at = i * SLOT + (START + forms[i].probed) * 4;

		links[i] = hit_count_attach(&h, at, i);
		if (links[i] == -EMFILE || links[i] == -ENOMEM)
			tap_bail("link: %s", strerror(-links[i]));
	}
	for (size_t i = 0; i < form_count; i++)
		if (links[i] < 0)
			forms[i].verdict = REFUSED;
		else
			form_try(&h, i);
	for (size_t i = 0; i < form_count; i++)
		if (links[i] >= 0)
			close(links[i]);
	hit_count_close(&h);
}

static void judge_used(void)
{
	size_t used = 0, wrong = 0;

	for (size_t i = 0; i < form_count; i++) {
		const struct form *form = &forms[i];

		if (form->insn.user_refused || form->verdict == NOT_TRIED)
			continue;
		used++;
		if (form->verdict == FINE)
			continue;
		wrong++;
		tap_diag("%s: %s", form->text, verdict_names[form->verdict]);
	}
	tap_ok(!wrong, "%zu instructions are as they are without a probe",
	       used);
	tap_ok(used > 150, "that is nearly all of them");
}

/* All forms that are refused for the same reason, once. */
static void judge_class(size_t first)
{
	const char *why = forms[first].insn.why;
	size_t tried = 0, deserved = 0;

	for (size_t i = 0; i < form_count; i++) {
		if (!forms[i].insn.user_refused || forms[i].insn.why != why)
			continue;
		if (i < first)
			return;
		tried += forms[i].verdict != NOT_TRIED;
		deserved += forms[i].verdict != NOT_TRIED &&
			    forms[i].verdict != FINE;
		tap_diag("%s: %s", forms[i].text,
			 verdict_names[forms[i].verdict]);
	}
	if (tried)
		tap_ok(deserved, "refused: what %s", why);
	else
		tap_skip(why, "this processor has no such instruction");
}

#define BATCHES		20
#define CALLS		200

/* Nanoseconds of a call, in the fastest batch: others run as well. */
static uint64_t time_calls(void (*function)(void))
{
	uint64_t fastest = UINT64_MAX;
	struct timespec begin, end;

	for (size_t i = 0; i < BATCHES; i++) {
		uint64_t ns;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		for (size_t j = 0; j < CALLS; j++)
			function();
		clock_gettime(CLOCK_MONOTONIC, &end);
		ns = (end.tv_sec - begin.tv_sec) * 1000000000LL +
		     end.tv_nsec - begin.tv_nsec;
		fastest = ns < fastest ? ns : fastest;
	}
	return fastest / CALLS;
}

/* Of a function of two words, the first of which has a probe */
static uint64_t time_word(uint32_t word)
{
	uint32_t words[2] = { word, 0xd65f03c0 }, *page;
	struct hit_count h;
	char file[] = "/tmp/rastrace.time.XXXXXX";
	int link, fd = mkstemp(file);
	uint64_t ns;

	if (fd < 0 || write(fd, words, sizeof(words)) != sizeof(words))
		tap_bail("%s: %s", file, strerror(errno));
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	hit_count_open(&h, file, 1, 0);
	link = hit_count_attach(&h, 0, 0);
	ns = time_calls((void (*)(void))page);
	tap_ok(link >= 0 && hit_count_read(&h, 0) == BATCHES * CALLS,
	       "%08x is hit", word);
	close(link);
	hit_count_close(&h);
	munmap(page, 4096);
	close(fd);
	unlink(file);
	return ns;
}

static void judge_cost(void)
{
	static const uint32_t cheap[] = {
		0x10000000, 0xb4000020, 0x14000001, 0xd65f03c0,
	};
	static const uint32_t slow[] = { 0x91000400, 0xf94003e0, 0xaa0003e0 };
	uint64_t slowest = 0, fastest = UINT64_MAX;

	for (size_t i = 0; i < sizeof(cheap) / sizeof(cheap[0]); i++) {
		uint64_t ns = time_word(cheap[i]);

		slowest = ns > slowest ? ns : slowest;
	}
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		uint64_t ns = time_word(slow[i]);

		fastest = ns < fastest ? ns : fastest;
	}
	tap_ok(slowest < fastest,
	       "simulated takes at most %llu ns, stepped at least %llu",
	       (long long)slowest, (long long)fastest);
}

int main(void)
{
	if (geteuid())
		tap_skip_all("needs root");
	signals_take();
	code_make();
	plain_run();
	probe_all();
	judge_used();
	for (size_t i = 0; i < form_count; i++)
		if (forms[i].insn.user_refused)
			judge_class(i);
	judge_cost();
	unlink(path);
	return tap_done();
}

#endif
