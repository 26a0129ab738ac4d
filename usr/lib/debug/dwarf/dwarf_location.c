// SPDX-License-Identifier: GPL-2.0
#include "dwarf_location.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <rastrace/tdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn.h"
#include "dwarf_expression.h"
#include "dwarf_lines.h"
#include "dwarf_symbol.h"

#define BLOCK_MAX	4096	/* bytes of a constant; a record isn't longer */
#define PIECES_MAX	1024
#define LOCATIONS_MAX	4	/* places at the same time */
#define RANGES_MAX	256	/* of a location list */
#define RUNS_SHOWN	4	/* of lines that follow each other */

/* ---- location descriptions ---- */

/* A simple location description, and what of it is used. */
struct location_part {
	enum place_kind kind;
	struct bytes rpn;
	uint64_t first_bit, bits;	/* bits 0: all */
	Dwarf_Block block;		/* the bytes, instead of rpn */
	bool is_vector;			/* rpn has the low half of this: */
	unsigned int vector;
};

struct location_builder {
	const struct dwarf_context *context;
	Dwarf_Attribute *attr;
	struct place *place;
	struct error *err;
	struct bytes bits;		/* value of the bits beyond the last
					 * whole piece */
	unsigned int bit_count;
	char why[128];			/* a part of them is absent */
};

static int location_damaged(struct location_builder *b)
{
	return error_set(b->err, -EINVAL, "its location is damaged");
}

