/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions that libraries hardly have, with what they need to run. */
#ifndef SELFTESTS_TRACE_INSNS_LIST_H
#define SELFTESTS_TRACE_INSNS_LIST_H

#include "insns_corpus.h"

enum { WIDE = 1, NARROW = 2, BOTH = 3 };
/* The register that has the number. */
enum { NONE, AX, SP };

struct list_insn {
	uint8_t classes, reg, fill;
	uint8_t size;
	const char *bytes;
	uint64_t number;
};

#define CODE(text) .size = sizeof(text) - 1, .bytes = text
#define RANDOM	INSNS_FILL_RANDOM
#define NUMBER	INSNS_FILL_NUMBER

static const struct list_insn list_insns[] = {
	/* do nothing */
	{ BOTH, CODE("\x90") }, { BOTH, CODE("\x66\x90") },
	{ BOTH, CODE("\x0f\x1f\x00") }, { BOTH, CODE("\x0f\x1f\x40\x00") },
	{ BOTH, CODE("\x0f\x1f\x44\x00\x00") },
	{ BOTH, CODE("\x66\x0f\x1f\x44\x00\x00") },
	{ BOTH, CODE("\x0f\x1f\x80\x00\x00\x00\x00") },
	{ BOTH, CODE("\x0f\x1f\x84\x00\x00\x00\x00\x00") },
	{ BOTH, CODE("\x66\x0f\x1f\x84\x00\x00\x00\x00\x00") },
	{ BOTH, CODE("\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00") },
	{ BOTH, CODE("\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00") },
	{ BOTH, CODE("\x66\x66\x90") }, { BOTH, CODE("\x66\x66\x66\x66\x90") },
	{ BOTH, CODE("\x66\x66\x0f\x1f\x00") },
	{ BOTH, CODE("\x66\x0f\x1f\x40\x00") },
	{ BOTH, CODE("\x0f\x1f\x44\x00\x08") },
	{ BOTH, CODE("\x0f\x1f\x4c\x00\x00") },
	{ BOTH, CODE("\xf3\x0f\x1f\x40\x00") },
	{ BOTH, CODE("\xf2\x0f\x1f\x40\x00") },
	{ BOTH, CODE("\x67\x0f\x1f\x40\x00") },
	{ BOTH, CODE("\x65\x0f\x1f\x40\x00") },
	{ WIDE, CODE("\x49\x0f\x1f\x40\x00") },
	{ BOTH, CODE("\x66\x66\x0f\x1f\xc0") },
	{ BOTH, CODE("\x66\x66\x66\xf3\x90") },
	{ BOTH, CODE("\x0f\x18\x44\x00\x00") },
	{ BOTH, CODE("\x0f\x1c\x44\x00\x00") },
	{ BOTH, CODE("\x0f\x1d\x44\x00\x00") },
	{ BOTH, CODE("\x0f\x1e\x44\x00\x00") },
	{ BOTH, CODE("\x0f\x1f\xc0") }, { WIDE, CODE("\x48\x90") },
	{ BOTH, CODE("\x0f\x1f\x05\0\0\0\0") }, { BOTH, CODE("\xf3\x90") },
	{ WIDE, CODE("\x66\x66\x66\x48\x90") }, { BOTH, CODE("\xf2\x90") },
	/* don't do nothing, with the opcode of what does */
	{ WIDE, CODE("\x41\x90") }, { WIDE, CODE("\x49\x90") },
	{ WIDE, CODE("\x66\x41\x90") }, { WIDE, CODE("\x66\x49\x90") },
	{ WIDE, CODE("\xf3\x41\x90") }, { WIDE, CODE("\x4d\x90") },
	{ BOTH, CODE("\x91") }, { BOTH, CODE("\x66\x91") },
	{ BOTH, CODE("\xf3\x0f\x1e\xfa") }, { BOTH, CODE("\xf3\x0f\x1e\xfb") },
	{ WIDE, CODE("\xf3\x48\x0f\x1e\xc8") },

	/* the flags */
	{ BOTH, CODE("\x9c") }, { BOTH, CODE("\x66\x9c") },
	{ BOTH, NONE, NUMBER, CODE("\x9d"), 0x2000002ac },
	{ BOTH, NONE, NUMBER, CODE("\x9d"), 0x246 },
	{ BOTH, NONE, NUMBER, CODE("\x9d"), 0x346 },
	{ BOTH, NONE, NUMBER, CODE("\x9d"), 0x646 },
	{ BOTH, NONE, NUMBER, CODE("\x66\x9d"), 0x0203020302030203 },
	{ BOTH, CODE("\x9e") }, { BOTH, CODE("\x9f") }, { BOTH, CODE("\xf8") },
	{ BOTH, CODE("\xf9") }, { BOTH, CODE("\xf5") }, { BOTH, CODE("\xfc") },
	{ BOTH, CODE("\xfd") }, { BOTH, CODE("\xfa") }, { BOTH, CODE("\xfb") },

	/* the stack */
	{ BOTH, CODE("\x50") }, { BOTH, CODE("\x54") }, { BOTH, CODE("\x55") },
	{ WIDE, CODE("\x41\x50") }, { WIDE, CODE("\x41\x54") },
	{ WIDE, CODE("\x48\x55") }, { WIDE, CODE("\x49\x55") },
	{ WIDE, CODE("\x40\x53") }, { BOTH, CODE("\x66\x50") },
	{ WIDE, CODE("\x66\x41\x50") }, { BOTH, CODE("\xf3\x50") },
	{ BOTH, CODE("\x66\x54") }, { BOTH, CODE("\x58") },
	{ BOTH, CODE("\x5c") }, { BOTH, CODE("\x66\x5c") },
	{ WIDE, CODE("\x41\x5c") }, { BOTH, CODE("\x6a\x80") },
	{ BOTH, CODE("\x66\x6a\x80") }, { BOTH, CODE("\x68\x44\x33\x22\x91") },
	{ BOTH, CODE("\xff\x34\x24") }, { BOTH, CODE("\x8f\x04\x24") },
	{ BOTH, CODE("\x8f\x44\x24\x08") }, { BOTH, CODE("\xff\x74\x24\x08") },
	{ BOTH, CODE("\x8f\x05\0\0\0\0") }, { BOTH, CODE("\xff\x35\0\0\0\0") },
	{ BOTH, CODE("\xc8\x10\0\0") }, { BOTH, CODE("\xc8\x10\0\x01") },
	{ BOTH, CODE("\xc8\x20\0\x03") }, { BOTH, CODE("\xc9") },
	{ BOTH, CODE("\x66\xc9") }, { NARROW, CODE("\x60") },
	{ NARROW, CODE("\x61") }, { NARROW, CODE("\x66\x60") },
	/* ... that isn't there */
	{ BOTH, SP, RANDOM, CODE("\x55"), 0x1000 },
	{ WIDE, SP, RANDOM, CODE("\x41\x55"), 0x1000 },
	{ WIDE, SP, RANDOM, CODE("\x55"), 0x8000000000000000 },
	{ BOTH, SP, RANDOM, CODE("\x5d"), 0x1000 },
	{ BOTH, SP, RANDOM, CODE("\xe8\0\0\0\0"), 0x1000 },
	{ WIDE, SP, RANDOM, CODE("\xe8\0\0\0\0"), 0x8000000000000000 },
	{ BOTH, SP, RANDOM, CODE("\xff\xd0"), 0x1000 },
	{ BOTH, SP, RANDOM, CODE("\xc3"), 0x1000 },

	/* branches */
	{ BOTH, CODE("\xe8\0\0\0\0") }, { BOTH, CODE("\xe9\0\0\0\0") },
	{ BOTH, CODE("\xeb\0") }, { BOTH, CODE("\x74\0") },
	{ BOTH, CODE("\x7e\0") }, { BOTH, CODE("\x7a\0") },
	{ BOTH, CODE("\x0f\x8c\0\0\0\0") }, { BOTH, CODE("\x0f\x80\0\0\0\0") },
	{ BOTH, CODE("\xe0\0") }, { BOTH, CODE("\xe1\0") },
	{ BOTH, CODE("\xe2\0") }, { BOTH, CODE("\xe3\0") },
	{ BOTH, CODE("\x67\xe3\0") }, { BOTH, CODE("\x67\xe2\0") },
	{ BOTH, CODE("\xff\xd0") }, { BOTH, CODE("\xff\xe0") },
	{ BOTH, CODE("\xff\x10") }, { BOTH, CODE("\xff\x20") },
	{ BOTH, CODE("\xff\x50\x08") }, { BOTH, CODE("\xff\x14\x24") },
	{ BOTH, CODE("\xff\x24\x24") }, { BOTH, CODE("\xff\x15\0\0\0\0") },
	{ BOTH, CODE("\xff\x25\0\0\0\0") }, { WIDE, CODE("\x41\xff\xd3") },
	{ BOTH, CODE("\xc3") }, { BOTH, CODE("\xf3\xc3") },
	{ BOTH, CODE("\xc2\x10\0") }, { BOTH, CODE("\xf2\xc3") },
	{ BOTH, CODE("\x66\xc3") }, { BOTH, CODE("\x66\xc2\x10\0") },
	{ WIDE, CODE("\x48\xc3") }, { WIDE, CODE("\x48\xff\xe0") },
	/* ... with prefixes */
	{ WIDE, CODE("\x48\xe8\0\0\0\0") }, { BOTH, CODE("\xf2\xe8\0\0\0\0") },
	{ BOTH, CODE("\xf2\xe9\0\0\0\0") }, { BOTH, CODE("\xf2\x74\0") },
	{ BOTH, CODE("\xf2\xff\x10") }, { BOTH, CODE("\xf2\xff\xe0") },
	{ WIDE, CODE("\x66\x66\x48\xe8\0\0\0\0") },
	{ WIDE, CODE("\x66\xe8\0\0\0\0") }, { NARROW, CODE("\x66\xe8\0\0") },
	{ WIDE, CODE("\x66\x48\xe9\0\0\0\0") }, { BOTH, CODE("\x66\x74\0") },
	{ BOTH, CODE("\x66\xeb\0") }, { WIDE, CODE("\x66\x48\x74\0") },
	{ WIDE, CODE("\x66\x48\x0f\x84\0\0\0\0") },
	{ BOTH, CODE("\x66\xe2\0") }, { BOTH, CODE("\x66\xe3\0") },
	{ WIDE, CODE("\x66\x48\xff\xd0") }, { BOTH, CODE("\x66\xff\xd0") },
	{ BOTH, CODE("\x66\xff\xe0") }, { BOTH, CODE("\x66\xff\x10") },
	{ BOTH, CODE("\x2e\x74\0") }, { BOTH, CODE("\x3e\x74\0") },
	{ BOTH, CODE("\x3e\xff\xe0") }, { BOTH, CODE("\x3e\xff\x20") },
	{ BOTH, CODE("\x2e\xff\xd0") }, { WIDE, CODE("\x67\xe8\0\0\0\0") },
	{ BOTH, CODE("\x2e\xe8\0\0\0\0") },
	{ WIDE, CODE("\x41\x41\xc3") }, { WIDE, CODE("\x41\x48\x89\xc0") },
	/* ... to other segments */
	{ BOTH, NONE, INSNS_FILL_FAR, CODE("\xcb") },
	{ BOTH, NONE, INSNS_FILL_FAR, CODE("\xca\x08\0") },
	{ WIDE, NONE, INSNS_FILL_FAR_WIDE, CODE("\x48\xcb") },
	{ BOTH, NONE, INSNS_FILL_FAR, CODE("\xff\x18") },
	{ BOTH, NONE, INSNS_FILL_FAR, CODE("\xff\x28") },
	{ WIDE, NONE, INSNS_FILL_FAR_WIDE, CODE("\x48\xff\x18") },
	{ NARROW, CODE("\xea\0\0\0\x10\x23\0") },
	{ NARROW, CODE("\x9a\0\0\0\x10\x23\0") },
	{ BOTH, NONE, INSNS_FILL_FAR, CODE("\xcf") },
	{ WIDE, CODE("\x48\xcf") },

	/* segments */
	{ BOTH, AX, RANDOM, CODE("\x8e\xd0"), 0x2b },
	{ BOTH, AX, RANDOM, CODE("\x8e\xd8"), 0x2b },
	{ BOTH, AX, RANDOM, CODE("\x8e\xc0"), 0x2b },
	{ BOTH, AX, RANDOM, CODE("\x8e\xc0"), 0x1233 },
	{ NARROW, NONE, NUMBER, CODE("\x17"), 0x2b0000002b },
	{ NARROW, NONE, NUMBER, CODE("\x1f"), 0x2b0000002b },
	{ NARROW, NONE, NUMBER, CODE("\x07"), 0x2b0000002b },
	{ NARROW, CODE("\x06") }, { NARROW, CODE("\x0e") },
	{ NARROW, CODE("\x16") }, { NARROW, CODE("\x1e") },
	{ BOTH, CODE("\x0f\xa0") }, { BOTH, CODE("\x0f\xa8") },
	{ BOTH, CODE("\x8c\xd0") }, { BOTH, CODE("\x8c\x18") },
	{ WIDE, CODE("\x64\x48\x8b\x04\x25\0\0\0\0") },
	{ BOTH, CODE("\x65\x8b\x00") }, { BOTH, CODE("\x64\x89\x08") },
	{ WIDE, CODE("\x64\x8b\x05\0\0\0\0") }, { BOTH, CODE("\x64\xff\x10") },
	{ BOTH, CODE("\x65\xff\x20") }, { BOTH, CODE("\x64\x50") },
	{ BOTH, CODE("\x2e\x8b\x00") }, { BOTH, CODE("\x36\x8b\x00") },
	{ BOTH, CODE("\x3e\x8b\x00") }, { BOTH, CODE("\x26\x8b\x00") },
	{ BOTH, CODE("\x65\x90") },

	/* strings */
	{ BOTH, CODE("\xa4") }, { BOTH, CODE("\xa5") }, { BOTH, CODE("\xaa") },
	{ BOTH, CODE("\xac") }, { BOTH, CODE("\xae") }, { BOTH, CODE("\xa6") },
	{ BOTH, CODE("\xf3\xa4") }, { WIDE, CODE("\xf3\x48\xa5") },
	{ BOTH, CODE("\xf3\xa5") }, { BOTH, CODE("\xf3\xab") },
	{ BOTH, CODE("\xf3\xaa") }, { BOTH, CODE("\xf3\xac") },
	{ BOTH, CODE("\xf3\xa6") }, { BOTH, CODE("\xf2\xae") },
	{ BOTH, CODE("\xf3\xae") }, { BOTH, CODE("\xf2\xa6") },
	{ BOTH, CODE("\xf2\xa4") }, { BOTH, CODE("\xf2\xab") },
	{ BOTH, CODE("\xd7") }, { BOTH, CODE("\x66\xa5") },

	/* locked, or as if */
	{ BOTH, CODE("\xf0\xff\x00") }, { BOTH, CODE("\xf0\x0f\xb1\x08") },
	{ BOTH, CODE("\xf0\x83\x0c\x24\x00") }, { BOTH, CODE("\x87\x08") },
	{ BOTH, CODE("\xf2\x87\x08") }, { BOTH, CODE("\x0f\xb1\x08") },
	{ BOTH, CODE("\x0f\xc1\x08") }, { BOTH, CODE("\x0f\xc7\x08") },
	{ WIDE, CODE("\x48\x0f\xc7\x08") },
	{ BOTH, CODE("\x0f\xc7\x0d\0\0\0\0") },
	{ WIDE, CODE("\x48\x0f\xc7\x0d\0\0\0\0") },

	/* at the instruction pointer (64 bits) */
	{ BOTH, CODE("\x8b\x35\0\0\0\0") }, { BOTH, CODE("\x8b\x3d\0\0\0\0") },
	{ BOTH, CODE("\x89\x35\0\0\0\0") }, { BOTH, CODE("\x89\x3d\0\0\0\0") },
	{ WIDE, CODE("\x48\x8d\x35\0\0\0\0") },
	{ WIDE, CODE("\x4c\x8d\x35\0\0\0\0") },
	{ WIDE, CODE("\x4c\x89\x35\0\0\0\0") },
	{ WIDE, CODE("\x49\x8b\x05\0\0\0\0") },
	{ WIDE, CODE("\x67\x8b\x05\0\0\0\0") },
	{ WIDE, CODE("\x67\x48\x8d\x05\0\0\0\0") },
	{ BOTH, CODE("\xf7\x35\0\0\0\0") }, { BOTH, CODE("\xf7\x2d\0\0\0\0") },
	{ BOTH, CODE("\xc7\x05\0\0\0\0\x44\x33\x22\x11") },
	{ BOTH, CODE("\x83\x3d\0\0\0\0\x07") },
	{ BOTH, CODE("\x0f\x10\x35\0\0\0\0") },
	{ BOTH, CODE("\x66\x0f\x3a\x61\x35\0\0\0\0\x0c") },
	{ BOTH, CODE("\x0f\x38\xf0\x35\0\0\0\0") },
	{ BOTH, CODE("\xd9\x05\0\0\0\0") },

	/* of 32 bits only */
	{ NARROW, CODE("\x37") }, { NARROW, CODE("\x3f") },
	{ NARROW, CODE("\x27") }, { NARROW, CODE("\x2f") },
	{ NARROW, CODE("\xd4\x0a") }, { NARROW, CODE("\xd5\x0a") },
	{ NARROW, CODE("\xd6") }, { NARROW, CODE("\x62\x00") },
	{ NARROW, CODE("\xce") }, { NARROW, CODE("\x41") },
	{ NARROW, CODE("\x4f") }, { NARROW, CODE("\x63\xc8") },

	/* traps and the kernel */
	{ BOTH, CODE("\xcc") }, { BOTH, CODE("\xcd\x04") },
	{ BOTH, AX, RANDOM, CODE("\xcd\x80"), 24 },	/* getuid */
	{ WIDE, AX, RANDOM, CODE("\x0f\x05"), 102 },
	{ NARROW, CODE("\x0f\x34") }, { BOTH, CODE("\xf1") },
	{ BOTH, CODE("\x0f\x0b") }, { BOTH, CODE("\x0f\xb9\xc0") },
	{ BOTH, CODE("\x0f\xff\xc0") }, { BOTH, CODE("\xf4") },
	{ BOTH, CODE("\xec") }, { BOTH, CODE("\xe4\x80") },
	{ BOTH, CODE("\xe6\x80") }, { BOTH, CODE("\x6c") },
	{ BOTH, CODE("\x6f") }, { BOTH, CODE("\x0f\x30") },
	{ BOTH, CODE("\x0f\x32") }, { BOTH, CODE("\x0f\x33") },
	{ BOTH, CODE("\x0f\x06") }, { BOTH, CODE("\x0f\x08") },
	{ BOTH, CODE("\x0f\x09") }, { BOTH, CODE("\x0f\x07") },
	{ BOTH, CODE("\x0f\x35") }, { BOTH, CODE("\x0f\x37") },
	{ BOTH, CODE("\x0f\x20\xc0") }, { BOTH, CODE("\x0f\x21\xc0") },
	{ BOTH, CODE("\x0f\x00\xc0") }, { BOTH, CODE("\x0f\x00\xc8") },
	{ BOTH, CODE("\x0f\x00\xe0") }, { BOTH, CODE("\x0f\x02\xc8") },
	{ BOTH, CODE("\x0f\x03\xc8") }, { BOTH, CODE("\x0f\x01\x00") },
	{ BOTH, CODE("\x0f\x01\x08") }, { BOTH, CODE("\x0f\x01\xe0") },
	{ BOTH, CODE("\x0f\x01\x10") },
	{ BOTH, AX, RANDOM, CODE("\x0f\x01\xd0") },
	{ BOTH, CODE("\x0f\x01\xf9") }, { BOTH, CODE("\x0f\x01\xd5") },
	{ BOTH, CODE("\x0f\x01\xd6") }, { BOTH, CODE("\xc7\xf8\0\0\0\0") },
	{ BOTH, CODE("\xc6\xf8\x01") }, { BOTH, CODE("\x0f\x31") },
	{ BOTH, CODE("\x0f\xa2") }, { BOTH, CODE("\x0f\xc7\xf0") },
	{ BOTH, CODE("\x0f\xc7\xf8") }, { BOTH, CODE("\xf3\x0f\xc7\xf8") },

	/* fences, saved state */
	{ BOTH, CODE("\x0f\xae\xf0") }, { BOTH, CODE("\x0f\xae\xe8") },
	{ BOTH, CODE("\x0f\xae\xf8") }, { BOTH, CODE("\x0f\xae\x00") },
	{ BOTH, CODE("\x0f\xae\x18") }, { BOTH, CODE("\x0f\xae\x38") },
	{ BOTH, NONE, NUMBER, CODE("\x0f\xae\x10"), 0x1f8000001f80 },
	{ BOTH, CODE("\x66\x0f\xae\x38") }, { WIDE, CODE("\xf3\x0f\xae\xc0") },
	{ BOTH, CODE("\xd9\x30") }, { BOTH, CODE("\xdd\x30") },
	{ BOTH, CODE("\x9b") }, { BOTH, CODE("\xdb\xe3") },
	{ BOTH, CODE("\x0f\x77") }, { BOTH, CODE("\x0f\x6f\x00") },
	{ BOTH, CODE("\x0f\xf7\xc1") }, { BOTH, CODE("\x66\x0f\xf7\xc1") },
	{ BOTH, CODE("\x66\x0f\x78\xc0\x08\x04") },
	{ BOTH, CODE("\x66\x0f\x79\xc1") }, { BOTH, CODE("\xf2\x0f\x79\xc1") },

	/* other encodings, with the opcodes of branches and of others */
	{ BOTH, CODE("\xc5\xe9\xeb\xc2") }, { BOTH, CODE("\xc5\xe9\x76\xc2") },
	{ BOTH, CODE("\xc5\xe9\xe9\xc2") }, { BOTH, CODE("\xc5\xe9\xe8\xc2") },
	{ BOTH, CODE("\xc5\xe8\xc2\xc2\0") }, { BOTH, CODE("\xc5\xf8\x77") },
	{ BOTH, CODE("\xc5\xe8\x58\xc2") }, { BOTH, CODE("\xc5\xf9\xef\xc0") },
	{ BOTH, CODE("\xc4\xe2\x70\xf2\xc2") },
	{ BOTH, CODE("\xc5\xfa\x6f\x00") },
	{ BOTH, CODE("\xc5\xfa\x6f\x05\0\0\0\0") },
	{ BOTH, CODE("\xc4\xe2\x79\x90\x04\x08") },
	{ BOTH, CODE("\xc5\xe9\x74\xc2") }, { BOTH, CODE("\xc5\xe8\x50\xc2") },
};

