// SPDX-License-Identifier: GPL-2.0
#include "ctf_tsdl.h"

#include <endian.h>
#include <errno.h>
#include <rastrace/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/names.h"
#include "lib/text.h"

#define LITERAL_MOST	1024	/* bytes; more are left out */

void ctf_add_number(struct text *out, uint64_t value, unsigned int bytes)
{
	value = htole64(value);
	text_add(out, &value, bytes);
}

bool ctf_is_text(const void *bytes, size_t n)
{
	const uint8_t *s = bytes;
	size_t length;

	for (size_t i = 0; i < n; i += length) {
		length = s[i] < 0x80 ? s[i] != 0 :
				       safe_text_utf8(s + i, n - i);
		if (!length)
			return false;
	}
	return true;
}

void ctf_add_string(struct text *out, const void *bytes, size_t n)
{
	const uint8_t *s = bytes, *end = s + n;
	size_t length;
	char *p;

	if (text_reserve(out, 4 * n + 1))
		return;
	for (p = out->data + out->used; s < end; s += length) {
		length = *s < 0x80 ? *s != 0 : safe_text_utf8(s, end - s);
		if (length) {
			p = text_put(p, (const char *)s, length);
		} else {
			p += sprintf(p, "\\x%02X", *s);
			length = 1;
		}
	}
	*p++ = '\0';
	out->used = p - out->data;
}

void ctf_add_bytes(struct text *out, const uint8_t *data, size_t n)
{
	ctf_add_number(out, n, 2);
	text_add(out, data, n);
}

void ctf_tsdl_literal(struct text *tsdl, const char *text, size_t n)
{
	char safe[4 * LITERAL_MOST], *end;

	n = n < LITERAL_MOST ? n : LITERAL_MOST;
	end = safe_text_put(safe, text, n, false);
	text_add(tsdl, "\"", 1);
	for (const char *p = safe; p < end; p++) {
		if (*p == '"' || *p == '\\')
			text_add(tsdl, "\\", 1);
		text_add(tsdl, p, 1);
	}
	text_add(tsdl, "\"", 1);
}

void ctf_tsdl_integer(struct text *tsdl, unsigned int bytes,
		      bool is_signed, unsigned int base)
{
	text_print(tsdl,
		   "integer { size = %u; align = 8; signed = %s; base = %u; }",
		   8 * bytes, is_signed ? "true" : "false", base);
}

void ctf_tsdl_enum(struct text *tsdl, unsigned int bytes, bool is_signed)
{
	TEXT_ADD(tsdl, "enum : ");
	ctf_tsdl_integer(tsdl, bytes, is_signed, 10);
}

void ctf_tsdl_enumerator(struct text *tsdl, size_t i, const char *name,
			 uint64_t value, bool is_signed)
{
	text_add_string(tsdl, i ? ", " : " { ");
	ctf_tsdl_literal(tsdl, name, strlen(name));
	text_print(tsdl, is_signed ? " = %lld" : " = %llu",
		   (unsigned long long)value);
}

void ctf_tsdl_bool(struct text *tsdl, unsigned int bytes)
{
	ctf_tsdl_enum(tsdl, bytes, false);
	text_print(tsdl, " { \"false\" = 0, \"true\" = 1 }");
}

void ctf_tsdl_float(struct text *tsdl, unsigned int bytes)
{
	text_print(tsdl,
		   "floating_point { exp_dig = %d; mant_dig = %d; align = 8; }",
		   bytes == 4 ? 8 : 11, bytes == 4 ? 24 : 53);
}

/* What precedes a field that may be missing, and what follows then. */

