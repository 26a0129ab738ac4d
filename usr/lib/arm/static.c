// SPDX-License-Identifier: GPL-2.0
#include "static.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/static.h"
#include "filters.h"
#include "lib/arm/pinned/kmod.h"
#include "lib/arm/pinned/sessions.h"
#include "lib/arm/probe/program.h"
#include "lib/buffer/pin.h"
#include "lib/machine.h"
#include "lib/sysbpf.h"
#include "lib/elf_symbols.h"

/*
 * The probes are found by the USDT notes (provider "rastrace", name "write")
 * that librastrace brings along.
 */

#define STATIC_LIBRARY	"librastrace.so.0"

struct static_file {
	int fd;
	char path[PATH_MAX];
	char name[48];		/* "file_DEVICE_INODE" */
	uint16_t machine;	/* ELF e_machine */
	uint64_t *offsets;	/* of the probes, in the file */
	uint32_t count;		/* at least one */
};

struct static_files {
	struct static_file *items;
	size_t count;
};

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

/* One that is there already, by whatever name, is fine. */
static int files_add(struct static_files *files, const char *path,
		     struct error *err)
{
	struct static_file *items, file = { .fd = -1 };
	bool known = false;
	int code;

	if (!realpath(path, file.path))
		return error_set(err, -errno, "cannot open '%s': %s", path,
				 strerror(errno));
	items = reallocarray(files->items, files->count + 1, sizeof(*items));
	if (!items)
		return error_no_memory(err);
	files->items = items;
	code = static_file_fill(&file, err);
	for (size_t i = 0; i < files->count; i++)
		known |= !strcmp(items[i].name, file.name);
	if (code || known)
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

static void static_files_close(struct static_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		static_file_close(&files->items[i]);
	free(files->items);
	*files = (struct static_files){ 0 };
}

/*
 * The files that are named, or when none is, every librastrace.so.0 beside this
 * program (../lib) and where the dynamic linker looks for it. 0, or a negative
 * errno with err set; -ENOENT: there is none.
 */
static int static_files_open(struct static_files *files,
			     const char *const *names, size_t count,
			     struct error *err)
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

#define MACHINES	2	/* that can run beside each other */

enum { STATIC_COUNT, STATIC_WHY, STATIC_STATE, STATIC_MAJORS, STATIC_MAPS };

struct map_kind {
	const char *name;
	uint32_t value_size;
	bool kept;		/* in RUN/past/0 while no major is on */
};

static const struct map_kind map_kinds[STATIC_MAPS] = {
	[STATIC_COUNT] = { "count", sizeof(struct ras_count), true },
	[STATIC_WHY] = { "why", sizeof(struct ras_why), true },
	[STATIC_STATE] = { "state", sizeof(struct ras_state) },
	[STATIC_MAJORS] = { "majors", RAS_STATIC_MAJORS },
};

struct statics {
	const struct run_dir *run;
	struct buffer *buffer;
	const struct features *features;
	const struct job_settings *settings;
	bool fresh;		/* RUN/static isn't there yet */
	char dir[PATH_MAX];	/* of the maps: it, or RUN/new/static */
	int fds[STATIC_MAPS];
	int pids;		/* map; -1: all processes */
	struct {
		uint16_t machine;
		int fd;
	} programs[MACHINES];
	size_t program_count;
};

/* A number from 1 to 255 at *text, which moves past it. */
static int major_parse(const char **text, unsigned long *major)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	errno = 0;
	*major = strtoul(*text, &end, 0);
	*text = end;
	return errno || *major < 1 || *major >= RAS_STATIC_MAJORS ?
		-ERANGE : 0;
}

int static_majors_parse(const char *text, bool majors[RAS_STATIC_MAJORS],
			struct error *err)
{
	bool taken[RAS_STATIC_MAJORS] = { false };
	const char *p = text;
	unsigned long first, last;
	int code;

	if (!isdigit((unsigned char)*text) ||
	    text[strspn(text, "0123456789abcdefABCDEFxX,-")])
		return 0;
	do {
		code = major_parse(&p, &first);
		last = first;
		if (!code && *p == '-') {
			p++;
			code = major_parse(&p, &last);
		}
		if (!code && (last < first || (*p && *p != ',')))
			code = -EINVAL;
		for (unsigned long i = first; !code && i <= last; i++)
			taken[i] = true;
	} while (!code && *p++ == ',');
	if (code == -ERANGE)
		return error_set(err, -EINVAL,
				 "'%s': majors are 1 to %u", text,
				 RAS_STATIC_MAJORS - 1);
	if (code)
		return error_set(err, -EINVAL,
				 "'%s' is no list of majors: 5,7,12-18 for example",
				 text);
	for (unsigned int i = 0; i < RAS_STATIC_MAJORS; i++)
		majors[i] |= taken[i];
	return 1;
}

