// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as instructions of AArch64, and as an operand in a note of a static
 * probe.
 */
#include <stdlib.h>
#include <string.h>
#include "usr/trcust/arch/arch.h"

#define INSNS_MAX	64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_insn(const struct arch_insn *insn)
{
	bool jumps = insn->flow == ARCH_FLOW_CALL ||
		     insn->flow == ARCH_FLOW_BRANCH ||
		     insn->flow == ARCH_FLOW_JUMP;

	if (insn->length != 4 || insn->jump % 4 || (insn->jump && !jumps) ||
	    llabs(insn->jump) > 1 << 27)
		abort();
	if ((insn->refused && !insn->user_refused) ||
	    insn->user_refused != !!insn->why ||
	    (insn->epilogue && insn->padding))
		abort();
}

static void check_text(const uint8_t *code, uint64_t address)
{
	char text[128], less[128];
	size_t length;

	if (arch_insn_print(&arch_aarch64, code, 4, address, text,
			    sizeof(text)))
		abort();
	length = strlen(text);
	if (!length ||
	    arch_insn_print(&arch_aarch64, code, 4, address, less,
			    length + 1) || strcmp(text, less) ||
	    !arch_insn_print(&arch_aarch64, code, 4, address, less, length))
		abort();
}

static void look_at_insns(const uint8_t *data, size_t size)
{
	struct arch_code codes[INSNS_MAX];
	struct arch_computed computed;
	struct arch_effect effect;
	struct arch_address found;
	size_t count = 0;

	for (size_t at = 0; at < size && count < INSNS_MAX; at += 4) {
		const uint8_t *code = data + at;
		struct arch_insn insn;

		if (arch_insn_decode(&arch_aarch64, code, size - at, &insn))
			continue;
		check_insn(&insn);
		check_text(code, 0x400000 + at);
		arch_insn_held(&arch_aarch64, data, at, at & 4);
		codes[count++] = (struct arch_code){ 0x400000 + at, code, 4 };
		if (arch_effect_find(&arch_aarch64, code, size - at,
				     0x400000 + at, &effect) &&
		    (effect.count > ARCH_TRANSFERS || effect.read_count > 2 ||
		     effect.write_count > 2))
			abort();
		arch_address_find(&arch_aarch64, codes, count, &found);
	}
	if (count)
		arch_computed_find(&arch_aarch64, codes, count, &computed);
}

static void look_at_operand(const uint8_t *data, size_t size)
{
	struct arch_operand operand;
	char *text = malloc(size + 1);

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = 0;
	if (arch_operand_parse(&arch_aarch64, text, size, &operand) &&
	    (operand.base > 31 || operand.index > 30 ||
	     (operand.symbol && (operand.symbol < text ||
				 operand.symbol + operand.symbol_length >
					 text + size))))
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	look_at_insns(data, size);
	look_at_operand(data, size);
	return 0;
}
