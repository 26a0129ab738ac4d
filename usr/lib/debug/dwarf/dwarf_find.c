// SPDX-License-Identifier: GPL-2.0
#include "dwarf_find.h"

#include <elfutils/debuginfod.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/debug/debug_search.h"
#include "lib/debug/module/module.h"
#include "lib/hash.h"
#include "lib/library.h"
#include "lib/path.h"

struct dwarf_finder {
	struct dwarf_file *dwarf;
	uint32_t crc;			/* of the file that .gnu_debuglink names */
	struct error *refused;		/* why a file wasn't taken */
	struct debug_search files;
	char hex[64];			/* the module's build-id */
};

/* CRC-32 of a whole file, as .gnu_debuglink has it */
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

/* A debug file belongs to the module if it has its build-id, or, when the module
 * has none, the checksum of .gnu_debuglink, or the same code. 0, -ESTALE. */
static int belongs_check(struct dwarf_finder *f, int fd, const char *path)
{
	const struct identity *own = &f->dwarf->module->identity;
	struct identity id = {0};
	uint32_t crc;

	if (identity_read(fd, path, &id, NULL))
		id.kind = TDF_ID_NONE;
	if (own->kind != TDF_ID_NONE && id.kind == own->kind &&
	    id.length == own->length && !memcmp(id.id, own->id, id.length))
		return 0;
	if (own->kind == TDF_ID_BUILD) {
		char other[64] = "none";

		if (id.kind == TDF_ID_BUILD)
			identity_print(id.kind, id.id, id.length, other);
		error_set(f->refused, -ESTALE,
			  "'%s' belongs to another build: its build-id is %s, "
			  "the module's is %s", path, other, f->hex);
		error_hint(f->refused, "--debug FILE gives the one that was "
				       "made with it");
		return -ESTALE;
	}
	if (!f->files.link || !crc_read(fd, &crc))
		return error_set(f->refused, -ESTALE,
				 "nothing shows that '%s' belongs to the "
				 "module, which has neither a build-id nor a "
				 ".gnu_debuglink", path);
	if (crc == f->crc)
		return 0;
	return error_set(f->refused, -ESTALE,
			 "'%s' belongs to another build: its checksum is %08x, "
			 "the module's .gnu_debuglink has %08x", path, crc,
			 f->crc);
}

/* That of a kernel module gets the addresses that its sections were given. */
static bool dwarf_open(struct dwarf_file *dwarf, uint64_t size)
{
	const struct module *module = dwarf->module;
	struct error unused;
	GElf_Ehdr eh;

	if (module->kind != TDF_MODULE_KMOD) {
		dwarf->elf = elf_begin(dwarf->fd, ELF_C_READ, NULL);
	} else {
		dwarf->elf = module_rel_open(dwarf->fd, size, &dwarf->image,
					     &unused);
		if (dwarf->elf &&
		    (!gelf_getehdr(dwarf->elf, &eh) || eh.e_type != ET_REL ||
		     gelf_getclass(dwarf->elf) != module->elf_class ||
		     module_rel_link(dwarf->elf, size, module->elf, &unused))) {
			elf_end(dwarf->elf);
			dwarf->elf = NULL;
		}
	}
	dwarf->dwarf = dwarf_begin_elf(dwarf->elf, DWARF_C_READ, NULL);
	if (dwarf->dwarf)
		return true;
	elf_end(dwarf->elf);
	dwarf->elf = NULL;
	free(dwarf->image);
	dwarf->image = NULL;
	return false;
}

/* 0: the open file is the debug file. */
static int debug_file_check(struct dwarf_finder *f, int fd, const char *path)
{
	struct dwarf_file *dwarf = f->dwarf;
	struct stat st;
	int code = 0;

	dwarf->fd = fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		code = error_set(f->refused, -EINVAL,
				 "'%s' is not a regular file", path);
	if (!code)
		code = belongs_check(f, fd, path);
	if (!code && !dwarf_open(dwarf, st.st_size))
		code = error_set(f->refused, -ENOEXEC,
				 "'%s' has no debug information", path);
	if (!code && !(dwarf->path = strdup(path)))
		code = error_no_memory(f->refused);
	dwarf->modified = st.st_mtim;
	if (code)
		dwarf->fd = -1;
	return code;
}

static bool debug_file_take(void *context, int fd, const char *path)
{
	return !debug_file_check(context, fd, path);
}

/* Where distributions keep those of kernel modules: below /lib, of which the
 * real name may be /usr/lib, as /lib/modules/6.1/kernel/x.ko(.debug); that of
 * x.ko.xz is x.ko.debug, too. */
static bool kmod_search(const struct dwarf_finder *f, const char *module_path)
{
	static const char *const forms[] = { "", "/usr" };
	const struct debug_search *files = &f->files;
	const char *name = path_base(module_path);
	const char *below = files->directory ?
		strstr(files->directory, "/lib/modules/") : NULL;
	const char *end = strstr(name, ".ko");
	int length = end ? end + 3 - name : (int)strlen(name);

	if (f->dwarf->module->kind != TDF_MODULE_KMOD || !below)
		return false;
	for (int i = 0; i < 2; i++)
		if (debug_search_try(files, "%s" DEBUG_TREE "%s%s/%.*s",
				     files->root, forms[i], below, length,
				     name) ||
		    debug_search_try(files, "%s" DEBUG_TREE "%s%s/%.*s.debug",
				     files->root, forms[i], below, length,
				     name))
			return true;
	return false;
}

/* What the configured servers have for a build-id, as a descriptor; -ENOSYS:
 * there is no server, or no library to ask one with, which is loaded if it is
 * installed. */
