// SPDX-License-Identifier: GPL-2.0
#include "dwarf_find.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/hash.h"
#include "lib/path.h"
#include "lib/debug/module/module.h"

#define TREE	"/usr/lib/debug"

/* What tells that a file belongs to the module. */
struct finder {
	struct dwarf_file *dwarf;
	const char *sysroot;		/* "" for none */
	char *directory;		/* of the module */
	const char *link;		/* .gnu_debuglink, NULL: none */
	uint32_t crc;			/* ... of that file */
	struct error *refused;		/* why a file wasn't taken */
};

/* CRC-32 of a whole file, as .gnu_debuglink has it. */
static bool crc_read(int fd, uint32_t *crc)
{
	uint8_t buffer[65536];
	off_t at = 0;
	ssize_t n;

	*crc = 0;
	while ((n = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		*crc = hash_crc32(*crc, buffer, n);
		at += n;
	}
	return !n;
}

/* The name, zero-terminated and padded to 4 bytes, then the CRC. */
static void link_read(struct finder *f)
{
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(f->dwarf->module->elf, &crc);

	if (!name || !*name || strchr(name, '/'))
		return;
	f->link = name;
	f->crc = crc;
}

static const char *id_print(const struct identity *id, char *text)
{
	if (id->kind == TDF_ID_BUILD)
		identity_print(id->kind, id->id, id->length, text);
	else
		strcpy(text, "none");
	return text;
}

static int refuse_id(struct finder *f, const char *path,
		     const struct identity *id)
{
	char own[64], other[64];

	error_set(f->refused, -ESTALE,
		  "'%s' belongs to another build: its build-id is %s, the "
		  "module's is %s", path, id_print(id, other),
		  id_print(&f->dwarf->module->identity, own));
	error_hint(f->refused, "--debug FILE gives the one that was made with "
			       "it");
	return -ESTALE;
}

static int refuse_crc(struct finder *f, const char *path, uint32_t crc)
{
	error_set(f->refused, -ESTALE,
		  "'%s' belongs to another build: its checksum is %08x, the "
		  "module's .gnu_debuglink has %08x", path, crc, f->crc);
	return -ESTALE;
}

/* By the build-id; else by .gnu_debuglink, or by the code when both have it.
 * 0, -ESTALE: another build's, f->refused says so. */
static int check_belongs(struct finder *f, int fd, const char *path)
{
	const struct identity *own = &f->dwarf->module->identity;
	struct identity id = {0};
	uint32_t crc;

	if (identity_read(fd, path, &id, NULL))
		id.kind = TDF_ID_NONE;
	if (own->kind != TDF_ID_NONE && id.kind == own->kind &&
	    id.length == own->length && !memcmp(id.id, own->id, id.length))
		return 0;
	if (own->kind == TDF_ID_BUILD)
		return refuse_id(f, path, &id);
	if (f->link && crc_read(fd, &crc))
		return crc == f->crc ? 0 : refuse_crc(f, path, crc);
	error_set(f->refused, -ESTALE,
		  "'%s' can't be told to belong to the module: that has "
		  "neither a build-id nor a .gnu_debuglink", path);
	return -ESTALE;
}

/* Of a kernel module, with the addresses that its sections were given. */
static Elf *open_elf(struct dwarf_file *dwarf, uint64_t size)
{
	const struct module *module = dwarf->module;
	struct error unused;
	GElf_Ehdr eh;
	Elf *elf;

	if (module->kind != TDF_MODULE_KMOD)
		return elf_begin(dwarf->fd, ELF_C_READ, NULL);
	elf = module_rel_open(dwarf->fd, size, &dwarf->image, &unused);
	if (elf && gelf_getehdr(elf, &eh) && eh.e_type == ET_REL &&
	    gelf_getclass(elf) == module->elf_class &&
	    !module_rel_link(elf, size, module->elf, &unused))
		return elf;
	elf_end(elf);
	return NULL;
}

static bool open_dwarf(struct dwarf_file *dwarf, uint64_t size)
{
	dwarf->elf = open_elf(dwarf, size);
	dwarf->dwarf = dwarf_begin_elf(dwarf->elf, DWARF_C_READ, NULL);
	if (dwarf->dwarf)
		return true;
	elf_end(dwarf->elf);
	dwarf->elf = NULL;
	free(dwarf->image);
	dwarf->image = NULL;
	return false;
}

/* Take the open file, which is closed when it isn't taken. */
static int take_file(struct finder *f, int fd, const char *path)
{
	struct dwarf_file *dwarf = f->dwarf;
	struct stat st;
	int code = 0;

	dwarf->fd = fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		code = error_set(f->refused, -EINVAL,
				 "'%s' is not a regular file", path);
	if (!code)
		code = check_belongs(f, fd, path);
	if (!code && !open_dwarf(dwarf, st.st_size))
		code = error_set(f->refused, -ENOEXEC,
				 "'%s' has no debug information", path);
	if (!code && !(dwarf->path = strdup(path)))
		code = error_no_memory(f->refused);
	dwarf->modified = st.st_mtim;
	if (!code)
		return 0;
	close(fd);
	dwarf->fd = -1;
	return code;
}

/* Open the file of that name, which is left in path; -1: it isn't there. One
 * of a name longer than PATH_MAX can't be. */
static int open_named(char path[PATH_MAX], const char *format, va_list args)
{
	int length = vsnprintf(path, PATH_MAX, format, args);

	return length < 0 || length >= PATH_MAX ?
	       -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

__attribute__((format(printf, 2, 3)))
static bool try_file(struct finder *f, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int fd;

	va_start(args, format);
	fd = open_named(path, format, args);
	va_end(args);
	return fd >= 0 && !take_file(f, fd, path);
}

static bool try_build_id(struct finder *f)
{
	const struct identity *id = &f->dwarf->module->identity;
	char text[64];

	if (id->kind != TDF_ID_BUILD || id->length < 2)
		return false;
	identity_print(id->kind, id->id, id->length, text);
	return try_file(f, "%s" TREE "/.build-id/%.2s/%s.debug", f->sysroot,
			text, text + 2) ||
	       (f->directory &&
		try_file(f, "%s/.debug/.build-id/%.2s/%s.debug", f->directory,
			 text, text + 2));
}

static bool try_link(struct finder *f)
{
	const char *below = f->directory;
	size_t n = strlen(f->sysroot);

	if (!f->link || !f->directory)
		return false;
	if (!strncmp(below, f->sysroot, n) && (!below[n] || below[n] == '/'))
		below += n;
	return try_file(f, "%s/%s", f->directory, f->link) ||
	       try_file(f, "%s/.debug/%s", f->directory, f->link) ||
	       try_file(f, "%s" TREE "%s/%s", f->sysroot, below, f->link);
}

/* Where distributions keep those of kernel modules: below /lib, of which the
 * real name may be /usr/lib, as /lib/modules/6.1/kernel/x.ko(.debug); that of
 * x.ko.xz is x.ko.debug, too. */
static bool try_kmod(struct finder *f, const char *module_path)
{
	const char *name = path_base(module_path);
	const char *below = f->directory ? strstr(f->directory, "/lib/modules/")
					 : NULL;
	const char *end = strstr(name, ".ko");
	int length = end ? end + 3 - name : (int)strlen(name);

	if (f->dwarf->module->kind != TDF_MODULE_KMOD || !below)
		return false;
	return try_file(f, "%s" TREE "%s/%.*s", f->sysroot, below, length,
			name) ||
	       try_file(f, "%s" TREE "%s/%.*s.debug", f->sysroot, below,
			length, name) ||
	       try_file(f, "%s" TREE "/usr%s/%.*s", f->sysroot, below, length,
			name) ||
	       try_file(f, "%s" TREE "/usr%s/%.*s.debug", f->sysroot, below,
			length, name);
}

static bool try_debuginfod(struct finder *f)
{
	const struct identity *id = &f->dwarf->module->identity;
	int fd;

	if (id->kind != TDF_ID_BUILD)
		return false;
	fd = dwarf_debuginfod_find(id->id, id->length);
	if (fd >= 0)
		return !take_file(f, fd, "(debuginfod)");
	if (fd != -ENOSYS && !f->refused->text[0])
		error_set(f->refused, fd,
			  "debuginfod has no debug information for it: %s",
			  strerror(-fd));
	return false;
}

static int find_given(struct finder *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return error_set(f->refused, -errno, "cannot open '%s': %s",
				 path, strerror(errno));
	return take_file(f, fd, path);
}

static bool module_has_dwarf(const struct module *module)
{
	GElf_Shdr sh;

	return (module_section_named(module, ".debug_info", &sh) ||
		module_section_named(module, ".zdebug_info", &sh)) &&
	       sh.sh_type != SHT_NOBITS;
}

static int find_own(struct dwarf_file *dwarf, const char *path,
		    struct error *err)
{
	dwarf->dwarf = dwarf_begin_elf(dwarf->module->elf, DWARF_C_READ, NULL);
	if (!dwarf->dwarf)
		return error_set(err, -ENOENT,
				 "its debug information is damaged: %s",
				 dwarf_errmsg(-1));
	dwarf->path = strdup(path);
	return dwarf->path ? 0 : error_no_memory(err);
}

int dwarf_find(struct dwarf_file *dwarf, const char *module_path,
	       const struct dwarf_search *search, struct error *err)
{
	char *real = realpath(module_path, NULL);
	struct finder f = {
		.dwarf = dwarf,
		.sysroot = search->sysroot ? search->sysroot : "",
		.directory = real ? dirname(real) : NULL,
		.refused = err,
	};
	int code = 0;

	f.refused->text[0] = f.refused->hint[0] = '\0';
	link_read(&f);
	if (search->file)
		code = find_given(&f, search->file);
	else if (module_has_dwarf(dwarf->module))
		code = find_own(dwarf, module_path, f.refused);
	else if (!try_build_id(&f) && !try_link(&f) &&
		 !try_kmod(&f, module_path) && !try_debuginfod(&f))
		code = -ENOENT;
	free(real);
	return code;
}

/* The shared file is known by its build-id. */
static bool take_shared(struct dwarf_file *dwarf, int fd, const void *id,
			size_t length)
{
	const void *found;

	dwarf->shared_fd = fd;
	dwarf->shared = dwarf_begin(fd, DWARF_C_READ);
	if (dwarf->shared && dwarf_strings_end(dwarf->shared) &&
	    dwelf_elf_gnu_build_id(dwarf_getelf(dwarf->shared), &found) ==
		    (ssize_t)length && !memcmp(found, id, length)) {
		dwarf_setalt(dwarf->dwarf, dwarf->shared);
		return true;
	}
	dwarf_end(dwarf->shared);
	dwarf->shared = NULL;
	close(fd);
	dwarf->shared_fd = -1;
	return false;
}

struct shared {
	struct dwarf_file *dwarf;
	const void *id;
	size_t length;
};

__attribute__((format(printf, 2, 3)))
static bool try_shared(const struct shared *s, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int fd;

	va_start(args, format);
	fd = open_named(path, format, args);
	va_end(args);
	return fd >= 0 && take_shared(s->dwarf, fd, s->id, s->length);
}

static bool find_shared(const struct shared *s, const char *name,
			const char *sysroot)
{
	char *real = realpath(s->dwarf->path, NULL);
	char text[2 * 64 + 1] = "";
	bool found;
	int fd;

	for (size_t i = 0; i < s->length; i++)
		sprintf(text + 2 * i, "%02x", ((const uint8_t *)s->id)[i]);
	found = try_shared(s, "%s" TREE "/.build-id/%.2s/%s.debug", sysroot,
			   text, text + 2) ||
		(*name == '/' && (try_shared(s, "%s%s", sysroot, name) ||
				  try_shared(s, "%s", name))) ||
		(*name != '/' && real &&
		 try_shared(s, "%s/%s", dirname(real), name));
	free(real);
	if (found)
		return true;
	fd = dwarf_debuginfod_find(s->id, s->length);
	return fd >= 0 && take_shared(s->dwarf, fd, s->id, s->length);
}

void dwarf_find_shared(struct dwarf_file *dwarf,
		       const struct dwarf_search *search)
{
	struct shared s = { .dwarf = dwarf };
	const char *name;
	ssize_t length;

	length = dwelf_dwarf_gnu_debugaltlink(dwarf->dwarf, &name, &s.id);
	if (length < 2 || length > 64)
		return;
	s.length = length;
	if (find_shared(&s, name, search->sysroot ? search->sysroot : ""))
		return;
	if (asprintf(&dwarf->note,
		     "'%s' needs '%s' (dwz), which isn't there or belongs to "
		     "another build", dwarf->path, name) < 0)
		dwarf->note = NULL;
}
