// SPDX-License-Identifier: GPL-2.0
#include "allocator.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "lib/array.h"
#include "lib/elf_symbols.h"
#include "lib/library.h"
#include "lib/maps_line.h"
#include "lib/path.h"

#define MEMORY_MOST	(128u << 20)	/* of the decoder */
#define SIZE_MOST	(64u << 20)
#define RATIO_FIRST	8		/* unpacked, of packed */
#define BUFFER_FULL	10		/* LZMA_BUF_ERROR */

typedef int unpack_function(uint64_t *memory, uint32_t flags,
			    const void *allocator, const uint8_t *in,
			    size_t *in_at, size_t in_size, uint8_t *out,
			    size_t *out_at, size_t out_size);

const char *const allocator_names[ALLOCATOR_NAMES] = {
	"auto", "glibc", "musl", "jemalloc", "tcmalloc", "mimalloc",
};

/* ---- the functions of heap.def in an ELF file ---- */

static Elf_Data *debugdata_section_find(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, ".gnu_debugdata"))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/*
 * The table of symbols that stripped files of some systems have compressed
 * (.gnu_debugdata: an ELF file in xz). *data is for free(). 0, or a negative
 * errno: -ENOENT: there is none, or no liblzma to unpack it.
 */
static int debugdata_read(Elf *elf, void **data, size_t *size)
{
	Elf_Data *packed = debugdata_section_find(elf);
	unpack_function *unpack = packed && packed->d_size ?
		library_symbol("liblzma.so.5", "lzma_stream_buffer_decode") :
		NULL;
	int code = unpack ? BUFFER_FULL : 0;
	uint8_t *out = NULL;

	if (!unpack)
		return -ENOENT;
	for (size_t room = packed->d_size * RATIO_FIRST;
	     code == BUFFER_FULL && room <= SIZE_MOST; room *= 2) {
		uint64_t memory = MEMORY_MOST;
		size_t in_at = 0;

		free(out);
		out = malloc(room);
		if (!out)
			return -ENOMEM;
		*size = 0;
		code = unpack(&memory, 0, NULL, packed->d_buf, &in_at,
			      packed->d_size, out, size, room);
	}
	if (code || !out) {
		free(out);
		return -EBADMSG;
	}
	*data = out;
	return 0;
}

/* Symbols that only one allocator's code has. */
static const struct {
	const char *symbol;
	enum allocator_name name;
} marks[] = {
	{ "__libc_mallopt", ALLOCATOR_GLIBC },
	{ "__malloc_hook", ALLOCATOR_GLIBC },
	{ "malloc_info", ALLOCATOR_GLIBC },
	{ "__libc_malloc_impl", ALLOCATOR_MUSL },
	{ "__malloc_donate", ALLOCATOR_MUSL },
	{ "__dls3", ALLOCATOR_MUSL },
	{ "mallctl", ALLOCATOR_JEMALLOC },
	{ "je_mallctl", ALLOCATOR_JEMALLOC },
	{ "tc_malloc", ALLOCATOR_TCMALLOC },
	{ "MallocExtension_GetNumericProperty", ALLOCATOR_TCMALLOC },
	{ "mi_malloc", ALLOCATOR_MIMALLOC },
};

/* The function of that name, if it is wanted; NULL */
static const struct heap_function_def *
symbol_function(const struct allocator_file *file,
		const struct allocator_want *want, const char *symbol)
{
	size_t length = want->prefix ? strlen(want->prefix) : 0, at;
	const struct heap_function_def *function;
	char name[64];

	if (length && strncmp(symbol, want->prefix, length))
		return NULL;
	symbol += length;
	if (file->elf_class == ELFCLASS32) {
		/* "_Znwj" of a 32-bit program is "_Znwm" of the table: size_t
		 * is another type (Itanium C++ ABI, 5.1.5.2). */
		at = strncmp(symbol, "_Zn", 3) ? 6 : 4;
		snprintf(name, sizeof(name), "%s", symbol);
		if (!strncmp(name, "_Z", 2) && strlen(name) > at &&
		    name[at] == 'j')
			name[at] = 'm';
		symbol = name;
	}
	function = &heap_functions[heap_function_find(symbol)];
	switch (function->kind) {
	case FUNCTION_ABSENT:
		return NULL;
	case FUNCTION_MAP:
	case FUNCTION_UNMAP:
		return want->maps && !want->prefix ? function : NULL;
	default:
		return function;
	}
}

/* Of functions at one address that of the lowest level stays; when one is free()
 * and another operator delete, it may be either. */
static void alias_take(struct allocator_place *place,
		       const struct heap_function_def *function,
		       const char *symbol)
{
	const struct heap_function_def *known =
		&heap_functions[place->function];

	if (known->kind != function->kind ||
	    known->minor == HEAP_FUNCTION_RELEASE_ANY)
		return;
	if (known->kind == FUNCTION_RELEASE &&
	    heap_function_is_cxx(known->minor) !=
		    heap_function_is_cxx(function->minor)) {
		place->function = HEAP_FUNCTION_RELEASE_ANY;
		return;
	}
	if (function->level >= known->level)
		return;
	place->function = function->minor;
	strncpy(place->symbol, symbol, sizeof(place->symbol) - 1);
}

