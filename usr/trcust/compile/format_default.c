// SPDX-License-Identifier: GPL-2.0
#include "format_default.h"

#include <stdio.h>
#include <string.h>
#include "lib/formats/format.h"

#define REST	"%U\n"		/* of items that the format has no room for */

static void add_text(struct bytes *out, const char *text)
{
	bytes_add(out, text, strlen(text));
}

/* Text of the format that is no control. */
static void add_label(struct bytes *out, const char *label)
{
	for (; *label; label++) {
		bytes_add(out, label, 1);
		if (*label == '%')
			bytes_add(out, "%", 1);
	}
}

/* The typed control of that many bytes of anything. */
static void add_untyped(struct bytes *out, unsigned int bytes)
{
	bool is_number = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
	char text[32];

	if (is_number)
		snprintf(text, sizeof(text), "%%{x%u}", bytes * 8);
	else
		snprintf(text, sizeof(text), "%%{hex%u}", bytes);
	add_text(out, text);
}

/* What stands in front of a type's name so that a control can have it; NULL:
 * it can't. */
static const char *type_tag(const struct ctype *type)
{
	static const char *const tags[] = {
		[TFF_CTYPE_STRUCT] = "struct ", [TFF_CTYPE_UNION] = "union ",
		[TFF_CTYPE_ENUM] = "enum ",
		[TFF_CTYPE_BOOL] = "",	/* "bool" is the same either way */
		[TFF_CTYPE_BYTES] = NULL,
	};

	if (!type->name[0] || strpbrk(type->name, "}%\n"))
		return NULL;
	return format_name_reserved(type->name) ? tags[type->kind] : "";
}

/* Rust's u64 and f64 are called like the controls that print them. */
static char number_letter(const struct ctype *type)
{
	uint32_t bytes = type->bytes;

	if (type->kind == TFF_CTYPE_FLOAT && (bytes == 4 || bytes == 8))
		return 'f';
	if (type->kind > TFF_CTYPE_INT || bytes > 8 || bytes & (bytes - 1))
		return 0;
	return type->kind == TFF_CTYPE_INT ? 'd' : 'u';
}

static const struct ctype *type_of(const struct ctypes *types, uint32_t ctype)
{
	const struct ctype *type = ctype < types->count ?
				   &types->types[ctype] : NULL;

	return type && type->bytes && (type_tag(type) || number_letter(type)) ?
		       type : NULL;
}

static void add_typed(struct bytes *out, const struct ctype *type)
{
	char text[16];

	if (!type_tag(type)) {
		snprintf(text, sizeof(text), "%%{%c%u}", number_letter(type),
			 8 * type->bytes);
		add_text(out, text);
		return;
	}
	add_text(out, "%{");
	add_text(out, type_tag(type));
	add_text(out, type->name);
	add_text(out, "}");
}

/* As many as there are: of an array its elements, text as characters. */
static void add_repeated(struct bytes *out, const struct ctypes *types,
			 const struct ctype *type)
{
	const struct ctype *element = type;

	if (type->kind == TFF_CTYPE_ARRAY && type_of(types, type->target))
		element = &types->types[type->target];
	add_text(out, "%R");
	if (element->kind == TFF_CTYPE_CHAR && element->bytes == 1)
		add_text(out, "%C");
	else
		add_typed(out, element);
}

static bool is_composed(const struct ctype *type)
{
	return type->kind == TFF_CTYPE_STRUCT ||
	       type->kind == TFF_CTYPE_UNION || type->kind == TFF_CTYPE_ARRAY;
}

static void add_memory(struct bytes *out, const struct ctypes *types,
		       const struct compile_item *item)
{
	const struct ctype *type = type_of(types, item->ctype);
	bool in_part = type && item->bytes < type->bytes;

	if (type && type->kind == TFF_CTYPE_BYTES)
		add_text(out, "bytes ");
	if (type && !item->variable &&
	    (item->bytes == type->bytes || (in_part && is_composed(type)))) {
		add_text(out, "%P");
		add_typed(out, type);
	} else if (type && (item->variable || item->bytes % type->bytes == 0)) {
		add_repeated(out, types, type);
	} else {
		add_text(out, "%P%{hex}");
	}
}

static void add_raw(struct bytes *out, const struct ctypes *types,
		    const struct compile_item *item)
{
	const struct ctype *type = type_of(types, item->ctype);

	if (type && item->bytes == type->bytes)
		add_typed(out, type);
	else
		add_untyped(out, item->bytes);
}

static void add_item(struct bytes *out, const struct ctypes *types,
		     const struct compile_item *item)
{
	if (!item->label) {
		out->failed = true;
		return;
	}
	add_label(out, item->label);
	add_text(out, item->raw ? "=" : " = ");
	if (item->kind == TDF_STMT_ASCIIZ)
		add_text(out, "%P%S");
	else if (item->kind == TDF_STMT_STACK)
		add_text(out, "%P%{stack}");
	else if (item->raw)
		add_raw(out, types, item);
	else
		add_memory(out, types, item);
}

/* They stand in the parentheses of the same REGS. */
static bool is_same_clause(const struct compile_item *a,
			   const struct compile_item *b)
{
	return a->raw && b->raw && a->tsf->pos.line == b->tsf->pos.line &&
	       a->tsf->pos.column == b->tsf->pos.column;
}

char *format_default(const struct ctypes *types,
		     const struct compile_point *point)
{
	const struct compile_item *items = point->items;
	struct bytes out = {0};
	size_t kept;

	for (size_t i = 0; i < point->item_count; i++) {
		bool last = i + 1 == point->item_count;

		kept = out.size;
		add_item(&out, types, &items[i]);
		add_text(&out, !last && is_same_clause(&items[i], &items[i + 1]) ?
			       " " : "\n");
		if (out.size + strlen(REST) <= TFF_FMT_MAX)
			continue;
		out.size = kept;
		add_text(&out, REST);
		break;
	}
	bytes_add(&out, "", 1);
	if (!out.failed)
		return (char *)out.data;
	bytes_free(&out);
	return NULL;
}
