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
struct rseq_descriptor {
	uint32_t version, flags;
	uint64_t start, bytes, abort;
};

struct rseq_search {
	struct module *module;
	struct rseq *found;
	const uint8_t *relocations;	/* Elf64_Rela; NULL: none */
	size_t relocation_count;
	bool failed;
};

static Elf64_Rela relocation_at(const struct rseq_search *search, size_t i)
{
	Elf64_Rela rela;

	memcpy(&rela, search->relocations + i * sizeof(rela), sizeof(rela));
	return rela;
}

/* As the loader makes it. */
static uint64_t loaded_word(const struct rseq_search *search, uint64_t at,
			    uint64_t value)
{
	for (size_t i = 0; i < search->relocation_count; i++) {
		Elf64_Rela rela = relocation_at(search, i);

		if (rela.r_offset == at)
			return rela.r_addend;
	}
	return value;
}

static void rseq_range_add(struct rseq_search *search, uint64_t start,
			   uint64_t end, bool signature)
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
static void descriptor_take(struct rseq_search *search, uint64_t at)
{
	struct rseq_descriptor d;
	const uint8_t *bytes;
	size_t available;

	bytes = pointers_bytes(search->module, at, &available);
	if (!bytes || available < sizeof(d))
		return;
	memcpy(&d, bytes, sizeof(d));
	d.start = loaded_word(
		search, at + offsetof(struct rseq_descriptor, start), d.start);
	d.abort = loaded_word(
		search, at + offsetof(struct rseq_descriptor, abort), d.abort);
	if (d.version || !d.bytes || d.bytes > SECTION_MAX ||
	    !module_code(search->module, d.start, &available, NULL) ||
	    !module_code(search->module, d.abort, &available, NULL))
		return;
	rseq_range_add(search, d.start, d.start + d.bytes, false);
	rseq_range_add(search, d.abort - SIGNATURE, d.abort, true);
}

/* Take the descriptor whose abort handler is at `value`, which the word at `at`
 * has, if the signature is before the handler. */
static void abort_take(struct rseq_search *search, uint64_t at, uint64_t value)
{
	size_t available;
	const uint8_t *code = module_code(search->module, value - SIGNATURE,
					  &available, NULL);

	if (code && available >= SIGNATURE &&
	    !memcmp(code, &search->module->arch->rseq_signature, SIGNATURE))
		descriptor_take(search,
				at - offsetof(struct rseq_descriptor, abort));
}

/* Those of the loader (gABI: Dynamic Section): sections may be stripped. */
static void find_relocations(struct rseq_search *search)
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

static void rseq_find_all(struct rseq_search *search)
{
	const struct module *module = search->module;
	uint64_t value;
	GElf_Shdr sh;

	find_relocations(search);
	for (size_t i = 0; i < module->segment_count && !search->failed; i++) {
		const struct module_segment *seg = &module->segments[i];
		uint64_t at = -seg->address & (sizeof(value) - 1);
		size_t available;
		const uint8_t *bytes = seg->size ?
			pointers_bytes(module, seg->address, &available) : NULL;

		for (; bytes && at + sizeof(value) <= available;
		     at += sizeof(value)) {
			memcpy(&value, bytes + at, sizeof(value));
			if (value)
				abort_take(search, seg->address + at, value);
		}
	}
	for (size_t i = 0; i < search->relocation_count && !search->failed;
	     i++) {
		Elf64_Rela rela = relocation_at(search, i);

		abort_take(search, rela.r_offset, rela.r_addend);
	}

	/* those of the section, whatever their signature is */
	if (!module_section_named(module, "__rseq_cs", &sh))
		return;
	for (uint64_t at = 0; at + sizeof(struct rseq_descriptor) <=
			      sh.sh_size && !search->failed;
	     at += sizeof(struct rseq_descriptor))
		descriptor_take(search, sh.sh_addr + at);
}

const char *rseq_refuses(struct module *module, uint64_t address)
{
	struct rseq_search search = { .module = module };
	const struct rseq *rseq;

	if (module->kind != TDF_MODULE_USER)
		return NULL;
	if (!module->rseq) {
		search.found = module->rseq = calloc(1, sizeof(*search.found));
		if (search.found && module->elf && may_have_any(module))
			rseq_find_all(&search);
		module->exhausted |= !search.found || search.failed;
	}
	rseq = module->rseq;
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
