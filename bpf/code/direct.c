// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the running process without a call: its page tables are followed,
 * and the page is read where the kernel has all physical memory. A call costs
 * more than all this, for each kernel return some 10 ns.
 *
 * The loads are those of bpf_rdonly_cast(), which is no call in the end: the
 * verifier replaces it. They can't fault: what can't be read is 0.
 *
 * What is read must have been at that address at some time during the hit, but
 * nothing keeps the kernel from changing the tables, or from using a page for
 * something else, at any moment here. The order of the loads, which neither the
 * JIT nor an x86 processor changes:
 *
 *	1. count = the flushes of the process so far: mm->context.tlb_gen
 *	2. the entries of the tables, from the first to the last
 *	3. the bytes
 *	4. the last entry again: is it the same?
 *	5. the flushes again: are there no more than `count`?
 *
 * Where one of the two has changed, the helper reads instead. Why that is
 * enough: what is remembered from 2 on is what a processor has in its TLB from
 * the moment at which it has walked the tables. The kernel may give a page to
 * somebody else, or let others write to it who haven't been able to, only when
 * no processor can have it in its TLB any more. So it flushes between the
 * change of the entry and the other use, and each flush of the process
 * increases tlb_gen before anything else (inc_mm_tlb_gen(), a locked
 * instruction), whichever processors run the process and whatever does the
 * flushing (interrupts, INVLPGB, a hypervisor). If a byte of 3 is from the
 * other use, then the increment came before it, and 5 sees it, unless 1 had
 * seen it, too: but then the entry had changed before 2, which has found
 * another page, or none. That other page is subject to the same argument.
 * Whether we are preempted or moved to another processor in between makes no
 * difference: the kernel's own barriers are then between the loads.
 *
 * Interleaving by interleaving; "we" are at 2, 3 or 4 when it happens:
 *
 * munmap, MADV_DONTNEED, truncation, the OOM killer: unmap_page_range() clears
 *	entries and gathers pages (struct mmu_gather), flushes (tlb_flush_mmu(),
 *	an increment), then frees what was gathered. Bytes that we read before
 *	the flush are still those of the page; what is read later fails at 5.
 *	Without a flush (`fullmm`) a process is taken down only when it has no
 *	thread any more; we run in one.
 * Tables that are freed by it: the entry above is cleared, then a flush, then
 *	the table is freed. If we have its address from before and read what is
 *	in it later, by then of anybody, 5 fails. What such a wrong entry leads
 *	to is looked at, but only in memory (`base` to `base` + `end`), never
 *	beyond, where reading may have effects. Holding RCU, for which most
 *	kernels wait before they free tables, would not be enough: where memory
 *	is scarce they don't. Nor is it needed.
 * MADV_FREE, swap, page reclaim: the entry is cleared under its lock and
 *	tlb_gen increased there and then (arch_tlbbatch_add_pending()), although
 *	the flush itself is put off and done for many pages at once, before any
 *	of them is written out and freed. When a page comes back, its entry was
 *	not present, which needs no flush: we have either found none or the new
 *	one.
 * Migration, compaction, NUMA balancing: as with reclaim, the old page's content
 *	is copied after the flush; the entry in between isn't present. An entry
 *	that is taken from us to see who uses it (PROT_NONE) isn't present
 *	either, and pte_accessible() has it flushed if it may be in a TLB.
 * mprotect: flushes where rights are taken away. The page stays; its bytes were
 *	there at 2. With PROT_NONE the entry isn't present.
 * fork: makes entries read-only and flushes before it returns. The pages stay.
 * Copy on write: the new page is copied, the entry cleared, flushed
 *	(ptep_clear_flush()), and set to the new page. Only then the old page can
 *	become one that the other process alone has and writes to: 5 sees the
 *	flush. If we read the old page before, these were its bytes. The first
 *	write to a page of zeros is the same; its entry is special, and not read
 *	here at all. A page that has no other user any more is made writable in
 *	place: the entry changes, at most 4 fails.
 * KSM: makes the entry read-only and flushes, compares the pages, then clears the
 *	entry, flushes, and sets it to the other page, of the same content.
 * mremap: clears the old entry, sets the new one, and flushes at the end, before
 *	its lock is released. The page stays, but is written to at its new
 *	address already, by another thread, when we read it at its old one: that
 *	is what 4 is for. Whole tables move with the entry above them, which 4
 *	does not see; until the flush the processor itself reads these bytes
 *	there, the helper included. 5 fails afterwards.
 * userfaultfd (UFFDIO_MOVE): clears the entry and flushes, then sets the new one.
 * Splitting of huge pages: the large entry is made absent, flushed, and replaced
 *	by that of a table. Large entries aren't followed, those of a table are
 *	as good as others.
 * Collapsing into a huge page (khugepaged, MADV_COLLAPSE): the entry of the table
 *	is cleared and flushed (pmdp_collapse_flush()), then the pages are
 *	copied and freed. The table itself is kept for a later split, of the
 *	same process, or is freed as above: if we have its address from before,
 *	5 fails.
 * hugetlb: all its entries are large, and aren't followed. A table that two
 *	processes share is unshared, and flushed.
 * Uprobes: put in and take out their instruction by replacing the page, as copy on
 *	write does.
 * Memory that fails: the page is unmapped, with a flush, then removed from the
 *	kernel's map. But until it is known to be bad, a load of it by the
 *	kernel is worse than one by the process or a helper, as it is for
 *	everybody in the kernel who reads memory where the kernel has it.
 * The process ends, or executes another program: it doesn't while its thread is
 *	here.
 *
 * What isn't read here, and is left to the helper: addresses that aren't of user
 * space; what crosses into another page; pages that are absent, of the kernel,
 * of a device (special), have a protection key, or an address beyond the memory
 * there is (a bit that says encrypted is such an address). Pages that aren't in
 * the kernel's map (memfd_secret) read as zeros, so zeros count only in a page
 * of which something else has been read.
 */
