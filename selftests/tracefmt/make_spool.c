// SPDX-License-Identifier: GPL-2.0
/*
 * make_spool FOLDER: writes context.ras, whose records have all kinds of
 * context and reasons, with TRC00C7.TFF; spool.ras and spool.ras.1, a cycle
 * that `trace spool` might have written, with a gap in the older one; and
 * bundle.ras, which has its TFF in it.
 * make_spool FOLDER METHOD FILE...: the files once more, as METHOD.FILE with
 * their chunks packed by zlib or zstd.
 */
#include <errno.h>
#include "lib/hash.c"
#include "lib/error.c"
#include "lib/text.c"
#include "lib/formats/chunk.c"
#include "lib/library.c"
#include "builder.h"

#define START	1770163190LL	/* 2026-02-03 23:59:50 UTC, boot time 0 */
#define SECOND	1000000000ULL
#define POINTS	2

static const struct ras_session_point points[POINTS] = {
	{ .hash = 0x1111, .minor = 1 },
	{ .hash = 0x2222, .minor = 2, .state = RAS_POINT_MAXHITS,
	  .ended = 5 * SECOND },
};

static struct bytes tff_make(void)
{
	struct tff_builder tff = { .major = 0xc7 };

	tff_section_begin(&tff, "/usr/bin/app", 0xefbeadde);
	tff_entry_add(&tff, 1, 0x1111, 0, "look_up", "name = %P%S\n");
	tff_entry_add(&tff, 2, 0x2222, 0, "call",
		      "to %P%{sym}\nstack =%P%{stack}\n");
	return tff_finish(&tff);
}

static struct ras_record record_of(uint16_t point, uint64_t time, uint32_t seq)
{
	return (struct ras_record){
		.session = 1, .major = 0xc7, .point = point,
		.minor = points[point].minor, .time = time, .seq = seq,
		.pid = 100, .tid = 101,
	};
}

/* ---- context.ras ---- */

static void context_add(struct bytes *data, const char *comm)
{
	static const uint64_t stack[] = { 0x7f0000001234, 0x555500000010,
					  0x1000 };
	char name[16] = { 0 };

	memcpy(name, comm, strnlen(comm, sizeof(name)));
	bytes_add(data, name, sizeof(name));
	data_double(data, 1000);
	data_double(data, 100);
	data_quad(data, 4711);
	data_quad(data, 3);
	data_quad(data, 33);
	data_stack(data, RAS_STACK_NO_FRAME, 0, stack, 3);
}

static void plain_records(struct slice_builder *slice)
{
	struct bytes data = { 0 };

	context_add(&data, "sixteen\033letters");
	data_string(&data, "/etc/hosts");
	slice_add(slice, record_of(0, 1 * SECOND, 0), &data);
	bytes_free(&data);

	context_add(&data, "worker");
	data_item(&data, RAS_ITEM_LEFT, "\0\0\x12\0\0\x7f\0\0", 8);
	slice_add(slice, (struct ras_record){
		.session = 1, .major = 0xc7, .minor = 1, .time = 2 * SECOND,
		.pid = 100, .tid = 102, .seq = 1, .flags = RAS_RECORD_FAULT |
		RAS_RECORD_PAGED_IN }, &data);
	bytes_free(&data);
}

static void stack_records(struct slice_builder *slice)
{
	static const uint64_t target = 0x7f0000001000;
	static const uint64_t kernel[] = { 0xffffffff81000010,
					   0xffffffffc0001020 };
	struct ras_record record = record_of(1, 3 * SECOND, 0);
	struct bytes data = { 0 };

	context_add(&data, "worker");
	data_item(&data, RAS_ITEM_VALUE, &target, 8);
	data_stack(&data, RAS_STACK_DEPTH, RAS_STACK_KERNEL, kernel, 2);
	record.flags = RAS_RECORD_TRIGGER;
	slice_add(slice, record, &data);
	bytes_free(&data);

	record = record_of(0, 4 * SECOND, 2);
	record.flags = RAS_RECORD_MUTED;
	slice_add(slice, record, NULL);

	/* too short for its context */
	data_quad(&data, 0x4142434445464748);
	slice_add(slice, record_of(0, 5 * SECOND, 3), &data);
	bytes_free(&data);
}

