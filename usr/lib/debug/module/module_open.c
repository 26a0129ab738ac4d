// SPDX-License-Identifier: GPL-2.0
#include "module_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/debug/arch/arch.h"
#include "code.h"
#include "demangle.h"
#include "module_rel.h"
#include "module_symbols.h"

#define MODULE_SEGMENTS_MAX	4096
#define MODULE_SECTIONS_MAX	65535
#define MODULE_CODE_MAX		1024	/* sections; all are gone through */

/* What a file that is no ELF file may be instead. */
static const char *module_guess(const uint8_t *head, size_t size)
{
	static const struct {
		size_t at;
		const char *bytes, *what;
	} known[] = {
		{ 0, ELFMAG, "its ELF header is truncated or damaged" },
		{ 0, "!<arch>\n", "it is an archive of object files" },
		{ 0, "!<thin>\n", "it is an archive of object files" },
		{ 0, "/* GNU ld script",
		  "it is a linker script: give the library that it names" },
		{ 0, "#!", "it is a script: trace its interpreter" },
		{ 0x202, "HdrS",
		  "it is a compressed kernel: give the vmlinux it was made from" },
		{ 0, "MZ", "it is a DOS, Windows or OS/2 program" },
		{ 0, "BC\xc0\xde", "it is LLVM bitcode" },
		{ 0, "\xfd" "7zXZ", "it is compressed: decompress it first (unxz)" },
		{ 0, "\x28\xb5\x2f\xfd",
		  "it is compressed: decompress it first (unzstd)" },
		{ 0, "\x1f\x8b", "it is compressed: decompress it first (gunzip)" },
	};

	if (!size)
		return "it is empty";
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t length = strlen(known[i].bytes);

		if (size >= known[i].at + length &&
		    !memcmp(head + known[i].at, known[i].bytes, length))
			return known[i].what;
	}
	return "it is not an ELF file";
}

static int module_check_header(struct module *module, uint64_t file_size,
			       struct error *err)
{
	bool is_kmod = module->kind == TDF_MODULE_KMOD;
	uint8_t head[1024];
	const void *start = head;
	char text[128];
	ssize_t size = 0;
	GElf_Ehdr eh;

	if (elf_kind(module->elf) != ELF_K_ELF) {
		if (module->fd >= 0)
			size = pread(module->fd, head, sizeof(head), 0);
		else
			start = elf_rawfile(module->elf, (size_t *)&size);
		return module_refuse(err, module_guess(start, start && size > 0 ?
						       size : 0));
	}
	if (!gelf_getehdr(module->elf, &eh))
		return module_refuse(err, "its ELF header is truncated or damaged");
	if (eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return module_refuse(err, "it is big-endian");
	if (eh.e_shoff > file_size ||
	    (uint64_t)eh.e_shnum * eh.e_shentsize > file_size - eh.e_shoff)
		return module_refuse(err, "it is truncated: its section headers "
					  "are past its end");
	module->elf_class = eh.e_ident[EI_CLASS];
	module->machine = eh.e_machine;
	module->arch = arch_find(module->machine, module->elf_class);
	if (!module->arch && module->elf_class == ELFCLASS32 &&
	    eh.e_machine == EM_X86_64)
		return module_refuse(err, "it is an x32 program");
	if (!module->arch) {
		snprintf(text, sizeof(text), "it is for %s (machine %u, %d bits)",
			 arch_machine_name(eh.e_machine), eh.e_machine,
			 module->elf_class == ELFCLASS64 ? 64 : 32);
		return module_refuse(err, text);
	}
	if (eh.e_type == (is_kmod ? ET_REL : ET_EXEC) ||
	    (eh.e_type == ET_DYN && !is_kmod))
		return 0;
	return module_refuse(err,
		eh.e_type == ET_EXEC || eh.e_type == ET_DYN ?
			"it is a program or shared library, no kernel module" :
		eh.e_type == ET_REL ?
			"it is an object file, not linked yet" :
		eh.e_type == ET_CORE ? "it is a core dump" :
			"it is an ELF file of an unknown type");
}

static int module_read_segments(struct module *module, uint64_t file_size,
				struct error *err)
{
	uint64_t left = file_size;
	size_t count;
	GElf_Phdr ph;
	int code = 0;

