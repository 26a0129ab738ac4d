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

struct segment {
	struct gen *gen;
	struct code *c;
	const struct body_layout *layout;
	uint32_t bytes;
	int selector;
	int linear;		/* the offset, until the base is added */
	int descriptor;		/* its address */
	code_label bad, found, flat, done;
};

/* Which register the selector is the value of, if any. */
static enum arch_segment bpf_segment_of(const struct gen_value *selector)
{
	return selector->add ? SEGMENT_NONE : selector->segment;
}

/* An empty register of a 32-bit task can't be what the program has: the kernel has
 * not seen it yet. Then it is what programs are started with, and C libraries
 * load for the thread pointer. */
static void selector_load(struct segment *s, const struct gen_value *selector)
{
	enum arch_segment segment = bpf_segment_of(selector);
	code_label given = code_label_new(s->c);
	struct code *c = s->c;

	gen_value_load(s->gen, selector, s->selector);
	code_alu_imm(c, BPF_AND, s->selector, 0xffff);
	if (s->gen->plan->fresh ||
	    (segment != SEGMENT_FLAT && segment != SEGMENT_GS))
		return;
	code_jump_imm(c, BPF_JGT, s->selector, 3, given);
	code_alu_imm(c, BPF_MOV, s->selector, segment == SEGMENT_GS ?
		     SELECTOR(GDT_TLS) : SELECTOR(GDT_USER_DS));
	code_label_place(c, given);
}

/* Selector and offset, also as gen->far */
static void far_store(struct segment *s, const struct gen_value *selector,
		      const struct gen_value *offset)
{
	struct code *c = s->c;
	int far;

	gen_value_load(s->gen, offset, s->linear);
	selector_load(s, selector);
	far = code_copy(c, s->selector);
	code_alu_imm(c, BPF_LSH, far, 32);
	code_move(c, R2, s->linear);
	code_zext32(c, R2);
	code_alu(c, BPF_OR, far, R2);
	code_slot_store(c, 8, s->gen->far, 0, far);
}

/* A temp with the index of the selector in its table */
static int index_load(struct segment *s)
{
	int index = code_copy(s->c, s->selector);

	code_alu_imm(s->c, BPF_RSH, index, 3);
	return index;
}

/* The thread's descriptor */
static void tls_find(struct segment *s)
{
	struct code *c = s->c;
	int index = index_load(s);

	code_alu_imm(c, BPF_SUB, index, GDT_TLS);
	code_jump_imm(c, BPF_JGT, index, GDT_TLS_ENTRIES - 1, s->bad);
	code_alu_imm(c, BPF_LSH, index, 3);
	code_call(c, BPF_FUNC_get_current_task);
	code_move(c, s->descriptor, R0);
	code_alu(c, BPF_ADD, s->descriptor, index);
	code_alu_imm(c, BPF_ADD, s->descriptor, s->layout->tls_array);
	code_jump(c, s->found);
}

/* The process's descriptor */
static void ldt_find(struct segment *s)
{
	const struct body_layout *layout = s->layout;
	struct code *c = s->c;
	int ldt = code_temp_new(c), index;

	if (!layout->mm_ldt) {
		code_jump(c, s->bad);
		return;
	}
	code_call(c, BPF_FUNC_get_current_task);
	member_load(s->gen, R0, 8, R0, layout->task_mm, s->bad);
	member_load(s->gen, ldt, 8, R0, layout->mm_ldt, s->bad);
	code_jump_imm(c, BPF_JEQ, ldt, 0, s->bad);
	member_load(s->gen, R0, 4, ldt, layout->ldt_count, s->bad);
	index = index_load(s);
	code_jump_if(c, BPF_JGE, index, R0, s->bad);
	member_load(s->gen, s->descriptor, 8, ldt, layout->ldt_entries,
		    s->bad);
	index = index_load(s);
	code_alu_imm(c, BPF_LSH, index, 3);
	code_alu(c, BPF_ADD, s->descriptor, index);
	code_jump(c, s->found);
}

/* The offset has 32 bits. */
static void offset_check(struct segment *s)
{
	int high = code_copy(s->c, s->linear);

	code_alu_imm(s->c, BPF_RSH, high, 32);
	code_jump_imm(s->c, BPF_JNE, high, 0, s->bad);
}

/* `last` is the last offset; it is changed. */
static void segment_room_check(struct segment *s, int last)
{
	struct code *c = s->c;

	code_jump_if(c, BPF_JGT, s->linear, last, s->bad);
	code_alu(c, BPF_SUB, last, s->linear);
	code_alu_imm(c, BPF_ADD, last, 1);
	code_move(c, s->gen->room, last);
	code_jump_imm(c, BPF_JLT, last, s->bytes, s->bad);
}

/* A temp with the limit of a descriptor, whose part above ACCESS_SHIFT is
 * `access` */
static int limit_load(struct segment *s, int descriptor, int access)
{
	code_label exact = code_label_new(s->c);
	struct code *c = s->c;
	int limit = code_copy(c, descriptor), part;

	code_alu_imm(c, BPF_AND, limit, 0xffff);
	part = code_copy(c, descriptor);
	code_alu_imm(c, BPF_RSH, part, 32);
	code_alu_imm(c, BPF_AND, part, 0xf0000);
	code_alu(c, BPF_OR, limit, part);
	part = code_copy(c, access);
	code_alu_imm(c, BPF_AND, part, ACCESS_PAGES);
	code_jump_imm(c, BPF_JEQ, part, 0, exact);
	code_alu_imm(c, BPF_LSH, limit, 12);
	code_alu_imm(c, BPF_OR, limit, 0xfff);
	code_label_place(c, exact);
	return limit;
}

/* The limit of a segment that expands down is below its first offset. It becomes
 * the last one. */
