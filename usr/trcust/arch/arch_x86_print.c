// SPDX-License-Identifier: GPL-2.0
/* Instructions of x86 as the assembler has them. */
#include "arch.h"

#include <elf.h>
#include <errno.h>
#include <Zydis/Zydis.h>

int arch_insn_print(const uint8_t *code, size_t size, uint8_t elf_class,
		    uint64_t address, char *text, size_t text_size)
{
	bool wide = elf_class == ELFCLASS64;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 :
					  ZYDIS_MACHINE_MODE_LEGACY_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE,
				  ZYAN_FALSE);
	ZydisFormatterSetProperty(&formatter,
				  ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code, size, &insn,
					       operands)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatter, &insn,
				operands, insn.operand_count_visible, text,
				text_size, address, ZYAN_NULL)))
		return -EINVAL;
	return 0;
}
