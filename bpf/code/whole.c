// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that are one record (rastrace/tdf.h, WHOLE). At its entry a call is
 * written like a record, to the bytes of the slice after the head, and from there
 * copied to the map `open`; the slice is left as it was. An exit finds it there.
 *
 * An insertion into a hash and a removal take 150 ns. So entries that can't fail
 * write to a slot of an array, which is found by a hash of the key and taken by one
 * cmpxchg; only where another call has it the way is that above. An exit looks
 * into the slot first. A call that was left may be in the hash, and a later one with
 * its key in the slot: an entry that keeps nothing removes both.
 *
 * No exit may find the entry of another call. The frame of a call is no other
 * call's as long as it runs, so an entry replaces what is there: that call was
 * left in another way than by an exit. Every hit of an entry that keeps nothing
 * removes what is there, and every hit of an exit. The key has the process, not
 * the thread, because the frames of coroutines move from one thread to another; in
 * Go the KEY has the goroutine. In the kernel it has the thread: its stack is given
 * to another one when it has ended.
 */
#include "gen.h"

#include <errno.h>

#define KEY_AT(field)	((int)offsetof(struct ras_open_key, field))

struct whole_key {
	int owner, frame;	/* as in struct ras_open_slot */
};

/* It can't be known: to `failed`. gen->thread is set. */
static struct whole_key whole_key_find(struct gen *gen, code_label failed)
{
	const struct plan *plan = gen->plan;
	const struct gen_fault fault = gen->fault;
	int stmt = gen->stmt;
	struct code *c = gen->c;
	struct whole_key key = { code_temp_new(c), code_temp_new(c) };
	code_label known = code_label_new(c);
	struct gen_value frame;

	code_move(c, key.owner, point_reg(gen));
	code_alu_imm(c, BPF_LSH, key.owner, 32);
	code_call(c, BPF_FUNC_get_current_pid_tgid);
	code_move(c, gen->thread, R0);
	if (plan->target->context == BODY_KPROBE) {
		code_zext32(c, R0);
		code_jump_imm(c, BPF_JNE, R0, 0, known);
		code_const(c, R0, RAS_OPEN_IDLE);
		code_label_place(c, known);
	} else {
		code_alu_imm(c, BPF_RSH, R0, 32);
	}
	code_alu(c, BPF_OR, key.owner, R0);
	gen->fault = (struct gen_fault){ .to = failed };
	gen->stmt = plan->key - plan->tdf->stmts;
	rpn_generate(gen, plan->tdf->rpn + plan->key->rpn,
		     plan->key->rpn_length, &frame);
	gen->fault = fault;
	gen->stmt = stmt;
	gen_value_load(gen, &frame, key.frame);
	return key;
}

/* r1 = the map, r2 = the key */
static void whole_map_load(struct gen *gen, const struct whole_key *key)
{
	struct code *c = gen->c;
	code_slot slot = code_slot_new(c, sizeof(struct ras_open_key));

	code_slot_store(c, 8, slot, 0, key->owner);
	code_slot_store(c, 8, slot, KEY_AT(frame), key->frame);
	code_map(c, R1, gen->plan->target->open_fd);
	code_slot_address(c, R2, slot, 0);
}

/* It is removed there; it isn't there: to `missing`. */
static void whole_map_forget(struct gen *gen, const struct whole_key *key,
			     code_label missing)
{
	struct code *c = gen->c;

	whole_map_load(gen, key);
	code_call(c, BPF_FUNC_map_delete_elem);
	code_zext32(c, R0);
	code_jump_imm(c, BPF_JNE, R0, 0, missing);
}

/* Slots */

#define SLOT_AT(field)	((int)offsetof(struct ras_open_slot, field))
#define SLOT_HASH	0x9e3779b97f4a7c15ULL	/* 2^64 / golden ratio, odd */

