// SPDX-License-Identifier: GPL-2.0
/*
 * make_choices FOLDER [N]: writes choices.ras, N events (1000) whose every
 * value follows from their number, TRC00C5.TFF for them, and choices.txt: what
 * they are, a line for each, in columns with tabs:
 *
 *	number minor pid tid comm cpu ns fd len name age mode color
 *
 * ns is the time since the first event; "-" is what an event doesn't have.
 */
#include "lib/hash.c"
#include "builder.h"

#define START	1770163190LL	/* 2026-02-03 23:59:50 UTC, boot time 0 */
#define SECOND	1000000000ULL
#define BOOT	(100 * SECOND)	/* of the first event */
#define STEP	(SECOND / 50)	/* from event to event */
#define CPUS	3

#define TYPE_PRE	0x01
#define TYPE_POST	0x02
#define TYPE_API	0x04
#define GROUP_FILE	1
#define GROUP_MEM	2

enum { POINT_OPEN, POINT_REQUEST, POINT_RETURN, POINTS };

static const struct ras_session_point points[POINTS] = {
	{ .hash = 0x1111, .minor = 1, .type = TYPE_PRE | TYPE_API,
	  .group = GROUP_FILE },
	{ .hash = 0x2222, .minor = 2, .type = TYPE_PRE, .group = GROUP_MEM },
	{ .hash = 0x3333, .minor = 0x8001, .type = TYPE_POST | TYPE_API,
	  .group = GROUP_FILE },
};

static const char *const names[] = {
	"/etc/passwd", "/etc/app.conf", "/tmp/x", "conf.d/say \"hi\"",
	"\033[31mred",
};

static const char *const shown[] = {
	"/etc/passwd", "/etc/app.conf", "/tmp/x", "conf.d/say \"hi\"",
	"\\x1B[31mred",
};

static const char *const comms[] = { "app", "worker/0:1", "db [main]" };

static void make_ctypes(struct tff_builder *tff)
{
	tff_ctype_add(tff, "int", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_INT });
	tff_ctype_add(tff, "char", (struct tff_ctype){
			      .bytes = 1, .kind = TFF_CTYPE_CHAR });
	tff_ctype_add(tff, "char[4]", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_ARRAY,
			      .target = 1, .count = 4 });
	tff_ctype_add(tff, "enum color", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_ENUM });
	tff_member_add(tff, "RED", (struct tff_member){ .value = 0 });
	tff_member_add(tff, "GREEN", (struct tff_member){ .value = 1 });
	tff_ctype_add(tff, "struct inner", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_STRUCT });
	tff_member_add(tff, "low", (struct tff_member){
			       .ctype = 0, .bits = 3 });
	tff_member_add(tff, "high", (struct tff_member){
			       .ctype = 0, .value = 3, .bits = 5 });
	tff_ctype_add(tff, "struct inner[2]", (struct tff_ctype){
			      .bytes = 8, .kind = TFF_CTYPE_ARRAY,
			      .target = 4, .count = 2 });
	tff_ctype_add(tff, "struct request", (struct tff_ctype){
			      .bytes = 20, .kind = TFF_CTYPE_STRUCT });
	tff_member_add(tff, "age", (struct tff_member){ .ctype = 0 });
	tff_member_add(tff, "tag", (struct tff_member){
			       .ctype = 2, .value = 32 });
	tff_member_add(tff, "color", (struct tff_member){
			       .ctype = 3, .value = 64 });
	tff_member_add(tff, "parts", (struct tff_member){
			       .ctype = 5, .value = 96 });
}

/* With the type and group of the point. */
static void make_entry(struct tff_builder *tff, int point, const char *desc,
		       const char *fmt)
{
	struct tff_entry *end;

	tff_entry_add(tff, points[point].minor, points[point].hash, 0, desc,
		      fmt);
	end = (void *)(tff->entries.data + tff->entries.size);
	end[-1].type = points[point].type;
	end[-1].group = points[point].group;
}

static void make_tff(const char *folder)
{
	struct tff_builder tff = { .major = 0xc5 };
	struct bytes out;

	tff_section_begin(&tff, "/usr/bin/app", 0xefbeadde);
	tff_type_add(&tff, "PRE", TYPE_PRE);
	tff_type_add(&tff, "POST", TYPE_POST);
	tff_type_add(&tff, "API", TYPE_API);
	tff_group_add(&tff, "FILE", GROUP_FILE);
	tff_group_add(&tff, "MEM", GROUP_MEM);
	make_entry(&tff, POINT_OPEN, "(APP) Open Pre",
		   " fd = %P%{d32}, len = %P%{u32}\n"
		   " name = %P%S\n"
		   " mode = %P%{flags16:READ=1,WRITE=2,SYNC=0x10}\n");
	make_entry(&tff, POINT_REQUEST, "(APP) Request",
		   " req = %P%{struct request}\n"
		   " r->next->age = %P%{d32}\n list = %R%W.\n");
	make_entry(&tff, POINT_RETURN, "(APP) Open Post",
		   " rc = %P%{d64} load = %P%{f64} pid = %P%{u32}\n");
	make_ctypes(&tff);
	out = tff_finish(&tff);
	bytes_write(&out, folder, "TRC00C5.TFF");
	bytes_free(&out);
}

