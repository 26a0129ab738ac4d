// SPDX-License-Identifier: GPL-2.0
/*
 * Of all registers, the rules of three matter: the CFA, the frame pointer and
 * the address to return to. Rules that a row can't hold become UNWIND_NONE.
 */
#include "cfi_program.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#define DEPTH_MAX	16	/* of DW_CFA_remember_state */

enum rule_kind {
	RULE_SAME, RULE_OFFSET, RULE_EXPRESSION, RULE_UNDEFINED, RULE_OTHER,
};

struct cfi_rule {
	enum rule_kind kind;
	int64_t offset;			/* from the CFA */
	struct cursor expression;
};

struct cfi_state {
	bool is_expression;		/* of the CFA, else register + offset */
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct cursor expression;
	struct cfi_rule frame;		/* of the frame pointer */
	struct cfi_rule address;	/* to return to */
	struct cfi_rule other;		/* of registers that don't matter */
};

struct cfi_run {
	const struct cfi_function *function;
	const struct cfi_machine *machine;
	uint64_t lowest;
	struct cfi_rows *rows;
	uint64_t location;
	struct cfi_state state, initial, kept[DEPTH_MAX];
	unsigned int depth;
	bool failed;
};

/* aadwarf64 4.4.1 */
#define A64_NEGATE_RA_STATE_WITH_PC	0x2c
#define A64_NEGATE_RA_STATE		0x2d

static const struct cfi_machine machines[] = {
	{ EM_386, ELFCLASS32, 4, 5, 8, 28, 0, false },
	{ EM_X86_64, ELFCLASS64, 7, 6, 16, 120, 0, false },
	/* asm/signal.c in the kernel: struct rt_sigframe is siginfo and
	 * ucontext, which has sigcontext at 176 */
	{ EM_AARCH64, ELFCLASS64, 31, 29, 32, 256, 128 + 176, true },
};

const struct cfi_machine *cfi_machine_find(uint16_t machine, uint8_t elf_class)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine &&
		    machines[i].elf_class == elf_class)
			return &machines[i];
	return NULL;
}

/* DW_OP_breg(`number`) offset; more operations may follow. */
static bool cfi_base_take(struct cursor *c, uint64_t number, int64_t *offset)
{
	if (cursor_fixed(c, 1) != DW_OP_breg0 + number)
		return false;
	*offset = cursor_sleb(c);
	return !c->failed;
}

/* The value is in memory at register + offset. */
static bool deref_match(struct cursor c, uint64_t number, int64_t *offset)
{
	return cfi_base_take(&c, number, offset) &&
	       cursor_fixed(&c, 1) == DW_OP_deref && c.at == c.end;
}

/* What linkers write for .plt (elf_x86_64_eh_frame_plt and others in
 * binutils' sources): sp + word + ((ip & 15) >= 11) << log2(word) */
static bool plt_match(struct cursor c, const struct cfi_machine *machine,
		      int word)
{
	const uint8_t rest[] = {
		DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
		word == 8 ? DW_OP_lit3 : DW_OP_lit2, DW_OP_shl, DW_OP_plus,
	};
	int64_t offset, ip;

	return cfi_base_take(&c, machine->sp, &offset) && offset == word &&
	       cfi_base_take(&c, machine->ip, &ip) && !ip &&
	       (size_t)(c.end - c.at) == sizeof(rest) &&
	       !memcmp(c.at, rest, sizeof(rest));
}

static bool fits(int64_t value)
{
	return value == (int32_t)value;
}

/* The CFA is computed by an expression; false: rows don't have that one. */
static bool expression_row(const struct cfi_run *run, struct unwind_row *row)
{
	const struct cfi_machine *machine = run->machine;
	const struct cfi_state *state = &run->state;
	struct cursor frame = state->frame.expression;
	int64_t cfa, fp;

	if (run->function->signal) {
		row->kind = UNWIND_SIGNAL;
		if (!deref_match(state->expression, machine->sp, &cfa) ||
		    !fits(cfa))
			return false;
		row->cfa = cfa - machine->context_sp;
		return true;
	}
	if (machine->link)
		return false;
	if (plt_match(state->expression, machine,
		      run->function->section->word)) {
		row->kind = UNWIND_PLT;
		return state->frame.kind == RULE_SAME;
	}
	row->kind = UNWIND_REALIGNED;
	if (!deref_match(state->expression, machine->fp, &cfa) ||
	    state->frame.kind != RULE_EXPRESSION ||
	    !cfi_base_take(&frame, machine->fp, &fp) || frame.at != frame.end ||
	    !fits(cfa) || !fits(fp))
		return false;
	row->cfa = cfa;
	row->fp = fp;
	return true;
}

