// SPDX-License-Identifier: GPL-2.0
#include "ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Make room for one more entry after count. */
static bool code_array_grow(struct code *c, void *array, size_t *room, size_t count,
		       size_t entry)
{
	void **pointer = array, *grown;
	size_t more = *room ? *room * 2 : 64;

	if (c->error)
		return false;
	if (count < *room)
		return true;
	grown = realloc(*pointer, more * entry);
	if (!grown) {
		c->error = -ENOMEM;
		return false;
	}
	*pointer = grown;
	*room = more;
	return true;
}

#define GROW(c, array, name) \
	code_array_grow(c, &(c)->array, &(c)->name##_room, (c)->name##_count, \
		   sizeof(*(c)->array))

void code_fail(struct code *c, int error)
{
	if (!c->error)
		c->error = error;
}

void code_note(struct code *c, int stmt)
{
	c->stmt = stmt;
}

/* A path that is begun in the one being written */
static void path_begin(struct code *c, uint32_t function)
{
	if (!GROW(c, paths, path))
		return;
	c->paths[c->path_count] = (struct code_path){ function, c->path };
	c->path = c->path_count++;
}

static void function_begin(struct code *c, int kind, code_label label)
{
	if (!GROW(c, functions, function))
		return;
	path_begin(c, c->function_count);
	c->functions[c->function_count++] = (struct code_func){
		.kind = kind, .label = label, .path = c->path,
	};
}

void code_begin(struct code *c)
{
	memset(c, 0, sizeof(*c));
	function_begin(c, CODE_MAIN, 0);
}

int code_finish(struct code *c)
{
	if (c->path)
		code_fail(c, -EINVAL);
	for (size_t i = 0; i < c->label_count; i++)
		if (c->labels[i].used && !c->labels[i].placed)
			code_fail(c, -EINVAL);
	return c->error;
}

void code_free(struct code *c)
{
	free(c->ops);
	free(c->paths);
	free(c->functions);
	free(c->labels);
	free(c->slots);
	memset(c, 0, sizeof(*c));
}

int code_temp_new(struct code *c)
{
	if (c->temps == CODE_TEMPS_MOST) {
		code_fail(c, -E2BIG);
		return CODE_TEMP;
	}
	return CODE_TEMP + c->temps++;
}

code_slot code_slot_new(struct code *c, uint32_t bytes)
{
	if (!GROW(c, slots, slot))
		return 0;
	c->slots[c->slot_count] = bytes;
	return c->slot_count++;
}

/* Operations */

static bool reg_valid(const struct code *c, int reg)
{
	return reg >= 0 && reg != BPF_REG_10 &&
	       (reg < BPF_REG_10 ||
		(reg >= CODE_TEMP && reg < CODE_TEMP + c->temps));
}

/* Inline: the operation is built where it belongs, and not copied. */
static inline __attribute__((always_inline))
void op_add(struct code *c, const struct code_op *op)
{
	if (!reg_valid(c, op->dst) || !reg_valid(c, op->src))
		code_fail(c, -EINVAL);
	if (op->off < INT16_MIN || (op->off > INT16_MAX &&
				    op->kind != CODE_MAP_VALUE))
		code_fail(c, -E2BIG);
	if (!code_array_grow(c, &c->ops, &c->room, c->count, sizeof(*c->ops)))
		return;
	c->ops[c->count] = *op;
	c->ops[c->count].path = c->path;
	c->ops[c->count++].stmt = c->stmt;
}

#define ADD(c, ...)	op_add(c, &(struct code_op){ __VA_ARGS__ })

code_label code_label_new(struct code *c)
{
	if (!GROW(c, labels, label))
		return 0;
	c->labels[c->label_count] = (struct code_label_state){ 0 };
	return c->label_count++;
}

void code_label_place(struct code *c, code_label label)
{
	if (c->error)
		return;
	if (c->labels[label].placed)
		code_fail(c, -EINVAL);
	c->labels[label].placed = true;
	ADD(c, .kind = CODE_LABEL, .target = label);
}

bool code_label_used(const struct code *c, code_label label)
{
	return !c->error && c->labels[label].used;
}

static void label_use(struct code *c, code_label label)
{
	if (!c->error)
		c->labels[label].used = true;
}

void code_rare_begin(struct code *c)
{
	if (!c->error)
		path_begin(c, c->paths[c->path].function);
}

static void path_end(struct code *c, bool is_straight)
{
	const struct code_path *path;

	if (c->error)
		return;
	path = &c->paths[c->path];
	if (!c->path || (c->functions[path->function].path == c->path) !=
	    is_straight)
		code_fail(c, -EINVAL);
	else
		c->path = path->parent;
}

