// SPDX-License-Identifier: GPL-2.0
#include "dwarf_file.h"

#include <dwarf.h>
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
#include "lib/debug/debuginfod.h"
#include "lib/hash.h"
#include "lib/path.h"
#include "dwarf_die.h"

#define DEPTH_MAX	64	/* of namespaces, functions and blocks */

/* ---- what was made of it ---- */

void *dwarf_memo_find(const struct dwarf_file *dwarf,
		      enum dwarf_memo_kind kind, const void *key)
{
	return key_map_find(&dwarf->memos[kind].map, key_map_key(key));
}

void *dwarf_memo_add(struct dwarf_file *dwarf, enum dwarf_memo_kind kind,
		     const void *key, void *value, void (*release)(void *))
{
	struct dwarf_memo *memo = &dwarf->memos[kind];

	memo->free = release;
	if (!key_map_add(&memo->map, key_map_key(key), value))
		return value;
	release(value);
	return NULL;
}

void dwarf_memos_free(struct dwarf_file *dwarf)
{
	for (int i = 0; i < DWARF_MEMOS; i++) {
		struct dwarf_memo *memo = &dwarf->memos[i];
		size_t at = 0;
		void *value;

		while (memo->free && (value = key_map_next(&memo->map, &at)))
			memo->free(value);
		key_map_free(&memo->map);
	}
}

/* ---- sections ---- */

void dwarf_section_read(struct dwarf_file *dwarf, const char *wanted,
			struct dwarf_bytes *bytes)
{
	Elf *elf = dwarf_getelf(dwarf->dwarf);
	const char *name = wanted;
	char packed[32];
	Elf_Data *data;
	GElf_Shdr sh;
	Elf_Scn *scn = elf_section_named(elf, name, &sh);

	*bytes = (struct dwarf_bytes) {0};
	/* .zdebug_info is .debug_info, compressed */
	snprintf(packed, sizeof(packed), ".z%s", wanted + 1);
	if (!scn)
		scn = elf_section_named(elf, name = packed, &sh);
	if (!scn || sh.sh_type == SHT_NOBITS)
		return;
	module_section_decompress(scn, &sh, name);
	data = elf_rawdata(scn, NULL);
	if (data && data->d_buf)
		*bytes = (struct dwarf_bytes) { data->d_buf, data->d_size };
}

/*
 * libdw 0.188 doesn't check that strings (DW_FORM_string, DW_FORM_strp,
 * DW_FORM_line_strp) end in their section: one without an end would be read
 * past it.
 */

struct string_section {
	const uint8_t *data, *end;
	bool good;
};

/* Of an attribute that is a string in .debug_info itself. */
static int attr_check(Dwarf_Attribute *attr, void *context)
{
	struct string_section *section = context;

	if (attr->form == DW_FORM_string &&
	    (attr->valp < section->data || attr->valp >= section->end ||
	     !memchr(attr->valp, '\0', section->end - attr->valp)))
		section->good = false;
	return DWARF_CB_OK;
}

/* Entries end with a zero, that of their siblings' list: all but a unit that
 * is nothing else, as an assembler makes it. */
static bool info_ends(Dwarf *dwarf, struct string_section *section)
{
	Dwarf_Die die, last = {0};
	Dwarf_CU *unit = NULL;

	while (!dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		if ((const uint8_t *)die.addr >= section->data &&
		    (const uint8_t *)die.addr < section->end)
			last = die;
	if (!last.addr)
		return true;
	return !dwarf_haschildren(&last) &&
	       dwarf_getattrs(&last, attr_check, section, 0) == 1 &&
	       section->good;
}

/* ".debug_str", ".zdebug_str", ".debug_str.dwo" */
static bool section_is(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	name += !strncmp(name, ".z", 2) ? 2 : 1;
	return !strncmp(name, wanted, length) &&
	       (!name[length] || !strcmp(name + length, ".dwo"));
}

static bool dwarf_strings_end(Dwarf *dwarf)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			elf_strptr(elf, names, sh.sh_name) : NULL;
		struct string_section section = { .good = true };
		Elf_Data *data;
		bool info;

		if (!name || !*name || sh.sh_type == SHT_NOBITS)
			continue;
		info = section_is(name, "debug_info") ||
		       section_is(name, "debug_types");
		if (!info && !section_is(name, "debug_str") &&
		    !section_is(name, "debug_line_str"))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || !data->d_size)
			continue;
		section.data = data->d_buf;
		section.end = section.data + data->d_size;
		if (section.end[-1] && !(info && info_ends(dwarf, &section)))
			return false;
	}
	return true;
}

/* ---- units ---- */

/* The strings of a file of split debug information are checked once. */
static bool split_strings_end(struct dwarf_file *dwarf, Dwarf *split)
{
	struct key_map *known = &dwarf->memos[DWARF_SPLITS].map;
	uint64_t key = key_map_key(split), good = key_map_number(known, key);

	if (!good) {
		good = dwarf_strings_end(split) ? 1 : 2;
		if (key_map_add_number(known, key, good))
			return false;
	}
	return good == 1;
}