/* The CFA is a register + offset; false: rows don't have that one. */
static bool register_row(const struct cfi_run *run, struct unwind_row *row)
{
	const struct cfi_state *state = &run->state;

	if (state->cfa_register == run->machine->sp)
		row->kind = UNWIND_SP;
	else if (state->cfa_register == run->machine->fp)
		row->kind = UNWIND_FP;
	else
		return false;
	row->cfa = state->cfa_offset;
	if (state->frame.kind == RULE_OFFSET) {
		row->fp = state->frame.offset;
		if (!row->fp || !fits(state->frame.offset))
			return false;
	} else if (state->frame.kind != RULE_SAME) {
		return false;
	}
	return fits(state->cfa_offset);
}

/* Where the address to return to is; false: rows can't hold that. */
static bool return_row(const struct cfi_run *run, struct unwind_row *row)
{
	const struct cfi_rule *address = &run->state.address;
	int64_t offset = address->offset - row->fp;

	if (!run->machine->link)
		return address->kind == RULE_OFFSET && address->offset ==
		       -(int64_t)run->function->section->word;
	if (address->kind == RULE_SAME)
		return true;
	row->link = offset / 8;
	return address->kind == RULE_OFFSET && offset && !(offset % 8) &&
	       row->link == offset / 8;
}

/* The row of the state that is valid from `location` on */
static void cfi_row_add(struct cfi_run *run)
{
	struct unwind_row row = { .pc = run->location - run->lowest };
	bool known;

	if (run->state.address.kind == RULE_UNDEFINED) {
		row.kind = UNWIND_END;
		cfi_rows_add(run->rows, &row);
		return;
	}
	known = run->state.is_expression ? expression_row(run, &row) :
		!run->function->signal && register_row(run, &row);
	if (!run->function->signal)
		known = known && return_row(run, &row);
	if (!known)
		row = (struct unwind_row) { .pc = row.pc };
	cfi_rows_add(run->rows, &row);
}

static struct cfi_rule *rule_of(const struct cfi_run *run,
				struct cfi_state *state, uint64_t number)
{
	if (number == run->function->return_register)
		return &state->address;
	return number == run->machine->fp ? &state->frame : &state->other;
}

static void location_set(struct cfi_run *run, uint64_t location)
{
	if (location < run->location || location > run->function->end)
		run->failed = true;
	if (run->failed || location == run->location)
		return;
	cfi_row_add(run);
	run->location = location;
}

static struct cursor cfi_block_take(struct cursor *c)
{
	uint64_t size = cursor_uleb(c);
	struct cursor block = *c;

	cursor_skip(c, size);
	block.end = c->at;
	return block;
}

/* An instruction that sets the rule of a register */
static void rule_run(struct cfi_run *run, uint8_t code, struct cursor *c)
{
	uint64_t align = run->function->data_align, number = cursor_uleb(c);
	struct cfi_rule *rule = rule_of(run, &run->state, number);
	struct cfi_rule set = { .kind = RULE_OTHER };

	switch (code) {
	case DW_CFA_offset_extended:
		set.kind = RULE_OFFSET;
		set.offset = cursor_uleb(c) * align;
		break;
	case DW_CFA_offset_extended_sf:
		set.kind = RULE_OFFSET;
		set.offset = cursor_sleb(c) * align;
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set.kind = RULE_OFFSET;
		set.offset = -(cursor_uleb(c) * align);
		break;
	case DW_CFA_restore_extended:
		set = *rule_of(run, &run->initial, number);
		break;
	case DW_CFA_undefined:
		set.kind = RULE_UNDEFINED;
		break;
	case DW_CFA_same_value:
		set.kind = RULE_SAME;
		break;
	case DW_CFA_expression:
		set.kind = RULE_EXPRESSION;
		set.expression = cfi_block_take(c);
		break;
	case DW_CFA_val_expression:
		cfi_block_take(c);
		break;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		cursor_uleb(c);
		break;
	default:
		run->failed = true;
	}
	*rule = set;
}

