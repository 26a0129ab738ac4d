// SPDX-License-Identifier: GPL-2.0
/*
 * More threads than CPUs hit two tracepoints of this very program, the buffer
 * is far too small, and pictures of it are taken all the while: every record
 * in them is whole, and at the end the figures add up to the hits that the
 * threads have counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <rastrace/rasfile.h>
#include "tap.h"
#include "usr/lib/hash.h"
#include "usr/lib/identity.h"
#include "usr/lib/ring.h"
#include "usr/lib/snapshot.h"
#include "usr/lib/tdf.h"
#include "usr/trace/figures.h"

#define THREADS		6
#define SECONDS		1.5
#define POINTS		2
#define MAJOR		0xc5
#define FACTOR		0x9e3779b97f4a7c15ULL
#define MEMORY		96

struct payload {
	uint64_t words[MEMORY / 8];
};

/* The probed instruction of `hit_push` is emulated, that of `hit_mov` is
 * single-stepped; both pass the arguments on. */
void hit_push(uint64_t n, const struct payload *p, const char *s);
void hit_mov(uint64_t n, const struct payload *p, const char *s);
__asm__(".text\n"
	".globl hit_push\n.type hit_push,@function\n"
	"hit_push: push %rbp\n pop %rbp\n ret\n"
	".globl hit_mov\n.type hit_mov,@function\n"
	"hit_mov: mov %rdi, %rax\n ret\n");

static char run_path[64], tdf_path[80], bin[4096];
static volatile bool stop;
static uint64_t hits[THREADS][POINTS];

/* ---- the TDF, by hand ---- */

struct image {
	struct tdf_header header;
	struct tdf_module module;
	struct tdf_point points[POINTS];
	struct tdf_site sites[POINTS];
	struct tdf_stmt stmts[3 * POINTS];
	uint8_t rpn[8];
	char strings[4200];
};

struct place {
	uintptr_t at;
	uint64_t address, offset;
};

static int place_find(struct dl_phdr_info *info, size_t size, void *context)
{
	struct place *place = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || place->at < start ||
		    place->at >= start + ph->p_filesz)
			continue;
		place->address = place->at - info->dlpi_addr;
		place->offset = place->at - start + ph->p_offset;
		return 1;
	}
	return 0;
}

static struct tdf_table table(struct image *image, void *at, uint32_t count)
{
	return (struct tdf_table){ (char *)at - (char *)image, count };
}

static void point_fill(struct image *image, int i, void *function, int length)
{
	struct place place = { .at = (uintptr_t)function };
	struct tdf_stmt *stmts = &image->stmts[3 * i];

	if (!dl_iterate_phdr(place_find, &place))
		tap_bail("function not found in its own program");
	image->points[i] = (struct tdf_point){
		.hash = i + 1, .minor = i + 1, .first_site = i, .sites = 1,
		.first_stmt = 3 * i, .stmts = 3,
	};
	image->sites[i] = (struct tdf_site){
		.offset = place.offset, .address = place.address,
		.nominal = place.address, .insn_length = length,
		.cost = i ? TDF_COST_STEPPED : TDF_COST_EMULATED,
	};
	memcpy(image->sites[i].insn, function, length);
	stmts[0] = (struct tdf_stmt){
		.kind = TDF_STMT_REG, .reg = 5, .reg_bytes = 8,
	};
	stmts[1] = (struct tdf_stmt){
		.kind = TDF_STMT_MEM, .length = MEMORY, .rpn = 0,
		.rpn_length = 2,
	};
	stmts[2] = (struct tdf_stmt){
		.kind = TDF_STMT_ASCIIZ, .length = 40, .rpn = 2,
		.rpn_length = 2,
	};
}

