// SPDX-License-Identifier: GPL-2.0
/*
 * VARS and IF as statements of a TDF. What is logged of an expression goes by
 * its type; ":n" says how many of these from there on, or of what a pointer
 * points at, and of a string how many characters at most.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn_emit.h"
#include "value.h"

#define STRING_MAX	128	/* characters, when nothing tells */

struct variable {
	struct evaluation e;
	const struct tsf_stmt *in;
	struct compile_item *item;
	struct value value;
};

static struct evaluation evaluation_begin(struct compilation *c,
					  const struct compile_site *site)
{
	return (struct evaluation){
		.c = c, .site = site,
		.wide = c->module->elf_class == ELFCLASS64,
	};
}

static int add_rpn(struct compilation *c, struct srcpos pos,
		   struct tdf_stmt *out, const struct bytes *rpn)
{
	uint32_t start = c->rpn.size;

	bytes_join(&c->rpn, rpn);
	return compile_rpn_end(c, pos, start, &out->rpn, &out->rpn_length);
}

static int log_absent(struct variable *v)
{
	struct tdf_stmt *out = compile_stmt_add(v->e.c, v->in->pos,
						v->e.absent_why);

	if (!out)
		return -1;
	out->kind = TDF_STMT_ABSENT;
	return 0;
}

/* One statement, with what the value yields as its value or address. */
static int log_rpn(struct variable *v, uint8_t kind, uint16_t length)
{
	struct bytes rpn = {0};
	struct tdf_stmt *out;
	int code;

	if (v->e.absent)
		return log_absent(v);
	out = compile_stmt_add(v->e.c, v->in->pos, v->value.where);
	if (!out)
		return -1;
	out->kind = kind;
	out->length = length;
	value_push(&v->value, &rpn);
	code = add_rpn(v->e.c, v->in->pos, out, &rpn);
	bytes_free(&rpn);
	return code;
}

static int report_zero(struct variable *v)
{
	diag_report(v->e.c->diag, v->in->pos, TRCERR_ZEROLENGTH);
	if (!v->in->length)
		diag_hint(v->e.c->diag, "how many elements it has is not "
					"known: '%s:n' logs n",
			  v->in->expr_text);
	return 1;
}

/* As many as MAXDATALENGTH has room for; a part of one, if it must be. */
static uint64_t count_limit(struct variable *v, uint64_t count, uint64_t bytes)
{
	uint64_t most = v->e.c->tsf->maxdata;

	if (count <= most / bytes)
		return count;
	if (!v->e.c->quiet)
		diag_report(v->e.c->diag, v->in->pos, TRCERR_MAXLEN_EXCEED);
	return bytes <= most ? most / bytes : 1;
}

static int log_string(struct variable *v, uint64_t most)
{
	if (!value_load(&v->e, v->in->pos, "VARS", &v->value))
		return v->e.code;
	v->item->kind = TDF_STMT_ASCIIZ;
	v->item->variable = true;
	v->item->bytes = count_limit(v, most, 1);
	return log_rpn(v, TDF_STMT_ASCIIZ, v->item->bytes);
}

/* `count` of the type from the value's place on. */
static int log_place(struct variable *v, struct value_type type, uint64_t count,
		     bool is_array)
{
	struct compilation *c = v->e.c;
	bool is_void = value_type_kind(&type) == DWARF_TYPE_VOID;
	uint64_t bytes = 1, most;

	if (!is_void && !value_type_bytes(c, &type, &bytes)) {
		value_report_size(&v->e, v->in->pos, &type);
		return v->e.code;
	}
	if (!bytes || !count)
		return report_zero(v);
	most = count_limit(v, count, bytes);
	if (!is_void)
		v->item->ctype = value_type_ctype(c, &type);
	if (is_array && v->item->ctype != CTYPE_NONE)
		v->item->ctype = ctypes_put_array(&c->ctypes, v->item->ctype,
						  most);
	bytes *= most;
	v->item->bytes = bytes > c->tsf->maxdata ? c->tsf->maxdata : bytes;
	if (v->e.absent)
		return log_absent(v);
	return data_place_log(c, v->e.site, v->in->pos,
			      *v->value.name ? v->value.name : v->in->expr_text,
			      &v->value.place, v->value.bit_offset / 8,
			      v->item->bytes, false);
}

static int log_array(struct variable *v)
{
	struct value_type element = value_type_target(&v->value.type);
	uint64_t count = v->in->length ? v->in->length :
					 value_type_count(&v->value.type);
	struct bytes rpn = {0};
	bool in_memory;

	if (!value_type_is_text(&element))
		return log_place(v, element, count, true);
	in_memory = value_in_memory(&v->value, 1, &rpn);
	bytes_free(&rpn);
	return in_memory ? log_string(v, count ? count : STRING_MAX) :
			   log_place(v, element, count, true);
}

