// SPDX-License-Identifier: GPL-2.0
/*
 * Variables of the whole program where the module itself finds them: a copy
 * relocation or another module may have moved them, and thread-local ones have
 * an address in each thread (ELF Handling For Thread-Local Storage, 3.4.6 and
 * 4.4).
 */
#include <errno.h>
#include <string.h>
#include "dwarf_symbol.h"
#include "lib/elf_symbols.h"
#include "lib/formats/rpn.h"

/* Highest distance of a variable from the thread pointer, in the block that the
 * loader makes for all modules it begins with; no address is that low. */
#define DISTANCE_MAX	0xffff

struct thread_slot {
	uint64_t address;	/* of the slot */
	uint64_t offset;	/* of the variable it is for */
	bool minus;		/* it is to be subtracted */
	bool descriptor;	/* it may hold something else */
};

/* Number `i` of the section is one of a thread-local variable's slot: its offset
 * is only the addend, *symbol the symbol's number (0: none). Without addends of
 * their own these are in the slot. */
static bool thread_slot_read(const struct arch *arch, Elf_Data *data,
		      const GElf_Shdr *sh, int i, struct thread_slot *slot,
		      uint64_t *symbol)
{
	const struct arch_slots *types = &arch->slots;
	bool in_place = sh->sh_type == SHT_REL;
	GElf_Rela rela;
	uint32_t type;

	if (!module_relocation(data, sh, i, &rela))
		return false;
	type = GELF_R_TYPE(rela.r_info);
	*symbol = GELF_R_SYM(rela.r_info);
	*slot = (struct thread_slot) {
		.address = rela.r_offset, .offset = rela.r_addend,
		.minus = in_place && type == types->minus,
		.descriptor = !in_place && type == types->descriptor,
	};
	if (slot->descriptor)
		slot->address += 8;	/* after its function */
	return type &&
	       (type == types->distance || slot->minus || slot->descriptor);
}

/* What the relocation fills in belongs to this variable: by name, or, the
 * module's own, by offset. */
static bool slot_is_of(Elf_Data *symbols, Elf *elf, uint32_t names,
		       uint64_t number, const char *name, GElf_Sym *sym)
{
	const char *own;

	memset(sym, 0, sizeof(*sym));
	if (number && (!symbols || !gelf_getsym(symbols, number, sym)))
		return false;
	if (name) {
		own = elf_strptr(elf, names, sym->st_name);
		return own && !strcmp(own, name);
	}
	return !number || (sym->st_shndx != SHN_UNDEF &&
			   (GELF_ST_BIND(sym->st_info) == STB_LOCAL ||
			    GELF_ST_VISIBILITY(sym->st_other) != STV_DEFAULT));
}

/* A slot of the global offset table that holds the offset of a thread-local
 * variable from the thread pointer: of `name`, or, NULL, of any of the module's
 * own. */
static bool thread_slot_find(const struct module *module, const char *name,
			     struct thread_slot *slot)
{
	Elf *elf = module->elf;
	uint32_t type = gelf_getclass(elf) == ELFCLASS64 ? SHT_RELA : SHT_REL;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh, symbols_sh = {0};

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data, *symbols;
		const uint8_t *bytes;
		size_t available;
		Elf_Scn *linked;
		uint64_t symbol;
		GElf_Sym sym;
		int32_t word;
		int count;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != type ||
		    !sh.sh_entsize || !(data = elf_getdata(scn, NULL)))
			continue;
		linked = elf_getscn(elf, sh.sh_link);
		symbols = linked && sh.sh_link ? elf_getdata(linked, NULL) :
						 NULL;
		if (symbols)
			gelf_getshdr(linked, &symbols_sh);
		count = sh.sh_size / sh.sh_entsize;
		for (int i = 0; i < count; i++) {
			if (!thread_slot_read(module->arch, data, &sh, i, slot,
					      &symbol) ||
			    !slot_is_of(symbols, elf, symbols_sh.sh_link,
					symbol, name, &sym))
				continue;
			if (type == SHT_REL) {
				bytes = pointers_bytes(module, slot->address,
						       &available);
				if (!bytes || available < sizeof(word))
					return false;
				memcpy(&word, bytes, sizeof(word));
				slot->offset = slot->minus ? -(int64_t)word :
							     word;
			}
			slot->offset += sym.st_value;
			return true;
		}
	}
	return false;
}

/* The thread pointer + offset: the base of FS, TPIDR_EL0, on i386 what is at
 * GS:0. */
static void emit_thread(struct dwarf_file *dwarf, uint64_t offset,
			struct bytes *rpn)
{
	unsigned int number = dwarf->module->arch->thread;

	if (!dwarf->module->arch->thread_is_selector) {
		rpn_emit_register(rpn, number, offset);
		return;
	}
	rpn_emit_register(rpn, number, 0);
	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_xderef_size);
	rpn_emit_op(rpn, 4);
	rpn_emit_add(rpn, (int32_t)offset, false);
}