	if (elf_getphdrnum(module->elf, &count) || !count ||
	    count > MODULE_SEGMENTS_MAX)
		return module_refuse(err, "it has no program headers (truncated?)");
	module->segments = calloc(count, sizeof(*module->segments));
	if (!module->segments)
		return error_no_memory(err);
	for (size_t i = 0; i < count && !code; i++) {
		if (!gelf_getphdr(module->elf, i, &ph))
			return module_refuse(err, "its program headers are truncated");
		if (ph.p_type != PT_LOAD)
			continue;
		if (ph.p_vaddr + ph.p_memsz < ph.p_vaddr ||
		    ph.p_filesz > ph.p_memsz)
			return module_refuse(err, "a segment of it is damaged");
		code = module_segment_add(module, (struct module_segment) {
			.address = ph.p_vaddr, .offset = ph.p_offset,
			.size = ph.p_filesz, .executable = ph.p_flags & PF_X,
		}, "segment", &left, err);
	}
	return code;
}

static int module_read_sections(struct module *module, struct error *err)
{
	bool bare = false;
	Elf_Scn *scn = NULL;
	size_t count;
	GElf_Shdr sh;

	if (elf_getshdrnum(module->elf, &count) || count > MODULE_SECTIONS_MAX)
		return module_refuse(err, MODULE_BAD_SECTIONS);
	module->sections = calloc(count + 1, sizeof(*module->sections));
	if (!module->sections)
		return error_no_memory(err);
	while ((scn = elf_nextscn(module->elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			return module_refuse(err, MODULE_BAD_SECTIONS);
		module->has_sections = true;
		if (!(sh.sh_flags & SHF_EXECINSTR) ||
		    !(sh.sh_flags & SHF_ALLOC))
			continue;
		if (sh.sh_type == SHT_NOBITS) {
			bare = true;
			continue;
		}
		if (sh.sh_addr + sh.sh_size < sh.sh_addr)
			continue;
		if (module->section_count == MODULE_CODE_MAX)
			return module_refuse(err, "it has too many sections of code");
		module->sections[module->section_count++] =
			(struct module_range) { sh.sh_addr,
						sh.sh_addr + sh.sh_size };
	}
	if (bare && !module->section_count)
		return module_refuse(err, "it holds debug information only: "
					  "give the file that it belongs to");
	return 0;
}

/* The bytes of all sections of code; without sections, of all segments. */
static int module_read_codes(struct module *module, struct error *err)
{
	size_t count = module->has_sections ? module->section_count :
					      module->segment_count;
	uint64_t left = module->file_size;

	module->codes = calloc(count + 1, sizeof(*module->codes));
	if (!module->codes)
		return error_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		const struct module_segment *seg = &module->segments[i], *end;
		struct module_code *code = &module->codes[module->code_count];
		struct module_range range;
		Elf_Data *data;
		uint64_t size;

		if (module->has_sections)
			range = module->sections[i];
		else
			range = (struct module_range) {
				seg->address, seg->address + seg->size,
			};

		/* what the segment around it has in the file */
		end = module->segments + module->segment_count;
		for (seg = module->segments; seg < end; seg++)
			if (seg->executable && range.start >= seg->address &&
			    range.start - seg->address < seg->size)
				break;
		if (seg == end || range.end <= range.start)
			continue;
		size = seg->size - (range.start - seg->address);
		if (size > range.end - range.start)
			size = range.end - range.start;
		if (size > left)
			return module_refuse(err, "its sections of code overlap");
		left -= size;
		code->start = range.start;
		code->end = range.start + size;
		code->offset = seg->offset + (range.start - seg->address);
		data = elf_getdata_rawchunk(module->elf, code->offset, size,
					    ELF_T_BYTE);
		if (!data || !data->d_buf || data->d_size < size)
			return error_set(err, -EIO, "cannot read its code: %s",
					 elf_errmsg(-1));
		code->data = data->d_buf;
		module->code_count++;
	}
	return 0;
}

static int module_read_elf(struct module *module, struct error *err)
{
	uint64_t file_size = module->file_size;
	bool is_kmod = module->kind == TDF_MODULE_KMOD;
	int code = module_check_header(module, file_size, err);

	if (!code && is_kmod)
		code = module_rel_link(module->elf, file_size, NULL, err);
	if (!code)
		code = module_read_sections(module, err);
	if (!code)
		code = is_kmod ? module_rel_segments(module, err) :
				 module_read_segments(module, file_size, err);
	if (!code)
		code = module_read_codes(module, err);
	if (code)
		return code;
	if (module_load_symbols(module, module->elf, file_size) ||
	    module_load_functions(module))
		return error_no_memory(err);
	return 0;
}

static struct module *module_new(const char *path, uint8_t kind)
{
	struct module *module = calloc(1, sizeof(*module));

	if (!module)
		return NULL;
	module->fd = module->packed_fd = -1;
	module->kind = kind;
	module->path = strdup(path);
	module->full_names = calloc(1, sizeof(*module->full_names));
	if (!module->path || !module->full_names) {
		free(module->full_names);
		free(module->path);
		free(module);
		return NULL;
	}
	elf_version(EV_CURRENT);
	return module;
}

static int module_open_file(struct module *module, const char *file,
			    struct error *err)
{
	struct stat st;
	int code, unpacked = -1;

	module->fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (module->fd < 0 || fstat(module->fd, &st))
		return error_set(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL,
				 "it is not a regular file");
	module->modified = st.st_mtim;
	module->source_size = module->file_size = st.st_size;
	if (module->kind == TDF_MODULE_KMOD) {
		code = unpack_file(module->fd, &unpacked, err);
		if (code)
			return code;
		if (unpacked >= 0) {
			module->packed_fd = module->fd;
			module->fd = unpacked;
			if (fstat(unpacked, &st))
				return error_set(err, -errno, "%s",
						 strerror(errno));
			module->file_size = st.st_size;
		}
		module->elf = module_rel_open(module->fd, module->file_size,
					      &module->image, err);
		if (!module->elf)
			return -EIO;
	} else {
		module->elf = elf_begin(module->fd, ELF_C_READ, NULL);
		if (!module->elf)
			return error_set(err, -EIO, "%s", elf_errmsg(-1));
	}
	code = module_read_elf(module, err);
	if (!code)
		code = identity_read(module->fd, file, &module->identity, err);

	/* The kernel has the build-id of a loaded module, not its bytes. */
	if (module->kind == TDF_MODULE_KMOD &&
	    module->identity.kind != TDF_ID_BUILD)
		memset(&module->identity, 0, sizeof(module->identity));
	return code;
}

const struct arch *module_arch(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK), unpacked = -1;
	const struct arch *arch = NULL;
	struct error unused = {0};
	Elf32_Ehdr eh; /* its first fields are those of Elf64_Ehdr */

	if (fd >= 0 && !unpack_file(fd, &unpacked, &unused) &&
	    pread(unpacked < 0 ? fd : unpacked, &eh, sizeof(eh), 0) ==
		    sizeof(eh) &&
	    !memcmp(eh.e_ident, ELFMAG, SELFMAG))
		arch = arch_find(eh.e_machine, eh.e_ident[EI_CLASS]);
	if (unpacked >= 0)
		close(unpacked);
	if (fd >= 0)
		close(fd);
	return arch;
}

int module_open(struct module **result, const char *file, const char *path,
		uint8_t kind, struct error *err)
{
	struct module *module = module_new(path, kind);
	int code;

	*result = NULL;
	if (!module)
		return error_no_memory(err);
	code = module_open_file(module, file, err);
	if (code)
		module_close(module);
	else
		*result = module;
	return code;
}

int module_parse(struct module **result, void *data, size_t size,
		 struct error *err)
{
	struct module *module = module_new("", TDF_MODULE_USER);
	GElf_Ehdr eh;
	int code;