static bool is_piece(const Dwarf_Op *op)
{
	return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

static bool op_is_register(const Dwarf_Op *op)
{
	unsigned int number;

	return dwarf_op_register(op, &number);
}

/* What such an operation adds to the register is *distance. */
static bool is_breg(const Dwarf_Op *op, unsigned int *number, int64_t *distance)
{
	bool wide = op->atom == DW_OP_bregx;

	*number = wide ? UINT16_MAX : op->atom - DW_OP_breg0;
	if (wide && op->number < UINT16_MAX)
		*number = op->number;
	*distance = wide ? op->number2 : op->number;
	return wide || (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31);
}

/* Vector registers are those of the code that runs: they aren't kept over
 * calls, and the kernel has none. */
static bool location_is_vector(const struct location_builder *b,
			       unsigned int number)
{
	const struct module *module = b->context->dwarf->module;

	return module->kind == TDF_MODULE_USER && !b->context->callee &&
	       arch_register_is_vector(module->arch, number);
}

/* Operations between two pieces. -ENODATA: absent, why->text is the reason. */
static int location_part_read(struct location_builder *b, const Dwarf_Op *ops,
			      size_t count, struct location_part *part,
			      struct error *why)
{
	struct error err = {0};
	unsigned int number;
	int code;

	while (count && ops[count - 1].atom == DW_OP_GNU_uninit)
		count--;
	if (!count)
		return error_set(why, -ENODATA, "it is optimized out");
	part->kind = PLACE_VALUE;
	if (count == 1 && dwarf_op_register(ops, &number) &&
	    location_is_vector(b, number)) {
		part->is_vector = true;
		part->vector = number;
		rpn_emit_vector(&part->rpn, number, false);
		return 0;
	}
	if (count == 1 && dwarf_op_register(ops, &number))
		return dwarf_frame_own_emit(b->context, number, 0, &part->rpn,
					    why);
	if (count == 1 && ops->atom == DW_OP_implicit_value) {
		if (dwarf_getlocation_implicit_value(b->attr, ops,
						     &part->block) ||
		    !part->block.data)
			return error_set(why, -EINVAL,
					 "its location is damaged");
		if (part->block.length > BLOCK_MAX)
			return error_set(why, -ENODATA, "it is a constant of "
					 "%llu bytes", (unsigned long long)
					 part->block.length);
		return 0;
	}
	if (ops->atom == DW_OP_implicit_pointer ||
	    ops->atom == DW_OP_GNU_implicit_pointer)
		return error_set(why, -ENODATA, "it points to what isn't "
				 "in memory");
	if (ops[count - 1].atom == DW_OP_stack_value)
		count--;
	else
		part->kind = PLACE_MEMORY;
	code = dwarf_expression_emit(b->context, b->attr, ops, count,
				     &part->rpn, why);
	if (!code && rpn_check(part->rpn.data, part->rpn.size, 1, &err))
		return error_set(why, -ENODATA, "its computation is beyond "
				 "what a TDF allows: %s", err.text);
	return code;
}

static int add_value(struct location_builder *b, uint64_t value, uint64_t bytes)
{
	struct place_piece *piece = place_add(b->place, PLACE_VALUE, bytes);

	if (piece)
		rpn_emit_const(&piece->rpn, value);
	return piece && !piece->rpn.failed ? 0 : -ENOMEM;
}

/* Bytes of a constant, in pieces that an entry of the stack can hold; one
 * piece that is all of the place may be asked for more. */
static int add_block(struct location_builder *b, const uint8_t *data,
		     size_t size, bool alone)
{
	int code = size ? 0 : location_damaged(b);

	for (size_t at = 0; at < size && !code; at += 8) {
		size_t bytes = size - at < 8 ? size - at : 8;
		uint64_t value = 0;

		memcpy(&value, data + at, bytes);
		code = add_value(b, value, alone && size <= 8 ? 0 : bytes);
	}
	return code;
}

#define VECTOR_READ	16	/* bytes of a vector register that are read */
#define VECTOR_BYTES	64	/* that the widest has */

/* A vector register, in pieces that an entry of the stack can hold. `bytes` 0:
 * as many as it has. */
static int add_vector(struct location_builder *b,
		      const struct location_part *part, uint64_t bytes)
{
	uint64_t end = bytes ? bytes : VECTOR_BYTES, left;
	struct place_piece *piece;

	if (part->first_bit)
		return error_set(b->err, -ENODATA, "it is in the middle of a "
				 "vector register");
	for (uint64_t at = 0; at < end && at < VECTOR_READ; at += 8) {
		left = end - at;
		piece = place_add(b->place, PLACE_VALUE, left < 8 ? left : 8);
		if (!piece)
			return -ENOMEM;
		rpn_emit_vector(&piece->rpn, part->vector, at);
		if (piece->rpn.failed)
			return -ENOMEM;
	}
	if (end <= VECTOR_READ)
		return 0;
	piece = place_add(b->place, PLACE_ABSENT, end - VECTOR_READ);
	if (piece)
		piece->why = strdup("only the low 16 bytes of a vector "
				    "register can be read");
	return piece && piece->why ? 0 : -ENOMEM;
}

/* Append the part, whose expression moves to the piece; `why` (or NULL): it is
 * absent. */
static int add_part(struct location_builder *b, struct location_part *part,
		    uint64_t bytes, const char *why)
{
	struct place_piece *piece = place_add(b->place, why ? PLACE_ABSENT :
					      part->kind, bytes);

	if (!piece)
		return -ENOMEM;
	if (why) {
		piece->why = strdup(why);
		return piece->why ? 0 : -ENOMEM;
	}
	piece->rpn = part->rpn;
	memset(&part->rpn, 0, sizeof(part->rpn));
	if (part->kind == PLACE_MEMORY)
		rpn_emit_add(&piece->rpn, part->first_bit / 8,
			     dwarf_is_wide(b->context->dwarf));
	else
		place_emit_shift(&piece->rpn, RPN_shr, part->first_bit);
	return piece->rpn.failed ? -ENOMEM : 0;
}

/* Bits that don't fill bytes go to a value that several parts make up. */
static int bits_flush(struct location_builder *b)
{
	struct location_part part = { .kind = PLACE_VALUE, .rpn = b->bits };
	uint64_t bytes = (b->bit_count + 7) / 8;
	int code;

	if (!bytes)
		return 0;
	memset(&b->bits, 0, sizeof(b->bits));
	b->bit_count = 0;
	code = add_part(b, &part, bytes, b->why[0] ? b->why : NULL);
	bytes_free(&part.rpn);
	b->why[0] = '\0';
	return code;
}

static int bits_add(struct location_builder *b, struct location_part *part,
		    const char *why)
{
	bool wide = dwarf_is_wide(b->context->dwarf);
	uint64_t end = part->first_bit % 8 + part->bits;
	struct bytes *rpn = &part->rpn;
	unsigned int bytes = 1;

	if (!part->bits || b->bit_count + part->bits > 64)
		return error_set(b->err, -ENODATA, "its bits are spread over "
				 "more than 8 bytes");
	/* The memory that has the bits becomes a value; 1, 2, 4 or 8 bytes are
	 * read. */
	if (!why && part->kind == PLACE_MEMORY && end <= 64) {
		while (8 * bytes < end)
			bytes *= 2;
		rpn_emit_add(rpn, part->first_bit / 8, wide);
		rpn_emit_deref(rpn, bytes);
		part->first_bit %= 8;
	} else if (!why && part->kind == PLACE_MEMORY) {
		why = "its bits are spread over more than 8 bytes";
	}
	if (why)
		snprintf(b->why, sizeof(b->why), "%.127s", why);
	if (!b->why[0]) {
		place_emit_shift(rpn, RPN_shr, part->first_bit);
		if (part->bits < 64) {
			rpn_emit_const(rpn, (1ULL << part->bits) - 1);
			rpn_emit_op(rpn, RPN_and);
		}
		place_emit_shift(rpn, RPN_shl, b->bit_count);
		bytes_join(&b->bits, rpn);
		if (b->bit_count)
			rpn_emit_op(&b->bits, RPN_or);
	}
	b->bit_count += part->bits;
	return b->bit_count % 8 ? 0 : bits_flush(b);
}

/* Operations [0, count), and the piece after them that has their size, or NULL */
static int location_part(struct location_builder *b, const Dwarf_Op *ops,
			 size_t count, const Dwarf_Op *piece)
{
	struct location_part part = {0};
	struct error why = {0};
	uint64_t bytes, first;
	int code;

	if (piece && piece->atom == DW_OP_bit_piece) {
		part.bits = piece->number;
		part.first_bit = piece->number2;
	} else if (piece) {
		part.bits = 8 * piece->number;
	}
	if (piece && (piece->number > UINT32_MAX ||
		      part.first_bit > UINT32_MAX))
		return location_damaged(b);
	if (piece && !part.bits)
		return 0;
	code = location_part_read(b, ops, count, &part, &why);
	bytes = part.bits / 8;
	first = part.first_bit / 8;
	if (code && code != -ENODATA) {
		error_set(b->err, code, "%s", why.text);
	} else if (!b->bit_count && part.bits % 8 == 0 &&
		   part.first_bit % 8 == 0) {
		/* whole bytes at the boundary of one */
		if (!code && !piece && part.block.data)
			bytes = part.block.length;
		if (!code && part.is_vector)
			code = add_vector(b, &part, bytes);
		else if (code || !part.block.data)
			code = add_part(b, &part, bytes,
					code ? why.text : NULL);
		else if (first > part.block.length ||
			 bytes > part.block.length - first)
			code = location_damaged(b);
		else
			code = add_block(b, part.block.data + first, bytes,
					 !piece);
	} else if (part.block.data) {
		code = error_set(b->err, -ENODATA, "its bits are spread over "
				 "constants");
	} else {
		code = bits_add(b, &part, code ? why.text : NULL);
	}
	bytes_free(&part.rpn);
	return code;
}

/* "rdi" of an operation that names the register, "rsp+8" of one that adds to it;
 * false: it is another. */
static bool describe_register(const struct dwarf_context *context,
			      const Dwarf_Op *op, char *text, size_t size)
{
	const struct arch *arch = context->dwarf->module->arch;
	unsigned int number;
	int64_t distance = 0;
	char name[16];

	if (!dwarf_op_register(op, &number) && !is_breg(op, &number, &distance))
		return false;
	arch_register_print(arch, number, name, sizeof(name));
	if (distance)
		snprintf(text, size, "%s%+" PRId64, name, distance);
	else
		snprintf(text, size, "%s", name);
	return true;
}

/* Of the first part, for people. */
static void location_describe(const struct location_builder *b,
			      const Dwarf_Op *ops, size_t count,
			      const char *entry_name)
{
	char name[32] = "frame base", *text = b->place->where;
	size_t size = sizeof(b->place->where), base_count;
	Dwarf_Attribute attr;
	Dwarf_Op *base;
	bool alone;

	while (count && ops->atom == DW_OP_piece) {	/* absent */
		ops++;
		count--;
	}
	if (!count)
		return;
	alone = count == 1 || is_piece(&ops[1]);
	if (entry_name[0]) {
		snprintf(text, size, "%s at entry", entry_name);
	} else if (ops->atom == DW_OP_fbreg && alone) {
		if (dwarf_frame_base_find(b->context, &attr, &base,
					  &base_count) && base_count == 1 &&
		    !describe_register(b->context, base, name, sizeof(name)) &&
		    base->atom == DW_OP_call_frame_cfa)
			strcpy(name, "CFA");
		snprintf(text, size, "frame slot %s%+" PRId64, name,
			 (int64_t)ops->number);
	} else if ((alone || op_is_register(ops)) &&
		   describe_register(b->context, ops, name, sizeof(name))) {
		snprintf(text, size, op_is_register(ops) ? "register %s" :
			 "memory at %s", name);
	} else if (ops->atom == DW_OP_addr && alone) {
		snprintf(text, size, "global at %#" PRIx64,
			 (uint64_t)ops->number);
	} else if (ops->atom == DW_OP_implicit_value) {
		snprintf(text, size, "constant");
	} else if (ops[count - 1].atom == DW_OP_form_tls_address ||
		   ops[count - 1].atom == DW_OP_GNU_push_tls_address) {
		snprintf(text, size, "thread-local variable");
	} else {
		snprintf(text, size, "computed");
	}
}

/*
 * The place that the operations, read from attr, describe (DWARF 5 section 2.6).
 * -ENODATA: all of it is absent. place is to be freed in any case.
 */
static int location_place(const struct dwarf_context *outer,
			  Dwarf_Attribute *attr, const Dwarf_Op *ops,
			  size_t count, struct place *place, struct error *err)
{
	struct dwarf_context context = *outer;
	char entry_name[16] = "";
	struct location_builder b = {
		.context = &context, .attr = attr, .place = place, .err = err,
	};
	size_t start = 0, pieces = 0;
	bool absent = true;
	int code = 0;

	memset(place, 0, sizeof(*place));
	context.entry_name = entry_name;
	for (size_t i = 0; i < count && !code; i++) {
		if (!is_piece(&ops[i]))
			continue;
		code = ++pieces > PIECES_MAX ? location_damaged(&b) :
			location_part(&b, ops + start, i - start, &ops[i]);
		start = i + 1;
	}
	if (!code && (start < count || !count))
		code = pieces ? location_damaged(&b) :
				location_part(&b, ops, count, NULL);
	if (!code)
		code = bits_flush(&b);
	bytes_free(&b.bits);
	for (size_t i = 0; i < place->count && absent; i++)
		absent = place->pieces[i].kind == PLACE_ABSENT;
	if (!code && absent)
		code = error_set(err, -ENODATA, "%s", place->count ?
				 place->pieces[0].why : "it is optimized out");
	if (!code)
		location_describe(&b, ops, count, entry_name);
	return code == -ENOMEM ? error_no_memory(err) : code;
}

/* The place of a constant: DW_AT_const_value, in any form */
static int constant_place(Dwarf_Attribute *attr, struct place *place,
			  struct error *err)
{
	struct location_builder b = { .place = place, .err = err };
	Dwarf_Sword number_signed;
	Dwarf_Word number;
	Dwarf_Block block;
	const char *text;
	Dwarf_Addr address;
	int code;

	memset(place, 0, sizeof(*place));
	if (attr->form == DW_FORM_sdata || attr->form == DW_FORM_implicit_const)
		code = dwarf_formsdata(attr, &number_signed) ? -EINVAL :
			add_value(&b, number_signed, 0);
	else if (!dwarf_formudata(attr, &number))
		code = add_value(&b, number, 0);
	else if (!dwarf_formblock(attr, &block))
		code = block.length > BLOCK_MAX ? -EINVAL :
			add_block(&b, block.data, block.length, true);
	else if ((text = dwarf_formstring(attr)))
		code = strnlen(text, BLOCK_MAX) == BLOCK_MAX ? -EINVAL :
			add_block(&b, (const uint8_t *)text, strlen(text) + 1,
				  true);
	else if (!dwarf_formaddr(attr, &address)) {
		struct bytes *rpn = place_begin(place, PLACE_VALUE);

		code = rpn ? 0 : -ENOMEM;
		if (rpn)
			rpn_emit_addr(rpn, address);
	} else {
		code = -EINVAL;
	}
	snprintf(place->where, sizeof(place->where), "constant");
	if (code == -EINVAL)
		return error_set(err, code, "its constant is damaged");
	return code ? error_no_memory(err) : 0;
}

/* ---- variables ---- */

static int symbol_place(struct dwarf_file *dwarf, Dwarf_Die *die,
			uint64_t address, struct place *place,
			struct error *err)
{
	struct bytes *rpn = place_begin(place, PLACE_MEMORY);
	const char *name = dwarf_variable_symbol(die);

	if (!rpn)
		return error_no_memory(err);
	if (address)
		snprintf(place->where, sizeof(place->where),
			 "global at %#" PRIx64, address);
	else
		snprintf(place->where, sizeof(place->where), "global %s",
			 name ? name : "");
	return dwarf_symbol_emit(dwarf, name, address, rpn, err);
}

/* Debug information of a variable that the linker left out has 0, or another
 * address that is in none of the module's sections. */
static bool is_left_out(const struct dwarf_file *dwarf, uint64_t address)
{
	Elf_Scn *scn = NULL;
	bool any = false;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(dwarf->module->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC))
			continue;
		any = true;
		if (address >= sh.sh_addr && address - sh.sh_addr <= sh.sh_size)
			return false;
	}
	return any;
}

