// SPDX-License-Identifier: GPL-2.0
#include "direct_probe.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <rastrace/buffer.h>
#include "bpf/emit.h"
#include "lib/machine.h"
#include "lib/sysbpf.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"

#define PAGES		4		/* of our own that are read */
#define PAGE		(1UL << DIRECT_PAGE)
#define WORDS		(PAGE / sizeof(uint64_t))
#define BASE_STEP	(1ULL << 30)	/* that the kernel's base is aligned to */
#define LEVELS_FOUR	0xffff800000000000ULL	/* the kernel's part with four
						 * levels begins here */

/* What a program in the kernel and we hand each other. */
struct direct_peek {
	uint64_t address;		/* 0: that of our task_struct */
	uint64_t word;
};

struct direct_proof {
	const struct body_layout *layout;
	struct body_direct direct;
	int map_fd, program;
	volatile struct direct_peek *peek;
	uint64_t *pages;		/* PAGES of random bytes */
	uint64_t physical[PAGES];
	uint64_t mm, top;		/* addresses of our mm_struct, and of its
					 * first table */
};

static bool lockdown_is_on(void)
{
	char text[64] = "";
	int fd = open(LOCKDOWN, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return !strstr(text, "[none]");
}

/* The end of physical memory; 0: it is not shown to us. */
static uint64_t memory_end(void)
{
	unsigned long long first, last, end = 0;
	FILE *file = fopen("/proc/iomem", "re");
	char line[256];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (strstr(line, ": System RAM") &&
		    sscanf(line, "%llx-%llx", &first, &last) == 2 &&
		    last >= end)
			end = last + 1;
	fclose(file);
	return end > 1 ? end : 0;
}

/* Reads the kernel's word at peek.address. */
static int peek_program_load(int map_fd, uint32_t cast, uint32_t type)
{
	struct emit e = { 0 };
	emit_label word = emit_label_new(&e);
	int fd;

	emit_map_value(&e, BPF_REG_6, map_fd, 0);
	emit_load(&e, 8, BPF_REG_1, BPF_REG_6,
		  offsetof(struct direct_peek, address));
	emit_jump_imm(&e, BPF_JNE, BPF_REG_1, 0, word);
	emit_call(&e, BPF_FUNC_get_current_task);
	emit_store(&e, 8, BPF_REG_6, offsetof(struct direct_peek, word),
		   BPF_REG_0);
	emit_alu_imm(&e, BPF_MOV, BPF_REG_0, 0);
	emit_exit(&e);
	emit_label_place(&e, word);
	emit_alu_imm(&e, BPF_MOV, BPF_REG_2, type);
	emit_kfunc(&e, cast);
	emit_load(&e, 8, BPF_REG_1, BPF_REG_0, 0);
	emit_store(&e, 8, BPF_REG_6, offsetof(struct direct_peek, word),
		   BPF_REG_1);
	emit_alu_imm(&e, BPF_MOV, BPF_REG_0, 0);
	emit_exit(&e);
	fd = emit_finish(&e);
	if (!fd)
		fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "rastrace",
				   "GPL", e.insns, e.count, NULL);
	free(e.insns);
	emit_free(&e);
	return fd;
}

/* What can't be read is 0. */
static uint64_t direct_peek(const struct direct_proof *proof, uint64_t address)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	proof->peek->address = address;
	proof->peek->word = 0;
	if (bpf_prog_test_run_opts(proof->program, &opts))
		return 0;
	return proof->peek->word;
}

static uint64_t *page_at(const struct direct_proof *proof, int page)
{
	return proof->pages + page * WORDS;
}

static bool page_locate(const struct direct_proof *proof, int page, int pagemap,
			uint64_t *physical)
{
	uint64_t entry, number = (uintptr_t)page_at(proof, page) / PAGE;

	if (pread(pagemap, &entry, sizeof(entry), number * sizeof(entry)) !=
	    sizeof(entry))
		return false;
	*physical = (entry & ((1ULL << 55) - 1)) << DIRECT_PAGE;
	return *physical >= DIRECT_LOW && *physical < proof->direct.end;
}

static bool pages_locate(struct direct_proof *proof)
{
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	bool found = pagemap >= 0;

	for (int i = 0; i < PAGES && found; i++)
		found = page_locate(proof, i, pagemap, &proof->physical[i]);
	if (pagemap >= 0)
		close(pagemap);
	return found;
}

/*
 * The first table is in the kernel's map of physical memory, and so not further
 * from its base than the memory is large. Upwards from there: what is read is
 * below the base, or in memory, but never beyond its end, where devices may be.
 */
static bool base_find(struct direct_proof *proof)
{
	uint64_t base = (proof->top - proof->direct.end) & -BASE_STEP;

	for (; base <= proof->top; base += BASE_STEP)
		if (direct_peek(proof, base + proof->physical[0]) ==
		    page_at(proof, 0)[0]) {
			proof->direct.base = base;
			return true;
		}
	return false;
}

/* Where the tables say that our page is; 0: they don't. As in
 * bpf/code/direct.c. */
