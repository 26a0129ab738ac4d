// SPDX-License-Identifier: GPL-2.0
/*
 * Of all registers, the rules of three matter: the CFA, the frame pointer and
 * the address to return to. Rules that a row can't hold become UNWIND_NONE.
 */
#include "cfi_module.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/array.h"
#include "cfi.h"

#define BLOCK_BYTES	(1u << UNWIND_BLOCK_SHIFT)
#define ENTRIES		(sizeof(((struct unwind_blocks *)0)->entries) / \
			 sizeof(uint32_t))

/* Add one; the rows of a function follow each other. */
static void cfi_rows_add(struct cfi_rows *rows, const struct unwind_row *row)
{
	if (rows->failed)
		return;
	if (!array_grow(&rows->items, rows->count, &rows->room,
			sizeof(*rows->items))) {
		rows->failed = true;
		return;
	}
	rows->items[rows->count++] = *row;
}

/* At the same place an end is before a beginning: the last one is kept. */
static int cfi_row_compare(const void *a, const void *b)
{
	const struct unwind_row *x = a, *y = b;

	return array_order(x->pc, y->pc) ?:
	       array_order(x->kind != UNWIND_FRAME, y->kind != UNWIND_FRAME);
}

static bool row_same(const struct unwind_row *a, const struct unwind_row *b)
{
	return a->kind == b->kind && a->cfa == b->cfa && a->fp == b->fp &&
	       a->link == b->link;
}

/* Ascending, each differs from the one before, and pc 0 has one. What functions
 * end with (UNWIND_FRAME) gives way to a function that begins there. */
static void cfi_rows_sort(struct cfi_rows *rows)
{
	struct unwind_row first = { .kind = UNWIND_FRAME };
	size_t kept = 0;

	cfi_rows_add(rows, &first);
	if (rows->failed)
		return;
	qsort(rows->items, rows->count, sizeof(*rows->items), cfi_row_compare);
	for (size_t i = 0; i < rows->count; i++) {
		struct unwind_row *row = &rows->items[i];

		if (i + 1 < rows->count && row[1].pc == row->pc)
			continue;
		if (kept && row_same(&rows->items[kept - 1], row))
			continue;
		rows->items[kept++] = *row;
	}
	rows->count = kept;
}

uint32_t cfi_rows_blocks(uint64_t bytes)
{
	return (bytes / BLOCK_BYTES + ENTRIES) / ENTRIES;
}

void cfi_rows_index(const struct cfi_rows *rows, struct unwind_blocks *blocks,
		    uint32_t count)
{
	uint64_t row = 0;

	for (uint64_t i = 0; i < count * ENTRIES; i++) {
		uint64_t begin = i * BLOCK_BYTES, end = begin + BLOCK_BYTES;
		uint64_t next;

		while (row + 1 < rows->count &&
		       rows->items[row + 1].pc <= begin)
			row++;
		for (next = row + 1; next < rows->count &&
		     rows->items[next].pc < end; next++)
			;
		blocks[i / ENTRIES].entries[i % ENTRIES] =
			row << 8 | (next - row - 1);
		row = next - 1;
	}
}

/* DWARF numbers of registers (psABI, aadwarf64 4.1) */
static const struct cfi_machine {
	uint16_t machine;	/* ELF's */
	uint8_t elf_class;
	uint64_t sp, fp;
	uint64_t ip;		/* as expressions of .plt name it */
	int context_sp;		/* offset of the stack pointer in struct
				 * sigcontext */
	int signal;		/* bytes from the stack pointer of a signal's
				 * handler to struct sigcontext; 0: call frame
				 * information has it */
	bool link;		/* calls leave the address to return to in a
				 * register */
} machines[] = {
	{ EM_386, ELFCLASS32, 4, 5, 8, 28, 0, false },
	{ EM_X86_64, ELFCLASS64, 7, 6, 16, 120, 0, false },
	/* asm/signal.c in the kernel: struct rt_sigframe is siginfo and
	 * ucontext, which has sigcontext at 176 */
	{ EM_AARCH64, ELFCLASS64, 31, 29, 32, 256, 128 + 176, true },
};

