// SPDX-License-Identifier: GPL-2.0
#include "protobuf.h"

#include <stdlib.h>
#include <string.h>

#define WIRE_NUMBER	0
#define WIRE_BYTES	2

static void put(struct protobuf *message, const void *data, size_t size)
{
	size_t room = message->room ? message->room : 256;
	uint8_t *more;

	if (message->failed || !size)
		return;
	while (room - message->size < size)
		room *= 2;
	if (room != message->room) {
		more = realloc(message->data, room);
		if (!more) {
			message->failed = true;
			return;
		}
		message->data = more;
		message->room = room;
	}
	memcpy(message->data + message->size, data, size);
	message->size += size;
}

void protobuf_number(struct protobuf *message, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[n++] = 0x80 | (value & 0x7f);
	bytes[n++] = value;
	put(message, bytes, n);
}

static void put_key(struct protobuf *message, unsigned int field,
		    unsigned int wire)
{
	protobuf_number(message, field << 3 | wire);
}

void protobuf_field(struct protobuf *message, unsigned int field,
		    uint64_t value)
{
	if (!value)
		return;
	put_key(message, field, WIRE_NUMBER);
	protobuf_number(message, value);
}

void protobuf_bytes(struct protobuf *message, unsigned int field,
		    const void *data, size_t size)
{
	put_key(message, field, WIRE_BYTES);
	protobuf_number(message, size);
	put(message, data, size);
}

void protobuf_message(struct protobuf *message, unsigned int field,
		      struct protobuf *inner)
{
	if (inner->failed)
		message->failed = true;
	if (inner->size)
		protobuf_bytes(message, field, inner->data, inner->size);
	inner->size = 0;
}

void protobuf_free(struct protobuf *message)
{
	free(message->data);
	*message = (struct protobuf){ 0 };
}
