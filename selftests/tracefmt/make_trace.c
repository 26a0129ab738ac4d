// SPDX-License-Identifier: GPL-2.0
/*
 * make_trace FOLDER: writes sample.ras and the TFFs that belong to it:
 * two CPUs, one of them wrapped; a missing TFF, another data hash, faults.
 * typed.ras and its TFF: C types, a tail call, a variable that isn't there.
 * And ahead.ras, whose records are ahead of the counters, and hole.ras, where
 * records are missing.
 * make_trace FOLDER N: bench.ras with N records instead.
 */
#include "lib/hash.c"
#include "builder.h"

#define START	1770163190LL	/* 2026-02-03 23:59:50 UTC, boot time 0 */
#define SECOND	1000000000ULL

static const struct ras_session_point app_points[] = {
	{ .hash = 0x1111, .minor = 25 },
	{ .hash = 0x2222, .minor = 0xb1 },
	{ .hash = 0x3333, .minor = 0xb3 },
	{ .hash = 0x4444, .minor = 0xb4 },
	{ .hash = 0x6666, .minor = 0xb6 },
};

static const struct ras_session_point other_points[] = {
	{ .hash = 0x7777, .minor = 1 },
};

static struct ras_record record_of(uint16_t point, uint64_t time)
{
	return (struct ras_record){
		.session = 1, .major = 0xc5, .point = point,
		.minor = app_points[point].minor,
		.time = time, .pid = 38, .tid = 70000,
	};
}

static void make_tffs(const char *folder)
{
	struct tff_builder tff = { .major = 0xc5 }, other = { .major = 0xc5 };
	struct bytes out;

	tff_section_begin(&tff, "/usr/bin/app", 0xefbeadde);
	tff_entry_add(&tff, 25, 0x1111, 0, "(OS) xxalloc Pre-Invocation",
		      " AX = %W \n upper BX = %B\n lower BX = %B\n"
		      " param = %P%S\n");
	tff_entry_add(&tff, 0xb1, 0x2222, 0, "(OS) Goo Pre-Invocation",
		      " First = %P%D\n Second = %P%S\n Third = %P%W\n");
	tff_entry_add(&tff, 0xb3, 0x9999, 0, "(OS) Zoo Pre-Invocation",
		      " Last = %P%W\n");
	tff_entry_add(&tff, 0xb5, 0, TFF_STATIC,
		      "(OS) StaticProcedure Pre-Invocation",
		      " DI = %W NAME = %S\n");
	tff_entry_add(&tff, 0xb6, 0x6666, 0, "(APP) LookUp Pre-Invocation", "");
	out = tff_finish(&tff);
	bytes_write(&out, folder, "trc00c5.tff");
	bytes_free(&out);

	/* of the same major, the same data, another module */
	tff_section_begin(&other, "/usr/lib/other.so", 1);
	tff_entry_add(&other, 25, 0x1111, 0, "(OTHER) wrong", "wrong\n");
	out = tff_finish(&other);
	bytes_write(&out, folder, "TRC00C5.TFF");
	bytes_free(&out);
}

static void cpu0_records(struct slice_builder *slice)
{
	struct ras_record record = record_of(0, 1 * SECOND + 52123456);
	struct bytes data = { 0 };

	data_word(&data, 0x1234);
	data_word(&data, 0x5678);
	data_string(&data, "c:\\os2\\os2.ini");
	record.seq = 7;
	slice_add(slice, record, &data);
	bytes_free(&data);

	data_item(&data, RAS_ITEM_VALUE, "\x2c\x4b\0\0", 4);
	data_item(&data, RAS_ITEM_STRING | RAS_ITEM_PAGED_IN,
		  "\033[2Jname\n", 9);
	data_item(&data, RAS_ITEM_VALUE, "\x01\0", 2);
	slice_add(slice, record_of(1, 3 * SECOND), &data);
	bytes_free(&data);

	slice_add(slice, record_of(4, 4 * SECOND), NULL);
}

