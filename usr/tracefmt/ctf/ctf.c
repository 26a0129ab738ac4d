// SPDX-License-Identifier: GPL-2.0
/*
 * --format=ctf: a directory in the Common Trace Format 1.8, for babeltrace2 and
 * Trace Compass; of several traces a directory with one for each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/key_map.h"
#include "lib/outfile.h"
#include "tracefmt/output/output.h"
#include "ctf_class.h"
#include "ctf_tsdl.h"

/* ---- streams ---- */

#define CTF_UUID_BYTES	16

/*
 * The stream files of a trace, cpu0, cpu1, ..., are each a row of packets: this,
 * and events. In a stream time never goes back. An event that is older than the
 * one before it on its CPU goes to another stream of that CPU, cpu0_late1 and so
 * on.
 */
struct packet_head {
	uint32_t magic;
	uint8_t uuid[CTF_UUID_BYTES];
	uint32_t stream_id;
	uint64_t begin, end;		/* timestamps */
	uint64_t content_bits, packet_bits;
	uint64_t number;
	uint64_t discarded;		/* events */
	uint32_t cpu;
} __attribute__((packed));

#define CTF_LATE_STREAMS 8	/* of a CPU; then times are moved */

struct ctf_stream {
	uint32_t cpu;
	unsigned int late;		/* 0: the CPU's first */
	struct ctf_stream *next;	/* the CPU's next */
	struct text packet;		/* the one that is filled */
	uint64_t begin, end;		/* times of its first and last event, or
					 * of the last one before */
	uint64_t packets;		/* written so far */
	uint64_t discarded;		/* events, so far */
	uint64_t reported;		/* of these, in packets written */
};

struct ctf_streams {
	int dir;
	uint8_t uuid[CTF_UUID_BYTES];
	struct key_map first;		/* each CPU's first stream */
	size_t held;			/* bytes in packets */
};

#define CTF_MAGIC	0xc1fc1fc1
#define PACKET_FULL	(64u << 10)
#define HELD_MOST	(16u << 20)	/* bytes in packets of all streams */

/* The TSDL of the packets. */
static void ctf_stream_tsdl(struct text *tsdl)
{
	static const char text[] =
		"stream {\n"
		"\tid = 0;\n"
		"\tpacket.context := struct {\n"
		"\t\ttime64_t timestamp_begin;\n"
		"\t\ttime64_t timestamp_end;\n"
		"\t\tuint64_t content_size;\n"
		"\t\tuint64_t packet_size;\n"
		"\t\tuint64_t packet_seq_num;\n"
		"\t\tuint64_t events_discarded;\n"
		"\t\tuint32_t cpu_id;\n"
		"\t};\n"
		"\tevent.header := struct {\n"
		"\t\tuint32_t id;\n"
		"\t\ttime64_t timestamp;\n"
		"\t};\n"
		"\tevent.context := struct {\n"
		"\t\tuint64_t number;\n"
		"\t\tuint16_t major;\n"
		"\t\tuint16_t minor;\n"
		"\t\tuint32_t pid;\n"
		"\t\tuint32_t tid;\n"
		"\t\tstring comm;\n"
		"\t\tstring flags;\n"
		"\t};\n"
		"};\n\n";

	text_add(tsdl, text, sizeof(text) - 1);
}

/* ---- packets ---- */

static int packet_stream_open(const struct ctf_streams *streams,
			      const struct ctf_stream *stream)
{
	int how = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
	char name[48];

	if (stream->late)
		sprintf(name, "cpu%u_late%u", stream->cpu, stream->late);
	else
		sprintf(name, "cpu%u", stream->cpu);
	if (!stream->packets)
		how |= O_EXCL;
	return openat(streams->dir, name, how, 0666);
}

