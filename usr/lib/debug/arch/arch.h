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
#include <string.h>
#include <strings.h>

struct arch;

enum arch_register_kind {
	ARCH_GPR, ARCH_IP, ARCH_FLAGS, ARCH_SEG, ARCH_BASE,
};

struct arch_register {
	const char *name;	/* upper case: "EBP" */
	uint8_t bytes;
	int16_t dwarf;		/* -1: not in a module of this class */
	int16_t pt_regs;	/* offset there, -1 not in there */
	enum arch_register_kind kind;
};

/* DWARF numbers, from `first` on, of registers that aren't among these: their
 * names are numbered from `index` on. */
struct arch_bank {
	uint16_t first, count, index;
	const char *name;
};

/* Types of the loader's relocations, of slots that the module's code reads; 0:
 * there is none. */
struct arch_slots {
	uint32_t address;	/* of a symbol */
	/* of a thread-local variable: distance from the thread pointer, to be
	 * added or subtracted; a function and its argument, which may be that
	 * distance */
	uint32_t distance, minus, descriptor;
};

enum arch_operand_kind { ARCH_IMMEDIATE, ARCH_REGISTER, ARCH_MEMORY };

/* An operand of an instruction as the assembler writes it. */
struct arch_operand {
	enum arch_operand_kind kind;
	int64_t number;		/* immediate, displacement */
	int base, index;	/* DWARF numbers, -1 none; REGISTER: base */
	unsigned int scale;	/* of the index */
	unsigned int bytes, shift;	/* REGISTER: the part of it */
	const char *symbol;	/* added, in the text; NULL: none */
	size_t symbol_length;
};

/* A relocation of an object file: symbol + addend. */
struct arch_relocation {
	uint8_t bytes;		/* of the field; 0: it does nothing */
	bool relative;		/* to the field's own address */
	bool pages;		/* both of these rounded down to 4096 bytes */
	/* an instruction's field: `count` of the number's bits, from `first`
	 * on, are at bit `at`, but the lowest two where low_at is at that; 0:
	 * all of it is the number */
	uint8_t count, first, at, low_at;
	bool clamps;		/* what is too far is as far as it goes */
};

/* One of those that kernel modules have. */
struct arch_object_relocation {
	uint32_t type;
	struct arch_relocation relocation;
};

enum arch_flow {
	ARCH_FLOW_NEXT,
	ARCH_FLOW_CALL,		/* to `jump` (0: to a value) and back */
	ARCH_FLOW_BRANCH,	/* on a condition, to `jump` */
	ARCH_FLOW_JUMP,		/* to `jump` */
	ARCH_FLOW_COMPUTED,	/* jumps to a value */
	ARCH_FLOW_RETURN,
	ARCH_FLOW_STOP,		/* doesn't go on */
};

struct arch_insn {
	uint8_t length;
	enum arch_flow flow;
	int64_t jump;		/* from its own address on */
	uint8_t cost;		/* TDF_COST_* */
	bool pushes;		/* to emulate it the kernel writes to the stack of
				 * the program, which takes it a tenth longer */
	uint8_t target;		/* goes to where that register leads: DWARF
				 * number + 1; 0: none */
	bool epilogue;		/* gives the frame back and does nothing else;
				 * a return value is left alone */
	bool padding;		/* does nothing, or is never come to */
	bool refused;		/* no kind of probe may be here */
	bool user_refused;	/* the kernel refuses a uprobe here, or it
				 * corrupts the program */
	const char *why;	/* of either: "a VEX instruction ..." */
};

/*
 * What an instruction does to registers and memory, so that values can be
 * followed through code. All sources are read before anything is written.
 * Registers that are no general ones aren't looked at: what comes from them is
 * unknown.
 */
enum arch_source {
	ARCH_SOURCE_UNKNOWN,
	ARCH_SOURCE_CONSTANT,	/* number */
	ARCH_SOURCE_ADDRESS,	/* number: an address as linked */
	ARCH_SOURCE_REGISTER,	/* reg + number */
	ARCH_SOURCE_MEMORY,	/* what is at memory */
};

enum arch_space {
	ARCH_SPACE_UNKNOWN,	/* an address that isn't base + number */
	ARCH_SPACE_BASE,	/* register `base` + number */
	ARCH_SPACE_FIXED,	/* number: an address as linked */
	ARCH_SPACE_THREAD,	/* of the thread's own segment: never faults */
};

