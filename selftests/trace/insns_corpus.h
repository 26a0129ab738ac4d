/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forms of instructions: those of the system's libraries, one or two of each,
 * and some that are hardly found there. Their displacements and targets are
 * changed so that they can be run.
 */
#ifndef SELFTESTS_TRACE_INSNS_CORPUS_H
#define SELFTESTS_TRACE_INSNS_CORPUS_H

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <search.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include "insns.h"
#include "tap.h"
#include "arch_x86.h"

#define CORPUS_MAX	5000
#define CORPUS_GUEST	400	/* in an emulated machine */
#define CORPUS_ALIKE	2
#define CORPUS_REFUSED	40	/* of those where no probe may be */

struct corpus {
	uint8_t elf_class;
	size_t room;		/* forms at most */
	size_t count, refused;
	struct insns_form *forms;
	struct corpus_key *keys;
	ZydisDecoder decoder;
};

/* Forms that are taken for the same. */
struct corpus_key {
	uint64_t key;
	int alike;
};

static inline int corpus_key_compare(const void *a, const void *b)
{
	const struct corpus_key *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static inline void corpus_begin(struct corpus *corpus, uint8_t elf_class,
				size_t room)
{
	bool wide = elf_class == ELFCLASS64;

	*corpus = (struct corpus){
		.elf_class = elf_class, .room = room,
		.forms = calloc(room, sizeof(*corpus->forms)),
	};
	if (!corpus->forms)
		tap_bail("out of memory");
	ZydisDecoderInit(&corpus->decoder,
			 wide ? ZYDIS_MACHINE_MODE_LONG_64 :
				ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
}

struct corpus_insn {
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static inline bool corpus_decode(const struct corpus *corpus,
				 const uint8_t *bytes, size_t size,
				 struct corpus_insn *insn)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&corpus->decoder, bytes,
						   size, &insn->zi,
						   insn->operands));
}

/* What would do something to the process, or to the machine, from any state. */
static inline bool corpus_is_unfit(const struct corpus_insn *insn)
{
	const ZydisDecodedInstruction *zi = &insn->zi;

	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_PKU:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_CET:
	case ZYDIS_CATEGORY_WAITPKG:
	case ZYDIS_CATEGORY_UINTR:
		return zi->mnemonic != ZYDIS_MNEMONIC_ENDBR64 &&
		       zi->mnemonic != ZYDIS_MNEMONIC_ENDBR32;
	default:
		break;
	}
	if (zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
	    zi->mnemonic == ZYDIS_MNEMONIC_ENTER ||
	    zi->mnemonic == ZYDIS_MNEMONIC_POPF ||
	    zi->mnemonic == ZYDIS_MNEMONIC_POPFD ||
	    zi->mnemonic == ZYDIS_MNEMONIC_POPFQ)
		return true;
	for (int i = 0; i < zi->operand_count; i++)
		if (insn->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (insn->operands[i].actions &
		     ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    ZydisRegisterGetClass(insn->operands[i].reg.value) ==
			    ZYDIS_REGCLASS_SEGMENT)
			return true;
	return false;
}