uint64_t dwarf_variable_end(const struct dwarf_variable *variable, uint64_t pc,
			    uint64_t *start)
{
	Dwarf_Addr base, low, high;
	Dwarf_Die die = variable->die;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_die_location(&die, DW_AT_location, &attr))
		return 0;
	while ((at = dwarf_getlocations(&attr, at, &base, &low, &high, &ops,
					&count)) > 0) {
		*start = low;
		if (pc >= low && pc < high)
			return low ? high : 0;
	}
	return 0;
}

static int one_location_place(const struct dwarf_context *context,
			      Dwarf_Die *die, Dwarf_Attribute *attr,
			      const Dwarf_Op *ops, size_t count,
			      struct place *place, struct error *err)
{
	const struct module_symbol *symbol = NULL;
	struct dwarf_file *dwarf = context->dwarf;
	bool external = dwarf_die_flag(die, DW_AT_external), others;
	const char *name;
	uint64_t address;

	if (!dwarf_die_address(attr, ops, count, &address) ||
	    (!is_left_out(dwarf, address) && !(address && external)))
		return location_place(context, attr, ops, count, place, err);
	if (!is_left_out(dwarf, address))
		return symbol_place(dwarf, die, address, place, err);
	/* of one that several units define the linker keeps one */
	name = external ? dwarf_variable_symbol(die) : NULL;
	if (name)
		symbol = module_symbol_find(dwarf->module, name, MODULE_DATA,
					    &others);
	return symbol && symbol->defined ?
	       symbol_place(dwarf, die, 0, place, err) :
	       error_set(err, -ENODATA, "the linker left it out");
}

