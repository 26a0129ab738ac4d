// SPDX-License-Identifier: GPL-2.0
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include "lib/identity.h"
#include "lib/machine.h"
#include "lib/maps_line.h"
#include "lib/path.h"
#include "lib/elf_symbols.h"

#define LONGEST		15

/* A letter for each opcode: what follows it. */
enum {
	NONE = '.',
	MODRM = 'm',		/* ModRM, SIB, displacement */
	BYTE = 'b',		/* an immediate byte */
	WORD = 'w',		/* an immediate value of 2 bytes */
	FULL = 'z',		/* one of 4 bytes, 2 with prefix 66 */
	BRANCH = 'j',		/* one of 4 bytes, in 64-bit mode always */
	MODRM_BYTE = 'B',
	MODRM_FULL = 'Z',
	WIDE = 'q',		/* FULL, or 8 bytes with REX.W */
	OFFSET = 'o',		/* of the size of addresses */
	ENTER = 'e',		/* WORD and BYTE */
	FAR = 'f',		/* FULL and WORD */
	TEST = 't',		/* MODRM, and BYTE for /0 and /1 */
	TEST_FULL = 'T',	/* MODRM, and FULL for /0 and /1 */
};

/* Intel SDM volume 2, appendix A: one-byte opcodes */
static const char one_byte[] =
	"mmmmbz..mmmmbz.." "mmmmbz..mmmmbz.." "mmmmbz..mmmmbz.."
	"mmmmbz..mmmmbz.." "................" "................"
	"..mm....zZbB...." "bbbbbbbbbbbbbbbb" "BZBBmmmmmmmmmmmm"
	"..........f....." "oooo....bz......" "bbbbbbbbqqqqqqqq"
	"BBw.mmBZe.w..b.." "mmmmbb..mmmmmmmm" "bbbbbbbbjjfb...."
	"......tT......mm";
/* Opcodes after the byte 0f */
static const char two_bytes[] =
	"mmmm......m..m.B" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"
	"........m.B....." "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"
	"mmmmmmmmmmmmmmmm" "BBBBmmm.mmmmmmmm" "jjjjjjjjjjjjjjjj"
	"mmmmmmmmmmmmmmmm" "...mBmmm...mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"
	"mmmmmmmmmmmmmmmm";

struct probe_insn {
	const uint8_t *code;
	size_t size, at;
	bool wide;		/* 64-bit mode */
	bool operand, address;	/* prefixes 66, 67 */
	bool rex_w;
};

static uint8_t peek(const struct probe_insn *insn)
{
	return insn->at < insn->size ? insn->code[insn->at] : 0;
}

static const char *prefixes_take(struct probe_insn *insn)
{
	const char *hazard = NULL;

	for (; insn->at < insn->size; insn->at++) {
		uint8_t byte = insn->code[insn->at];

		if (byte == 0x66)
			insn->operand = true;
		else if (byte == 0x67)
			insn->address = true;
		else if (byte == 0xf0)
			hazard = "a lock prefix, where a probe never fires";
		else if (byte == 0x26 || byte == 0x2e || byte == 0x36 ||
			 byte == 0x3e)
			hazard = "a segment prefix, where a probe never fires";
		else if (byte != 0xf2 && byte != 0xf3 && byte != 0x64 &&
			 byte != 0x65)
			break;
	}
	if (insn->wide && (peek(insn) & 0xf0) == 0x40)
		insn->rex_w = insn->code[insn->at++] & 8;
	return hazard;
}

/* In 32-bit mode these are LES, LDS and BOUND with an operand in memory. */
static const char *vector_find(const struct probe_insn *insn)
{
	uint8_t byte = peek(insn);
	uint8_t next = insn->at + 1 < insn->size ? insn->code[insn->at + 1] : 0;

	if (byte == 0x8f)
		return next & 0x38 ?
		       "an XOP prefix, which the kernel takes for a branch" :
		       NULL;
	if (!insn->wide && next < 0xc0)
		return NULL;
	return byte == 0x62 || byte == 0xc4 || byte == 0xc5 ?
	       "a VEX prefix, which the kernel takes for a branch" : NULL;
}

