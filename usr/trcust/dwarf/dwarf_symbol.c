// SPDX-License-Identifier: GPL-2.0
/*
 * Variables of the whole program where the module itself finds them: a copy
 * relocation or another module may have moved them, and thread-local ones have
 * an address in each thread (ELF Handling For Thread-Local Storage, 3.4.6 and
 * 4.4).
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include "../arch/arch.h"
#include "dwarf_expression.h"
#include "../rpn/rpn_emit.h"

static bool find_segment(Elf *elf, uint32_t type, GElf_Phdr *ph)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, ph) && ph->p_type == type)
			return true;
	return false;
}

/* The thread-local block of a program, and of no other module, lies right in
 * front of the thread pointer. */
static bool is_program(Elf *elf)
{
	Elf_Data *data;
	GElf_Ehdr header;
	GElf_Phdr ph;
	GElf_Dyn dyn;

	if (!gelf_getehdr(elf, &header))
		return false;
	if (header.e_type != ET_DYN)
		return header.e_type == ET_EXEC;
	if (!find_segment(elf, PT_DYNAMIC, &ph))
		return false;
	data = elf_getdata_rawchunk(elf, ph.p_offset, ph.p_filesz, ELF_T_DYN);
	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++)
		if (dyn.d_tag == DT_FLAGS_1)
			return dyn.d_un.d_val & DF_1_PIE;
	return false;
}

/* Of the start of the program's block from the thread pointer on, negative. */
static bool program_block(Elf *elf, uint64_t *start)
{
	GElf_Phdr ph;
	uint64_t align;

	if (!is_program(elf) || !find_segment(elf, PT_TLS, &ph))
		return false;
	align = ph.p_align ? ph.p_align : 1;
	if (align & (align - 1))
		return false;
	*start = -ph.p_memsz - ((-ph.p_vaddr - ph.p_memsz) & (align - 1));
	return true;
}

struct thread_slot {
	uint64_t address;	/* of the slot; 0: none */
	uint64_t offset;	/* of the variable it is for */
};

/* What the relocation fills in belongs to this variable: by name, or, the
 * module's own, by offset. */
static bool slot_take(Elf_Data *symbols, Elf *elf, uint32_t names,
		      const GElf_Rela *rela, const char *name,
		      struct thread_slot *slot)
{
	const char *own;
	GElf_Sym sym = {0};

	if (GELF_R_SYM(rela->r_info) &&
	    (!symbols ||
	     !gelf_getsym(symbols, GELF_R_SYM(rela->r_info), &sym)))
		return false;
	if (name) {
		own = elf_strptr(elf, names, sym.st_name);
		if (!own || strcmp(own, name))
			return false;
	} else if (GELF_R_SYM(rela->r_info) &&
		   (sym.st_shndx == SHN_UNDEF ||
		    (GELF_ST_BIND(sym.st_info) != STB_LOCAL &&
		     GELF_ST_VISIBILITY(sym.st_other) == STV_DEFAULT))) {
		return false;
	}
	slot->address = rela->r_offset;
	slot->offset = sym.st_value + rela->r_addend;
	return true;
}

/* A slot of the global offset table that holds the offset of a thread-local
 * variable from the thread pointer (R_X86_64_TPOFF64): of `name`, or, NULL,
 * of any of the module's own. */
static bool slot_find(Elf *elf, const char *name, struct thread_slot *slot)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh, symbols_sh = {0};

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data, *symbols;
		Elf_Scn *linked;
		GElf_Rela rela;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		linked = elf_getscn(elf, sh.sh_link);
		symbols = linked && sh.sh_link ? elf_getdata(linked, NULL) :
						 NULL;
		if (symbols)
			gelf_getshdr(linked, &symbols_sh);
		for (int i = 0; gelf_getrela(data, i, &rela); i++)
			if (GELF_R_TYPE(rela.r_info) == R_X86_64_TPOFF64 &&
			    slot_take(symbols, elf, symbols_sh.sh_link, &rela,
				      name, slot))
				return true;
	}
	return false;
}

static void emit_slot(struct dwarf_file *dwarf, const struct thread_slot *slot,
		      uint64_t offset, struct bytes *rpn)
{
	rpn_emit_addr(rpn, slot->address);
	rpn_emit_op(rpn, RPN_deref);
	rpn_emit_register(rpn, arch_thread_register(dwarf->module->elf_class),
			  offset - slot->offset);
	rpn_emit_op(rpn, RPN_plus);
}

static int refuse_narrow(struct dwarf_file *dwarf, struct error *err)
{
	if (dwarf_is_wide(dwarf) && dwarf->module->machine == EM_X86_64)
		return 0;
	return error_set(err, -ENODATA, "it is thread-local, which a probe "
			 "can't find in a 32-bit program");
}

int dwarf_thread_emit(struct dwarf_file *dwarf, uint64_t offset,
		      struct bytes *rpn, struct error *err)
{
	Elf *elf = dwarf->module->elf;
	struct thread_slot slot;
	uint64_t start;
	int code = refuse_narrow(dwarf, err);

	if (code)
		return code;
	if (program_block(elf, &start)) {
		rpn_emit_register(rpn, arch_thread_register(ELFCLASS64),
				  start + offset);
		return 0;
	}
	if (!slot_find(elf, NULL, &slot))
		return error_set(err, -ENODATA, "it is thread-local in a "
				 "shared library, which finds it by calling "
				 "__tls_get_addr (compile it with "
				 "-ftls-model=initial-exec)");
	emit_slot(dwarf, &slot, offset, rpn);
	return 0;
}

/* Declared here; the module has it, or the address of another module's. */
static int emit_thread_symbol(struct dwarf_file *dwarf,
			      const struct module_symbol *symbol,
			      const char *name, struct bytes *rpn,
			      struct error *err)
{
	struct thread_slot slot;
	int code = refuse_narrow(dwarf, err);

	if (code)
		return code;
	if (slot_find(dwarf->module->elf, name, &slot)) {
		emit_slot(dwarf, &slot, slot.offset, rpn);
		return 0;
	}
	if (symbol->defined)
		return dwarf_thread_emit(dwarf, symbol->address, rpn, err);
	return error_set(err, -ENODATA, "it is thread-local in another module");
}

static void emit_slot_deref(struct dwarf_file *dwarf, uint64_t slot,
			    struct bytes *rpn)
{
	rpn_emit_addr(rpn, slot);
	rpn_emit_deref(rpn, dwarf_is_wide(dwarf) ? 8 : 4);
}

int dwarf_symbol_emit(struct dwarf_file *dwarf, const char *name,
		      uint64_t address, struct bytes *rpn, struct error *err)
{
	const struct module_symbol *symbol = NULL;
	bool others;

	if (name)
		symbol = module_symbol_find(dwarf->module, name, MODULE_DATA,
					    &others);
	if (address) {
		if (symbol && symbol->slot && symbol->address == address)
			emit_slot_deref(dwarf, symbol->slot, rpn);
		else
			rpn_emit_addr(rpn, address);
		return 0;
	}
	if (symbol && symbol->type == STT_TLS)
		return emit_thread_symbol(dwarf, symbol, name, rpn, err);
	if (!symbol || (!symbol->defined && !symbol->slot))
		return error_set(err, -ENODATA,
				 "it is defined in another module");
	if (symbol->slot)
		emit_slot_deref(dwarf, symbol->slot, rpn);
	else if (symbol->absolute)
		rpn_emit_const(rpn, symbol->address);
	else
		rpn_emit_addr(rpn, symbol->address);
	return 0;
}
