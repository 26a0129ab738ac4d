// SPDX-License-Identifier: GPL-2.0
/* One eBPF instruction as text, in the kernel verifier's notation. */
#include "disasm.h"

#include <stdint.h>
#include <stdio.h>
#include "code/code_print.h"

static const char *size_name(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:	return "u8";
	case BPF_H:	return "u16";
	case BPF_W:	return "u32";
	default:	return "u64";
	}
}

static int print_unknown(const struct bpf_insn *insn, char *text, size_t size)
{
	return snprintf(text, size, "(%02x) dst %u src %u off %d imm %d",
			insn->code, insn->dst_reg, insn->src_reg, insn->off,
			insn->imm);
}

static int print_alu(const struct bpf_insn *insn, char *text, size_t size)
{
	char bank = BPF_CLASS(insn->code) == BPF_ALU64 ? 'r' : 'w';
	const char *op = code_alu_ops[BPF_OP(insn->code) >> 4];

	if (BPF_OP(insn->code) == BPF_NEG)
		return snprintf(text, size, "%c%u = -%c%u", bank,
				insn->dst_reg, bank, insn->dst_reg);
	if (BPF_OP(insn->code) == BPF_END)
		return snprintf(text, size, "r%u = %s%d r%u", insn->dst_reg,
				BPF_SRC(insn->code) == BPF_X ? "be" : "le",
				insn->imm, insn->dst_reg);
	if (!op || insn->off)
		return print_unknown(insn, text, size);
	if (BPF_SRC(insn->code) == BPF_X)
		return snprintf(text, size, "%c%u %s %c%u", bank,
				insn->dst_reg, op, bank, insn->src_reg);
	return snprintf(text, size, "%c%u %s %d", bank, insn->dst_reg, op,
			insn->imm);
}

static int print_call(const struct bpf_insn *insn, char *text, size_t size)
{
	uint32_t id = insn->imm;

	if (insn->src_reg == BPF_PSEUDO_KFUNC_CALL)
		return snprintf(text, size, "call kfunc#%u", id);
	if (insn->src_reg == BPF_PSEUDO_CALL)
		return snprintf(text, size, "call pc%+d", insn->imm);
	if (insn->src_reg || id >= __BPF_FUNC_MAX_ID)
		return snprintf(text, size, "call #%u", id);
	return snprintf(text, size, "call %s#%u", code_helpers[id], id);
}

static int print_jump(const struct bpf_insn *insn, char *text, size_t size)
{
	char bank = BPF_CLASS(insn->code) == BPF_JMP ? 'r' : 'w';
	const char *op = code_jump_ops[BPF_OP(insn->code) >> 4];

	if (insn->code == (BPF_JMP | BPF_CALL))
		return print_call(insn, text, size);
	if (insn->code == (BPF_JMP | BPF_EXIT))
		return snprintf(text, size, "exit");
	if (insn->code == (BPF_JMP | BPF_JA))
		return snprintf(text, size, "goto pc%+d", insn->off);
	if (!op)
		return print_unknown(insn, text, size);
	if (BPF_SRC(insn->code) == BPF_X)
		return snprintf(text, size, "if %c%u %s %c%u goto pc%+d", bank,
				insn->dst_reg, op, bank, insn->src_reg,
				insn->off);
	return snprintf(text, size, "if %c%u %s %d goto pc%+d", bank,
			insn->dst_reg, op, insn->imm, insn->off);
}

static int print_atomic(const struct bpf_insn *insn, char *text, size_t size)
{
	const char *type = size_name(insn->code);
	unsigned int base = insn->dst_reg, src = insn->src_reg;

	if (insn->imm == BPF_CMPXCHG)
		return snprintf(text, size,
				"r0 = atomic_cmpxchg((%s *)(r%u %+d), r0, r%u)",
				type, base, insn->off, src);
	if (insn->imm == BPF_XCHG)
		return snprintf(text, size,
				"r%u = atomic_xchg((%s *)(r%u %+d), r%u)",
				src, type, base, insn->off, src);
	if (insn->imm == (BPF_ADD | BPF_FETCH))
		return snprintf(text, size,
				"r%u = atomic_fetch_add((%s *)(r%u %+d), r%u)",
				src, type, base, insn->off, src);
	if (insn->imm == BPF_ADD)
		return snprintf(text, size, "lock *(%s *)(r%u %+d) += r%u",
				type, base, insn->off, src);
	return print_unknown(insn, text, size);
}

static int print_store(const struct bpf_insn *insn, char *text, size_t size)
{
	if (BPF_MODE(insn->code) == BPF_ATOMIC &&
	    BPF_CLASS(insn->code) == BPF_STX)
		return print_atomic(insn, text, size);
	if (BPF_MODE(insn->code) != BPF_MEM)
		return print_unknown(insn, text, size);
	if (BPF_CLASS(insn->code) == BPF_STX)
		return snprintf(text, size, "*(%s *)(r%u %+d) = r%u",
				size_name(insn->code), insn->dst_reg,
				insn->off, insn->src_reg);
	return snprintf(text, size, "*(%s *)(r%u %+d) = %d",
			size_name(insn->code), insn->dst_reg, insn->off,
			insn->imm);
}

static int print_load(const struct bpf_insn *insn, char *text, size_t size)
{
	if (BPF_MODE(insn->code) != BPF_MEM)
		return print_unknown(insn, text, size);
	return snprintf(text, size, "r%u = *(%s *)(r%u %+d)", insn->dst_reg,
			size_name(insn->code), insn->src_reg, insn->off);
}

static int print_wide(const struct bpf_insn *insn, char *text, size_t size)
{
	uint64_t value = (uint32_t)insn[0].imm |
			 (uint64_t)(uint32_t)insn[1].imm << 32;

	switch (insn->src_reg) {
	case BPF_PSEUDO_MAP_FD:
		return snprintf(text, size, "r%u = map[fd:%d]", insn->dst_reg,
				insn->imm);
	case BPF_PSEUDO_MAP_VALUE:
		return snprintf(text, size, "r%u = map[fd:%d][0]+%u",
				insn->dst_reg, insn->imm,
				(uint32_t)insn[1].imm);
	case BPF_PSEUDO_FUNC:
		return snprintf(text, size, "r%u = func pc%+d", insn->dst_reg,
				insn->imm);
	default:
		return snprintf(text, size, "r%u = 0x%llx", insn->dst_reg,
				(unsigned long long)value);
	}
}

int disasm_print(const struct bpf_insn *insn, char *text, size_t size)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		print_alu(insn, text, size);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		print_jump(insn, text, size);
		break;
	case BPF_ST:
	case BPF_STX:
		print_store(insn, text, size);
		break;
	case BPF_LDX:
		print_load(insn, text, size);
		break;
	default:
		if (insn->code == (BPF_LD | BPF_DW | BPF_IMM)) {
			print_wide(insn, text, size);
			return 2;
		}
		print_unknown(insn, text, size);
	}
	return 1;
}
