/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of OpenTelemetry's protocol (OTLP), in either of its encodings:
 * protobuf, or its JSON, in which ids are hexadecimal, integers of 64 bits are
 * strings and bytes are base64. A field has a number and a name; functions append.
 * An error is kept in the text.
 */
#ifndef TRACEFMT_OTLP_MESSAGE_H
#define TRACEFMT_OTLP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/json.h"
#include "lib/text.h"

#define OTLP_DEPTH	16	/* messages in each other */

struct otlp_message {
	struct text text;
	bool is_json;
	struct json json;	/* of is_json */
	size_t open[OTLP_DEPTH];	/* of protobuf: where contents begin */
	unsigned int depth;
};

/* number, "name" */
struct otlp_field {
	uint32_t number;
	const char *name;
};

#define OTLP_FIELD(number, name) ((struct otlp_field){ number, name })

/* Empty; `text` may be zeroed, or that of a message before. */
void otlp_message_clear(struct otlp_message *m, bool is_json);

/* The message itself, with no other around. */
void otlp_top(struct otlp_message *m);
void otlp_top_end(struct otlp_message *m);
/* A message: a field, or an element of a list. */
void otlp_begin(struct otlp_message *m, struct otlp_field field);
void otlp_end(struct otlp_message *m);
/* A repeated field, whose elements have the same field. */
void otlp_list(struct otlp_message *m, struct otlp_field field);
void otlp_list_end(struct otlp_message *m);
/* Elements of a list that were made before. */
void otlp_elements(struct otlp_message *m, const void *elements, size_t size);

/* UTF-8; what isn't becomes U+FFFD. */
void otlp_string(struct otlp_message *m, struct otlp_field field,
		 const char *string, size_t length);
void otlp_bytes(struct otlp_message *m, struct otlp_field field,
		const uint8_t *bytes, size_t length);
void otlp_id(struct otlp_message *m, struct otlp_field field,
	     const uint8_t *id, size_t length);
/* int64, fixed64, and numbers of 32 bits, enumerations */
void otlp_integer(struct otlp_message *m, struct otlp_field field,
		  int64_t value);
void otlp_fixed(struct otlp_message *m, struct otlp_field field,
		uint64_t value);
void otlp_number(struct otlp_message *m, struct otlp_field field,
		 uint32_t value);
void otlp_signed_fixed(struct otlp_message *m, struct otlp_field field,
		       int64_t value);
void otlp_bool(struct otlp_message *m, struct otlp_field field, bool value);
void otlp_double(struct otlp_message *m, struct otlp_field field,
		 double value);
/* Repeated ones. */
void otlp_fixed_array(struct otlp_message *m, struct otlp_field field,
		      const uint64_t *values, size_t count);
void otlp_double_array(struct otlp_message *m, struct otlp_field field,
		       const double *values, size_t count);

/* Attributes: elements of a list of KeyValue. */
void otlp_attribute_begin(struct otlp_message *m, uint32_t field,
			  const char *prefix, const char *key);
void otlp_attribute_end(struct otlp_message *m);
void otlp_attribute_string(struct otlp_message *m, uint32_t field,
			   const char *key, const char *value, size_t length);
void otlp_attribute_integer(struct otlp_message *m, uint32_t field,
			    const char *key, int64_t value);

/* The values of an attribute that has begun. */
#define OTLP_STRING_VALUE	OTLP_FIELD(1, "stringValue")
#define OTLP_BOOL_VALUE		OTLP_FIELD(2, "boolValue")
#define OTLP_INT_VALUE		OTLP_FIELD(3, "intValue")
#define OTLP_DOUBLE_VALUE	OTLP_FIELD(4, "doubleValue")
#define OTLP_BYTES_VALUE	OTLP_FIELD(7, "bytesValue")

#endif
