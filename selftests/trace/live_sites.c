// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints of this very program with several sites, a return probe, a
 * semaphore, thread-local data, IF, PASSCOUNT, MAXHITS and ONFAULT=CONTINUE:
 * what is recorded is what the program did. What can't be armed is refused by
 * one line that says which tracepoint and why.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <rastrace/rasfile.h>
#include "self_picture.h"
#include "self_tdf.h"
#include "lib/buffer/ring.h"
#include "trace/query/query_read.h"

/* DW_OP_ and numbers of registers */
#define ADDR	0x03
#define EQ	0x29
#define LIT	0x30
#define BREG	0x70
#define BREGX	0x92

#define RECORDS	256

void site_a(uint64_t n);
void site_b(uint64_t n);
void site_c(uint64_t n);
uint64_t returns(uint64_t n);
void with_semaphore(void);
void with_thread(void);
void with_limits(uint64_t n);
void with_condition(uint64_t n);
void with_fault(uint64_t n, const void *p);
#ifdef __x86_64__
#define RETURN_ODD	"lea 1(%rdi,%rdi), %rax\n"
#else
#define RETURN_ODD	"add x0, x0, x0\n add x0, x0, #1\n"
#endif
#define FUNCTION(name, body) \
	".globl " name "\n.type " name ", %function\n" \
	name ": " MACHINE_PUSH MACHINE_POP body "ret\n"
__asm__(".text\n"
	FUNCTION("site_a", "") FUNCTION("site_b", "") FUNCTION("site_c", "")
	FUNCTION("returns", RETURN_ODD)
	FUNCTION("with_semaphore", "") FUNCTION("with_thread", "")
	FUNCTION("with_limits", "") FUNCTION("with_condition", "")
	FUNCTION("with_fault", ""));

static uint64_t global = 0xfeedfacecafebeefULL;
static __thread uint64_t thread_local = 0x1000;
static volatile uint16_t semaphore __attribute__((section(".probes"))) = 0;
/* what a USDT probe says of itself: where it is, no .stapsdt.base, its counter */
__asm__(".pushsection .note.stapsdt, \"\", \"note\"\n"
	".balign 4\n .4byte 8, 2f - 1f, 3\n .asciz \"stapsdt\"\n"
	"1: .8byte with_semaphore, 0, semaphore\n"
	".asciz \"self\"\n .asciz \"probe\"\n .asciz \"\"\n2: .balign 4\n"
	".popsection\n");

enum {
	POINT_SITES, POINT_RETURN, POINT_SEMAPHORE, POINT_THREAD, POINT_LIMITS,
	POINT_CONDITION, POINT_FAULT, POINTS,
};

static struct ras_record *records[RECORDS];
static size_t record_count;

static struct tdf_stmt value(uint8_t flags, uint16_t bytes)
{
	return (struct tdf_stmt){
		.kind = TDF_STMT_VALUE, .flags = flags, .length = bytes,
	};
}

static struct tdf_stmt memory(uint16_t bytes)
{
	return (struct tdf_stmt){ .kind = TDF_STMT_MEM, .length = bytes };
}

static void sites_add(struct self_tdf *tdf)
{
	struct tdf_stmt absent = { .kind = TDF_STMT_ABSENT };
	struct tdf_site *b, *c;

	self_point(tdf);
	self_site(tdf, site_a, MACHINE_PUSH_BYTES);
	self_stmt(tdf, value(0, 8), SELF_RPN(BREG + MACHINE_ARG1, 0));
	self_stmt(tdf, value(0, 2), SELF_RPN(LIT + 10));
	b = self_site(tdf, site_b, MACHINE_PUSH_BYTES);
	self_stmt(tdf, absent, NULL, 0);
	self_stmt(tdf, value(0, 2), SELF_RPN(LIT + 11));
	c = self_site(tdf, site_c, MACHINE_PUSH_BYTES);
	c->first_stmt = b->first_stmt;
	c->stmts = b->stmts;
	c->flags = TDF_SITE_TAIL_CALL;
}

static void return_add(struct self_tdf *tdf, bool with_global)
{
	struct self_place place = self_place(&global);
	uint8_t rpn[9] = { ADDR };

	memcpy(rpn + 1, &place.address, 8);
	self_point(tdf);
	self_site(tdf, returns, MACHINE_PUSH_BYTES)->flags = TDF_SITE_RETURN;
	self_stmt(tdf, value(TDF_STMT_RAW, 8),
		  SELF_RPN(BREG + MACHINE_RESULT, 0));
	if (with_global)
		self_stmt(tdf, memory(8), rpn, sizeof(rpn));
}

