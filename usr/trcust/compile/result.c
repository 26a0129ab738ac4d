// SPDX-License-Identifier: GPL-2.0
/*
 * From the exit's nominal address on, nothing changes the registers that a
 * value is returned in but the first general one, whose value is known there
 * (exits.c). So the value is a place like that of a variable: pieces in
 * registers, or memory.
 */
#include "result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "emit.h"
#include "lib/debug/arch/arch.h"
#include "lib/formats/rpn.h"

/* Where the function begins that returns there; the kernel's return probe is
 * named by its symbol. 0: not known. */
static uint64_t result_entry(const struct compile_site *site)
{
	return site->entry || site->exit ? site->entry : site->nominal;
}

/* The function that returns there. 0; -ENOENT: debug information knows none;
 * -ENOMEM. */
static int result_function(struct evaluation *e, Dwarf_Die *die)
{
	uint64_t entry = result_entry(e->site);
	struct dwarf_functions found = { 0 };
	int code = -ENOENT;

	if (e->c->dwarf && entry)
		code = dwarf_function_at(e->c->dwarf, entry, &found);
	if (!code && (!found.count || found.functions[0].entry != entry))
		code = -ENOENT;
	if (!code)
		*die = found.functions[0].die;
	dwarf_functions_free(&found);
	return code;
}

static bool padding_add(struct place *place, uint64_t bytes)
{
	struct place_piece *piece;

	if (!bytes)
		return true;
	piece = place_add(place, PLACE_VALUE, bytes < 8 ? bytes : 8);
	if (!piece)
		return false;
	rpn_emit_const(&piece->rpn, 0);
	return bytes <= 8 ? !piece->rpn.failed :
			    padding_add(place, bytes - 8);
}

static bool returned_add(struct evaluation *e,
		     const struct dwarf_result_part *part, struct place *place)
{
	const struct arch *arch = e->c->module->arch;
	struct place_piece *piece = place_add(place, PLACE_VALUE, part->bytes);

	if (!piece)
		return false;
	if (arch_register_is_vector(arch, part->reg))
		rpn_emit_vector(&piece->rpn, part->reg, part->skip);
	else
		emit_register(e->site, part->reg, 0, &piece->rpn);
	return !piece->rpn.failed;
}

static bool parts_add(struct evaluation *e, const struct dwarf_result *result,
		      uint64_t bytes, struct place *place)
{
	uint64_t at = 0;

	for (unsigned int i = 0; i < result->count; i++) {
		const struct dwarf_result_part *part = &result->parts[i];

		if (!padding_add(place, part->offset - at) ||
		    !returned_add(e, part, place))
			return false;
		at = part->offset + part->bytes;
	}
	return padding_add(place, bytes - at);
}

static bool place_make(struct evaluation *e, const struct dwarf_result *result,
		       uint64_t bytes, struct place *place)
{
	const struct arch *arch = e->c->module->arch;
	struct bytes *rpn;
	char name[16];

	if (!result->in_memory) {
		memset(place, 0, sizeof(*place));
		snprintf(place->where, sizeof(place->where), "returned value");
		return parts_add(e, result, bytes, place);
	}
	rpn = place_begin(place, PLACE_MEMORY);
	if (!rpn)
		return false;
	emit_register(e->site, arch->results[0], 0, rpn);
	if (!e->wide)
		rpn_emit_extend(rpn, 4, false);
	arch_register_print(arch, arch->results[0], name, sizeof(name));
	snprintf(place->where, sizeof(place->where),
		 "returned value, through %s", name);
	return !rpn->failed;
}

/* Why there is no value at the site; NULL: there may be one. */
static const char *why_nothing(const struct compile_site *site)
{
	if (site->flags & TDF_SITE_TAIL_CALL)
		return "the function ends with a tail call there";
	if (site->symbol && strstr(site->symbol, ".isra."))
		return "gcc may have changed what this clone returns";
	return NULL;
}