/* Of a packet of so many bytes, with this. */
static struct packet_head packet_head_make(const struct ctf_streams *streams,
					   const struct ctf_stream *stream,
					   size_t bytes, uint64_t discarded)
{
	bool empty = bytes == sizeof(struct packet_head);
	struct packet_head head = {
		.magic = htole32(CTF_MAGIC),
		.begin = htole64(stream->begin),
		.end = htole64(empty ? stream->begin : stream->end),
		.content_bits = htole64(8 * (uint64_t)bytes),
		.packet_bits = htole64(8 * (uint64_t)bytes),
		.number = htole64(stream->packets),
		.discarded = htole64(discarded),
		.cpu = htole32(stream->cpu),
	};

	memcpy(head.uuid, streams->uuid, sizeof(head.uuid));
	return head;
}

static void packet_begin(struct ctf_streams *streams,
			 struct ctf_stream *stream, uint64_t time)
{
	static const struct packet_head none;

	stream->begin = time;
	text_add(&stream->packet, &none, sizeof(none));
	streams->held += stream->packet.used;
}

/* Readers count from packet to packet: what is missing in front of the first
 * event counts from a packet without events. */
static int packet_first_write(struct ctf_streams *streams,
			      struct ctf_stream *stream, int fd)
{
	struct packet_head head =
		packet_head_make(streams, stream, sizeof(head), 0);
	struct text first = { .fd = fd };
	int code;

	text_add(&first, &head, sizeof(head));
	code = text_flush(&first);
	free(first.data);
	stream->packets++;
	return code;
}

static int packet_write_to(struct ctf_streams *streams,
			   struct ctf_stream *stream, int fd)
{
	struct text *packet = &stream->packet;
	struct packet_head head;
	int code;

	if (!stream->packets && stream->discarded) {
		code = packet_first_write(streams, stream, fd);
		if (code)
			return code;
	}
	if (packet->error)
		return -packet->error;
	head = packet_head_make(streams, stream, packet->used,
				stream->discarded);
	memcpy(packet->data, &head, sizeof(head));
	packet->fd = fd;
	return text_flush(packet);
}

/* A descriptor is held no longer: there may be thousands of CPUs. */
static int packet_write(struct ctf_streams *streams, struct ctf_stream *stream)
{
	size_t bytes = stream->packet.used;
	int fd = packet_stream_open(streams, stream), code;

	if (fd < 0)
		return -errno;
	code = packet_write_to(streams, stream, fd);
	if (close(fd) && !code)
		code = -errno;
	streams->held -= bytes;
	stream->packets++;
	stream->reported = stream->discarded;
	return code;
}

/* ---- streams by CPU ---- */

static struct ctf_stream *stream_make(uint32_t cpu, unsigned int late)
{
	struct ctf_stream *stream = calloc(1, sizeof(*stream));

	if (stream) {
		stream->cpu = cpu;
		stream->late = late;
	}
	return stream;
}

/* The CPU's first stream. */
static struct ctf_stream *stream_first(struct ctf_streams *streams,
				       uint32_t cpu)
{
	struct ctf_stream *stream = key_map_find(&streams->first, cpu);

	if (stream)
		return stream;
	stream = stream_make(cpu, 0);
	if (stream && key_map_add(&streams->first, cpu, stream)) {
		free(stream);
		return NULL;
	}
	return stream;
}

/* The stream of a CPU for an event of this time, whose bytes are added to
 * `packet`; its `end` is after the time only when there is no stream left for
 * that. NULL: no memory. */
static struct ctf_stream *ctf_stream_choose(struct ctf_streams *streams,
					    uint32_t cpu, uint64_t time)
{
	struct ctf_stream *stream = stream_first(streams, cpu);

	while (stream && stream->end > time) {
		if (!stream->next && stream->late < CTF_LATE_STREAMS)
			stream->next = stream_make(cpu, stream->late + 1);
		else if (!stream->next)
			break;
		stream = stream->next;
	}
	if (stream && !stream->packet.used)
		packet_begin(streams, stream,
			     time < stream->end ? stream->end : time);
	return stream;
}

static int streams_each(struct ctf_streams *streams,
			int (*run)(struct ctf_streams *, struct ctf_stream *))
{
	struct ctf_stream *stream;
	size_t at = 0;
	int code = 0;

	while ((stream = key_map_next(&streams->first, &at)))
		for (; stream && !code; stream = stream->next)
			code = run(streams, stream);
	return code;
}