static void modrm_skip(struct probe_insn *insn)
{
	uint8_t modrm = peek(insn), mode = modrm >> 6, rm = modrm & 7;

	insn->at++;
	if (mode == 3)
		return;
	if (!insn->wide && insn->address) {
		insn->at += mode == 1 ? 1 : mode == 2 || rm == 6 ? 2 : 0;
		return;
	}
	if (rm == 4) {
		rm = peek(insn) & 7;
		insn->at++;
	}
	insn->at += mode == 1 ? 1 : mode == 2 || rm == 5 ? 4 : 0;
}

static char opcode_take(struct probe_insn *insn)
{
	uint8_t byte = peek(insn);

	insn->at++;
	if (byte != 0x0f)
		return one_byte[byte];
	byte = peek(insn);
	insn->at++;
	if (byte == 0x38 || byte == 0x3a)
		insn->at++;
	return two_bytes[byte];
}

unsigned int insn_x86_length(const uint8_t *code, size_t size, bool wide,
			     const char **hazard)
{
	struct probe_insn insn = { .code = code, .size = size, .wide = wide };
	const char *vector;
	char kind;
	unsigned int full;
	bool test;

	*hazard = prefixes_take(&insn);
	vector = vector_find(&insn);
	if (vector) {
		*hazard = vector;
		return 0;
	}
	kind = opcode_take(&insn);
	full = insn.operand && !insn.rex_w ? 2 : 4;
	test = (peek(&insn) & 0x30) == 0;
	if (strchr("mBZtT", kind))
		modrm_skip(&insn);
	switch (kind) {
	case BYTE: case MODRM_BYTE:
		insn.at += 1;
		break;
	case WORD:
		insn.at += 2;
		break;
	case ENTER:
		insn.at += 3;
		break;
	case FULL: case MODRM_FULL:
		insn.at += full;
		break;
	case BRANCH:
		insn.at += insn.wide ? 4 : full;
		break;
	case WIDE:
		insn.at += insn.rex_w ? 8 : full;
		break;
	case OFFSET:
		insn.at += (insn.wide ? 8 : 4) >> insn.address;
		break;
	case FAR:
		insn.at += full + 2;
		break;
	case TEST:
		insn.at += test;
		break;
	case TEST_FULL:
		insn.at += test ? full : 0;
		break;
	}
	return insn.at <= size && insn.at <= LONGEST ? insn.at : 0;
}

#define ID_TEXT		64

/* The file is the module that the TDF names. */
static int target_identity_check(const struct target_file *file,
				 const struct tdf_module *module,
				 struct error *err)
{
	char expected[ID_TEXT], found[ID_TEXT];
	struct identity id;
	int code = identity_read(file->fd, file->path, &id, err);

	if (code)
		return code;
	if (id.kind == module->id_kind && id.length == module->id_length &&
	    !memcmp(id.id, module->id, id.length))
		return 0;
	identity_print(module->id_kind, module->id, module->id_length,
		       expected);
	identity_print(id.kind, id.id, id.length, found);
	error_set(err, -ESTALE, "%s differs (TDF %s, module '%s' %s)",
		  module->id_kind == TDF_ID_BUILD ? "build-id" : "content",
		  expected, file->path, found);
	error_hint(err, "it was built anew or is another program: compile the TSF for it (trcust), "
		   "or name the right one (--module)");
	return -ESTALE;
}

#define OPEN_FLAGS	(O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* "/proc/12/root/lib/x.so": its symbolic links are those of the process. */
static int open_in_root(const char *path, size_t root_length)
{
	struct open_how how = {
		.flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT,
	};
	char *root = strndup(path, root_length);
	int fd, dir = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	free(root);
	if (dir < 0)
		return -1;
	fd = syscall(SYS_openat2, dir, path + root_length, &how, sizeof(how));
	close(dir);
	return fd;
}

static int path_open(const char *path, char full[PATH_MAX])
{
	int root = 0;

	sscanf(path, "/proc/%*u/root%n", &root);
	if (root && path[root] == '/') {
		snprintf(full, PATH_MAX, "%s", path);
		return open_in_root(path, root);
	}
	return realpath(path, full) ? open(full, OPEN_FLAGS) : -1;
}

