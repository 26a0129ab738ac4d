// SPDX-License-Identifier: GPL-2.0
/*
 * The controls of the FMTs are led over the items in the order of the record,
 * as tracefmt does with the data (manual 1.3.5.7 and 1.4):
 *
 *  - %P and %R open the next memory item; what is left of the one before is
 *    passed over. So memory that isn't printed, or not all of it, is fine: to
 *    log a block and print two fields is what the manual does with %I.
 *  - Registers have no prefix and follow each other without a mark. One
 *    control may take several (%Q of EAX and EBX), several one (%B%B of BX),
 *    but one that ends within a register shifts all behind it. Registers left
 *    over at the end harm nobody.
 *  - Of an item whose length is known only when it is hit, anything may match.
 */
#include "format_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/format.h"
#include "lib/formats/format_typed.h"
#include "lib/debug/dwarf/dwarf.h"
#include "message.h"
#include "trcust/tsf/parse_string.h"

#define NAMED_MAX	64	/* types that the FMTs of a tracepoint name */

struct check {
	const struct compilation *c;
	struct ctypes *ctypes;
	struct compile_point *point;
	const struct compile_item *item;	/* being printed; NULL: none */
	size_t next;		/* item behind it */
	uint32_t left;		/* bytes of it that no control has taken */
	bool fresh;		/* nor has any taken some */
	bool unsure;		/* which item is printed can't be known */
	bool done;		/* nothing more can be said */
	size_t prefixes;	/* %P and %R that follow */
	size_t controls;	/* of data */
	struct srcpos last;	/* of the control before */
	struct {		/* what names of types mean at the sites */
		char *name;
		size_t length;
		uint32_t type;
	} named[NAMED_MAX];
	size_t named_count;
	/* the control */
	const struct tsf_fmt *fmt;
	const struct format_step *step;
};

static bool is_prefix(const struct format_step *step)
{
	return step->letter == 'P' || step->letter == 'R';
}

/* ---- telling ---- */

static size_t control_length(const struct check *k)
{
	const char *text = k->fmt->text + k->step->at;

	if (k->step->letter == '{')
		return strchr(text, '}') + 1 - text;
	return k->step->letter == 'I' ? 2 + strspn(text + 2, "0123456789") : 2;
}

/* The control as written; cut to size. */
static const char *control_text(const struct check *k, char text[64])
{
	snprintf(text, 64, "%.*s", (int)control_length(k),
		 k->fmt->text + k->step->at);
	return text;
}

static struct srcpos control_pos(const struct check *k)
{
	return parse_string_place(k->fmt, k->step->at, control_length(k));
}

static const char *decimal(uint32_t number, char text[16])
{
	snprintf(text, 16, "%" PRIu32, number);
	return text;
}

/* What prints the number that an item is. */
static void hint_number(const struct check *k, const struct compile_item *item)
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

/* The other line: what is logged. */
static void hint_item(const struct check *k, const struct compile_item *item)
{
	bool is_reg = item->kind == TDF_STMT_REG;
	struct srcpos pos = is_reg ? item->tsf->reg.pos : item->tsf->pos;

	diag_hint(k->c->diag, "line %u logs %s%u bytes there%s%s", pos.line,
		  item->variable ? "at most " : "", item->bytes,
		  item->label ? ": " : "", item->label ? item->label : "");
}

static void tell(struct check *k, enum diag_id id)
{
	char text[64];

	diag_report(k->c->diag, control_pos(k), id, control_text(k, text));
}

static void report_item(struct check *k, enum diag_id id,
			const struct compile_item *item)
{
	tell(k, id);
	hint_item(k, item);
}

static void report_wide(struct check *k, uint32_t bytes, uint32_t left)
{
	char control[64], takes[16], there[16];

	diag_report(k->c->diag, control_pos(k), TRCERR_FORMAT_WIDE,
		    control_text(k, control), decimal(bytes, takes),
		    decimal(left, there));
	hint_item(k, k->item);
}

/* ---- items ---- */

static const struct compile_item *item_next(const struct check *k)
{
	return k->next < k->point->item_count ? &k->point->items[k->next] :
						NULL;
}