static int static_map_open(const char *path, const struct map_kind *kind,
			   uint32_t entries, struct error *err)
{
	struct bpf_map_info info;
	int fd = pin_map_open(path, &info, err);

	if (fd < 0)
		return fd;
	if (info.value_size == kind->value_size && info.max_entries == entries)
		return fd;
	close(fd);
	return error_set(err, -EINVAL, "'%s' doesn't fit the buffer", path);
}

static int static_maps_open(struct statics *s, struct error *err)
{
	const uint32_t entries[STATIC_MAPS] = {
		[STATIC_COUNT] = RAS_STATIC_MAJORS * s->buffer->slices,
		[STATIC_WHY] = RAS_STATIC_MAJORS * s->buffer->control->cpus,
		[STATIC_STATE] = 1, [STATIC_MAJORS] = 1,
	};
	char path[PATH_MAX + 16], past[PATH_MAX + 16];

	for (int i = 0; i < STATIC_MAPS; i++) {
		const struct map_kind *kind = &map_kinds[i];
		int code, fd = -1;

		snprintf(path, sizeof(path), "%s/%s", s->dir, kind->name);
		if (!s->fresh) {
			s->fds[i] = static_map_open(path, kind, entries[i],
						    err);
			if (s->fds[i] < 0)
				return s->fds[i];
			continue;
		}
		/* What was counted before is counted on: the records' sequence
		 * goes on. */
		snprintf(past, sizeof(past), "%s/past/%u/%s", s->run->path,
			 RAS_STATIC_SESSION, kind->name);
		if (kind->kept)
			fd = static_map_open(past, kind, entries[i], NULL);
		if (fd < 0)
			fd = sysbpf_array_create(kind->name, kind->value_size,
						 entries[i]);
		if (fd < 0)
			return pin_refused(err, fd, "cannot make the map '%s'",
					   kind->name);
		s->fds[i] = fd;
		code = run_dir_pin(s->run, path, fd, RUN_PIN_SHOWN, err);
		if (code)
			return code;
	}
	return 0;
}

static bool pin_exists(const struct statics *s, const char *name)
{
	char path[PATH_MAX + 80];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	return !lstat(path, &st);
}

/* They are the same for all majors, and processes may be added to them. */
static int pids_open(struct statics *s, struct error *err)
{
	bool there = pin_exists(s, "pids"), wanted = s->settings->pid_count;
	char path[PATH_MAX + 16];

	if (s->fresh)
		return wanted ? filters_make_pids(s->settings, s->run, s->dir,
						  false, &s->pids, err) : 0;
	if (there != wanted ||
	    pin_exists(s, "sched_process_fork") != s->settings->follow) {
		error_set(err, -EBUSY, there ?
			  "static majors are on for some processes only" :
			  "static majors are on for all processes");
		error_hint(err, "all have the same: give %s, or switch them off first",
			   there ? "--pid as there (and --follow)" :
				   "no --pid");
		return -EBUSY;
	}
	if (!there)
		return 0;
	snprintf(path, sizeof(path), "%s/pids", s->dir);
	s->pids = pin_hash_open(path, BPF_MAP_TYPE_HASH, sizeof(uint32_t),
				sizeof(uint32_t), err);
	return s->pids < 0 ? s->pids : 0;
}

static int majors_lookup(int fd, uint8_t *bytes, struct error *err)
{
	int code = bpf_map_lookup_elem(fd, &(uint32_t){ 0 }, bytes);

	return code ? pin_refused(err, code, "cannot read the map 'majors'") :
		0;
}

static int majors_update(int fd, const uint8_t *bytes, struct error *err)
{
	int code = bpf_map_update_elem(fd, &(uint32_t){ 0 }, bytes, BPF_ANY);

	return code ? pin_refused(err, code, "cannot fill the map 'majors'") :
		0;
}