struct arch_memory {
	enum arch_space space;
	unsigned int base;	/* DWARF number */
	int64_t number;
	uint16_t bytes;		/* 0: not known */
};

struct arch_transfer {
	bool to_memory;		/* else to register `to` */
	unsigned int to;	/* DWARF number */
	uint8_t part;		/* the value is known of so many low bytes of
				 * the register only; 0: of all */
	struct arch_memory memory;	/* to_memory: where to; SOURCE_MEMORY:
					 * where from; never both */
	enum arch_source source;
	unsigned int reg;	/* SOURCE_REGISTER: DWARF number */
	int64_t number;
	uint8_t bytes;		/* that many low bytes of the source (of reg +
				 * number, after the sum); to a register they
				 * are extended to all of it, or of the part */
	bool is_signed;		/* by the sign, else by zeros */
};

#define ARCH_TRANSFERS	4

/* Vector registers that rastrace.ko reads (struct arch), at most: numbered from
 * the first one on. */
#define ARCH_VECTORS	16

/* An instruction that copies low bytes of a vector register, as they are. */
enum arch_vector_copy {
	ARCH_VECTOR_NONE,
	ARCH_VECTOR_COPY,	/* from the vector register `from` */
	ARCH_VECTOR_LOAD,	/* from reads[0] */
	ARCH_VECTOR_STORE,	/* to writes[0] */
	ARCH_VECTOR_SET,	/* from the general register `from` */
	ARCH_VECTOR_GET,	/* to the general register `to` */
};

struct arch_effect {
	bool known;		/* false: it may do anything to anything */
	bool flags;		/* may change the flags that are recorded */
	bool faults;		/* may fault otherwise than by memory that isn't
				 * there, or be done in part: division, string
				 * operations */
	bool traps;		/* may, by what programs rarely have: exceptions
				 * of arithmetic that aren't masked, an operand
				 * in memory that isn't aligned */
	/* general registers, a bit each by DWARF number, that a transfer of
	 * ARCH_SOURCE_UNKNOWN may come from, an access to ARCH_SPACE_UNKNOWN
	 * may go through, or another kind of register may get; a superset */
	uint32_t uses;
	/* vector registers that it writes, a bit each; what it copies, to the
	 * register `to` and above `bytes`, up to 8, zeros */
	uint16_t vectors;
	struct {
		enum arch_vector_copy kind;
		unsigned int to, from;
		uint8_t bytes;
	} copy;
	uint8_t count;
	struct arch_transfer transfers[ARCH_TRANSFERS];
	/* all that is read and written in memory, whether a transfer has it or
	 * not; an instruction whose accesses are more isn't known */
	uint8_t read_count, write_count;
	struct arch_memory reads[2], writes[2];
};

/* DWARF numbers of the registers in effects are below this. */
#define ARCH_REGISTERS 32

enum arch_computed_kind {
	ARCH_COMPUTED_ANY,	/* a pointer to a function, most likely */
	ARCH_COMPUTED_ADDRESSES,	/* to an address out of a table */
	ARCH_COMPUTED_DISTANCES,	/* to base + a number out of one */
};

/* What a computed jump goes by. */
struct arch_computed {
	enum arch_computed_kind kind;
	bool stays;		/* marked as one that stays in the function */
	uint8_t bytes;		/* of a number in the table */
	uint8_t shift;		/* the number counts 1 << shift bytes */
	bool is_signed;
	bool any_form;		/* it may go by a table of any other form, too
				 */
	uint32_t count;		/* of the numbers, at most; 0: not known */
	bool known;		/* so are these: */
	bool from_got;		/* ... as distances from the module's global
				 * offset table */
	uint64_t table, base;
};

struct arch_code {
	uint64_t address;
	const uint8_t *bytes;
	uint8_t length;
};

enum arch_address_kind {
	ARCH_ADDRESS_NONE,
	ARCH_ADDRESS_WHOLE,
	ARCH_ADDRESS_HIGH,	/* another instruction adds the rest */
	ARCH_ADDRESS_LOW,	/* it adds that, and none of these has the other
				 * part */
};

struct arch_address {
	enum arch_address_kind kind;
	unsigned int reg;	/* a part: the register, DWARF number */
	uint64_t number;
};

