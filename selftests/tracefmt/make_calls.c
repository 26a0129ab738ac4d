// SPDX-License-Identifier: GPL-2.0
/*
 * make_calls NAME.ras [HOST] <SCRIPT: writes a trace of calls, and its
 * TRC00C9.TFF to the current directory; of a host with a name, by another key.
 * Lines of the script:
 *
 *	session INDEX MODULE DISARMED MINOR...	minors of a session; ID of the
 *					module, ns when it ended or 0
 *	cpu N				what follows is recorded there
 *	gap BYTES			records are overwritten there
 *	TIME PID TID SESSION MINOR FLAGS [VALUE]...
 *					a record: ns; 4 bytes, or a "string"; of
 *					a whole call (FLAGS 128) first two each
 *					of when it began, and ns that it took
 *	repeat N TIME STEP PID TID SESSION MINOR [MINOR]
 *					N records, every STEP ns, of these
 *					minors in turn
 */
#include "lib/hash.c"
#include "builder.h"

#define START	1770163190LL	/* 2026-02-03 23:59:50 UTC, boot time 0 */
#define SECOND	1000000000ULL
#define MAJOR	0xc9
#define CPUS	4
#define POINTS	64

static struct slice_builder slices[CPUS];
static struct bytes ras, sessions;
static struct ras_session_point points[256][POINTS];
static unsigned int point_count[256];
static uint32_t next_seq[CPUS][256][256];	/* by session and point */
static unsigned int cpu;
static uint64_t key = BUILD_KEY;

static void tff_write(void)
{
	struct tff_builder tff = { .major = MAJOR };
	struct bytes out;

	tff_section_begin(&tff, "/usr/bin/app", 0xefbeadde);
	tff_entry_add(&tff, 1, 1, 0, "(app) open Pre-Invocation",
		      " name = %P%S\n");
	tff_entry_add(&tff, 2, 2, 0, "(app) work Pre-Invocation",
		      " n = %{d32}\n");
	tff_entry_add(&tff, 3, 3, 0, "(app) fall Pre-Invocation", "");
	tff_entry_add(&tff, 5, 5, 0, "(app) step", "  step: %{d32}\n");
	tff_entry_add(&tff, 6, 6, TFF_MIGRATES, "(app) move", "");
	tff_entry_add(&tff, 7, 7, TFF_WHOLE, "(app) work", "");
	tff_entry_add(&tff, 0x21, 0, TFF_STATIC, "(app) span begin",
		      " id = %{u32}\n");
	tff_entry_add(&tff, 0x22, 0, TFF_STATIC, "(app) mark", "");
	tff_entry_add(&tff, 0x8001, 0x8001, 0, "(app) open Post-Invocation",
		      " returns %{d32}\n");
	tff_entry_add(&tff, 0x8002, 0x8002, 0, "(app) work Post-Invocation",
		      " out = %P%S\n Return Code = %{d32}\n");
	tff_entry_add(&tff, 0x8003, 0x8003, 0, "(app) fall Post-Invocation",
		      "");
	tff_entry_add(&tff, 0x8021, 0, TFF_STATIC, "(app) span end", "");
	out = tff_finish(&tff);
	if (bytes_write(&out, ".", "TRC00C9.TFF"))
		exit(1);
	bytes_free(&out);
}

static void session_read(char *p)
{
	unsigned int index = strtoul(p, &p, 0), n = 0;
	uint32_t module = strtoul(p, &p, 0);
	uint64_t disarmed = strtoull(p, &p, 0);
	struct ras_session *session;
	char *end;

	for (; n < POINTS; n++, p = end) {
		uint16_t minor = strtoul(p, &end, 0);

		if (end == p)
			break;
		points[index][n] = (struct ras_session_point){
			.hash = minor, .minor = minor,
		};
	}
	point_count[index] = n;
	session_add(&sessions, index, MAJOR, "/tmp/app.tdf", points[index], n);
	session = session_last(&sessions, n);
	memcpy(session->id, &module, sizeof(module));
	session->disarmed = disarmed;
}