void code_rare_end(struct code *c)
{
	path_end(c, false);
}

void code_function_begin(struct code *c, int kind, code_label label)
{
	function_begin(c, kind, label);
	code_label_place(c, label);
}

void code_function_end(struct code *c)
{
	path_end(c, true);
}

void code_move(struct code *c, int dst, int src)
{
	ADD(c, .kind = CODE_MOVE, .dst = dst, .src = src);
}

int code_copy(struct code *c, int src)
{
	int temp = code_temp_new(c);

	code_move(c, temp, src);
	return temp;
}

void code_alu(struct code *c, int op, int dst, int src)
{
	ADD(c, .kind = op == BPF_MOV ? CODE_MOVE : CODE_ALU, .op = op,
	    .dst = dst, .src = src);
}

/* Does the operation change nothing? */
static bool is_identity(int op, int32_t imm)
{
	switch (op) {
	case BPF_ADD:
	case BPF_SUB:
	case BPF_OR:
	case BPF_XOR:
	case BPF_LSH:
	case BPF_RSH:
	case BPF_ARSH:
		return !imm;
	case BPF_MUL:
	case BPF_DIV:
		return imm == 1;
	default:
		return false;
	}
}

void code_alu_imm(struct code *c, int op, int dst, int32_t imm)
{
	if (is_identity(op, imm))
		return;
	ADD(c, .kind = op == BPF_MOV ? CODE_CONST : CODE_ALU_IMM, .op = op,
	    .dst = dst, .imm = (int64_t)imm);
}

void code_zext32(struct code *c, int dst)
{
	ADD(c, .kind = CODE_ZEXT32, .dst = dst);
}

void code_const(struct code *c, int dst, uint64_t value)
{
	ADD(c, .kind = CODE_CONST, .dst = dst, .imm = value);
}

void code_load(struct code *c, int bytes, int dst, int base, int off)
{
	ADD(c, .kind = CODE_LOAD, .bytes = bytes, .dst = dst, .src = base,
	    .off = off);
}

void code_store(struct code *c, int bytes, int base, int off, int src)
{
	ADD(c, .kind = CODE_STORE, .bytes = bytes, .dst = base, .off = off,
	    .src = src);
}

void code_store_imm(struct code *c, int bytes, int base, int off, int32_t imm)
{
	ADD(c, .kind = CODE_STORE_IMM, .bytes = bytes, .dst = base, .off = off,
	    .imm = (int64_t)imm);
}

void code_atomic(struct code *c, int op, int base, int off, int src)
{
	ADD(c, .kind = CODE_ATOMIC, .op = op, .bytes = 8, .dst = base,
	    .off = off, .src = src);
}

/* An access of `bytes` bytes must be inside the slot. */
static void slot_check(struct code *c, code_slot slot, int off, int bytes)
{
	if (!c->error && (slot >= c->slot_count || off < 0 ||
			  (uint32_t)(off + bytes) > c->slots[slot]))
		code_fail(c, -EINVAL);
}

void code_slot_load(struct code *c, int bytes, int dst, code_slot slot,
		    int off)
{
	slot_check(c, slot, off, bytes);
	ADD(c, .kind = CODE_SLOT_LOAD, .bytes = bytes, .dst = dst,
	    .target = slot, .off = off);
}

void code_slot_store(struct code *c, int bytes, code_slot slot, int off,
		     int src)
{
	slot_check(c, slot, off, bytes);
	ADD(c, .kind = CODE_SLOT_STORE, .bytes = bytes, .target = slot,
	    .off = off, .src = src);
}

void code_slot_store_imm(struct code *c, int bytes, code_slot slot, int off,
			 int32_t imm)
{
	slot_check(c, slot, off, bytes);
	ADD(c, .kind = CODE_SLOT_STORE_IMM, .bytes = bytes, .target = slot,
	    .off = off, .imm = (int64_t)imm);
}

void code_slot_address(struct code *c, int dst, code_slot slot, int off)
{
	slot_check(c, slot, off, 0);
	ADD(c, .kind = CODE_SLOT_ADDRESS, .dst = dst, .target = slot,
	    .off = off);
}

void code_frame_touch(struct code *c)
{
	ADD(c, .kind = CODE_FRAME_TOUCH);
}

void code_map(struct code *c, int dst, int map_fd)
{
	ADD(c, .kind = CODE_MAP, .dst = dst, .imm = map_fd);
}

void code_map_value(struct code *c, int dst, int map_fd, uint32_t off)
{
	ADD(c, .kind = CODE_MAP_VALUE, .dst = dst, .imm = map_fd, .off = off);
}

