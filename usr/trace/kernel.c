// SPDX-License-Identifier: GPL-2.0
#include "kernel.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "../lib/identity.h"

/* The build-id among the notes of the running kernel. */
static int build_id_read(struct identity *id)
{
	uint8_t notes[4096];
	FILE *file = fopen("/sys/kernel/notes", "re");
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

static int identity_check(const struct tdf_module *module, struct error *err)
{
	char expected[64], found[64] = "-";
	struct identity id;

	if (module->id_kind == TDF_ID_NONE)
		return 0;
	if (!build_id_read(&id)) {
		if (id.kind == module->id_kind &&
		    id.length == module->id_length &&
		    !memcmp(id.id, module->id, id.length))
			return 0;
		identity_print(id.kind, id.id, id.length, found);
	}
	identity_print(module->id_kind, module->id, module->id_length,
		       expected);
	error_set(err, -ESTALE,
		  "build-id differs (TDF %s, running kernel %s)", expected,
		  found);
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

int kernel_check(const struct tdf *tdf, const struct tdf_module *module,
		 uint64_t *bias, struct error *err)
{
	const struct tdf_site *site = site_linked(tdf, module);
	int code = identity_check(module, err);
	uint64_t address;

	*bias = 0;
	if (code || !site)
		return code;
	address = symbol_address(tdf_string(tdf, site->symbol));
	if (!address) {
		error_set(err, -ENOENT,
			  "the kernel doesn't tell the address of '%s'",
			  tdf_string(tdf, site->symbol));
		error_hint(err, "it does so to root, with sysctl kernel.kptr_restrict below 2");
		return -ENOENT;
	}
	*bias = address + site->offset - site->address;
	return 0;
}
