// SPDX-License-Identifier: GPL-2.0
#include "elf_symbols.h"

#include <gelf.h>
#include <stddef.h>
#include <string.h>

bool elf_symbols_next(struct elf_symbols *s)
{
	for (;;) {
		while (s->data && gelf_getsym(s->data, ++s->index, &s->symbol)) {
			if (s->symbol.st_shndx == SHN_UNDEF)
				continue;
			s->name = elf_strptr(s->elf, s->header.sh_link,
					     s->symbol.st_name);
			if (s->name && *s->name)
				return true;
		}
		s->data = NULL;
		s->section = elf_nextscn(s->elf, s->section);
		if (!s->section)
			return false;
		if (gelf_getshdr(s->section, &s->header) &&
		    s->header.sh_type == s->type)
			s->data = elf_getdata(s->section, NULL);
		s->index = 0;
	}
}

Elf_Scn *elf_section_named(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *found = gelf_getshdr(section, header) ?
			elf_strptr(elf, names, header->sh_name) : NULL;

		if (found && !strcmp(found, name))
			return section;
	}
	return NULL;
}

bool elf_header_find(Elf *elf, uint32_t type, GElf_Phdr *segment)
{
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, segment) && segment->p_type == type)
			return true;
	return false;
}

bool elf_program_block(Elf *elf, unsigned int header, uint64_t *start)
{
	Elf_Data *data = NULL;
	bool program;
	uint64_t align;
	GElf_Ehdr eh;
	GElf_Phdr ph;
	GElf_Dyn dyn;

	if (!gelf_getehdr(elf, &eh))
		return false;
	program = eh.e_type == ET_EXEC;
	if (eh.e_type == ET_DYN && elf_header_find(elf, PT_DYNAMIC, &ph))
		data = elf_getdata_rawchunk(elf, ph.p_offset, ph.p_filesz,
					    ELF_T_DYN);
	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++)
		if (dyn.d_tag == DT_FLAGS_1) {
			program = dyn.d_un.d_val & DF_1_PIE;
			break;
		}
	if (!program || !elf_header_find(elf, PT_TLS, &ph))
		return false;
	align = ph.p_align ? ph.p_align : 1;
	if (align & (align - 1))
		return false;
	if (header)
		*start = header + ((ph.p_vaddr - header) & (align - 1));
	else
		*start = -ph.p_memsz -
			 ((-ph.p_vaddr - ph.p_memsz) & (align - 1));
	return true;
}

/*
 * A note of .note.stapsdt has the name "stapsdt", type 3, and as its
 * description three addresses (of the probe, of .stapsdt.base when that was
 * linked, of the semaphore or 0), then provider, name and arguments as strings.
 */

#define NOTE_TYPE	3
#define NOTE_OWNER	"stapsdt"
#define ADDRESSES	3

struct usdt_notes {
	Elf_Data *notes;
	size_t word;		/* bytes of an address */
	uint64_t base;		/* of .stapsdt.base; 0: there is none */
};

/* The files' byte order is this machine's. */
static uint64_t usdt_word_read(const struct usdt_notes *reader, const char *at)
{
	uint32_t narrow;
	uint64_t wide;

	if (reader->word == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

static void note_read(const struct usdt_notes *reader, const char *text,
		      size_t size, struct usdt_note *note)
{
	uint64_t mask = reader->word == 8 ? UINT64_MAX : UINT32_MAX;
	uint64_t base = usdt_word_read(reader, text + reader->word), moved = 0;

	if (reader->base && base)
		moved = reader->base - base;
	*note = (struct usdt_note){
		.address = (usdt_word_read(reader, text) + moved) & mask,
		.semaphore = usdt_word_read(reader, text + 2 * reader->word),
		.names = text + ADDRESSES * reader->word,
		.size = size - ADDRESSES * reader->word,
	};
	if (note->semaphore)
		note->semaphore = (note->semaphore + moved) & mask;
}

static void usdt_reader_open(struct usdt_notes *reader, Elf *elf)
{
	GElf_Shdr sh;
	Elf_Scn *base = elf_section_named(elf, ".stapsdt.base", &sh);

	*reader = (struct usdt_notes){
		.word = gelf_getclass(elf) == ELFCLASS64 ? 8 : 4,
		.base = base ? sh.sh_addr : 0,
	};
	base = elf_section_named(elf, ".note.stapsdt", &sh);
	if (base && sh.sh_type == SHT_NOTE)
		reader->notes = elf_getdata(base, NULL);
}

int usdt_notes_each(Elf *elf,
		    int (*visit)(const struct usdt_note *note, void *context),
		    void *context)
{
	struct usdt_notes reader;
	size_t at = 0, name, text;
	const char *bytes;
	GElf_Nhdr nh;
	int code = 0;

	usdt_reader_open(&reader, elf);
	bytes = reader.notes ? reader.notes->d_buf : NULL;
	while (bytes && !code &&
	       (at = gelf_getnote(reader.notes, at, &nh, &name, &text))) {
		struct usdt_note note;

		if (nh.n_type != NOTE_TYPE ||
		    nh.n_namesz != sizeof(NOTE_OWNER) ||
		    memcmp(bytes + name, NOTE_OWNER, sizeof(NOTE_OWNER)) ||
		    nh.n_descsz < ADDRESSES * reader.word)
			continue;
		note_read(&reader, bytes + text, nh.n_descsz, &note);
		code = visit(&note, context);
	}
	return code;
}

bool usdt_offset_find(Elf *elf, uint64_t address, uint32_t flags,
		      uint64_t *offset)
{
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    (ph.p_flags & flags) != flags || address < ph.p_vaddr ||
		    address - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = address - ph.p_vaddr + ph.p_offset;
		return true;
	}
	return false;
}