/* The same where the code of callers decides. False: no memory. */
static bool callers_find(struct evaluation *e, Dwarf_Die *function,
			 const char **why)
{
	bool used;

	if (!dwarf_result_may_be_dropped(e->c->dwarf, function))
		return true;
	if (analysis_use_result(e->c, result_entry(e->site), &used))
		return false;
	if (!used)
		*why = "no call of this static function uses it, so that clang "
		       "may have removed it";
	return true;
}

static bool result_refuse(struct evaluation *e, const struct expr *expr,
			  const char *why, const char *hint)
{
	e->code = message_absent(e->c, e->site, expr->pos, "$result", why,
				 hint && *hint ? hint : NULL);
	return false;
}

unsigned int result_number(const char *name)
{
	static const char start[] = "result";
	unsigned long number;
	char *end;

	if (strncmp(name, start, sizeof(start) - 1))
		return 0;
	name += sizeof(start) - 1;
	if (!*name)
		return 1;
	number = strtoul(name, &end, 10);
	return *end || *name < '1' || *name > '9' || number > 99 ? 0 : number;
}

/* Its type; false: the function has not so many results. */
static bool result_type(Dwarf_Die *function, unsigned int number,
			Dwarf_Die *type)
{
	Dwarf_Die entry;

	if (!dwarf_go_is_function(function))
		return number == 1 && dwarf_type_of(function, type);
	return dwarf_go_result_entry(function, number - 1, &entry) &&
	       dwarf_type_of(&entry, type);
}

static bool result_locate(struct evaluation *e, const struct expr *expr,
			  Dwarf_Die *function, uint64_t bytes,
			  struct value *value)
{
	const char *nothing = why_nothing(e->site);
	struct dwarf_result result = { 0 };
	struct error err = { 0 };
	struct place_piece *piece;
	Dwarf_Die type = value->type.die;
	int code = 0;

	if (!nothing && !callers_find(e, function, &nothing))
		return value_report_memory(e, expr->pos);
	if (!nothing && dwarf_go_is_function(function))
		code = dwarf_go_result_find(e->c->dwarf, function,
					    result_number(expr->name) - 1,
					    &result, &err);
	else if (!nothing)
		code = dwarf_result_find(e->c->dwarf, function, &type, &result,
					 &err);
	if (code)
		return result_refuse(e, expr, err.text, err.hint);
	if (!nothing)
		return place_make(e, &result, bytes, &value->place) ||
		       value_report_memory(e, expr->pos);
	piece = place_add(&value->place, PLACE_ABSENT, bytes);
	if (piece)
		piece->why = strdup(nothing);
	return (piece && piece->why) || value_report_memory(e, expr->pos);
}

bool result_evaluate(struct evaluation *e, const struct expr *expr,
		     struct value *value)
{
	Dwarf_Die function, type;
	uint64_t bytes;
	int code;

	if (!e->site->exit && !(e->site->flags & TDF_SITE_RETURN))
		return result_refuse(e, expr, "the tracepoint is no return",
				     "TP=.name,RETEP has the value");
	code = result_function(e, &function);
	if (code == -ENOMEM)
		return value_report_memory(e, expr->pos);
	if (code)
		return result_refuse(e, expr, "no debug information has the function",
				     "registers have no type: $rax");
	if (!result_type(&function, result_number(expr->name), &type))
		return result_refuse(e, expr, result_number(expr->name) == 1 ?
				     "the function returns nothing" :
				     "the function returns less", NULL);
	e->c->dwarf->used = true;
	value->kind = VALUE_PLACE;
	value->type = value_type_of(&type);
	value->pos = expr->pos;
	value->name = expr->name;
	if (!value_type_bytes(e->c, &value->type, &bytes))
		return value_report_size(e, expr->pos, &value->type);
	if (e->unread)
		return padding_add(&value->place, bytes) ||
		       value_report_memory(e, expr->pos);
	return result_locate(e, expr, &function, bytes, value) &&
	       value_refer(e, value);
}