bool dwarf_skeleton_find(struct dwarf_file *dwarf, uint64_t address,
			 Dwarf_Die *unit)
{
	uint64_t offset;

	return unit_ranges_find(&dwarf->ranges, address, &offset) &&
	       dwarf_offdie(dwarf->dwarf, offset, unit);
}

/* The file that has the entries of a skeleton */
static const char *split_name(Dwarf_Die *skeleton)
{
	const char *name = dwarf_die_text(skeleton, DW_AT_dwo_name);

	return name ? name : dwarf_die_text(skeleton, DW_AT_GNU_dwo_name);
}

bool dwarf_split_enter(struct dwarf_file *dwarf, Dwarf_Die *unit)
{
	const char *name;
	Dwarf_Die split;
	uint8_t type;

	if (!unit->cu)		/* a damaged unit has no entry */
		return false;
	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL,
			  NULL) ||
	    type != DW_UT_skeleton)
		return true;
	if (split.cu && split_strings_end(dwarf, dwarf_cu_getdwarf(split.cu))) {
		*unit = split;
		return true;
	}
	name = split_name(unit);
	if (!dwarf->note && name &&
	    asprintf(&dwarf->note, "'%s' needs '%s' (split debug "
		     "information), which isn't there or belongs to another "
		     "build", dwarf->path, name) < 0)
		dwarf->note = NULL;
	return false;
}

bool dwarf_unit_find(struct dwarf_file *dwarf, uint64_t address,
		     Dwarf_Die *unit)
{
	if (!dwarf_skeleton_find(dwarf, address, unit))
		return false;
	dwarf_split_enter(dwarf, unit);
	return true;
}

/* Does anything in the unit, or function, have a type? */
static bool has_types(Dwarf_Die *die, unsigned int depth)
{
	Dwarf_Die child;

	if (depth == DEPTH_MAX)
		return false;
	dwarf_die_each(die, &child)
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram: case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block: case DW_TAG_namespace:
		case DW_TAG_variable:
			if (dwarf_hasattr(&child, DW_AT_type) ||
			    has_types(&child, depth + 1))
				return true;
			break;
		case DW_TAG_call_site: case DW_TAG_GNU_call_site:
		case DW_TAG_imported_declaration: case DW_TAG_imported_module:
		case DW_TAG_label:
			break;
		default:
			return true;
		}
	return false;
}

bool dwarf_unit_lacks(struct dwarf_file *dwarf, uint64_t address, char *text,
		      size_t size)
{
	const char *name;
	Dwarf_Die unit;

	if (!dwarf_skeleton_find(dwarf, address, &unit))
		return false;
	name = split_name(&unit);
	if (!dwarf_split_enter(dwarf, &unit)) {
		snprintf(text, size, "the debug information of this unit is in "
			 "'%s', which wasn't found or belongs to another "
			 "build", name ? name : "?");
		return true;
	}
	if (unit.addr != dwarf->typeless && has_types(&unit, 0))
		return false;
	dwarf->typeless = unit.addr;
	snprintf(text, size, "the debug information of this unit has no "
		 "variables and no types, as -g1 and assemblers make it");
	return true;
}

bool dwarf_has_code(const struct dwarf_file *dwarf, uint64_t address,
		    size_t *available)
{
	*available = SIZE_MAX;
	return !dwarf->module->elf ||
	       module_code(dwarf->module, address, available, NULL);
}

bool dwarf_is_wide(const struct dwarf_file *dwarf)
{
	return dwarf->module->elf_class == ELFCLASS64;
}

/* ---- the file with the debug information ---- */

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