static void down_check(struct segment *s, int access, int limit)
{
	code_label up = code_label_new(s->c);
	struct code *c = s->c;
	int type = code_copy(c, access);

	code_alu_imm(c, BPF_AND, type, ACCESS_TYPE_CODE | ACCESS_TYPE_DOWN);
	code_jump_imm(c, BPF_JNE, type, ACCESS_TYPE_DOWN, up);
	code_jump_if(c, BPF_JLE, s->linear, limit, s->bad);
	code_alu_imm(c, BPF_MOV, limit, UINT16_MAX);
	type = code_copy(c, access);
	code_alu_imm(c, BPF_AND, type, ACCESS_BIG);
	code_jump_imm(c, BPF_JEQ, type, 0, up);
	code_const(c, limit, UINT32_MAX);
	code_label_place(c, up);
}

/* The address of the offset in the segment of the descriptor */
static void descriptor_apply(struct segment *s, int descriptor)
{
	struct code *c = s->c;
	int access = code_copy(c, descriptor), part, limit;

	code_alu_imm(c, BPF_RSH, access, ACCESS_SHIFT);
	part = code_copy(c, access);
	code_alu_imm(c, BPF_AND, part, ACCESS_USABLE);
	code_jump_imm(c, BPF_JNE, part, ACCESS_USABLE, s->bad);
	part = code_copy(c, access);
	code_alu_imm(c, BPF_AND, part, ACCESS_TYPE_CODE | ACCESS_TYPE_READ);
	code_jump_imm(c, BPF_JEQ, part, ACCESS_TYPE_CODE, s->bad);
	limit = limit_load(s, descriptor, access);
	offset_check(s);
	down_check(s, access, limit);
	segment_room_check(s, limit);
	part = code_copy(c, descriptor);
	code_alu_imm(c, BPF_RSH, part, 16);
	code_alu_imm(c, BPF_AND, part, 0xffffff);
	code_alu_imm(c, BPF_RSH, descriptor, 56);
	code_alu_imm(c, BPF_LSH, descriptor, 24);
	code_alu(c, BPF_OR, descriptor, part);
	code_alu(c, BPF_ADD, s->linear, descriptor);
	code_zext32(c, s->linear);
}

static void flat_room(struct segment *s)
{
	if (!s->gen->plan->flat32) {
		code_const(s->c, s->gen->room, ROOM_FLAT);
		return;
	}
	offset_check(s);
	segment_room_check(s, temp_const(s->gen, UINT32_MAX));
}

static void by_descriptor(struct segment *s, const struct gen_value *selector,
			  const struct gen_value *offset)
{
	static const int flat[] = { GDT_USER32_CS, GDT_USER_DS, GDT_USER_CS };
	code_label ldt = code_label_new(s->c);
	struct code *c = s->c;
	int descriptor, table, index;

	far_store(s, selector, offset);
	table = code_copy(c, s->selector);
	code_alu_imm(c, BPF_AND, table, 4);
	code_jump_imm(c, BPF_JNE, table, 0, ldt);
	index = index_load(s);
	for (size_t i = 0; i < sizeof(flat) / sizeof(*flat); i++)
		code_jump_imm(c, BPF_JEQ, index, flat[i], s->flat);
	tls_find(s);
	code_label_place(c, ldt);
	ldt_find(s);
	code_label_place(c, s->found);
	descriptor = code_temp_new(c);
	member_load(s->gen, descriptor, 8, s->descriptor, 0, s->bad);
	descriptor_apply(s, descriptor);
	code_jump(c, s->done);
	code_label_place(c, s->flat);
	flat_room(s);
	code_label_place(c, s->done);
}

/* 64-bit tasks: no limits, and a base only of FS and GS (SDM 3A, 3.2.4). */
static void by_base(struct segment *s, enum arch_segment segment,
		    const struct gen_value *offset)
{
	uint32_t base = s->layout->thread_base[segment == SEGMENT_GS];
	struct code *c = s->c;

	gen_value_load(s->gen, offset, s->linear);
	if (segment != SEGMENT_FLAT) {
		code_call(c, BPF_FUNC_get_current_task_btf);
		code_load(c, 8, R2, R0, base);
		code_alu(c, BPF_ADD, s->linear, R2);
	}
	code_const(c, s->gen->room, ROOM_FLAT);
}

static void layout_check(struct segment *s)
{
	const struct body_layout *layout = s->layout;

	if (!s->gen->plan->cpu->segments)
		gen_fail(s->gen, -EOPNOTSUPP,
			 "machine %u has no segmented addresses",
			 s->gen->plan->machine);
	else if (s->gen->plan->target->context == BODY_KPROBE)
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
	struct code *c = gen->c;
	struct segment s = {
		.gen = gen, .c = c, .layout = gen->plan->target->layout,
		.bytes = bytes, .selector = code_temp_new(c),
		.linear = code_temp_new(c), .descriptor = code_temp_new(c),
		.bad = code_label_new(c), .found = code_label_new(c),
		.flat = code_label_new(c), .done = code_label_new(c),
	};
	enum arch_segment segment = bpf_segment_of(selector);
	struct gen_value far;

	*result = value_temp(s.linear);
	gen->far = code_slot_new(c, 8);
	gen->room = code_temp_new(c);
	far = value_slot(gen->far, 0, 8);
	layout_check(&s);
	if (c->error)
		return;
	if (gen->plan->flat32 || segment == SEGMENT_NONE)
		by_descriptor(&s, selector, offset);
	else
		by_base(&s, segment, offset);
	code_rare_begin(c);
	code_label_place(c, s.bad);
	fault_raise(gen, &far, RAS_ITEM_SELECTOR);
	code_rare_end(c);
}