const struct ctf_status_entry ctf_statuses[CTF_STATUS_KINDS] = {
	[CTF_STATUS_VALUE] = { "value", CTF_CONTENT_VALUE },
	[CTF_STATUS_EMPTY] = { "empty", CTF_CONTENT_NOTHING },
	[CTF_STATUS_CUT] = { "cut", CTF_CONTENT_VALUE },
	[CTF_STATUS_NO_END] = { "no_end", CTF_CONTENT_VALUE },
	[CTF_STATUS_TOO_SHORT] = { "too_short", CTF_CONTENT_VALUE },
	[CTF_STATUS_NOT_READABLE] = { "not_readable", CTF_CONTENT_POINTER },
	[CTF_STATUS_BAD_SELECTOR] = { "bad_selector", CTF_CONTENT_POINTER },
	[CTF_STATUS_LEFT_ALONE] = { "left_alone", CTF_CONTENT_POINTER },
	[CTF_STATUS_NOT_TRIED] = { "not_tried", CTF_CONTENT_POINTER },
	[CTF_STATUS_CALLER] = { "caller_unknown", CTF_CONTENT_POINTER },
	[CTF_STATUS_DIVISION] = { "division_by_zero", CTF_CONTENT_NOTHING },
	[CTF_STATUS_UNKNOWN] = { "not_known", CTF_CONTENT_NOTHING },
	[CTF_STATUS_ABSENT] = { "not_available_here", CTF_CONTENT_NOTHING },
	[CTF_STATUS_NOT_TRACED] = { "not_traced", CTF_CONTENT_NOTHING },
	[CTF_STATUS_NOT_FORMATTED] = { "not_formatted", CTF_CONTENT_NOTHING },
	[CTF_STATUS_CUT_BEFORE] = { "cut_before", CTF_CONTENT_NOTHING },
	[CTF_STATUS_INCOMPLETE] = { "incomplete", CTF_CONTENT_BYTES },
	[CTF_STATUS_NO_PREFIX] = { "no_prefix", CTF_CONTENT_BYTES },
	[CTF_STATUS_OTHER_ITEM] = { "other_item", CTF_CONTENT_BYTES },
	[CTF_STATUS_NOT_TEXT] = { "not_text", CTF_CONTENT_NOT_TEXT },
	[CTF_STATUS_AS_TEXT] = { "as_text", CTF_CONTENT_TEXT },
	[CTF_STATUS_MODULE] = { "needs_module", CTF_CONTENT_NOTHING },
};

const char *const ctf_content_types[] = {
	[CTF_CONTENT_POINTER] = "struct at_pointer",
	[CTF_CONTENT_NOTHING] = "struct nothing",
	[CTF_CONTENT_BYTES] = "struct bytes",
	[CTF_CONTENT_NOT_TEXT] = "struct not_text",
	[CTF_CONTENT_TEXT] = "string",
};

void ctf_status_tsdl(struct text *tsdl)
{
	static const char text[] =
		"struct bytes {\n"
		"\tuint16_t length;\n"
		"\thex8_t bytes[length];\n"
		"};\n\n"
		"struct flags {\n"
		"\thex64_t value;\n"
		"\tstring names;\n"
		"};\n\n"
		"struct address {\n"
		"\thex64_t address;\n"
		"\tstring name;\n"
		"};\n\n"
		"struct stack {\n"
		"\tenum stack_end end;\n"
		"\tuint16_t length;\n"
		"\tstruct address frames[length];\n"
		"};\n\n"
		"struct at_pointer {\n"
		"\thex64_t pointer;\n"
		"};\n\n"
		"struct not_text {\n"
		"\tstring text;\n"
		"\tstruct bytes data;\n"
		"};\n\n"
		"struct nothing {\n"
		"};\n\n";

	text_print(tsdl, "enum stack_end : uint8_t {");
	for (int i = 0; i < RAS_STACK_ENDS; i++)
		text_print(tsdl, "\n\t%s = %d,", names_stack_end[i], i);
	text_print(tsdl, "\n\tunknown = %d ... 255\n};\n\n", RAS_STACK_ENDS);
	text_add(tsdl, text, sizeof(text) - 1);
	text_print(tsdl, "enum status : uint8_t {");
	for (int i = 0; i < CTF_STATUS_KINDS; i++)
		text_print(tsdl, "%s\n\t%s = %d", i ? "," : "",
			   ctf_statuses[i].name, i);
	text_print(tsdl, "\n};\n\n");
}

/* ---- C types ---- */

/*
 * Values of C types (format/value.h) in CTF: a structure becomes one of the
 * same members, a union one of all its members, a bit-field an integer of whole
 * bytes, an array of characters a string up to its zero.
 */

#define DEPTH_MAX	16
#define MEMBERS_MAX	512
#define ENUMERATORS_MAX	1024
#define NAME_MOST	128		/* characters of a member's name */
#define TSDL_MOST	(64u << 10)	/* of a type */
#define EXPANSION	32		/* unions are written once per member */

struct ctf_declaration {
	struct text *tsdl;
	const struct value_types *types;
	enum ctf_strings strings;
	unsigned int depth;
	bool failed;
};

