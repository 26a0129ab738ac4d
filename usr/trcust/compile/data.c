// SPDX-License-Identifier: GPL-2.0
/*
 * REGS, MEM, ASCIIZ (manual 1.3.5.8 to 1.3.5.14) and STACK as statements of a
 * TDF.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "address_type.h"
#include "lib/debug/arch/arch.h"
#include "compile.h"
#include "link.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/formats/rpn_emit.h"

#define LEN_BYTES	2	/* a word, manual 1.3.5.8 */

static int report_no_memory(struct compilation *c, struct srcpos pos)
{
	return diag_no_memory(c->diag, pos);
}

static int add_rpn(struct compilation *c, struct srcpos pos,
		   const struct bytes *rpn, uint32_t *at, uint32_t *length)
{
	uint32_t start = c->rpn.size;

	bytes_join(&c->rpn, rpn);
	return compile_rpn_end(c, pos, start, at, length);
}

static int log_absent(struct compilation *c, const struct compile_site *site,
		      struct srcpos pos, const char *name, const char *why,
		      bool raw)
{
	struct tdf_stmt *out;

	if (site->alone || raw)
		return address_report_absent(c, site, pos, name, why, NULL);
	out = compile_stmt_add(c, pos, why);
	if (!out)
		return -1;
	out->kind = TDF_STMT_ABSENT;
	return 0;
}

static int log_piece(struct compilation *c, struct srcpos pos,
		     const char *where, const struct place_piece *piece,
		     uint8_t flags)
{
	struct tdf_stmt *out = compile_stmt_add(c, pos, where);

	if (!out)
		return -1;
	out->kind = piece->kind == PLACE_MEMORY ? TDF_STMT_MEM :
						  TDF_STMT_VALUE;
	out->flags = flags;
	out->length = piece->bytes;
	return add_rpn(c, pos, &piece->rpn, &out->rpn, &out->rpn_length);
}

int data_place_log(struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name,
		   const struct place *place, uint64_t offset, uint16_t bytes,
		   bool raw)
{
	struct place part;
	const char *why;
	int code;

	if (!place_is_known(place, offset, bytes, &why))
		return log_absent(c, site, pos, name, why, raw);
	code = place_slice(place, offset, bytes, &part);
	if (code == -ENOMEM)
		return report_no_memory(c, pos);
	if (code)
		return address_report_absent(
			c, site, pos, name,
			"there are not so many bytes of it, "
			"and it is not in memory",
			NULL);
	for (size_t i = 0; i < part.count && !code; i++)
		code = log_piece(c, pos, i ? "another piece" : part.where,
				 &part.pieces[i],
				 (raw ? TDF_STMT_RAW : 0) |
				 (i ? TDF_STMT_MORE : 0));
	place_free(&part);
	return code;
}

