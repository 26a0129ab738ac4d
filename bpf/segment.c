// SPDX-License-Identifier: GPL-2.0
/*
 * Segmented addresses (Intel SDM 3A, sections 3.4.2 to 3.4.5, 5.3): the
 * descriptor of the selector is read from where the kernel keeps it, the LDT of
 * the process (modify_ldt) or the thread's entries of the GDT
 * (set_thread_area), and checked as the processor does when the selector is
 * loaded and used by a read. The other entries that user space can load are
 * flat.
 */
#include "gen.h"

#include <errno.h>

/* asm/segment.h of x86-64 */
#define GDT_USER32_CS	4
#define GDT_USER_DS	5
#define GDT_USER_CS	6
#define GDT_TLS		12
#define GDT_TLS_ENTRIES	3

#define SELECTOR(index)	((index) << 3 | 3)	/* of the GDT, for user space */

#define ACCESS_SHIFT	40	/* from a descriptor to what follows */
#define ACCESS_TYPE_DOWN	0x04	/* data: expands down */
#define ACCESS_TYPE_READ	0x02	/* code: can be read */
#define ACCESS_TYPE_CODE	0x08
#define ACCESS_USABLE	0xf0	/* present, privilege level 3, no system one */
#define ACCESS_BIG	0x4000
#define ACCESS_PAGES	0x8000	/* the limit is in units of 4096 */

#define ROOM_FLAT	0x7fffffff	/* more than is ever asked for */
#define FRAME_OFFSET(gen) FRAME_LINEAR(gen)	/* until it is added */

struct segment {
	struct gen *gen;
	struct emit *e;
	const struct body_layout *layout;
	uint32_t bytes;
	emit_label bad, descriptor, flat, done;
};

/* Which register the selector is the value of, if any. */
static enum arch_segment bpf_segment_of(const struct gen_value *selector)
{
	return selector->add ? SEGMENT_NONE : selector->segment;
}

/* r1 = the selector. An empty register of a 32-bit task can't be what the
 * program has: the kernel has not seen it yet. Then it is what programs are
 * started with, and C libraries load for the thread pointer. */
static void selector_load(struct segment *s, const struct gen_value *selector)
{
	enum arch_segment segment = bpf_segment_of(selector);
	emit_label given = emit_label_new(s->e);
	struct emit *e = s->e;

	rpn_value_load(s->gen, selector, R1);
	emit_alu_imm(e, BPF_AND, R1, 0xffff);
	if (s->gen->fresh ||
	    (segment != SEGMENT_FLAT && segment != SEGMENT_GS))
		return;
	emit_jump_imm(e, BPF_JGT, R1, 3, given);
	emit_alu_imm(e, BPF_MOV, R1, segment == SEGMENT_GS ?
		     SELECTOR(GDT_TLS) : SELECTOR(GDT_USER_DS));
	emit_label_place(e, given);
}

/* Selector and offset into the frame; r1 = the selector. */
static void far_store(struct segment *s, const struct gen_value *selector,
		      const struct gen_value *offset)
{
	struct emit *e = s->e;

	rpn_value_load(s->gen, offset, R2);
	emit_store(e, 8, FP, FRAME_OFFSET(s->gen), R2);
	selector_load(s, selector);
	emit_alu(e, BPF_MOV, R3, R1);
	emit_alu_imm(e, BPF_LSH, R3, 32);
	emit_load(e, 4, R2, FP, FRAME_OFFSET(s->gen));
	emit_alu(e, BPF_OR, R3, R2);
	emit_store(e, 8, FP, FRAME_FAR(s->gen), R3);
}

/* r1 = `bytes` of the kernel's memory at r1 + offset */
static void segment_kernel_read(struct segment *s, int bytes, uint32_t offset)
{
	struct emit *e = s->e;

	emit_alu(e, BPF_MOV, R3, R1);
	if (offset)
		emit_alu_imm(e, BPF_ADD, R3, offset);
	emit_alu_imm(e, BPF_MOV, R2, bytes);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_DESC(s->gen));
	emit_call(e, BPF_FUNC_probe_read_kernel);
	emit_jump_imm(e, BPF_JNE, R0, 0, s->bad);
	emit_load(e, bytes, R1, FP, FRAME_DESC(s->gen));
}

/* r2 = index of the selector in its table */
static void index_load(struct segment *s)
{
	emit_load(s->e, 4, R2, FP, FRAME_FAR(s->gen) + 4);
	emit_alu_imm(s->e, BPF_RSH, R2, 3);
}

/* r1 = address of the thread's descriptor */
static void tls_find(struct segment *s)
{
	struct emit *e = s->e;

	index_load(s);
	emit_alu_imm(e, BPF_SUB, R2, GDT_TLS);
	emit_jump_imm(e, BPF_JGT, R2, GDT_TLS_ENTRIES - 1, s->bad);
	emit_alu_imm(e, BPF_LSH, R2, 3);
	emit_store(e, 8, FP, FRAME_ROOM(s->gen), R2);
	emit_call(e, BPF_FUNC_get_current_task);
	emit_alu(e, BPF_MOV, R1, R0);
	emit_load(e, 8, R2, FP, FRAME_ROOM(s->gen));
	emit_alu(e, BPF_ADD, R1, R2);
	emit_alu_imm(e, BPF_ADD, R1, s->layout->tls_array);
	emit_jump(e, s->descriptor);
}