/* Closes fd, or gives it to the target. */
static int target_file_add(struct target *target,
			   const struct tdf_module *module, int fd,
			   const char *path, struct error *err)
{
	struct target_file file = { .fd = fd }, *files;
	bool known = false;
	struct stat st;
	int code = 0;

	snprintf(file.path, sizeof(file.path), "%s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		code = error_set(err, -EINVAL, "'%s' is no regular file", path);
	else
		code = target_identity_check(&file, module, err);
	for (uint32_t i = 0; i < target->file_count && !code; i++)
		known |= target->files[i].device == st.st_dev &&
			 target->files[i].inode == st.st_ino;
	if (code || known) {
		close(fd);
		return code;
	}
	file.stat = st;
	file.device = st.st_dev;
	file.inode = st.st_ino;
	files = reallocarray(target->files, target->file_count + 1,
			     sizeof(*files));
	if (!files) {
		close(fd);
		return error_no_memory(err);
	}
	if (!target->file_count)
		strcpy(target->path, file.path);
	target->files = files;
	files[target->file_count++] = file;
	return 0;
}

/* -ENOENT: nothing there to look at. */
static int candidate_open(struct target *target,
			  const struct tdf_module *module, const char *path,
			  struct error *err)
{
	char full[PATH_MAX];
	int fd = path_open(path, full);

	if (fd < 0)
		return error_set(err, errno == ENOTDIR ? -ENOENT : -errno,
				 "cannot open '%s': %s", path, strerror(errno));
	return target_file_add(target, module, fd, full, err);
}

/* Does the process see the files that this one sees? */
static bool root_is_ours(uint32_t pid)
{
	char path[32];
	struct stat ours, theirs;

	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	if (stat("/", &ours) || stat(path, &theirs) ||
	    ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
		return false;
	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	return !stat("/proc/self/ns/mnt", &ours) && !stat(path, &theirs) &&
	       ours.st_ino == theirs.st_ino;
}

/* What a process has mapped under the module's name, even if something else
 * has its place by now. */
static void mapped_find(struct target *target, const struct tdf_module *module,
			const char *name, uint32_t pid, const char *root)
{
	struct maps_lines lines;
	struct maps_line maps;
	char path[PATH_MAX];
	int fd;

	if (maps_lines_open(&lines, pid))
		return;
	while (maps_lines_next(&lines, &maps)) {
		if (maps.path[0] != '/')
			continue;
		if (maps.deleted)
			*maps.deleted = '\0';
		if (strcmp(path_base(maps.path), name))
			continue;
		snprintf(path, sizeof(path), "%s%s", root, maps.path);
		fd = maps_line_open(&maps, pid);
		if (fd >= 0)
			target_file_add(target, module, fd, path, NULL);
	}
	maps_lines_close(&lines);
}

/* In the view of the processes that are asked for. */
static void processes_find(struct target *target,
			   const struct tdf_module *module,
			   const char *recorded,
			   const struct target_search *search)
{
	for (unsigned int i = 0; i < search->pid_count; i++) {
		uint32_t pid = search->pids[i];
		char root[32] = "", path[PATH_MAX];

		if (!root_is_ours(pid))
			snprintf(root, sizeof(root), "/proc/%u/root", pid);
		mapped_find(target, module, path_base(recorded), pid, root);
		if (*root && snprintf(path, sizeof(path), "%s%s%s", root,
				      *recorded == '/' ? "" : "/", recorded) <
		    (int)sizeof(path))
			candidate_open(target, module, path, NULL);
	}
}

/* The recorded path first, then the TDF's directory; where neither fits, the
 * error is of the first. */
static int target_module_find(struct target *target, const struct tdf *tdf,
			      const struct tdf_module *module,
			      struct error *err)
{
	const char *recorded = tdf_string(tdf, module->path);
	const char *slash = strrchr(tdf->path, '/');
	struct error other = { 0 };
	char beside[PATH_MAX];
	int code = candidate_open(target, module, recorded, err);

	/* "/usr/lib/libx.so" and the TDF "/tmp/x.tdf" give "/tmp/libx.so". */
	if (!code || snprintf(beside, sizeof(beside), "%.*s%s",
			      slash ? (int)(slash - tdf->path + 1) : 0,
			      tdf->path, path_base(recorded)) >=
		     (int)sizeof(beside))
		return code;
	switch (candidate_open(target, module, beside, &other)) {
	case 0:
		*err = (struct error){ 0 };
		return 0;
	case -ENOENT:
		break;
	default:
		if (code == -ENOENT) {
			*err = other;
			return -ESTALE;
		}
	}
	if (code != -ENOENT)
		return code;
	error_set(err, code, "module '%s' is not here, nor beside the TDF",
		  recorded);
	error_hint(err, "say where it is: --module PATH");
	return code;
}

void target_print_bytes(const uint8_t *bytes, size_t count, char *text)
{
	for (size_t i = 0; i < count; i++)
		text += sprintf(text, "%s%02x", i ? " " : "", bytes[i]);
}

static int target_site_check(const struct target_file *file,
			     const struct tdf *tdf,
			     const struct tdf_point *point,
			     const struct tdf_site *site, struct error *err)
{
	char expected[64], found[64] = "past the end of the file";
	uint8_t bytes[TDF_INSN_MAX];
	ssize_t n = pread(file->fd, bytes, site->insn_length, site->offset);

	if (n == site->insn_length && !memcmp(bytes, site->insn, n))
		return 0;
	target_print_bytes(site->insn, site->insn_length, expected);
	if (n == site->insn_length)
		target_print_bytes(bytes, n, found);
	error_set(err, -ESTALE,
		  "tracepoint %u ('%s'): instruction bytes differ at offset %#llx of '%s' "
		  "(TDF %s, module %s)",
		  point->minor, tdf_string(tdf, point->name), site->offset,
		  file->path, expected, found);
	error_hint(err, "it was changed after its build: compile the TSF for it (trcust)");
	return -ESTALE;
}

/* What the kernel would arm, and then do something else. That an instruction
 * begins there in the first place is taken from the TDF. */
static int site_check_probe(const struct tdf *tdf,
			    const struct tdf_point *point,
			    const struct tdf_site *site, struct error *err)
{
	uint16_t machine = tdf->modules[point->module].machine;
	const char *hazard = NULL;
	unsigned int length = 4;

	if (machine == EM_X86_64 || machine == EM_386)
		length = insn_x86_length(site->insn, site->insn_length,
					 machine == EM_X86_64, &hazard);
	if (hazard)
		error_set(err, -EINVAL,
			  "tracepoint %u ('%s'): the instruction at offset %#llx has %s",
			  point->minor, tdf_string(tdf, point->name),
			  site->offset, hazard);
	else if (length != site->insn_length ||
		 (machine == EM_AARCH64 && site->offset % length))
		error_set(err, -EINVAL,
			  "tracepoint %u ('%s'): there is no instruction of %u bytes at offset %#llx",
			  point->minor, tdf_string(tdf, point->name),
			  site->insn_length, site->offset);
	else
		return 0;
	error_hint(err, "trcust has no tracepoint there: the TDF is damaged, or of something else");
	return -EINVAL;
}

static int target_point_check(const struct target *target,
			      const struct tdf *tdf,
			      const struct tdf_point *point, struct error *err)
{
	int code = 0;

	for (uint32_t k = 0; target->file_count && k < point->sites && !code;
	     k++)
		code = site_check_probe(tdf, point,
					&tdf->sites[point->first_site + k],
					err);
	for (uint32_t i = 0; i < target->file_count; i++)
		for (uint32_t k = 0; k < point->sites && !code; k++)
			code = target_site_check(
				&target->files[i], tdf, point,
				&tdf->sites[point->first_site + k], err);
	return code;
}

/* The kernel counts up what the TDF names as a probe's counter: it must be one
 * by the module's own notes. */
struct semaphore {
	Elf *elf;
	uint64_t offset;	/* in the file */
};

static int semaphore_match(const struct usdt_note *note, void *context)
{
	const struct semaphore *semaphore = context;
	uint64_t offset;

	return note->semaphore &&
	       usdt_offset_find(semaphore->elf, note->semaphore, PF_W,
				&offset) &&
	       offset == semaphore->offset;
}

/* Of all points that are picked, in one file. */
static int semaphores_check(const struct target_file *file,
			    const struct tdf *tdf, uint32_t module,
			    const bool *picked, struct error *err)
{
	struct semaphore semaphore;
	Elf *elf = NULL;
	int code = 0;

	for (uint32_t i = 0; i < tdf->header->points.count && !code; i++) {
		const struct tdf_point *point = &tdf->points[i];
		const struct tdf_site *site = &tdf->sites[point->first_site];

		if (!picked[i] || point->module != module)
			continue;
		for (uint32_t k = 0; k < point->sites && !code; k++, site++) {
			if (!site->semaphore)
				continue;
			if (!elf)
				elf = elf_begin(file->fd, ELF_C_READ, NULL);
			semaphore.elf = elf;
			semaphore.offset = site->semaphore;
			if (!elf)
				code = error_set(err, -EINVAL,
						 "cannot read '%s': %s",
						 file->path, elf_errmsg(-1));
			else if (!usdt_notes_each(elf, semaphore_match,
						  &semaphore))
				code = error_set(err, -EINVAL,
						 "tracepoint %u ('%s'): no probe of '%s' has a semaphore at offset %#llx",
						 point->minor,
						 tdf_string(tdf, point->name),
						 file->path, site->semaphore);
		}
	}
	elf_end(elf);
	return code;
}

static int target_module_open(struct target *target, const struct tdf *tdf,
			      const struct tdf_module *module,
			      const bool *picked,
			      const struct target_search *search,
			      struct error *err)
{
	int code = 0;

	if (!machine_runs(module->machine))
		return error_set(err, -ENOEXEC,
				 "module '%s' is of another machine (ELF machine %u)",
				 tdf_string(tdf, module->name),
				 module->machine);
	if (module->kind == TDF_MODULE_KERNEL) {
		strcpy(target->path, "vmlinux");
		code = kernel_check(tdf, module, picked, &target->bias, err);
	} else if (module->kind != TDF_MODULE_USER) {
		snprintf(target->path, sizeof(target->path), "%s",
			 tdf_string(tdf, module->name));
		code = kernel_module_check(tdf, module, picked, target->module,
					   &target->biases, err);
	}
	if (module->kind != TDF_MODULE_USER)
		return code ? code :
		       kernel_sections_read(tdf, module, target->module,
					    &target->sections, err);
	if (!target->file_count)
		processes_find(target, module, tdf_string(tdf, module->path),
			       search);
	return target->file_count ? 0 : target_module_find(target, tdf, module,
							   err);
}

/* Each --module must be a module of the TDF; where it is none of several, the
 * error is of the first. */
static int target_given_open(struct target *targets, const struct tdf *tdf,
			     const char *path, struct error *err)
{
	bool fits = false, users = false;
	struct error first = { 0 };

	for (uint32_t i = 0; i < tdf->header->modules.count; i++) {
		const struct tdf_module *module = &tdf->modules[i];
		struct error why = { 0 };

		if (module->kind != TDF_MODULE_USER)
			continue;
		users = true;
		if (!candidate_open(&targets[i], module, path, &why))
			fits = true;
		else if (!first.text[0])
			first = why;
	}
	if (fits)
		return 0;
	*err = first;
	if (users && first.hint[0])
		error_hint(err, "the TDF is for '%s': that is another program, or was built anew",
			   tdf_string(tdf, tdf->modules[0].path));
	return users ? -ENOENT :
	       error_set(err, -EINVAL,
			 "--module names a file, but the TDF is of the kernel");
}

int target_open(struct target **targets, const struct tdf *tdf,
		const bool *picked, const struct target_search *search,
		struct error *err)
{
	uint32_t count = tdf->header->modules.count;
	uint32_t points = tdf->header->points.count;
	struct target *found = calloc(count, sizeof(*found));
	bool *used = calloc(count, sizeof(*used));
	int code = used && found ? 0 : error_no_memory(err);

	/* Each module that has points that are picked. */
	for (uint32_t i = 0; i < points && !code; i++)
		used[tdf->points[i].module] |= picked[i];
	for (unsigned int i = 0; i < search->path_count && !code; i++)
		code = target_given_open(found, tdf, search->paths[i], err);
	for (uint32_t i = 0; i < count && !code; i++)
		if (used[i])
			code = target_module_open(&found[i], tdf,
						  &tdf->modules[i], picked,
						  search, err);
	/* The points are where the TDF has them. */
	for (uint32_t i = 0; i < points && !code; i++)
		if (picked[i])
			code = target_point_check(&found[tdf->points[i].module],
						  tdf, &tdf->points[i], err);
	for (uint32_t i = 0; i < count && !code; i++)
		for (uint32_t k = 0; k < found[i].file_count && !code; k++)
			code = semaphores_check(&found[i].files[k], tdf, i,
						picked, err);
	free(used);
	if (code)
		target_close(found, tdf);
	*targets = code ? NULL : found;
	return code;
}

void target_close(struct target *targets, const struct tdf *tdf)
{
	for (uint32_t i = 0; targets && i < tdf->header->modules.count; i++) {
		free(targets[i].biases);
		free(targets[i].sections.list);
		for (uint32_t k = 0; k < targets[i].file_count; k++)
			close(targets[i].files[k].fd);
		free(targets[i].files);
	}
	free(targets);
}