/* It becomes a CTF string. */
static bool is_text(const struct value_types *types, uint32_t ctype)
{
	const struct tff_ctype *type = &types->types[ctype];

	if (type->kind == TFF_CTYPE_ARRAY)
		type = &types->types[type->target];
	return type->kind == TFF_CTYPE_CHAR && type->bytes == 1;
}

/* ---- names of members ---- */

static bool ctf_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* The member's name, without the underscore that precedes each. */
static void member_name_make(const struct value_types *types,
			     const struct tff_ctype *type, uint32_t i,
			     char *name)
{
	const struct tff_member *m = &types->members[type->first_member + i];
	const char *text = types->strings + m->name;
	size_t n = 0;

	for (; n < NAME_MOST && text[n]; n++)
		name[n] = ctf_is_name(text[n]) ? text[n] : '_';
	name[n] = '\0';
	if (!n)
		snprintf(name, NAME_MOST, "anonymous%u", i + 1);
}

/* The same without leading underscores. */
static void plain_make(const struct value_types *types,
		       const struct tff_ctype *type, uint32_t i, char *plain)
{
	char name[NAME_MOST + 1];

	member_name_make(types, type, i, name);
	strcpy(plain, name + strspn(name, "_"));
}

static int member_name_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* 1: no two members have the same name; -ENOMEM: no memory. Readers that drop
 * leading underscores mix up names that differ only in their number. */
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
	qsort(names, type->members, sizeof(*names), member_name_compare);
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

bool ctf_ctype_enum_tsdl(struct text *tsdl,
			 const struct value_types *types, uint32_t ctype,
			 unsigned int bytes)
{
	const struct tff_ctype *type = &types->types[ctype];
	const struct tff_member *m = types->members + type->first_member;

	if (!type->members || type->members > ENUMERATORS_MAX ||
	    !type->bytes || type->bytes > 8)
		return false;
	ctf_tsdl_enum(tsdl, bytes, type->is_signed);
	for (uint32_t i = 0; i < type->members; i++)
		ctf_tsdl_enumerator(tsdl, i, types->strings + m[i].name,
				    enumerator(type, &m[i]), type->is_signed);
	text_print(tsdl, " }");
	return true;
}

static uint64_t declare(struct ctf_declaration *w, uint32_t ctype,
			const char *name);

static void integer_tsdl(struct ctf_declaration *w,
			 const struct tff_ctype *type, unsigned int bytes)
{
	uint32_t ctype = type - w->types->types;

	if (type->kind == TFF_CTYPE_BOOL)
		ctf_tsdl_bool(w->tsdl, bytes);
	else if (type->kind != TFF_CTYPE_ENUM ||
		 !ctf_ctype_enum_tsdl(w->tsdl, w->types, ctype, bytes))
		ctf_tsdl_integer(w->tsdl, bytes, value_is_signed(type),
				 type->kind == TFF_CTYPE_POINTER ? 16 : 10);
}

