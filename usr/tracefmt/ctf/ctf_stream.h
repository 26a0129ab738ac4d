/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stream files of a CTF trace: cpu0, cpu1, ..., each a row of packets:
 *
 *	struct {			packet header
 *		u32 magic; u8 uuid[16]; u32 stream_id;
 *	}
 *	struct {			packet context
 *		u64 timestamp_begin, timestamp_end, content_size, packet_size,
 *		    packet_seq_num, events_discarded;
 *		u32 cpu_id;
 *	}
 *	events
 *
 * In a stream time never goes back. An event that is older than the one before
 * it on its CPU goes to another stream of that CPU, cpu0_late1 and so on.
 */
#ifndef TRACEFMT_CTF_STREAM_H
#define TRACEFMT_CTF_STREAM_H

#include "lib/key_map.h"
#include "ctf_buffer.h"

#define CTF_UUID_BYTES	16
#define CTF_LATE_STREAMS 8	/* of a CPU; then times are moved */

struct ctf_stream {
	uint32_t cpu;
	unsigned int late;		/* 0: the CPU's first */
	struct ctf_stream *next;	/* the CPU's next */
	struct ctf_buffer packet;	/* the one that is filled */
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

/* The TSDL of the packets. */
void ctf_stream_tsdl(struct ctf_buffer *tsdl);
/* The stream of a CPU for an event of this time, whose bytes are added to
 * `packet`; its `end` is after the time only when there is no stream left for
 * that. NULL: no memory. */
struct ctf_stream *ctf_stream_choose(struct ctf_streams *streams, uint32_t cpu,
				     uint64_t time);
/* An event of this time was added; `bytes` were in the packet before. 0, or a
 * negative errno. */
int ctf_stream_added(struct ctf_streams *streams, struct ctf_stream *stream,
		     uint64_t time, size_t bytes);
/* Events of that CPU that are not in the trace. 0 or -ENOMEM. */
int ctf_stream_discard(struct ctf_streams *streams, uint32_t cpu,
		       uint64_t events);
/* Write all that is held; the last packets have what was discarded. */
int ctf_stream_finish(struct ctf_streams *streams);
void ctf_stream_free(struct ctf_streams *streams);

#endif