static int log_pointer(struct variable *v)
{
	struct value_type target = value_type_target(&v->value.type);

	if (value_type_is_text(&target))
		return log_string(v, v->in->length ? v->in->length :
						     STRING_MAX);
	if (!value_dereference(&v->e, v->in->pos, "*", &v->value))
		return v->e.code;
	return log_place(v, target, v->in->length, true);
}

/* A bit-field, or what was computed: its value in the type's bytes. */
static int log_value(struct variable *v)
{
	uint64_t bytes;

	if (v->in->length) {
		char text[24];

		snprintf(text, sizeof(text), ":%u", v->in->length);
		diag_report(v->e.c->diag, v->in->pos, TRCERR_BADPARM, text);
		diag_hint_discarded(v->e.c->diag, TRCERR_BADPARM);
		diag_hint(v->e.c->diag, "what is computed is one value");
		return 1;
	}
	if (!value_load(&v->e, v->in->pos, "VARS", &v->value) ||
	    !value_scalar_bytes(&v->e, v->in->pos, &v->value.type, &bytes))
		return v->e.code;
	v->item->ctype = value_type_ctype(v->e.c, &v->value.type);
	v->item->bytes = bytes;
	return log_rpn(v, TDF_STMT_VALUE, bytes);
}

/* A symbol without debug information, or what a void pointer points at. */
static int report_untyped(struct variable *v)
{
	v->e.code = 1;
	if (v->in->expr->kind == EXPR_NAME)
		diag_report(v->e.c->diag, v->in->pos, TRCERR_NOSIZE,
			    v->in->expr->name);
	else
		value_report_size(&v->e, v->in->pos, &v->value.type);
	diag_hint(v->e.c->diag, "'%s:n' logs n bytes, a cast gives it a type",
		  v->in->expr_text);
	return v->e.code;
}

static int log_by_type(struct variable *v)
{
	struct value *value = &v->value;
	enum dwarf_type_kind kind = value_type_kind(&value->type);
	struct value_type target = value_type_target(&value->type);

	v->item->kind = TDF_STMT_MEM;
	if (kind == DWARF_TYPE_POINTER &&
	    (v->in->length || value_type_is_text(&target)))
		return log_pointer(v);
	if (value->kind != VALUE_PLACE || value->bits ||
	    kind == DWARF_TYPE_FUNCTION ||
	    (value_type_is_integer(&value->type) && !v->in->length &&
	     (value->reversed || value_type_is_reversed(&value->type) ||
	      value_type_bits(&value->type))))
		return log_value(v);
	if (kind == DWARF_TYPE_ARRAY)
		return log_array(v);
	if (kind == DWARF_TYPE_VOID && !v->in->length)
		return report_untyped(v); /* else bytes */
	return log_place(v, value->type, v->in->length ? v->in->length : 1,
			 v->in->length);
}

int variable_compile(struct compilation *c, const struct compile_site *site,
		     const struct tsf_stmt *in, struct compile_item *item)
{
	struct variable v = {
		.e = evaluation_begin(c, site), .in = in, .item = item,
	};
	int code;

	item->label = strdup(in->expr_text);
	if (!item->label)
		return diag_no_memory(c->diag, in->pos);
	code = evaluate(&v.e, in->expr, &v.value) ? log_by_type(&v) : v.e.code;
	value_free(&v.value);
	if (!code && c->ctypes.failed)
		return diag_no_memory(c->diag, in->pos);
	return code;
}

/* A condition that a site can't evaluate faults there (a division by zero),
 * and records nothing. */
static void emit_fault(struct bytes *rpn)
{
	rpn_emit_const(rpn, 1);
	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_div);
}

static int condition_add(struct evaluation *e, struct srcpos pos,
			 const struct value *value)
{
	struct tdf_stmt *out = compile_stmt_add(e->c, pos, value->where);
	struct bytes rpn = {0};
	int code;

	if (!out)
		return -1;
	out->kind = TDF_STMT_IF;
	if (e->absent)
		emit_fault(&rpn);
	else
		value_push(value, &rpn);
	code = add_rpn(e->c, pos, out, &rpn);
	bytes_free(&rpn);
	return code;
}

int condition_compile(struct compilation *c, const struct compile_site *site,
		      const struct tsf_point *point)
{
	struct evaluation e = evaluation_begin(c, site);
	const struct expr *condition = point->condition;
	struct value value;
	int code;

	if (evaluate(&e, condition, &value) &&
	    value_load(&e, condition->pos, "IF", &value))
		code = condition_add(&e, condition->pos, &value);
	else
		code = e.code;
	value_free(&value);
	return code;
}
