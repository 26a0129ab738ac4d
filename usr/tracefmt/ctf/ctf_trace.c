// SPDX-License-Identifier: GPL-2.0
#include "ctf_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "ctf_status.h"
#include "ctf_tsdl.h"

#define SECOND		1000000000ULL
#define OFFSET_MOST	(1LL << 62)
#define NONE		"-"	/* no string is empty: see ctf_ctype.h */

/* ---- metadata ---- */

static void types_tsdl(struct ctf_buffer *tsdl)
{
	static const struct {
		const char *name;
		unsigned int bytes, base;
		bool is_signed;
	} types[] = {
		{ "uint8_t", 1, 10, false }, { "uint16_t", 2, 10, false },
		{ "uint32_t", 4, 10, false }, { "uint64_t", 8, 10, false },
		{ "int64_t", 8, 10, true },
		{ "hex8_t", 1, 16, false }, { "hex64_t", 8, 16, false },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		ctf_buffer_print(tsdl, "typealias ");
		ctf_tsdl_integer(tsdl, types[i].bytes, types[i].is_signed,
				 types[i].base);
		ctf_buffer_print(tsdl, " := %s;\n", types[i].name);
	}
	ctf_buffer_print(tsdl, "\n");
}

static void env_line_tsdl(struct ctf_buffer *tsdl, const char *name,
			  const char *value)
{
	ctf_buffer_print(tsdl, "\t%s = ", name);
	ctf_tsdl_literal(tsdl, value, strlen(value));
	ctf_buffer_print(tsdl, ";\n");
}

static void clock_tsdl(struct ctf_buffer *tsdl, uint64_t offset)
{
	ctf_buffer_print(tsdl,
			 "clock {\n\tname = boottime;\n"
			 "\tdescription = \"CLOCK_BOOTTIME\";\n"
			 "\tfreq = 1000000000;\n"
			 "\toffset_s = %llu;\n\toffset = %llu;\n"
			 "\tabsolute = true;\n};\n\n",
			 (unsigned long long)(offset / SECOND),
			 (unsigned long long)(offset % SECOND));
	ctf_buffer_print(tsdl,
			 "typealias integer { size = 64; align = 8; "
			 "signed = false; map = clock.boottime.value; } "
			 ":= time64_t;\n\n");
}

static int uuid_make(uint8_t *uuid)
{
	if (getrandom(uuid, CTF_UUID_BYTES, 0) != CTF_UUID_BYTES)
		return -EIO;
	uuid[6] = (uuid[6] & 0x0f) | 0x40;	/* RFC 4122, 4.4: random */
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
	return 0;
}