static bool debuginfod_search(struct dwarf_finder *f)
{
	const struct identity *id = &f->dwarf->module->identity;
	struct debuginfod server = { 0 };
	int fd;

	if (id->kind != TDF_ID_BUILD)
		return false;
	fd = debuginfod_fetch(&server, id->id, id->length);
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

static int dwarf_find(struct dwarf_file *dwarf, const char *module_path,
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
	int code = 0;

	err->text[0] = err->hint[0] = '\0';
	if (id->kind == TDF_ID_BUILD && id->length > 1)
		identity_print(id->kind, id->id, id->length, f.hex);
	link = dwelf_elf_gnu_debuglink(dwarf->module->elf, &crc);
	if (link && *link && !strchr(link, '/')) {
		f.files.link = link;
		f.crc = crc;
	}
	if (search->file) {
		code = debug_file_given(&f, search->file);
	} else if ((elf_section_named(dwarf->module->elf, ".debug_info", &sh) ||
		    elf_section_named(dwarf->module->elf, ".zdebug_info", &sh)) &&
		   sh.sh_type != SHT_NOBITS) {
		dwarf->dwarf = dwarf_begin_elf(dwarf->module->elf,
					       DWARF_C_READ, NULL);
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

static void dwarf_find_shared(struct dwarf_file *dwarf,
			      const struct dwarf_search *search)
{
	struct dwarf_shared shared = { .dwarf = dwarf };
	char hex[2 * 64 + 1], *real;
	struct debug_search files = {
		.root = search->sysroot ? search->sysroot : "", .hex = hex,
		.take = shared_take, .context = &shared,
	};
	struct debuginfod server = { 0 };
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
	fd = debuginfod_fetch(&server, shared.id, length);
	if (fd >= 0 && shared_take(&shared, fd, NULL))
		return;
	if (fd >= 0)
		close(fd);
	if (asprintf(&dwarf->note,
		     "'%s' needs '%s' (dwz), which isn't there or belongs to "
		     "another build", dwarf->path, name) < 0)
		dwarf->note = NULL;
}

/* Where units have code: what the linker left out has addresses that are none of
 * code. */
static int index_units(struct dwarf_file *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(dwarf->dwarf, unit, &unit, NULL, NULL, &die,
				NULL)) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;
		size_t available;

		while (die.cu &&
		       (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0)
			if (start < end &&
			    dwarf_has_code(dwarf, start, &available) &&
			    !unit_ranges_add(&dwarf->ranges, start, end,
					     dwarf_dieoffset(&die)))
				return -ENOMEM;
	}
	unit_ranges_sort(&dwarf->ranges);
	return 0;
}

int dwarf_file_open(struct dwarf_file **result, struct module *module,
		    const char *path, const struct dwarf_search *search,
		    struct error *err)
{
	struct dwarf_file *dwarf = calloc(1, sizeof(*dwarf));
	struct error own;
	struct stat st;
	int code;

	*result = NULL;
	err = err ? err : &own;
	if (!dwarf)
		return error_no_memory(err);
	dwarf->module = module;
	dwarf->fd = dwarf->shared_fd = -1;
	code = dwarf_find(dwarf, path, search, err);
	if (!code && !dwarf_strings_end(dwarf->dwarf))
		code = error_set(err, -ENOENT, "its debug information is "
				 "damaged: a string has no end");
	if (!code) {
		dwarf_find_shared(dwarf, search);
		/* a stripped module gets the symbols of its debug file */
		if (!module->has_symtab && dwarf->elf &&
		    !fstat(dwarf->fd, &st) &&
		    (module_load_symbols(module, dwarf->elf, st.st_size) ||
		     module_load_functions(module)))
			code = error_no_memory(err);
		else if (index_units(dwarf))
			code = error_no_memory(err);
	}
	if (code)
		dwarf_file_close(dwarf);
	else
		*result = dwarf;
	free(module->debug_refused);
	module->debug_refused = code && err->text[0] ? strdup(err->text) : NULL;
	return code;
}

int dwarf_file_open_image(struct dwarf_file **result, struct module *module,
			  struct bytes *image, struct error *err)
{
	struct dwarf_file *dwarf = calloc(1, sizeof(*dwarf));
	size_t size = image->size;
	int code = 0;

	*result = NULL;
	if (!dwarf) {
		bytes_free(image);
		return error_no_memory(err);
	}
	dwarf->module = module;
	dwarf->fd = dwarf->shared_fd = -1;
	dwarf->image = image->data;
	dwarf->elf = elf_memory((char *)image->data, size);
	*image = (struct bytes) {0};
	dwarf->dwarf = dwarf_begin_elf(dwarf->elf, DWARF_C_READ, NULL);
	if (!dwarf->dwarf || index_units(dwarf) ||
	    (!module->elf && module_load_symbols(module, dwarf->elf, size)))
		code = error_no_memory(err);
	if (code)
		dwarf_file_close(dwarf);
	else
		*result = dwarf;
	return code;
}

const char *dwarf_refusal(const struct module *module,
			  const struct dwarf_file *dwarf)
{
	return dwarf ? dwarf->note : module->debug_refused;
}

void dwarf_file_close(struct dwarf_file *dwarf)
{
	if (!dwarf)
		return;
	dwarf_memos_free(dwarf);
	free(dwarf->ranges.list);
	dwarf_end(dwarf->dwarf);
	dwarf_end(dwarf->shared);
	elf_end(dwarf->elf);
	free(dwarf->image);
	if (dwarf->fd >= 0)
		close(dwarf->fd);
	if (dwarf->shared_fd >= 0)
		close(dwarf->shared_fd);
	free(dwarf->path);
	free(dwarf->note);
	free(dwarf);
}

int dwarf_check_unchanged(const struct dwarf_file *dwarf, struct error *err)
{
	struct stat st;

	if (dwarf->fd < 0 || (!fstat(dwarf->fd, &st) &&
			      st.st_mtim.tv_sec == dwarf->modified.tv_sec &&
			      st.st_mtim.tv_nsec == dwarf->modified.tv_nsec))
		return 0;
	return error_set(err, -EAGAIN, "'%s' changed while it was being read",
			 dwarf->path);
}