static void tdf_write(void)
{
	static const uint8_t rpn[] = { 0x74, 0, 0x71, 0 };	/* rsi, rdx */
	static struct image image;
	struct identity id;
	int fd = open("/proc/self/exe", O_RDONLY);
	ssize_t n = readlink("/proc/self/exe", image.strings + 1, 4096);

	if (fd < 0 || n < 0 || identity_read(fd, "self", &id, NULL))
		tap_bail("cannot identify this program");
	close(fd);
	image.module = (struct tdf_module){
		.path = 1, .name = 1, .machine = 62, .elf_class = 2,
		.kind = TDF_MODULE_USER, .id_kind = id.kind,
		.id_length = id.length,
	};
	memcpy(image.module.id, id.id, sizeof(id.id));
	memcpy(image.rpn, rpn, sizeof(rpn));
	point_fill(&image, 0, hit_push, 1);
	point_fill(&image, 1, hit_mov, 3);
	image.header = (struct tdf_header){
		.magic = "RASTDF\r", .version = TDF_VERSION,
		.header_size = sizeof(image.header),
		.file_size = sizeof(image), .major = MAJOR, .maxdata = 512,
		.modules = table(&image, &image.module, 1),
		.points = table(&image, image.points, POINTS),
		.sites = table(&image, image.sites, POINTS),
		.stmts = table(&image, image.stmts, 3 * POINTS),
		.rpn = table(&image, image.rpn, sizeof(rpn)),
		.strings = table(&image, image.strings, 4200),
	};
	image.header.magic[7] = '\n';
	image.header.crc = hash_crc32(0, &image, sizeof(image));
	fd = open(tdf_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (write(fd, &image, sizeof(image)) != sizeof(image))
		tap_bail("cannot write '%s'", tdf_path);
	close(fd);
}

/* ---- trace, as a user calls it ---- */

static int trace(const char *arguments)
{
	char line[8192];
	int status;

	snprintf(line, sizeof(line), "RASTRACE_RUN=%s %s/trace %s", run_path,
		 bin, arguments);
	status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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
		hit_push(n, &p, s);
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
	return record->major == MAJOR && record->point < POINTS &&
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

static void slice_check(const struct ras_slice_copy *copy, size_t length,
			uint64_t key, struct census *census)
{
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
	const struct ras_file *file;
	struct error err;
	void *data;
	size_t size, at;

	if (snapshot_take(run_path, &data, &size, &err))
		return false;
	file = data;
	for (at = file->size; at < size;) {
		const struct ras_chunk *chunk =
			(const void *)((char *)data + at);

		at += sizeof(*chunk) + ((chunk->length + 7) & ~7ULL);
		if (chunk->kind == RAS_CHUNK_SLICE)
			slice_check((const void *)(chunk + 1), chunk->length -
				    sizeof(struct ras_slice_copy), file->key,
				    census);
	}
	free(data);
	return true;
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
	while (now() < end)
		pictures += picture_check(census);
	tap_is(trace("suspend"), 0, "suspend");
	usleep(50000);
	tap_is(trace("resume"), 0, "resume");
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
	tap_is(f->recorded + f->filtered + f->dropped, count,
	       "point %d: hits = recorded + filtered + dropped", point + 1);
	tap_is(f->present + f->overwritten, f->recorded,
	       "point %d: recorded = present + overwritten", point + 1);
	tap_ok(f->filtered && f->overwritten > f->present,
	       "point %d: suspended hits are filtered, the buffer wrapped",
	       point + 1);
	tap_is(f->faults, 0, "point %d: no faults", point + 1);
	tap_diag("point %d: %llu hits, %llu recorded, %llu present, %llu filtered, %llu dropped",
		 point + 1, (unsigned long long)count,
		 (unsigned long long)f->recorded,
		 (unsigned long long)f->present,
		 (unsigned long long)f->filtered,
		 (unsigned long long)f->dropped);
}

static void figures_check(void)
{
	struct session_list list;
	struct figures figures;
	struct buffer buffer;
	struct error err = { 0 };

	if (buffer_open(&buffer, run_path, false, &err) ||
	    session_list_read(&list, &buffer, run_path, &err) ||
	    figures_read(&figures, &buffer, &list, &err))
		tap_bail("cannot read the figures: %s", err.text);
	tap_is(figures.damaged, 0, "nothing damaged, counters fit the records");
	for (int i = 0; i < POINTS; i++)
		point_check(&figures.sessions[list.count - 1][i], i);
	figures_free(&figures);
	session_list_free(&list);
	buffer_close(&buffer);
}

static void attach_test(const char *kind)
{
	struct census census = { 0 };
	char line[256];
	unsigned int pictures;

	tap_diag("--attach %s", kind);
	snprintf(line, sizeof(line), "on --buffer 64K --attach %s %s", kind,
		 tdf_path);
	if (!tap_is(trace(line), 0, "armed with %s links", kind))
		return;
	pictures = load_run(&census);
	tap_ok(pictures > 1 && census.records > 500,
	       "%u pictures of %llu records were taken meanwhile", pictures,
	       (unsigned long long)census.records);
	tap_is(census.torn, 0, "every record is whole");
	tap_is(census.damaged, 0, "between records there is nothing");
	tap_is(census.gaps, 0, "sequence numbers have no gaps");
	tap_is(census.backwards, 0, "time doesn't run backwards");
	figures_check();
	snprintf(line, sizeof(line), "off %s", tdf_path);
	tap_is(trace(line), 0, "off");
	figures_check();
	tap_is(trace("clear"), 0, "clear");
}

static bool has_multi(void)
{
	char line[256];
	bool has;

	snprintf(line, sizeof(line), "on --attach multi %s 2>/dev/null",
		 tdf_path);
	has = !trace(line);
	trace("off --all");
	return has;
}

int main(void)
{
	const char *top = getenv("TOP");

	if (geteuid())
		tap_skip_all("needs root");
	if (!top)
		tap_skip_all("needs TOP, the tree");
	snprintf(bin, sizeof(bin), "%s/build/bin", top);
	snprintf(run_path, sizeof(run_path), "/tmp/rastrace.%d", getpid());
	snprintf(tdf_path, sizeof(tdf_path), "%s.tdf", run_path);
	tdf_write();
	if (has_multi())
		attach_test("multi");
	else
		tap_skip("uprobe_multi links", "this kernel has none");
	attach_test("perf");
	trace("off --all");
	umount2(run_path, MNT_DETACH);
	rmdir(run_path);
	strcat(run_path, ".lock");
	unlink(run_path);
	unlink(tdf_path);
	return tap_done();
}