/* The operations are those of a list's default location, which is valid where no
 * other is (DWARF 5 section 2.6.2). With NULL: no location has anything in it,
 * and none is damaged. */
static bool location_is(Dwarf_Attribute *attr, const Dwarf_Op *ops)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	Dwarf_Op *own;
	size_t count;

	while ((at = dwarf_getlocations(attr, at, &base, &start, &end, &own,
					&count)) > 0)
		if (ops ? own == ops : count)
			return ops && !start && end == (Dwarf_Addr)-1;
	return !ops && !at;
}

static int variable_location_place(const struct dwarf_context *context,
				   Dwarf_Die *die, Dwarf_Attribute *attr,
				   struct place *place, struct error *err)
{
	size_t counts[LOCATIONS_MAX];
	Dwarf_Op *ops[LOCATIONS_MAX];
	int count = dwarf_getlocation_addr(attr, context->pc, ops, counts,
					   LOCATIONS_MAX);
	int code = -ENODATA;

	if (count < 0)
		return error_set(err, code, "its location is damaged or has an "
				 "operation that isn't known");
	if (!count || (count == 1 && !counts[0]))
		return error_set(err, code, "it is optimized out %s",
				 location_is(attr, NULL) ? "everywhere" :
							   "here");
	for (int i = 0; i < count && code == -ENODATA; i++) {
		if (i && location_is(attr, ops[i]))
			continue;
		place_free(place);
		code = one_location_place(context, die, attr, ops[i],
					  counts[i], place, err);
	}
	return code;
}

