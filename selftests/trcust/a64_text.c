// SPDX-License-Identifier: GPL-2.0
/* For test_a64_insn.sh: lines "ADDRESS WORD" (hexadecimal) in, "WORD LETTERS
 * TEXT" out. The letters are where the instruction leads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/debug/arch/arch.h"

int main(void)
{
	static const char flows[] = {
		[ARCH_FLOW_NEXT] = 'n', [ARCH_FLOW_CALL] = 'c',
		[ARCH_FLOW_BRANCH] = 'b', [ARCH_FLOW_JUMP] = 'j',
		[ARCH_FLOW_COMPUTED] = 'i', [ARCH_FLOW_RETURN] = 'r',
		[ARCH_FLOW_STOP] = 's',
	};
	struct arch_insn insn;
	uint64_t address;
	uint32_t word;

	while (scanf("%" SCNx64 " %" SCNx32, &address, &word) == 2) {
		const uint8_t *code = (const uint8_t *)&word;
		char text[128];

		if (arch_insn_decode(&arch_aarch64, code, 4, &insn) ||
		    arch_insn_print(&arch_aarch64, code, 4, address, text,
				    sizeof(text))) {
			printf("%08" PRIx32 " - none\n", word);
			continue;
		}
		printf("%08" PRIx32 " %c", word, flows[insn.flow]);
		if (insn.jump)
			printf(" %" PRIx64, address + insn.jump);
		printf(" %s\n", text);
	}
	return 0;
}
