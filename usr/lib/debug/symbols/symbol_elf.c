// SPDX-License-Identifier: GPL-2.0
#include "symbol_elf.h"

#include <elf.h>
#include <endian.h>
#include <string.h>
#include <unistd.h>

#define HEADERS_MAX	256	/* program headers that are looked at */
#define NOTES_MAX	4096	/* bytes of a note segment */
#define HOST_ORDER	(__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : \
							   ELFDATA2MSB)

static bool read_at(int fd, void *data, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, data, n, at) == (ssize_t)n;
}

uint8_t symbol_elf_note(const uint8_t *notes, size_t n, uint8_t id[30])
{
	Elf64_Nhdr note;
	size_t name, length;

	while (n >= sizeof(note)) {
		memcpy(&note, notes, sizeof(note));
		notes += sizeof(note);
		n -= sizeof(note);
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		length = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > n || length > n - name)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes, "GNU", 4) && note.n_descsz) {
			length = note.n_descsz < 30 ? note.n_descsz : 30;
			memcpy(id, notes + name, length);
			return length;
		}
		notes += name + length;
		n -= name + length;
	}
	return 0;
}

/* The program header at an offset, of either class */
static bool segment_read(int fd, struct symbol_elf *elf, bool wide,
			 uint64_t at)
{
	uint8_t notes[NOTES_MAX];
	Elf32_Phdr narrow;
	Elf64_Phdr ph;
	size_t n;

	if (wide ? !read_at(fd, &ph, sizeof(ph), at) :
		   !read_at(fd, &narrow, sizeof(narrow), at))
		return false;
	if (!wide)
		ph = (Elf64_Phdr){
			.p_type = narrow.p_type, .p_flags = narrow.p_flags,
			.p_offset = narrow.p_offset, .p_vaddr = narrow.p_vaddr,
			.p_filesz = narrow.p_filesz, .p_memsz = narrow.p_memsz,
		};
	if (ph.p_type == PT_NOTE && !elf->id_length) {
		n = ph.p_filesz < sizeof(notes) ? ph.p_filesz : sizeof(notes);
		if (read_at(fd, notes, n, ph.p_offset))
			elf->id_length = symbol_elf_note(notes, n, elf->id);
	}
	if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
	    elf->segment_count == SYMBOL_SEGMENTS)
		return true;
	elf->stripped |= !ph.p_filesz;
	elf->segments[elf->segment_count++] = (struct symbol_segment){
		ph.p_vaddr, ph.p_offset, ph.p_memsz,
	};
	return true;
}

bool symbol_elf_read(int fd, struct symbol_elf *elf)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} head;
	size_t count, size;
	uint64_t at;
	bool wide;

	*elf = (struct symbol_elf){ 0 };
	if (!read_at(fd, &head.narrow, sizeof(head.narrow), 0) ||
	    memcmp(head.ident, ELFMAG, SELFMAG) ||
	    head.ident[EI_DATA] != HOST_ORDER)
		return false;
	wide = head.ident[EI_CLASS] == ELFCLASS64;
	if (wide && !read_at(fd, &head.wide, sizeof(head.wide), 0))
		return false;
	count = wide ? head.wide.e_phnum : head.narrow.e_phnum;
	at = wide ? head.wide.e_phoff : head.narrow.e_phoff;
	size = wide ? head.wide.e_phentsize : head.narrow.e_phentsize;
	if ((!wide && head.ident[EI_CLASS] != ELFCLASS32) ||
	    size != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) ||
	    count > HEADERS_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!segment_read(fd, elf, wide, at + i * size))
			return false;
	return true;
}
