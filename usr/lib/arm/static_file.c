// SPDX-License-Identifier: GPL-2.0
/*
 * The probes are found by the USDT notes (provider "rastrace", name "write")
 * that librastrace brings along.
 */
#include "static_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "lib/machine.h"
#include "lib/elf_symbols.h"

#define NOTE_NAMES	"rastrace\0write"	/* with a zero at the end */
#define SITES_MAX	64
#define CONFIGS_MAX	100	/* files that say where libraries are */

/* The instruction that the probe replaces: usr/librastrace/write.S */
static const struct nop {
	uint16_t machine;
	uint8_t length, bytes[4];
} nops[] = {
	{ EM_X86_64, 1, { 0x90 } },
	{ EM_386, 1, { 0x90 } },
	{ EM_AARCH64, 4, { 0x1f, 0x20, 0x03, 0xd5 } },
};

struct static_reader {
	struct static_file *file;
	Elf *elf;
};

static bool has_nop(const struct static_file *file, uint64_t offset)
{
	uint8_t bytes[4];

	for (size_t i = 0; i < sizeof(nops) / sizeof(nops[0]); i++)
		if (nops[i].machine == file->machine)
			return pread(file->fd, bytes, nops[i].length, offset) ==
				       nops[i].length &&
			       !memcmp(bytes, nops[i].bytes, nops[i].length);
	return false;
}

static int static_site_add(struct static_file *file, uint64_t offset)
{
	uint64_t *offsets;

	for (uint32_t i = 0; i < file->count; i++)
		if (file->offsets[i] == offset)
			return 0;
	if (file->count == SITES_MAX)
		return -E2BIG;
	offsets = reallocarray(file->offsets, file->count + 1,
			       sizeof(*offsets));
	if (!offsets)
		return -ENOMEM;
	file->offsets = offsets;
	offsets[file->count++] = offset;
	return 0;
}

static int static_note_take(const struct usdt_note *note, void *context)
{
	const struct static_reader *reader = context;
	uint64_t offset;

	if (note->size < sizeof(NOTE_NAMES) ||
	    memcmp(note->names, NOTE_NAMES, sizeof(NOTE_NAMES)))
		return 0;
	return usdt_offset_find(reader->elf, note->address, PF_X, &offset) &&
	       has_nop(reader->file, offset) ?
	       static_site_add(reader->file, offset) : 0;
}

static int static_sites_read(struct static_file *file, Elf *elf,
			     struct error *err)
{
	struct static_reader reader = { .file = file, .elf = elf };
	GElf_Ehdr header;
	int code;

	if (!gelf_getehdr(elf, &header) || !machine_runs(header.e_machine) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return error_set(err, -EINVAL,
				 "'%s' is no program or library of this machine",
				 file->path);
	file->machine = header.e_machine;
	code = usdt_notes_each(elf, static_note_take, &reader);
	if (code)
		return error_set(err, code, "cannot read the notes of '%s': %s",
				 file->path, strerror(-code));
	if (file->count)
		return 0;
	error_set(err, -ENOENT, "'%s' has no rastrace_write()", file->path);
	error_hint(err, "programs linked with librastrace.a have it, others "
		   "take that of " STATIC_LIBRARY);
	return -ENOENT;
}

static void static_file_close(struct static_file *file)
{
	free(file->offsets);
	if (file->fd >= 0)
		close(file->fd);
}

static int static_file_fill(struct static_file *file, struct error *err)
{
	struct stat st;
	int code;
	Elf *elf;

	file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return error_set(err, -errno, "cannot open '%s': %s",
				 file->path, strerror(errno));
	if (fstat(file->fd, &st) || !S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "'%s' is no regular file",
				 file->path);
	snprintf(file->name, sizeof(file->name), "file_%lx_%lx",
		 (unsigned long)st.st_dev, (unsigned long)st.st_ino);
	elf_version(EV_CURRENT);
	elf = elf_begin(file->fd, ELF_C_READ, NULL);
	code = elf && elf_kind(elf) == ELF_K_ELF ?
		static_sites_read(file, elf, err) :
		error_set(err, -EINVAL, "'%s' is not an ELF file", file->path);
	elf_end(elf);
	return code;
}

static bool static_file_known(const struct static_files *files,
			      const struct static_file *file)
{
	for (size_t i = 0; i < files->count; i++)
		if (!strcmp(files->items[i].name, file->name))
			return true;
	return false;
}

/* One that is there already, by whatever name, is fine. */
static int files_add(struct static_files *files, const char *path,
		     struct error *err)
{
	struct static_file *items, file = { .fd = -1 };
	int code;

