// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../lib/identity.h"

/* The build-id among the notes of the running kernel or of a module. */
static int build_id_read(const char *path, struct identity *id)
{
	uint8_t notes[4096];
	FILE *file = fopen(path, "re");
	size_t size, at = 0;

	if (!file)
		return -errno;
	size = fread(notes, 1, sizeof(notes), file);
	fclose(file);
	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, data;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		data = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > size - at || data > size - at - name)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + at, "GNU", 4)) {
			id->kind = TDF_ID_BUILD;
			id->length = note.n_descsz < sizeof(id->id) ?
				note.n_descsz : sizeof(id->id);
			memcpy(id->id, notes + at + name, id->length);
			return 0;
		}
		at += name + data;
	}
	return -ENOENT;
}

/* `what` is running, and has its notes there. */
static int identity_check(const struct tdf_module *module, const char *what,
			  const char *notes, struct error *err)
{
	char expected[64], found[64] = "-";
	struct identity id;

	if (module->id_kind == TDF_ID_NONE)
		return 0;
	if (!build_id_read(notes, &id)) {
		if (id.kind == module->id_kind &&
		    id.length == module->id_length &&
		    !memcmp(id.id, module->id, id.length))
			return 0;
		identity_print(id.kind, id.id, id.length, found);
	}
	identity_print(module->id_kind, module->id, module->id_length,
		       expected);
	error_set(err, -ESTALE,
		  "build-id differs (TDF %s, %s %s)", expected, what, found);
	error_hint(err, "compile the TSF for this kernel (trcust)");
	return -ESTALE;
}

/* A site whose address as linked is known; NULL: none is. */
static const struct tdf_site *site_linked(const struct tdf *tdf,
					  const struct tdf_module *module)
{
	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];
		const struct tdf_site *site = &tdf->sites[point->first_site];

		if (&tdf->modules[point->module] == module && site->address)
			return site;
	}
	return NULL;
}

/* Address of a symbol; 0: unknown, or not shown to this user. */
static uint64_t symbol_address(const char *name)
{
	unsigned long long address, found = 0;
	char line[1024], symbol[512], kind;
	FILE *file = fopen("/proc/kallsyms", "re");

	while (file && !found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c %511s", &address, &kind,
			   symbol) == 3 && !strcmp(symbol, name))
			found = address;
	if (file)
		fclose(file);
	return found;
}

static int tell_hidden(const char *symbol, struct error *err)
{
	error_set(err, -ENOENT, "the kernel doesn't tell the address of '%s'",
		  symbol);
	error_hint(err, "it does so to root, with sysctl kernel.kptr_restrict below 2");
	return -ENOENT;
}

int kernel_check(const struct tdf *tdf, const struct tdf_module *module,
		 uint64_t *bias, struct error *err)
{
	const struct tdf_site *site = site_linked(tdf, module);
	int code = identity_check(module, "running kernel", "/sys/kernel/notes",
				  err);
	uint64_t address;

	*bias = 0;
	if (code || !site)
		return code;
	address = symbol_address(tdf_string(tdf, site->symbol));
	if (!address)
		return tell_hidden(tdf_string(tdf, site->symbol), err);
	*bias = address + site->offset - site->address;
	return 0;
}

/* "/lib/modules/6.1/kernel/snd-dummy.ko": "snd_dummy" */
static int module_name(const char *path, char name[KERNEL_MODULE_NAME],
		       struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t length = strcspn(base, ".");

	if (!length || length >= KERNEL_MODULE_NAME)
		return error_set(err, -EINVAL, "'%s' is no name of a kernel module",
				 base);
	memcpy(name, base, length);
	name[length] = '\0';
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return 0;
}

static bool module_has(const struct tdf *tdf, const struct tdf_module *module,
		       const struct tdf_point *point)
{
	return &tdf->modules[point->module] == module;
}

/* The address of a symbol of the module; true: it is one of these. */
static bool line_parse(const char *line, const char *module,
		       unsigned long long *address, char symbol[512])
{
	char owner[80], wanted[KERNEL_MODULE_NAME + 2];

	snprintf(wanted, sizeof(wanted), "[%s]", module);
	return sscanf(line, "%llx %*c %511s %79s", address, symbol,
		      owner) == 3 &&
	       !strcmp(owner, wanted);
}

static void biases_take(const struct tdf *tdf, const struct tdf_module *module,
			const char *symbol, uint64_t address, uint64_t *biases)
{
	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];

		for (uint32_t k = 0; module_has(tdf, module, point) &&
		     k < point->sites; k++) {
			uint32_t index = point->first_site + k;
			const struct tdf_site *site = &tdf->sites[index];

			if (!biases[index] &&
			    !strcmp(tdf_string(tdf, site->symbol), symbol))
				biases[index] = address + site->offset -
						site->address;
		}
	}
}

static int biases_check(const struct tdf *tdf, const struct tdf_module *module,
			const char *name, const uint64_t *biases,
			struct error *err)
{
	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];

		for (uint32_t k = 0; module_has(tdf, module, point) &&
		     k < point->sites; k++) {
			uint32_t index = point->first_site + k;

			if (biases[index])
				continue;
			tell_hidden(tdf_string(tdf, tdf->sites[index].symbol),
				    err);
			error_hint(err, "it does so to root; the init code of module '%s' is gone once it runs",
				   name);
			return -ENOENT;
		}
	}
	return 0;
}

static int biases_read(const struct tdf *tdf, const struct tdf_module *module,
		       const char *name, uint64_t *biases, struct error *err)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char line[1024], symbol[512];

	if (!file)
		return error_set(err, -errno, "cannot read /proc/kallsyms: %s",
				 strerror(errno));
	while (fgets(line, sizeof(line), file))
		if (line_parse(line, name, &address, symbol) && address)
			biases_take(tdf, module, symbol, address, biases);
	fclose(file);
	return biases_check(tdf, module, name, biases, err);
}

int kernel_module_check(const struct tdf *tdf, const struct tdf_module *module,
			char name[KERNEL_MODULE_NAME], uint64_t **biases,
			struct error *err)
{
	char notes[160];
	int code = module_name(tdf_string(tdf, module->path), name, err);

	*biases = NULL;
	if (code)
		return code;
	snprintf(notes, sizeof(notes), "/sys/module/%s", name);
	if (access(notes, F_OK)) {
		error_set(err, -ENOENT, "kernel module '%s' is not loaded",
			  name);
		error_hint(err, "modprobe %s loads it", name);
		return -ENOENT;
	}
	snprintf(notes, sizeof(notes), "/sys/module/%s/notes/.note.gnu.build-id",
		 name);
	code = identity_check(module, "loaded module", notes, err);
	if (code)
		return code;
	*biases = calloc(tdf->header->sites.count + 1, sizeof(**biases));
	if (!*biases)
		return error_set(err, -ENOMEM, "out of memory");
	return biases_read(tdf, module, name, *biases, err);
}
