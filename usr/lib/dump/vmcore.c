// SPDX-License-Identifier: GPL-2.0
#include "vmcore_machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE		DUMP_PAGE

static const struct vmcore_machine *const machines[] = {
	&vmcore_x86, &vmcore_a64,
};

/* QEMU's compressed form may have no name, or "Unknown". */
static bool machine_fits(const struct vmcore_machine *machine,
			 const struct dump *dump)
{
	if (!dump->kdump)
		return machine->elf == dump->machine;
	return !strcmp(dump->machine_name, machine->name) ||
	       !dump->machine_name[0] ||
	       !strcmp(dump->machine_name, "Unknown");
}

static int machine_unknown(const struct dump *dump, const char *path,
			   struct error *err)
{
	if (dump->kdump)
		return error_set(err, -EINVAL,
				 "'%s' is of a machine that isn't known, '%s'",
				 path, dump->machine_name);
	return error_set(err, -EINVAL,
			 "'%s' is of a machine that isn't known (ELF machine %u)",
			 path, dump->machine);
}

/* Kernels of the two machines have different notes. */
static int tables_find(struct vmcore *core, const char *path, struct error *err)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (!machine_fits(machines[i], &core->dump))
			continue;
		core->machine = machines[i];
		if (machines[i]->open(core)) {
			core->dump.machine = machines[i]->elf;
			return 0;
		}
	}
	if (!core->machine)
		return machine_unknown(&core->dump, path, err);
	error_set(err, -EINVAL,
		  "'%s' has nothing that locates the kernel's page tables",
		  path);
	error_hint(err, "that takes %s (QEMU adds VMCOREINFO with -device vmcoreinfo)",
		   core->machine->source);
	return -EINVAL;
}

int vmcore_open(struct vmcore **core, const char *path, struct error *err)
{
	struct vmcore *c = calloc(1, sizeof(*c));
	int code;

	*core = NULL;
	if (!c)
		return error_no_memory(err);
	for (int i = 0; i < VMCORE_LEVELS; i++)
		c->tables[i].physical = UINT64_MAX;
	code = dump_open(&c->dump, path, err);
	if (!code)
		code = tables_find(c, path, err);
	if (code)
		vmcore_close(c);
	else
		*core = c;
	return code;
}

void vmcore_close(struct vmcore *core)
{
	if (core)
		dump_close(&core->dump);
	free(core);
}

/* ---- addresses ---- */

static uint64_t vmcore_entry_read(struct vmcore *core, int level,
				  uint64_t table, unsigned int index)
{
	typeof(core->tables[0]) *t = &core->tables[level - 1];

	if (t->physical != table) {
		t->physical = table;
		t->there = dump_read(&core->dump, table, t->entries,
				     sizeof(t->entries)) == sizeof(t->entries);
	}
	return t->there ? t->entries[index] : 0;
}

/* *physical of a virtual address. Either way *span: bytes from there on for
 * which that holds. */
static bool address_translate(struct vmcore *core, uint64_t address,
			      uint64_t *physical, uint64_t *span)
{
	uint64_t table = core->root, entry, page;
	uint64_t low = core->virtual_bits < 64 ?
		address & ((1ULL << core->virtual_bits) - 1) : address;

	for (int level = core->levels; level > 0; level--) {
		int shift = 12 + 9 * (level - 1);

		page = 1ULL << shift;
		*span = page - (address & (page - 1));
		entry = vmcore_entry_read(core, level, table,
					  low >> shift & 511);
		table = entry & core->address_mask;
		switch (core->machine->entry(entry, level)) {
		case VMCORE_NOTHING:
			return false;
		case VMCORE_TABLE:
			break;
		case VMCORE_MEMORY:
			*physical = (table & -page) + (address & (page - 1));
			return true;
		}
	}
	return false;
}

size_t vmcore_read(struct vmcore *core, uint64_t address, void *to, size_t size)
{
	uint64_t physical, span;
	size_t done = 0, found = 0;

	while (done < size) {
		uint8_t *at = (uint8_t *)to + done;
		bool mapped = address_translate(core, address + done, &physical,
						&span);
		size_t n = span < size - done ? span : size - done, got = 0;

		/* what the dump leaves out, it does by pages */
		if (mapped && n > PAGE - physical % PAGE)
			n = PAGE - physical % PAGE;
		if (mapped)
			got = dump_read(&core->dump, physical, at, n);
		memset(at + got, 0, n - got);
		found += got;
		done += n;
	}
	return found;
}

uint64_t vmcore_mapped(struct vmcore *core, uint64_t address, uint64_t most)
{
	uint64_t physical, span, done = 0;

	while (done < most &&
	       address_translate(core, address + done, &physical, &span))
		done += span;
	return done < most ? done : most;
}

/* ---- the anchor ---- */

static bool anchor_at(struct vmcore *core, uint64_t address,
		      const uint8_t *page, struct ras_anchor *anchor)
{
	const size_t magic = sizeof(RAS_ANCHOR_MAGIC);

	for (size_t i = 0; i < PAGE; i += RAS_ANCHOR_ALIGN) {
		if (memcmp(page + i, RAS_ANCHOR_MAGIC, magic))
			continue;
		memcpy(anchor, page + i, sizeof(*anchor));
		if (anchor->self == address + i)
			return true;
	}
	return false;
}

static bool anchor_search(struct vmcore *core, struct ras_anchor *anchor)
{
	uint64_t address = core->space, physical, span;
	uint8_t page[PAGE];

	while (address < core->space_end) {
		if (address_translate(core, address, &physical, &span)) {
			span = PAGE;
			if (dump_read(&core->dump, physical, page, PAGE) ==
			    PAGE && anchor_at(core, address, page, anchor))
				return true;
		}
		/* the last hole may end at the top */
		if (span > core->space_end - address)
			break;
		address += span;
	}
	return false;
}

int vmcore_anchor_find(struct vmcore *core, struct ras_anchor *anchor,
		       const char *path, struct error *err)
{
	_Static_assert(sizeof(*anchor) <= RAS_ANCHOR_ALIGN, "in a page");

	if (!anchor_search(core, anchor)) {
		error_set(err, -ENOENT, "there is no trace buffer in '%s'",
			  path);
		error_hint(err, "it is found when the kernel module (rastrace.ko) had it before the crash");
		return -ENOENT;
	}
	if (anchor->layout == RAS_LAYOUT && anchor->size >= sizeof(*anchor))
		return 0;
	error_set(err, -EPROTO,
		  "the buffer in '%s' is of another version (it has layout %u, this version's is %u)",
		  path, anchor->layout, RAS_LAYOUT);
	error_hint(err, "take the tracefmt of the release whose module was loaded");
	return -EPROTO;
}