/* There are many streams: their memory, too. */
static int stream_release(struct ctf_streams *streams,
			  struct ctf_stream *stream)
{
	int code = stream->packet.used ? packet_write(streams, stream) : 0;

	free(stream->packet.data);
	stream->packet = (struct text){ 0 };
	return code;
}

/* An event of this time was added; `bytes` were in the packet before. 0, or a
 * negative errno. */
static int ctf_stream_added(struct ctf_streams *streams,
			    struct ctf_stream *stream, uint64_t time,
			    size_t bytes)
{
	stream->end = time;
	if (stream->packet.error)
		return -stream->packet.error;
	streams->held += stream->packet.used - bytes;
	if (stream->packet.used >= PACKET_FULL)
		return packet_write(streams, stream);
	return streams->held > HELD_MOST ?
	       streams_each(streams, stream_release) : 0;
}

/* Events of that CPU that are not in the trace. 0 or -ENOMEM. */
static int ctf_stream_discard(struct ctf_streams *streams, uint32_t cpu,
			      uint64_t events)
{
	struct ctf_stream *stream = stream_first(streams, cpu);

	if (!stream)
		return -ENOMEM;
	stream->discarded += events;
	return 0;
}

/* What was discarded after the last event gets a packet of its own. */
static int packet_stream_finish(struct ctf_streams *streams,
				struct ctf_stream *stream)
{
	if (!stream->packet.used && stream->reported != stream->discarded)
		packet_begin(streams, stream, stream->end);
	return stream->packet.used ? packet_write(streams, stream) : 0;
}

/* Write all that is held; the last packets have what was discarded. */
static int ctf_stream_finish(struct ctf_streams *streams)
{
	return streams_each(streams, packet_stream_finish);
}

static void ctf_stream_free(struct ctf_streams *streams)
{
	struct ctf_stream *stream, *next;
	size_t at = 0;

	while ((stream = key_map_next(&streams->first, &at)))
		for (; stream; stream = next) {
			next = stream->next;
			free(stream->packet.data);
			free(stream);
		}
	key_map_free(&streams->first);
	*streams = (struct ctf_streams){ .dir = -1 };
}

/* ---- a trace: a directory with its metadata and streams ---- */

struct ctf_trace {
	int metadata;		/* descriptor; -1: the trace isn't begun */
	int64_t offset;		/* wall clock of the time 0 in the streams */
	struct text tsdl;	/* not yet in the metadata */
	struct ctf_classes classes;
	struct ctf_streams streams;
};

#define SECOND		1000000000ULL
#define OFFSET_MOST	(1LL << 62)
#define NONE		"-"	/* no string is empty: see ctf_tsdl.h */

/* ---- metadata ---- */

static void types_tsdl(struct text *tsdl)
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
		text_print(tsdl, "typealias ");
		ctf_tsdl_integer(tsdl, types[i].bytes, types[i].is_signed,
				 types[i].base);
		text_print(tsdl, " := %s;\n", types[i].name);
	}
	text_print(tsdl, "\n");
}

static void env_line_tsdl(struct text *tsdl, const char *name,
			  const char *value)
{
	text_print(tsdl, "\t%s = ", name);
	ctf_tsdl_literal(tsdl, value, strlen(value));
	text_print(tsdl, ";\n");
}

