// SPDX-License-Identifier: GPL-2.0
#include "ctf_ctype.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "lib/read/read.h"
#include "ctf_status.h"
#include "ctf_tsdl.h"

#define DEPTH_MAX	16
#define MEMBERS_MAX	512
#define ENUMERATORS_MAX	1024
#define NAME_MOST	128		/* characters of a member's name */
#define TSDL_MOST	(64u << 10)	/* of a type */
#define EXPANSION	32		/* unions are written once per member */

/* How a type is told and written. */
enum form {
	FORM_INTEGER, FORM_FLOAT, FORM_ENUM, FORM_CHARACTER, FORM_BYTES,
	FORM_STRUCT, FORM_ARRAY, FORM_STRING,
};

struct walk {
	struct ctf_buffer *tsdl;
	const struct value_types *types;
	enum ctf_strings strings;
	unsigned int depth;
	bool failed;
};

static enum form array_form(const struct value_types *types,
			    const struct tff_ctype *type)
{
	const struct tff_ctype *target = &types->types[type->target];

	return target->kind == TFF_CTYPE_CHAR && target->bytes == 1 ?
	       FORM_STRING : FORM_ARRAY;
}

static enum form type_form(const struct value_types *types,
			   const struct tff_ctype *type)
{
	bool small = type->bytes && type->bytes <= 8;

	switch (type->kind) {
	case TFF_CTYPE_STRUCT:
	case TFF_CTYPE_UNION:
		return FORM_STRUCT;
	case TFF_CTYPE_ARRAY:
		return array_form(types, type);
	case TFF_CTYPE_FLOAT:
		return type->bytes == 4 || type->bytes == 8 ? FORM_FLOAT :
							      FORM_BYTES;
	case TFF_CTYPE_CHAR:
		return type->bytes == 1 ? FORM_CHARACTER :
		       small ? FORM_INTEGER : FORM_BYTES;
	case TFF_CTYPE_ENUM:
		return small ? FORM_ENUM : FORM_BYTES;
	case TFF_CTYPE_BYTES:
		return FORM_BYTES;
	default:
		return small ? FORM_INTEGER : FORM_BYTES;
	}
}

static bool type_is_signed(const struct tff_ctype *type)
{
	return type->kind == TFF_CTYPE_INT ||
	       (type->kind == TFF_CTYPE_ENUM && type->is_signed);
}

/* ---- names of members ---- */

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* Made a name, without the underscore that stands in front of each. */
static void name_make(const struct value_types *types,
		      const struct tff_ctype *type, uint32_t i, char *name)
{
	const struct tff_member *m = &types->members[type->first_member + i];
	const char *text = types->strings + m->name;
	size_t n = 0;

	for (; n < NAME_MOST && text[n]; n++)
		name[n] = is_name(text[n]) ? text[n] : '_';
	name[n] = '\0';
	if (!n)
		snprintf(name, NAME_MOST, "anonymous%u", i + 1);
}

/* The same without underscores in front. */
static void plain_make(const struct value_types *types,
		       const struct tff_ctype *type, uint32_t i, char *plain)
{
	char name[NAME_MOST + 1];

	name_make(types, type, i, name);
	strcpy(plain, name + strspn(name, "_"));
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* 1: no two members have the same name; -ENOMEM: no memory. Readers that drop the
 * underscore in front mix up those that begin with more of them. */
static int names_differ(const struct value_types *types,
			const struct tff_ctype *type)
{
	char (*names)[NAME_MOST + 1] = calloc(type->members + 1,
					      sizeof(*names));
	int differ = 1;

	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < type->members; i++)
		plain_make(types, type, i, names[i]);
	qsort(names, type->members, sizeof(*names), name_compare);
	for (uint32_t i = 1; i < type->members; i++)
		if (!strcmp(names[i - 1], names[i]))
			differ = 0;
	free(names);
	return differ;
}

/* ---- TSDL ---- */

/* Of the value in a container of so many bytes. */
static uint64_t enumerator(const struct tff_ctype *type,
			   const struct tff_member *m)
{
	unsigned int shift = 64 - 8 * type->bytes;

	return type->is_signed ?
	       (uint64_t)((int64_t)(m->value << shift) >> shift) :
	       m->value << shift >> shift;
}