/* Of ELF's e_machine and class; NULL: not known. */
static const struct cfi_machine *cfi_machine_find(uint16_t machine,
						  uint8_t elf_class)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine &&
		    machines[i].elf_class == elf_class)
			return &machines[i];
	return NULL;
}

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
static void rule_run(struct cfi_run *run, uint8_t code, uint64_t number,
		     struct cursor *c)
{
	uint64_t align = run->function->data_align;
	struct cfi_rule *rule = rule_of(run, &run->state, number);
	struct cfi_rule set = { .kind = RULE_OTHER };

	switch (code) {
	case DW_CFA_offset:
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
	case DW_CFA_restore:
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

	if ((code & 0xc0) == DW_CFA_advance_loc) {
		location_set(run, run->location + number * step);
		return;
	}
	if (code & 0xc0) {
		rule_run(run, code & 0xc0, number, c);
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
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
		state->is_expression = false;
		state->cfa_register = cursor_uleb(c);
		if (code == DW_CFA_def_cfa_register)
			break;
		/* fall through */
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		state->cfa_offset = code == DW_CFA_def_cfa ||
				    code == DW_CFA_def_cfa_offset ?
			cursor_uleb(c) : cursor_sleb(c) * align;
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
		rule_run(run, code, cursor_uleb(c), c);
	}
}

static void instructions_run(struct cfi_run *run, struct cursor c)
{
	while (c.at < c.end && !run->failed && !c.failed)
		instruction_run(run, &c);
	run->failed |= c.failed;
}

/* Add the rows of a function; pc 0 is the address `lowest`. */
static void cfi_program_run(const struct cfi_function *function,
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

#define SCAN_MOST	(16 << 20)	/* bytes of code: a C library's, the vDSO's */

struct cfi_reader {
	struct cfi_module *module;
	const struct cfi_machine *machine;
	uint64_t lowest;	/* address that is pc 0 */
};

/* Which addresses the file has code at */
static bool loads_read(struct cfi_reader *reader, Elf *elf)
{
	struct cfi_module *module = reader->module;
	uint64_t page = sysconf(_SC_PAGESIZE), lowest = UINT64_MAX;
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD &&
		    (ph.p_vaddr & ~(page - 1)) < lowest)
			lowest = ph.p_vaddr & ~(page - 1);
	for (size_t i = 0; i < count; i++) {
		struct cfi_load *load = &module->loads[module->load_count];
		uint64_t slack;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || module->load_count == CFI_LOADS)
			continue;
		slack = ph.p_offset & (page - 1);
		if (ph.p_filesz > UINT32_MAX - page ||
		    ph.p_vaddr - lowest > UINT32_MAX - ph.p_filesz - page ||
		    ph.p_offset > INT64_MAX ||
		    slack != (ph.p_vaddr & (page - 1)))
			continue;
		load->offset = ph.p_offset - slack;
		load->file_bytes = ph.p_filesz + slack;
		load->bytes = (load->file_bytes + page - 1) & ~(page - 1);
		load->pc = ph.p_vaddr - slack - lowest;
		if (load->pc + load->bytes > module->bytes)
			module->bytes = load->pc + load->bytes;
		module->load_count++;
	}
	reader->lowest = lowest;
	return module->load_count;
}

/* Without sections: .eh_frame_hdr (LSB Core) has the address of .eh_frame, but
 * not its end, which four zeros mark. */