/* A processor, as modules of one machine and ELF class see it. Registers are
 * DWARF numbers. */
struct arch {
	const char *name;  /* "x86-64" */
	const char *others[2]; /* it is called besides; NULL: no more */
	uint16_t machine;  /* EM_* */
	uint8_t elf_class; /* ELFCLASS* */
	const struct arch_register *registers;
	size_t register_count;
	unsigned int ip, flags;
	unsigned int stack, frame; /* stack and frame pointer */
	/* leads to the thread-local variables: their base; where
	 * thread_is_selector, a segment that begins with its own address */
	unsigned int thread;
	bool thread_is_selector;
	/* the program's thread-local block begins so many bytes after the
	 * thread pointer; 0: it ends there */
	unsigned int thread_header;
	struct arch_slots slots;
	/* local symbols that mark code and data and name nothing: "$x", "$x.1"
	 * for these letters; NULL: none */
	const char *marks;
	/* have what a function returns, integer or pointer; a second one for
	 * the upper half */
	unsigned int results[2];
	const char *result; /* name of the first one: "RAX" */
	/* has the address to return to at a function's first instruction, and
	 * at each that leaves it; -1: that is where the stack pointer leads */
	int link;
	/* a return address may be signed: in bits from this one on; 0: never */
	unsigned int signed_from;
	/* what a call pushes: at these instructions the caller's frame begins
	 * so many bytes above the stack pointer */
	unsigned int call_bytes;
	/* Bytes below the stack pointer that a function may keep data in. 0:
	 * none. */
	unsigned int red_zone;
	/* its registers' halves have the names of an older processor's registers,
	 * whose values somebody may mean */
	bool inherits_names;
	bool char_is_unsigned; /* a C compiler's plain char */
	bool cheap_nop;	/* every kernel emulates one of one instruction */
	uint8_t insn_bytes; /* of every instruction; 0: it varies */
	uint32_t rseq_signature;	/* RSEQ_SIG of <sys/rseq.h> */
	/* general registers, a bit each, that a function leaves as it found
	 * them, by the calling convention */
	uint32_t kept;
	const struct arch_bank *banks;	/* ends with a count of 0 */
	/* DWARF numbers of the vector registers that rastrace.ko reads */
	unsigned int vector_first, vector_count;
	/* what Go passes values in, by their DWARF numbers, in the order of use;
	 * counts of 0: not known */
	struct arch_go {
		uint8_t general[16], general_count;
		uint8_t vector_first, vector_count;
		uint8_t goroutine;	/* has the runtime's g in all of it */
	} go;
	const struct arch_object_relocation *relocations;
	size_t relocation_count;
	/* jumping to this function is returning (mitigations in the kernel);
	 * NULL: none */
	const char *return_thunk;

	/* "%rdi", "$-5", "-20(%rbp)", "8(%rax,%rbx,4)", "sym+4(%rip)"; the text
	 * is zero-terminated somewhere. False: none of these, or registers that
	 * a probe can't read. */
	bool (*operand_parse)(const struct arch *arch, const char *text,
			      size_t length, struct arch_operand *operand);
	/* arch_insn_decode(); *insn is zeroed. */
	int (*insn_decode)(const struct arch *arch, const uint8_t *code,
			   size_t size, struct arch_insn *insn);
	/* arch_insn_held(); NULL: none is held */
	const char *(*insn_held)(const uint8_t *code, size_t at, bool user);
	/* The instruction at that address as the assembler has it, "mov %rdi,
	 * %rbp". 0, or -EINVAL: none that is valid, or no room. */
	int (*insn_print)(const struct arch *arch, const uint8_t *code,
			  size_t size, uint64_t address, char *text,
			  size_t text_size);
	/*
	 * What the instruction at that address (as linked) does. What it writes
	 * to a register or to memory is in a transfer. Jumps, conditional or
	 * not, calls and returns: what they do to registers and memory. False:
	 * no valid instruction.
	 */
	bool (*effect_find)(const struct arch *arch, const uint8_t *code,
			    size_t size, uint64_t address,
			    struct arch_effect *effect);
	/* The computed jump is the last of these instructions, which run one
	 * after the other. */
	void (*computed_find)(const struct arch *arch,
			      const struct arch_code *insns, size_t count,
			      struct arch_computed *computed);
	/* The constant that the last of these instructions, which run one after
	 * the other, has or completes, other than of a jump: it may be an
	 * address. */
	void (*address_find)(const struct arch *arch,
			     const struct arch_code *insns, size_t count,
			     struct arch_address *address);
};

