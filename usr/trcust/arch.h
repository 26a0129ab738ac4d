/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What depends on the processor: its registers and its instructions. Nothing
 * outside the arch_*.c files knows a register's name or an opcode.
 */
#ifndef TRCUST_ARCH_H
#define TRCUST_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arch_register_kind {
	ARCH_GPR, ARCH_IP, ARCH_FLAGS, ARCH_SEG,
};

struct arch_register {
	const char *name;	/* upper case: "EBP" */
	uint8_t bytes;
	int16_t dwarf64, dwarf32;	/* -1: not in a module of that class */
	int16_t pt_regs;	/* offset there, -1 not in there */
	enum arch_register_kind kind;
};

/* By name, in either case; NULL: no such register. */
const struct arch_register *arch_register_find(const char *name);
/* Usable behind a flat base register (manual 1.3.5.15.2): no stack pointer. */
bool arch_register_is_index(const struct arch_register *reg);

/* The machine (ELF e_machine) of modules of an ELF class; 0: none. */
uint16_t arch_machine(uint8_t elf_class);
const char *arch_machine_name(uint16_t machine);

enum arch_flow {
	ARCH_FLOW_NEXT,		/* calls included */
	ARCH_FLOW_JUMP,		/* perhaps, to a known address */
	ARCH_FLOW_AWAY,		/* returns, jumps to where a value tells */
};

struct arch_insn {
	uint8_t length;
	enum arch_flow flow;
	int64_t jump;		/* ARCH_FLOW_JUMP: from its own address on */
	uint8_t cost;		/* TDF_COST_* */
	bool refused;		/* no kind of probe may stand here */
	bool user_refused;	/* the kernel refuses or spoils a uprobe here */
	const char *why;	/* of either: "a VEX instruction ..." */
};

/* Decode the instruction at code; 0, or -EINVAL: none that is valid. */
int arch_insn_decode(const uint8_t *code, size_t size, uint8_t elf_class,
		     struct arch_insn *insn);

#endif