static void maps_make(struct bytes *ras)
{
	static const struct ras_mapping app[] = {
		{ .start = 0x7f0000001000, .end = 0x7f0000003000,
		  .offset = 0x28000, .path = "/usr/lib/libc.so.6" },
		{ .start = 0x555500000000, .end = 0x555500001000,
		  .offset = 0x1000, .path = "/usr/bin/app" },
	}, kernel[] = {
		{ .start = 0xffffffff81000000, .end = 0xffffffff82000000,
		  .path = "vmlinux" },
		{ .start = 0xffffffffc0001000, .end = 0xffffffffc0005000,
		  .path = "xfs" },
	};

	ras_maps_add(ras, 100, "app", app, 2);
	ras_maps_add(ras, 0, "kernel", kernel, 2);
	ras_process_add(ras, 100, 0, "starter");
	ras_process_add(ras, 100, 3 * SECOND, "app");
}

static void make_context(const char *folder)
{
	struct slice_builder slice = slice_begin(0, 0, 0);
	struct bytes ras = { 0 }, log = { 0 };
	struct ras_session *session;

	ras_begin(&ras, 13 * SECOND, START * (int64_t)SECOND);
	session_add(&log, 1, 0xc7, "/nowhere/app.tdf", points, POINTS);
	session = session_last(&log, POINTS);
	session->context = RAS_CONTEXT_ALL & ~(RAS_CONTEXT_NAME | RAS_CONTEXT_OTEL);
	session->max_rate = 1000;
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	maps_make(&ras);
	plain_records(&slice);
	stack_records(&slice);
	ras_slice_add(&ras, &slice);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_write(&ras, folder, "context.ras");
	bytes_free(&ras);
	bytes_free(&log);
}

/* ---- a cycle ---- */

static void name_add(struct slice_builder *slice, uint64_t time, uint32_t seq)
{
	struct bytes data = { 0 };

	data_string(&data, "name");
	slice_add(slice, record_of(0, time, seq), &data);
	bytes_free(&data);
}

static void spool_begin(struct bytes *ras, uint64_t time)
{
	struct bytes log = { 0 };

	ras_begin(ras, time, START * (int64_t)SECOND);
	session_add(&log, 1, 0xc7, "/nowhere/app.tdf", points, 1);
	ras_chunk_add(ras, RAS_CHUNK_SESSIONS, &log);
	bytes_free(&log);
}

static void spool_end(struct bytes *ras, const char *folder, const char *name,
		      uint64_t recorded)
{
	struct ras_count_total total = {
		.recorded = recorded, .missed = RAS_MISSED_UNKNOWN,
		.why.filtered[RAS_FILTERED_PROCESS] = recorded,
	};

	counts_add(ras, 1, &total, 1);
	ras_chunk_add(ras, RAS_CHUNK_END, NULL);
	bytes_write(ras, folder, name);
	bytes_free(ras);
}

/* 3 records, 2 that were overwritten, 2 more; on CPU 1 one in between. The
 * counters are ahead. */
static void make_older(struct slice_builder cpu[2], const char *folder)
{
	struct bytes ras = { 0 };

	spool_begin(&ras, SECOND);
	ras_pass_add(&ras, SECOND, 0);
	for (uint32_t i = 0; i < 3; i++)
		name_add(&cpu[0], (i + 1) * SECOND, i);
	ras_slice_flush(&ras, &cpu[0]);
	ras_pass_add(&ras, 4 * SECOND, 0);
	slice_skip(&cpu[0], 2 * 56);
	name_add(&cpu[0], 6 * SECOND, 5);
	name_add(&cpu[0], 7 * SECOND, 6);
	name_add(&cpu[1], 3 * SECOND + 1, 0);
	ras_slice_flush(&ras, &cpu[1]);
	ras_slice_flush(&ras, &cpu[0]);
	ras_pass_add(&ras, 8 * SECOND, 2);
	spool_end(&ras, folder, "spool.ras.1", 20);
}