static struct ras_record record_of(uint64_t time, uint32_t pid, uint32_t tid,
				   unsigned int session, uint16_t minor)
{
	struct ras_record record = {
		.time = time, .pid = pid, .tid = tid, .session = session,
		.major = MAJOR, .minor = minor,
		.point = session ? 0 : MAJOR,
	};

	while (record.point < point_count[session] &&
	       points[session][record.point].minor != minor)
		record.point++;
	record.seq = next_seq[cpu][session][record.point]++;
	return record;
}

static void record_read(char *p)
{
	uint64_t time = strtoull(p, &p, 0);
	uint32_t pid = strtoul(p, &p, 0), tid = strtoul(p, &p, 0);
	unsigned int session = strtoul(p, &p, 0);
	uint16_t minor = strtoul(p, &p, 0), flags = strtoul(p, &p, 0);
	struct ras_record record = record_of(time, pid, tid, session, minor);
	struct bytes data = { 0 };

	record.flags = flags;
	for (;;) {
		p += strspn(p, " \n");
		if (!*p)
			break;
		if (*p == '"') {
			char *end = strchr(p + 1, '"');

			*end = '\0';
			data_string(&data, p + 1);
			p = end + 1;
		} else {
			data_double(&data, strtoul(p, &p, 0));
		}
	}
	slice_add(&slices[cpu], record, &data);
	bytes_free(&data);
}

static void repeat_read(char *p)
{
	uint64_t count = strtoull(p, &p, 0), time = strtoull(p, &p, 0);
	uint64_t step = strtoull(p, &p, 0);
	uint32_t pid = strtoul(p, &p, 0), tid = strtoul(p, &p, 0);
	unsigned int session = strtoul(p, &p, 0);
	uint16_t minors[2] = { strtoul(p, &p, 0), strtoul(p, &p, 0) };

	minors[1] = minors[1] ? minors[1] : minors[0];
	for (uint64_t i = 0; i < count; i++)
		slice_add(&slices[cpu],
			  record_of(time + i * step, pid, tid, session,
				    minors[i % 2]), NULL);
}

static void records_seal(struct slice_builder *slice)
{
	for (size_t at = 0; at < slice->records.size;) {
		struct ras_record *record = (void *)(slice->records.data + at);

		record->stamp ^= BUILD_KEY ^ key;
		at += (record->length + 7) & ~7u;
	}
}

static void line_read(char *line)
{
	if (!strncmp(line, "session ", 8))
		session_read(line + 8);
	else if (!strncmp(line, "cpu ", 4))
		cpu = atoi(line + 4) % CPUS;
	else if (!strncmp(line, "gap ", 4)) {
		records_seal(&slices[cpu]);
		ras_slice_flush(&ras, &slices[cpu]);
		slice_skip(&slices[cpu], atoi(line + 4) & ~7);
	} else if (!strncmp(line, "repeat ", 7))
		repeat_read(line + 7);
	else if (*line >= '0' && *line <= '9')
		record_read(line);
}

int main(int argc, char **argv)
{
	struct ras_file *header;
	char line[4096];

	if (argc < 2)
		return 2;
	ras_begin(&ras, 100 * SECOND, START * SECOND);
	header = (void *)ras.data;
	if (argc > 2) {
		snprintf(header->host, sizeof(header->host), "%s", argv[2]);
		header->key = key = hash_fnv(0, argv[2], strlen(argv[2]));
		ras_header_seal(&ras);
	}
	for (unsigned int i = 0; i < CPUS; i++)
		slices[i] = slice_begin(i, 0, 0);
	while (fgets(line, sizeof(line), stdin))
		line_read(line);
	if (sessions.size)
		ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &sessions);
	ras_process_add(&ras, 7, 0, "app");
	for (unsigned int i = 0; i < CPUS; i++) {
		records_seal(&slices[i]);
		ras_slice_add(&ras, &slices[i]);
	}
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	tff_write();
	return bytes_write(&ras, ".", argv[1]);
}
