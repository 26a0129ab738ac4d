// SPDX-License-Identifier: GPL-2.0
#include "move_rpn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn.h"

#define LOWEST_FIXED	4096	/* below is what null pointers lead to */

/* All of it is loaded with the module, to be written if `write`. */
static bool is_mapped(const struct move *move, const struct arch_memory *memory,
		      bool write)
{
	uint64_t address = memory->number;
	size_t count;
	GElf_Phdr ph;

	if (!memory->bytes || address < LOWEST_FIXED || !move->module->elf ||
	    elf_getphdrnum(move->module->elf, &count))
		return false;
	for (size_t i = 0; i < count &&
			   gelf_getphdr(move->module->elf, i, &ph); i++)
		if (ph.p_type == PT_LOAD &&
		    ph.p_flags & (write ? PF_W : PF_R) &&
		    address >= ph.p_vaddr && memory->bytes <= ph.p_memsz &&
		    address - ph.p_vaddr <= ph.p_memsz - memory->bytes)
			return true;
	return false;
}

static bool may_fault(const struct move *move, const struct arch_memory *memory,
		      bool write)
{
	struct state_range range;

	switch (memory->space) {
	case ARCH_SPACE_THREAD:
		return false;
	case ARCH_SPACE_FIXED:
		return !is_mapped(move, memory, write);
	case ARCH_SPACE_BASE:
		range = state_range_of(&move->state, memory);
		return !state_is_stack(&move->state, &range.address) &&
		       (range.address.base != STATE_THREAD ||
			!state_is_linear(&move->state, &range.address));
	case ARCH_SPACE_UNKNOWN:
		break;
	}
	return true;
}

/* May the probe be on the other side of the instruction? The state is the one
 * before it. */
static bool may_cross(const struct move *move, size_t index,
		      const struct arch_effect *effect)
{
	const struct block_insn *insn = &move->block->insns[index];
	bool returns = index + 1 == move->block->count &&
		       insn->insn.flow == ARCH_FLOW_RETURN;
	bool faults = effect->traps;

	if (insn->insn.flow != ARCH_FLOW_NEXT && !returns)
		return !move_report(move, "", index, " leads elsewhere");
	for (size_t i = 0; i < effect->read_count; i++)
		faults |= may_fault(move, &effect->reads[i], false);
	for (size_t i = 0; i < effect->write_count; i++)
		faults |= may_fault(move, &effect->writes[i], true);
	return (!effect->faults && (!faults || move->mode == MOVE_FAST)) ||
	       !move_report(move, "", index, " may fault");
}

/* What is known before the instruction is what holds anywhere. */
static void begin_at(struct move *move, size_t index)
{
	const struct arch *arch = move->module->arch;
	uint64_t address = move->block->insns[index].address;
	uint64_t number;
	struct bytes rpn = {0};
	struct error err = {0};
	struct rpn_op op;
	int64_t offset;
	int frame = -1;

	move->entry = !index && move->block->entry;
	state_end(&move->state);
	/* the register that the frame begins at a distance from */
	if (!move->entry &&
	    !dwarf_frame_address_emit(move->dwarf, move->module, address, &rpn,
				      &err) &&
	    !rpn.failed && rpn_single(rpn.data, rpn.size, &op) &&
	    rpn_is_register(&op, &number, &offset) && number < ARCH_REGISTERS)
		frame = number;
	bytes_free(&rpn);
	state_begin(&move->state, arch, frame, move->entry || !arch->red_zone);
}

/* Follows the block up to the later of the two addresses. False: why, or no
 * memory. */
