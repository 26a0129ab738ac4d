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
#include "lib/array.h"
#include "lib/cursor.h"

#define USDT_TYPE	3
#define USDT_OWNER	"stapsdt"

/* base: the address of .stapsdt.base; 0: there is none */
static int usdt_read(const struct module *module, struct usdt_probes *probes,
		     uint64_t base, const uint8_t *bytes, size_t size)
{
	unsigned int word = module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t mask = word == 8 ? UINT64_MAX : UINT32_MAX;
	struct cursor c = { .at = bytes, .end = bytes + size };
	struct usdt_probe probe;
	uint64_t linked;

	probe.address = cursor_fixed(&c, word);
	linked = cursor_fixed(&c, word);
	probe.semaphore = cursor_fixed(&c, word);
	probe.provider = cursor_string(&c);
	probe.name = cursor_string(&c);
	probe.arguments = cursor_string(&c);
	if (c.failed)
		return 0;
	if (base && linked) {
		probe.address += base - linked;
		if (probe.semaphore)
			probe.semaphore += base - linked;
	}
	probe.address &= mask;
	probe.semaphore &= mask;
	if (!array_grow(&probes->probes, probes->count, &probes->room,
			sizeof(*probes->probes)))
		return -ENOMEM;
	probes->probes[probes->count++] = probe;
	return 0;
}

int usdt_load(const struct module *module, struct usdt_probes *probes)
{
	GElf_Shdr sh, base;
	Elf_Scn *notes = module_section_named(module, ".note.stapsdt", &sh);
	Elf_Data *data = notes && sh.sh_type == SHT_NOTE ?
				 elf_getdata(notes, NULL) : NULL;
	size_t at = 0, name, desc;
	GElf_Nhdr nh;
	int code = 0;

	memset(probes, 0, sizeof(*probes));
	if (!data || !data->d_buf)
		return 0;
	if (!module_section_named(module, ".stapsdt.base", &base))
		base.sh_addr = 0;
	while (!code && (at = gelf_getnote(data, at, &nh, &name, &desc)))
		if (nh.n_type == USDT_TYPE &&
		    nh.n_namesz == sizeof(USDT_OWNER) &&
		    !memcmp((char *)data->d_buf + name, USDT_OWNER,
			    sizeof(USDT_OWNER)))
			code = usdt_read(module, probes, base.sh_addr,
					 (uint8_t *)data->d_buf + desc,
					 nh.n_descsz);
	return code;
}

void usdt_free(struct usdt_probes *probes)
{
	free(probes->probes);
	memset(probes, 0, sizeof(*probes));
}
