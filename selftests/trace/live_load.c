// SPDX-License-Identifier: GPL-2.0
/*
 * More threads than CPUs hit two tracepoints of this very program, the buffer
 * is far too small, and pictures of it are taken all the while: every record
 * in them is whole, and at the end the figures add up to the hits that the
 * threads have counted.
 */
#include <pthread.h>
#include <time.h>
#include <rastrace/rasfile.h>
#include "self_picture.h"
#include "self_tdf.h"
#include "lib/buffer/ring.h"
#include "trace/query/query_read.h"

#define THREADS		6
#define SECONDS		1.5
#define PATIENCE	30	/* seconds more, for as many pictures: */
#define PICTURES	3
#define POINTS		2
#define FACTOR		0x9e3779b97f4a7c15ULL
#define MEMORY		96
#define BREG		0x70	/* DW_OP_breg0 */

struct payload {
	uint64_t words[MEMORY / 8];
};

/* The probed instruction of `hit_cheap` is emulated, that of `hit_mov` is
 * single-stepped; both pass the arguments on. */
void hit_cheap(uint64_t n, const struct payload *p, const char *s);
void hit_mov(uint64_t n, const struct payload *p, const char *s);
#ifdef __x86_64__
#define CHEAP		"push %rbp\n pop %rbp\n ret\n"
#define CHEAP_BYTES	1
#define MOV		"mov %rdi, %rax\n ret\n"
#define MOV_BYTES	3
#else
#define CHEAP		"adr x9, .\n ret\n"
#define CHEAP_BYTES	4
#define MOV		"mov x9, x0\n ret\n"
#define MOV_BYTES	4
#endif
__asm__(".text\n"
	".globl hit_cheap\n.type hit_cheap, %function\n"
	"hit_cheap: " CHEAP
	".globl hit_mov\n.type hit_mov, %function\n"
	"hit_mov: " MOV);

static volatile bool stop;
static uint64_t hits[THREADS][POINTS];

static void point_add(struct self_tdf *tdf, void *function, int length)
{
	static const struct tdf_stmt stmts[] = {
		{ .kind = TDF_STMT_REG, .reg = MACHINE_ARG1, .reg_bytes = 8 },
		{ .kind = TDF_STMT_MEM, .length = MEMORY },
		{ .kind = TDF_STMT_ASCIIZ, .length = 40 },
	};

	self_point(tdf);
	self_site(tdf, function, length);
	self_stmt(tdf, stmts[0], NULL, 0);
	self_stmt(tdf, stmts[1], SELF_RPN(BREG + MACHINE_ARG2, 0));
	self_stmt(tdf, stmts[2], SELF_RPN(BREG + MACHINE_ARG3, 0));
}

static void tdf_write(void)
{
	static struct self_tdf tdf;

	self_begin(&tdf);
	point_add(&tdf, hit_cheap, CHEAP_BYTES);
	point_add(&tdf, hit_mov, MOV_BYTES);
	self_write(&tdf);
}

/* ---- the load ---- */

static void payload_fill(struct payload *p, char *s, uint64_t n)
{
	for (size_t i = 0; i < MEMORY / 8; i++)
		p->words[i] = (n + i) * FACTOR;
	sprintf(s, "<%016llx>", (unsigned long long)(n * FACTOR));
	s[2 + n % 16] = '\0';
}

static void *hammer(void *context)
{
	uint64_t *count = context;
	struct payload p;
	char s[32];

	for (uint64_t n = (count - hits[0]) << 40; !stop; n++) {
		payload_fill(&p, s, n);
		hit_cheap(n, &p, s);
		count[0]++;
		if (n & 7)
			continue;
		hit_mov(n, &p, s);
		count[1]++;
	}
	return NULL;
}

/* What the record says of itself: n in its register decides all the rest. */
static bool record_whole(const struct ras_record *record)
{
	const uint8_t *data = (const uint8_t *)(record + 1);
	struct payload p;
	uint64_t n;
	char s[32];
	size_t length;

	memcpy(&n, data, sizeof(n));
	payload_fill(&p, s, n);
	length = strlen(s);
	return record->major == SELF_MAJOR && record->point < POINTS &&
	       record->minor == record->point + 1 &&
	       record->site == record->point &&
	       record->pid == (uint32_t)getpid() &&
	       record->length == RAS_RECORD_HEADER + 8 + 3 + MEMORY + 3 +
	       length && data[8] == RAS_ITEM_VALUE && data[9] == MEMORY &&
	       !data[10] && !memcmp(data + 11, &p, MEMORY) &&
	       data[11 + MEMORY] == RAS_ITEM_STRING &&
	       data[12 + MEMORY] == length &&
	       !memcmp(data + 14 + MEMORY, s, length);
}

struct census {
	uint64_t records, torn, damaged, gaps, backwards;
};

