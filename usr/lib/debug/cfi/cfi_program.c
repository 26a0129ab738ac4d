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

struct rule {
	enum rule_kind kind;
	int64_t offset;			/* from the CFA */
	struct cfi_bytes expression;
};

struct state {
	bool is_expression;		/* of the CFA, else register + offset */
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct cfi_bytes expression;
	struct rule frame;		/* of the frame pointer */
	struct rule address;		/* to return to */
};

struct run {
	const struct cfi_function *function;
	struct rows *rows;
	uint64_t location;
	struct state state, initial, kept[DEPTH_MAX];
	unsigned int depth;
	bool failed;
};

/* aadwarf64 4.4.1 */
#define A64_NEGATE_RA_STATE_WITH_PC	0x2c
#define A64_NEGATE_RA_STATE		0x2d

/* DWARF numbers (psABI, aadwarf64 4.1) and offset of the stack pointer in struct
 * sigcontext */
struct cfi_machine {
	uint16_t machine;	/* ELF's */
	uint8_t elf_class;
	uint64_t sp, fp;
	uint64_t ip;		/* as expressions of .plt name it */
	int context_sp;
	int signal;		/* cfi_machine_signal() */
	bool link;		/* calls leave the address to return to in a
				 * register */
};

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

int cfi_machine_signal(const struct cfi_machine *machine)
{
	return machine->signal;
}

static const struct cfi_machine *machine_of(const struct run *run)
{
	return run->function->cfi->machine;
}

/* DW_OP_breg(`number`) offset, and behind it as many operations as follow */
static bool base_take(struct cfi_bytes *bytes, uint64_t number, int64_t *offset)
{
	if (cfi_take(bytes, 1) != DW_OP_breg0 + number)
		return false;
	*offset = cfi_take_sleb(bytes);
	return !bytes->failed;
}

/* Its value stands at register + offset. */
static bool deref_match(struct cfi_bytes bytes, uint64_t number,
			int64_t *offset)
{
	return base_take(&bytes, number, offset) &&
	       cfi_take(&bytes, 1) == DW_OP_deref && bytes.at == bytes.end;
}

/* What linkers write for .plt (elf_x86_64_eh_frame_plt and the like in
 * binutils' sources): sp + word + ((ip & 15) >= 11) << log2(word) */
static bool plt_match(struct cfi_bytes bytes, const struct cfi_machine *machine,
		      int word)
{
	const uint8_t rest[] = {
		DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
		word == 8 ? DW_OP_lit3 : DW_OP_lit2, DW_OP_shl, DW_OP_plus,
	};
	int64_t offset, ip;

	return base_take(&bytes, machine->sp, &offset) && offset == word &&
	       base_take(&bytes, machine->ip, &ip) && !ip &&
	       (size_t)(bytes.end - bytes.at) == sizeof(rest) &&
	       !memcmp(bytes.at, rest, sizeof(rest));
}

static bool fits(int64_t value)
{
	return value == (int32_t)value;
}

/* CFA by an expression; false: none that rows know */
static bool expression_row(const struct run *run, struct unwind_row *row)
{
	const struct cfi_machine *machine = machine_of(run);
	const struct state *state = &run->state;
	struct cfi_bytes frame = state->frame.expression;
	int word = run->function->cfi->word;
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
	if (plt_match(state->expression, machine, word)) {
		row->kind = UNWIND_PLT;
		return state->frame.kind == RULE_SAME;
	}
	row->kind = UNWIND_REALIGNED;
	if (!deref_match(state->expression, machine->fp, &cfa) ||
	    state->frame.kind != RULE_EXPRESSION ||
	    !base_take(&frame, machine->fp, &fp) || frame.at != frame.end ||
	    !fits(cfa) || !fits(fp))
		return false;
	row->cfa = cfa;
	row->fp = fp;
	return true;
}

static bool register_row(const struct run *run, struct unwind_row *row)
{
	const struct cfi_machine *machine = machine_of(run);
	const struct state *state = &run->state;

	if (state->cfa_register == machine->sp)
		row->kind = UNWIND_SP;
	else if (state->cfa_register == machine->fp)
		row->kind = UNWIND_FP;
	else
		return false;
	row->cfa = state->cfa_offset;
	row->fp = state->frame.offset;
	switch (state->frame.kind) {
	case RULE_SAME:
		row->fp = 0;
		break;
	case RULE_OFFSET:
		if (!row->fp || !fits(state->frame.offset))
			return false;
		break;
	default:
		return false;
	}
	return fits(state->cfa_offset);
}

