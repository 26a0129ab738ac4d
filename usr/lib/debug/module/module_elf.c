// SPDX-License-Identifier: GPL-2.0
#include "module_elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/cursor.h"
#include "lib/debug/arch/arch.h"
#include "lib/elf_symbols.h"

int module_refuse(struct error *err, const char *what)
{
	error_set(err, -ENOEXEC, "%s", what);
	error_hint(err,
		   "expected: an ELF program or shared library for %s, %s "
		   "or %s, or a kernel module (x.ko)",
		   arch_x86_64.name, arch_i386.name, arch_aarch64.name);
	return -ENOEXEC;
}

int module_segment_add(struct module *module, struct module_segment segment,
		       const char *what, uint64_t *left, struct error *err)
{
	uint64_t file_size = module->file_size;
	char text[160];

	if (segment.offset > file_size ||
	    segment.size > file_size - segment.offset) {
		snprintf(text, sizeof(text), "it is truncated: a %s ends at "
			 "byte %llu, the file at %llu", what,
			 (unsigned long long)(segment.offset + segment.size),
			 (unsigned long long)file_size);
		return module_refuse(err, text);
	}
	if (segment.executable && segment.size > *left)
		return module_refuse(err, module->kind == TDF_MODULE_KMOD ?
				     "its sections of code overlap" :
				     "its segments overlap");
	*left -= segment.executable ? segment.size : 0;
	module->segments[module->segment_count++] = segment;
	return 0;
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

bool module_has_section(const struct module *module, const char *name)
{
	GElf_Shdr sh;

	return elf_section_named(module->elf, name, &sh);
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
	Elf_Scn *scn = elf_section_named(module->elf, ".dynamic", &sh);
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

struct runtime_sign {
	const char *name;	/* of a symbol; one that ends with '*' begins
				 * so */
	unsigned int what;
};

static const struct runtime_sign symbol_signs[] = {
	{ "__morestack", RUNTIME_SPLITS },
	{ "getcontext", RUNTIME_SWITCHES },
	{ "jump_fcontext", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "makecontext", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "ontop_fcontext", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "setcontext", RUNTIME_SWITCHES },
	{ "swapcontext", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "sigaltstack", RUNTIME_SIGNAL_STACK },
	{ "_Unwind_*", RUNTIME_UNWINDS },
	{ "__cxa_begin_catch", RUNTIME_UNWINDS },
	{ "__cxa_throw", RUNTIME_UNWINDS },
	{ "__gcc_personality_*", RUNTIME_UNWINDS },
	{ "__gnat_personality_*", RUNTIME_UNWINDS },
	{ "__gxx_personality_*", RUNTIME_UNWINDS },
	{ "__libunwind_*", RUNTIME_UNWINDS },
	{ "_ULaarch64*", RUNTIME_UNWINDS },
	{ "_ULx86*", RUNTIME_UNWINDS },
	{ "objc_exception_throw", RUNTIME_UNWINDS },
	{ "pthread_cancel", RUNTIME_UNWINDS },
	{ "pthread_exit", RUNTIME_UNWINDS },
	{ "rust_eh_personality", RUNTIME_UNWINDS },
	{ "thrd_exit", RUNTIME_UNWINDS },
};

static const struct runtime_sign library_signs[] = {
	{ "libboost_co*", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "libc++*", RUNTIME_UNWINDS },
	{ "libgcc_s.*", RUNTIME_UNWINDS },
	{ "libgnat*", RUNTIME_UNWINDS },
	{ "libgo.*", RUNTIME_GO | RUNTIME_MIGRATES },
	{ "libobjc.*", RUNTIME_UNWINDS },
	{ "libpth.*", RUNTIME_SWITCHES | RUNTIME_MIGRATES },
	{ "libstdc++.*", RUNTIME_UNWINDS },
	{ "libunwind*", RUNTIME_UNWINDS },
};

static const struct runtime_sign section_signs[] = {
	{ ".go.buildinfo", RUNTIME_GO | RUNTIME_MIGRATES },
	{ ".gopclntab", RUNTIME_GO | RUNTIME_MIGRATES },
	{ ".note.GNU-split-stack", RUNTIME_SPLITS },
	{ ".note.go.buildid", RUNTIME_GO | RUNTIME_MIGRATES },
};

#define SIGNS(list)	(list), sizeof(list) / sizeof((list)[0])

static unsigned int signs_find(const struct runtime_sign *signs, size_t count,
			       const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++) {
		size_t bytes = strlen(signs[i].name);
		bool begins = signs[i].name[bytes - 1] == '*';

		bytes -= begins;
		if ((begins ? length >= bytes : length == bytes) &&
		    !memcmp(name, signs[i].name, bytes))
			return signs[i].what;
	}
	return 0;
}

static unsigned int sections_find(const struct module *module)
{
	unsigned int what = 0;
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;
	GElf_Shdr sh;
	GElf_Dyn dyn;

	if (elf_getshdrstrndx(module->elf, &names))
		return 0;
	while ((scn = elf_nextscn(module->elf, scn))) {
		Elf_Data *data;

		name = gelf_getshdr(scn, &sh) ?
			       elf_strptr(module->elf, names, sh.sh_name) :
			       NULL;
		if (!name)
			continue;
		what |= signs_find(SIGNS(section_signs), name, strlen(name));
		data = sh.sh_type == SHT_DYNAMIC ? elf_getdata(scn, NULL) :
						   NULL;
		for (int i = 0; data && gelf_getdyn(data, i, &dyn) &&
				dyn.d_tag != DT_NULL; i++) {
			name = dyn.d_tag != DT_NEEDED ? NULL :
				elf_strptr(module->elf, sh.sh_link,
					   dyn.d_un.d_val);
			if (name)
				what |= signs_find(SIGNS(library_signs), name,
						   strlen(name));
			if (dyn.d_tag == DT_FLAGS_1 &&
			    dyn.d_un.d_val & DF_1_PIE)
				what |= RUNTIME_PROGRAM;
		}
	}
	return what;
}

unsigned int runtime_find(const struct module *module)
{
	unsigned int what = sections_find(module);
	GElf_Ehdr header;

	if (gelf_getehdr(module->elf, &header) && header.e_type == ET_EXEC)
		what |= RUNTIME_PROGRAM;
	for (size_t i = 0; i < module->symbol_count; i++) {
		unsigned int sign = signs_find(SIGNS(symbol_signs),
					       module->symbols[i].name,
					       module->symbols[i].name_length);

		/* a library that has the functions isn't what uses them */
		if (module->symbols[i].defined && !(what & RUNTIME_PROGRAM))
			sign &= ~RUNTIME_MIGRATES;
		what |= sign;
	}
	return what;
}

static int usdt_take(const struct usdt_note *note, void *context)
{
	struct usdt_probes *probes = context;
	struct cursor c = {
		.at = (const uint8_t *)note->names,
		.end = (const uint8_t *)note->names + note->size,
	};
	struct usdt_probe probe = {
		.address = note->address, .semaphore = note->semaphore,
	};

	probe.provider = cursor_string(&c);
	probe.name = cursor_string(&c);
	probe.arguments = cursor_string(&c);
	if (c.failed)
		return 0;
	if (!array_grow(&probes->probes, probes->count, &probes->room,
			sizeof(*probes->probes)))
		return -ENOMEM;
	probes->probes[probes->count++] = probe;
	return 0;
}

int usdt_load(const struct module *module, struct usdt_probes *probes)
{
	memset(probes, 0, sizeof(*probes));
	return usdt_notes_each(module->elf, usdt_take, probes);
}

void usdt_free(struct usdt_probes *probes)
{
	free(probes->probes);
	memset(probes, 0, sizeof(*probes));
}

#define POINTERS_MAX	(4u << 20)

struct pointer_search {
	const struct module *module;
	struct pointers *found;
	uint64_t low, high;	/* all code is between */
	uint64_t left;		/* bytes that may still be looked at */
	bool failed;
};

const uint8_t *pointers_bytes(const struct module *module, uint64_t address,
			      size_t *available)
{
	for (size_t i = 0; i < module->segment_count; i++) {
		const struct module_segment *seg = &module->segments[i];
		uint64_t at = address - seg->address;
		Elf_Data *data;

		if (at >= seg->size)
			continue;
		data = elf_getdata_rawchunk(module->elf, seg->offset,
					    seg->size, ELF_T_BYTE);
		if (!data || !data->d_buf || at >= data->d_size)
			return NULL;
		*available = data->d_size - at;
		return (const uint8_t *)data->d_buf + at;
	}
	return NULL;
}

static void pointers_add(struct pointer_search *search, uint64_t at,
			 uint64_t value)
{
	struct pointers *found = search->found;
	size_t available;

	if (value < search->low || value >= search->high ||
	    !module_code(search->module, value, &available, NULL))
		return;
	if (found->count == POINTERS_MAX) {
		found->complete = false;
		return;
	}
	if (!array_grow(&found->list, found->count, &found->room,
			sizeof(*found->list))) {
		search->failed = true;
		return;
	}
	found->list[found->count++] = (struct pointer) { value, at };
}

static void search_segment(struct pointer_search *search,
			   const struct module_segment *seg)
{
	size_t word = search->module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t at = -seg->address & (word - 1);
	size_t available;
	const uint8_t *bytes = seg->size ?
		pointers_bytes(search->module, seg->address, &available) : NULL;

	if (!bytes)
		return;
	if (available > search->left) {
		search->found->complete = false;
		return;
	}
	search->left -= available;
	for (; at + word <= available && !search->failed; at += word) {
		uint64_t value = 0;

		memcpy(&value, bytes + at, word);
		pointers_add(search, seg->address + at, value);
	}
}

static int pointer_compare(const void *a, const void *b)
{
	const struct pointer *x = a, *y = b;

	return array_order(x->value, y->value) ?: array_order(x->at, y->at);
}

const struct pointers *pointers_get(struct module *module)
{
	struct pointer_search search = {
		.module = module, .left = module->file_size, .low = UINT64_MAX,
	};
	Elf_Scn *scn = NULL;
	GElf_Rela rela;
	GElf_Shdr sh;

	if (module->pointers)
		return module->pointers;
	search.found = module->pointers = calloc(1, sizeof(*search.found));
	if (!search.found)
		return NULL;
	search.found->complete = module->has_sections;
	for (size_t i = 0; i < module->code_count; i++) {
		if (module->codes[i].start < search.low)
			search.low = module->codes[i].start;
		if (module->codes[i].end > search.high)
			search.high = module->codes[i].end;
	}
	for (size_t i = 0; i < module->segment_count && !search.failed; i++)
		search_segment(&search, &module->segments[i]);

	/* what the loader makes of words that the file doesn't have */
	while ((scn = elf_nextscn(module->elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
		    !(sh.sh_flags & SHF_ALLOC) ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; !search.failed &&
				gelf_getrela(data, i, &rela); i++)
			if (!GELF_R_SYM(rela.r_info))
				pointers_add(&search, rela.r_offset,
					     rela.r_addend);
	}
	if (search.found->count)
		qsort(search.found->list, search.found->count,
		      sizeof(*search.found->list), pointer_compare);
	if (search.failed)
		pointers_forget(module);
	return module->pointers;
}

void pointers_forget(struct module *module)
{
	if (module->pointers)
		free(module->pointers->list);
	free(module->pointers);
	module->pointers = NULL;
}