static void instruction_run(struct cfi_run *run, struct cursor *c)
{
	const struct cfi_function *function = run->function;
	uint64_t align = function->data_align;
	uint64_t step = function->code_align;
	struct cfi_state *state = &run->state;
	uint8_t code = cursor_fixed(c, 1);
	uint64_t number = code & 0x3f;

	switch (code & 0xc0) {
	case DW_CFA_advance_loc:
		location_set(run, run->location + number * step);
		return;
	case DW_CFA_offset:
		*rule_of(run, state, number) = (struct cfi_rule) {
			RULE_OFFSET, cursor_uleb(c) * align,
		};
		return;
	case DW_CFA_restore:
		*rule_of(run, state, number) =
			*rule_of(run, &run->initial, number);
		return;
	}
	switch (code) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		location_set(run, cfi_pointer(c, function->encoding,
					      function->section->word));
		break;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		number = cursor_fixed(c, 1 << (code - DW_CFA_advance_loc1));
		location_set(run, run->location + number * step);
		break;
	case DW_CFA_remember_state:
		run->failed |= run->depth == DEPTH_MAX;
		if (!run->failed)
			run->kept[run->depth++] = *state;
		break;
	case DW_CFA_restore_state:
		run->failed |= !run->depth;
		if (!run->failed)
			*state = run->kept[--run->depth];
		break;
	case DW_CFA_GNU_args_size:
		cursor_uleb(c);
		break;
	case DW_CFA_def_cfa:
		state->is_expression = false;
		state->cfa_register = cursor_uleb(c);
		state->cfa_offset = cursor_uleb(c);
		break;
	case DW_CFA_def_cfa_sf:
		state->is_expression = false;
		state->cfa_register = cursor_uleb(c);
		state->cfa_offset = cursor_sleb(c) * align;
		break;
	case DW_CFA_def_cfa_register:
		state->is_expression = false;
		state->cfa_register = cursor_uleb(c);
		break;
	case DW_CFA_def_cfa_offset:
		state->cfa_offset = cursor_uleb(c);
		break;
	case DW_CFA_def_cfa_offset_sf:
		state->cfa_offset = cursor_sleb(c) * align;
		break;
	case DW_CFA_def_cfa_expression:
		state->is_expression = true;
		state->expression = cfi_block_take(c);
		break;
	case A64_NEGATE_RA_STATE:
	case A64_NEGATE_RA_STATE_WITH_PC:
		/* From here on the address to return to is signed, or no
		 * longer: unwinding removes the signature in any case. On
		 * other machines the first code is unknown. */
		if (run->machine->machine == EM_AARCH64)
			break;
		/* fall through */
	default:
		rule_run(run, code, c);
	}
}

static void instructions_run(struct cfi_run *run, struct cursor c)
{
	while (c.at < c.end && !run->failed && !c.failed)
		instruction_run(run, &c);
	run->failed |= c.failed;
}

void cfi_program_run(const struct cfi_function *function,
		     const struct cfi_machine *machine, uint64_t lowest,
		     struct cfi_rows *rows)
{
	struct cfi_run run = {
		.function = function, .machine = machine, .lowest = lowest,
		.rows = rows, .location = function->begin,
	};
	struct unwind_row end = {
		.pc = function->end - lowest, .kind = UNWIND_FRAME,
	};
	size_t count = rows->count;

	if (function->begin == function->end)
		return;
	instructions_run(&run, function->initial);
	run.initial = run.state;
	instructions_run(&run, function->program);
	if (run.failed) {
		rows->count = count;
		run.state = (struct cfi_state) { .is_expression = true };
		run.location = function->begin;
	}
	if (run.location < function->end)
		cfi_row_add(&run);
	cfi_rows_add(rows, &end);
}
