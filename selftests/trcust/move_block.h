/* SPDX-License-Identifier: GPL-2.0 */
/* Straight lines of code that a test writes in assembly. */
#ifndef TRCUST_MOVE_BLOCK_H
#define TRCUST_MOVE_BLOCK_H

#include <rastrace/tdf.h>
#include "compiled.h"
#include "trcust/compile/move.h"
#include "lib/formats/rpn.h"

#define MOVE_INSNS	40

struct move_block {
	struct block block;
	struct block_insn insns[MOVE_INSNS + 1];
};

/* All instructions of the symbol; each is the only way to the next. */
__attribute__((unused))
static void move_block_find(struct module *module, const char *name, bool entry,
			    struct move_block *b)
{
	const struct module_symbol *symbol;
	bool others;
	uint64_t at;

	symbol = module_symbol_find(module, name, MODULE_CODE, &others);
	if (!symbol)
		tap_bail("no symbol %s", name);
	memset(b, 0, sizeof(*b));
	b->block.insns = b->insns;
	b->block.entry = entry;
	for (at = symbol->address; at < symbol->address + symbol->size;) {
		struct block_insn *insn = &b->insns[b->block.count++];
		size_t available;

		if (b->block.count > MOVE_INSNS)
			tap_bail("%s is too long", name);
		insn->address = at;
		insn->bytes = module_code(module, at, &available, NULL);
		if (!insn->bytes || arch_insn_decode(module->arch, insn->bytes,
						     available, &insn->insn))
			tap_bail("%s: no code at %#llx", name,
				 (unsigned long long)at);
		at += insn->insn.length;
	}
}

/* The same for AArch64; false: there is no assembler for it. */
__attribute__((unused))
static bool move_block_link_a64(const char *options)
{
	static const char tools[] =
		"PATH=$PATH:${RASTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}"
		"/rastrace}/aarch64/bin; ";

	return compiled_run("%s aarch64-linux-gnu-as -o code.o code.s && "
			    "aarch64-linux-gnu-ld --build-id %s -o code code.o",
			    tools, options);
}

/* Assemble and link code.s; false: this machine can't, for 32 bits. */
__attribute__((unused))
static bool move_block_link(bool wide, const char *options)
{
	const char *machine = wide ? "elf_x86_64" : "elf_i386";

	if (!compiled_run("as --%d -o code.o code.s && "
			  "ld -m %s --build-id %s -o code code.o",
			  wide ? 64 : 32, machine, options))
		return !tap_ok(!wide, "code is assembled");
	return true;
}

#endif
