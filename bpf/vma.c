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

/* of touch() */
#define FRAME_BYTE	(-8)
#define FRAME_DEVICE	(-16)	/* not 0: of a block device */
#define FRAME_KIND	(-24)	/* MAPPING_*, or whose: a file system's magic */
/* of bring_in() */
#define CHUNK		32	/* of a string, with its zero */
#define FRAME_CHUNK	(-CHUNK)
#define FRAME_TRIES	(-8)	/* left; not at the same time */

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

/* r0 = the helper's result for one byte at r6 */
static void byte_read(struct emit *e, int helper)
{
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_BYTE);
	emit_alu_imm(e, BPF_MOV, R2, 1);
	emit_alu(e, BPF_MOV, R3, R6);
	emit_call(e, helper);
}

static void vma_find(struct gen *gen)
{
	struct emit *e = &gen->e;

	emit_call(e, BPF_FUNC_get_current_task_btf);
	emit_alu(e, BPF_MOV, R1, R0);
	emit_alu(e, BPF_MOV, R2, R6);
	arch_tag_strip(gen, R2);
	emit_callback(e, R3, gen->callback);
	emit_alu(e, BPF_MOV, R4, FP);
	emit_alu_imm(e, BPF_ADD, R4, FRAME_KIND);
	emit_alu_imm(e, BPF_MOV, R5, 0);
	emit_call(e, BPF_FUNC_find_vma);
}

static void magic_test(struct emit *e, const uint32_t *magics, size_t count,
		       emit_label equal)
{
	for (size_t i = 0; i < count; i++) {
		emit_const(e, R2, magics[i]);
		emit_jump_if(e, BPF_JEQ, R1, R2, equal);
	}
}

/* What is decided here must hold for every fault in the mapping. */
static void kind_judge(struct emit *e, emit_label fine, emit_label left)
{
	emit_load(e, 8, R1, FP, FRAME_KIND);
	emit_jump_imm(e, BPF_JEQ, R1, MAPPING_OWN, fine);
	magic_test(e, foreign, sizeof(foreign) / sizeof(*foreign), left);
	emit_load(e, 8, R2, FP, FRAME_DEVICE);
	emit_jump_imm(e, BPF_JNE, R2, 0, fine);
	magic_test(e, local, sizeof(local) / sizeof(*local), fine);
	emit_jump(e, left);
}

static void return_bits(struct emit *e, emit_label label, int bits)
{
	emit_label_place(e, label);
	emit_alu_imm(e, BPF_MOV, R0, bits);
	emit_exit(e);
}

/* r6 is the address. */
static void touch(struct gen *gen)
{
	struct emit *e = &gen->e;
	emit_label busy = emit_label_new(e), left = emit_label_new(e);
	emit_label unreadable = emit_label_new(e), there = emit_label_new(e);
	emit_label fine = emit_label_new(e);

	emit_alu(e, BPF_MOV, R6, R1);
	byte_read(e, BPF_FUNC_probe_read_user);
	emit_jump_imm(e, BPF_JEQ, R0, 0, there);
	emit_store_imm(e, 8, FP, FRAME_KIND, MAPPING_FOREIGN);
	emit_store_imm(e, 8, FP, FRAME_DEVICE, 0);
	vma_find(gen);
	emit_jump_imm(e, BPF_JEQ, R0, -EBUSY, busy);
	emit_jump_imm(e, BPF_JNE, R0, 0, unreadable);
	kind_judge(e, fine, left);
	emit_label_place(e, fine);
	byte_read(e, BPF_FUNC_copy_from_user);
	emit_jump_imm(e, BPF_JNE, R0, 0, unreadable);
	emit_alu_imm(e, BPF_MOV, R0, WALK_PAGED_IN);
	emit_exit(e);
	return_bits(e, there, 0);
	return_bits(e, busy, BUSY);
	return_bits(e, left, WALK_LEFT);
	return_bits(e, unreadable, WALK_UNREADABLE);
}

/* Does the string at r6 end before its page does, which has r7 bytes of it? It
 * has `most` bytes with its zero. */
static void string_scan(struct emit *e, uint32_t most, emit_label ends,
			emit_label goes_on)
{
	emit_label more = emit_label_new(e);

	emit_alu_imm(e, BPF_MOV, R8, 0);
	emit_label_place(e, more);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_CHUNK);
	emit_alu_imm(e, BPF_MOV, R2, CHUNK);
	emit_alu(e, BPF_MOV, R3, R6);
	emit_alu(e, BPF_ADD, R3, R8);
	emit_call(e, BPF_FUNC_probe_read_user_str);
	emit_jump_imm(e, BPF_JSLT, R0, 0, goes_on);
	emit_jump_imm(e, BPF_JSLT, R0, CHUNK, ends);
	emit_alu_imm(e, BPF_ADD, R8, CHUNK - 1);
	emit_jump_if(e, BPF_JGE, R8, R7, goes_on);
	emit_jump_imm(e, BPF_JLT, R8, most, more);
}

/* Reading where nothing is mapped waits, as the program itself would, until
 * the change of the mappings is complete. */
static void mappings_await(struct emit *e)
{
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_CHUNK);
	emit_alu_imm(e, BPF_MOV, R2, 1);
	emit_alu_imm(e, BPF_MOV, R3, 0);
	emit_call(e, BPF_FUNC_copy_from_user);
}