#include "gen.h"

#include <stddef.h>

#define USER_BITS	47		/* of addresses */
#define PAGE_BYTES	(1 << DIRECT_PAGE)
#define ENTRY_BYTES	8

/* More, or more at once, is left to the helper: it costs as much for any number of
 * bytes. */
#define DIRECT_READS	8
#define DIRECT_BYTES	64

/*
 * What is remembered in a record, in words of its memory: in the frame, which
 * then is no small one, they cost as much as a call. The page is the one that was
 * read last. Who may read the buffer can see the words, so what says where the
 * kernel has something is hidden: the first four are xor a random number that is
 * in the program.
 */
struct direct_state {
	uint64_t mm;		/* address of the process's mm_struct */
	uint64_t host;		/* where the kernel has the page */
	uint64_t entry_at, entry;	/* its entry in the last table */
	uint64_t page;		/* its number; -1: none */
	uint64_t proven;	/* not 0: something else than zeros was read of it */
	uint64_t count;		/* flushes, before it was looked for */
};

#define STATE(field) \
	(PLAN_DIRECT_STATE + (int)offsetof(struct direct_state, field))

_Static_assert(sizeof(struct direct_state) <= PLAN_DIRECT_BYTES,
	       "there is no room for the state");

/* reg ^= the key, if the field is hidden. Uses r3, which isn't reg. */
static void state_hide(struct gen *gen, int reg, int field)
{
	if (field >= STATE(page))
		return;
	code_const(gen->c, R3, gen->plan->target->direct->key);
	code_alu(gen->c, BPF_XOR, reg, R3);
}

static void direct_state_load(struct gen *gen, int reg, int field)
{
	code_load(gen->c, 8, reg, RECORD, field);
	state_hide(gen, reg, field);
}

/* Changes reg, if the field is hidden. */
static void direct_state_store(struct gen *gen, int field, int reg)
{
	state_hide(gen, reg, field);
	code_store(gen->c, 8, RECORD, field, reg);
}

bool direct_fits(const struct gen *gen, uint32_t bytes)
{
	return gen->direct.begun && bytes && bytes <= DIRECT_BYTES &&
	       gen->direct.reads < DIRECT_READS;
}

void direct_cast(struct gen *gen, int reg)
{
	const struct body_layout *layout = gen->plan->target->layout;

	code_move(gen->c, R1, reg);
	code_const(gen->c, R2, layout->cast_type);
	code_kfunc(gen->c, layout->cast_kfunc, 2);
}