static bool follow_block(struct move *move)
{
	struct arch_effect effect;

	begin_at(move, 0);
	for (size_t i = 0;; i++) {
		if (i == move->low) {
			memcpy(move->registers_low, move->state.registers,
			       sizeof(move->registers_low));
			memcpy(move->vectors_low, move->state.low,
			       sizeof(move->vectors_low));
		}
		if (i == move->high || move->state.failed)
			return !move->state.failed;
		if (!move_effect_find(move, i, &effect)) {
			if (i >= move->low)
				return !move_report(move, "what ", i,
						    " does isn't known");
			begin_at(move, i + 1);
			continue;
		}
		if (i >= move->low && !may_cross(move, i, &effect))
			return false;
		if (i >= move->low && effect.flags && move->flags == SIZE_MAX)
			move->flags = i;
		state_step(&move->state, i, &move->block->insns[i].insn,
			   &effect);
	}
}

struct move *move_begin(const struct block *block, struct module *module,
			struct dwarf_file *dwarf, enum move_mode mode,
			size_t nominal, size_t site, char *why)
{
	struct move *move = calloc(1, sizeof(*move));
	const struct state_value *before, *after;

	*why = 0;
	if (!move)
		return NULL;
	*move = (struct move) {
		.block = block, .module = module, .dwarf = dwarf, .mode = mode,
		.wide = module->elf_class == ELFCLASS64,
		.nominal = nominal, .site = site,
		.low = nominal < site ? nominal : site,
		.high = nominal < site ? site : nominal,
		.flags = SIZE_MAX, .why = why,
	};
	if (mode == MOVE_NEVER || nominal >= block->count ||
	    site > block->count ||
	    (site == block->count &&
	     block->insns[block->count - 1].insn.flow != ARCH_FLOW_RETURN)) {
		move_report_text(move, "it isn't on the same way");
		move_end(move);
		return NULL;
	}
	if (!follow_block(move)) {
		move_end(move);
		return NULL;
	}
	move->at_nominal = nominal < site ? move->registers_low :
					    move->state.registers;
	move->at_site = nominal < site ? move->state.registers :
					 move->registers_low;
	move->vectors_nominal = nominal < site ? move->vectors_low :
						 move->state.low;
	move->vectors_site = nominal < site ? move->state.low :
					      move->vectors_low;
	/* is the stack pointer above what it was, or may it be? */
	before = &move->at_nominal[move->state.stack];
	after = &move->at_site[move->state.stack];
	move->gone = site > nominal && (after->base != before->base ||
					!state_is_linear(&move->state, after) ||
					after->add > before->add);
	return move;
}

void move_end(struct move *move)
{
	state_end(&move->state);
	free(move);
}

static int check_entry(const struct move *move, const struct move_entry *entry)
{
	return entry->missing < 0 ? 0 :
				    move_report_register(move, entry->missing);
}

static int move_value(const struct move *move, const uint8_t *table,
		      uint32_t *at, uint32_t *length, unsigned int need)
{
	size_t start = move->rpn->size;
	struct move_entry entry;
	int code = move_rpn(move, table + *at, *length, false, need, &entry);

	*at = start;
	*length = move->rpn->size - start;
	return code ? code : check_entry(move, &entry);
}

/* The low `need` bytes of a register. */
static int move_register_value(const struct move *move, unsigned int number,
			       unsigned int need)
{
	uint32_t at = 0, length;
	struct bytes one = {0};
	int code = -ENOMEM;

	rpn_emit_register(&one, number, 0);
	length = one.size;
	if (!one.failed)
		code = move_value(move, one.data, &at, &length, need);
	bytes_free(&one);
	return code;
}

int move_register(struct move *move, unsigned int number, struct bytes *rpn,
		  char *why)
{
	*why = 0;
	move->why = why;
	move->rpn = rpn;
	return move_register_value(move, number, move->state.width);
}

/* A register is another one there, or no longer one. */
static int move_reg(struct move *move, const struct tdf_stmt *in,
		    struct tdf_stmt *out)
{
	uint32_t at = move->rpn->size;
	uint64_t number;
	struct rpn_op op;
	int64_t offset;
	int code = move_register_value(move, in->reg, in->reg_bytes);

