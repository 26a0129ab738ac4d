// SPDX-License-Identifier: GPL-2.0
#include "otlp_response.h"

#include <stdbool.h>
#include <string.h>
#include "lib/number.h"
#include "lib/text.h"

/* A message of protobuf that is read field by field. */
struct proto {
	const uint8_t *at, *end;
	uint32_t field;
	uint64_t value;		/* a number, or the length of: */
	const uint8_t *bytes;	/* NULL: it is a number */
};

static struct proto proto_of(const uint8_t *data, size_t n)
{
	return (struct proto){ .at = data, .end = data + n };
}

static bool proto_varint(struct proto *p, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; p->at < p->end && shift < 64; shift += 7) {
		uint8_t byte = *p->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* false: the end, or no protobuf. */
static bool proto_next(struct proto *p)
{
	uint64_t key, left;

	if (!proto_varint(p, &key))
		return false;
	p->field = key >> 3;
	p->bytes = NULL;
	left = p->end - p->at;
	switch (key & 7) {
	case 0:
		return proto_varint(p, &p->value);
	case 1:
	case 5:
		p->value = (key & 7) == 1 ? 8 : 4;
		break;
	case 2:
		if (!proto_varint(p, &p->value))
			return false;
		left = p->end - p->at;
		break;
	default:
		return false;
	}
	if (p->value > left)
		return false;
	p->bytes = p->at;
	p->at += p->value;
	return true;
}

static void response_reason_set(struct otlp_response *response,
				const struct proto *p)
{
	size_t most = (OTLP_REASON_MAX - 1) / 4;
	size_t n = p->value < most ? p->value : most;

	*text_put_safe(response->reason, p->bytes, n) = '\0';
}

/* Numbers in field 1, text in field 2 are of both. */
static void proto_read(struct otlp_response *response, struct proto p,
		       bool counts)
{
	while (proto_next(&p))
		if (p.field == 1 && !p.bytes && counts)
			response->rejected = p.value > INT64_MAX ? 0 : p.value;
		else if (p.field == 2 && p.bytes)
			response_reason_set(response, &p);
}

void otlp_response_read(struct otlp_response *response, const uint8_t *data,
			size_t n)
{
	struct proto p = proto_of(data, n);

	*response = (struct otlp_response){ 0 };
	while (proto_next(&p))
		if (p.field == 1 && p.bytes)
			proto_read(response,
				   proto_of(p.bytes, p.value), true);
}

void otlp_status_read(struct otlp_response *response, const uint8_t *data,
		      size_t n)
{
	*response = (struct otlp_response){ 0 };
	proto_read(response, proto_of(data, n), false);
}