#define LIST_COUNT	(sizeof(list_insns) / sizeof(list_insns[0]))

/* QEMU reads the stack for these as if the kernel did: an oops with SMAP. */
static inline bool list_is_real_only(const struct corpus_insn *insn)
{
	return insn->zi.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
	       insn->zi.opcode == 0xcf;
}

/* Those of the corpus' width that decode here. */
static inline void list_add(struct corpus *corpus)
{
	int width = corpus->elf_class == ELFCLASS64 ? WIDE : NARROW;
	bool emulated = getenv("RASTRACE_GUEST");

	for (size_t i = 0; i < LIST_COUNT; i++) {
		const struct list_insn *in = &list_insns[i];
		const uint8_t *bytes = (const uint8_t *)in->bytes;
		struct insns_form *form;
		struct corpus_insn insn;

		if (!(in->classes & width) || corpus->count >= corpus->room ||
		    !corpus_decode(corpus, bytes, in->size, &insn) ||
		    insn.zi.length != in->size ||
		    (emulated && list_is_real_only(&insn)))
			continue;
		form = corpus_put(corpus, bytes, &insn);
		form->number = in->number;
		if (in->fill)
			form->fill = in->fill;
		if (in->reg == AX)
			form->kinds[0] = INSNS_NUMBER;
		if (in->reg == SP)
			form->kinds[INSNS_SP] = INSNS_NUMBER;
	}
}

#endif
