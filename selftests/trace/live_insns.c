// SPDX-License-Identifier: GPL-2.0
/*
 * What trcust believes of instructions under a uprobe, held against this
 * kernel: each form of instruction is run from random states without and with
 * a probe. Where a probe may be, it can be put, is hit once each time, and
 * makes no difference; each class of those where none may be has one at
 * least that is refused, changed, never hit, or hit too often.
 *
 * In guests it is a part of the forms, unless RASTRACE_INSNS_ALL is set.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include "hit_count.h"
#include "insns_list.h"
#include "rastrace/tdf.h"
#include "arch_x86.h"

#define SHOWN		20	/* forms of a kind that are named */
#define USED_MIN	50

enum verdict {
	FINE,
	REFUSED,		/* by the kernel */
	NEVER,			/* hit */
	OFTEN,			/* hit more than once each time */
	CHANGED,
	KILLED,
	NOT_TRIED,
	VERDICTS
};

static const char *const verdict_names[] = {
	"fine", "refused", "never hit", "hit too often", "changed", "killed",
	"not tried",
};

struct subject {
	const struct insns_form *form;
	struct arch_insn insn;
	char text[80];
	enum verdict verdict;
	bool below;		/* data below the stack pointer differ */
	uint64_t hits, cycles;
	char how[120];
};

struct suite {
	const char *runner;
	struct corpus corpus;
	struct subject *subjects;
	struct insns_result *results, *plain, *again;
	char code[64], forms[64], outcome[64];
	int to, from;		/* the runner */
	pid_t pid;
	struct hit_count hits;
	int *links;
	uint64_t stepped;	/* cycles of most that are stepped */
};

static size_t result_bytes(const struct suite *s)
{
	return s->corpus.count * INSNS_STATES * sizeof(*s->results);
}

static void suite_collect(struct suite *s, uint8_t elf_class, size_t room)
{
	static const char *const files[][10] = {
		{ "/lib/x86_64-linux-gnu/libc.so.6",
		  "/lib/x86_64-linux-gnu/libm.so.6",
		  "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		  "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		  "/lib/x86_64-linux-gnu/libz.so.1",
		  "/usr/lib/x86_64-linux-gnu/libdw.so.1",
		  "/usr/lib/x86_64-linux-gnu/libZydis.so.4.0", "/bin/bash",
		  "/bin/busybox", },
		{ "/lib32/libc.so.6", "/lib32/ld-linux.so.2",
		  "/lib32/libm.so.6", },
	};

	corpus_begin(&s->corpus, elf_class, room);
	list_add(&s->corpus);
	for (size_t i = 0; i < 10 && files[elf_class == ELFCLASS32][i]; i++)
		corpus_add_file(&s->corpus, files[elf_class == ELFCLASS32][i]);
}

static void subject_find(struct suite *s, size_t index)
{
	struct subject *subject = &s->subjects[index];
	ZydisFormatter formatter;
	struct corpus_insn insn;

	subject->form = &s->corpus.forms[index];
	if (arch_insn_decode(x86_of(s->corpus.elf_class), subject->form->bytes,
			     subject->form->length, &subject->insn) ||
	    !corpus_decode(&s->corpus, subject->form->bytes,
			   subject->form->length, &insn))
		tap_bail("form %zu doesn't decode any more", index);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterFormatInstruction(&formatter, &insn.zi, insn.operands,
					insn.zi.operand_count_visible,
					subject->text, sizeof(subject->text),
					INSNS_CODE + index * INSNS_SLOT, NULL);
}

/* Distances show when the jump isn't where it was put. */
static void jump_put(uint8_t *slot, size_t at, uint64_t from, uint64_t to)
{
	uint32_t distance = to - (from + at + 5);

	slot[at] = 0xe9;
	memcpy(slot + at + 1, &distance, 4);
}

static void slot_fill(uint8_t *slot, const struct insns_form *form,
		      uint64_t address)
{
	memset(slot, 0xcc, INSNS_SLOT);
	memcpy(slot, form->bytes, form->length);
	jump_put(slot, form->length, address, INSNS_EXITS);
	jump_put(slot, INSNS_JUMPED, address, INSNS_EXITS + 5);
}