/* r1 = address of the process's descriptor */
static void ldt_find(struct segment *s)
{
	const struct body_layout *layout = s->layout;
	struct emit *e = s->e;

	if (!layout->mm_ldt) {
		emit_jump(e, s->bad);
		return;
	}
	emit_call(e, BPF_FUNC_get_current_task);
	emit_alu(e, BPF_MOV, R1, R0);
	segment_kernel_read(s, 8, layout->task_mm);
	segment_kernel_read(s, 8, layout->mm_ldt);
	emit_jump_imm(e, BPF_JEQ, R1, 0, s->bad);
	emit_store(e, 8, FP, FRAME_ROOM(s->gen), R1);
	segment_kernel_read(s, 4, layout->ldt_count);
	index_load(s);
	emit_jump_if(e, BPF_JGE, R2, R1, s->bad);
	emit_load(e, 8, R1, FP, FRAME_ROOM(s->gen));
	segment_kernel_read(s, 8, layout->ldt_entries);
	index_load(s);
	emit_alu_imm(e, BPF_LSH, R2, 3);
	emit_alu(e, BPF_ADD, R1, R2);
	emit_jump(e, s->descriptor);
}

/* r4 = the offset, which has 32 bits */
static void offset_load(struct segment *s)
{
	emit_load(s->e, 8, R4, FP, FRAME_OFFSET(s->gen));
	emit_alu(s->e, BPF_MOV, R5, R4);
	emit_alu_imm(s->e, BPF_RSH, R5, 32);
	emit_jump_imm(s->e, BPF_JNE, R5, 0, s->bad);
}

/* r3 is the last offset, r4 the one that is meant. */
static void segment_room_check(struct segment *s)
{
	struct emit *e = s->e;

	emit_jump_if(e, BPF_JGT, R4, R3, s->bad);
	emit_alu(e, BPF_SUB, R3, R4);
	emit_alu_imm(e, BPF_ADD, R3, 1);
	emit_store(e, 8, FP, FRAME_ROOM(s->gen), R3);
	emit_jump_imm(e, BPF_JLT, R3, s->bytes, s->bad);
}

/* r1 is the descriptor, r2 its part above ACCESS_SHIFT; r3 = its limit */
static void limit_load(struct segment *s)
{
	emit_label exact = emit_label_new(s->e);
	struct emit *e = s->e;

	emit_alu(e, BPF_MOV, R3, R1);
	emit_alu_imm(e, BPF_AND, R3, 0xffff);
	emit_alu(e, BPF_MOV, R4, R1);
	emit_alu_imm(e, BPF_RSH, R4, 32);
	emit_alu_imm(e, BPF_AND, R4, 0xf0000);
	emit_alu(e, BPF_OR, R3, R4);
	emit_alu(e, BPF_MOV, R4, R2);
	emit_alu_imm(e, BPF_AND, R4, ACCESS_PAGES);
	emit_jump_imm(e, BPF_JEQ, R4, 0, exact);
	emit_alu_imm(e, BPF_LSH, R3, 12);
	emit_alu_imm(e, BPF_OR, R3, 0xfff);
	emit_label_place(e, exact);
}

/* The limit of a segment that expands down is below its first offset. */
static void down_check(struct segment *s, emit_label up)
{
	struct emit *e = s->e;

	emit_alu(e, BPF_MOV, R5, R2);
	emit_alu_imm(e, BPF_AND, R5, ACCESS_TYPE_CODE | ACCESS_TYPE_DOWN);
	emit_jump_imm(e, BPF_JNE, R5, ACCESS_TYPE_DOWN, up);
	emit_jump_if(e, BPF_JLE, R4, R3, s->bad);
	emit_alu_imm(e, BPF_MOV, R3, UINT16_MAX);
	emit_alu_imm(e, BPF_AND, R2, ACCESS_BIG);
	emit_jump_imm(e, BPF_JEQ, R2, 0, up);
	emit_const(e, R3, UINT32_MAX);
}

