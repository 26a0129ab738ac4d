// SPDX-License-Identifier: GPL-2.0
#include "format_default.h"

#include <stdio.h>
#include <string.h>
#include "lib/formats/format.h"

#define REST	"%U\n"		/* of items that the format has no room for */

/* What precedes a type's name so that a control can have it; NULL:
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
	if (type_tag(type))
		bytes_print(out, "%%{%s%s}", type_tag(type), type->name);
	else
		bytes_print(out, "%%{%c%u}", number_letter(type),
			    8 * type->bytes);
}

static void add_memory(struct bytes *out, const struct ctypes *types,
		       const struct compile_item *item)
{
	const struct ctype *type = type_of(types, item->ctype), *element;

	if (type && type->kind == TFF_CTYPE_BYTES)
		bytes_print(out, "bytes ");
	if (type && !item->variable &&
	    (item->bytes == type->bytes ||
	     (item->bytes < type->bytes &&
	      (type->kind == TFF_CTYPE_STRUCT ||
	       type->kind == TFF_CTYPE_UNION ||
	       type->kind == TFF_CTYPE_ARRAY)))) {
		bytes_print(out, "%%P");
		add_typed(out, type);
	} else if (type && (item->variable || item->bytes % type->bytes == 0)) {
		/* as many as there are: of an array its elements, text as
		 * characters */
		element = type;
		if (type->kind == TFF_CTYPE_ARRAY &&
		    type_of(types, type->target))
			element = &types->types[type->target];
		bytes_print(out, "%%R");
		if (element->kind == TFF_CTYPE_CHAR && element->bytes == 1)
			bytes_print(out, "%%C");
		else
			add_typed(out, element);
	} else {
		bytes_print(out, "%%P%%{hex}");
	}
}

static void add_item(struct bytes *out, const struct ctypes *types,
		     const struct compile_item *item)
{
	const struct ctype *type = type_of(types, item->ctype);
	uint16_t bytes = item->bytes;

	out->failed |= !item->label;
	for (const char *p = item->label; p && *p; p++) {
		bytes_add(out, p, 1);
		if (*p == '%')
			bytes_add(out, p, 1);
	}
	bytes_print(out, item->raw ? "=" : " = ");
	if (item->kind == TDF_STMT_ASCIIZ)
		bytes_print(out, "%%P%%S");
	else if (item->kind == TDF_STMT_STACK)
		bytes_print(out, "%%P%%{stack}");
	else if (!item->raw)
		add_memory(out, types, item);
	else if (type && bytes == type->bytes)
		add_typed(out, type);
	else if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
		bytes_print(out, "%%{x%u}", bytes * 8);
	else
		bytes_print(out, "%%{hex%u}", bytes);
}

char *format_default(const struct ctypes *types,
		     const struct compile_point *point)
{
	const struct compile_item *items = point->items;
	struct bytes out = {0};

	for (size_t i = 0; i < point->item_count; i++) {
		const struct compile_item *item = &items[i], *next = item + 1;
		size_t kept = out.size;
		/* in the parentheses of the same REGS */
		bool together = i + 1 < point->item_count && item->raw &&
				next->raw &&
				item->tsf->pos.line == next->tsf->pos.line &&
				item->tsf->pos.column == next->tsf->pos.column;

		add_item(&out, types, item);
		bytes_print(&out, together ? " " : "\n");
		if (out.size + strlen(REST) <= TFF_FMT_MAX)
			continue;
		out.size = kept;
		bytes_add(&out, REST, strlen(REST));
		break;
	}
	bytes_add(&out, "", 1);
	if (!out.failed)
		return (char *)out.data;
	bytes_free(&out);
	return NULL;
}