/* On AArch64 gcc has no location of a thread-local variable of one file: the
 * assembler has no relocation for it there. The symbol of that file has it. */
static bool thread_symbol_find(struct dwarf_file *dwarf,
			       const struct dwarf_variable *variable,
			       uint64_t *offset)
{
	const struct module_symbol *symbol = NULL;
	Dwarf_Die die = variable->die, unit;
	const char *file = NULL, *name = dwarf_diename(&die);
	bool others = false;
	char *text;

	if (!variable->local && dwarf_diecu(&die, &unit, NULL, NULL))
		file = dwarf_diename(&unit);
	if (!name || !file || asprintf(&text, "%s:%s", file, name) < 0)
		return false;
	symbol = module_symbol_find(dwarf->module, text, MODULE_DATA, &others);
	free(text);
	if (!symbol || others || !symbol->defined || symbol->type != STT_TLS)
		return false;
	*offset = symbol->address;
	return true;
}

int dwarf_variable_place(struct dwarf_file *dwarf,
			 const struct dwarf_variable *variable, uint64_t pc,
			 struct place *place, struct error *err)
{
	struct dwarf_context context = { .dwarf = dwarf, .pc = pc };
	Dwarf_Die die = variable->die;
	struct dwarf_scopes scopes;
	Dwarf_Attribute attr;
	struct bytes *rpn;
	uint64_t offset;
	int code = dwarf_scopes_find(dwarf, pc, &scopes);

