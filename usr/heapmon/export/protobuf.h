/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of protocol buffers (protobuf.dev: encoding), written into memory.
 * Numbers of 0 and empty messages are left out, as the defaults that they are.
 */
#ifndef HEAPMON_PROTOBUF_H
#define HEAPMON_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf {
	uint8_t *data;
	size_t size, room;
	bool failed;		/* no memory: something is missing */
};

/* Of a repeated field that is packed: without its number. */
void protobuf_number(struct protobuf *message, uint64_t value);
void protobuf_field(struct protobuf *message, unsigned int field,
		    uint64_t value);
void protobuf_bytes(struct protobuf *message, unsigned int field,
		    const void *data, size_t size);
/* Put `inner` into it, and empty that for the next one. */
void protobuf_message(struct protobuf *message, unsigned int field,
		      struct protobuf *inner);
void protobuf_free(struct protobuf *message);

#endif