/* The member is within its structure: no byte after it is read. */
static bool member_fits(const struct ctf_declaration *w,
			const struct tff_ctype *type,
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

static uint64_t member_declare(struct ctf_declaration *w,
			       const struct tff_member *m, const char *name)
{
	const struct tff_ctype *type = &w->types->types[m->ctype];
	unsigned int bytes = (m->bits + 7) / 8;

	if (!m->bits)
		return declare(w, m->ctype, name);
	integer_tsdl(w, type, bytes);
	text_print(w->tsdl, " %s; ", name);
	return bytes;
}

static uint64_t struct_declare(struct ctf_declaration *w,
			       const struct tff_ctype *type, const char *name)
{
	const struct tff_member *m = w->types->members + type->first_member;
	int differ = type->members <= MEMBERS_MAX ?
		     names_differ(w->types, type) : -1;
	char member[NAME_MOST + 16], clean[NAME_MOST + 1];
	uint64_t size = 0;

	text_print(w->tsdl, "struct { ");
	w->failed |= differ < 0;
	if (differ == -ENOMEM)
		w->tsdl->error = ENOMEM;
	for (uint32_t i = 0; i < type->members && !w->failed; i++) {
		if (!member_fits(w, type, &m[i]))
			w->failed = true;
		if (w->failed || member_is_empty(w->types, &m[i]))
			continue;
		member_name_make(w->types, type, i, clean);
		if (differ)
			snprintf(member, sizeof(member), "_%s", clean);
		else
			snprintf(member, sizeof(member), "_m%u_%s", i + 1,
				 clean);
		size += member_declare(w, &m[i], member);
	}
	text_print(w->tsdl, "} ");
	text_add_string(w->tsdl, name);
	text_print(w->tsdl, "; ");
	return size;
}

static uint64_t array_declare(struct ctf_declaration *w,
			      const struct tff_ctype *type, const char *name)
{
	const struct tff_ctype *target = &w->types->types[type->target];
	size_t room = strlen(name) + 16;
	char *whole = malloc(room);
	uint64_t size = 0;

	if (!whole)
		w->tsdl->error = ENOMEM;
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
static void string_declare(struct ctf_declaration *w, const char *name)
{
	static const char with_status[] =
		"struct { enum status status; variant <status> { "
		"string value; struct nothing empty; "
		"struct not_text not_text; } text; } ";

	if (w->strings == CTF_STRINGS_PLAIN)
		text_print(w->tsdl, "string ");
	else
		text_add(w->tsdl, with_status, sizeof(with_status) - 1);
	text_add_string(w->tsdl, name);
	text_print(w->tsdl, "; ");
}

/* "TYPE NAME; "; the bytes that a value takes. */
static uint64_t simple_declare(struct ctf_declaration *w,
			       const struct tff_ctype *type, const char *name)
{
	uint32_t ctype = type - w->types->types;
	enum value_kind kind = value_kind(w->types, ctype);
	bool is_bytes = kind == VALUE_WIDE || kind == VALUE_BYTES;
	uint64_t size = type->bytes;

	if (!type->bytes)
		w->failed = true;
	if (is_text(w->types, ctype)) {
		string_declare(w, name);
		return size;
	}
	if (kind == VALUE_FLOAT)
		ctf_tsdl_float(w->tsdl, type->bytes);
	else if (is_bytes)
		ctf_tsdl_integer(w->tsdl, 1, false, 16);
	else
		integer_tsdl(w, type, type->bytes);
	text_print(w->tsdl, " ");
	text_add_string(w->tsdl, name);
	if (is_bytes)
		text_print(w->tsdl, "[%u]", type->bytes);
	text_print(w->tsdl, "; ");
	return size;
}

static uint64_t declare(struct ctf_declaration *w, uint32_t ctype,
			const char *name)
{
	const struct tff_ctype *type = &w->types->types[ctype];
	uint64_t size = 0;

	if (w->failed || w->tsdl->error || w->tsdl->used > TSDL_MOST ||
	    w->depth >= DEPTH_MAX) {
		w->failed = true;
		return 0;
	}
	w->depth++;
	if (type->kind >= TFF_CTYPE_TEXT)
		w->failed = true;
	else if (value_kind(w->types, ctype) == VALUE_STRUCT)
		size = struct_declare(w, type, name);
	else if (type->kind == TFF_CTYPE_ARRAY && !is_text(w->types, ctype))
		size = array_declare(w, type, name);
	else
		size = simple_declare(w, type, name);
	w->depth--;
	if (size > EXPANSION * (uint64_t)type->bytes)
		w->failed = true;
	return size;
}

bool ctf_ctype_tsdl(struct text *tsdl, const struct value_types *types,
		    uint32_t ctype, const char *name, enum ctf_strings strings)
{
	struct text text = { 0 };
	struct ctf_declaration w = {
		.tsdl = &text, .types = types, .strings = strings,
	};

	if (!types->types[ctype].bytes ||
	    types->types[ctype].bytes > RAS_RECORD_MAX)
		return false;
	declare(&w, ctype, name);
	if (!w.failed && !text.error)
		text_add(tsdl, text.data, text.used);
	if (text.error)
		tsdl->error = text.error;
	free(text.data);
	return !w.failed;
}

static bool has_shape(const struct value_types *types, uint32_t ctype,
		      unsigned int *work, unsigned int depth)
{
	const struct tff_ctype *type = &types->types[ctype];
	const struct tff_member *m = types->members + type->first_member;

	if (type->kind >= TFF_CTYPE_TEXT)
		return true;
	if (depth == DEPTH_MAX || !*work)
		return false;
	--*work;
	if (type->kind == TFF_CTYPE_ARRAY)
		return has_shape(types, type->target, work, depth + 1);
	if (type->kind != TFF_CTYPE_STRUCT && type->kind != TFF_CTYPE_UNION)
		return false;
	for (uint32_t i = 0; i < type->members; i++)
		if (has_shape(types, m[i].ctype, work, depth + 1))
			return true;
	return false;
}

bool ctf_ctype_has_shape(const struct value_types *types, uint32_t ctype)
{
	unsigned int work = MEMBERS_MAX;

	return has_shape(types, ctype, &work, 0);
}

/* ---- values ---- */

/* Where a value goes; or, without `out`, whether its strings can be plain. */
struct ctf_value {
	struct text *out;
	enum ctf_strings strings;
	bool is_text;		/* its strings so far */
};

/* Nothing of a type without a size is declared. */
static bool ctf_value_begin(struct value_walk *walk,
			    const struct value_node *node)
{
	return node->type->bytes;
}

static void ctf_value_end(struct value_walk *walk,
			  const struct value_node *node)
{
}

static bool ctf_value_item(struct value_walk *walk, const char *name)
{
	return true;
}

/* Data is not short: only members without a size are not there. */
static bool ctf_value_status(struct value_walk *walk,
			     const struct value_node *node,
			     enum value_status status)
{
	return true;
}

static void string_write(struct value_walk *walk, const uint8_t *data, size_t n)
{
	struct ctf_value *v = walk->own;
	bool text = ctf_is_text(data, n);

	if (!v->out) {
		v->is_text &= n && text;
		walk->full = !v->is_text;
		return;
	}
	if (v->strings == CTF_STRINGS_WITH_STATUS)
		ctf_add_number(v->out, !n ? CTF_STATUS_EMPTY : text ?
			       CTF_STATUS_VALUE : CTF_STATUS_NOT_TEXT, 1);
	if (n)
		ctf_add_string(v->out, data, n);
	if (!text)
		ctf_add_bytes(v->out, data, n);
}

/* Up to its zero. */
static void ctf_value_string(struct value_walk *walk,
			     const struct value_node *node)
{
	const struct ctf_value *v = walk->own;

	if (node->unit == 1)
		string_write(walk, node->data,
			     strnlen((const char *)node->data, node->whole));
	else if (v->out)
		text_add(v->out, node->data, node->whole * node->unit);
}

/* A bit-field has as many bytes as it needs. A zero that is a character by
 * itself is a string of one. */
static void ctf_value_scalar(struct value_walk *walk,
			     const struct value_node *node)
{
	const struct ctf_value *v = walk->own;
	uint8_t c = node->raw;
	uint64_t raw = node->raw;

	if (node->kind == VALUE_CHARACTER && !node->is_bits &&
	    node->type->bytes == 1) {
		string_write(walk, &c, 1);
	} else if (v->out && node->is_bits) {
		if (value_is_signed(node->type))
			raw = number_sign(raw, node->bits);
		ctf_add_number(v->out, raw, (node->bits + 7) / 8);
	} else if (v->out) {
		text_add(v->out, node->data, node->type->bytes);
	}
}

static const struct value_visitor ctf_visitor = {
	.begin = ctf_value_begin,
	.end = ctf_value_end,
	.item = ctf_value_item,
	.scalar = ctf_value_scalar,
	.string = ctf_value_string,
	.status = ctf_value_status,
};

/* A type that can be declared has no more values than its bytes; unions, which
 * are written once per member, EXPANSION times as many. */
static bool value_visit(struct ctf_value *v, const struct value_types *types,
			uint32_t ctype, const uint8_t *data)
{
	struct value_walk walk = {
		.types = types, .visitor = &ctf_visitor, .own = v,
		.work = UINT32_MAX,
	};

	value_walk(&walk, ctype, data, types->types[ctype].bytes);
	return v->is_text;
}

void ctf_ctype_write(struct text *out, const struct value_types *types,
		     uint32_t ctype, const uint8_t *data,
		     enum ctf_strings strings)
{
	struct ctf_value v = { .out = out, .strings = strings };

	value_visit(&v, types, ctype, data);
}

bool ctf_ctype_is_text(const struct value_types *types, uint32_t ctype,
		       const uint8_t *data)
{
	struct ctf_value v = { .is_text = true };

	return value_visit(&v, types, ctype, data);
}