static void item_open(struct check *k)
{
	k->item = &k->point->items[k->next++];
	k->left = k->item->bytes;
	k->fresh = true;
	k->unsure = false;
}

static const struct ctype *item_type(const struct check *k)
{
	return k->item->ctype < k->ctypes->count ?
	       &k->ctypes->types[k->item->ctype] : NULL;
}

static bool type_is_text(const struct check *k, const struct ctype *type)
{
	const struct ctype *types = k->ctypes->types;

	if (type->kind == TFF_CTYPE_ARRAY)
		type = &types[type->target];
	return type->kind == TFF_CTYPE_STRUCT ||
	       type->kind == TFF_CTYPE_UNION || type->kind == TFF_CTYPE_BYTES ||
	       (type->kind <= TFF_CTYPE_CHAR && type->bytes == 1);
}

/* The last control ended within a register; what follows is out of step. */
static bool check_cut(struct check *k)
{
	char there[16], bytes[16];

	if (!k->item || !k->item->raw || !k->left || k->fresh)
		return false;
	diag_report(k->c->diag, k->last, TRCERR_FORMAT_CUT,
		    decimal(k->item->bytes - k->left, there),
		    decimal(k->item->bytes, bytes));
	hint_item(k, k->item);
	return true;
}

/* ---- controls ---- */

/* Prefixes for which there is a memory item, from the next item on. */
static size_t memory_items(const struct check *k)
{
	size_t n = 0;

	for (size_t i = k->next; i < k->point->item_count; i++)
		n += !k->point->items[i].raw;
	return n;
}

/* Registers stand where the prefix is expected: they were forgotten, or the
 * prefix is one too many. */
static void prefix_at_register(struct check *k)
{
	report_item(k, TRCERR_FORMAT_REGISTER, item_next(k));
	if (k->prefixes + 1 > memory_items(k))
		return;
	while (item_next(k)->raw)
		k->next++;
	item_open(k);
}

/* %P, and %R in its place. */
static void check_prefix(struct check *k)
{
	bool skip = check_cut(k) || k->unsure;

	k->prefixes--;
	while (skip && item_next(k) && item_next(k)->raw)
		k->next++;
	k->item = NULL;
	k->unsure = false;
	if (!item_next(k)) {
		tell(k, TRCERR_FORMAT_BEYOND);
		k->done = true;
	} else if (item_next(k)->raw) {
		prefix_at_register(k);
	} else {
		item_open(k);
	}
}

/* The control takes from what is printed or, when that is used up, from what
 * follows it. */
static void check_open(struct check *k)
{
	if (k->item && k->left)
		return;
	if (!item_next(k)) {
		tell(k, TRCERR_FORMAT_BEYOND);
		k->done = true;
		return;
	}
	if (!item_next(k)->raw) {
		report_item(k, TRCERR_FORMAT_PREFIX, item_next(k));
		hint_number(k, item_next(k));
	}
	item_open(k);
}

static uint32_t control_bytes(const struct check *k)
{
	const struct format_step *step = k->step;

	if (step->letter == '{' && step->type == FORMAT_NAMED)
		return k->ctypes->types[step->ctype].bytes;
	return format_step_bytes(step);
}

static bool prints_string(const struct format_step *step)
{
	return step->letter == 'S' ||
	       (step->letter == '{' && step->type == FORMAT_STRING);
}

/* One that prints any bytes: in a string it takes some of them. */
static bool prints_bytes(const struct check *k)
{
	const struct format_step *step = k->step;

	if (step->letter != '{')
		return strchr("BCI", step->letter);
	return step->type == FORMAT_BYTES || step->type == FORMAT_DUMP ||
	       step->type == FORMAT_CHAR ||
	       (step->type == FORMAT_NAMED &&
		type_is_text(k, &k->ctypes->types[step->ctype]));
}

static void check_kind(struct check *k)
{
	const struct compile_item *item = k->item;
	const struct ctype *type = item_type(k);
	bool is_text = !item->raw && item->kind != TDF_STMT_STACK &&
		       (!type || type_is_text(k, type));

	if (!k->fresh)
		return;
	if (prints_string(k->step) && !is_text)
		report_item(k, TRCERR_FORMAT_STRING, item);
	else if (item->kind == TDF_STMT_ASCIIZ && !prints_string(k->step) &&
		 !prints_bytes(k))
		report_item(k, TRCERR_FORMAT_NUMBER, item);
}

