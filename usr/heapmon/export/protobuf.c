// SPDX-License-Identifier: GPL-2.0
#include "protobuf.h"

#define WIRE_NUMBER	0
#define WIRE_BYTES	2

void protobuf_number(struct bytes *message, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[n++] = 0x80 | (value & 0x7f);
	bytes[n++] = value;
	bytes_add(message, bytes, n);
}

static void put_key(struct bytes *message, unsigned int field,
		    unsigned int wire)
{
	protobuf_number(message, field << 3 | wire);
}

void protobuf_field(struct bytes *message, unsigned int field,
		    uint64_t value)
{
	if (!value)
		return;
	put_key(message, field, WIRE_NUMBER);
	protobuf_number(message, value);
}

void protobuf_bytes(struct bytes *message, unsigned int field,
		    const void *data, size_t size)
{
	put_key(message, field, WIRE_BYTES);
	protobuf_number(message, size);
	bytes_add(message, data, size);
}

void protobuf_message(struct bytes *message, unsigned int field,
		      struct bytes *inner)
{
	if (inner->failed)
		message->failed = true;
	if (inner->size)
		protobuf_bytes(message, field, inner->data, inner->size);
	inner->size = 0;
}