static uint64_t page_translate(const struct direct_proof *proof, int page)
{
	uint64_t address = (uintptr_t)page_at(proof, page);
	uint64_t at = proof->top - proof->direct.base, entry;

	for (int shift = DIRECT_TOP; shift >= DIRECT_PAGE;
	     shift -= DIRECT_INDEX) {
		uint64_t bad = shift > DIRECT_PAGE ? DIRECT_LARGE :
						     DIRECT_SPECIAL;

		at += (address >> shift & ((1 << DIRECT_INDEX) - 1)) * 8;
		entry = direct_peek(proof, proof->direct.base + at);
		at = entry & DIRECT_ADDRESS;
		if ((entry & (DIRECT_PRESENT | DIRECT_USER | bad)) !=
		    (DIRECT_PRESENT | DIRECT_USER) ||
		    at < DIRECT_LOW || at >= proof->direct.end)
			return 0;
	}
	return at;
}

static bool page_is_read(const struct direct_proof *proof, int page)
{
	uint64_t at = page_translate(proof, page);

	if (at != proof->physical[page])
		return false;
	for (unsigned int i = 0; i < WORDS; i += 61)
		if (direct_peek(proof, proof->direct.base + at + i * 8) !=
		    page_at(proof, page)[i])
			return false;
	return true;
}

static bool flush_is_counted(const struct direct_proof *proof, uint64_t *count)
{
	uint64_t before = *count;

	*count = direct_peek(proof, proof->mm + proof->layout->mm_flushes);
	return *count > before;
}

/* All that takes a page away or changes it counts; reading does not. */
static bool flushes_are_counted(const struct direct_proof *proof)
{
	void *elsewhere = (char *)proof->pages + 2 * PAGES * PAGE;
	uint64_t count = 0;

	flush_is_counted(proof, &count);
	return !flush_is_counted(proof, &count) &&
	       !mprotect(page_at(proof, 0), PAGE, PROT_READ) &&
	       flush_is_counted(proof, &count) && page_is_read(proof, 0) &&
	       !madvise(page_at(proof, 1), PAGE, MADV_DONTNEED) &&
	       flush_is_counted(proof, &count) && !page_translate(proof, 1) &&
	       mremap(page_at(proof, 2), PAGE, PAGE,
		      MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere) == elsewhere &&
	       flush_is_counted(proof, &count) && !page_translate(proof, 2) &&
	       !munmap(page_at(proof, 3), PAGE) &&
	       flush_is_counted(proof, &count) && !page_translate(proof, 3);
}

/* Twice as many pages as are read, and one for a page that moves */
#define PROOF_BYTES	((2 * PAGES + 1) * PAGE)

static int proof_run(struct direct_proof *proof)
{
	const struct body_layout *layout = proof->layout;
	uint64_t task;

	if (getrandom(proof->pages, PAGES * PAGE, 0) != PAGES * PAGE ||
	    getrandom(&proof->direct.key, sizeof(uint64_t), 0) !=
	    sizeof(uint64_t))
		return RAS_READS_UNPROVEN;
	if (!pages_locate(proof))
		return RAS_READS_ADDRESSES;
	task = direct_peek(proof, 0);
	proof->mm = direct_peek(proof, task + layout->task_mm);
	proof->top = direct_peek(proof, proof->mm + layout->mm_pgd);
	if (proof->top < LEVELS_FOUR)
		return RAS_READS_LEVELS;
	if (!base_find(proof))
		return RAS_READS_UNPROVEN;
	for (int i = 0; i < PAGES; i++)
		if (!page_is_read(proof, i))
			return page_translate(proof, i) ? RAS_READS_UNPROVEN :
							  RAS_READS_ENTRIES;
	return flushes_are_counted(proof) ? RAS_READS_DIRECT :
					    RAS_READS_UNPROVEN;
}

int direct_probe(struct body_direct *direct, const struct body_layout *layout)
{
	struct direct_proof proof = {
		.layout = layout, .map_fd = -1, .program = -1,
		.peek = MAP_FAILED, .direct.end = memory_end(),
	};
	int result;

	if (MACHINE_OWN != EM_X86_64)
		return RAS_READS_PROCESSOR;
	if (lockdown_is_on())
		return RAS_READS_LOCKDOWN;
	if (!layout->task_mm || !layout->mm_pgd || !layout->mm_flushes ||
	    !layout->cast_kfunc || !layout->cast_type)
		return RAS_READS_KERNEL;
	if (!proof.direct.end)
		return RAS_READS_ADDRESSES;
	proof.pages = mmap(NULL, PROOF_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	proof.map_fd = sysbpf_array_create("peek", PAGE, 1);
	if (proof.map_fd >= 0) {
		proof.peek = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				  MAP_SHARED, proof.map_fd, 0);
		proof.program = peek_program_load(proof.map_fd,
						  layout->cast_kfunc,
						  layout->cast_type);
	}
	if (proof.program < 0)
		result = RAS_READS_KERNEL;
	else if (proof.pages == MAP_FAILED || proof.peek == MAP_FAILED)
		result = RAS_READS_UNPROVEN;
	else
		result = proof_run(&proof);
	*direct = proof.direct;
	if (proof.pages != MAP_FAILED)
		munmap(proof.pages, PROOF_BYTES);
	if (proof.peek != MAP_FAILED)
		munmap((void *)proof.peek, PAGE);
	if (proof.program >= 0)
		close(proof.program);
	if (proof.map_fd >= 0)
		close(proof.map_fd);
	return result;
}