static inline uint8_t *form_kind(struct insns_form *form, ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(
		ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return NULL;
	return &form->kinds[whole - ZYDIS_REGISTER_RAX];
}

static inline void form_set_kind(struct insns_form *form, ZydisRegister reg,
				 uint8_t kind)
{
	uint8_t *kinds = form_kind(form, reg);

	if (kinds && kinds != &form->kinds[INSNS_SP])
		*kinds = kind;
}

static inline void field_put(struct insns_form *form, size_t offset,
			     size_t bits, int64_t value)
{
	memcpy(form->bytes + offset, &value, bits / 8);
}

/* The address is to be in the data. */
static inline void form_aim(struct insns_form *form, uint64_t address,
			    const ZydisDecodedInstruction *zi,
			    const ZydisDecodedOperand *operand)
{
	bool based = operand->mem.segment == ZYDIS_REGISTER_FS ||
		     operand->mem.segment == ZYDIS_REGISTER_GS;
	uint64_t start = based ? 0 : INSNS_DATA;
	int64_t middle = start + INSNS_DATA_SIZE / 2;

	form_set_kind(form, operand->mem.index, INSNS_INDEX);
	form_set_kind(form, operand->mem.base,
		      based ? INSNS_OFFSET : INSNS_POINTER);
	if (operand->mem.base == ZYDIS_REGISTER_RIP ||
	    operand->mem.base == ZYDIS_REGISTER_EIP)
		middle -= address + zi->length;
	else if (operand->mem.base)
		middle = zi->raw.disp.size == 8 ? zi->raw.disp.value & ~7 : 64;
	if (zi->raw.disp.size == 8 || zi->raw.disp.size >= 32)
		field_put(form, zi->raw.disp.offset, zi->raw.disp.size, middle);
}

/* Jumps lead to the slot's second exit. */
static inline void form_aim_jump(struct insns_form *form, uint64_t address,
				 const struct corpus_insn *insn)
{
	const ZydisDecodedInstruction *zi = &insn->zi;

	if (zi->raw.imm[0].is_relative) {
		field_put(form, zi->raw.imm[0].offset, zi->raw.imm[0].size,
			  INSNS_JUMPED - zi->length);
		return;
	}
	if (zi->opcode == 0x9a || zi->opcode == 0xea) {
		field_put(form, 1, 32, address + INSNS_JUMPED);
		return;
	}
	form->fill = INSNS_FILL_TARGET;
	if (insn->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		form_set_kind(form, insn->operands[0].reg.value, INSNS_TARGET);
}

/* What only some values of registers are good for. */
static inline void form_set_special(struct insns_form *form,
				    const struct corpus_insn *insn)
{
	const ZydisDecodedInstruction *zi = &insn->zi;

	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		if (insn->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    insn->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
			form_set_kind(form, insn->operands[1].reg.value,
				      INSNS_INDEX);
		break;
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
		form_set_kind(form, ZYDIS_REGISTER_RDX, INSNS_FEW);
		break;
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_CPUID:
		form->varies = 1;
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		form_set_kind(form, ZYDIS_REGISTER_RBP, INSNS_POINTER);
		break;
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		form_set_kind(form, ZYDIS_REGISTER_RCX, INSNS_FEW);
		break;
	default:
		break;
	}
	if (zi->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
			      ZYDIS_ATTRIB_HAS_REPNE))
		form_set_kind(form, ZYDIS_REGISTER_RCX, INSNS_INDEX);
}

static inline void form_make(const struct corpus *corpus,
			     const uint8_t *bytes,
			     const struct corpus_insn *insn,
			     struct insns_form *form)
{
	uint64_t address = INSNS_CODE + corpus->count * INSNS_SLOT;
	const ZydisDecodedInstruction *zi = &insn->zi;

	memset(form, 0, sizeof(*form));
	memcpy(form->bytes, bytes, zi->length);
	form->length = zi->length;
	form->kinds[INSNS_SP] = INSNS_POINTER;
	for (int i = 0; i < zi->operand_count; i++)
		if (insn->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    insn->operands[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN)
			form_aim(form, address, zi, &insn->operands[i]);
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		form_aim_jump(form, address, insn);
		break;
	default:
		break;
	}
	form_set_special(form, insn);
}

static inline struct insns_form *corpus_put(struct corpus *corpus,
					    const uint8_t *bytes,
					    const struct corpus_insn *insn)
{
	struct insns_form *form = &corpus->forms[corpus->count];

	form_make(corpus, bytes, insn, form);
	corpus->count++;
	return form;
}

static inline uint64_t key_add(uint64_t key, uint64_t value)
{
	return (key ^ value) * 0x9e3779b97f4a7c15ull ^ key >> 31;
}

static inline uint64_t insn_key(const struct corpus_insn *insn)
{
	const ZydisDecodedInstruction *zi = &insn->zi;
	bool memory = zi->raw.modrm.mod != 3;
	bool at_ip = memory && zi->raw.modrm.mod == 0 && zi->raw.modrm.rm == 5;
	uint64_t key = zi->mnemonic;

	key = key_add(key, zi->encoding << 16 | zi->opcode_map << 8 |
			   zi->opcode);
	if (zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return key_add(key, memory);
	for (int i = 0; i < zi->raw.prefix_count; i++)
		key = key_add(key, (zi->raw.prefixes[i].value & 0xf0) == 0x40 ?
				   zi->raw.prefixes[i].value & 0x4d :
				   zi->raw.prefixes[i].value);
	key = key_add(key, memory << 4 | at_ip << 3 |
			   (at_ip ? zi->raw.modrm.reg : 0));
	return key_add(key, memory ? zi->raw.modrm.rm == 4 : 0);
}

static inline bool corpus_is_new(struct corpus *corpus,
				 const struct corpus_insn *insn)
{
	struct corpus_key *key = calloc(1, sizeof(*key)), **found;

	if (!key)
		tap_bail("out of memory");
	key->key = insn_key(insn);
	found = tsearch(key, (void **)&corpus->keys, corpus_key_compare);
	if (!found)
		tap_bail("out of memory");
	if (*found != key)
		free(key);
	return (*found)->alike++ < CORPUS_ALIKE;
}

/* Those where no probe may be are in the list, too. */
static inline bool corpus_has_room(struct corpus *corpus, const uint8_t *code,
				   size_t size)
{
	struct arch_insn insn;

	if (corpus->count == corpus->room ||
	    arch_insn_decode(x86_of(corpus->elf_class), code, size, &insn))
		return false;
	return !insn.user_refused || corpus->refused++ < CORPUS_REFUSED;
}

/* Every instruction of a stretch of code, as far as it is code. */
static inline void corpus_add_code(struct corpus *corpus, const uint8_t *code,
				   size_t size)
{
	struct corpus_insn insn;
	size_t at = 0;

	while (at < size && corpus->count < corpus->room) {
		if (!corpus_decode(corpus, code + at, size - at, &insn)) {
			at++;
			continue;
		}
		if (!corpus_is_unfit(&insn) && corpus_is_new(corpus, &insn) &&
		    corpus_has_room(corpus, code + at, size - at))
			corpus_put(corpus, code + at, &insn);
		at += insn.zi.length;
	}
}

static inline void corpus_add_elf(struct corpus *corpus, const uint8_t *file,
				  size_t size)
{
	const Elf64_Ehdr *wide = (const void *)file;
	const Elf32_Ehdr *narrow = (const void *)file;

	if (size < sizeof(*wide) || memcmp(file, ELFMAG, SELFMAG) ||
	    file[EI_CLASS] != corpus->elf_class)
		return;
	if (corpus->elf_class == ELFCLASS64) {
		const Elf64_Phdr *ph = (const void *)(file + wide->e_phoff);

		for (int i = 0; i < wide->e_phnum; i++)
			if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X))
				corpus_add_code(corpus, file + ph[i].p_offset,
						ph[i].p_filesz);
	} else {
		const Elf32_Phdr *ph = (const void *)(file + narrow->e_phoff);

		for (int i = 0; i < narrow->e_phnum; i++)
			if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X))
				corpus_add_code(corpus, file + ph[i].p_offset,
						ph[i].p_filesz);
	}
}

/* A file that the system has, or hasn't. */
static inline void corpus_add_file(struct corpus *corpus, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *file;

	if (fd < 0)
		return;
	file = fstat(fd, &st) ? MAP_FAILED :
	       mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return;
	corpus_add_elf(corpus, file, st.st_size);
	munmap(file, st.st_size);
}

#endif
