// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as instructions of a processor, and as an operand in a note of a
 * static probe. The first byte chooses the processor.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/debug/arch/arch.h"

#define INSNS_MAX	64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_insn(const struct arch *arch, const struct arch_insn *insn,
		       size_t room)
{
	bool jumps = insn->flow == ARCH_FLOW_CALL ||
		     insn->flow == ARCH_FLOW_BRANCH ||
		     insn->flow == ARCH_FLOW_JUMP;

	if (!insn->length || insn->length > room || (insn->jump && !jumps))
		abort();
	if (arch->insn_bytes &&
	    (insn->length != arch->insn_bytes ||
	     insn->jump % arch->insn_bytes || llabs(insn->jump) > 1 << 27))
		abort();
	if ((insn->refused && !insn->user_refused) ||
	    insn->user_refused != !!insn->why ||
	    (insn->epilogue && insn->padding))
		abort();
}

static void check_text(const struct arch *arch, const uint8_t *code,
		       size_t size, uint64_t address)
{
	char text[128], less[128];
	size_t length;

	if (arch_insn_print(arch, code, size, address, text,
			    sizeof(text)))
		abort();
	length = strlen(text);
	if (!length ||
	    arch_insn_print(arch, code, size, address, less,
			    length + 1) || strcmp(text, less) ||
	    !arch_insn_print(arch, code, size, address, less, length))
		abort();
}

static void look_at_insns(const struct arch *arch, const uint8_t *data,
			  size_t size)
{
	struct arch_code codes[INSNS_MAX];
	struct arch_computed computed;
	struct arch_effect effect;
	struct arch_address found;
	size_t count = 0;

	for (size_t at = 0, step; at < size && count < INSNS_MAX; at += step) {
		const uint8_t *code = data + at;
		struct arch_insn insn;

		step = arch->insn_bytes ? arch->insn_bytes : 1;
		if (arch_insn_decode(arch, code, size - at, &insn))
			continue;
		step = insn.length;
		check_insn(arch, &insn, size - at);
		check_text(arch, code, size - at, 0x400000 + at);
		arch_insn_held(arch, data, at, at & 4);
		codes[count++] = (struct arch_code){ 0x400000 + at, code,
						      insn.length };
		if (arch_effect_find(arch, code, size - at,
				     0x400000 + at, &effect) &&
		    (effect.count > ARCH_TRANSFERS || effect.read_count > 2 ||
		     effect.write_count > 2))
			abort();
		arch->address_find(arch, codes, count, &found);
	}
	if (count)
		arch->computed_find(arch, codes, count, &computed);
}

static void look_at_operand(const struct arch *arch, const uint8_t *data,
			    size_t size)
{
	struct arch_operand operand;
	char *text = malloc(size + 1);

	if (!text)
		return;
	memcpy(text, data, size);
	text[size] = 0;
	if (arch->operand_parse(arch, text, size, &operand) &&
	    (operand.base > 31 || operand.index > 30 ||
	     (operand.symbol && (operand.symbol < text ||
				 operand.symbol + operand.symbol_length >
					 text + size))))
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct arch *const machines[] = {
		&arch_aarch64, &arch_x86_64, &arch_i386,
	};
	const struct arch *arch;

	if (!size)
		return 0;
	arch = machines[data[0] % 3];
	look_at_insns(arch, data + 1, size - 1);
	look_at_operand(arch, data + 1, size - 1);
	return 0;
}