/* gen->slot = that of the key, which another call may have */
static void whole_slot_find(struct gen *gen, const struct whole_key *key,
		      code_label failed)
{
	const struct body_target *target = gen->plan->target;
	struct code *c = gen->c;
	int index = code_copy(c, key->owner), odd = temp_const(gen, SLOT_HASH);

	code_alu(c, BPF_MUL, index, odd);
	code_alu(c, BPF_ADD, index, key->frame);
	code_alu(c, BPF_MUL, index, odd);
	code_alu_imm(c, BPF_RSH, index, 32);
	code_alu_imm(c, BPF_AND, index, target->slots - 1);
	code_lookup(c, target->slots_fd, key_new(gen, index), failed);
	code_move(c, gen->slot, R0);
}

/* `owner` is what gen->slot has; another call has it: to `other` */
static void slot_compare(struct gen *gen, const struct whole_key *key, int owner,
			 code_label other)
{
	struct code *c = gen->c;

	code_jump_if(c, BPF_JNE, owner, key->owner, other);
	code_load(c, 8, R1, gen->slot, SLOT_AT(frame));
	code_jump_if(c, BPF_JNE, R1, key->frame, other);
}

/* A temp with the owner of gen->slot; the frame is no older. */
static int slot_owner_load(struct gen *gen)
{
	struct code *c = gen->c;
	int owner = code_temp_new(c);

	if (gen->plan->cpu->strong) {
		code_const(c, owner, 0);
		code_atomic(c, BPF_ADD | BPF_FETCH, gen->slot, SLOT_AT(owner),
			    owner);
	} else {
		code_load(c, 8, owner, gen->slot, SLOT_AT(owner));
	}
	return owner;
}

/* It is free from now on; the key has none: to `other`. */
static void slot_forget(struct gen *gen, const struct whole_key *key,
			code_label other)
{
	whole_slot_find(gen, key, other);
	slot_compare(gen, key, slot_owner_load(gen), other);
	gen_publish(gen, gen->slot, SLOT_AT(owner), temp_const(gen, 0));
}

void whole_slot_take(struct gen *gen, code_label taken)
{
	struct code *c = gen->c;
	const struct whole_key key = whole_key_find(gen, taken);
	code_label claim = code_label_new(c);
	int owner;

	whole_slot_find(gen, &key, taken);
	owner = slot_owner_load(gen);
	code_jump_imm(c, BPF_JEQ, owner, 0, claim);
	slot_compare(gen, &key, owner, taken);
	why_count(gen, WHY_AT(never_returned));
	code_label_place(c, claim);
	code_move(c, R0, owner);
	code_atomic(c, BPF_CMPXCHG, gen->slot, SLOT_AT(owner),
		    temp_const(gen, RAS_OPEN_BUSY));
	code_jump_if(c, BPF_JNE, R0, owner, taken);
	code_store(c, 8, gen->slot, SLOT_AT(frame), key.frame);
	code_move(c, RECORD, gen->slot);
	code_alu_imm(c, BPF_ADD, RECORD, SLOT_AT(record));
}

/* Its length, which PLACE has then; and no CPU time where none is asked for. */
static void entry_record_end(struct gen *gen)
{
	struct code *c = gen->c;

	code_alu(c, BPF_SUB, PLACE, RECORD);
	code_store(c, 4, RECORD, RECORD_AT(length), PLACE);
	if (!gen->plan->cputime)
		code_store_imm(c, 8, RECORD, RECORD_AT(stamp), 0);
}

void whole_slot_keep(struct gen *gen)
{
	struct code *c = gen->c;
	int owner = point_reg(gen);

	entry_record_end(gen);
	code_alu_imm(c, BPF_LSH, owner, 32);
	code_alu(c, BPF_OR, owner, temp_load(gen, 4, RECORD, RECORD_AT(pid)));
	gen_publish(gen, gen->slot, SLOT_AT(owner), owner);
}

/* Both */

void whole_forget(struct gen *gen, code_label missing)
{
	struct code *c = gen->c;
	const struct whole_key key = whole_key_find(gen, missing);
	code_label other = code_label_new(c), done = code_label_new(c);

	if (gen->plan->slotted) {
		slot_forget(gen, &key, other);
		code_jump(c, done);
	}
	code_label_place(c, other);
	whole_map_forget(gen, &key, missing);
	code_label_place(c, done);
}

