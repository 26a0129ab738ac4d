// SPDX-License-Identifier: GPL-2.0
/*
 * What the running thread has published for OpenTelemetry: the keeper finds where its
 * process has the variable (lib/arm/otel.h). The hit is of this thread, so that
 * nothing changes meanwhile; what it was changing itself is marked.
 */
#include <rastrace/unwind.h>
#include "gen.h"

#define OTEL(field)	((int)(offsetof(struct unwind_process, otel) + \
			       offsetof(struct unwind_otel, field)))
#define OTEL_AT(field)	((int)offsetof(struct ras_otel, field))
#define OTEL_READ	26	/* ids, whether they are valid, flags */

/* The word at `address` of the process, back in it */
static void word_read(struct gen *gen, int address, code_label failed)
{
	code_slot slot = code_slot_new(gen->c, 8);
	struct code *c = gen->c;

	code_slot_address(c, R1, slot, 0);
	code_alu_imm(c, BPF_MOV, R2, 8);
	code_move(c, R3, address);
	code_call(c, BPF_FUNC_probe_read_user);
	code_jump_imm(c, BPF_JNE, R0, 0, failed);
	code_slot_load(c, 8, address, slot, 0);
}

/* address = that of the variable, else to `done` with the status */
static void variable_find(struct gen *gen, int address, int process,
			  code_label done)
{
	uint32_t base = gen->plan->target->layout->thread_base[0];
	code_label own = code_label_new(gen->c);
	int status = gen->place.off + OTEL_AT(status);
	struct code *c = gen->c;
	int table;

	code_call(c, BPF_FUNC_get_current_task);
	member_load(gen, address, 8, R0, base, done);
	code_load(c, 4, R1, process, OTEL(kind));
	code_jump_imm(c, BPF_JNE, R1, UNWIND_OTEL_TABLE, own);
	table = temp_load(gen, 4, process, OTEL(table));
	code_alu(c, BPF_ADD, address, table);
	word_read(gen, address, done);
	code_load(c, 8, R1, process, OTEL(entry));
	code_alu(c, BPF_ADD, address, R1);
	word_read(gen, address, done);
	/* the thread's block is made when it is first used; -1 until then */
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_NONE);
	code_jump_imm(c, BPF_JEQ, address, 0, done);
	code_jump_imm(c, BPF_JEQ, address, -1, done);
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_UNREADABLE);
	code_label_place(c, own);
	code_load(c, 8, R1, process, OTEL(offset));
	code_alu(c, BPF_ADD, address, R1);
}

void otel_generate(struct gen *gen)
{
	int address = code_temp_new(gen->c), process = code_temp_new(gen->c);
	int at = gen->place.off, status = at + OTEL_AT(status);
	code_label done = code_label_new(gen->c);
	struct code *c = gen->c;

	for (int i = 0; i < (int)sizeof(struct ras_otel); i += 8)
		code_store_imm(c, 8, RECORD, at + i, 0);
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_UNKNOWN);
	unwind_process_find(gen, process);
	code_jump_imm(c, BPF_JEQ, process, 0, done);
	code_load(c, 4, R1, process, OTEL(kind));
	code_jump_imm(c, BPF_JEQ, R1, UNWIND_OTEL_UNKNOWN, done);
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_NONE);
	code_jump_imm(c, BPF_JEQ, R1, UNWIND_OTEL_NONE, done);
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_UNREADABLE);
	variable_find(gen, address, process, done);
	word_read(gen, address, done);
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_NONE);
	code_jump_imm(c, BPF_JEQ, address, 0, done);
	code_move(c, R1, RECORD);
	code_alu_imm(c, BPF_ADD, R1, at);
	code_alu_imm(c, BPF_MOV, R2, OTEL_READ);
	code_move(c, R3, address);
	code_call(c, BPF_FUNC_probe_read_user);
	code_load(c, 1, R1, RECORD, status);
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_UNREADABLE);
	code_jump_imm(c, BPF_JNE, R0, 0, done);
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_VALID);
	code_jump_imm(c, BPF_JEQ, R1, 1, done);
	code_store_imm(c, 1, RECORD, status, RAS_OTEL_INVALID);
	code_label_place(c, done);
	gen->place.off += sizeof(struct ras_otel);
}