	*result = NULL;
	if (!module)
		return error_no_memory(err);
	module->file_size = size;
	module->elf = elf_memory(data, size);
	if (module->elf && gelf_getehdr(module->elf, &eh) &&
	    eh.e_type == ET_REL)
		module->kind = TDF_MODULE_KMOD;
	if (module->elf)
		code = module_read_elf(module, err);
	else
		code = error_set(err, -EIO, "%s", elf_errmsg(-1));
	if (code)
		module_close(module);
	else
		*result = module;
	return code;
}

int module_open_kernel(struct module **result, const struct arch *arch,
		       struct error *err)
{
	struct module *module = module_new("vmlinux", TDF_MODULE_KERNEL);

	*result = module;
	if (!module)
		return error_no_memory(err);
	module->arch = arch;
	module->elf_class = arch->elf_class;
	module->machine = arch->machine;
	return 0;
}

int module_check_unchanged(const struct module *module, struct error *err)
{
	int fd = module->packed_fd < 0 ? module->fd : module->packed_fd;
	struct stat st;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && st.st_size == module->source_size &&
	    st.st_mtim.tv_sec == module->modified.tv_sec &&
	    st.st_mtim.tv_nsec == module->modified.tv_nsec)
		return 0;
	return error_set(err, -EAGAIN, "it changed while it was being read");
}

void module_close(struct module *module)
{
	if (!module)
		return;
	code_forget(module);
	pointers_forget(module);
	free(module->functions);
	demangle_index_free(module->full_names);
	free(module->full_names);
	key_map_free(&module->symbol_names);
	free(module->symbols);
	free(module->debug_refused);
	free(module->codes);
	free(module->sections);
	free(module->segments);
	elf_end(module->elf);
	free(module->image);
	if (module->fd >= 0)
		close(module->fd);
	if (module->packed_fd >= 0)
		close(module->packed_fd);
	free(module->path);
	free(module);
}