static int file_make(char *path, const char *name, const void *bytes,
		     size_t size)
{
	int fd;

	sprintf(path, "/tmp/rastrace.%s.XXXXXX", name);
	fd = mkstemp(path);
	if (fd < 0 || (bytes && write(fd, bytes, size) != (ssize_t)size) ||
	    ftruncate(fd, size))
		tap_bail("%s: %s", path, strerror(errno));
	return fd;
}

static void suite_write(struct suite *s)
{
	size_t size = s->corpus.count * INSNS_SLOT;
	uint8_t *code = malloc(size);
	int fd;

	for (size_t i = 0; i < s->corpus.count; i++)
		slot_fill(code + i * INSNS_SLOT, &s->corpus.forms[i],
			  INSNS_CODE + i * INSNS_SLOT);
	close(file_make(s->code, "code", code, size));
	close(file_make(s->forms, "forms", s->corpus.forms,
			s->corpus.count * sizeof(*s->corpus.forms)));
	fd = file_make(s->outcome, "results", NULL, result_bytes(s));
	s->results = mmap(NULL, result_bytes(s), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	s->plain = malloc(result_bytes(s));
	s->again = malloc(result_bytes(s));
	if (s->results == MAP_FAILED || !s->plain || !s->again)
		tap_bail("out of memory");
	close(fd);
	free(code);
}

static void runner_path(const struct suite *s, char path[4096 + 16])
{
	ssize_t length = readlink("/proc/self/exe", path, 4096);

	if (length < 0)
		tap_bail("/proc/self/exe: %s", strerror(errno));
	path[length] = 0;
	strcpy(strrchr(path, '/') + 1, s->runner);
}

/* The runner has the code mapped, so that the kernel looks at what it is to
 * probe as code of that width. */
static void runner_start(struct suite *s)
{
	int to[2], from[2];
	char path[4096 + 16];

	if (pipe(to) || pipe(from))
		tap_bail("pipe: %s", strerror(errno));
	runner_path(s, path);
	s->pid = fork();
	if (!s->pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		execl(path, s->runner, s->code, s->forms, s->outcome, NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	s->to = to[1];
	s->from = from[0];
}

static void runner_run(struct suite *s)
{
	char byte = 'r';

	memset(s->results, 0, result_bytes(s));
	if (write(s->to, &byte, 1) != 1 || read(s->from, &byte, 1) != 1)
		tap_bail("%s has ended", s->runner);
}

static void suite_end(struct suite *s)
{
	int status;

	close(s->to);
	close(s->from);
	waitpid(s->pid, &status, 0);
	unlink(s->code);
	unlink(s->forms);
	unlink(s->outcome);
}

/* Without uprobe_multi links (before 6.6) each takes 80 ms to remove. */
static bool is_left_out(const struct suite *s, size_t index)
{
	return !s->hits.multi && !s->subjects[index].insn.user_refused &&
	       index % 4 && !getenv("RASTRACE_INSNS_ALL");
}

static void subject_attach(struct suite *s, size_t index)
{
	struct subject *subject = &s->subjects[index];
	int link = -1;

	if (is_left_out(s, index))
		subject->verdict = NOT_TRIED;
	if (subject->verdict != NOT_TRIED) {
		link = hit_count_attach(&s->hits, index * INSNS_SLOT, index);
		if (link == -EMFILE || link == -ENOMEM)
			tap_bail("link: %s", strerror(-link));
		if (link < 0) {
			subject->verdict = REFUSED;
			snprintf(subject->how, sizeof(subject->how),
				 "errno %d", -link);
		}
	}
	s->links[index] = link;
}

static void subject_detach(struct suite *s, size_t index)
{
	if (s->links[index] >= 0)
		close(s->links[index]);
}

/* What waits for all CPUs, the kernel does for many together. */
#define WORKERS	64

struct worker {
	pthread_t thread;
	struct suite *suite;
	size_t first;
	void (*work)(struct suite *s, size_t index);
};

static void *worker_run(void *context)
{
	const struct worker *worker = context;

	for (size_t i = worker->first; i < worker->suite->corpus.count;
	     i += WORKERS)
		worker->work(worker->suite, i);
	return NULL;
}

static void work_all(struct suite *s, void (*work)(struct suite *s,
						   size_t index))
{
	struct worker workers[WORKERS];

	for (size_t i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){
			.suite = s, .first = i, .work = work,
		};
		if (pthread_create(&workers[i].thread, NULL, worker_run,
				   &workers[i]))
			tap_bail("no thread");
	}
	for (size_t i = 0; i < WORKERS; i++)
		pthread_join(workers[i].thread, NULL);
}

static void suite_attach(struct suite *s)
{
	hit_count_open(&s->hits, s->code, s->corpus.count, 0);
	s->links = calloc(s->corpus.count, sizeof(*s->links));
	work_all(s, subject_attach);
}

static void suite_detach(struct suite *s)
{
	for (size_t i = 0; i < s->corpus.count; i++)
		s->subjects[i].hits = hit_count_read(&s->hits, i) -
				      s->subjects[i].hits;
	work_all(s, subject_detach);
	hit_count_close(&s->hits);
	free(s->links);
}

/*
 * What a state came to, as numbers that have names.
 */
enum { FIELD_EXIT, FIELD_SIGNAL, FIELD_CODE, FIELD_FAULT, FIELD_IP, FIELD_FLAGS,
       FIELD_SSE, FIELD_DATA, FIELD_KEPT, FIELD_REGISTER, FIELDS = 25 };

static const char *const field_names[FIELDS] = {
	"exit", "signal", "si_code", "si_addr", "ip", "flags", "sse", "data",
	"data above", "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8",
	"r9", "r10", "r11", "r12", "r13", "r14", "r15",
};

static uint64_t field_get(const struct insns_result *r, int field)
{
	const uint64_t values[] = {
		r->exit, r->signal, r->code, r->fault, r->ip, r->flags, r->sse,
		r->data, r->data_kept,
	};

	return field < FIELD_REGISTER ? values[field] :
					r->registers[field - FIELD_REGISTER];
}

static bool field_varies(const struct suite *s, size_t index, int field)
{
	if (s->corpus.forms[index].varies && field >= FIELD_SSE)
		return true;
	for (size_t i = index * INSNS_STATES; i < (index + 1) * INSNS_STATES;
	     i++)
		if (field_get(&s->plain[i], field) !=
		    field_get(&s->again[i], field))
			return true;
	return false;
}

/*
 * A call to an address that isn't canonical: some processors store the return
 * address before they raise the exception. The stack pointer keeps its value,
 * so the word is free; a copied call stores the address after the copy.
 */
static bool is_failed_call(const struct suite *s, size_t result,
			   const struct subject *subject)
{
	return subject->insn.flow == ARCH_FLOW_CALL && s->plain[result].signal;
}

static void field_compare(struct suite *s, size_t index, int field)
{
	struct subject *subject = &s->subjects[index];

	for (size_t i = index * INSNS_STATES; i < (index + 1) * INSNS_STATES;
	     i++) {
		uint64_t plain = field_get(&s->plain[i], field);
		uint64_t probed = field_get(&s->results[i], field);

		if (plain == probed)
			continue;
		if (field == FIELD_DATA &&
		    s->plain[i].data_kept == s->results[i].data_kept) {
			subject->below |= !is_failed_call(s, i, subject);
			continue;
		}
		subject->verdict = CHANGED;
		snprintf(subject->how, sizeof(subject->how),
			 "%s %#llx, was %#llx", field_names[field],
			 (unsigned long long)probed,
			 (unsigned long long)plain);
		return;
	}
}

/* The least that a hit took, which no other program has disturbed */
static void cycles_take(struct suite *s, size_t index)
{
	const struct insns_result *first = &s->results[index * INSNS_STATES];
	struct subject *subject = &s->subjects[index];

	for (int i = INSNS_STATES / 2; i < INSNS_STATES; i++)
		if (!subject->cycles || first[i].cycles < subject->cycles)
			subject->cycles = first[i].cycles;
}

/* A run with probes, for its times alone: what is hit then is not counted. */
static void suite_time(struct suite *s)
{
	runner_run(s);
	for (size_t i = 0; i < s->corpus.count; i++) {
		cycles_take(s, i);
		s->subjects[i].hits = hit_count_read(&s->hits, i);
	}
}

static void subject_judge(struct suite *s, size_t index)
{
	struct subject *subject = &s->subjects[index];
	const struct insns_result *first = &s->results[index * INSNS_STATES];

	if (subject->verdict != FINE)
		return;
	if (first->exit == INSNS_DIED) {
		subject->verdict = KILLED;
		snprintf(subject->how, sizeof(subject->how), "signal %u",
			 first->signal);
		return;
	}
	for (int field = 0; field < FIELDS && subject->verdict == FINE; field++)
		if (!field_varies(s, index, field))
			field_compare(s, index, field);
	if (subject->verdict != FINE)
		return;
	if (subject->hits != INSNS_STATES) {
		subject->verdict = subject->hits < INSNS_STATES ? NEVER : OFTEN;
		snprintf(subject->how, sizeof(subject->how), "%llu hits of %d",
			 (unsigned long long)subject->hits, INSNS_STATES);
	}
	cycles_take(s, index);
}

static void subject_show(const struct subject *subject)
{
	char bytes[64] = "";

	for (int i = 0; i < subject->form->length; i++)
		sprintf(bytes + strlen(bytes), "%02x ",
			subject->form->bytes[i]);
	tap_diag("%s%s: %s%s%s", bytes, subject->text,
		 verdict_names[subject->verdict], subject->how[0] ? ", " : "",
		 subject->how);
}

static int cycles_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Most are stepped. */
static uint64_t cycles_of_steps(const struct suite *s)
{
	uint64_t *cycles = calloc(s->corpus.count + 1, sizeof(*cycles)), middle;
	size_t count = 0;

	for (size_t i = 0; i < s->corpus.count; i++)
		if (s->subjects[i].cycles)
			cycles[count++] = s->subjects[i].cycles;
	qsort(cycles, count, sizeof(*cycles), cycles_compare);
	middle = cycles[count / 2];
	free(cycles);
	return middle;
}

static void suite_run(struct suite *s)
{
	s->subjects = calloc(s->corpus.count, sizeof(*s->subjects));
	for (size_t i = 0; i < s->corpus.count; i++)
		subject_find(s, i);
	suite_write(s);
	runner_start(s);
	runner_run(s);
	memcpy(s->plain, s->results, result_bytes(s));
	runner_run(s);
	memcpy(s->again, s->results, result_bytes(s));
	for (size_t i = 0; i < s->corpus.count; i++)
		if (s->plain[i * INSNS_STATES].exit == INSNS_DIED ||
		    s->again[i * INSNS_STATES].exit == INSNS_DIED)
			s->subjects[i].verdict = NOT_TRIED;
	suite_attach(s);
	suite_time(s);
	runner_run(s);
	suite_detach(s);
	suite_end(s);
	for (size_t i = 0; i < s->corpus.count; i++)
		subject_judge(s, i);
	s->stepped = cycles_of_steps(s);
}

/* Those that aren't as they should be; the first are named. */
static size_t count_bad(const struct suite *s,
			bool (*is_bad)(const struct suite *s,
				       const struct subject *subject))
{
	size_t bad = 0;

	for (size_t i = 0; i < s->corpus.count; i++)
		if (is_bad(s, &s->subjects[i]) && bad++ < SHOWN)
			subject_show(&s->subjects[i]);
	return bad;
}

static bool is_harmed(const struct suite *s, const struct subject *subject)
{
	return !subject->insn.user_refused && subject->verdict != FINE &&
	       subject->verdict != NOT_TRIED;
}

static bool writes_below(const struct suite *s, const struct subject *subject)
{
	return !subject->insn.user_refused && subject->below &&
	       subject->insn.cost != TDF_COST_NOP5;
}

static bool is_cheap(const struct suite *s, const struct subject *subject)
{
	return subject->cycles < s->stepped / 2;
}

/* Kernels before 6.16 know the nop of one byte only. */
static bool nops_are_emulated(const struct suite *s)
{
	for (size_t i = 0; i < s->corpus.count; i++)
		if (!memcmp(s->subjects[i].form->bytes, "\x0f\x1f\x00", 3))
			return is_cheap(s, &s->subjects[i]);
	return false;
}

static bool is_dear(const struct suite *s, const struct subject *subject)
{
	bool expected = subject->insn.cost != TDF_COST_STEPPED;

	return !subject->insn.user_refused && subject->verdict == FINE &&
	       subject->cycles && expected != is_cheap(s, subject) &&
	       !(expected && subject->insn.padding && !nops_are_emulated(s));
}

static void suite_check(const struct suite *s)
{
	int bits = s->corpus.elf_class == ELFCLASS64 ? 64 : 32;
	size_t used = 0, below = 0;

	for (size_t i = 0; i < s->corpus.count; i++) {
		const struct subject *subject = &s->subjects[i];

		used += !subject->insn.user_refused &&
			subject->verdict != NOT_TRIED;
		below += subject->below;
	}
	tap_is(count_bad(s, is_harmed), 0,
	       "%zu instructions of %d bits: probed or not, the same", used,
	       bits);
	tap_ok(used >= USED_MIN, "which are %d at least", USED_MIN);
	tap_is(count_bad(s, writes_below), 0,
	       "below the stack pointer %zu write, nops of 5 bytes", below);
	if (getenv("RASTRACE_GUEST"))
		tap_skip("what they cost", "emulated CPUs have other costs");
	else
		tap_is(count_bad(s, is_dear), 0,
		       "what they cost (stepped: %llu cycles)",
		       (unsigned long long)s->stepped);
}

/*
 * Classes that can't show on each machine that they deserve to be refused.
 */
static const struct {
	const char *why, *where;
} elsewhere[] = {
	{ "begins a transaction, which a uprobe would end",
	  "CPUs that have transactions" },
	{ "raises invalid opcode", "kprobes: a copy isn't in the table of BUG()" },
	{ "is a system instruction", "CPUs with UMIP" },
};

#define ELSEWHERE	(sizeof(elsewhere) / sizeof(elsewhere[0]))
#define CLASSES		32

struct tally {
	const char *why;
	size_t count[VERDICTS];
};

static void tally_add(struct tally *tallies, const struct suite *s)
{
	for (size_t i = 0; i < s->corpus.count; i++) {
		const struct subject *subject = &s->subjects[i];
		struct tally *t = tallies;

		if (!subject->insn.user_refused)
			continue;
		while (t->why && strcmp(t->why, subject->insn.why))
			t++;
		t->why = subject->insn.why;
		t->count[subject->verdict]++;
	}
}

static void tally_check(const struct tally *tally)
{
	size_t bad = 0;

	for (int i = REFUSED; i <= KILLED; i++)
		bad += tally->count[i];
	for (size_t i = 0; i < ELSEWHERE; i++)
		if (!bad && !strcmp(tally->why, elsewhere[i].why)) {
			tap_skip(tally->why, elsewhere[i].where);
			return;
		}
	tap_ok(bad, "%s: %zu fine, %zu refused, %zu never hit, "
	       "%zu too often, %zu changed, %zu kill", tally->why,
	       tally->count[FINE], tally->count[REFUSED], tally->count[NEVER],
	       tally->count[OFTEN], tally->count[CHANGED],
	       tally->count[KILLED]);
}

static bool runner_is_there(const struct suite *s)
{
	char path[4096 + 16];

	runner_path(s, path);
	return !access(path, X_OK);
}

int main(void)
{
	static struct tally tallies[CLASSES + 1];
	struct rlimit limit = { 65536, 65536 };
	bool few = getenv("RASTRACE_GUEST") && !getenv("RASTRACE_INSNS_ALL");

	if (geteuid())
		tap_skip_all("needs root");
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int narrow = 0; narrow < 2; narrow++) {
		struct suite suite = { .runner = narrow ? "insns32" : "insns" };

		if (!runner_is_there(&suite)) {
			tap_skip(suite.runner, "the compiler can't make it");
			continue;
		}
		suite_collect(&suite, narrow ? ELFCLASS32 : ELFCLASS64,
			      few ? CORPUS_GUEST : CORPUS_MAX);
		suite_run(&suite);
		suite_check(&suite);
		tally_add(tallies, &suite);
	}
	for (const struct tally *tally = tallies; tally->why; tally++)
		tally_check(tally);
	return tap_done();
}