bool ctf_ctype_enum_tsdl(struct ctf_buffer *tsdl,
			 const struct value_types *types, uint32_t ctype,
			 unsigned int bytes)
{
	const struct tff_ctype *type = &types->types[ctype];
	const struct tff_member *m = types->members + type->first_member;

	if (!type->members || type->members > ENUMERATORS_MAX ||
	    !type->bytes || type->bytes > 8)
		return false;
	ctf_buffer_print(tsdl, "enum : ");
	ctf_tsdl_integer(tsdl, bytes, type->is_signed, 10);
	for (uint32_t i = 0; i < type->members; i++) {
		const char *name = types->strings + m[i].name;
		uint64_t value = enumerator(type, &m[i]);

		ctf_buffer_print(tsdl, i ? ", " : " { ");
		ctf_tsdl_literal(tsdl, name, strlen(name));
		ctf_buffer_print(tsdl, type->is_signed ? " = %lld" : " = %llu",
				 (unsigned long long)value);
	}
	ctf_buffer_print(tsdl, " }");
	return true;
}

static uint64_t declare(struct walk *w, uint32_t ctype, const char *name);

static void integer_tsdl(struct walk *w, const struct tff_ctype *type,
			 unsigned int bytes)
{
	uint32_t ctype = type - w->types->types;

	if (type->kind == TFF_CTYPE_BOOL)
		ctf_tsdl_bool(w->tsdl, bytes);
	else if (type->kind != TFF_CTYPE_ENUM ||
		 !ctf_ctype_enum_tsdl(w->tsdl, w->types, ctype, bytes))
		ctf_tsdl_integer(w->tsdl, bytes, type_is_signed(type),
				 type->kind == TFF_CTYPE_POINTER ? 16 : 10);
}

/* The member lies in its structure: no byte behind it is read. */
static bool member_fits(const struct walk *w, const struct tff_ctype *type,
			const struct tff_member *m)
{
	uint64_t bits = m->bits ? m->bits :
			8 * (uint64_t)w->types->types[m->ctype].bytes;

	return m->value <= 8 * (uint64_t)type->bytes &&
	       bits <= 8 * (uint64_t)type->bytes - m->value &&
	       m->bits <= 64;
}

/* It has nothing to write: an array without a count, a structure without
 * members. */
static bool member_is_empty(const struct value_types *types,
			    const struct tff_member *m)
{
	return !m->bits && !types->types[m->ctype].bytes;
}

static uint64_t member_declare(struct walk *w, const struct tff_member *m,
			       const char *name)
{
	const struct tff_ctype *type = &w->types->types[m->ctype];
	unsigned int bytes = (m->bits + 7) / 8;

	if (!m->bits)
		return declare(w, m->ctype, name);
	integer_tsdl(w, type, bytes);
	ctf_buffer_print(w->tsdl, " %s; ", name);
	return bytes;
}

static uint64_t struct_declare(struct walk *w, const struct tff_ctype *type,
			       const char *name)
{
	const struct tff_member *m = w->types->members + type->first_member;
	int differ = type->members <= MEMBERS_MAX ?
		     names_differ(w->types, type) : -1;
	char member[NAME_MOST + 16], clean[NAME_MOST + 1];
	uint64_t size = 0;

	ctf_buffer_print(w->tsdl, "struct { ");
	w->failed |= differ < 0;
	w->tsdl->failed |= differ == -ENOMEM;
	for (uint32_t i = 0; i < type->members && !w->failed; i++) {
		if (!member_fits(w, type, &m[i]))
			w->failed = true;
		if (w->failed || member_is_empty(w->types, &m[i]))
			continue;
		name_make(w->types, type, i, clean);
		if (differ)
			snprintf(member, sizeof(member), "_%s", clean);
		else
			snprintf(member, sizeof(member), "_m%u_%s", i + 1,
				 clean);
		size += member_declare(w, &m[i], member);
	}
	ctf_buffer_print(w->tsdl, "} ");
	ctf_buffer_add(w->tsdl, name, strlen(name));
	ctf_buffer_print(w->tsdl, "; ");
	return size;
}

