// SPDX-License-Identifier: GPL-2.0
/*
 * A note of .note.stapsdt has the name "stapsdt", type 3, and as its
 * description three addresses (of the probe, of .stapsdt.base when that was
 * linked, of the semaphore or 0), then three strings, each with its zero:
 * provider, name, arguments.
 */
#include "usdt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define USDT_TYPE	3
#define USDT_OWNER	"stapsdt"

struct usdt_reader {
	const struct module *module;
	struct usdt_probes *probes;
	uint64_t base;		/* of .stapsdt.base; 0: there is none */
};

static const char *section_name(const struct module *module, Elf_Scn *scn,
				GElf_Shdr *sh)
{
	size_t names;

	if (!gelf_getshdr(scn, sh) || elf_getshdrstrndx(module->elf, &names))
		return NULL;
	return elf_strptr(module->elf, names, sh->sh_name);
}

static uint64_t read_address(const struct module *module, const uint8_t **p)
{
	size_t size = module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)(*p)[i] << (8 * i);
	*p += size;
	return value;
}

/* The next string, which must end before `end`; NULL: it doesn't. */
static const char *read_string(const uint8_t **p, const uint8_t *end)
{
	const char *text = (const char *)*p;
	const uint8_t *zero = memchr(*p, '\0', end - *p);

	*p = zero ? zero + 1 : end;
	return zero ? text : NULL;
}

static int usdt_add(struct usdt_probes *probes, const struct usdt_probe *probe)
{
	if (probes->count == probes->room) {
		size_t room = probes->room ? probes->room * 2 : 64;
		struct usdt_probe *grown = realloc(probes->probes,
						   room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		probes->probes = grown;
		probes->room = room;
	}
	probes->probes[probes->count++] = *probe;
	return 0;
}

static int usdt_read(struct usdt_reader *reader, const uint8_t *p, size_t size)
{
	const struct module *module = reader->module;
	uint64_t mask = module->elf_class == ELFCLASS64 ? UINT64_MAX :
							  UINT32_MAX;
	const uint8_t *end = p + size;
	struct usdt_probe probe;
	uint64_t base;

	if (size < (module->elf_class == ELFCLASS64 ? 24 : 12))
		return 0;
	probe.address = read_address(module, &p);
	base = read_address(module, &p);
	probe.semaphore = read_address(module, &p);
	probe.provider = read_string(&p, end);
	probe.name = read_string(&p, end);
	probe.arguments = read_string(&p, end);
	if (!probe.provider || !probe.name || !probe.arguments)
		return 0;
	if (reader->base && base) {
		probe.address += reader->base - base;
		if (probe.semaphore)
			probe.semaphore += reader->base - base;
	}
	probe.address &= mask;
	probe.semaphore &= mask;
	return usdt_add(reader->probes, &probe);
}

static int usdt_read_notes(struct usdt_reader *reader, Elf_Data *data)
{
	const char *bytes = data->d_buf;
	size_t at = 0, name, desc;
	GElf_Nhdr nh;
	int code = 0;

	while (!code && (at = gelf_getnote(data, at, &nh, &name, &desc)))
		if (nh.n_type == USDT_TYPE &&
		    nh.n_namesz == sizeof(USDT_OWNER) &&
		    !memcmp(bytes + name, USDT_OWNER, sizeof(USDT_OWNER)))
			code = usdt_read(reader, (const uint8_t *)bytes + desc,
					 nh.n_descsz);
	return code;
}

int usdt_load(const struct module *module, struct usdt_probes *probes)
{
	struct usdt_reader reader = { .module = module, .probes = probes };
	Elf_Scn *scn = NULL, *notes = NULL;
	GElf_Shdr sh;
	Elf_Data *data;

	memset(probes, 0, sizeof(*probes));
	while ((scn = elf_nextscn(module->elf, scn))) {
		const char *name = section_name(module, scn, &sh);

		if (name && !strcmp(name, ".stapsdt.base"))
			reader.base = sh.sh_addr;
		if (name && !strcmp(name, ".note.stapsdt") &&
		    sh.sh_type == SHT_NOTE)
			notes = scn;
	}
	data = notes ? elf_getdata(notes, NULL) : NULL;
	return data && data->d_buf ? usdt_read_notes(&reader, data) : 0;
}

void usdt_free(struct usdt_probes *probes)
{
	free(probes->probes);
	memset(probes, 0, sizeof(*probes));
}