static char *label_format(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static char *label_format(const char *fmt, ...)
{
	va_list args;
	char *label;

	va_start(args, fmt);
	if (vasprintf(&label, fmt, args) < 0)
		label = NULL;
	va_end(args);
	return label;
}

static void label_number(FILE *out, int64_t number)
{
	if (number)
		fprintf(out, "%+" PRId64, number);
}

/* As in the TSF: ".p+8*+4", "FEBP+EDI". */
static char *label_address(const struct tsf_address *address,
			   const struct tsf_chain *chain)
{
	char *label = NULL;
	size_t size;
	FILE *out = open_memstream(&label, &size);

	if (!out)
		return NULL;
	if (address->form == TSF_ADDRESS_SYMBOL)
		fprintf(out, ".%s", address->name);
	else
		fputc(address->form == TSF_ADDRESS_FLAT ? 'F' : 'R', out);
	for (size_t i = 0; i < address->register_count; i++)
		fprintf(out, "%s%s", !i ? "" :
			address->registers[i].minus ? "-" : "+",
			address->registers[i].name);
	label_number(out, address->displacement);
	for (size_t i = 0; i < chain->count; i++) {
		fputc('*', out);
		label_number(out, chain->add[i] + (i + 1 == chain->count ?
						   address->final : 0));
	}
	return fclose(out) ? NULL : label;
}

/* Registers that a probe doesn't save are read from the task, and a result that
 * isn't in its register yet is computed. */
static int log_register_value(struct compilation *c,
			      const struct compile_site *site,
			      const struct tsf_stmt *in, int number,
			      uint8_t bytes)
{
	struct place_piece piece = { .kind = PLACE_VALUE, .bytes = bytes };
	int code;

	address_register_emit(site, number, 0, &piece.rpn);
	code = log_piece(c, in->reg.pos, in->reg.name, &piece, TDF_STMT_RAW);
	bytes_free(&piece.rpn);
	return code;
}

static int data_register(struct compilation *c, const struct compile_site *site,
			 const struct tsf_stmt *in, struct compile_item *item)
{
	struct tdf_stmt *out;
	uint8_t bytes;
	int number = address_register(c, &in->reg, &bytes);

	if (number < 0)
		return 1;
	item->raw = true;
	item->bytes = bytes;
	item->label = label_format("%s", in->reg.name);
	if (arch_register_find(c->module->arch, in->reg.name)->pt_regs < 0) {
		item->kind = TDF_STMT_MEM;
		return log_register_value(c, site, in, number, bytes);
	}
	item->kind = TDF_STMT_REG;
	if (site->result_rpn && (unsigned int)number == site->result)
		return log_register_value(c, site, in, number, bytes);
	out = compile_stmt_add(c, in->reg.pos, in->reg.name);
	if (!out)
		return -1;
	out->kind = TDF_STMT_REG;
	out->reg = number;
	out->reg_bytes = bytes;
	return 0;
}

/* The type of so many bytes, else the one that begins there: they are a part
 * of it, or several of its kind. */
static void item_type(struct compilation *c, const struct address *address,
		      struct compile_item *item)
{
	Dwarf_Die type = address->type;

	if (!address->typed || item->kind == TDF_STMT_ASCIIZ)
		return;
	if (item->variable) {
		if (address_type_is_composed(&type))
			return;
	} else if (!address_type_sized(&type, item->bytes)) {
		type = address->type;
	}
	item->ctype = ctypes_add(&c->ctypes, &type);
}

/* REGS=(.name): the value of a variable, wherever it is (manual 1.3.5.10). */
static int data_variable(struct compilation *c, const struct compile_site *site,
			 const struct tsf_stmt *in, struct compile_item *item)
{
	const char *name = in->reg.name;
	struct address address = {0};
	uint64_t bytes;
	int code = address_symbol(c, site, in->reg.pos, name, true, &address);

	if (code) {
		place_free(&address.place);
		return code;
	}
	bytes = address_type_bytes(&address.type);
	if (bytes > c->tsf->maxdata) {
		if (!c->quiet)
			diag_report(c->diag, in->reg.pos, TRCERR_MAXLEN_EXCEED);
		bytes = c->tsf->maxdata;
	}
	item->kind = TDF_STMT_MEM;
	item->raw = true;
	item->bytes = bytes;
	item->label = label_format(".%s", name);
	item_type(c, &address, item);
	if (bytes)
		code = data_place_log(c, site, in->reg.pos, name,
				      &address.place, 0, bytes, true);
	else
		code = address_report_absent(
			c, site, in->reg.pos, name,
			"how many bytes it has is not known", NULL);
	place_free(&address.place);
	return code;
}

/* What has to be in memory and isn't. */
static int report_not_in_memory(struct compilation *c,
				const struct compile_site *site,
				const struct tsf_address *address,
				const struct address *at, const char *hint)
{
	char why[128];

	snprintf(why, sizeof(why), "it is not in memory as a whole (%s)",
		 at->place.where);
	return address_report_absent(c, site, address->pos, address->name, why,
				     hint);
}

/* The length is a value: of a variable that is in a register, say. */
static int len_value(struct compilation *c, const struct compile_site *site,
		     const struct tsf_stmt *in, const struct address *len,
		     struct tdf_stmt *out)
{
	struct bytes rpn = {0};
	const char *why = "it has fewer bytes than the length";
	int code = place_value(&len->place, len->offset, out->len_bytes, false,
			       &rpn);

	if (code) {
		place_is_known(&len->place, len->offset, out->len_bytes, &why);
		code = address_report_absent(c, site, in->len_address.pos,
					     in->len_address.name, why, NULL);
	} else {
		out->flags |= TDF_STMT_LEN | TDF_STMT_LEN_VALUE;
		code = add_rpn(c, in->len_address.pos, &rpn, &out->len_rpn,
			       &out->len_rpn_length);
	}
	bytes_free(&rpn);
	return code;
}

static int len_add(struct compilation *c, const struct compile_site *site,
		   const struct tsf_stmt *in, const struct address *len,
		   struct tdf_stmt *out)
{
	const struct bytes *rpn = address_in_memory(len);

	if (!rpn)
		return len_value(c, site, in, len, out);
	out->flags |= TDF_STMT_LEN;
	if (len->segment)
		out->flags |= TDF_STMT_LEN_SEGMENT;
	return add_rpn(c, in->len_address.pos, rpn, &out->len_rpn,
		       &out->len_rpn_length);
}

/* One statement: a string, a variable length, a far address. */
static int log_memory(struct compilation *c, const struct compile_site *site,
		      const struct tsf_stmt *in, const struct address *at,
		      const struct address *len, const struct compile_item *item)
{
	const struct bytes *rpn = address_in_memory(at);
	struct tdf_stmt *out;
	int code;

	if (!rpn)
		return report_not_in_memory(
			c, site, &in->address, at,
			at->pointer ? "INDIRECT takes its value as an address" :
				      NULL);
	out = compile_stmt_add(c, in->pos, at->place.where);
	if (!out)
		return -1;
	out->kind = item->kind;
	out->length = item->bytes;
	out->flags = at->segment ? TDF_STMT_SEGMENT : 0;
	out->len_bytes = item->len_bytes;
	code = add_rpn(c, in->address.pos, rpn, &out->rpn, &out->rpn_length);
	return code || !in->has_len ? code : len_add(c, site, in, len, out);
}

static int log_item(struct compilation *c, const struct compile_site *site,
		    const struct tsf_stmt *in, const struct address *at,
		    const struct address *len, const struct compile_item *item)
{
	bool no_length = in->has_len && address_is_absent(len);
	const struct address *absent = no_length ? len : at;
	const struct tsf_address *named = no_length ? &in->len_address :
						      &in->address;

	if (address_is_absent(absent))
		return log_absent(c, site, named->pos, named->name,
				  absent->place.pieces[0].why, false);
	if (at->segment || in->has_len || in->kind == TSF_ASCIIZ)
		return log_memory(c, site, in, at, len, item);
	return data_place_log(c, site, in->address.pos,
			      named->name ? named->name : "", &at->place,
			      at->offset, item->bytes, false);
}

static void warn_pointer(struct compilation *c, const struct tsf_stmt *in)
{
	if (c->quiet)
		return;
	diag_report(c->diag, in->chain.pos, TRCERR_POINTERBYTES,
		    in->address.name);
	diag_hint(c->diag, "the string that it points at: INDIRECT");
}

static void item_fill(struct compilation *c, const struct tsf_stmt *in,
		      const struct address *at, const struct address *len,
		      struct compile_item *item)
{
	item->kind = in->kind == TSF_MEM ? TDF_STMT_MEM : TDF_STMT_ASCIIZ;
	item->bytes = in->has_len ? c->tsf->maxdata : in->length;
	item->variable = in->has_len || in->kind == TSF_ASCIIZ;
	item->label = label_address(&in->address, &in->chain);
	item_type(c, at, item);
	if (!in->has_len)
		return;
	item->len_bytes = in->len_bytes;
	if (!item->len_bytes && len->typed)
		item->len_bytes = address_type_integer(&len->type);
	if (!item->len_bytes)
		item->len_bytes = LEN_BYTES;
}

static int data_memory(struct compilation *c, const struct compile_site *site,
		       const struct tsf_stmt *in, struct compile_item *item)
{
	struct address at, len = {0};
	int code = address_compile(c, site, &in->address, &in->chain,
				   in->segmented, &at);

	if (!code && in->has_len)
		code = address_compile(c, site, &in->len_address,
				       &in->len_chain, in->segmented, &len);
	if (!code) {
		item_fill(c, in, &at, &len, item);
		if (in->kind == TSF_ASCIIZ && at.pointer)
			warn_pointer(c, in);
		code = log_item(c, site, in, &at, &len, item);
	}
	place_free(&at.place);
	place_free(&len.place);
	return code;
}

/* The stack of the kernel its unwinder tells; what a return probe has returned
 * from is known. */
static bool stack_has_frame(const struct compilation *c,
			    const struct compile_site *site)
{
	return c->module->kind == TDF_MODULE_USER &&
	       !(site->flags & TDF_SITE_RETURN);
}

/* Without a description of frames the caller's is known where the function
 * begins; else the frame pointer has to do. */
static int stack_frame(struct compilation *c, const struct compile_site *site,
		       struct bytes *rpn)
{
	const struct arch *arch = c->module->arch;
	struct error err = {0};
	int code = dwarf_frame_address_emit(c->dwarf, c->module, site->address,
					    rpn, &err);

	if (code && code != -ENOMEM) {
		rpn->size = 0;
		if (site->symbol && site->symbol[0] && !site->symbol_offset)
			rpn_emit_register(rpn, arch->stack, arch->call_bytes);
	}
	if (!link_is_known(c, site))
		rpn->size = 0;
	return code == -ENOMEM || rpn->failed ? -ENOMEM : 0;
}

static int data_stack(struct compilation *c, const struct compile_site *site,
		      const struct tsf_stmt *in, struct compile_item *item)
{
	struct tdf_stmt *out = compile_stmt_add(c, in->pos, "return addresses");
	struct bytes rpn = {0};
	int code = 0;

	if (!out)
		return -1;
	out->kind = TDF_STMT_STACK;
	out->length = in->length;
	if (stack_has_frame(c, site) && stack_frame(c, site, &rpn))
		code = report_no_memory(c, in->pos);
	if (!code && rpn.size)
		code = add_rpn(c, in->pos, &rpn, &out->rpn, &out->rpn_length);
	bytes_free(&rpn);
	item->kind = TDF_STMT_STACK;
	item->variable = true;
	item->bytes = in->length * TSF_FRAME_BYTES;
	item->label = label_format("stack");
	return code;
}

int data_compile(struct compilation *c, const struct compile_site *site,
		 const struct tsf_stmt *in, struct compile_item *item)
{
	int code;

	if (in->kind == TSF_STACK)
		code = data_stack(c, site, in, item);
	else if (in->kind != TSF_REGS)
		code = data_memory(c, site, in, item);
	else if (in->reg_is_variable)
		code = data_variable(c, site, in, item);
	else
		code = data_register(c, site, in, item);
	return code || item->label ? code : report_no_memory(c, in->pos);
}

/* Statements of a site begin an item each, but for IF and further pieces. */
static bool begins_item(const struct tdf_stmt *stmt)
{
	return stmt->kind != TDF_STMT_IF && !(stmt->flags & TDF_STMT_MORE);
}

/* Take off `absent` what is at the site. */
static void site_items(const struct compilation *c,
		       const struct compile_site *site, bool *absent)
{
	size_t item = 0;

	for (uint32_t i = 0; i < site->stmts; i++) {
		const struct tdf_stmt *stmt = &c->stmts[site->first_stmt + i];

		if (begins_item(stmt))
			absent[item++] &= stmt->kind == TDF_STMT_ABSENT;
	}
}

/* The reason why, at the first site. */
static const char *absent_source(const struct compilation *c,
				 const struct compile_site *site, size_t item)
{
	uint32_t stmt = site->first_stmt;

	for (;; stmt++)
		if (begins_item(&c->stmts[stmt]) && !item--)
			return c->sources[stmt];
}

int data_check_absent(struct compilation *c, const struct compile_point *point)
{
	bool *absent = malloc(point->item_count + 1);
	int code = 0;

	if (!absent)
		return report_no_memory(c, point->tsf->pos);
	memset(absent, true, point->item_count);
	for (size_t i = 0; i < point->site_count; i++)
		site_items(c, &point->sites[i], absent);
	for (size_t i = 0; i < point->item_count; i++) {
		const struct tsf_stmt *tsf = point->items[i].tsf;

		if (!absent[i])
			continue;
		diag_report(c->diag,
			    tsf->kind == TSF_VAR ? tsf->pos : tsf->address.pos,
			    TRCERR_BADADDRESS);
		diag_hint(c->diag, "'%s' at none of %zu sites: %s",
			  point->items[i].label, point->site_count,
			  absent_source(c, point->sites, i));
		code = 1;
	}
	free(absent);
	return code;
}