static void slice_check(void *context, const struct ras_slice_copy *copy,
			uint64_t length, uint64_t key)
{
	struct census *census = context;
	struct ring ring = {
		.data = (const void *)(copy + 1), .first = copy->first,
		.head = copy->head,
	};
	struct ring_walk walk = { .position = copy->first };
	const struct ras_record *record;
	uint32_t next[POINTS];
	bool seen[POINTS] = { false };
	uint64_t time = 0;

	if (copy->head - copy->first != length)
		census->damaged++;
	while ((record = ring_next(&ring, key, &walk))) {
		census->records++;
		if (!record_whole(record)) {
			census->torn++;
			continue;
		}
		census->gaps += seen[record->point] &&
				next[record->point] != record->seq;
		seen[record->point] = true;
		next[record->point] = record->seq + 1;
		census->backwards += record->time < time;
		time = record->time;
	}
	census->damaged += walk.damaged;
}

static bool picture_check(struct census *census)
{
	struct error err;

	return self_slices_each(self_run, slice_check, census, &err);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Pictures while the threads run; in the middle it is suspended. */
static unsigned int load_run(struct census *census)
{
	double end = now() + SECONDS;
	unsigned int pictures = 0;
	pthread_t threads[THREADS];

	memset(hits, 0, sizeof(hits));
	stop = false;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hammer, hits[i]);
	/* how many that is depends on what else runs on the machine */
	while (now() < end || (pictures < PICTURES && now() < end + PATIENCE))
		pictures += picture_check(census);
	tap_is(self_trace("suspend"), 0, "suspend");
	usleep(50000);
	tap_is(self_trace("resume"), 0, "resume");
	usleep(50000);
	stop = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return pictures;
}

/* ---- the figures ---- */

static void point_check(const struct figure *f, int point)
{
	uint64_t count = 0;

	for (int i = 0; i < THREADS; i++)
		count += hits[i][point];
	tap_is(figure_hits(f), count,
	       "point %d: hits = recorded + filtered + dropped", point + 1);
	tap_is(f->present + f->overwritten, f->recorded,
	       "point %d: recorded = present + overwritten", point + 1);
	tap_is(figure_filtered(f), f->why.filtered[RAS_FILTERED_SUSPENDED],
	       "point %d: nothing is filtered but when suspended", point + 1);
	tap_ok(figure_filtered(f) && f->overwritten > f->present,
	       "point %d: suspended hits are filtered, the buffer wrapped",
	       point + 1);
	tap_is(figure_faults(f), 0, "point %d: no faults", point + 1);
	tap_diag("point %d: %llu hits, %llu recorded, %llu present, %llu filtered, %llu dropped",
		 point + 1, (unsigned long long)count,
		 (unsigned long long)f->recorded,
		 (unsigned long long)f->present,
		 (unsigned long long)figure_filtered(f),
		 (unsigned long long)f->dropped);
}

static void figures_check(void)
{
	struct session_list list;
	struct query_figures figures;
	struct buffer buffer;
	struct error err = { 0 };

	if (buffer_open(&buffer, self_run, false, &err) ||
	    session_list_read(&list, &buffer, self_run, &err) ||
	    query_figures_read(&figures, &buffer, &list, &err))
		tap_bail("cannot read the figures: %s", err.text);
	tap_is(figures.damaged, 0, "nothing damaged, counters fit the records");
	for (int i = 0; i < POINTS; i++)
		point_check(&figures.sessions[list.count - 1][i], i);
	query_figures_free(&figures);
	session_list_free(&list);
	buffer_close(&buffer);
}

static void attach_test(const char *kind)
{
	struct census census = { 0 };
	char line[256];
	unsigned int pictures;

	tap_diag("--attach %s", kind);
	snprintf(line, sizeof(line),
		 "on --max-cpu=off --buffer 64K --attach %s %s", kind,
		 self_path);
	if (!tap_is(self_trace(line), 0, "armed with %s links", kind))
		return;
	pictures = load_run(&census);
	tap_ok(pictures >= PICTURES && census.records > 500,
	       "%u pictures of %llu records were taken meanwhile", pictures,
	       (unsigned long long)census.records);
	tap_is(census.torn, 0, "every record is whole");
	tap_is(census.damaged, 0, "between records there is nothing");
	tap_is(census.gaps, 0, "sequence numbers have no gaps");
	tap_is(census.backwards, 0, "time doesn't run backwards");
	figures_check();
	snprintf(line, sizeof(line), "off %s", self_path);
	tap_is(self_trace(line), 0, "off");
	figures_check();
	tap_is(self_trace("clear"), 0, "clear");
}

int main(void)
{
	self_open();
	tdf_write();
	if (self_has_multi())
		attach_test("multi");
	else
		tap_skip("uprobe_multi links", "this kernel has none");
	attach_test("perf");
	self_close();
	return tap_done();
}
