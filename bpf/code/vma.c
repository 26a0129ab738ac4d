// SPDX-License-Identifier: GPL-2.0
/*
 * The subprograms that bring in memory that isn't resident, and never wait for
 * somebody else: a page is touched only after its mapping was looked at. They
 * return WALK_*, touch() BUSY too. Being global, they are verified once each and
 * not for every call.
 *
 * bring_in(address, bytes, string): the one or two pages that so many bytes are
 * on, no more than a page has; the second page of a string only when the string
 * goes on there.
 * touch(address): the page of one byte.
 * mapping(task, vma, &kind): called back by bpf_find_vma(); it is verified for
 * every call, so what can be decided later isn't decided there.
 *
 * The frames of all, with the deepest that a body has, are the 512 bytes that
 * there are.
 */
#include "gen.h"

#include <linux/errno.h>
#include <linux/magic.h>
#include <sys/stat.h>

#include "lib/formats/tdf.h"

#define PAGE		4096
_Static_assert(TDF_DATA_MAX <= PAGE, "an item is on two pages at most");
#define TRIES		16	/* while others change the mappings */
#define BUSY		0x10	/* of touch(): they do */
#define CHUNK		32	/* of a string, with its zero */

/* What mapping() stores */
#define KIND		0	/* MAPPING_*, or whose: a file system's magic */
#define DEVICE		8	/* not 0: of a block device */
#define KIND_BYTES	16

#define MAPPING_FOREIGN	0
#define MAPPING_OWN	1	/* no file's */

/* linux/mm.h, the same in all versions */
#define VM_PFNMAP	0x00000400
#define VM_IO		0x00004000

/* Local file systems without a block device (linux/magic.h has not all) */
static const uint32_t local[] = {
	TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC, BTRFS_SUPER_MAGIC,
	SQUASHFS_MAGIC, CRAMFS_MAGIC, JFFS2_SUPER_MAGIC, 0x24051905 /* ubifs */,
	0x2fc12fc1 /* zfs */, 0xca451a4e /* bcachefs */,
};

/* With one, and they wait for a daemon or for other machines nevertheless */
static const uint32_t foreign[] = {
	FUSE_SUPER_MAGIC, OCFS2_SUPER_MAGIC, 0x01161970 /* gfs2 */,
};

/* r0 = the helper's result for one byte at the address */
static void byte_read(struct code *c, int helper, code_slot byte, int address)
{
	code_slot_address(c, R1, byte, 0);
	code_alu_imm(c, BPF_MOV, R2, 1);
	code_move(c, R3, address);
	code_call(c, helper);
}

static void magic_test(struct code *c, int magic, const uint32_t *magics,
		       size_t count, code_label equal)
{
	for (size_t i = 0; i < count; i++) {
		code_const(c, R2, magics[i]);
		code_jump_if(c, BPF_JEQ, magic, R2, equal);
	}
}

/* What is decided here must hold for every fault in the mapping. */
static void kind_judge(struct code *c, code_slot found, code_label fine,
		       code_label left)
{
	int kind = code_temp_new(c);

	code_slot_load(c, 8, kind, found, KIND);
	code_jump_imm(c, BPF_JEQ, kind, MAPPING_OWN, fine);
	magic_test(c, kind, foreign, sizeof(foreign) / sizeof(*foreign), left);
	code_slot_load(c, 8, R2, found, DEVICE);
	code_jump_imm(c, BPF_JNE, R2, 0, fine);
	magic_test(c, kind, local, sizeof(local) / sizeof(*local), fine);
	code_jump(c, left);
}

static void return_bits(struct code *c, code_label label, int bits)
{
	code_label_place(c, label);
	code_alu_imm(c, BPF_MOV, R0, bits);
	code_exit(c);
}