/* An entry that keeps nothing: what is there is of earlier calls. */
void whole_none_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label none = code_label_new(c), other = code_label_new(c);
	struct whole_key key;

	if (!gen->plan->enters)
		return;
	key = whole_key_find(gen, none);
	if (gen->plan->slotted) {
		slot_forget(gen, &key, other);
		why_count(gen, WHY_AT(never_returned));
	}
	code_label_place(c, other);
	whole_map_forget(gen, &key, none);
	why_count(gen, WHY_AT(never_returned));
	code_label_place(c, none);
}

void whole_find(struct gen *gen, code_label missing)
{
	struct code *c = gen->c;
	code_label other = code_label_new(c), found = code_label_new(c);
	struct whole_key key;

	if (!gen->plan->leaves)
		return;
	key = whole_key_find(gen, missing);
	if (gen->plan->slotted) {
		whole_slot_find(gen, &key, missing);
		slot_compare(gen, &key, slot_owner_load(gen), other);
		code_move(c, gen->open, gen->slot);
		code_alu_imm(c, BPF_ADD, gen->open, SLOT_AT(record));
		code_label_place(c, found);
		code_rare_begin(c);
	}
	code_label_place(c, other);
	whole_map_load(gen, &key);
	code_call(c, BPF_FUNC_map_lookup_elem);
	code_jump_imm(c, BPF_JEQ, R0, 0, missing);
	code_move(c, gen->open, R0);
	code_const(c, gen->slot, 0);
	if (gen->plan->slotted) {
		code_jump(c, found);
		code_rare_end(c);
	}
}

/* The CPU time */

/*
 * A thread's off-CPU time. The kernel's own account (sum_exec_runtime) is as
 * of the last tick or switch, milliseconds ago, so a program at sched_switch adds
 * up what is between. `unseen`: the switches that it has not seen of those that
 * the kernel counts; a call of which that changes has no CPU time.
 */
struct thread_time {
	int off_cpu;		/* -1: not known */
	int unseen;
};

#define THREAD_AT(field)	((int)offsetof(struct ras_thread, field))
#define STORAGE_CREATE		1	/* BPF_LOCAL_STORAGE_GET_F_CREATE */
#define TRIES			2	/* when it is switched from just now */

/* A temp with how often `task` was switched from */
static int switches_load(struct gen *gen, int task)
{
	const struct body_layout *layout = gen->plan->target->layout;
	int sum = temp_load(gen, 8, task, layout->task_waits);

	code_alu(gen->c, BPF_ADD, sum,
		 temp_load(gen, 8, task, layout->task_yields));
	return sum;
}

/* r0 = the time, *t as of that */
static void thread_time_load(struct gen *gen, int create,
			     const struct thread_time *t)
{
	struct code *c = gen->c;
	code_label known = code_label_new(c), unknown = code_label_new(c);
	int task = code_temp_new(c), thread = code_temp_new(c), before;

	code_call(c, BPF_FUNC_get_current_task_btf);
	code_move(c, task, R0);
	code_map(c, R1, gen->plan->target->threads_fd);
	code_move(c, R2, task);
	code_alu_imm(c, BPF_MOV, R3, 0);
	code_alu_imm(c, BPF_MOV, R4, create);
	code_call(c, BPF_FUNC_task_storage_get);
	code_jump_imm(c, BPF_JEQ, R0, 0, unknown);
	code_move(c, thread, R0);
	for (int i = 0; i < TRIES; i++) {
		before = switches_load(gen, task);
		code_load(c, 8, t->off_cpu, thread, THREAD_AT(off_cpu));
		code_move(c, t->unseen, before);
		code_alu(c, BPF_SUB, t->unseen,
			 temp_load(gen, 8, thread, THREAD_AT(switches)));
		code_zext32(c, t->unseen);
		code_call(c, BPF_FUNC_ktime_get_boot_ns);
		code_jump_if(c, BPF_JEQ, switches_load(gen, task), before,
			     known);
	}
	code_label_place(c, unknown);
	code_call(c, BPF_FUNC_ktime_get_boot_ns);
	code_const(c, t->off_cpu, -1);
	code_const(c, t->unseen, 0);
	code_label_place(c, known);
}

