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

static void notes_read(int fd, struct symbol_elf *elf, uint64_t at, uint64_t n)
{
	uint8_t notes[NOTES_MAX];

	n = n < sizeof(notes) ? n : sizeof(notes);
	if (!elf->id_length && read_at(fd, notes, n, at))
		elf->id_length = symbol_elf_note(notes, n, elf->id);
}

static void segment_read(int fd, struct symbol_elf *elf, const Elf64_Phdr *ph)
{
	if (ph->p_type == PT_NOTE)
		notes_read(fd, elf, ph->p_offset, ph->p_filesz);
	if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) ||
	    elf->segment_count == SYMBOL_SEGMENTS)
		return;
	elf->stripped |= !ph->p_filesz;
	elf->segments[elf->segment_count++] = (struct symbol_segment){
		ph->p_vaddr, ph->p_offset, ph->p_memsz,
	};
}

static bool header_read64(int fd, struct symbol_elf *elf, uint64_t at, size_t n)
{
	Elf64_Phdr ph;

	for (size_t i = 0; i < n; i++) {
		if (!read_at(fd, &ph, sizeof(ph), at + i * sizeof(ph)))
			return false;
		segment_read(fd, elf, &ph);
	}
	return true;
}

static bool header_read32(int fd, struct symbol_elf *elf, uint64_t at, size_t n)
{
	Elf32_Phdr ph;

	for (size_t i = 0; i < n; i++) {
		if (!read_at(fd, &ph, sizeof(ph), at + i * sizeof(ph)))
			return false;
		segment_read(fd, elf, &(Elf64_Phdr){
			.p_type = ph.p_type, .p_flags = ph.p_flags,
			.p_offset = ph.p_offset, .p_vaddr = ph.p_vaddr,
			.p_filesz = ph.p_filesz, .p_memsz = ph.p_memsz,
		});
	}
	return true;
}

bool symbol_elf_read(int fd, struct symbol_elf *elf)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr narrow;
		Elf64_Ehdr wide;
	} head;

	*elf = (struct symbol_elf){ 0 };
	if (!read_at(fd, &head.narrow, sizeof(head.narrow), 0) ||
	    memcmp(head.ident, ELFMAG, SELFMAG) ||
	    head.ident[EI_DATA] != HOST_ORDER)
		return false;
	if (head.ident[EI_CLASS] == ELFCLASS32)
		return head.narrow.e_phentsize == sizeof(Elf32_Phdr) &&
		       head.narrow.e_phnum <= HEADERS_MAX &&
		       header_read32(fd, elf, head.narrow.e_phoff,
				     head.narrow.e_phnum);
	return head.ident[EI_CLASS] == ELFCLASS64 &&
	       read_at(fd, &head.wide, sizeof(head.wide), 0) &&
	       head.wide.e_phentsize == sizeof(Elf64_Phdr) &&
	       head.wide.e_phnum <= HEADERS_MAX &&
	       header_read64(fd, elf, head.wide.e_phoff, head.wide.e_phnum);
}