/* Where the address to return to is; false: rows can't say */
static bool return_row(const struct run *run, struct unwind_row *row)
{
	const struct rule *address = &run->state.address;
	int64_t offset = address->offset - row->fp;

	if (!machine_of(run)->link)
		return address->kind == RULE_OFFSET &&
		       address->offset == -run->function->cfi->word;
	if (address->kind == RULE_SAME)
		return true;
	row->link = offset / 8;
	return address->kind == RULE_OFFSET && offset && !(offset % 8) &&
	       row->link == offset / 8;
}

/* The row of what holds from `location` on */
static void row_add(struct run *run)
{
	const struct cfi *cfi = run->function->cfi;
	struct unwind_row row = { .pc = run->location - cfi->lowest };
	const struct rule *address = &run->state.address;
	bool fine;

	if (address->kind == RULE_UNDEFINED) {
		row.kind = UNWIND_END;
		rows_add(run->rows, &row);
		return;
	}
	fine = run->state.is_expression ? expression_row(run, &row) :
	       !run->function->signal && register_row(run, &row);
	if (!run->function->signal)
		fine = fine && return_row(run, &row);
	if (!fine)
		row = (struct unwind_row) { .pc = row.pc };
	rows_add(run->rows, &row);
}

/* The rule of a register; NULL: it doesn't matter */
static struct rule *rule_of(struct run *run, struct state *state,
			    uint64_t number)
{
	if (number == run->function->return_register)
		return &state->address;
	return number == machine_of(run)->fp ? &state->frame : NULL;
}

static void rule_set(struct run *run, uint64_t number, enum rule_kind kind,
		     int64_t offset)
{
	struct rule *rule = rule_of(run, &run->state, number);

	if (rule)
		*rule = (struct rule) { .kind = kind, .offset = offset };
}

static void rule_restore(struct run *run, uint64_t number)
{
	struct rule *rule = rule_of(run, &run->state, number);

	if (rule)
		*rule = *rule_of(run, &run->initial, number);
}

static struct cfi_bytes block_take(struct cfi_bytes *bytes)
{
	uint64_t size = cfi_take_uleb(bytes);
	struct cfi_bytes block = *bytes;

	cfi_skip(bytes, size);
	block.end = bytes->at;
	return block;
}

static void rule_express(struct run *run, struct cfi_bytes *bytes)
{
	struct rule *rule = rule_of(run, &run->state, cfi_take_uleb(bytes));
	struct cfi_bytes block = block_take(bytes);

	if (rule)
		*rule = (struct rule) { RULE_EXPRESSION, .expression = block };
}

static void advance(struct run *run, uint64_t delta)
{
	uint64_t end = run->function->end;

	delta *= run->function->code_align;
	if (delta > end - run->location) {
		run->failed = true;
		return;
	}
	if (!delta)
		return;
	row_add(run);
	run->location += delta;
}

static void location_set(struct run *run, uint64_t location)
{
	if (location < run->location || location > run->function->end) {
		run->failed = true;
		return;
	}
	if (location == run->location)
		return;
	row_add(run);
	run->location = location;
}

static void cfa_set(struct run *run, uint64_t number, int64_t offset)
{
	run->state.is_expression = false;
	run->state.cfa_register = number;
	run->state.cfa_offset = offset;
}

static void state_remember(struct run *run)
{
	if (run->depth == DEPTH_MAX)
		run->failed = true;
	else
		run->kept[run->depth++] = run->state;
}

static void state_restore(struct run *run)
{
	if (!run->depth)
		run->failed = true;
	else
		run->state = run->kept[--run->depth];
}

/* The instructions that say how the CFA is found; false: another one */
static bool cfa_instruction(struct run *run, uint8_t code,
			    struct cfi_bytes *bytes)
{
	uint64_t align = run->function->data_align;
	struct state *state = &run->state;
	uint64_t number;

	switch (code) {
	case DW_CFA_def_cfa:
		number = cfi_take_uleb(bytes);
		cfa_set(run, number, cfi_take_uleb(bytes));
		return true;
	case DW_CFA_def_cfa_sf:
		number = cfi_take_uleb(bytes);
		cfa_set(run, number, cfi_take_sleb(bytes) * align);
		return true;
	case DW_CFA_def_cfa_register:
		cfa_set(run, cfi_take_uleb(bytes), state->cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		state->cfa_offset = cfi_take_uleb(bytes);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		state->cfa_offset = cfi_take_sleb(bytes) * align;
		return true;
	case DW_CFA_def_cfa_expression:
		state->is_expression = true;
		state->expression = block_take(bytes);
		return true;
	default:
		return false;
	}
}

/* The same of registers' rules */
static bool rule_instruction(struct run *run, uint8_t code,
			     struct cfi_bytes *bytes)
{
	uint64_t align = run->function->data_align;
	uint64_t number;