	if (code == -ENOMEM)
		return error_no_memory(err);
	if (scopes.count)
		context.function = scopes.dies[0];
	memset(place, 0, sizeof(*place));
	if (dwarf_die_location(&die, DW_AT_location, &attr)) {
		code = variable_location_place(&context, &die, &attr, place,
					       err);
	} else if (dwarf_attr_integrate(&die, DW_AT_const_value, &attr)) {
		code = constant_place(&attr, place, err);
	} else if (dwarf_die_flag(&die, DW_AT_external) &&
		   (!variable->local ||
		    dwarf_hasattr_integrate(&die, DW_AT_declaration))) {
		code = symbol_place(dwarf, &die, 0, place, err);
	} else if (thread_symbol_find(dwarf, variable, &offset)) {
		rpn = place_begin(place, PLACE_MEMORY);
		snprintf(place->where, sizeof(place->where),
			 "thread-local variable");
		code = rpn ? dwarf_thread_emit(dwarf, offset, rpn, err) :
			     error_no_memory(err);
	} else {
		code = error_set(err, -ENODATA,
				 "it is optimized out everywhere");
	}
	if (code)
		place_free(place);
	else if (err)
		err->text[0] = err->hint[0] = '\0';
	return code;
}

/* ---- the lines where a variable is ---- */

struct available_line {
	uint32_t number;
	bool available;		/* at its lowest address */
	uint64_t address;
};

struct line_run {		/* of lines that follow each other */
	uint32_t first, last;
};

/* Where the variable is; returns how many ranges there are. */
static size_t ranges_read(const struct dwarf_context *outer,
			  Dwarf_Attribute *attr,
			  struct module_range ranges[RANGES_MAX])
{
	struct dwarf_context context = *outer;
	Dwarf_Addr base, start, end;
	size_t count, found = 0;
	struct place place;
	ptrdiff_t at = 0;
	Dwarf_Op *ops;
	int code;

	for (int i = 0; i < 4 * RANGES_MAX && found < RANGES_MAX; i++) {
		at = dwarf_getlocations(attr, at, &base, &start, &end, &ops,
					&count);
		if (at <= 0)
			break;
		if (!count || end <= start ||
		    (found && !start))	/* the default one */
			continue;
		context.pc = start;
		code = location_place(&context, attr, ops, count, &place, NULL);
		if (!code)
			ranges[found++] = (struct module_range){ start, end };
		else if (code == -ENOMEM)
			outer->dwarf->module->exhausted = true;
		place_free(&place);
	}
	return found;
}

static int line_compare(const void *a, const void *b)
{
	const struct available_line *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* The lines of the function in the file; *near: the one that the code at pc is
 * in, or was called from. */
static size_t available_lines_read(const struct dwarf_context *context,
				   const struct line_table *table,
				   uint32_t file,
				   const struct module_range *ranges,
				   size_t range_count,
				   struct available_line *lines, uint32_t *near)
{
	Dwarf_Die function = context->function;
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < table->rows.count; i++) {
		const struct dwarf_row *row = &table->rows.list[i];

		if (row->file != file || !row->line ||
		    dwarf_haspc(&function, row->address) <= 0)
			continue;
		if (row->address <= context->pc)
			*near = row->line;
		if (row->is_stmt && !row->end_sequence)
			lines[count++] = (struct available_line){
				.number = row->line, .address = row->address,
				.available = module_ranges_have(ranges,
								range_count,
								row->address),
			};
	}
	if (count)
		qsort(lines, count, sizeof(*lines), line_compare);
	for (size_t i = 0; i < count; i++)
		if (!kept || lines[kept - 1].number != lines[i].number)
			lines[kept++] = lines[i];
	return kept;
}