void direct_begin(struct gen *gen)
{
	const struct body_layout *layout = gen->plan->target->layout;
	struct code *c = gen->c;

	if (!gen->plan->direct || gen->version == VERSION_AGAIN)
		return;
	gen->direct.begun = true;
	code_call(c, BPF_FUNC_get_current_task);
	code_alu_imm(c, BPF_ADD, R0, layout->task_mm);
	direct_cast(gen, R0);
	code_load(c, 8, R1, R0, 0);
	direct_state_store(gen, STATE(mm), R1);
	code_store_imm(c, 8, RECORD, STATE(page), -1);
}

void direct_end(struct gen *gen)
{
	gen->direct.begun = false;
}

/* r0 = the word of mm_struct at `member` */
static void mm_load(struct gen *gen, uint32_t member)
{
	direct_state_load(gen, R1, STATE(mm));
	code_alu_imm(gen->c, BPF_ADD, R1, member);
	direct_cast(gen, R1);
	code_load(gen->c, 8, R0, R0, 0);
}

/* r1 = where the entry for the address, in the table at r1, leads to, in the
 * kernel's map; not to be followed: to `slow`. */
static void entry_follow(struct gen *gen, int shift, int address,
			 code_label slow)
{
	const struct body_direct *direct = gen->plan->target->direct;
	bool last = shift == DIRECT_PAGE;
	struct code *c = gen->c;

	code_move(c, R2, address);
	code_alu_imm(c, BPF_RSH, R2, shift - 3);
	code_alu_imm(c, BPF_AND, R2,
		     ((1 << DIRECT_INDEX) - 1) * ENTRY_BYTES);
	code_alu(c, BPF_ADD, R1, R2);
	if (last) {
		code_move(c, R2, R1);
		direct_state_store(gen, STATE(entry_at), R2);
	}
	direct_cast(gen, R1);
	code_load(c, 8, R0, R0, 0);
	code_move(c, R1, R0);
	code_alu_imm(c, BPF_AND, R1, DIRECT_PRESENT | DIRECT_USER |
		     (last ? DIRECT_SPECIAL : DIRECT_LARGE));
	code_jump_imm(c, BPF_JNE, R1, DIRECT_PRESENT | DIRECT_USER, slow);
	code_const(c, R1, DIRECT_ADDRESS);
	code_alu(c, BPF_AND, R1, R0);
	code_alu_imm(c, BPF_SUB, R1, DIRECT_LOW);
	code_const(c, R2, direct->end - DIRECT_LOW);
	code_jump_if(c, BPF_JGE, R1, R2, slow);
	code_const(c, R2, direct->base + DIRECT_LOW);
	code_alu(c, BPF_ADD, R1, R2);
	if (last) {
		code_alu_imm(c, BPF_OR, R0, DIRECT_YOUNG);
		direct_state_store(gen, STATE(entry), R0);
	}
}

/* r1 = where the kernel has the page of the address, which is remembered. While it
 * is sought there is none. */
static void page_find(struct gen *gen, int address, code_label slow)
{
	const struct body_layout *layout = gen->plan->target->layout;
	struct code *c = gen->c;

	code_store_imm(c, 8, RECORD, STATE(page), -1);
	code_store_imm(c, 8, RECORD, STATE(proven), 0);
	code_move(c, R1, address);
	code_alu_imm(c, BPF_RSH, R1, USER_BITS);
	code_jump_imm(c, BPF_JNE, R1, 0, slow);
	mm_load(gen, layout->mm_flushes);
	direct_state_store(gen, STATE(count), R0);
	mm_load(gen, layout->mm_pgd);
	code_move(c, R1, R0);
	for (int shift = DIRECT_TOP; shift >= DIRECT_PAGE;
	     shift -= DIRECT_INDEX)
		entry_follow(gen, shift, address, slow);
	code_move(c, R2, R1);
	direct_state_store(gen, STATE(host), R2);
	code_move(c, R2, address);
	code_alu_imm(c, BPF_RSH, R2, DIRECT_PAGE);
	direct_state_store(gen, STATE(page), R2);
}

