// SPDX-License-Identifier: GPL-2.0
#include "target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "../lib/identity.h"

#define ID_TEXT		64

/* The module at target->path is the one that the TDF names. */
static int identity_check(const struct target *target,
			  const struct tdf_module *module, struct error *err)
{
	char expected[ID_TEXT], found[ID_TEXT];
	struct identity id;
	int code = identity_read(target->fd, target->path, &id, err);

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
		  expected, target->path, found);
	error_hint(err, "it was built anew: compile the TSF for it (trcust), "
		   "or name the right one (--module)");
	return -ESTALE;
}

/* -ENOENT: nothing there to look at. */
static int candidate_open(struct target *target,
			  const struct tdf_module *module, const char *path,
			  struct error *err)
{
	struct stat st;
	int code;

	if (!realpath(path, target->path))
		return error_set(err, errno == ENOTDIR ? -ENOENT : -errno,
				 "cannot open '%s': %s", path, strerror(errno));
	target->fd = open(target->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (target->fd < 0)
		return error_set(err, -errno, "cannot open '%s': %s",
				 target->path, strerror(errno));
	if (fstat(target->fd, &st) || !S_ISREG(st.st_mode))
		code = error_set(err, -EINVAL, "'%s' is no regular file",
				 target->path);
	else
		code = identity_check(target, module, err);
	if (code) {
		close(target->fd);
		target->fd = -1;
	}
	return code;
}

/* "/usr/lib/libx.so" and the TDF "/tmp/x.tdf" give "/tmp/libx.so". */
static int path_beside(char *path, const struct tdf *tdf, const char *module)
{
	const char *slash = strrchr(tdf->path, '/');
	const char *base = strrchr(module, '/');
	int n = slash ? slash - tdf->path + 1 : 0;

	n = snprintf(path, PATH_MAX, "%.*s%s", n, tdf->path,
		     base ? base + 1 : module);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The recorded path first, then the TDF's directory; what is told of several
 * that don't fit is the first. */
static int module_find(struct target *target, const struct tdf *tdf,
		       const struct tdf_module *module, const char *override,
		       struct error *err)
{
	const char *recorded = tdf_string(tdf, module->path);
	char beside[PATH_MAX];
	struct error other = { 0 };
	int code;

	if (override)
		return candidate_open(target, module, override, err);
	code = candidate_open(target, module, recorded, err);
	if (!code || path_beside(beside, tdf, recorded))
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

static void bytes_print(const uint8_t *bytes, size_t count, char *text)
{
	for (size_t i = 0; i < count; i++)
		text += sprintf(text, "%s%02x", i ? " " : "", bytes[i]);
}

static int site_check(const struct target *target, const struct tdf *tdf,
		      const struct tdf_point *point,
		      const struct tdf_site *site, struct error *err)
{
	char expected[64], found[64] = "past the end of the file";
	uint8_t bytes[TDF_INSN_MAX];
	ssize_t n = pread(target->fd, bytes, site->insn_length, site->offset);

	if (n == site->insn_length && !memcmp(bytes, site->insn, n))
		return 0;
	bytes_print(site->insn, site->insn_length, expected);
	if (n == site->insn_length)
		bytes_print(bytes, n, found);
	error_set(err, -ESTALE,
		  "tracepoint %u ('%s'): instruction bytes differ at offset %#llx of '%s' "
		  "(TDF %s, module %s)",
		  point->minor, tdf_string(tdf, point->name), site->offset,
		  target->path, expected, found);
	error_hint(err, "it was changed after its build: compile the TSF for it (trcust)");
	return -ESTALE;
}

static int sites_check(const struct target *targets, const struct tdf *tdf,
		       struct error *err)
{
	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];
		const struct target *target = &targets[point->module];

		for (uint32_t k = 0; k < point->sites && target->fd >= 0; k++) {
			int code = site_check(target, tdf, point,
					      &tdf->sites[point->first_site + k],
					      err);

			if (code)
				return code;
		}
	}
	return 0;
}

static bool machine_fits(const struct tdf_module *module)
{
#if defined(__x86_64__)
	return module->machine == EM_X86_64 || module->machine == EM_386;
#elif defined(__aarch64__)
	return module->machine == EM_AARCH64;
#elif defined(__riscv)
	return module->machine == EM_RISCV;
#else
	return false;
#endif
}

static int module_open(struct target *target, const struct tdf *tdf,
		       const struct tdf_module *module, const char *override,
		       struct error *err)
{
	const char *name = tdf_string(tdf, module->name);

	target->fd = -1;
	if (!machine_fits(module))
		return error_set(err, -ENOEXEC,
				 "module '%s' is of another machine (ELF machine %u)",
				 name, module->machine);
	switch (module->kind) {
	case TDF_MODULE_USER:
		return module_find(target, tdf, module, override, err);
	case TDF_MODULE_KERNEL:
		strcpy(target->path, "vmlinux");
		return kernel_check(tdf, module, &target->bias, err);
	default:
		snprintf(target->path, sizeof(target->path), "%s", name);
		return kernel_module_check(tdf, module, target->module,
					   &target->biases, err);
	}
}

/* --module names one file: there must be one module that it can be. */
static int override_check(const struct tdf *tdf, struct error *err)
{
	unsigned int users = 0;

	for (uint32_t i = 0; i < tdf->header->modules.count; i++)
		users += tdf->modules[i].kind == TDF_MODULE_USER;
	if (users == 1)
		return 0;
	return error_set(err, -EINVAL,
			 "--module names one file, but the TDF has %u modules that are files",
			 users);
}

int target_open(struct target **targets, const struct tdf *tdf,
		const char *override, struct error *err)
{
	uint32_t count = tdf->header->modules.count;
	int code = override ? override_check(tdf, err) : 0;

	*targets = NULL;
	if (code)
		return code;
	*targets = calloc(count, sizeof(**targets));
	if (!*targets)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < count; i++)
		(*targets)[i].fd = -1;
	for (uint32_t i = 0; i < count && !code; i++)
		code = module_open(&(*targets)[i], tdf, &tdf->modules[i],
				   override, err);
	if (!code)
		code = sites_check(*targets, tdf, err);
	if (code) {
		target_close(*targets, tdf);
		*targets = NULL;
	}
	return code;
}

void target_close(struct target *targets, const struct tdf *tdf)
{
	for (uint32_t i = 0; targets && i < tdf->header->modules.count; i++) {
		free(targets[i].biases);
		if (targets[i].fd >= 0)
			close(targets[i].fd);
	}
	free(targets);
}