static void open_make(struct bytes *data, struct ras_record *record,
		      uint32_t i, FILE *list)
{
	int32_t fd = (int32_t)(i % 7) - 1;
	uint32_t len = i * 13 % 200;
	uint16_t mode = i % 4;
	const char *name = names[i % 5];

	data_item(data, RAS_ITEM_VALUE, &fd, 4);
	data_item(data, RAS_ITEM_VALUE, &len, 4);
	if (i % 9 == 0) {
		data_fault(data, 0xdead0000 + i);
		record->flags = RAS_RECORD_FAULT;
		fprintf(list, "%d\t%u\t-\t-\t-\t-\n", fd, len);
		return;
	}
	data_string(data, name);
	data_item(data, RAS_ITEM_VALUE, &mode, 2);
	fprintf(list, "%d\t%u\t%s\t-\t%u\t-\n", fd, len, shown[i % 5], mode);
}

static void request_make(struct bytes *data, uint32_t i, FILE *list)
{
	uint32_t request[5] = { i, 0, i % 2, i % 256, (i + 1) % 256 };
	uint16_t words[3] = { i, i + 1, i + 2 };
	int32_t age = -(int32_t)i;

	memcpy(&request[1], "tag", 4);
	data_item(data, RAS_ITEM_VALUE, request, sizeof(request));
	data_item(data, RAS_ITEM_VALUE, &age, 4);
	data_item(data, RAS_ITEM_VALUE, words, 2 * (i % 4));
	fprintf(list, "-\t-\t-\t%d\t-\t%s\n", (int)i, i % 2 ? "GREEN" : "RED");
}

static void return_make(struct bytes *data, uint32_t i, FILE *list)
{
	int64_t rc = i % 6 ? (int64_t)i : -2;
	double load = i / 8.0;
	uint32_t pid = i;

	data_item(data, RAS_ITEM_VALUE, &rc, 8);
	data_item(data, RAS_ITEM_VALUE, &load, 8);
	data_item(data, RAS_ITEM_VALUE, &pid, 4);
	fprintf(list, "-\t-\t-\t-\t-\t-\n");
}

static void event_make(struct slice_builder *slice, uint32_t i,
		       uint32_t *seq, FILE *list)
{
	uint32_t point = i % POINTS;
	struct ras_record record = {
		.session = 1, .major = 0xc5, .point = point,
		.minor = points[point].minor, .time = BOOT + i * STEP,
		.pid = 100 + i % 4, .tid = 1000 + i % 8, .seq = *seq,
	};
	struct bytes data = { 0 };

	++*seq;
	fprintf(list, "%u\t%u\t%u\t%u\t%s\t%u\t%llu\t", i + 1, record.minor,
		record.pid, record.tid, record.pid == 103 ? "-" :
		comms[i % 4], slice->copy.cpu, i * STEP);
	if (point == POINT_OPEN)
		open_make(&data, &record, i, list);
	else if (point == POINT_REQUEST)
		request_make(&data, i, list);
	else
		return_make(&data, i, list);
	slice_add(slice, record, &data);
	bytes_free(&data);
}

static void make_trace(const char *folder, uint32_t n, FILE *list)
{
	struct slice_builder slices[CPUS];
	struct bytes ras = { 0 }, log = { 0 };
	uint32_t seq[CPUS][POINTS] = { 0 };

	ras_begin(&ras, BOOT + n * STEP + SECOND, START * (int64_t)SECOND);
	session_add(&log, 1, 0xc5, "/nowhere/app.tdf", points, POINTS);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	for (uint32_t i = 0; i < 3; i++)
		ras_process_add(&ras, 100 + i, BOOT, comms[i]);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		slices[cpu] = slice_begin(cpu, 0, 0);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t cpu = i / 5 % CPUS;

		event_make(&slices[cpu], i, &seq[cpu][i % POINTS], list);
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		ras_slice_add(&ras, &slices[cpu]);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_write(&ras, folder, "choices.ras");
	bytes_free(&ras);
	bytes_free(&log);
}

int main(int argc, char **argv)
{
	char path[4096];
	FILE *list;

	if (argc < 2)
		return 2;
	snprintf(path, sizeof(path), "%s/choices.txt", argv[1]);
	list = fopen(path, "w");
	if (!list)
		return 1;
	make_tff(argv[1]);
	make_trace(argv[1], argc > 2 ? strtoul(argv[2], NULL, 0) : 1000, list);
	return fclose(list) != 0;
}
