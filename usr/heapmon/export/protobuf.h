/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of protocol buffers (protobuf.dev: encoding), written into memory.
 * Numbers of 0 and empty messages are left out, as the defaults that they are.
 */
#ifndef HEAPMON_PROTOBUF_H
#define HEAPMON_PROTOBUF_H

#include "lib/formats/bytes.h"

/* Of a repeated field that is packed: without its number. */
void protobuf_number(struct bytes *message, uint64_t value);
void protobuf_field(struct bytes *message, unsigned int field,
		    uint64_t value);
void protobuf_bytes(struct bytes *message, unsigned int field,
		    const void *data, size_t size);
/* Put `inner` into it, and empty that for the next one. */
void protobuf_message(struct bytes *message, unsigned int field,
		      struct bytes *inner);

#endif