static int static_program_make(const struct statics *s, uint16_t machine,
			       struct error *err)
{
	const struct ras_control *control = s->buffer->control;
	const struct body_filter filter = { .pids_fd = s->pids };
	struct body_target target = {
		.context = BODY_UPROBE,
		.buffer_fd = s->buffer->main_view.fd,
		.nest_fd = s->buffer->nest_view.fd,
		.trigger_fd = s->buffer->trigger_view.fd,
		.processes_fd = s->buffer->processes_fd,
		.count_fd = s->fds[STATIC_COUNT], .why_fd = s->fds[STATIC_WHY],
		.state_fd = s->fds[STATIC_STATE],
		.sites_fd = -1, .limits_fd = -1, .test_fd = -1,
		.key = control->key,
		.slice_bytes = control->slice_bytes,
		.nest_bytes = control->nest_bytes,
		.cpus = control->cpus,
		.session = RAS_STATIC_SESSION,
		.filter = &filter,
		.preempt_disable = s->features->preempt_disable,
		.preempt_enable = s->features->preempt_enable,
		.address_bits = s->features->address_bits,
		.bring_in = features_sleepable(s->features),
	};
	struct program program = { .context = BODY_UPROBE };
	struct body_layout layout;
	struct body body;
	int fd;

	if (target.bring_in) {
		if (features_read_layout(&layout) == -ENOMEM)
			return error_no_memory(err);
		target.layout = &layout;
	}
	fd = body_generate_static(&body, machine, s->fds[STATIC_MAJORS],
				  &target, err);
	if (fd)
		return fd;
	program.insns = body.insns;
	program.count = body.count;
	program.sleepable = body.sleepable;
	memcpy(program.subprograms, body.subprograms,
	       sizeof(program.subprograms));
	fd = program_load(&program,
			  s->features->multi ? SYSBPF_UPROBE_MULTI : 0, err);
	body_free(&body);
	return fd;
}

/* One for each machine; *fd stays the caller's of `s`. */
static int program_find(struct statics *s, uint16_t machine, int *fd,
			struct error *err)
{
	size_t i = 0;

	while (i < s->program_count && s->programs[i].machine != machine)
		i++;
	if (i == s->program_count) {
		int made = i < MACHINES ? static_program_make(s, machine, err) :
			   -EOPNOTSUPP;

		if (made < 0)
			return made;
		s->programs[i].machine = machine;
		s->programs[i].fd = made;
		s->program_count++;
	}
	*fd = s->programs[i].fd;
	return 0;
}

/* RUN/static/file_..., by way of RUN/new: all files are attached, or none. */
static int files_attach(struct statics *s, const struct static_files *files,
			struct error *err)
{
	char made[80], dir[PATH_MAX], path[PATH_MAX + 80];
	int program, code = 0, other;

	for (size_t i = 0; i < files->count && !code; i++) {
		const struct static_file *file = &files->items[i];

		if (pin_exists(s, file->name))
			continue;
		snprintf(made, sizeof(made), "new/%s", file->name);
		snprintf(dir, sizeof(dir), "%s/%s", s->run->path, made);
		/* the file that was looked into, whatever has its name now */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
		code = program_find(s, file->machine, &program, err);
		if (!code)
			code = run_dir_make(s->run, made, err);
		if (code)
			break;
		code = attach_file(program, path, file->offsets, file->count,
				   s->features, dir);
		if (code)
			pin_refused(err, code, "cannot probe '%s'", file->path);
	}
	other = code;
	for (size_t i = 0; i < files->count; i++) {
		const char *name = files->items[i].name;

		snprintf(dir, sizeof(dir), "%s/new/%s", s->run->path, name);
		snprintf(path, sizeof(path), "%s/%s", s->dir, name);
		if (code)
			pins_remove(s->run->path, dir);
		else if (rename(dir, path) && errno != ENOENT)
			other = pin_refused(err, -errno,
					    "cannot rename '%s' to '%s'", dir,
					    path);
	}
	return other;
}

/* Maps are there: RUN/static, or RUN/new/static, which becomes it. */
static int statics_open(struct statics *s, struct error *err)
{
	const struct ras_state off = {
		.state = RAS_STATE_OFF, .session = RAS_STATIC_SESSION,
	};
	struct stat st;
	int code = run_dir_make(s->run, "new", err);

	snprintf(s->dir, sizeof(s->dir), "%s/static", s->run->path);
	s->fresh = lstat(s->dir, &st);
	if (s->fresh && !code) {
		snprintf(s->dir, sizeof(s->dir), "%s/new/static",
			 s->run->path);
		code = run_dir_make(s->run, "new/static", err);
	}
	if (!code)
		code = static_maps_open(s, err);
	if (!code)
		code = pids_open(s, err);
	if (!code && s->fresh) {
		code = bpf_map_update_elem(s->fds[STATIC_STATE],
					   &(uint32_t){ 0 }, &off, BPF_ANY);
		if (code)
			pin_refused(err, code, "cannot fill the map 'state'");
	}
	return code;
}