static uint32_t run_distance(const struct line_run *run, uint32_t line)
{
	return line < run->first ? run->first - line :
	       line > run->last ? line - run->last : 0;
}

/* "12, 14-16 and 20": the runs of lines with the variable that are nearest to
 * the line, in their order. Returns how many lines these are, or more than 1. */
static uint32_t runs_print(const struct available_line *lines, size_t count,
			   uint32_t near, char *text, size_t size)
{
	struct line_run runs[RUNS_SHOWN + 1];
	size_t run_count = 0, used = 0;

	for (size_t i = 0; i < count; i++) {
		struct line_run *run = &runs[run_count];
		size_t worst = 0;

		if (!lines[i].available)
			continue;
		run->first = run->last = lines[i].number;
		while (i + 1 < count && lines[i + 1].available)
			run->last = lines[++i].number;
		if (++run_count <= RUNS_SHOWN)
			continue;
		for (size_t k = 1; k < run_count; k++)
			if (run_distance(&runs[k], near) >
			    run_distance(&runs[worst], near))
				worst = k;
		memmove(&runs[worst], &runs[worst + 1],
			(--run_count - worst) * sizeof(*runs));
	}
	for (size_t i = 0; i < run_count && used < size; i++) {
		used += snprintf(text + used, size - used, "%s%" PRIu32,
				 !i ? "" : i + 1 == run_count ? " and " : ", ",
				 runs[i].first);
		if (runs[i].last != runs[i].first && used < size)
			used += snprintf(text + used, size - used,
					 "-%" PRIu32, runs[i].last);
	}
	return run_count == 1 ? runs[0].last - runs[0].first + 1 : run_count;
}

int dwarf_variable_hint(struct dwarf_file *dwarf,
			const struct dwarf_variable *variable, uint64_t pc,
			struct error *err)
{
	struct dwarf_context context = { .dwarf = dwarf, .pc = pc };
	Dwarf_Die die = variable->die, unit, root = dwarf_die_root(&die);
	struct module_range ranges[RANGES_MAX];
	const struct line_table *table = NULL;
	struct available_line *lines;
	struct dwarf_scopes scopes;
	size_t range_count, count;
	Dwarf_Attribute attr;
	uint32_t near = 0;
	uint64_t file = 0;
	char text[128];
	char *path;
	int code;

	if (!variable->local ||
	    !dwarf_die_location(&die, DW_AT_location, &attr))
		return 0;
	code = dwarf_scopes_find(dwarf, pc, &scopes);
	if (code || !scopes.count)
		return code == -ENOMEM ? code : 0;
	context.function = scopes.dies[0];
	range_count = ranges_read(&context, &attr, ranges);
	if (range_count && dwarf_skeleton_find(dwarf, pc, &unit))
		table = dwarf_lines_table(dwarf, &unit);
	if (!table)
		return 0;
	lines = calloc(table->rows.count + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	/* The file that declares the variable, as the unit's rows number it;
	 * where the entry is from another unit, the file of the code at pc */
	if (root.cu != context.function.cu ||
	    !dwarf_die_number(&root, DW_AT_decl_file, &file))
		for (size_t i = 0; i < table->rows.count &&
				   table->rows.list[i].address <= pc; i++)
			file = table->rows.list[i].file;
	count = available_lines_read(&context, table, file, ranges,
				     range_count, lines, &near);
	count = runs_print(lines, count, near, text, sizeof(text));
	path = dwarf_lines_path(dwarf, &unit, file);
	if (count)
		error_hint(err, "available at line%s %s of %s",
			   count > 1 ? "s" : "", text,
			   path ? source_path_base(path) : "the source");
	else
		error_hint(err, "available only from %#" PRIx64 " up to %#"
			   PRIx64, ranges[0].start, ranges[0].end);
	free(path);
	free(lines);
	return 0;
}