/* r9 |= touch(r6); to `out` when it can't be read, or if that isn't known because
 * the mappings are changed without a pause */
static void page_touch(struct gen *gen, emit_label out)
{
	struct emit *e = &gen->e;
	emit_label again = emit_label_new(e), done = emit_label_new(e);

	emit_store_imm(e, 8, FP, FRAME_TRIES, TRIES);
	emit_label_place(e, again);
	emit_alu(e, BPF_MOV, R1, R6);
	emit_call_label(e, gen->touch);
	emit_jump_imm(e, BPF_JNE, R0, BUSY, done);
	emit_load(e, 8, R1, FP, FRAME_TRIES);
	emit_alu_imm(e, BPF_SUB, R1, 1);
	emit_store(e, 8, FP, FRAME_TRIES, R1);
	emit_jump_imm(e, BPF_JEQ, R1, 0, out);
	emit_jump_imm(e, BPF_JNE, R1, TRIES / 2, again);
	mappings_await(e);
	emit_jump(e, again);
	emit_label_place(e, done);
	emit_alu(e, BPF_OR, R9, R0);
	emit_jump_imm(e, BPF_JGT, R0, WALK_PAGED_IN, out);
}

/*
 *	r6	address
 *	r7	bytes, then those on the first page
 *	r8	string, then the bytes of it that were looked at
 *	r9	WALK_*
 */
static void bring_in(struct gen *gen)
{
	struct emit *e = &gen->e;
	emit_label out = emit_label_new(e), next = emit_label_new(e);
	uint32_t strings = scan_strings_bytes(gen);

	emit_alu(e, BPF_MOV, R6, R1);
	emit_alu(e, BPF_MOV, R7, R2);
	emit_alu(e, BPF_MOV, R8, R3);
	emit_alu_imm(e, BPF_MOV, R9, 0);
	page_touch(gen, out);
	emit_alu(e, BPF_MOV, R2, R6);
	emit_alu_imm(e, BPF_AND, R2, PAGE - 1);
	emit_alu_imm(e, BPF_MOV, R1, PAGE);
	emit_alu(e, BPF_SUB, R1, R2);
	emit_jump_if(e, BPF_JLE, R7, R1, out);
	emit_alu(e, BPF_MOV, R7, R1);
	if (strings) {
		emit_jump_imm(e, BPF_JEQ, R8, 0, next);
		string_scan(e, strings, out, next);
	}
	emit_label_place(e, next);
	emit_alu(e, BPF_ADD, R6, R7);
	page_touch(gen, out);
	emit_label_place(e, out);
	emit_alu(e, BPF_MOV, R0, R9);
	emit_exit(e);
}

/* r2 is the vm_area_struct, r3 where its kind goes, with the device after it. What
 * isn't stored stays 0. */
static void mapping(struct gen *gen)
{
	const struct body_layout *layout = gen->target->layout;
	struct emit *e = &gen->e;
	emit_label own = emit_label_new(e), out = emit_label_new(e);

	emit_alu_imm(e, BPF_MOV, R0, 0);
	if (layout->vma_uffd) {
		emit_load(e, 8, R1, R2, layout->vma_uffd);
		emit_jump_imm(e, BPF_JNE, R1, 0, out);
	}
	emit_load(e, 8, R1, R2, layout->vma_flags);
	emit_alu_imm(e, BPF_AND, R1, VM_PFNMAP | VM_IO);
	emit_jump_imm(e, BPF_JNE, R1, 0, out);
	emit_load(e, 8, R1, R2, layout->vma_ops);	/* anonymous */
	emit_jump_imm(e, BPF_JEQ, R1, 0, own);
	emit_load(e, 8, R1, R2, layout->vma_file);	/* as the vDSO's */
	emit_jump_imm(e, BPF_JEQ, R1, 0, own);
	emit_load(e, 8, R1, R1, layout->file_inode);
	emit_load(e, 2, R2, R1, layout->inode_mode);	/* no device's */
	emit_alu_imm(e, BPF_AND, R2, S_IFMT);
	emit_jump_imm(e, BPF_JNE, R2, S_IFREG, out);
	emit_load(e, 8, R1, R1, layout->inode_sb);
	emit_load(e, 8, R2, R1, layout->sb_magic);
	emit_store(e, 8, R3, 0, R2);
	emit_load(e, 8, R2, R1, layout->sb_bdev);
	emit_jump_imm(e, BPF_JEQ, R2, 0, out);
	emit_store_imm(e, 8, R3, 8, 1);
	emit_exit(e);
	emit_label_place(e, own);
	emit_store_imm(e, 8, R3, 0, MAPPING_OWN);
	emit_label_place(e, out);
	emit_exit(e);
}

static uint32_t vma_begin(struct gen *gen, emit_label label)
{
	emit_label_place(&gen->e, label);
	return gen->e.count;
}

void vma_generate(struct gen *gen)
{
	if (!emit_label_used(&gen->e, gen->bring))
		return;
	gen_note(gen, STMT_EPILOGUE);
	gen->subprograms[BODY_BRING_IN] = vma_begin(gen, gen->bring);
	bring_in(gen);
	gen->subprograms[BODY_TOUCH] = vma_begin(gen, gen->touch);
	touch(gen);
	gen->subprograms[BODY_MAPPING] = vma_begin(gen, gen->callback);
	mapping(gen);
}