void whole_enter_time(struct gen *gen)
{
	struct code *c = gen->c;
	struct thread_time t = { code_temp_new(c), code_temp_new(c) };

	thread_time_load(gen, STORAGE_CREATE, &t);
	code_store(c, 8, RECORD, RECORD_AT(stamp), t.off_cpu);
	code_store(c, 4, RECORD, RECORD_AT(seq), t.unseen);
}

/* r0 = the time; the CPU time is kept, if the thread is the entry's. */
static void whole_leave_time(struct gen *gen)
{
	struct code *c = gen->c;
	struct thread_time t = { code_temp_new(c), code_temp_new(c) };
	code_label unknown = code_label_new(c), known = code_label_new(c);
	int cputime = code_temp_new(c), now = code_temp_new(c), before;

	thread_time_load(gen, 0, &t);
	code_move(c, now, R0);
	before = temp_load(gen, 8, gen->open, RECORD_AT(stamp));
	code_jump_imm(c, BPF_JEQ, t.off_cpu, -1, unknown);
	code_jump_imm(c, BPF_JEQ, before, -1, unknown);
	code_jump_if(c, BPF_JNE, t.unseen,
		     temp_load(gen, 4, gen->open, RECORD_AT(seq)), unknown);
	code_call(c, BPF_FUNC_get_current_pid_tgid);
	code_jump_if(c, BPF_JNE, R0,
		     temp_load(gen, 8, gen->open, RECORD_AT(tid)), unknown);
	code_move(c, cputime, now);
	code_alu(c, BPF_SUB, cputime,
		 temp_load(gen, 8, gen->open, RECORD_AT(time)));
	code_alu(c, BPF_SUB, cputime, t.off_cpu);
	code_alu(c, BPF_ADD, cputime, before);
	code_label_place(c, known);
	code_store(c, 8, gen->open, WHOLE_CPUTIME, cputime);
	code_move(c, R0, now);
	code_rare_begin(c);
	code_label_place(c, unknown);
	code_const(c, cputime, -1);
	code_jump(c, known);
	code_rare_end(c);
}

void whole_join_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label missing = code_label_new(c);

	if (!gen->plan->leaves)
		return;
	whole_find(gen, missing);
	if (gen->plan->cputime)
		whole_leave_time(gen);
	else
		code_call(c, BPF_FUNC_ktime_get_boot_ns);
	code_load(c, 8, R1, gen->open, RECORD_AT(time));
	code_alu(c, BPF_SUB, R0, R1);
	code_store(c, 8, gen->open, RECORD_AT(stamp), R0);
	code_rare_begin(c);
	code_label_place(c, missing);
	why_count(gen, WHY_AT(no_entry));
	code_jump(c, gen->out);
	code_rare_end(c);
}

/* The length of what the entry has logged, of which `before` bytes are in no
 * record */
static int whole_length(struct gen *gen, uint32_t before)
{
	struct code *c = gen->c;
	code_label most = code_label_new(c), least = code_label_new(c);
	int length = temp_load(gen, 4, gen->open, RECORD_AT(length));

	code_jump_imm(c, BPF_JLE, length, gen->plan->target->open_bytes, most);
	code_const(c, length, gen->plan->target->open_bytes);
	code_label_place(c, most);
	code_jump_imm(c, BPF_JGE, length, before, least);
	code_const(c, length, before);
	code_label_place(c, least);
	code_alu_imm(c, BPF_SUB, length, before);
	return code_copy(c, length);
}

/* An item of the entry that couldn't be read has ended it. */
static void whole_fault_test(struct gen *gen, uint32_t before, code_label finish)
{
	struct code *c = gen->c;
	code_label ended = code_label_new(c);
	int flags = temp_load(gen, 2, gen->open, RECORD_AT(flags)), all;

	all = temp_load(gen, 2, RECORD, RECORD_AT(flags));
	code_alu(c, BPF_OR, all, flags);
	code_store(c, 2, RECORD, RECORD_AT(flags), all);
	if (gen->plan->go_on) {
		code_jump_imm(c, BPF_JLT,
			      temp_load(gen, 4, gen->open, RECORD_AT(length)),
			      before, ended);
	} else {
		code_alu_imm(c, BPF_AND, flags, RAS_RECORD_FAULT);
		code_jump_imm(c, BPF_JNE, flags, 0, ended);
	}
	code_rare_begin(c);
	code_label_place(c, ended);
	item_place_load(gen, &gen->place, 0, PLACE);
	code_jump(c, finish);
	code_rare_end(c);
}