/* r0 = where to load from the address, of which `bytes` bytes are in one page */
static void host_load(struct gen *gen, int address, uint32_t bytes,
		      code_label slow)
{
	struct code *c = gen->c;
	code_label found = code_label_new(c), other = code_label_new(c);

	if (bytes > 1) {
		code_move(c, R1, address);
		code_alu_imm(c, BPF_AND, R1, PAGE_BYTES - 1);
		code_jump_imm(c, BPF_JGT, R1, PAGE_BYTES - bytes, slow);
	}
	code_move(c, R2, address);
	code_alu_imm(c, BPF_RSH, R2, DIRECT_PAGE);
	direct_state_load(gen, R1, STATE(page));
	code_jump_if(c, BPF_JNE, R1, R2, other);
	direct_state_load(gen, R1, STATE(host));
	code_jump(c, found);
	code_label_place(c, other);
	page_find(gen, address, slow);
	code_label_place(c, found);
	code_move(c, R2, address);
	code_alu_imm(c, BPF_AND, R2, PAGE_BYTES - 1);
	code_alu(c, BPF_ADD, R1, R2);
	direct_cast(gen, R1);
}

/* What was read can be read, if there is something else than zeros in reg, or was
 * before; else to `slow`. Uses r2. */
static void zeros_check(struct gen *gen, int reg, code_label slow)
{
	direct_state_load(gen, R2, STATE(proven));
	code_alu(gen->c, BPF_OR, R2, reg);
	code_jump_imm(gen->c, BPF_JEQ, R2, 0, slow);
	direct_state_store(gen, STATE(proven), R2);
}

/* All that was read was there; else to `slow`, without a page. Uses r0 to r5. */
static void changes_check(struct gen *gen, code_label slow)
{
	struct code *c = gen->c;
	code_label changed = code_label_new(c);

	direct_state_load(gen, R1, STATE(entry_at));
	direct_cast(gen, R1);
	code_load(c, 8, R0, R0, 0);
	code_alu_imm(c, BPF_OR, R0, DIRECT_YOUNG);
	direct_state_load(gen, R1, STATE(entry));
	code_jump_if(c, BPF_JNE, R0, R1, changed);
	mm_load(gen, gen->plan->target->layout->mm_flushes);
	direct_state_load(gen, R1, STATE(count));
	code_jump_if(c, BPF_JNE, R0, R1, changed);

	code_rare_begin(c);
	code_label_place(c, changed);
	code_store_imm(c, 8, RECORD, STATE(page), -1);
	code_jump(c, slow);
	code_rare_end(c);
}

/* What was loaded goes to byte `at` of where it is wanted. */
static void word_store(struct gen *gen, const struct direct_to *to, int bytes,
		       uint32_t at, int reg)
{
	if (to->base == NO_REG)
		code_slot_store(gen->c, bytes, to->slot, to->off + at, reg);
	else
		code_store(gen->c, bytes, to->base, to->off + at, reg);
}

void direct_read(struct gen *gen, const struct direct_to *to, uint32_t bytes,
		 int address, code_label slow)
{
	struct code *c = gen->c;
	int any = code_temp_new(c), size;

	gen->direct.reads++;
	host_load(gen, address, bytes, slow);
	for (uint32_t at = 0; at < bytes; at += size) {
		size = 8;
		/* loads of a member of the type are whole, stores to the
		 * frame aligned */
		while ((uint32_t)size > bytes - at || at % size ||
		       (to->base == NO_REG && (to->off + at) % size))
			size /= 2;
		code_load(c, size, R1, R0, at);
		word_store(gen, to, size, at, R1);
		code_alu(c, at ? BPF_OR : BPF_MOV, any, R1);
	}
	zeros_check(gen, any, slow);
	changes_check(gen, slow);
}

/* What is read after the last byte is of the same page, and not part of the item:
 * what follows overwrites it, or the record ends before it. */