	switch (code) {
	case DW_CFA_expression:
		rule_express(run, bytes);
		return true;
	case DW_CFA_offset_extended: case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_restore_extended: case DW_CFA_undefined:
	case DW_CFA_same_value: case DW_CFA_register: case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf: case DW_CFA_val_expression:
		break;
	default:
		return false;
	}
	number = cfi_take_uleb(bytes);
	switch (code) {
	case DW_CFA_offset_extended:
		rule_set(run, number, RULE_OFFSET,
			 cfi_take_uleb(bytes) * align);
		break;
	case DW_CFA_offset_extended_sf:
		rule_set(run, number, RULE_OFFSET,
			 cfi_take_sleb(bytes) * align);
		break;
	case DW_CFA_GNU_negative_offset_extended:
		rule_set(run, number, RULE_OFFSET,
			 -(cfi_take_uleb(bytes) * align));
		break;
	case DW_CFA_restore_extended:
		rule_restore(run, number);
		break;
	case DW_CFA_undefined:
		rule_set(run, number, RULE_UNDEFINED, 0);
		break;
	case DW_CFA_same_value:
		rule_set(run, number, RULE_SAME, 0);
		break;
	case DW_CFA_val_expression:
		rule_set(run, number, RULE_OTHER, 0);
		block_take(bytes);
		break;
	default:
		rule_set(run, number, RULE_OTHER, 0);
		cfi_take_uleb(bytes);
	}
	return true;
}

/* The address to return to is signed from here on, or no more: who follows it
 * takes the signature off in any case. */
static bool is_sign_state(const struct run *run, uint8_t code)
{
	return machine_of(run)->machine == EM_AARCH64 &&
	       (code == A64_NEGATE_RA_STATE ||
		code == A64_NEGATE_RA_STATE_WITH_PC);
}

static void instruction_run(struct run *run, struct cfi_bytes *bytes)
{
	const struct cfi_function *function = run->function;
	uint8_t code = cfi_take(bytes, 1);
	uint8_t number = code & 0x3f;

	switch (code & 0xc0) {
	case DW_CFA_advance_loc:
		advance(run, number);
		return;
	case DW_CFA_offset:
		rule_set(run, number, RULE_OFFSET,
			 cfi_take_uleb(bytes) * function->data_align);
		return;
	case DW_CFA_restore:
		rule_restore(run, number);
		return;
	}
	switch (code) {
	case DW_CFA_nop:
		return;
	case DW_CFA_set_loc:
		location_set(run, cfi_take_pointer(bytes, function->encoding,
						   function->cfi->word));
		return;
	case DW_CFA_advance_loc1:
		advance(run, cfi_take(bytes, 1));
		return;
	case DW_CFA_advance_loc2:
		advance(run, cfi_take(bytes, 2));
		return;
	case DW_CFA_advance_loc4:
		advance(run, cfi_take(bytes, 4));
		return;
	case DW_CFA_remember_state:
		state_remember(run);
		return;
	case DW_CFA_restore_state:
		state_restore(run);
		return;
	case DW_CFA_GNU_args_size:
		cfi_take_uleb(bytes);
		return;
	}
	if (is_sign_state(run, code))
		return;
	if (!cfa_instruction(run, code, bytes) &&
	    !rule_instruction(run, code, bytes))
		run->failed = true;
}

static void instructions_run(struct run *run, struct cfi_bytes bytes)
{
	while (bytes.at < bytes.end && !run->failed && !bytes.failed)
		instruction_run(run, &bytes);
	run->failed |= bytes.failed;
}

void cfi_program_run(const struct cfi_function *function, struct rows *rows)
{
	struct run run = {
		.function = function, .rows = rows,
		.location = function->begin,
	};
	struct unwind_row end = {
		.pc = function->end - function->cfi->lowest,
		.kind = UNWIND_FRAME,
	};
	size_t count = rows->count;

	if (function->begin == function->end)
		return;
	instructions_run(&run, function->initial);
	run.initial = run.state;
	instructions_run(&run, function->program);
	if (run.failed) {
		rows->count = count;
		run.state = (struct state) { .is_expression = true };
		run.location = function->begin;
	}
	if (run.location < function->end)
		row_add(&run);
	rows_add(rows, &end);
}