static void make_newer(struct slice_builder cpu[2], const char *folder)
{
	struct ras_count_total before = {
		.recorded = 21, .missed = RAS_MISSED_UNKNOWN,
		.why.filtered[RAS_FILTERED_PROCESS] = 21,
	};
	struct bytes ras = { 0 };

	spool_begin(&ras, 9 * SECOND);
	counts_add(&ras, 1, &before, 1);
	ras_slice_flush(&ras, &cpu[0]);
	ras_slice_flush(&ras, &cpu[1]);
	ras_pass_add(&ras, 9 * SECOND, 2);
	for (uint32_t i = 0; i < 4; i++)
		name_add(&cpu[i & 1], (10 + i) * SECOND,
			 i & 1 ? 1 + i / 2 : 7 + i / 2);
	ras_slice_flush(&ras, &cpu[0]);
	ras_slice_flush(&ras, &cpu[1]);
	ras_pass_add(&ras, 14 * SECOND, 2);
	spool_end(&ras, folder, "spool.ras", 30);
}

static void make_bundle(const char *folder, const struct bytes *tff)
{
	struct slice_builder slice = slice_begin(0, 0, 0);
	struct bytes ras = { 0 };

	spool_begin(&ras, SECOND);
	ras_formats_add(&ras, "TRC00C7.TFF", tff);
	name_add(&slice, SECOND, 0);
	ras_slice_add(&ras, &slice);
	spool_end(&ras, folder, "bundle.ras", 1);
}

/* ---- packing ---- */

static int bytes_take(void *context, const void *chunk, size_t size)
{
	bytes_add(context, chunk, size);
	return 0;
}

static int file_read(const char *folder, const char *name, struct bytes *b)
{
	char path[4096], piece[4096];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	if (!file) {
		perror(path);
		return 1;
	}
	while ((n = fread(piece, 1, sizeof(piece), file)))
		bytes_add(b, piece, n);
	return fclose(file);
}

static int repack(const char *folder, const char *method, const char *name)
{
	struct bytes in = { 0 }, out = { 0 };
	struct chunk_out chunks = { .take = bytes_take, .context = &out };
	size_t at = sizeof(struct ras_file);
	char packed[256];
	struct error err;

	chunks.pack = pack_method_find(method, &err);
	if (chunks.pack < 0 || file_read(folder, name, &in))
		return 4;
	bytes_add(&out, in.data, at);
	while (at < in.size) {
		const struct ras_chunk *chunk = (const void *)(in.data + at);

		chunk_begin(&chunks);
		chunk_add(&chunks, chunk + 1, chunk->length);
		chunk_end(&chunks, chunk->kind);
		at += sizeof(*chunk) + ((chunk->length + 7) & ~7ULL);
	}
	chunk_out_free(&chunks);
	snprintf(packed, sizeof(packed), "%s.%s", method, name);
	bytes_write(&out, folder, packed);
	bytes_free(&in);
	bytes_free(&out);
	return 0;
}

int main(int argc, char **argv)
{
	struct slice_builder cpu[2] = { slice_begin(0, 0, 0),
					slice_begin(1, 0, 0) };
	struct bytes tff;
	int status = 0;

	if (argc < 2)
		return 2;
	for (int i = 3; i < argc && !status; i++)
		status = repack(argv[1], argv[2], argv[i]);
	if (argc > 2)
		return status;
	tff = tff_make();
	bytes_write(&tff, argv[1], "TRC00C7.TFF");
	make_context(argv[1]);
	make_older(cpu, argv[1]);
	make_newer(cpu, argv[1]);
	make_bundle(argv[1], &tff);
	bytes_free(&tff);
	return 0;
}