static int debuginfod_find(const uint8_t *id, size_t length)
{
	static const char library[] = "libdebuginfod.so.1";
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	typeof(&debuginfod_find_debuginfo) find;
	typeof(&debuginfod_begin) begin;
	typeof(&debuginfod_end) end;
	debuginfod_client *client;
	int fd;

	if (!urls || !*urls)
		return -ENOSYS;
	begin = library_symbol(library, "debuginfod_begin");
	find = library_symbol(library, "debuginfod_find_debuginfo");
	end = library_symbol(library, "debuginfod_end");
	if (!begin || !find || !end)
		return -ENOSYS;
	client = begin();
	if (!client)
		return -ENOMEM;
	fd = find(client, id, length, NULL);
	end(client);
	return fd;
}

static bool debuginfod_search(struct dwarf_finder *f)
{
	const struct identity *id = &f->dwarf->module->identity;
	int fd;

	if (id->kind != TDF_ID_BUILD)
		return false;
	fd = debuginfod_find(id->id, id->length);
	if (fd < 0) {
		if (fd != -ENOSYS && !f->refused->text[0])
			error_set(f->refused, fd, "debuginfod has no debug "
				  "information for it: %s", strerror(-fd));
		return false;
	}
	if (debug_file_take(f, fd, "(debuginfod)"))
		return true;
	close(fd);
	return false;
}

/* --debug names it. */
static int debug_file_given(struct dwarf_finder *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), code;

	if (fd < 0)
		return error_set(f->refused, -errno, "cannot open '%s': %s",
				 path, strerror(errno));
	code = debug_file_check(f, fd, path);
	if (code)
		close(fd);
	return code;
}

int dwarf_find(struct dwarf_file *dwarf, const char *module_path,
	       const struct dwarf_search *search, struct error *err)
{
	const struct identity *id = &dwarf->module->identity;
	char *real = realpath(module_path, NULL);
	struct dwarf_finder f = {
		.dwarf = dwarf, .refused = err,
		.files = {
			.root = search->sysroot ? search->sysroot : "",
			.hex = f.hex, .directory = real ? dirname(real) : NULL,
			.take = debug_file_take, .context = &f,
		},
	};
	const char *link;
	GElf_Word crc;
	GElf_Shdr sh;
	Elf *elf = dwarf->module->elf;
	int code = 0;

	err->text[0] = err->hint[0] = '\0';
	if (id->kind == TDF_ID_BUILD && id->length > 1)
		identity_print(id->kind, id->id, id->length, f.hex);
	link = dwelf_elf_gnu_debuglink(elf, &crc);
	if (link && *link && !strchr(link, '/')) {
		f.files.link = link;
		f.crc = crc;
	}
	if (search->file) {
		code = debug_file_given(&f, search->file);
	} else if ((elf_section_named(elf, ".debug_info", &sh) ||
		    elf_section_named(elf, ".zdebug_info", &sh)) &&
		   sh.sh_type != SHT_NOBITS) {
		dwarf->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
		if (!dwarf->dwarf)
			code = error_set(err, -ENOENT, "its debug information "
					 "is damaged: %s", dwarf_errmsg(-1));
		else if (!(dwarf->path = strdup(module_path)))
			code = error_no_memory(err);
	} else if (!debug_search_all(&f.files) &&
		   !kmod_search(&f, module_path) && !debuginfod_search(&f)) {
		code = -ENOENT;
	}
	free(real);
	return code;
}

struct dwarf_shared {
	struct dwarf_file *dwarf;
	const void *id;
	size_t length;
};

/* The shared file is known by its build-id. */
static bool shared_take(void *context, int fd, const char *path)
{
	const struct dwarf_shared *s = context;
	struct dwarf_file *dwarf = s->dwarf;
	const void *found;

	dwarf->shared_fd = fd;
	dwarf->shared = dwarf_begin(fd, DWARF_C_READ);
	if (dwarf->shared && dwarf_strings_end(dwarf->shared) &&
	    dwelf_elf_gnu_build_id(dwarf_getelf(dwarf->shared), &found) ==
		    (ssize_t)s->length && !memcmp(found, s->id, s->length)) {
		dwarf_setalt(dwarf->dwarf, dwarf->shared);
		return true;
	}
	dwarf_end(dwarf->shared);
	dwarf->shared = NULL;
	dwarf->shared_fd = -1;
	return false;
}

void dwarf_find_shared(struct dwarf_file *dwarf,
		       const struct dwarf_search *search)
{
	struct dwarf_shared shared = { .dwarf = dwarf };
	char hex[2 * 64 + 1], *real;
	struct debug_search files = {
		.root = search->sysroot ? search->sysroot : "", .hex = hex,
		.take = shared_take, .context = &shared,
	};
	const char *name;
	ssize_t length;
	bool found;
	int fd;

	length = dwelf_dwarf_gnu_debugaltlink(dwarf->dwarf, &name, &shared.id);
	if (length < 2 || length > 64)
		return;
	shared.length = length;
	for (ssize_t i = 0; i < length; i++)
		sprintf(hex + 2 * i, "%02x", ((const uint8_t *)shared.id)[i]);
	real = realpath(dwarf->path, NULL);
	if (debug_search_all(&files))
		found = true;
	else if (*name == '/')
		found = debug_search_try(&files, "%s%s", files.root, name) ||
			debug_search_try(&files, "%s", name);
	else
		found = real && debug_search_try(&files, "%s/%s",
						 dirname(real), name);
	free(real);
	if (found)
		return;
	fd = debuginfod_find(shared.id, length);
	if (fd >= 0 && shared_take(&shared, fd, NULL))
		return;
	if (fd >= 0)
		close(fd);
	if (asprintf(&dwarf->note,
		     "'%s' needs '%s' (dwz), which isn't there or belongs to "
		     "another build", dwarf->path, name) < 0)
		dwarf->note = NULL;
}
