// SPDX-License-Identifier: GPL-2.0
#include "rseq.h"

#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"
#include "pointers.h"

#define SECTION_MAX	(1u << 20)	/* bytes of a critical section */
#define SIGNATURE	4		/* bytes before an abort handler */

/* struct rseq_cs of <linux/rseq.h>; all its fields are as wide everywhere. */
struct descriptor {
	uint32_t version, flags;
	uint64_t start, bytes, abort;
};

struct search {
	struct module *module;
	struct rseq *found;
	const uint8_t *relocations;	/* Elf64_Rela; NULL: none */
	size_t relocation_count;
	bool failed;
};


/* The signature is before the address of code. */
static bool is_abort(const struct search *search, uint64_t address)
{
	const uint8_t *code;
	size_t available;

	code = module_code(search->module, address - SIGNATURE, &available,
			   NULL);
	return code && available >= SIGNATURE &&
	       !memcmp(code, &search->module->arch->rseq_signature, SIGNATURE);
}

static Elf64_Rela relocation(const struct search *search, size_t i)
{
	Elf64_Rela rela;

	memcpy(&rela, search->relocations + i * sizeof(rela), sizeof(rela));
	return rela;
}

/* As the loader makes it. */
static uint64_t word(const struct search *search, uint64_t at, uint64_t value)
{
	for (size_t i = 0; i < search->relocation_count; i++) {
		Elf64_Rela rela = relocation(search, i);

		if (rela.r_offset == at)
			return rela.r_addend;
	}
	return value;
}

static void add(struct search *search, uint64_t start, uint64_t end,
		bool signature)
{
	struct rseq *found = search->found;

	if (!array_grow(&found->list, found->count, &found->room,
			sizeof(*found->list))) {
		search->failed = true;
		return;
	}
	found->list[found->count++] = (struct rseq_range) {
		{ start, end }, signature,
	};
}

/* Take what may be a descriptor. */
static void take(struct search *search, uint64_t at)
{
	struct descriptor d;
	const uint8_t *bytes;
	size_t available;

	bytes = pointers_bytes(search->module, at, &available);
	if (!bytes || available < sizeof(d))
		return;
	memcpy(&d, bytes, sizeof(d));
	d.start = word(search, at + offsetof(struct descriptor, start),
		       d.start);
	d.abort = word(search, at + offsetof(struct descriptor, abort),
		       d.abort);
	if (d.version || !d.bytes || d.bytes > SECTION_MAX ||
	    !module_code(search->module, d.start, &available, NULL) ||
	    !module_code(search->module, d.abort, &available, NULL))
		return;
	add(search, d.start, d.start + d.bytes, false);
	add(search, d.abort - SIGNATURE, d.abort, true);
}

static void take_abort(struct search *search, uint64_t at, uint64_t value)
{
	if (is_abort(search, value))
		take(search, at - offsetof(struct descriptor, abort));
}

static void search_segment(struct search *search,
			   const struct module_segment *segment)
{
	uint64_t at = -segment->address & (sizeof(uint64_t) - 1), value;
	size_t available;
	const uint8_t *bytes = segment->size ?
		pointers_bytes(search->module, segment->address, &available) :
		NULL;

	for (; bytes && at + sizeof(value) <= available; at += sizeof(value)) {
		memcpy(&value, bytes + at, sizeof(value));
		if (value)
			take_abort(search, segment->address + at, value);
	}
}

/* Those of the loader (gABI: Dynamic Section): sections may be stripped. */
static void find_relocations(struct search *search)
{
	const uint8_t *dynamic = NULL;
	uint64_t address = 0, size = 0;
	size_t count, available;
	GElf_Phdr ph;
	Elf64_Dyn dyn;

	if (search->module->elf_class != ELFCLASS64 ||
	    elf_getphdrnum(search->module->elf, &count))
		return;
	for (size_t i = 0; i < count &&
			   gelf_getphdr(search->module->elf, i, &ph); i++)
		if (ph.p_type == PT_DYNAMIC)
			dynamic = pointers_bytes(search->module, ph.p_vaddr,
						 &available);
	for (; dynamic && available >= sizeof(dyn);
	     dynamic += sizeof(dyn), available -= sizeof(dyn)) {
		memcpy(&dyn, dynamic, sizeof(dyn));
		if (dyn.d_tag == DT_NULL)
			break;
		if (dyn.d_tag == DT_RELA)
			address = dyn.d_un.d_ptr;
		if (dyn.d_tag == DT_RELASZ)
			size = dyn.d_un.d_val;
	}
	search->relocations = address ? pointers_bytes(search->module, address,
						       &available) : NULL;
	if (search->relocations)
		search->relocation_count = (size < available ? size :
					    available) / sizeof(Elf64_Rela);
}

static void search_all(struct search *search)
{
	const struct module *module = search->module;
	GElf_Shdr sh;

	find_relocations(search);
	for (size_t i = 0; i < module->segment_count && !search->failed; i++)
		search_segment(search, &module->segments[i]);
	for (size_t i = 0; i < search->relocation_count && !search->failed;
	     i++) {
		Elf64_Rela rela = relocation(search, i);

		take_abort(search, rela.r_offset, rela.r_addend);
	}

	/* Whatever their signature is. */
	if (!module_section_named(search->module, "__rseq_cs", &sh))
		return;
	for (uint64_t at = 0; at + sizeof(struct descriptor) <= sh.sh_size &&
			      !search->failed;
	     at += sizeof(struct descriptor))
		take(search, sh.sh_addr + at);
}

/* Most modules have none, and no code with the bytes of a signature. */
static bool may_have_any(const struct module *module)
{
	for (size_t i = 0; i < module->code_count; i++)
		if (module->codes[i].data &&
		    memmem(module->codes[i].data,
			   module->codes[i].end - module->codes[i].start,
			   &module->arch->rseq_signature, SIGNATURE))
			return true;
	return module_has_section(module, "__rseq_cs");
}

static const struct rseq *rseq_get(struct module *module)
{
	struct search search = { .module = module };

	if (module->rseq)
		return module->rseq;
	search.found = module->rseq = calloc(1, sizeof(*search.found));
	if (search.found && module->elf && may_have_any(module))
		search_all(&search);
	module->exhausted |= !search.found || search.failed;
	return module->rseq;
}

const char *rseq_refuses(struct module *module, uint64_t address)
{
	const struct rseq *rseq;

	if (module->kind != TDF_MODULE_USER)
		return NULL;
	rseq = rseq_get(module);
	for (size_t i = 0; rseq && i < rseq->count; i++) {
		const struct rseq_range *at = &rseq->list[i];

		if (address < at->range.start || address >= at->range.end)
			continue;
		return at->signature ?
			       "is the signature of an rseq abort handler" :
			       "is in an rseq critical section, which the "
			       "kernel could not restart";
	}
	return NULL;
}

void rseq_forget(struct module *module)
{
	if (module->rseq)
		free(module->rseq->list);
	free(module->rseq);
	module->rseq = NULL;
}
