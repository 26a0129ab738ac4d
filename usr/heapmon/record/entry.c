// SPDX-License-Identifier: GPL-2.0
#include "allocator.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/debug/arch/arch_a64_insn.h"

/* ---- x86 ---- */

/* push of a register: 50-57, with REX.B in front 41 50-57 */
static unsigned int push_length(const uint8_t *p, bool wide)
{
	if ((p[0] & 0xf8) == 0x50)
		return 1;
	return wide && p[0] == 0x41 && (p[1] & 0xf8) == 0x50 ? 2 : 0;
}

/* What the kernel emulates (arch/x86/kernel/uprobes.c, branch_setup_xol_ops()
 * and push_setup_xol_ops()); its length, or 0. */
static unsigned int fast_length(const uint8_t *p, bool wide)
{
	if (p[0] == 0xe8 || p[0] == 0xe9)
		return 5;
	if (p[0] == 0xeb || (p[0] & 0xf0) == 0x70)
		return 2;
	if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
		return 6;
	return p[0] == 0x90 ? 1 : push_length(p, wide);
}

/* test %rdi,%rdi; je: the registers are the same after it */
static unsigned int null_test_length(const uint8_t *p, bool wide)
{
	if (!wide || p[0] != 0x48 || p[1] != 0x85 || p[2] != 0xff)
		return 0;
	if (p[3] == 0x0f && p[4] == 0x84)
		return 9;
	return p[3] == 0x74 ? 5 : 0;
}

/* A prefix by which a probe never fires (2e, 3e, lock), or an encoding that the
 * kernel mistakes for a branch (VEX, EVEX, XOP): none can be there. */
static bool is_refused(const uint8_t *p, bool wide)
{
	switch (p[0]) {
	case 0x2e: case 0x3e: case 0xf0:
		return true;
	case 0xc4: case 0xc5: case 0x62: case 0x8f:
		return wide;
	}
	return false;
}

static bool entry_read_x86(struct allocator_place *place, const uint8_t *code,
			   bool wide, bool release)
{
	bool endbr = code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e &&
		     (code[3] == 0xfa || code[3] == 0xfb);
	unsigned int at = endbr ? 4 : 0, length;
	unsigned int test = release ? null_test_length(code + at, wide) : 0;

	if (test && fast_length(code + at + test, wide))
		place->skip = at + test;
	else if (fast_length(code + at, wide))
		place->skip = at;
	length = fast_length(code + place->skip, wide);
	place->fast = length;
	place->insn_length = length ? length : sizeof(place->insn);
	memcpy(place->insn, code + place->skip, place->insn_length);
	return !is_refused(code + place->skip, wide);
}

/* ---- A64 ---- */

static bool a64_insn_is_bti(const uint8_t *code)
{
	return (a64_word(code) & 0xffffff3f) == 0xd503241f;
}

/* What the kernel makes of the instruction under a probe */
static bool a64_insn_probed(const uint8_t *code, bool *fast)
{
	struct arch_insn insn = { 0 };

	if (a64_insn_decode(NULL, code, sizeof(uint32_t), &insn) ||
	    insn.user_refused)
		return false;
	*fast = insn.cost == TDF_COST_EMULATED;
	return true;
}

bool entry_read_a64(struct allocator_place *place, const uint8_t *code)
{
	bool fast;

	if (a64_insn_is_bti(code) && a64_insn_probed(code + 4, &fast) && fast)
		place->skip = 4;
	place->insn_length = 4;
	memcpy(place->insn, code + place->skip, 4);
	return a64_insn_probed(code + place->skip, &place->fast);
}

bool allocator_entry_read(const struct allocator_file *file,
			  struct allocator_place *place, bool release)
{
	uint8_t code[ENTRY_CODE] = { 0 };

	if (pread(file->fd, code, sizeof(code), place->offset) <= 0)
		return false;
	switch (file->machine) {
	case EM_X86_64:
	case EM_386:
		return entry_read_x86(place, code,
				      file->elf_class == ELFCLASS64, release);
	case EM_AARCH64:
		return entry_read_a64(place, code);
	default:
		return false;
	}
}