	if (code)
		return code;
	if (rpn_single(move->rpn->data + at, move->rpn->size - at, &op) &&
	    rpn_is_register(&op, &number, &offset) && !offset) {
		out->reg = number;
		move->rpn->size = at;
		return 0;
	}
	*out = (struct tdf_stmt) {
		.kind = TDF_STMT_VALUE, .flags = TDF_STMT_RAW,
		.length = in->reg_bytes, .rpn = at,
		.rpn_length = move->rpn->size - at,
	};
	return 0;
}

/*
 * An address, of which so many bytes are read: as it is at the site; or, when
 * the memory there isn't the same but its value is available, *value is set and
 * the expression is that of the value.
 */
static int move_address(const struct move *move, const uint8_t *table,
			uint32_t *at, uint32_t *length, bool far,
			unsigned int bytes, bool *value)
{
	size_t start = move->rpn->size;
	struct move_entry entry;
	struct state_value found;
	unsigned int from;
	int code = move_rpn(move, table + *at, *length, far, move->state.width,
			    &entry);

	*at = start;
	*value = false;
	if (code)
		return code;
	if (far) {
		entry.value.base = STATE_NONE;
		entry.clean = entry.outside = false;
		bytes = 0;
	}
	code = move_memory_find(move, &entry, bytes, &found, &from);
	if (!code)
		code = check_entry(move, &entry);
	else if (code > 0)
		*value = true;
	if (*value) {
		move->rpn->size = start;
		code = !move_memory_emit(move, &found, from, bytes, bytes);
	}
	*length = move->rpn->size - start;
	return move->rpn->failed ? -ENOMEM : code != 0;
}

static int move_memory(const struct move *move, const struct tdf_stmt *in,
		       const uint8_t *table, struct tdf_stmt *out)
{
	/* of a string up to the zero, which may be read in pieces */
	unsigned int bytes = in->kind == TDF_STMT_MEM ? in->length :
							in->length + 8;
	bool value;
	int code = move_address(move, table, &out->rpn, &out->rpn_length,
				in->flags & TDF_STMT_SEGMENT, bytes, &value);

	if (code)
		return code;
	if (value && (in->kind != TDF_STMT_MEM || in->flags & TDF_STMT_LEN))
		return move_report_text(move, "it has a part of what is read "
					      "in a register");
	if (value)
		out->kind = TDF_STMT_VALUE;
	if (!(in->flags & TDF_STMT_LEN))
		return 0;
	if (in->flags & TDF_STMT_LEN_VALUE)
		return move_value(move, table, &out->len_rpn,
				  &out->len_rpn_length, 8);
	code = move_address(move, table, &out->len_rpn, &out->len_rpn_length,
			    in->flags & TDF_STMT_LEN_SEGMENT, in->len_bytes,
			    &value);
	if (code || !value)
		return code;
	rpn_emit_extend(move->rpn, in->len_bytes, false);
	out->len_rpn_length = move->rpn->size - out->len_rpn;
	out->flags |= TDF_STMT_LEN_VALUE;
	return 0;
}

/* It's what the register had at the beginning: the return address may have been
 * signed since, which leaves its low bytes alone (Arm ARM D8.10). */
static bool is_original(const struct move *move,
			const struct state_value *value, unsigned int number)
{
	const struct state *state = &move->state;
	bool link = (int)number == state->arch->link;

	if (value->base >= STATE_OTHERS && link)
		value = &state->others[value->base - STATE_OTHERS].copied;
	if (value->base != number || value->add)
		return false;
	return state_is_linear(state, value) ||
	       (link && value->bytes == 4 && value->known == 4);
}

/* What the register had at the beginning was saved there. */
static bool is_saved(const struct move *move, const struct state_value *pointer,
		     int64_t distance, unsigned int number)
{
	const struct state *state = &move->state;
	struct state_range saved = {
		.address = *pointer, .bytes = state->width,
	};
	const struct state_write *write;
	enum state_relation relation;

	saved.address.add += distance;
	write = state_write_find(state, &saved, SIZE_MAX, &relation);
	return write && relation == STATE_INSIDE &&
	       write->to.bytes == state->width &&
	       is_original(move, &write->value, number);
}

/* The frame pointer leads to the caller's frame: it is unchanged, or points to
 * where the function saved it, below the return address. */