static void cfi_segment_find(Elf *elf, struct cfi_section *section)
{
	Elf_Data *data = NULL;
	struct cursor header;
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && !data; i++)
		if (gelf_getphdr(elf, i, &ph) &&
		    ph.p_type == PT_GNU_EH_FRAME && ph.p_filesz >= 8 &&
		    ph.p_offset < INT64_MAX)
			data = elf_getdata_rawchunk(elf, ph.p_offset, 16,
						    ELF_T_BYTE);
	if (!data || data->d_size < 16)
		return;
	header = (struct cursor) {
		.at = (uint8_t *)data->d_buf + 4,
		.end = (uint8_t *)data->d_buf + data->d_size,
		.address = ph.p_vaddr + 4,
	};
	section->address = cfi_pointer(&header, ((uint8_t *)data->d_buf)[1],
				       section->word);
	for (size_t i = 0; i < count && !header.failed; i++) {
		uint64_t at;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    section->address - ph.p_vaddr >= ph.p_filesz)
			continue;
		at = section->address - ph.p_vaddr;
		data = elf_getdata_rawchunk(elf, ph.p_offset + at,
					    ph.p_filesz - at, ELF_T_BYTE);
		section->bytes = data ? data->d_buf : NULL;
		section->size = section->bytes ? data->d_size : 0;
		return;
	}
}

static int function_take(void *context, const struct cfi_function *function)
{
	const struct cfi_reader *reader = context;
	struct cfi_module *module = reader->module;
	uint64_t end = reader->lowest + module->bytes;

	if (function->begin >= reader->lowest && function->begin < end &&
	    function->end <= end)
		cfi_program_run(function, reader->machine, reader->lowest,
				&module->rows);
	return module->rows.failed;
}

/*
 * The code that a signal's handler returns to has no call frame information. It
 * is known by its instructions (arch/arm64/kernel/vdso/sigreturn.S, "don't
 * touch": mov x8, #__NR_rt_sigreturn; svc #0). Its row begins before it, where an
 * address to return to is looked up.
 */
static void signals_add(struct cfi_reader *reader, Elf *elf)
{
	static const uint8_t enter[8] = {
		0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4,
	};
	struct cfi_module *module = reader->module;
	unsigned int count = reader->machine->signal ? module->load_count : 0;

	for (unsigned int i = 0; i < count; i++) {
		const struct cfi_load *load = &module->loads[i];
		Elf_Data *code;

		if (load->file_bytes > SCAN_MOST)
			continue;
		code = elf_getdata_rawchunk(elf, load->offset,
					    load->file_bytes, ELF_T_BYTE);
		if (!code || !code->d_buf)
			continue;
		for (size_t at = 0; at + sizeof(enter) <= code->d_size;
		     at += 4) {
			struct unwind_row row = {
				.pc = load->pc + at - 4, .kind = UNWIND_SIGNAL,
				.cfa = reader->machine->signal,
			};

			if (load->pc + at < 4 ||
			    memcmp((uint8_t *)code->d_buf + at, enter,
				   sizeof(enter)))
				continue;
			cfi_rows_add(&module->rows, &row);
			row = (struct unwind_row) {
				.pc = load->pc + at + sizeof(enter),
				.kind = UNWIND_FRAME,
			};
			cfi_rows_add(&module->rows, &row);
		}
	}
}

static int cfi_elf_read(struct cfi_module *module, Elf *elf)
{
	struct cfi_reader reader = { .module = module };
	struct cfi_section section;
	GElf_Ehdr header;
	int code = -ENOEXEC;

	memset(module, 0, sizeof(*module));
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header))
		reader.machine = cfi_machine_find(header.e_machine,
						  header.e_ident[EI_CLASS]);
	if (reader.machine && loads_read(&reader, elf)) {
		if (!cfi_section_find(elf, &section))
			cfi_segment_find(elf, &section);
		cfi_each(&section, function_take, &reader);
		signals_add(&reader, elf);
		if (module->rows.count)
			cfi_rows_sort(&module->rows);
		code = module->rows.failed ? -ENOMEM : 0;
	}
	elf_end(elf);
	if (code)
		cfi_module_free(module);
	return code;
}

int cfi_module_read(struct cfi_module *module, int fd)
{
	elf_version(EV_CURRENT);
	return cfi_elf_read(module, elf_begin(fd, ELF_C_READ, NULL));
}

int cfi_module_read_image(struct cfi_module *module, void *image, size_t size)
{
	elf_version(EV_CURRENT);
	return cfi_elf_read(module, elf_memory(image, size));
}

void cfi_module_free(struct cfi_module *module)
{
	free(module->rows.items);
	memset(module, 0, sizeof(*module));
}