/* The number of the entry's stack is in the record now. */
static void whole_stack_copy(struct gen *gen, const struct gen_place *to,
			     uint32_t before)
{
	struct code *c = gen->c;
	code_label none = code_label_new(c);
	int at, stack;

	if (!gen->plan->target->stack_sets)
		return;
	stack = temp_load(gen, 2, gen->open, RECORD_AT(stack));
	code_jump_imm(c, BPF_JEQ, stack, 0, none);
	at = code_temp_new(c);
	item_place_load(gen, to, 0, at);
	code_alu(c, BPF_SUB, at, RECORD);
	code_alu(c, BPF_ADD, stack, at);
	code_alu_imm(c, BPF_SUB, stack, before);
	code_store(c, 2, RECORD, RECORD_AT(stack), stack);
	code_label_place(c, none);
}

void whole_copy_generate(struct gen *gen, code_label finish)
{
	const uint32_t before = RAS_RECORD_HEADER +
				8 * gen->plan->point->entry_values;
	struct gen_place to = gen->place;
	struct code *c = gen->c;
	int length;

	if (!gen->plan->leaves)
		return;
	code_store(c, 8, to.base, to.off,
		   temp_load(gen, 8, gen->open, RECORD_AT(time)));
	code_store(c, 8, to.base, to.off + 8,
		   temp_load(gen, 8, gen->open, RECORD_AT(stamp)));
	to.off += 16;
	length = whole_length(gen, before);
	item_place_load(gen, &to, 0, R1);
	code_move(c, R2, length);
	code_move(c, R3, gen->open);
	code_alu_imm(c, BPF_ADD, R3, before);
	code_call(c, BPF_FUNC_probe_read_kernel);
	whole_stack_copy(gen, &to, before);
	if (to.base != PLACE)
		code_move(c, PLACE, to.base);
	code_alu(c, BPF_ADD, PLACE, length);
	code_move(c, gen->data, PLACE);
	gen->place = (struct gen_place){ PLACE, to.off };
	gen->data_off = to.off;
	whole_fault_test(gen, before, finish);
}

void whole_close_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label other = code_label_new(c), done = code_label_new(c);
	struct whole_key key;

	if (!gen->plan->leaves)
		return;
	if (gen->plan->slotted) {
		code_jump_imm(c, BPF_JEQ, gen->slot, 0, other);
		gen_publish(gen, gen->slot, SLOT_AT(owner),
			    temp_const(gen, 0));
		code_label_place(c, done);
		code_rare_begin(c);
	}
	code_label_place(c, other);
	key = whole_key_find(gen, done);
	whole_map_forget(gen, &key, done);
	if (gen->plan->slotted) {
		code_jump(c, done);
		code_rare_end(c);
	} else {
		code_label_place(c, done);
	}
}

/* r0 = 0: the call is kept */
static void whole_put(struct gen *gen, int how, code_label failed)
{
	struct code *c = gen->c;
	struct whole_key key;

	key = whole_key_find(gen, failed);
	whole_map_load(gen, &key);
	code_move(c, R3, RECORD);
	code_alu_imm(c, BPF_MOV, R4, how);
	code_call(c, BPF_FUNC_map_update_elem);
	code_zext32(c, R0);
}

void whole_keep_generate(struct gen *gen, code_label full)
{
	struct code *c = gen->c;
	code_label kept = code_label_new(c);

	entry_record_end(gen);
	code_jump_imm(c, BPF_JGT, PLACE, gen->plan->target->open_bytes, full);
	whole_put(gen, BPF_NOEXIST, full);
	code_jump_imm(c, BPF_JEQ, R0, 0, kept);
	code_const(c, R1, (uint32_t)-EEXIST);
	code_jump_if(c, BPF_JNE, R0, R1, full);
	whole_put(gen, BPF_ANY, full);
	code_jump_imm(c, BPF_JNE, R0, 0, full);
	why_count(gen, WHY_AT(never_returned));
	code_label_place(c, kept);
}