extern const struct arch arch_x86_64, arch_i386, arch_aarch64;
/* Those that there are, zero-terminated: x86-64 is the first. */
extern const struct arch *const arch_all[];

/* Of ELF's e_machine and class; NULL: not one that is known here. */
const struct arch *arch_find(uint16_t machine, uint8_t elf_class);
/* The one that this program was built for, else the first. */
const struct arch *arch_own(void);
/* By any of its names, in either case; NULL: none. */
const struct arch *arch_find_named(const char *name);
/* Of any machine, for messages. */
const char *arch_machine_name(uint16_t machine);

/* By name, in either case; NULL: no such register. */
static inline const struct arch_register *
arch_register_find(const struct arch *arch, const char *name)
{
	for (size_t i = 0; i < arch->register_count; i++)
		if (arch->registers[i].kind != ARCH_BASE &&
		    !strcasecmp(name, arch->registers[i].name))
			return &arch->registers[i];
	return NULL;
}

/* Usable after a flat base register (manual 1.3.5.15.2): no stack pointer. */
static inline bool arch_register_is_index(const struct arch *arch,
					  const struct arch_register *reg)
{
	return reg->kind == ARCH_GPR &&
	       (reg->dwarf < 0 || (unsigned int)reg->dwarf != arch->stack);
}

/* A function leaves it as it found it, by the calling convention. */
static inline bool arch_register_is_kept(const struct arch *arch,
					 unsigned int number)
{
	return number < ARCH_REGISTERS && arch->kept >> number & 1;
}

/* A vector register, of which rastrace.ko reads 16 bytes */
static inline bool arch_register_is_vector(const struct arch *arch,
					   unsigned int number)
{
	return number - arch->vector_first < arch->vector_count;
}

/* The name of a DWARF register ("rdi", "xmm0") into text. Can a probe read it?
 */
bool arch_register_print(const struct arch *arch, unsigned int number,
			 char *text, size_t size);
/* Whose register that is, when it is none of arch's: "a register of AArch64,
 * the module is for x86-64" into text. False: of no processor. */
bool arch_register_foreign(const struct arch *arch, const char *name,
			   char *text, size_t size);

/* Decode the instruction at code; 0, or -EINVAL: none that is valid. */
static inline int arch_insn_decode(const struct arch *arch, const uint8_t *code,
				   size_t size, struct arch_insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	return arch->insn_decode(arch, code, size, insn);
}

/* Why no probe may be on the instruction at code + at because of those
 * before it, the first of which is at code; NULL: one may. */
static inline const char *arch_insn_held(const struct arch *arch,
					 const uint8_t *code, size_t at,
					 bool user)
{
	return arch->insn_held ? arch->insn_held(code, at, user) : NULL;
}

/* Member insn_print */
static inline int arch_insn_print(const struct arch *arch, const uint8_t *code,
				  size_t size, uint64_t address, char *text,
				  size_t text_size)
{
	return arch->insn_print(arch, code, size, address, text, text_size);
}

/* Member effect_find */
static inline bool arch_effect_find(const struct arch *arch,
				    const uint8_t *code, size_t size,
				    uint64_t address,
				    struct arch_effect *effect)
{
	return arch->effect_find(arch, code, size, address, effect);
}

/* What the instruction writes to the register; NULL: nothing. */
static inline struct arch_transfer *arch_transfer_to(struct arch_effect *effect,
						     int number)
{
	for (int i = 0; i < effect->count; i++)
		if (!effect->transfers[i].to_memory &&
		    (int)effect->transfers[i].to == number)
			return &effect->transfers[i];
	return NULL;
}

/* The symbol's name is none: it marks code or data. */
static inline bool arch_name_is_mark(const struct arch *arch, const char *name)
{
	return arch->marks && name[0] == '$' && name[1] &&
	       strchr(arch->marks, name[1]) && (!name[2] || name[2] == '.');
}

/* Jumping to this function is returning. */
static inline bool arch_name_returns(const struct arch *arch, const char *name,
				     size_t length)
{
	const char *thunk = arch->return_thunk;

	return thunk && length == strlen(thunk) && !memcmp(name, thunk, length);
}

#endif