static void cpu1_records(struct slice_builder *slice)
{
	struct ras_record record = record_of(1, 2 * SECOND);
	struct bytes data = { 0 };

	data_item(&data, RAS_ITEM_VALUE, "\x2c\x4b\0\0", 4);
	data_fault(&data, 0x7fff0000beefULL);
	record.flags = RAS_RECORD_FAULT;
	slice_add(slice, record, &data);
	bytes_free(&data);

	data_item(&data, RAS_ITEM_VALUE, "0123456789abcdef\n", 17);
	slice_add(slice, record_of(2, 3 * SECOND), &data);
	slice_add(slice, record_of(3, 3 * SECOND), &data);
	record = record_of(0, 5 * SECOND);
	record.session = 2;
	record.major = 0xf1;
	record.minor = 1;
	slice_add(slice, record, &data);
	bytes_free(&data);

	data_word(&data, 7);
	bytes_add(&data, "static", 7);
	record = record_of(0, 11 * SECOND + 1);
	record.session = RAS_STATIC_SESSION;
	record.minor = 0xb5;
	slice_add(slice, record, &data);
	bytes_free(&data);

	data_item(&data, RAS_ITEM_VALUE, "\x01\0\0\0", 4);
	data_item(&data, RAS_ITEM_STRING | RAS_ITEM_CUT, "a long str", 10);
	data_item(&data, RAS_ITEM_VALUE | RAS_ITEM_CUT, "", 0);
	record = record_of(1, 12 * SECOND);
	record.flags = RAS_RECORD_CUT;
	record.seq = 1;
	slice_add(slice, record, &data);
	bytes_free(&data);
}

static void make_sample(const char *folder)
{
	static const struct ras_count_total app_totals[] = {
		{ 8, 1, 0, { .filtered = { [RAS_FILTERED_SUSPENDED] = 1,
					   [RAS_FILTERED_CONDITION] = 2 } } },
		{ 3, 0, RAS_MISSED_UNKNOWN,
		  { .faults = { [RAS_FAULT_UNREADABLE] = 1 }, .paged_in = 1 } },
		{ 1 }, { 1 }, { 1, .missed = 2 },
	};
	struct slice_builder cpu0 = slice_begin(0, 4096, 7);
	struct slice_builder cpu1 = slice_begin(1, 0, 0);
	struct bytes ras = { 0 }, log = { 0 };

	ras_begin(&ras, 13 * SECOND, START * (int64_t)SECOND);
	session_add(&log, 1, 0xc5, "/nowhere/app.tdf", app_points, 5);
	session_add(&log, 2, 0xf1, "/nowhere/other.tdf", other_points, 1);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	counts_add(&ras, 1, app_totals, 5);
	cpu0_records(&cpu0);
	cpu1_records(&cpu1);
	cpu0.copy.dropped = 1;
	ras_slice_add(&ras, &cpu0);
	ras_slice_add(&ras, &cpu1);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_write(&ras, folder, "sample.ras");
	bytes_free(&ras);
	bytes_free(&log);
}

static void make_typed_tff(const char *folder)
{
	struct tff_builder tff = { .major = 0xc6 };
	struct bytes out;

	tff_section_begin(&tff, "/usr/bin/app", 0xefbeadde);
	tff_entry_add(&tff, 25, 0x1111, 0, "srv_tick",
		      "EAX=%{x32} EBX=%{x32}\nr = %P%{struct request}\n"
		      "flags = %P%{enum flags}\nname = %P%S\n");
	tff_entry_add(&tff, 0xb1, 0x2222, 0, "srv_tick,RETEP",
		      "retval = %P%{int}\n");
	tff_ctype_add(&tff, "int", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_INT });
	tff_ctype_add(&tff, "char", (struct tff_ctype){
			      .bytes = 1, .kind = TFF_CTYPE_CHAR });
	tff_ctype_add(&tff, "char[4]", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_ARRAY,
			      .target = 1, .count = 4 });
	tff_ctype_add(&tff, "enum flags", (struct tff_ctype){
			      .bytes = 4, .kind = TFF_CTYPE_ENUM });
	tff_member_add(&tff, "READ", (struct tff_member){ .value = 1 });
	tff_member_add(&tff, "WRITE", (struct tff_member){ .value = 2 });
	tff_ctype_add(&tff, "struct request", (struct tff_ctype){
			      .bytes = 12, .kind = TFF_CTYPE_STRUCT });
	tff_member_add(&tff, "id", (struct tff_member){ .ctype = 0 });
	tff_member_add(&tff, "tag", (struct tff_member){
			       .ctype = 2, .value = 32 });
	tff_member_add(&tff, "how", (struct tff_member){
			       .ctype = 3, .value = 64 });
	out = tff_finish(&tff);
	bytes_write(&out, folder, "TRC00C6.TFF");
	bytes_free(&out);
}

static struct ras_record typed_record(uint16_t point, uint64_t time,
				      uint16_t flags)
{
	struct ras_record record = record_of(point, time);

	record.major = 0xc6;
	record.flags = flags;
	record.seq = (time / SECOND - 1) % 2;	/* two of each point */
	return record;
}