int static_majors_on(const struct run_dir *run, struct buffer *buffer,
		     const struct features *features,
		     const struct job_settings *settings,
		     const bool majors[RAS_STATIC_MAJORS], struct error *err)
{
	struct statics s = {
		.run = run, .buffer = buffer, .features = features,
		.settings = settings, .fds = { -1, -1, -1, -1 }, .pids = -1,
	};
	const struct settings_values *modules = &settings->modules;
	uint8_t bytes[RAS_STATIC_MAJORS];
	struct error kernel = { 0 };
	struct static_files files;
	char path[PATH_MAX];
	int code = static_files_open(&files, modules->items, modules->count,
				     err);

	if (code == -ENOENT && !modules->count) {
		/* Where no user program has any, kernel code may. */
		code = kmod_check(run, &kernel);
		if (code && code != -ENOENT)
			*err = kernel;
	}
	if (code)
		return code;
	code = statics_open(&s, err);
	if (!code)
		code = files_attach(&s, &files, err);
	if (!code && s.pids >= 0)
		code = filters_add_pids(settings, s.pids, err);
	if (!code)
		code = majors_lookup(s.fds[STATIC_MAJORS], bytes, err);
	if (!code) {
		for (unsigned int i = 0; i < RAS_STATIC_MAJORS; i++)
			bytes[i] |= majors[i];
		code = majors_update(s.fds[STATIC_MAJORS], bytes, err);
	}
	if (!code && s.fresh) {
		/* All is there and records nothing yet: make it visible, then
		 * enable. */
		snprintf(path, sizeof(path), "%s/static", run->path);
		if (rename(s.dir, path))
			code = pin_refused(err, -errno,
					   "cannot rename '%s' to '%s'", s.dir,
					   path);
		else
			strcpy(s.dir, path);
		if (!code)
			code = retire_state_set(path, RAS_STATE_ON, err);
	}
	if (code && s.fresh)
		pins_remove(run->path, s.dir);
	for (int i = 0; i < STATIC_MAPS; i++)
		if (s.fds[i] >= 0)
			close(s.fds[i]);
	if (s.pids >= 0)
		close(s.pids);
	for (size_t i = 0; i < s.program_count; i++)
		close(s.programs[i].fd);
	static_files_close(&files);
	return code;
}

/* The map of the majors that are on, with its content; -ENOENT: none is. */
static int majors_open(const struct run_dir *run, uint8_t *bytes,
		       struct error *err)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, code;

	snprintf(path, sizeof(path), "%s/static/majors", run->path);
	if (lstat(path, &st)) {
		error_set(err, -ENOENT, "no major is on");
		error_hint(err, "'trace query' shows what is");
		return -ENOENT;
	}
	fd = static_map_open(path, &map_kinds[STATIC_MAJORS], 1, err);
	code = fd < 0 ? fd : majors_lookup(fd, bytes, err);
	if (!code)
		return fd;
	if (fd >= 0)
		close(fd);
	return code;
}

/* The last major is off. */
static int statics_retire(const struct run_dir *run, struct buffer *buffer,
			  struct error *err)
{
	struct session_list list;
	int code = session_list_read(&list, buffer, run->path, err);

	if (code)
		return code;
	for (size_t i = 0; i < list.count && !code; i++)
		if (list.items[i].entry->index == RAS_STATIC_SESSION)
			code = retire_session(run, buffer, &list.items[i], err);
	session_list_free(&list);
	return code;
}

int static_majors_off(const struct run_dir *run, struct buffer *buffer,
		      const bool majors[RAS_STATIC_MAJORS], struct error *err)
{
	unsigned int before = 0, after = 0;
	uint8_t bytes[RAS_STATIC_MAJORS];
	int code, fd = majors_open(run, bytes, err);

	if (fd < 0)
		return fd;
	for (unsigned int i = 0; i < RAS_STATIC_MAJORS; i++) {
		before += !!bytes[i];
		if (majors[i])
			bytes[i] = 0;
		after += !!bytes[i];
	}
	if (before == after)
		code = error_set(err, -ENOENT, "none of these majors is on");
	else if (after)
		code = majors_update(fd, bytes, err);
	else
		code = statics_retire(run, buffer, err);
	close(fd);
	return code;
}
