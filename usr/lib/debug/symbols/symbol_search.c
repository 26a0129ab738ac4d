// SPDX-License-Identifier: GPL-2.0
#include "symbol_search.h"

#include <elf.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/debug/debug_search.h"
#include "lib/path.h"

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

struct symbol_search {
	const struct symbols_settings *settings;
	const uint8_t *id;
	size_t length;
	char hex[2 * 30 + 1];		/* of the id */
	char *path;			/* of the file that was found */
	int fd;
	struct symbol_elf *elf;		/* its contents */
	struct debug_search files;
};

const char *symbols_useless(const struct symbols_settings *settings,
			    size_t *at)
{
	while (settings->use && *at < settings->dir_count)
		if (settings->use[(*at)++] == SYMBOLS_LOOKED)
			return settings->dirs[*at - 1];
	return NULL;
}

/* Only a file with the build-id is taken. */
static bool symbol_file_take(void *context, int fd, const char *path)
{
	struct symbol_search *search = context;

	if (!symbol_elf_read(fd, search->elf) ||
	    search->elf->id_length != search->length ||
	    memcmp(search->elf->id, search->id, search->length))
		return false;
	search->fd = fd;
	strcpy(search->path, path);
	return true;
}

static void use_note(const struct symbols_settings *settings, size_t dir,
		     bool found)
{
	if (settings->use)
		settings->use[dir] |= SYMBOLS_LOOKED |
				      (found ? SYMBOLS_HAD : 0);
}

/* --symbols names a file itself: a debug file, or one with code. */
static bool symbol_given_find(const struct symbol_search *search, bool debug)
{
	const struct symbols_settings *settings = search->settings;

	for (size_t i = 0; i < settings->dir_count; i++) {
		bool found = debug_search_try(&search->files, "%s",
					      settings->dirs[i]);

		use_note(settings, i, found);
		if (found && search->elf->stripped == debug)
			return true;
		if (found)
			close(search->fd);
	}
	return false;
}

/* False: the mapping's file has no build-id. */
static bool symbol_search_begin(struct symbol_search *search,
				const struct symbols_settings *settings,
				const uint8_t *id, size_t length,
				char path[PATH_MAX], struct symbol_elf *elf)
{
	*search = (struct symbol_search){
		.settings = settings,
		.id = id,
		.length = length,
		.path = path,
		.elf = elf,
		.files = {"", search->hex, NULL, NULL, symbol_file_take,
			  search},
	};
	for (size_t i = 0; i < length && length <= 30; i++)
		sprintf(search->hex + 2 * i, "%02x", id[i]);
	return length && length <= 30;
}

int symbol_search_code(const struct symbols_settings *settings,
		       const struct ras_mapping *mapping, char path[PATH_MAX],
		       struct symbol_elf *elf)
{
	char name[sizeof(mapping->path) + 1] = "";
	struct symbol_search search;
	const struct debug_search *files = &search.files;
	bool found = false;

	memcpy(name, mapping->path, sizeof(mapping->path));
	if (mapping->id_kind != TDF_ID_BUILD ||
	    !symbol_search_begin(&search, settings, mapping->id,
				 mapping->id_length, path, elf))
		return -1;
	for (size_t i = 0; !found && i < settings->dir_count; i++) {
		const char *dir = settings->dirs[i];

		found = (*name == '/' &&
			 debug_search_try(files, "%s%s", dir, name)) ||
			debug_search_try(files, "%s/%s", dir,
					 path_base(name)) ||
			debug_search_try(files, "%s" DEBUG_BY_ID, dir,
					 search.hex, search.hex + 2);
		use_note(settings, i, found);
	}
	if (!found)
		found = symbol_given_find(&search, false) ||
			(*name == '/' && debug_search_try(files, "%s", name));
	return found ? search.fd : -1;
}

static bool symbol_served_find(struct symbol_search *search)
{
	struct debuginfod *server = search->settings->server;
	int fd = server ? debuginfod_fetch(server, search->id, search->length) :
		 -1;

	if (fd < 0)
		return false;
	if (symbol_file_take(search, fd, "(debuginfod)"))
		return true;
	close(fd);
	return false;
}

/* A file without a debug link may have NAME.debug. */
int symbol_search_linked(const struct symbols_settings *settings,
			 const uint8_t *id, size_t length, const char *code,
			 const char *link, char path[PATH_MAX],
			 struct symbol_elf *elf)
{
	char directory[PATH_MAX], name[PATH_MAX];
	const char *slash = strrchr(code, '/');
	struct symbol_search search;
	const struct debug_search *files = &search.files;
	bool found = false;

	if (!symbol_search_begin(&search, settings, id, length, path, elf))
		return -1;
	if (!link || strchr(link, '/')) {
		snprintf(name, sizeof(name), "%s.debug", path_base(code));
		link = name;
	}
	for (size_t i = 0; !found && i < settings->dir_count; i++) {
		const char *dir = settings->dirs[i], *hex = search.hex;

		found = debug_search_try(files, "%s" DEBUG_BY_ID ".debug", dir,
					 hex, hex + 2) ||
			debug_search_try(files, "%s" DEBUG_TREE DEBUG_BY_ID
					 ".debug", dir, hex, hex + 2) ||
			debug_search_try(files, "%s/%s", dir, link);
		use_note(settings, i, found);
	}
	if (slash) {
		snprintf(directory, sizeof(directory), "%.*s",
			 (int)(slash - code), code);
		search.files.directory = directory;
	}
	search.files.link = link;
	if (!found)
		found = debug_search_all(files) ||
			symbol_given_find(&search, true) ||
			symbol_served_find(&search);
	return found ? search.fd : -1;
}

int symbol_search_debug(const struct symbols_settings *settings,
			const struct ras_mapping *mapping, char path[PATH_MAX],
			struct symbol_elf *elf)
{
	char name[sizeof(mapping->path) + 1] = "";

	memcpy(name, mapping->path, sizeof(mapping->path));
	return mapping->id_kind == TDF_ID_BUILD ?
	       symbol_search_linked(settings, mapping->id, mapping->id_length,
				    name, NULL, path, elf) : -1;
}