static bool leads_to_caller(const struct move *move,
			    const struct state_value *registers)
{
	const struct arch *arch = move->module->arch;
	const struct state_value *pointer = &registers[arch->frame];
	int64_t width = move->state.width;

	if (!state_is_linear(&move->state, pointer))
		return false;
	if (is_original(move, pointer, arch->frame))
		return arch->link < 0 ||
		       is_original(move, &registers[arch->link], arch->link);
	if (!move->entry || pointer->base != move->state.stack ||
	    !is_saved(move, pointer, 0, arch->frame))
		return false;
	return arch->link < 0 ? pointer->add == -width :
	       pointer->add < 0 && is_saved(move, pointer, width, arch->link);
}

/* The frame's address, as it is described there, or else as it can be computed */
static int move_frame(struct move *move, const uint8_t *table,
		      struct tdf_stmt *out)
{
	size_t start = move->rpn->size;
	struct error err = {0};
	int code = dwarf_frame_address_emit(move->dwarf, move->module,
					    move->block->insns[move->site].address,
					    move->rpn, &err);

	if (code == -ENOMEM || move->rpn->failed)
		return -ENOMEM;
	if (!code) {
		out->rpn = start;
		out->rpn_length = move->rpn->size - start;
		return 0;
	}
	move->rpn->size = start;
	return move_value(move, table, &out->rpn, &out->rpn_length,
			  move->state.width);
}

/* Return addresses are found from the frame's address and the frame pointer;
 * after a return the first is the address itself (bpf/code/stack.c). */
static int move_stack(struct move *move, const struct tdf_stmt *in,
		      const uint8_t *table, struct tdf_stmt *out)
{
	const struct arch *arch = move->module->arch;
	const struct state_value *a = move->at_nominal, *b = move->at_site;
	bool same_frame = state_is_same(&move->state, &a[arch->frame],
					&b[arch->frame]);

	if (!(same_frame &&
	      (arch->link < 0 ||
	       state_is_same(&move->state, &a[arch->link], &b[arch->link]))) &&
	    !(leads_to_caller(move, a) && leads_to_caller(move, b)))
		return move_report_register(move, same_frame ?
					    (unsigned int)arch->link :
					    arch->frame);
	if (move->site == move->block->count) {
		out->rpn = out->rpn_length = 0;
		return 0;
	}
	if (!in->rpn_length)
		return move_report_text(move, "where the frame is isn't known");
	return move_frame(move, table, out);
}

int move_stmt(struct move *move, const struct tdf_stmt *in,
	      const uint8_t *table, struct tdf_stmt *out, struct bytes *rpn,
	      char *why)
{
	*why = 0;
	move->why = why;
	move->rpn = rpn;
	*out = *in;
	switch (in->kind) {
	case TDF_STMT_REG:
		return move_reg(move, in, out);
	case TDF_STMT_MEM:
	case TDF_STMT_ASCIIZ:
		return move_memory(move, in, table, out);
	case TDF_STMT_VALUE:
	case TDF_STMT_IF:
		return move_value(move, table, &out->rpn, &out->rpn_length,
				  in->kind == TDF_STMT_IF ? 8 : in->length);
	case TDF_STMT_BY:
		if (in->reg == TDF_BY_STACK)
			return move_stack(move, in, table, out);
		return move_value(move, table, &out->rpn, &out->rpn_length,
				  in->reg == TDF_BY_TEXT ? move->state.width :
							   8);
	case TDF_STMT_AGGREGATE:
		return in->rpn_length ?
			move_value(move, table, &out->rpn, &out->rpn_length,
				   8) : 0;
	case TDF_STMT_STACK:
		return move_stack(move, in, table, out);
	case TDF_STMT_KEY:
		/* a goroutine is more than a frame */
		return runtime_find(move->module) & RUNTIME_GO ?
			move_value(move, table, &out->rpn, &out->rpn_length,
				   8) : move_frame(move, table, out);
	default:
		return 0;
	}
}