/* Registers are one run of bytes; but a control that begins within one and
 * ends behind it is meant for the next. */
static void take_registers(struct check *k, uint32_t bytes)
{
	uint32_t rest = bytes;

	if (!k->fresh && rest > k->left)
		report_wide(k, bytes, k->left);
	if (!k->fresh && rest > k->left)
		k->left = 0;
	while (rest > k->left) {
		rest -= k->left;
		k->left = 0;
		if (!item_next(k) || !item_next(k)->raw) {
			if (k->fresh)
				report_wide(k, bytes, bytes - rest);
			return;
		}
		item_open(k);
	}
	k->left -= rest;
	k->fresh = false;
}

static void take_memory(struct check *k, uint32_t bytes)
{
	if (bytes > k->left && !k->item->variable)
		report_wide(k, bytes, k->left);
	k->left -= bytes < k->left ? bytes : k->left;
	k->fresh = false;
	/* whether the item ends here is known when it is hit */
	k->unsure = k->item->variable;
}

static void check_data(struct check *k)
{
	uint32_t bytes = control_bytes(k);

	if ((k->unsure && item_next(k) && item_next(k)->raw) ||
	    (k->step->letter == 'I' && !bytes))
		return;
	check_open(k);
	if (k->done)
		return;
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
		take_memory(k, bytes);
	}
}

/* %R: the control again and again, to the end of the item. */
static void check_repeat(struct check *k)
{
	uint32_t bytes = control_bytes(k);

	if (!k->item || k->item->raw) {
		check_data(k);
		return;
	}
	check_kind(k);
	if (bytes && k->left % bytes && !k->item->variable)
		report_wide(k, bytes, k->left % bytes);
	k->left = 0;
}

static void check_control(struct check *k, bool repeated)
{
	if (is_prefix(k->step))
		check_prefix(k);
	else if (k->step->letter == 'U')
		k->done = true;
	else if (repeated)
		check_repeat(k);
	else
		check_data(k);
	k->last = control_pos(k);
}

/* ---- formats ---- */

static uint32_t find_known(const struct ctypes *types, const char *name,
			   size_t length)
{
	uint32_t found = CTYPE_NONE;

	for (size_t i = 0; i < types->count; i++) {
		const struct ctype *type = &types->types[i];
		int match = format_type_match(type->name, type->kind, name,
					      length);

		if (match == 2)
			return i;
		if (match && found == CTYPE_NONE)
			found = i;
	}
	return found;
}

/* What the name means at one site: units may have types of their own that are
 * called so. */
static int fetch_at(const struct check *k, const struct compile_site *site,
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
static int fetch_type(const struct check *k, uint32_t *found)
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
	const struct check *k = context;

	for (size_t i = 0; i < k->named_count; i++)
		if (k->named[i].length == length &&
		    !memcmp(k->named[i].name, name, length))
			return k->named[i].type;
	return find_known(k->ctypes, name, length);
}

/* A type in the table has this name, but for the number after names that are
 * there already. */
static bool is_called(const struct ctype *type, const char *name, size_t length)
{
	char *own = strdup(type->name), *number = own ? strrchr(own, '#') : NULL;
	bool is;

	if (number && number[1 + strspn(number + 1, "0123456789")] == '\0')
		*number = '\0';
	is = own && format_type_match(own, type->kind, name, length);
	free(own);
	return is;
}

static void name_keep(struct check *k, uint32_t type)
{
	if (k->named_count == NAMED_MAX)
		return;
	k->named[k->named_count].name = strndup(k->step->text, k->step->length);
	k->named[k->named_count].length = k->step->length;
	k->named[k->named_count].type = type;
	k->named_count += k->named[k->named_count].name != NULL;
}

