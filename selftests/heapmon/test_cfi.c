// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of real files say what libdw says of the same addresses; odd and broken
 * call frame information becomes rows that end a stack, or none.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>
#include "tap.h"
#include "lib/debug/cfi/cfi_module.h"

/* ---- as libdw has it ---- */

struct reference {
	uint16_t machine;
	int sp, fp, ip;		/* ip: the column of the address to return to */
	int word, context_sp;
	bool link;		/* which is in a register at first */
	Dwarf_CFI *cfi;
};

static bool is_base(const Dwarf_Op *op, int number)
{
	return op->atom == DW_OP_breg0 + number ||
	       (op->atom == DW_OP_bregx && op->number == (Dwarf_Word)number);
}

static int64_t base_offset(const Dwarf_Op *op)
{
	return op->atom == DW_OP_bregx ? op->number2 : op->number;
}

/* An offset from the CFA; false: another rule */
static bool at_cfa(const Dwarf_Op *ops, size_t count, int64_t *offset)
{
	*offset = 0;
	if (!count || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	if (count == 2 && ops[1].atom == DW_OP_plus_uconst)
		*offset = ops[1].number;
	else if (count == 3 && ops[1].atom == DW_OP_consts &&
		 ops[2].atom == DW_OP_plus)
		*offset = (int64_t)ops[1].number;
	else if (count != 1)
		return false;
	return true;
}

static bool expression_row(const struct reference *ref, const Dwarf_Op *cfa,
			   size_t count, const Dwarf_Op *fp, size_t fp_count,
			   bool signal, struct unwind_row *row)
{
	if (count == 2 && cfa[1].atom == DW_OP_deref && signal) {
		row->kind = UNWIND_SIGNAL;
		row->cfa = base_offset(cfa) - ref->context_sp;
		return is_base(cfa, ref->sp);
	}
	if (count == 2 && cfa[1].atom == DW_OP_deref) {
		row->kind = UNWIND_REALIGNED;
		row->cfa = base_offset(cfa);
		if (fp_count == 1 && is_base(fp, ref->fp))
			row->fp = base_offset(fp);
		else
			return false;
		return is_base(cfa, ref->fp);
	}
	row->kind = UNWIND_PLT;
	return count == 9 && is_base(cfa, ref->sp) &&
	       is_base(cfa + 1, ref->ip) && cfa[8].atom == DW_OP_plus;
}

static void frame_row(const struct reference *ref, Dwarf_Frame *frame,
		      bool signal, struct unwind_row *row)
{
	Dwarf_Op memory[3], *cfa, *ops, fp[3];
	size_t count, fp_count, n;
	int64_t offset = 0, address;
	bool saved;

	dwarf_frame_register(frame, ref->ip, memory, &ops, &n);
	if (!n && ops) {
		row->kind = UNWIND_END;
		return;
	}
	if (ref->link && !ops)
		offset = 0;	/* still there */
	else if (!signal && (!at_cfa(ops, n, &offset) ||
			     (!ref->link && offset != -ref->word)))
		return;
	address = offset;
	if (dwarf_frame_cfa(frame, &cfa, &count))
		return;
	dwarf_frame_register(frame, ref->fp, memory, &ops, &fp_count);
	saved = ops;
	if (saved && !fp_count)
		return;
	memcpy(fp, ops ? ops : memory, (fp_count < 3 ? fp_count : 3) *
	       sizeof(*fp));
	if (count > 1) {
		if (!expression_row(ref, cfa, count, fp, fp_count, signal, row))
			*row = (struct unwind_row) { .pc = row->pc };
		return;
	}
	if (saved) {
		if (!at_cfa(fp, fp_count, &offset) || !offset)
			return;
		row->fp = offset;
	}
	if (ref->link && address)
		row->link = (address - row->fp) / 8;
	row->kind = is_base(cfa, ref->sp) ? UNWIND_SP :
		    is_base(cfa, ref->fp) ? UNWIND_FP : UNWIND_NONE;
	row->cfa = base_offset(cfa);
	if (row->kind == UNWIND_NONE)
		*row = (struct unwind_row) { .pc = row->pc };
}

static struct unwind_row reference_row(const struct reference *ref,
				       uint64_t address, uint32_t pc)
{
	struct unwind_row row = { .pc = pc, .kind = UNWIND_FRAME };
	Dwarf_Frame *frame;
	bool signal;

	if (dwarf_cfi_addrframe(ref->cfi, address, &frame))
		return row;
	row.kind = UNWIND_NONE;
	dwarf_frame_info(frame, NULL, NULL, &signal);
	frame_row(ref, frame, signal, &row);
	free(frame);
	return row;
}

/* ---- comparing ---- */

static uint64_t lowest_find(Elf *elf)
{
	uint64_t lowest = UINT64_MAX;
	size_t count;
	GElf_Phdr ph;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_vaddr < lowest)
			lowest = ph.p_vaddr;
	return lowest & ~4095ull;
}