static uint64_t array_declare(struct walk *w, const struct tff_ctype *type,
			      const char *name)
{
	const struct tff_ctype *target = &w->types->types[type->target];
	size_t room = strlen(name) + 16;
	char *whole = malloc(room);
	uint64_t size = 0;

	w->tsdl->failed |= !whole;
	if (!whole || !target->bytes || !type->count ||
	    (uint64_t)target->bytes * type->count != type->bytes) {
		w->failed = true;
	} else {
		snprintf(whole, room, "%s[%u]", name, type->count);
		size = type->count * declare(w, type->target, whole);
	}
	free(whole);
	return size;
}

/* The status is a member, so that arrays have it, too. */
static void string_declare(struct walk *w, const char *name)
{
	static const char with_status[] =
		"struct { enum status status; variant <status> { "
		"string value; struct nothing empty; "
		"struct not_text not_text; } text; } ";

	if (w->strings == CTF_STRINGS_PLAIN)
		ctf_buffer_print(w->tsdl, "string ");
	else
		ctf_buffer_add(w->tsdl, with_status, sizeof(with_status) - 1);
	ctf_buffer_add(w->tsdl, name, strlen(name));
	ctf_buffer_print(w->tsdl, "; ");
}

/* "TYPE NAME; "; the bytes that a value takes. */
static uint64_t simple_declare(struct walk *w, const struct tff_ctype *type,
			       const char *name)
{
	uint64_t size = type->bytes;
	enum form form = type_form(w->types, type);

	if (!type->bytes)
		w->failed = true;
	if (form == FORM_CHARACTER || form == FORM_STRING) {
		string_declare(w, name);
		return size;
	}
	if (form == FORM_FLOAT)
		ctf_tsdl_float(w->tsdl, type->bytes);
	else if (form == FORM_BYTES)
		ctf_tsdl_integer(w->tsdl, 1, false, 16);
	else
		integer_tsdl(w, type, type->bytes);
	ctf_buffer_print(w->tsdl, " ");
	ctf_buffer_add(w->tsdl, name, strlen(name));
	if (form == FORM_BYTES)
		ctf_buffer_print(w->tsdl, "[%u]", type->bytes);
	ctf_buffer_print(w->tsdl, "; ");
	return size;
}

static uint64_t declare(struct walk *w, uint32_t ctype, const char *name)
{
	const struct tff_ctype *type = &w->types->types[ctype];
	enum form form = type_form(w->types, type);
	uint64_t size;

	if (w->failed || w->tsdl->failed || w->tsdl->used > TSDL_MOST ||
	    w->depth >= DEPTH_MAX) {
		w->failed = true;
		return 0;
	}
	w->depth++;
	size = form == FORM_STRUCT ? struct_declare(w, type, name) :
	       form == FORM_ARRAY ? array_declare(w, type, name) :
	       simple_declare(w, type, name);
	w->depth--;
	if (size > EXPANSION * (uint64_t)type->bytes)
		w->failed = true;
	return size;
}

bool ctf_ctype_tsdl(struct ctf_buffer *tsdl, const struct value_types *types,
		    uint32_t ctype, const char *name, enum ctf_strings strings)
{
	struct ctf_buffer text = { 0 };
	struct walk w = {
		.tsdl = &text, .types = types, .strings = strings,
	};

	if (!types->types[ctype].bytes ||
	    types->types[ctype].bytes > RAS_RECORD_MAX)
		return false;
	declare(&w, ctype, name);
	if (!w.failed && !text.failed)
		ctf_buffer_add(tsdl, text.data, text.used);
	tsdl->failed |= text.failed;
	ctf_buffer_free(&text);
	return !w.failed;
}

/* ---- values ---- */

/* The low bits, with their sign. */
static uint64_t extend(uint64_t raw, unsigned int bits, bool is_signed)
{
	unsigned int shift = 64 - bits;

	return is_signed ? (uint64_t)((int64_t)(raw << shift) >> shift) :
			   raw << shift >> shift;
}