/* Names of C types were taken on trust when the FMT was parsed. */
static void check_name(struct check *k)
{
	const struct format_step *step = k->step;
	const struct ctypes *types = k->ctypes;
	uint32_t fetched = CTYPE_NONE;

	if (step->letter != '{' || step->type != FORMAT_NAMED ||
	    (!memchr(step->text, '[', step->length) &&
	     fetch_type(k, &fetched)))
		return;
	if (fetched != CTYPE_NONE &&
	    is_called(&types->types[fetched], step->text, step->length)) {
		name_keep(k, fetched);
		return;
	}
	if (find_known(types, step->text, step->length) != CTYPE_NONE)
		return;
	tell(k, TRCERR_BADCONTROL);
	if (fetched != CTYPE_NONE)
		diag_hint(k->c->diag, "it is a typedef of '%s'",
			  types->types[fetched].name);
	else if (format_name_listed(step->text, step->length))
		diag_hint(k->c->diag, "names are wanted like READ=1,WRITE=2, of flags MODE=1/3, too, with values of its width");
	else
		diag_hint(k->c->diag, "there is no such type");
}

static int compile_fmt(struct check *k, struct format *format,
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

/* All that a FMT has is %x or %y, as one writes who knows printf(). */
static void check_codes(struct check *k)
{
	const struct format_step *step = k->step;
	bool is_code = step->kind == FORMAT_CONTROL && !takes_data(step);
	char text[64];

	if (!is_code || k->controls || k->point->is_static ||
	    !k->point->item_count)
		return;
	diag_report(k->c->diag, control_pos(k), TRCERR_FORMAT_CODE,
		    control_text(k, text),
		    step->letter == 'X' ? "major" : "minor");
	hint_number(k, &k->point->items[0]);
	k->controls++;		/* once */
}

/* What must be known before: the names, and how many prefixes there are. */
static int check_names(struct check *k)
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
				tell(k, TRCERR_FORMAT_STATIC);
			check_name(k);
		}
		format_free(&format);
	}
	return 0;
}

static int check_fmt(struct check *k)
{
	struct format_types types = { find_type, k };
	struct format format;

	if (compile_fmt(k, &format, &types))
		return -1;
	for (size_t i = 0; i < format.count && !k->done; i++) {
		k->step = &format.steps[i];
		if (takes_data(k->step))
			check_control(k, i && k->step[-1].letter == 'R');
		else
			check_codes(k);
	}
	format_free(&format);
	return 0;
}

/* The TFF has one table of types: there it is called as in this. */
static void fmt_rename(struct check *k, struct bytes *out,
		       const struct format *format)
{
	const char *text = k->fmt->text;
	size_t done = 0;

	for (size_t i = 0; i < format->count; i++) {
		const struct format_step *step = &format->steps[i];
		size_t at = step->at + 2;	/* behind "%{" */
		const char *name;

		if (step->kind != FORMAT_CONTROL || step->letter != '{' ||
		    step->type != FORMAT_NAMED)
			continue;
		name = k->ctypes->types[step->ctype].name;
		bytes_add(out, text + done, at - done);
		bytes_add(out, name, strlen(name));
		done = at + step->length;
	}
	bytes_add(out, text + done, k->fmt->length - done);
	bytes_add(out, "\n", 1);
}

static bool needs_names(const struct check *k)
{
	for (size_t i = 0; i < k->named_count; i++)
		if (find_known(k->ctypes, k->named[i].name,
			       k->named[i].length) != k->named[i].type)
			return true;
	return false;
}

static void rename_types(struct check *k)
{
	struct format_types types = { find_type, k };
	const struct tsf_point *tsf = k->point->tsf;
	struct bytes out = {0};
	struct format format;

	for (size_t i = 0; i < tsf->fmt_count; i++) {
		k->fmt = &tsf->fmts[i];
		if (compile_fmt(k, &format, &types))
			break;
		fmt_rename(k, &out, &format);
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
	struct check k = { .c = c, .ctypes = ctypes, .point = point };
	int code = check_names(&k);

	for (size_t i = 0; !code && i < point->tsf->fmt_count; i++) {
		k.fmt = &point->tsf->fmts[i];
		if (!point->is_static && !k.done)
			code = check_fmt(&k);
	}
	if (!code && !k.done)
		check_cut(&k);
	if (!code && needs_names(&k))
		rename_types(&k);
	while (k.named_count)
		free(k.named[--k.named_count].name);
}