/* A function has one place in a file: tracepoints have one module each, and
 * the first symbol is that of .dynsym. 0 or -ENOMEM. */
static int allocator_place_add(struct allocator_file *file,
			       const struct heap_function_def *function,
			       uint64_t offset, const struct elf_symbols *at)
{
	struct allocator_place *place;
	bool known = false;

	for (size_t i = 0; i < file->count; i++) {
		place = &file->places[i];
		if (place->offset == offset) {
			alias_take(place, function, at->name);
			return 0;
		}
		known |= place->function == function->minor;
	}
	if (known)
		return 0;
	if (!array_grow(&file->places, file->count, &file->room,
			sizeof(*place)))
		return -ENOMEM;
	place = &file->places[file->count];
	*place = (struct allocator_place){
		.function = function->minor, .offset = offset,
		.address = at->symbol.st_value,
	};
	strncpy(place->symbol, at->name, sizeof(place->symbol) - 1);
	if (allocator_entry_read(file, place,
				 function->kind == FUNCTION_RELEASE))
		file->count++;
	return 0;
}

/* The symbols of `elf`. `image`: whose segments name the places of the code: an
 * unpacked table of symbols has none of its own. 0 or -ENOMEM. */
static int tables_scan(struct allocator_file *file,
		       const struct allocator_want *want, Elf *image, Elf *elf,
		       uint32_t type)
{
	struct elf_symbols at = { .elf = elf, .type = type };
	const struct heap_function_def *function;
	uint64_t offset;
	int code = 0;

	while (!code && elf_symbols_next(&at)) {
		if (!at.symbol.st_value)
			continue;
		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
			if (!strcmp(marks[i].symbol, at.name) &&
			    marks[i].name > file->name)
				file->name = marks[i].name;
		file->dlsym |= type == SHT_DYNSYM && !strcmp(at.name, "dlsym");
		if (GELF_ST_TYPE(at.symbol.st_info) != STT_FUNC ||
		    (GELF_ST_BIND(at.symbol.st_info) == STB_LOCAL &&
		     !want->object_count))
			continue;
		function = symbol_function(file, want, at.name);
		if (function && usdt_offset_find(image, at.symbol.st_value,
						 PF_X, &offset))
			code = allocator_place_add(file, function, offset, &at);
	}
	return code;
}

static int allocator_place_compare(const void *a, const void *b)
{
	const struct allocator_place *x = a, *y = b;

	return x->function < y->function ? -1 : x->function > y->function;
}

int allocator_file_read(struct allocator_file *file,
			const struct allocator_want *want)
{
	GElf_Ehdr header;
	Elf *elf, *inner;
	size_t size;
	void *data;
	int code;

	elf_version(EV_CURRENT);
	elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
		elf_end(elf);
		return -ENOEXEC;
	}
	file->machine = header.e_machine;
	file->elf_class = header.e_ident[EI_CLASS];
	code = tables_scan(file, want, elf, elf, SHT_DYNSYM);
	if (!code)
		code = tables_scan(file, want, elf, elf, SHT_SYMTAB);
	if (!code && !debugdata_read(elf, &data, &size)) {
		inner = elf_memory(data, size);
		if (inner)
			code = tables_scan(file, want, elf, inner, SHT_SYMTAB);
		elf_end(inner);
		free(data);
	}
	elf_end(elf);
	if (file->count)
		qsort(file->places, file->count, sizeof(*file->places),
		      allocator_place_compare);
	return code;
}

/* ---- the files of processes ---- */

/* Is it a file that is to be looked at, which was not yet? Not what glibc's ld.so
 * has for itself, until libc is there. */
static bool is_wanted(const struct allocator *a,
		      const struct allocator_want *want,
		      const struct maps_line *m)
{
	const char *base = path_base(m->path);
	bool wanted = !want->object_count;

	for (size_t i = 0; i < a->seen_count; i++)
		if (a->seen[i].device == m->device &&
		    a->seen[i].inode == m->inode)
			return false;
	for (unsigned int i = 0; i < want->object_count; i++)
		wanted |= !strcmp(want->objects[i], m->path) ||
			  !strcmp(want->objects[i], base);
	return wanted && (strstr(base, "musl") ||
			  (strncmp(base, "ld-linux", 8) &&
			   strncmp(base, "ld-2.", 5) &&
			   strncmp(base, "ld.so", 5)));
}

/* By its name when that leads to the file that is mapped, also in another root
 * directory; else what is mapped itself. */
