// SPDX-License-Identifier: GPL-2.0
#include "format_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "lib/formats/format.h"
#include "trcust/tsf/parser.h"

#define REST	"%U\n"		/* of items that the format has no room for */

/* What precedes a type's name so that a control can have it; NULL: it can't. */
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
	if (item->items) {
		bytes_print(out, "%%P%%{%s}", types->types[item->ctype].name);
	} else if (type && !item->variable &&
	    (item->bytes == type->bytes ||
	     (item->bytes < type->bytes && (type->kind == TFF_CTYPE_STRUCT ||
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

/* What prints the item by its type, with its prefix. */
static void add_auto(struct bytes *out, const struct ctypes *types,
		     const struct compile_item *item)
{
	const struct ctype *type = type_of(types, item->ctype);
	uint16_t bytes = item->bytes;

	if (item->tsf->kind == TSF_ELAPSED)
		bytes_print(out, "%%{ns}");
	else if (item->kind == TDF_STMT_ASCIIZ)
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

static void add_item(struct bytes *out, const struct ctypes *types,
		     const struct compile_item *item)
{
	out->failed |= !item->label;
	for (const char *p = item->label; p && *p; p++) {
		bytes_add(out, p, 1);
		if (*p == '%')
			bytes_add(out, p, 1);
	}
	bytes_print(out, item->raw ? "=" : " = ");
	add_auto(out, types, item);
}

char *format_default(const struct ctypes *types, struct compile_point *point)
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
		point->entry_fields += !item->tsf->at_exit;
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

/*
 * Follows the controls of the FMTs through the items in the order of the
 * record, as tracefmt does with the data (manual 1.3.5.7 and 1.4):
 *
 *  - %P and %R open the next memory item; what is left of the one before is
 *    passed over. So it is fine not to print memory, or not all of it: to log a
 *    block and print two fields is what the manual does with %I.
 *  - Registers have no prefix and follow each other without a mark. One
 *    control may take several (%Q of EAX and EBX), several one (%B%B of BX),
 *    but one that ends within a register shifts all that follow. Registers left
 *    over at the end do no harm.
 *  - An item whose length is known only when the probe is hit matches anything.
 */

#define NAMED_MAX	64	/* types that the FMTs of a tracepoint name */

struct fmt_check {
	const struct compilation *c;
	struct ctypes *ctypes;
	struct compile_point *point;
	const struct compile_item *item;	/* being printed; NULL: none */
	size_t next;		/* the item after it */
	uint32_t left;		/* bytes of it that no control has taken */
	bool fresh;		/* no control has taken any */
	bool unsure;		/* which item is printed can't be known */
	bool done;		/* nothing more can be checked */
	size_t prefixes;	/* %P and %R that follow */
	size_t controls;	/* of data */
	struct srcpos last;	/* of the control before */
	struct {		/* what names of types mean at the sites */
		char *name;
		size_t length;
		uint32_t type;
	} named[NAMED_MAX];
	size_t named_count;
	bool renamed;		/* the FMTs are not printed as written */
	bool at_exit;		/* an exit's item has been printed */
	/* the control */
	const struct tsf_string *fmt;
	const struct format_step *step;
};

/* %{auto}: as the item's type prints without a FMT. */
static bool is_auto(const struct format_step *step)
{
	return step->kind == FORMAT_CONTROL && step->letter == '{' &&
	       step->type == FORMAT_NAMED && step->length == 4 &&
	       !memcmp(step->text, "auto", 4);
}

static bool is_prefix(const struct format_step *step)
{
	return step->letter == 'P' || step->letter == 'R';
}

/* The length of the control as written; the text cut to its size. */
static size_t control_spell(const struct fmt_check *k, char text[64])
{
	const char *from = k->fmt->text + k->step->at;
	size_t length = 2;

	if (k->step->letter == '{')
		length = strchr(from, '}') + 1 - from;
	else if (k->step->letter == 'I')
		length += strspn(from + 2, "0123456789");
	snprintf(text, 64, "%.*s", (int)length, from);
	return length;
}

static struct srcpos control_pos(const struct fmt_check *k)
{
	char text[64];

	return parse_string_place(k->fmt, k->step->at, control_spell(k, text));
}

/* What prints the number that an item is. */
static void hint_number(const struct fmt_check *k,
			const struct compile_item *item)
{
	bool is_signed = item->ctype < k->ctypes->count &&
			 k->ctypes->types[item->ctype].is_signed;

	if (item->variable || item->bytes > 8 ||
	    (item->bytes & (item->bytes - 1)))
		return;
	diag_hint(k->c->diag, "a decimal number of %u bytes is %s%%{%c%u}; "
			      "without a FMT all is printed by its type",
		  item->bytes, item->raw ? "" : "%P", is_signed ? 'd' : 'u',
		  8 * item->bytes);
}

static void hint_item(const struct fmt_check *k,
		      const struct compile_item *item)
{
	bool is_reg = item->kind == TDF_STMT_REG;
	struct srcpos pos = is_reg ? item->tsf->reg.pos : item->tsf->pos;

	diag_hint(k->c->diag, "line %u logs %s%u bytes there%s%s", pos.line,
		  item->variable ? "at most " : "", item->bytes,
		  item->label ? ": " : "", item->label ? item->label : "");
}

/* A message about the control, with the other line: what is logged. */
static void report_control(const struct fmt_check *k, enum diag_id id,
			   const struct compile_item *item)
{
	char text[64];

	control_spell(k, text);
	diag_report(k->c->diag, control_pos(k), id, text);
	if (item)
		hint_item(k, item);
}

/* The control takes `bytes`, of which `left` are there. */
static void report_wide(const struct fmt_check *k, uint32_t bytes,
			uint32_t left)
{
	char control[64], takes[16], there[16];

	control_spell(k, control);
	snprintf(takes, sizeof(takes), "%" PRIu32, bytes);
	snprintf(there, sizeof(there), "%" PRIu32, left);
	diag_report(k->c->diag, control_pos(k), TRCERR_FORMAT_WIDE, control,
		    takes, there);
	hint_item(k, k->item);
}

static const struct compile_item *item_next(const struct fmt_check *k)
{
	return k->next < k->point->item_count ? &k->point->items[k->next] :
						NULL;
}

static bool next_is_register(const struct fmt_check *k)
{
	return item_next(k) && item_next(k)->raw;
}

static void item_open(struct fmt_check *k)
{
	k->item = &k->point->items[k->next++];
	k->left = k->item->bytes;
	k->fresh = true;
	k->unsure = false;
}

static bool type_is_text(const struct fmt_check *k, const struct ctype *type)
{
	if (type->kind == TFF_CTYPE_ARRAY)
		type = &k->ctypes->types[type->target];
	return type->kind == TFF_CTYPE_STRUCT ||
	       type->kind == TFF_CTYPE_UNION || type->kind == TFF_CTYPE_BYTES ||
	       (type->kind <= TFF_CTYPE_CHAR && type->bytes == 1);
}

/* The last control ended within a register; what follows is out of step. */
static bool check_cut(struct fmt_check *k)
{
	char there[16], bytes[16];

	if (!k->item || !k->item->raw || !k->left || k->fresh)
		return false;
	snprintf(there, sizeof(there), "%" PRIu32, k->item->bytes - k->left);
	snprintf(bytes, sizeof(bytes), "%u", k->item->bytes);
	diag_report(k->c->diag, k->last, TRCERR_FORMAT_CUT, there, bytes);
	hint_item(k, k->item);
	return true;
}

/* %P, and %R which implies one. */
static void check_prefix(struct fmt_check *k)
{
	bool skip = check_cut(k) || k->unsure;
	size_t memory = 0;

	k->prefixes--;
	while (skip && next_is_register(k))
		k->next++;
	k->item = NULL;
	k->unsure = false;
	if (!item_next(k)) {
		report_control(k, TRCERR_FORMAT_BEYOND, NULL);
		k->done = true;
		return;
	}
	if (!next_is_register(k)) {
		item_open(k);
		return;
	}
	/* there are registers instead: they were forgotten, or the prefix is
	 * one too many */
	report_control(k, TRCERR_FORMAT_REGISTER, item_next(k));
	for (size_t i = k->next; i < k->point->item_count; i++)
		memory += !k->point->items[i].raw;
	if (k->prefixes + 1 > memory)
		return;
	while (next_is_register(k))
		k->next++;
	item_open(k);
}

static uint32_t control_bytes(const struct fmt_check *k)
{
	const struct format_step *step = k->step;

	if (is_auto(step))
		return 0;
	if (step->letter == '{' && step->type == FORMAT_NAMED)
		return k->ctypes->types[step->ctype].bytes;
	return format_step_bytes(step);
}

/* Does the kind of the control fit that of an item that it is the first to
 * take? */
static void check_kind(struct fmt_check *k)
{
	const struct format_step *step = k->step;
	const struct compile_item *item = k->item;
	const struct ctype *types = k->ctypes->types;
	bool typed = step->letter == '{';
	bool string = typed ? step->type == FORMAT_STRING : step->letter == 'S';
	bool bytes = typed ? step->type == FORMAT_BYTES ||
			     step->type == FORMAT_DUMP ||
			     step->type == FORMAT_CHAR ||
			     (step->type == FORMAT_NAMED &&
			      type_is_text(k, &types[step->ctype])) :
			     strchr("BCI", step->letter) != NULL;
	bool is_text = !item->raw && item->kind != TDF_STMT_STACK &&
		       (item->ctype >= k->ctypes->count ||
			type_is_text(k, &types[item->ctype]));

	if (!k->fresh || is_auto(step))
		return;
	if (string && !is_text)
		report_control(k, TRCERR_FORMAT_STRING, item);
	else if (item->kind == TDF_STMT_ASCIIZ && !string && !bytes)
		report_control(k, TRCERR_FORMAT_NUMBER, item);
}

/* Registers are one run of bytes; but a control that begins within one and
 * ends after it is meant for the next. */
static void take_registers(struct fmt_check *k, uint32_t bytes)
{
	uint32_t rest = bytes;

	if (!k->fresh && rest > k->left) {
		report_wide(k, bytes, k->left);
		k->left = 0;
	}
	while (rest > k->left) {
		rest -= k->left;
		k->left = 0;
		if (!next_is_register(k)) {
			if (k->fresh)
				report_wide(k, bytes, bytes - rest);
			return;
		}
		item_open(k);
	}
	k->left -= rest;
	k->fresh = false;
}

/* All of a shape is printed by one control: its type, %{auto}, or %S of a
 * text. */
static bool check_shape(struct fmt_check *k)
{
	const struct format_step *step = k->step;
	const struct compile_item *item = k->item;

	if (!item || !item->items || !k->fresh)
		return false;
	k->left = 0;
	k->fresh = false;
	if (is_auto(step) ||
	    (step->letter == '{' && step->type == FORMAT_NAMED &&
	     step->ctype == item->ctype) ||
	    (step->letter == 'S' &&
	     k->ctypes->types[item->ctype].kind == TFF_CTYPE_TEXT))
		return true;
	report_control(k, TRCERR_FORMAT_STRING, item);
	diag_hint(k->c->diag, "a value that has a shape is printed with "
			      "%%P%%{auto}");
	k->done = true;
	return true;
}

/* The control takes from the item that is printed or, when that is used up,
 * from the next. */
static void check_data(struct fmt_check *k)
{
	uint32_t bytes = control_bytes(k);

	if ((k->unsure && next_is_register(k)) ||
	    (k->step->letter == 'I' && !bytes))
		return;
	if (!k->item || !k->left) {
		if (!item_next(k)) {
			report_control(k, TRCERR_FORMAT_BEYOND, NULL);
			k->done = true;
			return;
		}
		if (!next_is_register(k)) {
			report_control(k, TRCERR_FORMAT_PREFIX, item_next(k));
			hint_number(k, item_next(k));
		}
		item_open(k);
	}
	check_kind(k);
	if (!bytes && k->item->raw) {
		/* a string, or the rest of the record */
		k->done = true;
	} else if (!bytes) {
		k->left = 0;
		k->unsure = false;
	} else if (k->item->raw) {
		take_registers(k, bytes);
	} else {
		if (bytes > k->left && !k->item->variable)
			report_wide(k, bytes, k->left);
		k->left -= bytes < k->left ? bytes : k->left;
		k->fresh = false;
		/* whether the item ends here is known when it is hit */
		k->unsure = k->item->variable;
	}
}

/* `repeated`: after %R, the control again and again to the end of the item. */
static void check_control(struct fmt_check *k, bool repeated)
{
	uint32_t bytes = control_bytes(k);

	if (is_prefix(k->step)) {
		check_prefix(k);
	} else if (check_shape(k)) {
		;
	} else if (k->step->letter == 'U') {
		k->done = true;
	} else if (repeated && k->item && !k->item->raw) {
		check_kind(k);
		if (bytes && k->left % bytes && !k->item->variable)
			report_wide(k, bytes, k->left % bytes);
		k->left = 0;
	} else {
		check_data(k);
	}
	k->last = control_pos(k);
}

/* Fields of a CALL's entry (TFF_ENTRY_FIELDS) */
static void fields_count(struct fmt_check *k)
{
	k->at_exit |= k->item && k->item->tsf->at_exit;
	k->point->entry_fields += !k->at_exit && !is_prefix(k->step) &&
				  k->step->letter != 'I';
}

/* What the name means at one site: units may have types of their own that are
 * called so. */
static int fetch_at(const struct fmt_check *k, const struct compile_site *site,
		    const char *tag, const char *name, uint32_t *found)
{
	Dwarf_Die type[2];
	int code = dwarf_type_find(k->c->dwarf, &site->from, tag, name, type);
	uint32_t ctype = code < 0 ? CTYPE_NONE :
				    ctypes_add(k->ctypes, &type[0]);

	if (code == 1)
		message_other_type(k->c, control_pos(k), name, type);
	if (code == -ENOTUNIQ)
		return message_ambiguous(k->c, control_pos(k), name,
					 &type[0], &type[1]);
	if (*found != CTYPE_NONE && ctype != CTYPE_NONE && ctype != *found) {
		diag_report(k->c->diag, control_pos(k), TRCERR_AMBIGNAME, name,
			    "sites of the tracepoint are in units that have "
			    "types of their own");
		return 1;
	}
	if (ctype != CTYPE_NONE)
		*found = ctype;
	return 0;
}

/* The type that the control's name means at the sites. */
static int fetch_type(const struct fmt_check *k, uint32_t *found)
{
	const char *name = k->step->text;
	char tag[16] = "", *text;
	uint8_t kind;
	size_t n = format_type_tag(name, k->step->length, &kind);
	int code = 0;

	*found = CTYPE_NONE;
	if (!k->c->dwarf)
		return 0;
	if (n)
		snprintf(tag, sizeof(tag), "%.*s", (int)n - 1, name);
	text = strndup(name + n, k->step->length - n);
	for (size_t i = 0; text && !code && i < k->point->site_count; i++)
		code = fetch_at(k, &k->point->sites[i], n ? tag : NULL, text,
				found);
	free(text);
	return code;
}

/* What a name means: as it was found for a control, else the first type that
 * is called so. */
static uint32_t find_type(const void *context, const char *name, size_t length)
{
	const struct fmt_check *k = context;

	if (length == 4 && !memcmp(name, "auto", 4))
		return 0;
	for (size_t i = 0; i < k->named_count; i++)
		if (k->named[i].length == length &&
		    !memcmp(k->named[i].name, name, length))
			return k->named[i].type;
	return ctypes_find(k->ctypes, name, length);
}

/* A type in the table has this name, but for the number after names that are
 * there already. */
static bool is_called(const struct ctype *type, const char *name, size_t length)
{
	char *own = strdup(type->name);
	char *number = own ? strrchr(own, '#') : NULL;
	bool is;

	if (number && number[1 + strspn(number + 1, "0123456789")] == '\0')
		*number = '\0';
	is = own && format_type_match(own, type->kind, name, length);
	free(own);
	return is;
}

/* The name of the type that an item of the tracepoint has by its shape. */
static bool names_shape(const struct fmt_check *k,
			const struct format_step *step)
{
	for (size_t i = 0; i < k->point->item_count; i++) {
		const struct compile_item *item = &k->point->items[i];
		const char *name = item->items ?
				k->ctypes->types[item->ctype].name : "";

		if (step->kind == FORMAT_CONTROL && step->letter == '{' &&
		    step->type == FORMAT_NAMED &&
		    !strncmp(name, step->text, step->length) &&
		    !name[step->length])
			return true;
	}
	return false;
}

/* Names of C types were accepted unchecked when the FMT was parsed. */
static void check_name(struct fmt_check *k)
{
	const struct format_step *step = k->step;
	const struct ctypes *types = k->ctypes;
	uint32_t fetched = CTYPE_NONE;

	k->renamed |= is_auto(step);
	if (is_auto(step) || names_shape(k, step) || step->letter != '{' ||
	    step->type != FORMAT_NAMED ||
	    (!memchr(step->text, '[', step->length) && fetch_type(k, &fetched)))
		return;
	if (fetched != CTYPE_NONE &&
	    is_called(&types->types[fetched], step->text, step->length)) {
		if (k->named_count == NAMED_MAX)
			return;
		k->named[k->named_count].name = strndup(step->text,
							step->length);
		k->named[k->named_count].length = step->length;
		k->named[k->named_count].type = fetched;
		k->named_count += k->named[k->named_count].name != NULL;
		return;
	}
	if (ctypes_find(types, step->text, step->length) != CTYPE_NONE)
		return;
	report_control(k, TRCERR_BADCONTROL, NULL);
	if (fetched != CTYPE_NONE)
		diag_hint(k->c->diag, "it is a typedef of '%s'",
			  types->types[fetched].name);
	else if (format_name_listed(step->text, step->length))
		diag_hint(k->c->diag, "names are wanted like READ=1,WRITE=2, of flags MODE=1/3, too, with values of its width");
	else
		diag_hint(k->c->diag, "there is no such type");
}

static int compile_fmt(struct fmt_check *k, struct format *format,
		       const struct format_types *types)
{
	int code = format_compile(format, k->fmt->text, types);

	if (code)
		diag_no_memory(k->c->diag, k->fmt->pos);
	return code;
}

/* Text and the record's codes take no data. */
static bool takes_data(const struct format_step *step)
{
	return step->kind == FORMAT_CONTROL && step->letter != 'X' &&
	       step->letter != 'Y';
}

/* What must be known before: the names, and how many prefixes there are. */
static int check_names(struct fmt_check *k)
{
	const struct tsf_point *tsf = k->point->tsf;
	struct format format;

	for (size_t i = 0; i < tsf->fmt_count; i++) {
		k->fmt = &tsf->fmts[i];
		if (compile_fmt(k, &format, NULL))
			return -1;
		for (size_t s = 0; s < format.count; s++) {
			k->step = &format.steps[s];
			k->prefixes += is_prefix(k->step);
			k->controls += takes_data(k->step);
			if (k->point->is_static && is_prefix(k->step))
				report_control(k, TRCERR_FORMAT_STATIC, NULL);
			check_name(k);
		}
		format_free(&format);
	}
	return 0;
}

static int check_fmt(struct fmt_check *k)
{
	struct format_types types = { find_type, k };
	struct format format;
	char text[64];

	if (compile_fmt(k, &format, &types))
		return -1;
	for (size_t i = 0; i < format.count && !k->done; i++) {
		k->step = &format.steps[i];
		if (is_auto(k->step) &&
		    (!i || k->step[-1].letter != 'P' ||
		     k->step[-1].at + 2 != k->step->at)) {
			report_control(k, TRCERR_BADCONTROL, NULL);
			diag_hint(k->c->diag, "it is written %%P%%{auto}");
			k->done = true;
		} else if (takes_data(k->step)) {
			check_control(k, i && k->step[-1].letter == 'R');
			fields_count(k);
		}
		if (k->done || takes_data(k->step))
			continue;
		if (k->step->kind != FORMAT_CONTROL || k->controls ||
		    !k->point->item_count)
			continue;
		/* %x or %y and no control of data: they were taken for those
		 * of printf() */
		control_spell(k, text);
		diag_report(k->c->diag, control_pos(k), TRCERR_FORMAT_CODE,
			    text, k->step->letter == 'X' ? "major" : "minor");
		hint_number(k, &k->point->items[0]);
		k->controls++;		/* once */
	}
	format_free(&format);
	return 0;
}

/* The first one that has a prefix. */
static const struct compile_item *item_memory(const struct compile_item *item,
					      const struct compile_item *end)
{
	while (item < end && item->raw)
		item++;
	return item;
}

/* The TFF has one table of types: writes the FMTs with the names that the types
 * have there. */
static void rename_types(struct fmt_check *k)
{
	const struct compile_item *item = k->point->items;
	const struct compile_item *end = item + k->point->item_count;
	struct format_types types = { find_type, k };
	const struct tsf_point *tsf = k->point->tsf;
	struct bytes out = {0};
	struct format format;
	bool met = false;

	for (size_t i = 0; i < tsf->fmt_count; i++) {
		const char *text = tsf->fmts[i].text;
		size_t done = 0, item_at = 0;

		k->fmt = &tsf->fmts[i];
		if (compile_fmt(k, &format, &types))
			break;
		for (size_t s = 0; s < format.count; s++) {
			const struct format_step *step = &format.steps[s];
			size_t at = step->at + 2;	/* after "%{" */
			const char *name;

			if (step->kind != FORMAT_CONTROL)
				continue;
			if (is_prefix(step)) {
				item = item_memory(item + (met && item < end),
						   end);
				item_at = step->at + 2;
				met = true;
				continue;
			}
			if (item < end && item_at == step->at &&
			    (is_auto(step) || (item->items &&
					       step->letter == 'S'))) {
				bytes_add(&out, text + done,
					  step->at - 2 - done);
				add_auto(&out, k->ctypes, item);
				done = is_auto(step) ? at + 5 : at;
				continue;
			}
			if (step->letter != '{' ||
			    step->type != FORMAT_NAMED || is_auto(step))
				continue;
			name = k->ctypes->types[step->ctype].name;
			bytes_add(&out, text + done, at - done);
			bytes_add(&out, name, strlen(name));
			done = at + step->length;
		}
		bytes_add(&out, text + done, k->fmt->length - done);
		bytes_add(&out, "\n", 1);
		format_free(&format);
	}
	bytes_add(&out, "", 1);
	if (!out.failed)
		k->point->fmt = strdup((char *)out.data);
	if (!k->point->fmt)
		diag_no_memory(k->c->diag, tsf->pos);
	bytes_free(&out);
}

void format_check(const struct compilation *c, struct ctypes *ctypes,
		  struct compile_point *point)
{
	struct fmt_check k = { .c = c, .ctypes = ctypes, .point = point };
	int code = check_names(&k);
	bool renamed = k.renamed;

	for (size_t i = 0; i < point->item_count; i++)
		renamed |= point->items[i].items;
	for (size_t i = 0; !code && i < point->tsf->fmt_count; i++) {
		k.fmt = &point->tsf->fmts[i];
		if (!point->is_static && !k.done)
			code = check_fmt(&k);
	}
	if (!code && !k.done)
		check_cut(&k);
	for (size_t i = 0; i < k.named_count; i++)
		renamed |= ctypes_find(ctypes, k.named[i].name,
				      k.named[i].length) != k.named[i].type;
	if (!code && renamed)
		rename_types(&k);
	while (k.named_count)
		free(k.named[--k.named_count].name);
}