static void touch_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label busy = code_label_new(c), left = code_label_new(c);
	code_label unreadable = code_label_new(c), there = code_label_new(c);
	code_label fine = code_label_new(c);
	code_slot byte = code_slot_new(c, 1);
	code_slot found = code_slot_new(c, KIND_BYTES);
	int address;

	code_function_begin(c, BODY_TOUCH, gen->shared->touch);
	address = code_copy(c, R1);
	byte_read(c, BPF_FUNC_probe_read_user, byte, address);
	code_jump_imm(c, BPF_JEQ, R0, 0, there);
	code_slot_store_imm(c, 8, found, KIND, MAPPING_FOREIGN);
	code_slot_store_imm(c, 8, found, DEVICE, 0);
	code_call(c, BPF_FUNC_get_current_task_btf);
	code_move(c, R1, R0);
	code_move(c, R2, address);
	address_strip_tag(gen, R2);
	code_callback(c, R3, gen->shared->mapping);
	code_slot_address(c, R4, found, 0);
	code_alu_imm(c, BPF_MOV, R5, 0);
	code_call(c, BPF_FUNC_find_vma);
	code_jump_imm(c, BPF_JEQ, R0, -EBUSY, busy);
	code_jump_imm(c, BPF_JNE, R0, 0, unreadable);
	kind_judge(c, found, fine, left);
	code_label_place(c, fine);
	byte_read(c, BPF_FUNC_copy_from_user, byte, address);
	code_jump_imm(c, BPF_JNE, R0, 0, unreadable);
	code_alu_imm(c, BPF_MOV, R0, WALK_PAGED_IN);
	code_exit(c);
	return_bits(c, there, 0);
	return_bits(c, busy, BUSY);
	return_bits(c, left, WALK_LEFT);
	return_bits(c, unreadable, WALK_UNREADABLE);
	code_function_end(c);
}

/* Does the string at the address end before its page does, which has so many
 * bytes of it? It has `most` bytes with its zero. */
static void string_scan(struct code *c, code_slot chunk, int address, int bytes,
			uint32_t most, code_label ends, code_label goes_on)
{
	code_label more = code_label_new(c);
	int seen = code_temp_new(c);

	code_alu_imm(c, BPF_MOV, seen, 0);
	code_label_place(c, more);
	code_slot_address(c, R1, chunk, 0);
	code_alu_imm(c, BPF_MOV, R2, CHUNK);
	code_move(c, R3, address);
	code_alu(c, BPF_ADD, R3, seen);
	code_call(c, BPF_FUNC_probe_read_user_str);
	code_jump_imm(c, BPF_JSLT, R0, 0, goes_on);
	code_jump_imm(c, BPF_JSLT, R0, CHUNK, ends);
	code_alu_imm(c, BPF_ADD, seen, CHUNK - 1);
	code_jump_if(c, BPF_JGE, seen, bytes, goes_on);
	code_jump_imm(c, BPF_JLT, seen, most, more);
}

/* Reading where nothing is mapped waits, as the program itself would, until
 * the change of the mappings is complete. */
static void mappings_await(struct code *c, code_slot byte)
{
	code_slot_address(c, R1, byte, 0);
	code_alu_imm(c, BPF_MOV, R2, 1);
	code_alu_imm(c, BPF_MOV, R3, 0);
	code_call(c, BPF_FUNC_copy_from_user);
}

/* bits |= touch(address); to `out` when it can't be read, or if that isn't known
 * because the mappings are changed without a pause */
static void page_touch(struct gen *gen, code_slot byte, int address, int bits,
		       code_label out)
{
	struct code *c = gen->c;
	code_label again = code_label_new(c), done = code_label_new(c);
	int tries = code_temp_new(c);

	code_alu_imm(c, BPF_MOV, tries, TRIES);
	code_label_place(c, again);
	code_move(c, R1, address);
	code_call_label(c, gen->shared->touch, 1);
	code_jump_imm(c, BPF_JNE, R0, BUSY, done);
	code_alu_imm(c, BPF_SUB, tries, 1);
	code_jump_imm(c, BPF_JEQ, tries, 0, out);
	code_jump_imm(c, BPF_JNE, tries, TRIES / 2, again);
	mappings_await(c, byte);
	code_jump(c, again);
	code_label_place(c, done);
	code_alu(c, BPF_OR, bits, R0);
	code_jump_imm(c, BPF_JGT, R0, WALK_PAGED_IN, out);
}

