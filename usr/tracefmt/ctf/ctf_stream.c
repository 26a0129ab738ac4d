// SPDX-License-Identifier: GPL-2.0
#include "ctf_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CTF_MAGIC	0xc1fc1fc1
#define PACKET_HEAD	76		/* bytes of header and context */
#define PACKET_FULL	(64u << 10)
#define HELD_MOST	(16u << 20)	/* bytes in packets of all streams */

void ctf_stream_tsdl(struct ctf_buffer *tsdl)
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

	ctf_buffer_add(tsdl, text, sizeof(text) - 1);
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

/* In front of a packet whose `bytes` have room for it. */
static void packet_head_make(const struct ctf_streams *streams,
			     const struct ctf_stream *stream, size_t bytes,
			     uint64_t discarded, struct ctf_buffer *head)
{
	uint64_t bits = 8 * (uint64_t)bytes;

	ctf_buffer_number(head, CTF_MAGIC, 4);
	ctf_buffer_add(head, streams->uuid, CTF_UUID_BYTES);
	ctf_buffer_number(head, 0, 4);
	ctf_buffer_number(head, stream->begin, 8);
	ctf_buffer_number(head, bytes > PACKET_HEAD ? stream->end :
						      stream->begin, 8);
	ctf_buffer_number(head, bits, 8);
	ctf_buffer_number(head, bits, 8);
	ctf_buffer_number(head, stream->packets, 8);
	ctf_buffer_number(head, discarded, 8);
	ctf_buffer_number(head, stream->cpu, 4);
}

static void packet_begin(struct ctf_stream *stream, uint64_t time)
{
	static const uint8_t head[PACKET_HEAD];

	stream->begin = time;
	ctf_buffer_add(&stream->packet, head, sizeof(head));
}

/* Readers count from packet to packet: what is missing in front of the first
 * event counts from a packet without events. */
static int packet_first_write(struct ctf_streams *streams,
			      struct ctf_stream *stream, int fd)
{
	struct ctf_buffer head = { 0 };
	int code;

	packet_head_make(streams, stream, PACKET_HEAD, 0, &head);
	code = ctf_buffer_write(&head, fd);
	ctf_buffer_free(&head);
	stream->packets++;
	return code;
}

static int packet_write_to(struct ctf_streams *streams,
			   struct ctf_stream *stream, int fd)
{
	struct ctf_buffer head = { 0 };
	int code;

	if (!stream->packets && stream->discarded) {
		code = packet_first_write(streams, stream, fd);
		if (code)
			return code;
	}
	packet_head_make(streams, stream, stream->packet.used,
			 stream->discarded, &head);
	if (head.failed || stream->packet.failed) {
		ctf_buffer_free(&head);
		return -ENOMEM;
	}
	memcpy(stream->packet.data, head.data, PACKET_HEAD);
	ctf_buffer_free(&head);
	return ctf_buffer_write(&stream->packet, fd);
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

struct ctf_stream *ctf_stream_choose(struct ctf_streams *streams, uint32_t cpu,
				     uint64_t time)
{
	struct ctf_stream *stream = stream_first(streams, cpu);

	while (stream && stream->end > time) {
		if (!stream->next && stream->late < CTF_LATE_STREAMS)
			stream->next = stream_make(cpu, stream->late + 1);
		else if (!stream->next)
			break;
		stream = stream->next;
	}
	if (stream && !stream->packet.used) {
		packet_begin(stream, time < stream->end ? stream->end : time);
		streams->held += stream->packet.used;
	}
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

	ctf_buffer_free(&stream->packet);
	return code;
}

int ctf_stream_added(struct ctf_streams *streams, struct ctf_stream *stream,
		     uint64_t time, size_t bytes)
{
	stream->end = time;
	if (stream->packet.failed)
		return -ENOMEM;
	streams->held += stream->packet.used - bytes;
	if (stream->packet.used >= PACKET_FULL)
		return packet_write(streams, stream);
	return streams->held > HELD_MOST ?
	       streams_each(streams, stream_release) : 0;
}

int ctf_stream_discard(struct ctf_streams *streams, uint32_t cpu,
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
	if (!stream->packet.used && stream->reported != stream->discarded) {
		packet_begin(stream, stream->end);
		streams->held += stream->packet.used;
	}
	return stream->packet.used ? packet_write(streams, stream) : 0;
}

int ctf_stream_finish(struct ctf_streams *streams)
{
	return streams_each(streams, packet_stream_finish);
}

void ctf_stream_free(struct ctf_streams *streams)
{
	struct ctf_stream *stream, *next;
	size_t at = 0;

	while ((stream = key_map_next(&streams->first, &at)))
		for (; stream; stream = next) {
			next = stream->next;
			ctf_buffer_free(&stream->packet);
			free(stream);
		}
	key_map_free(&streams->first);
	*streams = (struct ctf_streams){ .dir = -1 };
}