static void clock_tsdl(struct text *tsdl, uint64_t offset)
{
	text_print(tsdl,
		   "clock {\n\tname = boottime;\n"
		   "\tdescription = \"CLOCK_BOOTTIME\";\n"
		   "\tfreq = 1000000000;\n"
		   "\toffset_s = %llu;\n\toffset = %llu;\n"
		   "\tabsolute = true;\n};\n\n",
		   (unsigned long long)(offset / SECOND),
		   (unsigned long long)(offset % SECOND));
	text_print(tsdl,
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

/* Write the metadata's beginning into `dir`, which is taken over in any case.
 * 0, or a negative errno. */
static int ctf_trace_begin(struct ctf_trace *ctf, const struct trace *trace,
			   int dir)
{
	int64_t offset = trace->file.header.wall_offset;
	struct text *tsdl = &ctf->tsdl;
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
	tsdl->fd = ctf->metadata;
	text_print(tsdl, "/* CTF 1.8 */\n\n");
	types_tsdl(tsdl);
	text_print(tsdl,
		   "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	for (int i = 0; i < CTF_UUID_BYTES; i++)
		text_print(tsdl, "%s%02x", i == 4 || i == 6 || i == 8 ||
			   i == 10 ? "-" : "", ctf->streams.uuid[i]);
	text_print(tsdl,
		   "\";\n\tbyte_order = le;\n"
		   "\tpacket.header := struct {\n"
		   "\t\tuint32_t magic;\n"
		   "\t\tuint8_t uuid[16];\n"
		   "\t\tuint32_t stream_id;\n"
		   "\t};\n};\n\n");
	text_print(tsdl, "env {\n");
	env_line_tsdl(tsdl, "hostname", trace->file.host);
	env_line_tsdl(tsdl, "sysname", "Linux");
	env_line_tsdl(tsdl, "kernel_release", trace->file.kernel);
	env_line_tsdl(tsdl, "tracer_name", "rastrace");
	env_line_tsdl(tsdl, "source", trace->name);
	text_print(tsdl, "};\n\n");
	clock_tsdl(tsdl, ctf->offset);
	ctf_status_tsdl(tsdl);
	ctf_stream_tsdl(tsdl);
	return text_flush(tsdl);
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

static int ctf_trace_event(struct ctf_trace *ctf, const struct event *event,
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
	code = text_flush(&ctf->tsdl);
	if (code)
		return code;
	stream = ctf_stream_choose(&ctf->streams, event->cpu, time);
	if (!stream)
		return -ENOMEM;
	time = time_of(ctf, event->time, stream);
	bytes = stream->packet.used;
	ctf_add_number(&stream->packet, id, 4);
	ctf_add_number(&stream->packet, time, 8);
	/* The event's header: see ctf_stream_tsdl(). */
	ctf_add_number(&stream->packet, event->number, 8);
	ctf_add_number(&stream->packet, record->major, 2);
	ctf_add_number(&stream->packet, record->minor, 2);
	ctf_add_number(&stream->packet, record->pid, 4);
	ctf_add_number(&stream->packet, record->tid, 4);
	if (!comm || !*comm)
		comm = NONE;
	ctf_add_string(&stream->packet, comm, strnlen(comm, 16));
	/* "fault,cut", and "moved=1770163191000000000" where the wall clock is
	 * not that of the timestamp. */
	flags = event_flags(event, scratch->result.status,
			    scratch->result.misfit);
	moved = ctf->offset + (int64_t)time != event->time;
	if (!flags && !moved)
		text_print(&stream->packet, NONE);
	for (unsigned int i = 0; i < EVENT_FLAGS; i++) {
		if (!(flags & 1u << i))
			continue;
		text_print(&stream->packet, "%s%s", comma,
			   event_flag_words[i]);
		comma = ",";
	}
	if (moved)
		text_print(&stream->packet, "%smoved=%lld", comma,
			   (long long)event->time);
	ctf_add_number(&stream->packet, 0, 1);
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

/* The last packets, with what the trace lost. */
static int ctf_trace_finish(struct ctf_trace *ctf, const struct trace *trace)
{
	int code = drops_tell(ctf, &trace->file.slices);

	if (!code)
		code = ctf_stream_finish(&ctf->streams);
	if (ctf->metadata >= 0 && close(ctf->metadata) && !code)
		code = -errno;
	ctf->metadata = -1;
	return code;
}

static void ctf_trace_free(struct ctf_trace *ctf)
{
	if (ctf->metadata >= 0)
		close(ctf->metadata);
	if (ctf->streams.dir >= 0)
		close(ctf->streams.dir);
	free(ctf->tsdl.data);
	ctf_class_free(&ctf->classes);
	ctf_stream_free(&ctf->streams);
}

/* ---- the output ---- */

struct ctf {
	int dir;
	struct ctf_trace *traces;	/* one for each of the stream's */
	size_t count;
	bool whole;
};

static int path_set_error(const struct output *output, int code,
			  struct error *err)
{
	return error_set(err, code, "cannot write '%s': %s",
			 output->settings->path, strerror(-code));
}

static int ctf_open(struct output *output, struct text *text,
		    struct error *err)
{
	struct ctf *ctf = output->own;
	size_t count = output->stream->count;
	const char *path;
	int code;

	ctf->dir = -1;
	ctf->traces = calloc(count, sizeof(*ctf->traces));
	if (!ctf->traces)
		return -ENOMEM;
	for (; ctf->count < count; ctf->count++) {
		struct ctf_trace *trace = &ctf->traces[ctf->count];

		trace->metadata = trace->streams.dir = -1;
		trace->classes.hex = output->settings->hex;
	}
	path = output->settings->path;
	if (mkdir(path, 0777)) {
		code = path_set_error(output, -errno, err);
		if (code == -EEXIST)
			error_hint(err, "name a directory that isn't there yet");
		return code;
	}
	ctf->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return ctf->dir < 0 ? path_set_error(output, -errno, err) : 0;
}

/* The directory itself of a single trace, else trace1, trace2 ... in it. */
static int trace_dir(const struct ctf *ctf, uint32_t index)
{
	char name[32];
	int dir;

	if (ctf->count == 1)
		strcpy(name, ".");
	else
		sprintf(name, "trace%u", index + 1);
	if (ctf->count > 1 && mkdirat(ctf->dir, name, 0777))
		return -errno;
	dir = openat(ctf->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -errno : dir;
}

static int ctf_begin_trace(struct ctf *ctf, const struct trace *trace)
{
	struct ctf_trace *own = &ctf->traces[trace->index];
	int dir;

	if (own->metadata >= 0)
		return 0;
	dir = trace_dir(ctf, trace->index);
	return dir < 0 ? dir : ctf_trace_begin(own, trace, dir);
}

static int ctf_event(struct output *output, const struct event *event,
		     struct text *text, struct scratch *scratch)
{
	struct ctf *ctf = output->own;
	int code = ctf_begin_trace(ctf, event->trace);

	return code ? code :
	       ctf_trace_event(&ctf->traces[event->trace->index], event,
			       scratch, output->settings->symbols);
}

/* A trace without an event has its metadata, too. */
static int ctf_close(struct output *output, struct text *text,
		     struct error *err)
{
	struct ctf *ctf = output->own;
	int code = 0;

	for (size_t i = 0; i < ctf->count && !code; i++) {
		const struct trace *trace = output->stream->traces[i];

		code = ctf_begin_trace(ctf, trace);
		if (!code)
			code = ctf_trace_finish(&ctf->traces[i], trace);
	}
	ctf->whole = !code;
	return code ? path_set_error(output, code, err) : 0;
}

static void dir_empty(int fd);

static void ctf_entry_remove(int dir, const char *name, void *context)
{
	if (!unlinkat(dir, name, 0))
		return;
	dir_empty(openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	unlinkat(dir, name, AT_REMOVEDIR);
}

/* What was written into it, which is files and directories of files. */
static void dir_empty(int fd)
{
	directory_each(fd, ctf_entry_remove, NULL);
	close(fd);
}

static void ctf_free(struct output *output)
{
	struct ctf *ctf = output->own;

	for (size_t i = 0; i < ctf->count; i++)
		ctf_trace_free(&ctf->traces[i]);
	if (ctf->dir >= 0 && ctf->whole) {
		close(ctf->dir);
	} else if (ctf->dir >= 0) {
		dir_empty(ctf->dir);
		rmdir(output->settings->path);
	}
	free(ctf->traces);
}

const struct output_ops output_ctf = {
	.name = "ctf",
	.own_bytes = sizeof(struct ctf),
	.in_order = true,
	.whole = true,
	.in_step = true,
	.open = ctf_open,
	.event = ctf_event,
	.close = ctf_close,
	.free = ctf_free,
};