static void thread_add(struct self_tdf *tdf)
{
	int64_t offset = (uintptr_t)&thread_local - machine_thread();

	self_point(tdf);
	self_site(tdf, with_thread, MACHINE_PUSH_BYTES);
	self_stmt(tdf, memory(8),
		  SELF_RPN(BREGX, MACHINE_THREAD, (offset & 0x7f) | 0x80,
			   (offset >> 7 & 0x7f) | 0x80, offset >> 14 & 0x7f));
}

static void fault_add(struct self_tdf *tdf)
{
	struct tdf_stmt last = {
		.kind = TDF_STMT_REG, .reg = MACHINE_ARG1, .reg_bytes = 8,
	};

	self_point(tdf)->flags = TDF_POINT_CONTINUE;
	self_site(tdf, with_fault, MACHINE_PUSH_BYTES);
	self_stmt(tdf, memory(8), SELF_RPN(BREG + MACHINE_ARG2, 0));
	self_stmt(tdf, last, NULL, 0);
}

/* with_global: the return probe reads static data. */
static void tdf_write(bool with_global)
{
	static struct self_tdf tdf;
	struct tdf_stmt condition = { .kind = TDF_STMT_IF };
	struct tdf_point *limits;

	self_begin(&tdf);
	sites_add(&tdf);
	return_add(&tdf, with_global);
	self_point(&tdf);
	self_site(&tdf, with_semaphore, MACHINE_PUSH_BYTES)->semaphore =
		self_place((void *)&semaphore).offset;
	thread_add(&tdf);
	limits = self_point(&tdf);
	limits->passcount = 5;
	limits->maxhits = 20;
	self_site(&tdf, with_limits, MACHINE_PUSH_BYTES);
	self_stmt(&tdf, value(0, 8), SELF_RPN(BREG + MACHINE_ARG1, 0));
	self_point(&tdf);
	self_site(&tdf, with_condition, MACHINE_PUSH_BYTES);
	self_stmt(&tdf, condition,
		  SELF_RPN(BREG + MACHINE_ARG1, 0, LIT + 3, EQ));
	self_stmt(&tdf, value(0, 8), SELF_RPN(BREG + MACHINE_ARG1, 0));
	fault_add(&tdf);
	self_write(&tdf);
}

/* ---- what was recorded ---- */

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
		records[record_count] = malloc(record->length);
		memcpy(records[record_count++], record, record->length);
	}
}

static void records_take(void)
{
	struct error err;

	while (record_count)
		free(records[--record_count]);
	if (!self_slices_each(self_run, slice_take, NULL, &err))
		tap_bail("cannot read the buffer: %s", err.text);
}

/* Records of a point at a site (of the point; -1: any) with these flags and
 * these data. */
static unsigned int records_like(int point, int site, unsigned int flags,
				 const void *data, size_t length)
{
	unsigned int found = 0;
	uint32_t first = 0;

	for (size_t i = 0; i < record_count; i++)
		if (records[i]->point < point && records[i]->site >= first)
			first = records[i]->site + 1;
	for (size_t i = 0; i < record_count; i++) {
		const struct ras_record *r = records[i];

		found += r->point == point &&
			 (site < 0 || r->site == first + site) &&
			 r->flags == flags &&
			 r->length == RAS_RECORD_HEADER + length &&
			 !memcmp(r + 1, data, length);
	}
	return found;
}

static unsigned int records_of(int point)
{
	unsigned int found = 0;

	for (size_t i = 0; i < record_count; i++)
		found += records[i]->point == point;
	return found;
}

struct item8 {
	uint8_t status;
	uint16_t length;
	uint64_t value;
} __attribute__((packed));

/* ---- the program's doings ---- */

static void *thread(void *context)
{
	thread_local = 0x2000;
	with_thread();
	return NULL;
}

static void *limits(void *context)
{
	for (uint64_t i = 0; i < 20; i++)
		with_limits(i);
	return NULL;
}