	if (!realpath(path, file.path))
		return error_set(err, -errno, "cannot open '%s': %s", path,
				 strerror(errno));
	items = reallocarray(files->items, files->count + 1, sizeof(*items));
	if (!items)
		return error_no_memory(err);
	files->items = items;
	code = static_file_fill(&file, err);
	if (code || static_file_known(files, &file))
		static_file_close(&file);
	else
		items[files->count++] = file;
	return code;
}

/* A library that can't be used isn't taken by the dynamic linker either. */
static void directory_search(struct static_files *files, const char *directory)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" STATIC_LIBRARY, directory) <
	    (int)sizeof(path))
		files_add(files, path, NULL);
}

static void config_search(struct static_files *files, const char *path,
			  unsigned int *left);

static void config_include(struct static_files *files, const char *pattern,
			   unsigned int *left)
{
	char path[1024 + 8];
	glob_t found;

	snprintf(path, sizeof(path), "%s%s", *pattern == '/' ? "" : "/etc/",
		 pattern);
	if (!*left || glob(path, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		config_search(files, found.gl_pathv[i], left);
	globfree(&found);
}

/* ld.so.conf, see ldconfig(8): directories, "include PATTERN", comments; one may
 * include itself. */
static void config_search(struct static_files *files, const char *path,
			  unsigned int *left)
{
	FILE *file = *left ? fopen(path, "re") : NULL;
	char line[1024], word[1024], pattern[1024];

	*left -= !!*left;
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = '\0';
		switch (sscanf(line, "%1023s %1023s", word, pattern)) {
		case 2:
			if (!strcmp(word, "include"))
				config_include(files, pattern, left);
			break;
		case 1:
			directory_search(files, word);
		}
	}
	if (file)
		fclose(file);
}

static void library_search(struct static_files *files)
{
	static const char *const defaults[] = {
		"/usr/local/lib", "/usr/lib64", "/usr/lib32", "/usr/lib",
		"/lib64", "/lib32", "/lib",
	};
	unsigned int left = CONFIGS_MAX;
	char self[PATH_MAX - 8];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		char beside[PATH_MAX];

		self[n] = '\0';
		*strrchr(self, '/') = '\0';
		snprintf(beside, sizeof(beside), "%s/../lib", self);
		directory_search(files, beside);
	}
	config_search(files, "/etc/ld.so.conf", &left);
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		directory_search(files, defaults[i]);
}

int static_files_open(struct static_files *files, const char *const *names,
		      size_t count, struct error *err)
{
	int code = 0;

	*files = (struct static_files){ 0 };
	for (size_t i = 0; i < count && !code; i++)
		code = files_add(files, names[i], err);
	if (code)
		static_files_close(files);
	if (count)
		return code;
	library_search(files);
	if (files->count)
		return 0;
	error_set(err, -ENOENT, STATIC_LIBRARY " is not here");
	error_hint(err, "say which program or library has rastrace_write(): "
		   "--module PATH; for kernel code load the module: "
		   "modprobe rastrace");
	return -ENOENT;
}

void static_files_close(struct static_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		static_file_close(&files->items[i]);
	free(files->items);
	*files = (struct static_files){ 0 };
}