static int allocator_mapped_open(const struct maps_line *m, uint32_t pid,
				 char path[PATH_MAX])
{
	static const char *const forms[] = { "%2$s", "/proc/%1$u/root%2$s" };
	int fd = maps_line_open(m, pid);
	struct stat st;

	for (unsigned int i = 0; i < 2; i++) {
		int named;
		struct stat other;

		if (snprintf(path, PATH_MAX, forms[i], pid, m->path) >=
		    PATH_MAX)
			continue;
		named = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (named < 0)
			continue;
		if (!fstat(named, &other) && S_ISREG(other.st_mode) &&
		    (fd < 0 ? other.st_ino == m->inode :
		     !fstat(fd, &st) && st.st_ino == other.st_ino &&
		     st.st_dev == other.st_dev)) {
			if (fd >= 0)
				close(fd);
			return named;
		}
		close(named);
	}
	snprintf(path, PATH_MAX, "%s", m->path);
	return fd;
}

/* C++ operators are wanted whatever the allocator is. */
static bool place_wanted(const struct allocator_file *file,
			 const struct allocator_want *want,
			 enum heap_function function)
{
	if (want->no_new && allocator_file_makes_new(file) &&
	    heap_function_throws(function))
		return false;
	return want->name == ALLOCATOR_AUTO || file->name == ALLOCATOR_AUTO ||
	       file->name == want->name || heap_function_is_cxx(function);
}

static int allocator_file_add(struct allocator *a, const struct maps_line *m,
			      uint32_t pid, const struct allocator_want *want,
			      struct error *err)
{
	struct allocator_file *file;
	struct stat st;
	size_t kept = 0;
	int code;

	if (!array_grow(&a->files, a->count, &a->room, sizeof(*file)))
		return error_no_memory(err);
	file = &a->files[a->count];
	memset(file, 0, sizeof(*file));
	file->fd = allocator_mapped_open(m, pid, file->path);
	if (file->fd < 0)
		return 0;	/* the process may be gone: another may have it */
	if (array_grow(&a->seen, a->seen_count, &a->seen_room,
		       sizeof(*a->seen)))
		a->seen[a->seen_count++] = (struct allocator_seen){
			m->device, m->inode,
		};
	code = fstat(file->fd, &st) ? -errno : allocator_file_read(file, want);
	for (size_t i = 0; !code && i < file->count; i++)
		if (place_wanted(file, want, file->places[i].function))
			file->places[kept++] = file->places[i];
	if (kept) {
		file->count = kept;
		file->device = st.st_dev;
		file->inode = st.st_ino;
		a->count++;
		return 0;
	}
	close(file->fd);
	free(file->places);
	return code == -ENOMEM ? error_no_memory(err) : 0;
}

int allocator_add_process(struct allocator *allocator, uint32_t pid,
			  const struct allocator_want *want, struct error *err)
{
	struct maps_lines lines;
	struct maps_line m;
	int code = maps_lines_open(&lines, pid);

	if (code)
		return error_set(err, code == -ENOENT ? -ESRCH : code,
				 "cannot look at process %u: %s", pid,
				 code == -ENOENT ? "it isn't there" :
				 strerror(-code));
	while (!code && maps_lines_next(&lines, &m)) {
		if (m.path[0] != '/' || m.mode[2] != 'x')
			continue;	/* not the code of a file */
		if (m.deleted)
			*m.deleted = '\0';
		if (is_wanted(allocator, want, &m))
			code = allocator_file_add(allocator, &m, pid, want,
						  err);
	}
	maps_lines_close(&lines);
	return code;
}

bool allocator_file_gives(const struct allocator_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct heap_function_def *function =
			&heap_functions[file->places[i].function];

		if (function->kind <= FUNCTION_RESIZE &&
		    !heap_function_is_cxx(function->minor))
			return true;
	}
	return false;
}

bool allocator_file_throws(const struct allocator_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		if (heap_function_throws(file->places[i].function))
			return allocator_file_makes_new(file);
	return false;
}

bool allocator_found(const struct allocator *allocator)
{
	for (size_t i = 0; i < allocator->count; i++)
		if (allocator_file_gives(&allocator->files[i]))
			return true;
	return false;
}

int allocator_missing(const struct allocator_want *want, const char *where,
		      struct error *err)
{
	const char *prefix = want->prefix ? want->prefix : "";

	error_set(err, -ENOENT,
		  "no allocator was found in %s: looked for %smalloc, %scalloc, %srealloc, %sfree%s in .dynsym, .symtab and .gnu_debugdata of %s",
		  where, prefix, prefix, prefix, prefix,
		  want->prefix ? "" : " and operator new",
		  want->object_count ? "the files of --object" :
				       "all files that are mapped");
	error_hint(err, "name the file that has it (--object), or what its functions begin with (--prefix je_); a stripped static program has no names");
	return -ENOENT;
}

void allocator_free(struct allocator *allocator)
{
	for (size_t i = 0; i < allocator->count; i++) {
		close(allocator->files[i].fd);
		free(allocator->files[i].places);
	}
	free(allocator->files);
	free(allocator->seen);
	*allocator = (struct allocator){ 0 };
}