/* By the index, as the BPF program does */
static const struct unwind_row *row_find(const struct cfi_rows *rows,
					 const struct unwind_blocks *blocks,
					 uint32_t pc)
{
	uint32_t block = pc >> UNWIND_BLOCK_SHIFT;
	uint32_t entry = blocks[block / 4].entries[block % 4];
	uint32_t row = entry >> 8, end = row + (entry & 0xff);

	while (row < end && rows->items[row + 1].pc <= pc)
		row++;
	return &rows->items[row];
}

static bool same(const struct unwind_row *a, const struct unwind_row *b)
{
	return a->kind == b->kind && (a->kind == UNWIND_PLT ||
		(a->cfa == b->cfa && a->fp == b->fp &&
		 a->link == b->link));
}

static void compare(const char *path, const struct cfi_module *module, Elf *elf,
		    const struct reference *ref)
{
	uint32_t count = cfi_rows_blocks(module->bytes), wrong = 0, looked = 0;
	struct unwind_blocks *blocks = calloc(count, sizeof(*blocks));
	const struct cfi_rows *rows = &module->rows;
	uint64_t lowest = lowest_find(elf);

	cfi_rows_index(rows, blocks, count);
	for (size_t i = 0; i < rows->count; i++) {
		uint32_t pcs[2] = { rows->items[i].pc };

		pcs[1] = i + 1 < rows->count ? rows->items[i + 1].pc - 1 :
					       pcs[0];
		for (int j = 0; j < 2; j++, looked++) {
			struct unwind_row row, expected;

			if (pcs[j] >= module->bytes)
				continue;
			row = *row_find(rows, blocks, pcs[j]);
			expected = reference_row(ref, lowest + pcs[j], pcs[j]);
			if (same(&row, &expected) || wrong++ > 4)
				continue;
			tap_diag("%#x: %d %d %d %d, expected %d %d %d %d",
				 pcs[j], row.kind, row.cfa, row.fp, row.link,
				 expected.kind, expected.cfa, expected.fp,
				 expected.link);
		}
	}
	free(blocks);
	tap_ok(rows->count > 100 && !wrong, "%s: %zu rows, %u of %u differ",
	       path, rows->count, wrong, looked);
}

static const struct reference machines[] = {
	{ EM_386, 4, 5, 8, 4, 28 }, { EM_X86_64, 7, 6, 16, 8, 120 },
	{ EM_AARCH64, 31, 29, 30, 8, 256, true },
};

static struct reference reference_find(Elf *elf)
{
	const struct reference *machine = machines;
	GElf_Ehdr header;

	gelf_getehdr(elf, &header);
	while (machine->machine != header.e_machine)
		machine++;
	return *machine;
}

static void test_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct reference ref;
	struct cfi_module module;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ref = reference_find(elf);
	ref.cfi = dwarf_getcfi_elf(elf);
	if (!ref.cfi || cfi_module_read(&module, fd)) {
		tap_ok(false, "%s is read", path);
	} else {
		compare(path, &module, elf, &ref);
		cfi_module_free(&module);
		dwarf_cfi_end(ref.cfi);
	}
	elf_end(elf);
	close(fd);
}

/* Of what programs for AArch64 are linked with here */
static void test_foreign(const char *name)
{
	const char *cache = getenv("RASTRACE_CACHE"), *home = getenv("HOME");
	char path[512];

	snprintf(path, sizeof(path), "%s%s/aarch64/cross/usr/aarch64-linux-gnu/lib/%s",
		 cache ? cache : home ? home : "",
		 cache ? "" : "/.cache/rastrace", name);
	test_file(path);
}

int main(int argc, char **argv)
{
	static const char *const foreign[] = {
		"libc.so.6", "libstdc++.so.6", "ld-linux-aarch64.so.1",
	};
	static const char *const files[] = {
		"/lib64/ld-linux-x86-64.so.2",
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/x86_64-linux-gnu/libstdc++.so.6", "/bin/bash",
		"/lib32/libc.so.6", "/lib/ld-linux.so.2",
		"/lib/ld-linux-aarch64.so.1",
		"/lib/aarch64-linux-gnu/libc.so.6",
		"/lib/aarch64-linux-gnu/libstdc++.so.6",
	};

	test_file(argv[0]);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		test_file(files[i]);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		test_foreign(foreign[i]);
	return tap_done();
}
