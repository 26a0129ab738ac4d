// SPDX-License-Identifier: GPL-2.0
/*
 * Makes traces that are read together, and large ones:
 *
 *	make_many FOLDER		east.ras, west.ras (two machines),
 *					early.ras, late.ras (snapshots of one
 *					buffer), TRC00C7.TFF
 *	make_many FOLDER RECORDS CPUS EACH [zlib]
 *					large.ras: so many in a chunk (0: all)
 *	make_many memory COMMAND...	prints the most memory it had (KiB)
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/formats/chunk.c"
#include "lib/error.c"
#include "lib/hash.c"
#include "lib/library.c"
#include "lib/text.c"
#include "builder.h"

#define SECOND	1000000000ULL
#define NOON	(1770120000LL * (int64_t)SECOND)
#define CPUS_MAX 64

static const struct ras_session_point point = { .hash = 0x1234, .minor = 1 };

static void name_add(struct slice_builder *slice, uint64_t time, uint32_t seq)
{
	struct bytes data = { 0 };

	data_double(&data, seq);
	slice_add(slice, (struct ras_record){
		.session = 1, .major = 0xc7, .minor = 1, .time = time,
		.pid = 42, .tid = 42, .seq = seq }, &data);
	bytes_free(&data);
}

static struct bytes file_begin(const char *host, uint64_t taken, uint64_t key,
			       int64_t wall, uint64_t recorded)
{
	struct ras_count_total total = { .recorded = recorded };
	struct bytes ras = { 0 }, log = { 0 };
	struct ras_file *header;

	ras_begin(&ras, taken, wall);
	header = (void *)ras.data;
	header->key = BUILD_KEY ^ key;
	memset(header->host, 0, sizeof(header->host));
	strcpy(header->host, host);
	ras_header_seal(&ras);
	session_add(&log, 1, 0xc7, "/tmp/a.tdf", &point, 1);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	counts_add(&ras, 1, &total, 1);
	bytes_free(&log);
	return ras;
}

static int file_end(struct bytes *ras, const char *folder, const char *name)
{
	int bad;

	ras_chunk_add(ras, RAS_CHUNK_END, NULL);
	bad = bytes_write(ras, folder, name);
	bytes_free(ras);
	return bad;
}

/* Stamps of another key than the builder's. */
static void slice_rekey(struct slice_builder *slice, uint64_t key)
{
	size_t at = 0;

	while (at < slice->records.size) {
		struct ras_record *record = (void *)(slice->records.data + at);

		record->stamp ^= key;
		at += (record->length + 7) & ~7u;
	}
}

/* Machines of different boot clocks: the records alternate. */
static int machine_make(const char *folder, const char *name, uint64_t boot,
			uint64_t key, uint32_t first)
{
	struct slice_builder slice = slice_begin(0, 0, 0);
	struct bytes ras = file_begin(name, boot + 10 * SECOND, key,
				      NOON - (int64_t)boot, 4);
	char file[32];

	for (uint32_t i = 0; i < 4; i++)
		name_add(&slice, boot + (2 * i + first) * SECOND, i);
	slice_rekey(&slice, key);
	ras_slice_add(&ras, &slice);
	snprintf(file, sizeof(file), "%s.ras", name);
	return file_end(&ras, folder, file);
}

/* Records FROM to TO - 1 of what one CPU wrote; the wall clock was set between
 * the snapshots. */
static int snapshot_make(const char *folder, const char *name, uint32_t from,
			 uint32_t to, int64_t wall)
{
	struct slice_builder all = slice_begin(1, 0, 0), slice;
	struct bytes ras = file_begin("target", to * SECOND, 0, NOON + wall,
				      to);
	size_t each;

	name_add(&all, 0, 0);
	each = all.records.size;
	bytes_free(&all.records);
	slice = slice_begin(1, from * each, from);
	for (uint32_t i = from; i < to; i++)
		name_add(&slice, i * SECOND, i);
	ras_slice_add(&ras, &slice);
	return file_end(&ras, folder, name);
}

static int tff_write(const char *folder)
{
	struct tff_builder builder = { .major = 0xc7 };
	struct bytes tff;

	tff_section_begin(&builder, "/usr/bin/app", 0xefbeadde);
	tff_entry_add(&builder, 1, 0x1234, 0, "named", "number %{u32}");
	tff = tff_finish(&builder);
	return bytes_write(&tff, folder, "TRC00C7.TFF");
}

/* ---- large ones ---- */

static int bytes_take(void *context, const void *chunk, size_t size)
{
	bytes_add(context, chunk, size);
	return 0;
}

static void slice_flush(struct bytes *ras, struct slice_builder *slice,
			struct chunk_out *out)
{
	if (!out->pack) {
		ras_slice_flush(ras, slice);
		return;
	}
	out->context = ras;
	chunk_begin(out);
	chunk_add(out, &slice->copy, sizeof(slice->copy));
	chunk_add(out, slice->records.data, slice->records.size);
	chunk_end(out, RAS_CHUNK_SLICE);
	bytes_free(&slice->records);
	slice->copy.first = slice->copy.head;
}

static int large_make(const char *folder, uint32_t records, uint32_t cpus,
		      uint32_t each, const char *method)
{
	struct bytes ras = file_begin("target", records, 0, NOON, records);
	struct chunk_out out = { .take = bytes_take };
	struct slice_builder cpu[CPUS_MAX];
	struct error err;

	if (!cpus || cpus > CPUS_MAX)
		return 2;
	if (method)
		out.pack = pack_method_find(method, &err);
	for (uint32_t i = 0; i < cpus; i++)
		cpu[i] = slice_begin(i, 0, 0);
	for (uint32_t i = 0; i < records; i++) {
		name_add(&cpu[i % cpus], i * 1000ull, i / cpus);
		if (each && !(i / cpus % each))
			slice_flush(&ras, &cpu[i % cpus], &out);
	}
	for (uint32_t i = 0; i < cpus; i++)
		slice_flush(&ras, &cpu[i], &out);
	chunk_out_free(&out);
	return file_end(&ras, folder, "large.ras");
}

static int memory_print(char **command)
{
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (!child) {
		execvp(*command, command);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0)
		return 1;
	fprintf(stderr, "%ld\n", usage.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "memory"))
		return memory_print(argv + 2);
	if (argc >= 5)
		return large_make(argv[1], atoi(argv[2]), atoi(argv[3]),
				  atoi(argv[4]), argv[5]);
	if (argc != 2)
		return 2;
	return machine_make(argv[1], "east", 1000 * SECOND, 0x55, 0) |
	       machine_make(argv[1], "west", 7 * SECOND, 0xaa, 1) |
	       snapshot_make(argv[1], "early.ras", 2, 6, 0) |
	       snapshot_make(argv[1], "late.ras", 4, 9, -300) |
	       tff_write(argv[1]);
}