static void bring_in_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label out = code_label_new(c), next = code_label_new(c);
	code_slot chunk = code_slot_new(c, CHUNK);
	uint32_t strings = plan_strings_bytes(gen->plan);
	int address, bytes, string, bits = code_temp_new(c);
	int first = code_temp_new(c);

	code_function_begin(c, BODY_BRING_IN, gen->shared->bring);
	address = code_copy(c, R1);
	bytes = code_copy(c, R2);
	string = code_copy(c, R3);
	code_alu_imm(c, BPF_MOV, bits, 0);
	page_touch(gen, chunk, address, bits, out);
	/* of the first page */
	code_move(c, R2, address);
	code_alu_imm(c, BPF_AND, R2, PAGE - 1);
	code_alu_imm(c, BPF_MOV, first, PAGE);
	code_alu(c, BPF_SUB, first, R2);
	code_jump_if(c, BPF_JLE, bytes, first, out);
	if (strings) {
		code_jump_imm(c, BPF_JEQ, string, 0, next);
		string_scan(c, chunk, address, first, strings, out, next);
	}
	code_label_place(c, next);
	code_alu(c, BPF_ADD, address, first);
	page_touch(gen, chunk, address, bits, out);
	code_label_place(c, out);
	code_move(c, R0, bits);
	code_exit(c);
	code_function_end(c);
}

/* r2 is the vm_area_struct, r3 where its kind goes. What isn't stored stays 0. */
static void mapping_generate(struct gen *gen)
{
	const struct body_layout *layout = gen->plan->target->layout;
	struct code *c = gen->c;
	code_label own = code_label_new(c), out = code_label_new(c);

	code_function_begin(c, BODY_MAPPING, gen->shared->mapping);
	code_alu_imm(c, BPF_MOV, R0, 0);
	if (layout->vma_uffd) {
		code_load(c, 8, R1, R2, layout->vma_uffd);
		code_jump_imm(c, BPF_JNE, R1, 0, out);
	}
	code_load(c, 8, R1, R2, layout->vma_flags);
	code_alu_imm(c, BPF_AND, R1, VM_PFNMAP | VM_IO);
	code_jump_imm(c, BPF_JNE, R1, 0, out);
	code_load(c, 8, R1, R2, layout->vma_ops);	/* anonymous */
	code_jump_imm(c, BPF_JEQ, R1, 0, own);
	code_load(c, 8, R1, R2, layout->vma_file);	/* as the vDSO's */
	code_jump_imm(c, BPF_JEQ, R1, 0, own);
	code_load(c, 8, R1, R1, layout->file_inode);
	code_load(c, 2, R2, R1, layout->inode_mode);	/* no device's */
	code_alu_imm(c, BPF_AND, R2, S_IFMT);
	code_jump_imm(c, BPF_JNE, R2, S_IFREG, out);
	code_load(c, 8, R1, R1, layout->inode_sb);
	code_load(c, 8, R2, R1, layout->sb_magic);
	code_store(c, 8, R3, KIND, R2);
	code_load(c, 8, R2, R1, layout->sb_bdev);
	code_jump_imm(c, BPF_JEQ, R2, 0, out);
	code_store_imm(c, 8, R3, DEVICE, 1);
	code_exit(c);
	code_label_place(c, own);
	code_store_imm(c, 8, R3, KIND, MAPPING_OWN);
	code_label_place(c, out);
	code_exit(c);
	code_function_end(c);
}

void vma_generate(struct gen *gen)
{
	if (!code_label_used(gen->c, gen->shared->bring))
		return;
	gen_note(gen, STMT_EPILOGUE);
	bring_in_generate(gen);
	touch_generate(gen);
	mapping_generate(gen);
}
