/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Forms of instructions: opcode and shapes of operands, each once, out of the
 * code of ELF files or generated.
 */
#ifndef INSN_FORM_H
#define INSN_FORM_H

#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <Zydis/Zydis.h>

#define INSN_MAX	15

struct insn_form {
	uint64_t key;		/* 0: none */
	uint64_t seen;
	uint8_t bytes[INSN_MAX], length;
	bool wide;
};

struct insn_forms {
	struct insn_form *table;	/* open hashing */
	size_t count, size;
};

struct insn_decoded {
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool insn_form_decode(const uint8_t *bytes, size_t size, bool wide,
			     struct insn_decoded *insn)
{
	static ZydisDecoder decoders[2];
	static bool ready;

	if (!ready) {
		ZydisDecoderInit(&decoders[0],
				 ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
				 ZYDIS_STACK_WIDTH_32);
		ZydisDecoderInit(&decoders[1], ZYDIS_MACHINE_MODE_LONG_64,
				 ZYDIS_STACK_WIDTH_64);
		ready = true;
	}
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoders[wide], bytes, size,
						   &insn->zi, insn->operands));
}

static uint64_t insn_mix(uint64_t key, uint64_t value)
{
	key = (key ^ value) * 0x9e3779b97f4a7c15ULL;
	return key ^ key >> 29;
}

/* Registers that instructions treat in a way of their own */
static unsigned int insn_register_shape(ZydisRegister reg)
{
	unsigned int shape = ZydisRegisterGetClass(reg) << 4;
	ZyanI8 id = ZydisRegisterGetId(reg);

	if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
		return shape | 8;
	return shape | (id == 0 ? 1 : id == 4 ? 2 : id == 5 ? 3 :
			id > 7 ? 4 : 0);
}

static unsigned int insn_number_shape(int64_t number)
{
	return number == 0 ? 1 : number == -1 ? 2 : number == 0xff ? 3 :
	       number == 0xffff ? 4 : number < 0 ? 5 : 6;
}

static uint64_t insn_operand_shape(const struct insn_decoded *insn, int i)
{
	const ZydisDecodedOperand *operand = &insn->operands[i];
	uint64_t key = insn_mix(operand->type, operand->size);

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		key = insn_mix(key, insn_register_shape(operand->reg.value));
		return insn_mix(key, i && insn->operands[0].type ==
						  ZYDIS_OPERAND_TYPE_REGISTER &&
				     insn->operands[0].reg.value ==
					     operand->reg.value);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		key = insn_mix(key, operand->mem.segment);
		key = insn_mix(key, insn_register_shape(operand->mem.base));
		key = insn_mix(key, operand->mem.index != ZYDIS_REGISTER_NONE);
		return insn_mix(key, operand->mem.disp.has_displacement);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return insn_mix(key, insn_number_shape(operand->imm.value.s));
	default:
		return key;
	}
}

static uint64_t insn_form_key(const struct insn_decoded *insn, bool wide)
{
	const ZydisDecodedInstruction *zi = &insn->zi;
	uint64_t key = insn_mix(zi->mnemonic, wide);

	key = insn_mix(key, zi->opcode | zi->opcode_map << 8 |
				    (uint64_t)zi->encoding << 16);
	key = insn_mix(key, zi->operand_width | zi->address_width << 8);
	key = insn_mix(key, zi->attributes);
	for (int i = 0; i < zi->operand_count_visible; i++)
		key = insn_mix(key, insn_operand_shape(insn, i));
	return key ? key : 1;
}

static struct insn_form *insn_form_slot(struct insn_forms *forms, uint64_t key)
{
	size_t i = key & (forms->size - 1);

	while (forms->table[i].key && forms->table[i].key != key)
		i = (i + 1) & (forms->size - 1);
	return &forms->table[i];
}

static void insn_forms_grow(struct insn_forms *forms)
{
	struct insn_forms old = *forms;

	forms->size = old.size ? old.size * 2 : 1 << 12;
	forms->table = calloc(forms->size, sizeof(*forms->table));
	if (!forms->table)
		abort();
	for (size_t i = 0; i < old.size; i++)
		if (old.table[i].key)
			*insn_form_slot(forms, old.table[i].key) = old.table[i];
	free(old.table);
}

/* Returns the instruction's length; 0: it is none. */
static unsigned int insn_form_add(struct insn_forms *forms,
				  const uint8_t *bytes, size_t size, bool wide)
{
	struct insn_decoded insn;
	struct insn_form *form;
	uint64_t key;

	if (!insn_form_decode(bytes, size, wide, &insn))
		return 0;
	if (forms->count * 2 >= forms->size)
		insn_forms_grow(forms);
	key = insn_form_key(&insn, wide);
	form = insn_form_slot(forms, key);
	if (!form->key) {
		form->key = key;
		form->wide = wide;
		form->length = insn.zi.length;
		memcpy(form->bytes, bytes, form->length);
		forms->count++;
	}
	form->seen++;
	return insn.zi.length;
}

static void insn_forms_sweep(struct insn_forms *forms, const Elf_Data *data,
			     bool wide)
{
	const uint8_t *bytes = data->d_buf;

	for (size_t at = 0; bytes && at < data->d_size;) {
		size_t rest = data->d_size - at;
		unsigned int length = insn_form_add(
			forms, bytes + at, rest < INSN_MAX ? rest : INSN_MAX,
			wide);

		at += length ? length : 1;
	}
}

/* All code of a file; false: it can't be read, or is no file for x86. */
static bool insn_forms_read(struct insn_forms *forms, const char *path)
{
	int fd = open(path, O_RDONLY);
	Elf_Scn *section = NULL;
	bool good = false;
	GElf_Shdr header;
	GElf_Ehdr file;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (elf && gelf_getehdr(elf, &file))
		good = file.e_machine == EM_X86_64 || file.e_machine == EM_386;
	while (good && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_PROGBITS &&
		    (header.sh_flags & SHF_EXECINSTR))
			insn_forms_sweep(forms, elf_getdata(section, NULL),
					 file.e_machine == EM_X86_64);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return good;
}

#endif