int ctf_trace_begin(struct ctf_trace *ctf, const struct trace *trace, int dir)
{
	int64_t offset = trace->file.header.wall_offset;
	struct ctf_buffer *tsdl = &ctf->tsdl;
	int code;

	ctf->streams.dir = dir;
	ctf->metadata = openat(dir, "metadata", O_WRONLY | O_CREAT | O_EXCL |
			       O_CLOEXEC, 0666);
	if (ctf->metadata < 0)
		return -errno;
	code = uuid_make(ctf->streams.uuid);
	if (code)
		return code;
	ctf->offset = offset >= 0 && offset <= OFFSET_MOST ? offset : 0;
	ctf_buffer_print(tsdl, "/* CTF 1.8 */\n\n");
	types_tsdl(tsdl);
	ctf_buffer_print(tsdl,
			 "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	for (int i = 0; i < CTF_UUID_BYTES; i++)
		ctf_buffer_print(tsdl, "%s%02x", i == 4 || i == 6 || i == 8 ||
				 i == 10 ? "-" : "", ctf->streams.uuid[i]);
	ctf_buffer_print(tsdl,
			 "\";\n\tbyte_order = le;\n"
			 "\tpacket.header := struct {\n"
			 "\t\tuint32_t magic;\n"
			 "\t\tuint8_t uuid[16];\n"
			 "\t\tuint32_t stream_id;\n"
			 "\t};\n};\n\n");
	ctf_buffer_print(tsdl, "env {\n");
	env_line_tsdl(tsdl, "hostname", trace->file.host);
	env_line_tsdl(tsdl, "sysname", "Linux");
	env_line_tsdl(tsdl, "kernel_release", trace->file.kernel);
	env_line_tsdl(tsdl, "tracer_name", "rastrace");
	env_line_tsdl(tsdl, "source", trace->name);
	ctf_buffer_print(tsdl, "};\n\n");
	clock_tsdl(tsdl, ctf->offset);
	ctf_status_tsdl(tsdl);
	ctf_stream_tsdl(tsdl);
	return ctf_buffer_write(tsdl, ctf->metadata);
}

/* ---- events ---- */

/* Records of its point that are missing between this one and the one before in
 * its slice: they are missed on this CPU. */
static int losses_tell(struct ctf_trace *ctf, struct ctf_class *class,
		       const struct event *event)
{
	const struct match_point *point = event->point;
	uint64_t lost = point->reached - point->present;

	if (!point->armed)
		return 0;
	if (event->trace->file.continued)
		lost -= point->before;
	if ((int64_t)(lost - class->lost) <= 0)
		return 0;
	lost -= class->lost;
	class->lost += lost;
	return ctf_stream_discard(&ctf->streams, event->cpu, lost);
}

/* The event's time in the streams' clock, or the nearest that it can have. */
static uint64_t time_of(const struct ctf_trace *ctf, int64_t time,
			const struct ctf_stream *stream)
{
	uint64_t moved = time < ctf->offset ? 0 : time - ctf->offset;

	return stream && stream->end > moved ? stream->end : moved;
}

int ctf_trace_event(struct ctf_trace *ctf, const struct event *event,
		    struct scratch *scratch, struct symbols *symbols)
{
	struct ctf_class *class = ctf_class_find(&ctf->classes, event->point);
	uint64_t time = time_of(ctf, event->time, NULL);
	struct ctf_stream *stream;
	enum ctf_form form;
	uint32_t id;
	size_t bytes;
	const struct ras_record *record = event->record;
	const char *comm = event_thread_comm(event), *comma = "";
	unsigned int flags;
	bool moved;
	int code;

	if (!class || output_decode(event, scratch, NULL) ||
	    losses_tell(ctf, class, event))
		return -ENOMEM;
	form = ctf_class_form(class, event, scratch);
	id = ctf_class_id(&ctf->classes, class, form, &ctf->tsdl);
	code = ctf_buffer_write(&ctf->tsdl, ctf->metadata);
	if (code)
		return code;
	stream = ctf_stream_choose(&ctf->streams, event->cpu, time);
	if (!stream)
		return -ENOMEM;
	time = time_of(ctf, event->time, stream);
	bytes = stream->packet.used;
	ctf_buffer_number(&stream->packet, id, 4);
	ctf_buffer_number(&stream->packet, time, 8);
	/* The event's header: see ctf_stream_tsdl(). */
	ctf_buffer_number(&stream->packet, event->number, 8);
	ctf_buffer_number(&stream->packet, record->major, 2);
	ctf_buffer_number(&stream->packet, record->minor, 2);
	ctf_buffer_number(&stream->packet, record->pid, 4);
	ctf_buffer_number(&stream->packet, record->tid, 4);
	if (!comm || !*comm)
		comm = NONE;
	ctf_buffer_string(&stream->packet, comm, strnlen(comm, 16));
	/* "fault,cut", and "moved=1770163191000000000" where the wall clock is
	 * not that of the timestamp. */
	flags = event_flags(event, scratch->result.status,
			    scratch->result.misfit);
	moved = ctf->offset + (int64_t)time != event->time;
	if (!flags && !moved)
		ctf_buffer_print(&stream->packet, NONE);
	for (unsigned int i = 0; i < EVENT_FLAGS; i++) {
		if (!(flags & 1u << i))
			continue;
		ctf_buffer_print(&stream->packet, "%s%s", comma,
				 event_flag_words[i]);
		comma = ",";
	}
	if (moved)
		ctf_buffer_print(&stream->packet, "%smoved=%lld", comma,
				 (long long)event->time);
	ctf_buffer_number(&stream->packet, 0, 1);
	ctf_class_write(&stream->packet, &ctf->classes, class, form, event,
			symbols);
	return ctf_stream_added(&ctf->streams, stream, time, bytes);
}

/* ---- the end ---- */

/* Hits that found all slices of their CPU busy. */
static int drops_tell(struct ctf_trace *ctf, const struct slices *slices)
{
	int code = 0;

	for (size_t i = 0; i < slices->count && !code; i++) {
		const struct trace_slice *slice = slices->items[i];

		if (slice->dropped > slice->dropped_base)
			code = ctf_stream_discard(&ctf->streams, slice->cpu,
						  slice->dropped -
						  slice->dropped_base);
	}
	return code;
}

int ctf_trace_finish(struct ctf_trace *ctf, const struct trace *trace)
{
	int code = drops_tell(ctf, &trace->file.slices);

	if (!code)
		code = ctf_stream_finish(&ctf->streams);
	if (ctf->metadata >= 0 && close(ctf->metadata) && !code)
		code = -errno;
	ctf->metadata = -1;
	return code;
}

void ctf_trace_free(struct ctf_trace *ctf)
{
	if (ctf->metadata >= 0)
		close(ctf->metadata);
	if (ctf->streams.dir >= 0)
		close(ctf->streams.dir);
	ctf_buffer_free(&ctf->tsdl);
	ctf_class_free(&ctf->classes);
	ctf_stream_free(&ctf->streams);
}