static void emit_slot(struct dwarf_file *dwarf, const struct thread_slot *slot,
		      uint64_t offset, struct bytes *rpn)
{
	bool wide = dwarf_is_wide(dwarf);

	emit_thread(dwarf, offset - slot->offset, rpn);
	rpn_emit_addr(rpn, slot->address);
	rpn_emit_deref(rpn, wide ? 8 : 4);
	if (slot->descriptor) {
		/* It is a distance, or the address of something more: then the
		 * variable's block may not be there yet, so fault. */
		rpn_emit_op(rpn, RPN_dup);
		rpn_emit_const(rpn, DISTANCE_MAX);
		rpn_emit_op(rpn, RPN_le);
		rpn_emit_op(rpn, RPN_bra);
		rpn_emit_fixed(rpn, 2, 2);
		rpn_emit_const(rpn, 0);
		rpn_emit_op(rpn, RPN_div);
	}
	rpn_emit_op(rpn, slot->minus ? RPN_minus : RPN_plus);
	if (!wide)
		rpn_emit_extend(rpn, 4, false);
}

/* A variable of the module begins so many bytes into its block. */
static bool is_thread_symbol(const struct module *module, uint64_t offset)
{
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (symbol->type == STT_TLS && symbol->defined &&
		    symbol->address == offset)
			return true;
	}
	return false;
}

/*
 * With -gsplit-dwarf gcc has the operand in .debug_addr, by the relocation of
 * an address: from GNU ld (2.40) that is the address of the variable's initial
 * value, from gold and lld the offset. Where it may be either, the symbols
 * decide.
 */
int dwarf_thread_offset(struct dwarf_file *dwarf, uint64_t *offset,
			struct error *err)
{
	const struct module *module = dwarf->module;
	bool as_offset, as_address;
	GElf_Phdr ph;

	if (!module->elf || !elf_header_find(module->elf, PT_TLS, &ph))
		return error_set(err, -ENODATA, "it is thread-local, and the "
				 "module has no thread-local block");
	as_offset = *offset < ph.p_memsz;
	as_address = *offset - ph.p_vaddr < ph.p_memsz;
	if (as_address) {
		as_address = is_thread_symbol(module, *offset - ph.p_vaddr);
		as_offset = as_offset && is_thread_symbol(module, *offset);
	}
	if (as_address == as_offset)
		return error_set(err, -ENODATA, "it is thread-local, and its "
				 "debug information has no offset that is "
				 "valid (-gsplit-dwarf)");
	if (as_address)
		*offset -= ph.p_vaddr;
	return 0;
}

int dwarf_thread_emit(struct dwarf_file *dwarf, uint64_t offset,
		      struct bytes *rpn, struct error *err)
{
	struct thread_slot slot;
	uint64_t start;

	if (elf_program_block(dwarf->module->elf,
			      dwarf->module->arch->thread_header, &start)) {
		emit_thread(dwarf, start + offset, rpn);
		return 0;
	}
	if (!thread_slot_find(dwarf->module, NULL, &slot))
		return error_set(err, -ENODATA, "it is thread-local in a "
				 "shared library, which finds it by calling "
				 "__tls_get_addr (compile it with "
				 "-ftls-model=initial-exec)");
	emit_slot(dwarf, &slot, offset, rpn);
	return 0;
}

int dwarf_symbol_emit(struct dwarf_file *dwarf, const char *name,
		      uint64_t address, struct bytes *rpn, struct error *err)
{
	const struct module_symbol *symbol = NULL;
	struct thread_slot slot;
	bool others;

	if (name)
		symbol = module_symbol_find(dwarf->module, name, MODULE_DATA,
					    &others);
	if (address && !(symbol && symbol->slot &&
			 symbol->address == address)) {
		rpn_emit_addr(rpn, address);
		return 0;
	}
	if (!address && symbol && symbol->type == STT_TLS) {
		if (thread_slot_find(dwarf->module, name, &slot)) {
			emit_slot(dwarf, &slot, slot.offset, rpn);
			return 0;
		}
		if (symbol->defined)
			return dwarf_thread_emit(dwarf, symbol->address, rpn,
						 err);
		return error_set(err, -ENODATA,
				 "it is thread-local in another module");
	}
	if (!symbol || (!symbol->defined && !symbol->slot))
		return error_set(err, -ENODATA,
				 "it is defined in another module");
	if (symbol->slot) {
		rpn_emit_addr(rpn, symbol->slot);
		rpn_emit_deref(rpn, dwarf_is_wide(dwarf) ? 8 : 4);
	} else if (symbol->absolute) {
		rpn_emit_const(rpn, symbol->address);
	} else {
		rpn_emit_addr(rpn, symbol->address);
	}
	return 0;
}