static void doings(void)
{
	pthread_t threads[4];

	site_a(7);
	site_b(8);
	site_c(9);
	for (uint64_t i = 0; i < 3; i++)
		returns(i);
	with_semaphore();
	with_thread();
	pthread_create(&threads[0], NULL, thread, NULL);
	pthread_join(threads[0], NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, limits, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (uint64_t i = 0; i < 6; i++)
		with_condition(i);
	with_fault(0x77, (void *)8);
	with_fault(0x78, &global);
}

static void check_sites(void)
{
	static const uint8_t a[] = { 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0,
				     0, 2, 0, 10, 0 };
	static const uint8_t b[] = { RAS_ITEM_ABSENT, 0, 0, 0, 2, 0, 11, 0 };

	tap_is(records_of(POINT_SITES), 3, "all sites of a point are armed");
	tap_is(records_like(POINT_SITES, 0, 0, a, sizeof(a)), 1,
	       "the first has a variable");
	tap_is(records_like(POINT_SITES, 1, 0, b, sizeof(b)), 1,
	       "the second doesn't");
	tap_is(records_like(POINT_SITES, 2, RAS_RECORD_TAIL_CALL, b, sizeof(b)),
	       1, "the third is a tail call with the second's statements");
}

static void check_return(bool with_global)
{
	tap_is(records_of(POINT_RETURN), 3, "every return is recorded");
	for (uint64_t i = 0; i < 3; i++) {
		struct {
			uint64_t result;
			struct item8 item;
		} __attribute__((packed)) data = {
			2 * i + 1, { RAS_ITEM_VALUE, 8, global },
		};

		tap_is(records_like(POINT_RETURN, -1, 0, &data, with_global ?
				    sizeof(data) : sizeof(data.result)), 1,
		       "return value %llu%s",
		       (unsigned long long)data.result, with_global ?
		       " and static data" : "");
	}
}

static void check_rest(void)
{
	struct item8 first = { MACHINE_THREAD_STATUS, 8, 0x1000 };
	struct item8 second = { MACHINE_THREAD_STATUS, 8, 0x2000 };
	struct item8 three = { RAS_ITEM_VALUE, 8, 3 };
	struct {
		struct item8 item;
		uint64_t reg;
	} __attribute__((packed)) bad = { { RAS_ITEM_FAULT, 8, 8 }, 0x77 },
				  good = { { RAS_ITEM_VALUE, 8, global },
					   0x78 };

	tap_is(records_of(POINT_SEMAPHORE), 1, "at a semaphore's site");
	tap_is(records_like(POINT_THREAD, -1, 0, &first, sizeof(first)), 1,
	       "thread-local data of the main thread");
	tap_is(records_like(POINT_THREAD, -1, 0, &second, sizeof(second)), 1,
	       "thread-local data of another thread");
	tap_is(records_of(POINT_LIMITS), 20, "MAXHITS over all threads");
	tap_is(records_of(POINT_CONDITION), 1, "IF lets one hit pass");
	tap_is(records_like(POINT_CONDITION, -1, 0, &three, sizeof(three)), 1,
	       "the right one");
	tap_is(records_like(POINT_FAULT, -1, RAS_RECORD_FAULT, &bad,
			    sizeof(bad)), 1,
	       "the record goes on after a fault");
	tap_is(records_like(POINT_FAULT, -1, 0, &good, sizeof(good)), 1,
	       "and without one it is as ever");
}

static void figure_check(const struct query_figures *figures, size_t session,
			 int point, unsigned int recorded,
			 unsigned int filtered, unsigned int faults)
{
	const struct figure *f = &figures->sessions[session][point];

	tap_ok(f->recorded == recorded && figure_filtered(f) == filtered &&
	       !f->dropped && figure_faults(f) == faults,
	       "figures of point %d: %llu recorded, %llu filtered, %llu faults",
	       point + 1, (unsigned long long)f->recorded,
	       (unsigned long long)figure_filtered(f),
	       (unsigned long long)figure_faults(f));
}

static void check_figures(void)
{
	struct session_list list;
	struct query_figures figures;
	struct buffer buffer;
	struct error err = { 0 };

	if (buffer_open(&buffer, self_run, false, &err) ||
	    session_list_read(&list, &buffer, self_run, &err) ||
	    query_figures_read(&figures, &buffer, &list, &err))
		tap_bail("cannot read the figures: %s", err.text);
	tap_is(figures.damaged, 0, "nothing is damaged");
	figure_check(&figures, list.count - 1, POINT_SITES, 3, 0, 0);
	figure_check(&figures, list.count - 1, POINT_LIMITS, 20, 60, 0);
	figure_check(&figures, list.count - 1, POINT_CONDITION, 1, 5, 0);
	figure_check(&figures, list.count - 1, POINT_FAULT, 2, 0, 1);
	query_figures_free(&figures);
	session_list_free(&list);
	buffer_close(&buffer);
}

/* Links go in the background. */
static void semaphore_check(const char *name)
{
	for (int i = 0; i < 100 && semaphore; i++)
		usleep(100000);
	tap_is(semaphore, 0, "%s", name);
}

static void attach_test(const char *kind, bool with_global)
{
	char line[256];

	tap_diag("--attach %s", kind);
	semaphore_check("the semaphore is down");
	snprintf(line, sizeof(line), "on --attach %s %s", kind, self_path);
	if (!tap_is(self_trace(line), 0, "armed with %s links", kind))
		return;
	tap_is(semaphore, 1, "the semaphore is up");
	doings();
	records_take();
	check_sites();
	check_return(with_global);
	check_rest();
	check_figures();
	snprintf(line, sizeof(line), "off %s", self_path);
	tap_is(self_trace(line), 0, "off");
	semaphore_check("the semaphore is down again");
	tap_is(self_trace("clear"), 0, "clear");
}

/* `trace on OPTIONS` of what was written: 0, or 1 and the lines that it says,
 * in one. */
static int trace_on(const char *options, char *text, size_t size)
{
	char line[8192], *end;
	FILE *file;

	snprintf(line, sizeof(line), "RASTRACE_RUN=%s %s/trace on %s %s 2>&1",
		 self_run, self_bin, options, self_path);
	file = popen(line, "r");
	text[file ? fread(text, 1, size - 1, file) : 0] = '\0';
	while ((end = strchr(text, '\n')))
		*end = ' ';
	return file && pclose(file);
}

/* Static data at a return probe: not on every kernel. */
static bool global_works(const char *kind)
{
	char options[32], text[512];

	tdf_write(true);
	snprintf(options, sizeof(options), "--attach %s", kind);
	if (!trace_on(options, text, sizeof(text))) {
		self_trace("off --all");
		return true;
	}
	tap_ok(strstr(text, "tracepoint 2 (''): static data can't be read at a return probe"),
	       "refused: %s", text);
	tdf_write(false);
	return false;
}

#define SYMBOL	4100	/* in the strings */

/* What a system call returns, at the kernel's return probe. */
static void check_kernel(void)
{
	static struct self_tdf tdf;
	struct {
		char name[16];		/* of the process: RAS_CONTEXT_NAME */
		uint64_t group;
	} wanted = { .group = getpgid(0) };
	char text[512];

	self_begin(&tdf);
	tdf.module = (struct tdf_module){
		.path = SYMBOL, .name = SYMBOL, .machine = MACHINE_ELF,
		.elf_class = ELFCLASS64, .kind = TDF_MODULE_KERNEL,
	};
	strcpy(tdf.strings + SYMBOL, MACHINE_SYSCALL "getpgid");
	self_point(&tdf);
	*self_site(&tdf, site_a, MACHINE_PUSH_BYTES) = (struct tdf_site){
		.symbol = SYMBOL, .cost = TDF_COST_UNKNOWN,
		.flags = TDF_SITE_RETURN,
	};
	self_stmt(&tdf, value(TDF_STMT_RAW, 8),
		  SELF_RPN(BREG + MACHINE_RESULT, 0));
	self_write(&tdf);
	if (trace_on("", text, sizeof(text))) {
		if (strstr(text, "this kernel has no kprobes"))
			tap_skip("return probe in the kernel", "no kprobes");
		else
			tap_ok(false, "kernel: %s", text);
		return;
	}
	prctl(PR_GET_NAME, wanted.name);
	getpgid(0);
	records_take();
	tap_ok(records_like(0, 0, 0, &wanted, sizeof(wanted)) >= 1,
	       "return probe in the kernel");
	self_trace("off --all");
}

/* The kernel takes one semaphore for an address, or none. */
static void check_semaphores(void)
{
	static struct self_tdf tdf;
	char text[512];

	self_begin(&tdf);
	self_point(&tdf);
	self_site(&tdf, with_semaphore, MACHINE_PUSH_BYTES)->semaphore =
		self_place((void *)&semaphore).offset;
	self_point(&tdf);
	self_site(&tdf, with_semaphore, MACHINE_PUSH_BYTES);
	self_write(&tdf);
	tap_ok(trace_on("", text, sizeof(text)) &&
	       strstr(text, "tracepoint 2 ('')") &&
	       strstr(text, "with another semaphore, or with none"),
	       "refused: %s", text);
	semaphore_check("and the semaphore is down");
}

/* What is no probe's counter is not counted up. */
static void check_no_semaphore(void)
{
	static struct self_tdf tdf;
	char text[512];

	self_begin(&tdf);
	self_point(&tdf);
	self_site(&tdf, with_semaphore, MACHINE_PUSH_BYTES)->semaphore =
		self_place(&global).offset;
	self_write(&tdf);
	tap_ok(trace_on("", text, sizeof(text)) &&
	       strstr(text, "has a semaphore at offset"), "refused: %s", text);
	tap_is(global, 0xfeedfacecafebeefULL, "and its data are left alone");
}

int main(void)
{
	static const char *const kinds[] = { "multi", "perf" };
	bool has_multi;

	self_open();
	tdf_write(false);
	has_multi = self_has_multi();
	for (int i = 0; i < 2; i++) {
		if (i == 0 && !has_multi)
			tap_skip("uprobe_multi links", "this kernel has none");
		else
			attach_test(kinds[i], global_works(kinds[i]));
	}
	check_kernel();
	check_semaphores();
	check_no_semaphore();
	self_close();
	return tap_done();
}