void direct_counted(struct gen *gen, const struct direct_to *to, uint32_t most,
		    int bytes, int address, code_label slow)
{
	int any = code_temp_new(gen->c), words = code_copy(gen->c, bytes);
	code_label done = code_label_new(gen->c);
	struct code *c = gen->c;

	gen->direct.reads++;
	code_alu_imm(c, BPF_ADD, words, 7);
	code_alu_imm(c, BPF_RSH, words, 3);
	code_move(c, R1, words);
	code_alu_imm(c, BPF_LSH, R1, 3);
	code_move(c, R2, address);
	code_alu_imm(c, BPF_AND, R2, PAGE_BYTES - 1);
	code_alu(c, BPF_ADD, R1, R2);
	code_jump_imm(c, BPF_JGT, R1, PAGE_BYTES, slow);
	host_load(gen, address, 1, slow);
	for (uint32_t at = 0; at < most; at += 8) {
		code_load(c, 8, R1, R0, at);
		word_store(gen, to, 8, at, R1);
		code_alu(c, at ? BPF_OR : BPF_MOV, any, R1);
		if (at + 8 < most)
			code_jump_imm(c, BPF_JLE, words, at / 8 + 1, done);
	}
	code_label_place(c, done);
	zeros_check(gen, any, slow);
	changes_check(gen, slow);
}

#define WORD_ONES	0x0101010101010101ULL
#define WORD_HIGHS	0x8080808080808080ULL

/* reg = the high bit of each byte of the word that is 0, right up to the first such
 * byte; 0: there is none. Uses r3 and r4. */
static void zeros_find(struct code *c, int reg, int word)
{
	code_move(c, reg, word);
	code_const(c, R3, WORD_ONES);
	code_alu(c, BPF_SUB, reg, R3);
	code_move(c, R4, word);
	code_alu_imm(c, BPF_XOR, R4, -1);
	code_alu(c, BPF_AND, reg, R4);
	code_const(c, R4, WORD_HIGHS);
	code_alu(c, BPF_AND, reg, R4);
}

/*
 * The word in r1 has the string's end, by r2 of zeros_find(); it is at byte r5.
 * What follows the end becomes 0. `length` = the bytes, the zero included.
 */
static void end_store(struct gen *gen, const struct direct_to *to, int length)
{
	struct code *c = gen->c;

	/* the bits before the end's highest, and high bits of later bytes that
	 * don't have them */
	code_move(c, R4, R2);
	code_alu_imm(c, BPF_SUB, R4, 1);
	code_alu(c, BPF_AND, R1, R4);
	code_move(c, R2, to->base);
	code_alu(c, BPF_ADD, R2, R5);
	code_store(c, 8, R2, to->off, R1);
	/* a one of each byte up to the end, added up in the highest */
	code_const(c, R3, WORD_ONES);
	code_alu(c, BPF_AND, R4, R3);
	code_alu(c, BPF_MUL, R4, R3);
	code_alu_imm(c, BPF_RSH, R4, 56);
	code_alu(c, BPF_ADD, R4, R5);
	/* for the verifier nothing is known of it, so all words' ways are one */
	code_alu(c, BPF_ADD, R4, R1);
	code_alu(c, BPF_SUB, R4, R1);
	code_move(c, length, R4);
}

/*
 * The first word decides whether the page can be read: if it isn't 0, it can,
 * and what follows isn't looked at for that. The last word ends where the string
 * may end at most, and so may begin in the one before it.
 */
void direct_string(struct gen *gen, const struct direct_to *to, uint32_t most,
		   int address, code_label slow)
{
	struct code *c = gen->c;
	code_label end = code_label_new(c), done = code_label_new(c);
	int length = code_temp_new(c);

	gen->direct.reads++;
	host_load(gen, address, most, slow);
	for (uint32_t i = 0; i < most; i += 8) {
		uint32_t at = i + 8 <= most ? i : most - 8;

		if (at % 8) {	/* not in the middle of two words, for the verifier */
			code_alu_imm(c, BPF_ADD, R0, at);
			direct_cast(gen, R0);
		}
		code_load(c, 8, R1, R0, at % 8 ? 0 : at);
		if (!at)
			zeros_check(gen, R1, slow);
		code_const(c, R5, at);
		zeros_find(c, R2, R1);
		code_jump_imm(c, BPF_JNE, R2, 0, end);
		code_store(c, 8, to->base, to->off + at, R1);
	}
	code_const(c, length, most);
	code_jump(c, done);
	code_label_place(c, end);
	end_store(gen, to, length);
	code_label_place(c, done);
	changes_check(gen, slow);
	code_move(c, R0, length);
}