/* r1 is the descriptor; the address of the offset */
static void descriptor_apply(struct segment *s)
{
	emit_label up = emit_label_new(s->e);
	struct emit *e = s->e;

	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu_imm(e, BPF_RSH, R2, ACCESS_SHIFT);
	emit_alu(e, BPF_MOV, R3, R2);
	emit_alu_imm(e, BPF_AND, R3, ACCESS_USABLE);
	emit_jump_imm(e, BPF_JNE, R3, ACCESS_USABLE, s->bad);
	emit_alu(e, BPF_MOV, R3, R2);
	emit_alu_imm(e, BPF_AND, R3, ACCESS_TYPE_CODE | ACCESS_TYPE_READ);
	emit_jump_imm(e, BPF_JEQ, R3, ACCESS_TYPE_CODE, s->bad);
	limit_load(s);
	offset_load(s);
	down_check(s, up);
	emit_label_place(e, up);
	segment_room_check(s);
	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu_imm(e, BPF_RSH, R2, 16);
	emit_alu_imm(e, BPF_AND, R2, 0xffffff);
	emit_alu_imm(e, BPF_RSH, R1, 56);
	emit_alu_imm(e, BPF_LSH, R1, 24);
	emit_alu(e, BPF_OR, R1, R2);
	emit_alu(e, BPF_ADD, R1, R4);
	emit_zext32(e, R1);
	emit_store(e, 8, FP, FRAME_LINEAR(s->gen), R1);
}

static void flat_room(struct segment *s)
{
	if (!s->gen->flat32) {
		emit_store_imm(s->e, 8, FP, FRAME_ROOM(s->gen), ROOM_FLAT);
		return;
	}
	offset_load(s);
	emit_const(s->e, R3, UINT32_MAX);
	segment_room_check(s);
}

static void by_descriptor(struct segment *s, const struct gen_value *selector,
			  const struct gen_value *offset)
{
	static const int flat[] = { GDT_USER32_CS, GDT_USER_DS, GDT_USER_CS };
	emit_label ldt = emit_label_new(s->e);
	struct emit *e = s->e;

	far_store(s, selector, offset);
	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu_imm(e, BPF_AND, R2, 4);
	emit_jump_imm(e, BPF_JNE, R2, 0, ldt);
	emit_alu_imm(e, BPF_RSH, R1, 3);
	for (size_t i = 0; i < sizeof(flat) / sizeof(*flat); i++)
		emit_jump_imm(e, BPF_JEQ, R1, flat[i], s->flat);
	tls_find(s);
	emit_label_place(e, ldt);
	ldt_find(s);
	if (emit_label_used(e, s->descriptor)) {
		emit_label_place(e, s->descriptor);
		segment_kernel_read(s, 8, 0);
		descriptor_apply(s);
		emit_jump(e, s->done);
	}
	emit_label_place(e, s->flat);
	flat_room(s);
	emit_label_place(e, s->done);
}

/* 64-bit tasks: no limits, and a base only of FS and GS (SDM 3A, 3.2.4). */
static void by_base(struct segment *s, enum arch_segment segment,
		    const struct gen_value *offset)
{
	uint32_t base = s->layout->thread_base[segment == SEGMENT_GS];
	struct emit *e = s->e;

	if (segment == SEGMENT_FLAT) {
		rpn_value_load(s->gen, offset, R1);
	} else {
		emit_call(e, BPF_FUNC_get_current_task_btf);
		emit_load(e, 8, R2, R0, base);
		rpn_value_load(s->gen, offset, R1);
		emit_alu(e, BPF_ADD, R1, R2);
	}
	emit_store(e, 8, FP, FRAME_LINEAR(s->gen), R1);
	emit_store_imm(e, 8, FP, FRAME_ROOM(s->gen), ROOM_FLAT);
}

static void layout_check(struct segment *s)
{
	const struct body_layout *layout = s->layout;

	if (!s->gen->cpu->segments)
		gen_fail(s->gen, -EOPNOTSUPP,
			 "machine %u has no segmented addresses",
			 s->gen->machine);
	else if (s->gen->target->context == BODY_KPROBE)
		gen_fail(s->gen, -EOPNOTSUPP,
			 "the kernel's memory has no segmented addresses");
	else if (!layout || !layout->tls_array || !layout->thread_base[0] ||
		 !layout->thread_base[1])
		gen_fail(s->gen, -EOPNOTSUPP,
			 "segmented addresses can't be read: this kernel has no BTF");
}

void segment_generate(struct gen *gen, const struct gen_value *selector,
		      const struct gen_value *offset, uint32_t bytes,
		      struct gen_value *result)
{
	struct stub *bad = stub_new(gen, STUB_SELECTOR);
	struct segment s = {
		.gen = gen, .e = &gen->e, .layout = gen->target->layout,
		.bytes = bytes, .descriptor = emit_label_new(&gen->e),
		.flat = emit_label_new(&gen->e),
		.done = emit_label_new(&gen->e),
	};

	*result = (struct gen_value){
		.kind = VALUE_MEMORY, .base = FP, .off = FRAME_LINEAR(gen),
		.bytes = 8,
	};
	layout_check(&s);
	if (!bad || gen->e.error)
		return;
	bad->value = (struct gen_value){
		.kind = VALUE_MEMORY, .base = FP, .off = FRAME_FAR(gen),
		.bytes = 8,
	};
	s.bad = bad->enter;
	if (gen->deepest > FRAME_DESC(gen))
		gen->deepest = FRAME_DESC(gen);
	if (gen->flat32 || bpf_segment_of(selector) == SEGMENT_NONE)
		by_descriptor(&s, selector, offset);
	else
		by_base(&s, bpf_segment_of(selector), offset);
}