static uint64_t bits_load(const uint8_t *data, const struct tff_member *m)
{
	uint64_t first = m->value / 8, last = (m->value + m->bits - 1) / 8;
	unsigned int shift = m->value % 8;
	uint8_t bytes[9] = { 0 };
	uint64_t raw;

	memcpy(bytes, data + first, last - first + 1);
	raw = number_load(bytes, 8) >> shift;
	if (shift)
		raw |= (uint64_t)bytes[8] << (64 - shift);
	return raw;
}

static void struct_write(struct ctf_buffer *out,
			 const struct value_types *types,
			 const struct tff_ctype *type, const uint8_t *data,
			 enum ctf_strings strings)
{
	const struct tff_member *m = types->members + type->first_member;

	for (uint32_t i = 0; i < type->members; i++) {
		const struct tff_ctype *of = &types->types[m[i].ctype];

		if (member_is_empty(types, &m[i]))
			continue;
		if (m[i].bits)
			ctf_buffer_number(out,
					  extend(bits_load(data, &m[i]),
						 m[i].bits, type_is_signed(of)),
					  (m[i].bits + 7) / 8);
		else
			ctf_ctype_write(out, types, m[i].ctype,
					data + m[i].value / 8, strings);
	}
}

/* Up to its zero; a zero that is a character by itself is one. */
static size_t string_length(const struct tff_ctype *type, const uint8_t *data)
{
	return type->kind == TFF_CTYPE_ARRAY ?
	       strnlen((const char *)data, type->bytes) : 1;
}

static void string_write(struct ctf_buffer *out, const struct tff_ctype *type,
			 const uint8_t *data, enum ctf_strings strings)
{
	size_t n = string_length(type, data);
	bool text = ctf_buffer_is_text(data, n);

	if (strings == CTF_STRINGS_WITH_STATUS)
		ctf_buffer_number(out, !n ? CTF_STATUS_EMPTY : text ?
				  CTF_STATUS_VALUE : CTF_STATUS_NOT_TEXT, 1);
	if (n)
		ctf_buffer_string(out, data, n);
	if (!text)
		ctf_buffer_bytes(out, data, n);
}

void ctf_ctype_write(struct ctf_buffer *out, const struct value_types *types,
		     uint32_t ctype, const uint8_t *data,
		     enum ctf_strings strings)
{
	const struct tff_ctype *type = &types->types[ctype];

	switch (type_form(types, type)) {
	case FORM_STRUCT:
		struct_write(out, types, type, data, strings);
		break;
	case FORM_ARRAY:
		for (uint32_t i = 0; i < type->count; i++)
			ctf_ctype_write(out, types, type->target, data + i *
					types->types[type->target].bytes,
					strings);
		break;
	case FORM_CHARACTER:
	case FORM_STRING:
		string_write(out, type, data, strings);
		break;
	case FORM_INTEGER:
	case FORM_ENUM:
	case FORM_FLOAT:
		ctf_buffer_number(out, number_load(data, type->bytes),
				  type->bytes);
		break;
	case FORM_BYTES:
		ctf_buffer_add(out, data, type->bytes);
	}
}

static bool struct_is_text(const struct value_types *types,
			   const struct tff_ctype *type, const uint8_t *data)
{
	const struct tff_member *m = types->members + type->first_member;

	for (uint32_t i = 0; i < type->members; i++)
		if (!m[i].bits && !member_is_empty(types, &m[i]) &&
		    !ctf_ctype_is_text(types, m[i].ctype,
				       data + m[i].value / 8))
			return false;
	return true;
}

bool ctf_ctype_is_text(const struct value_types *types, uint32_t ctype,
		       const uint8_t *data)
{
	const struct tff_ctype *type = &types->types[ctype];
	uint32_t bytes;
	size_t n;

	switch (type_form(types, type)) {
	case FORM_STRUCT:
		return struct_is_text(types, type, data);
	case FORM_ARRAY:
		bytes = types->types[type->target].bytes;
		for (uint32_t i = 0; i < type->count; i++)
			if (!ctf_ctype_is_text(types, type->target,
					       data + i * bytes))
				return false;
		return true;
	case FORM_CHARACTER:
	case FORM_STRING:
		n = string_length(type, data);
		return n && ctf_buffer_is_text(data, n);
	default:
		return true;
	}
}