static void typed_records(struct slice_builder *slice)
{
	struct bytes data = { 0 };

	data_double(&data, 0x1234);
	data_double(&data, 0xdeadbeef);
	data_item(&data, RAS_ITEM_VALUE, "\x07\0\0\0abc\0\x03\0\0\0", 12);
	data_item(&data, RAS_ITEM_VALUE, "\x05\0\0\0", 4);
	data_string(&data, "idle");
	slice_add(slice, typed_record(0, SECOND, 0), &data);
	bytes_free(&data);

	data_double(&data, 1);
	data_double(&data, 2);
	data_fault(&data, 0x18);
	data_item(&data, RAS_ITEM_ABSENT, NULL, 0);
	data_item(&data, RAS_ITEM_STRING | RAS_ITEM_CUT, "bus", 3);
	slice_add(slice, typed_record(0, 2 * SECOND,
				      RAS_RECORD_FAULT | RAS_RECORD_CUT),
		  &data);
	bytes_free(&data);

	data_item(&data, RAS_ITEM_VALUE, "\xfe\xff\xff\xff", 4);
	slice_add(slice, typed_record(1, 3 * SECOND, 0), &data);
	slice_add(slice, typed_record(1, 4 * SECOND, RAS_RECORD_TAIL_CALL),
		  &data);
	bytes_free(&data);
}

static void make_typed(const char *folder)
{
	struct slice_builder slice = slice_begin(0, 0, 0);
	struct bytes ras = { 0 }, log = { 0 };

	make_typed_tff(folder);
	ras_begin(&ras, 13 * SECOND, START * (int64_t)SECOND);
	session_add(&log, 1, 0xc6, "/nowhere/app.tdf", app_points, 5);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	typed_records(&slice);
	ras_slice_add(&ras, &slice);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_write(&ras, folder, "typed.ras");
	bytes_free(&ras);
	bytes_free(&log);
}

/* Records of one point, numbered first to first + 4 without `left_out`, on two
 * CPUs; of which 4 were counted before the slices were copied. */
static void make_numbered(const char *folder, const char *name, uint32_t first,
			  uint32_t left_out)
{
	static const struct ras_count_total counted[5] = { { .recorded = 4 } };
	struct bytes ras = { 0 }, log = { 0 };

	ras_begin(&ras, 13 * SECOND, START * (int64_t)SECOND);
	session_add(&log, 1, 0xc5, "/nowhere/app.tdf", app_points, 5);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	counts_add(&ras, 1, counted, 5);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct slice_builder slice = slice_begin(cpu, 4096, first);
		struct ras_record record = record_of(0, SECOND);

		for (uint32_t i = 0; i < 5; i++) {
			record.seq = first + i;
			if (i != left_out)
				slice_add(&slice, record, NULL);
		}
		ras_slice_add(&ras, &slice);
	}
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_write(&ras, folder, name);
	bytes_free(&ras);
	bytes_free(&log);
}

static void make_bench(const char *folder, unsigned long n)
{
	struct slice_builder slices[2] = { slice_begin(0, 0, 0),
					   slice_begin(1, 0, 0) };
	struct bytes ras = { 0 }, log = { 0 };

	ras_begin(&ras, n * 1000, START * (int64_t)SECOND);
	session_add(&log, 1, 0xc5, "/nowhere/app.tdf", app_points, 5);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	for (unsigned long i = 0; i < n; i++) {
		struct slice_builder *slice = &slices[i >> 4 & 1];
		struct ras_record record = record_of(1, i * 1000);
		struct bytes data = { 0 };

		data_item(&data, RAS_ITEM_VALUE, &i, 4);
		data_string(&data, "/etc/hostname");
		data_item(&data, RAS_ITEM_VALUE, &i, 2);
		record.seq = slice->copy.records;
		slice_add(slice, record, &data);
		bytes_free(&data);
	}
	ras_slice_add(&ras, &slices[0]);
	ras_slice_add(&ras, &slices[1]);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_write(&ras, folder, "bench.ras");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	make_tffs(argv[1]);
	if (argc > 2) {
		make_bench(argv[1], strtoul(argv[2], NULL, 0));
	} else {
		make_sample(argv[1]);
		make_typed(argv[1]);
		make_numbered(argv[1], "ahead.ras", 10, 5);
		make_numbered(argv[1], "hole.ras", 10, 2);
	}
	return 0;
}
