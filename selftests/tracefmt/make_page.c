// SPDX-License-Identifier: GPL-2.0
/*
 * make_page FOLDER: writes page.ras and its TFF, for the HTML page: calls of
 * two threads on two CPUs, of which one calls the other; a call without return,
 * a return without call, records of other kinds, and names and strings that try
 * to break out of the page.
 * make_page FOLDER N: many.ras instead, with N calls.
 */
#include "lib/hash.c"
#include "builder.h"

#define START	1770163190LL	/* 2026-02-03 23:59:50 UTC, boot time 0 */
#define SECOND	1000000000ULL
#define MS	1000000ULL

enum point { WORK, WORK_POST, READ, READ_POST, MARK, STRANGE };

static const struct ras_session_point points[] = {
	[WORK] = { .hash = 1, .minor = 25 },
	[WORK_POST] = { .hash = 2, .minor = 0x8019 },
	[READ] = { .hash = 3, .minor = 26 },
	[READ_POST] = { .hash = 4, .minor = 0x801a },
	[MARK] = { .hash = 5, .minor = 40 },
	[STRANGE] = { .hash = 6, .minor = 41 },
};

#define POINTS	(sizeof(points) / sizeof(*points))

static void make_tff(const char *folder)
{
	struct tff_builder tff = { .major = 0xc5 };
	struct bytes out;

	tff_section_begin(&tff, "/usr/bin/app", 0xefbeadde);
	tff_entry_add(&tff, 25, 1, 0, "(APP) work Pre-Invocation",
		      "n = %{u32}\n");
	tff_entry_add(&tff, 26, 3, 0, "(APP) read_it Pre-Invocation",
		      "name = %P%S\nsize = %{u64}\n");
	tff_entry_add(&tff, 40, 5, 0, "(APP) mark", "n = %{u32}\n");
	tff_entry_add(&tff, 41, 6, 0,
		      "</script><script>document.title='owned'</script>"
		      "<!-- <script>\xe2\x80\xa8&amp;",
		      "<img src=x onerror=\"document.title='owned'\"> = %P%S\n");
	tff_entry_add(&tff, 0x8019, 2, 0, "(APP) work Post-Invocation",
		      "rc = %{d32}\n");
	tff_entry_add(&tff, 0x801a, 4, 0, "(APP) read_it Post-Invocation",
		      "rc = %{d32}\n");
	out = tff_finish(&tff);
	bytes_write(&out, folder, "TRC00C5.TFF");
	bytes_free(&out);
}

static void add(struct slice_builder *slice, enum point point, uint32_t tid,
		uint64_t time, struct bytes *data)
{
	static uint32_t seq[2][POINTS];
	struct ras_record record = {
		.session = 1, .major = 0xc5, .point = point,
		.minor = points[point].minor, .time = time,
		.pid = tid / 100 * 100, .tid = tid,
		.seq = seq[slice->copy.cpu][point]++,
	};

	slice_add(slice, record, data);
	bytes_free(data);
}

static void add_number(struct slice_builder *slice, enum point point,
		       uint32_t tid, uint64_t time, uint32_t number)
{
	struct bytes data = { 0 };

	data_double(&data, number);
	add(slice, point, tid, time, &data);
}

static void add_read(struct slice_builder *slice, uint32_t tid, uint64_t time,
		     const char *name, uint64_t size)
{
	struct bytes data = { 0 };

	data_string(&data, name);
	data_quad(&data, size);
	add(slice, READ, tid, time, &data);
}

static void add_strange(struct slice_builder *slice, uint64_t time,
			const char *text)
{
	struct bytes data = { 0 };

	data_string(&data, text);
	add(slice, STRANGE, 200, time, &data);
}

static void cpu0_records(struct slice_builder *slice)
{
	add_number(slice, WORK, 100, 1 * SECOND, 7);
	add_read(slice, 100, 3 * SECOND, "/etc/app.conf", 0x8000000000000001);
	add_number(slice, READ_POST, 100, 5 * SECOND, -2);
	add_number(slice, WORK_POST, 100, 9 * SECOND, 0);
	add_number(slice, WORK, 100, 10 * SECOND, 8);
}

static void cpu1_records(struct slice_builder *slice)
{
	static const char *const strange[] = {
		"</script><script>document.title='owned'</script>",
		"\"';\\\"--><svg onload=\"document.title='owned'\">",
		"\xe2\x80\xa8\xe2\x80\xa9\xff\xfe\xed\xa0\x80\x1b[2J",
	};

	add_number(slice, READ_POST, 101, 1500 * MS, 3);
	add_read(slice, 101, 2 * SECOND, "/tmp/x", 64);
	add_number(slice, READ_POST, 101, 4 * SECOND, 64);
	add_number(slice, MARK, 101, 6 * SECOND, 1);
	for (unsigned int i = 0; i < 3; i++)
		add_strange(slice, 7 * SECOND + i * 100 * MS, strange[i]);
}

static void page_begin(struct bytes *ras, uint64_t taken)
{
	struct bytes log = { 0 };

	ras_begin(ras, taken, START * (int64_t)SECOND);
	strcpy(((struct ras_file *)ras->data)->host, "<b>target</b>");
	ras_header_seal(ras);
	session_add(&log, 1, 0xc5, "/nowhere/<i>app.tdf", points, POINTS);
	ras_chunk_add(ras, RAS_CHUNK_SESSIONS, &log);
	ras_process_add(ras, 100, 0, "app");
	ras_process_add(ras, 200, 0, "</script><b>\"'");
	bytes_free(&log);
}

static void page_end(struct bytes *ras, struct slice_builder slices[2],
		     const char *folder, const char *name)
{
	slices[0].copy.dropped = 3;
	ras_slice_add(ras, &slices[0]);
	ras_slice_add(ras, &slices[1]);
	ras_chunk_add(ras, RAS_CHUNK_END, NULL);
	bytes_write(ras, folder, name);
	bytes_free(ras);
}

static void make_page(const char *folder)
{
	struct slice_builder slices[2] = { slice_begin(0, 0, 0),
					   slice_begin(1, 0, 0) };
	struct bytes ras = { 0 };

	page_begin(&ras, 13 * SECOND);
	cpu0_records(&slices[0]);
	cpu1_records(&slices[1]);
	page_end(&ras, slices, folder, "page.ras");
}

/* Four threads take turns on two CPUs; a call lasts 1 to 1000 us. */
static void make_many(const char *folder, unsigned long n)
{
	struct slice_builder slices[2] = { slice_begin(0, 0, 0),
					   slice_begin(1, 0, 0) };
	struct bytes ras = { 0 };
	uint64_t seed = 1;

	page_begin(&ras, n * MS + SECOND);
	for (unsigned long i = 0; i < n; i++) {
		struct slice_builder *slice = &slices[i & 1];
		uint32_t tid = 100 + i % 4 / 2 * 100 + i % 2;
		uint64_t time = i / 2 * 2 * MS, took;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		took = 1000 << (seed >> 60) % 10;
		took += (seed >> 33) % took / 2;
		add_number(slice, WORK, tid, time, i);
		add_read(slice, tid, time + took / 4, "/etc/hostname", i);
		add_number(slice, READ_POST, tid, time + took / 2, i % 50 - 1);
		add_number(slice, WORK_POST, tid, time + took, 0);
	}
	page_end(&ras, slices, folder, "many.ras");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	make_tff(argv[1]);
	if (argc > 2)
		make_many(argv[1], strtoul(argv[2], NULL, 0));
	else
		make_page(argv[1]);
	return 0;
}