void code_variable(struct code *c, int dst, uint32_t btf_id)
{
	ADD(c, .kind = CODE_VARIABLE, .dst = dst, .imm = btf_id);
}

void code_lookup(struct code *c, int map_fd, code_slot key, code_label missing)
{
	code_map(c, BPF_REG_1, map_fd);
	code_slot_address(c, BPF_REG_2, key, 0);
	code_call(c, BPF_FUNC_map_lookup_elem);
	code_jump_imm(c, BPF_JEQ, BPF_REG_0, 0, missing);
}

/* Calls */

/* Arguments of a helper, + 1; 0: it isn't here */
static const uint8_t helper_args[] = {
	[BPF_FUNC_map_lookup_elem] = 1 + 2,
	[BPF_FUNC_map_update_elem] = 1 + 4,
	[BPF_FUNC_map_delete_elem] = 1 + 2,
	[BPF_FUNC_get_prandom_u32] = 1,
	[BPF_FUNC_get_smp_processor_id] = 1,
	[BPF_FUNC_get_current_pid_tgid] = 1,
	[BPF_FUNC_get_current_uid_gid] = 1,
	[BPF_FUNC_get_current_comm] = 1 + 2,
	[BPF_FUNC_get_current_task] = 1,
	[BPF_FUNC_get_stack] = 1 + 4,
	[BPF_FUNC_get_current_cgroup_id] = 1,
	[BPF_FUNC_probe_read_user] = 1 + 3,
	[BPF_FUNC_probe_read_kernel] = 1 + 3,
	[BPF_FUNC_probe_read_user_str] = 1 + 3,
	[BPF_FUNC_probe_read_kernel_str] = 1 + 3,
	[BPF_FUNC_jiffies64] = 1,
	[BPF_FUNC_get_current_ancestor_cgroup_id] = 1 + 1,
	[BPF_FUNC_ktime_get_ns] = 1,
	[BPF_FUNC_ktime_get_boot_ns] = 1,
	[BPF_FUNC_copy_from_user] = 1 + 3,
	[BPF_FUNC_this_cpu_ptr] = 1 + 1,
	[BPF_FUNC_per_cpu_ptr] = 1 + 2,
	[BPF_FUNC_task_storage_get] = 1 + 4,
	[BPF_FUNC_task_storage_delete] = 1 + 2,
	[BPF_FUNC_get_current_task_btf] = 1,
	[BPF_FUNC_ringbuf_output] = 1 + 4,
	[BPF_FUNC_get_func_ip] = 1 + 1,
	[BPF_FUNC_get_attach_cookie] = 1 + 1,
	[BPF_FUNC_find_vma] = 1 + 5,
	[BPF_FUNC_loop] = 1 + 4,
};

void code_call(struct code *c, int helper)
{
	if (helper < 0 || (size_t)helper >= sizeof(helper_args) ||
	    !helper_args[helper]) {
		code_fail(c, -EINVAL);
		return;
	}
	ADD(c, .kind = CODE_CALL, .imm = helper,
	    .args = helper_args[helper] - 1);
}

void code_kfunc(struct code *c, uint32_t btf_id, int args)
{
	ADD(c, .kind = CODE_KFUNC, .imm = btf_id, .args = args);
}

void code_module_kfunc(struct code *c, int place, uint32_t btf_id, int args)
{
	ADD(c, .kind = CODE_MODULE_KFUNC, .off = place, .imm = btf_id,
	    .args = args);
}

void code_call_label(struct code *c, code_label label, int args)
{
	label_use(c, label);
	ADD(c, .kind = CODE_CALL_LABEL, .target = label, .args = args);
}

void code_callback(struct code *c, int dst, code_label label)
{
	label_use(c, label);
	ADD(c, .kind = CODE_CALLBACK, .dst = dst, .target = label);
}

void code_exit(struct code *c)
{
	ADD(c, .kind = CODE_EXIT);
}

void code_jump(struct code *c, code_label label)
{
	label_use(c, label);
	ADD(c, .kind = CODE_JUMP, .target = label);
}

void code_jump_if(struct code *c, int op, int dst, int src, code_label label)
{
	label_use(c, label);
	ADD(c, .kind = CODE_JUMP_IF, .op = op, .dst = dst, .src = src,
	    .target = label);
}

void code_jump_imm(struct code *c, int op, int dst, int32_t imm,
		   code_label label)
{
	label_use(c, label);
	ADD(c, .kind = CODE_JUMP_IMM, .op = op, .dst = dst,
	    .imm = (int64_t)imm, .target = label);
}
