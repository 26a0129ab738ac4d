// SPDX-License-Identifier: GPL-2.0
#include "module_elf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/debug/arch/arch.h"

int module_refuse(struct error *err, const char *what)
{
	error_set(err, -ENOEXEC, "%s", what);
	error_hint(err,
		   "expected: an ELF program or shared library for %s, %s "
		   "or %s, or a kernel module (x.ko)",
		   arch_x86_64.name, arch_i386.name, arch_aarch64.name);
	return -ENOEXEC;
}

const uint8_t *module_code(const struct module *module, uint64_t address,
			   size_t *available, uint64_t *offset)
{
	for (size_t i = 0; i < module->code_count; i++) {
		const struct module_code *code = &module->codes[i];

		if (address < code->start || address >= code->end)
			continue;
		*available = code->end - address;
		if (offset)
			*offset = code->offset + (address - code->start);
		return code->data + (address - code->start);
	}
	return NULL;
}

bool module_is_together(const struct module *module, uint64_t a, uint64_t b)
{
	if (module->kind != TDF_MODULE_KMOD)
		return true;
	for (size_t i = 0; i < module->section_count; i++) {
		const struct module_range *section = &module->sections[i];

		if (a >= section->start && a < section->end)
			return b >= section->start && b <= section->end;
	}
	return false;
}

/* libdw does the same when it needs the section: the second time nothing is
 * left to do. */
void module_section_decompress(Elf_Scn *scn, const GElf_Shdr *sh,
			       const char *name)
{
	if (sh->sh_flags & SHF_COMPRESSED)
		elf_compress(scn, 0, 0);
	else if (!strncmp(name, ".z", 2))
		elf_compress_gnu(scn, 0, 0);
}

Elf_Scn *module_section_named(const struct module *module, const char *wanted,
			      GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(module->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(module->elf, scn))) {
		const char *name = gelf_getshdr(scn, sh) ?
			elf_strptr(module->elf, names, sh->sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return scn;
	}
	return NULL;
}

bool module_has_section(const struct module *module, const char *name)
{
	GElf_Shdr sh;

	return module_section_named(module, name, &sh);
}

bool module_ranges_have(const struct module_range *ranges, size_t count,
			uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

void module_libraries(const struct module *module, char *text, size_t size)
{
	GElf_Shdr sh;
	Elf_Scn *scn = module_section_named(module, ".dynamic", &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t used = 0;
	GElf_Dyn dyn;

	*text = '\0';
	for (int i = 0; data && gelf_getdyn(data, i, &dyn) &&
			dyn.d_tag != DT_NULL; i++) {
		const char *name = dyn.d_tag != DT_NEEDED ? NULL :
			elf_strptr(module->elf, sh.sh_link, dyn.d_un.d_val);
		const char *comma = used ? ", " : "";

		if (!name || used + strlen(comma) + strlen(name) >= size)
			continue;
		used += sprintf(text + used, "%s%s", comma, name);
	}
}

bool module_relocation(Elf_Data *data, const GElf_Shdr *sh, int i,
		       GElf_Rela *rela)
{
	GElf_Rel rel;

	if (sh->sh_type == SHT_RELA)
		return gelf_getrela(data, i, rela);
	if (!gelf_getrel(data, i, &rel))
		return false;
	*rela = (GElf_Rela){ rel.r_offset, rel.r_info, 0 };
	return true;
}

bool module_is_relocated(const struct module *module, uint64_t address,
			 size_t bytes)
{
	bool textrel = false;
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Rela rela;
	GElf_Shdr sh;
	GElf_Dyn dyn;

	while (!textrel && (scn = elf_nextscn(module->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNAMIC ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; gelf_getdyn(data, i, &dyn); i++)
			textrel |= dyn.d_tag == DT_TEXTREL ||
				   (dyn.d_tag == DT_FLAGS &&
				    dyn.d_un.d_val & DF_TEXTREL);
	}
	if (!textrel)
		return false;
	if (!bytes)
		return true;
	scn = NULL;
	while ((scn = elf_nextscn(module->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC) ||
		    (sh.sh_type != SHT_REL && sh.sh_type != SHT_RELA) ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; module_relocation(data, &sh, i, &rela); i++)
			if (rela.r_offset >= address &&
			    rela.r_offset < address + bytes)
				return true;
	}
	return false;
}
