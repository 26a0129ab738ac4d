// SPDX-License-Identifier: GPL-2.0
/*
 * Whole calls: an exit's record has what the entry of the very same call logged;
 * every entry is recorded, filtered, dropped, replaced, or still there.
 */
#include <bpf/bpf.h>
#include "bed.h"
#include "bpf/plan/plan.h"

#define RAX	0	/* DWARF numbers */
#define RSI	4
#define RDI	5
#define RSP	7
#define DEEP	0x7ffd00001000ULL	/* a frame */
#define ENTRY_STMTS	8
#define MOST	4			/* calls that may be open */

static struct bed bed;
static struct tdf_site sites[2];
static int entry, leave;

/* Which of them a call is: what IF compares with, what is logged */
static void hit(int prog, uint64_t frame, uint64_t rdi, uint64_t rsi,
		uint64_t rax)
{
	bed.input.cookie = RAS_COOKIE(1, 0, prog == leave);
	bed.input.regs.rsp = prog == leave ? frame - 8 : frame;
	bed.input.regs.rdi = rdi;
	bed.input.regs.rsi = rsi;
	bed.input.regs.rax = rax;
	bed_input(&bed);
	bed_run(prog);
}

/* `reads`: what the exit uses of the entry is memory, and there is no IF; slots: the
 * entry reads none, and calls may have one of so many. */
static void programs_make(int flags, bool reads, unsigned int slots)
{
	bed_clear(&bed);
	bed.point.flags = TDF_POINT_WHOLE | flags;
	bed.tdf.sites = sites;
	bed_entry(&bed, reads);
	if (!slots)
		bed_memory(&bed, TDF_STMT_ASCIIZ, 20, RPN(OP_breg + RSI, 0));
	sites[0] = bed.site;
	bed.target.open_bytes = plan_open_bytes(&bed.tdf, &(bool){ true });
	bed.target.open_fd = bed_hash("open", BPF_MAP_TYPE_HASH,
				      sizeof(struct ras_open_key),
				      bed.target.open_bytes, MOST);
	bed.target.slots = slots;
	if (slots)
		bed.target.slots_fd = bed_map("slots", RAS_OPEN_SLOT_BYTES(
						bed.target.open_bytes), slots);
	entry = bed_load(&bed);
	if (entry < 0)
		tap_bail("entry: %s", bed.log);
	/* the exit's take their place */
	memcpy(bed.stmts + ENTRY_STMTS, bed.stmts,
	       bed.site.stmts * sizeof(*bed.stmts));
	sites[0].first_stmt = ENTRY_STMTS;
	bed.site = (struct tdf_site){ 0 };
	bed_stmt(&bed, TDF_STMT_KEY, 0, 0, RPN(OP_breg + RSP, 8));
	if (bed.target.bring_in)
		bed_stmt(&bed, TDF_STMT_IF, 0, 0,
			 RPN(OP_breg + RAX, 0, OP_deref));
	else if (!reads)
		bed_stmt(&bed, TDF_STMT_IF, 0, 0,
			 RPN(OP_at_entry, 0, OP_breg + RAX, 0, OP_ne,
			     OP_elapsed, OP_lit, OP_ne, OP_and));
	bed_stmt(&bed, TDF_STMT_VALUE, 0, 8, RPN(OP_breg + RAX, 0));
	leave = bed_load(&bed);
	if (leave < 0)
		tap_bail("exit: %s", bed.log);
}

static int open_calls(void)
{
	uint8_t value[RAS_OPEN_SLOT_BYTES(bed.target.open_bytes)];
	struct ras_open_key key, next;
	struct ras_open_slot slot;
	int count = 0;

	while (!bpf_map_get_next_key(bed.target.open_fd, count ? &key : NULL,
				     &next)) {
		key = next;
		count++;
	}
	for (uint32_t i = 0; i < bed.target.slots; i++) {
		bpf_map_lookup_elem(bed.target.slots_fd, &i, value);
		memcpy(&slot, value, sizeof(slot));
		count += slot.owner != 0;
	}
	return count;
}

struct account {
	uint64_t recorded, filtered, dropped, never_returned, no_entry;
	int open;
};

static struct account account_take(void)
{
	const struct ras_why *why = bed_why(&bed, 0);
	const struct ras_count *count = bed_count(&bed, 0, 0);

	return (struct account){
		count->recorded, bed_filtered(why), count->dropped,
		why->never_returned, why->no_entry, open_calls(),
	};
}

/* What the hits since `before` did is what the row says. */
static void account_is(const struct account *before, const struct account *more,
		       const char *name)
{
	struct account now = account_take();
	bool same = now.recorded == before->recorded + more->recorded &&
		    now.filtered == before->filtered + more->filtered &&
		    now.dropped == before->dropped + more->dropped &&
		    now.never_returned == before->never_returned +
					  more->never_returned &&
		    now.no_entry == before->no_entry + more->no_entry &&
		    now.open == before->open + more->open;

	tap_ok(same && !bed_slice(&bed)->lock,
	       "%s: %d recorded, %d filtered, %d dropped, %d replaced, %d "
	       "without an entry, %d open", name,
	       (int)(now.recorded - before->recorded),
	       (int)(now.filtered - before->filtered),
	       (int)(now.dropped - before->dropped),
	       (int)(now.never_returned - before->never_returned),
	       (int)(now.no_entry - before->no_entry),
	       now.open - before->open);
}

/* The data of the last record: what was logged at both ends. */
static void record_is(uint64_t position, uint64_t logged, uint64_t result,
		      const char *name)
{
	const struct ras_record *r = bed_record(&bed, position);
	const uint8_t *data = (const uint8_t *)(r + 1);
	uint64_t began, elapsed, first, last;
	struct ras_item text;
	size_t after;

	memcpy(&began, data, 8);
	memcpy(&elapsed, data + 8, 8);
	memcpy(&first, data + 16 + RAS_ITEM_PREFIX, 8);
	memcpy(&text, data + 27, sizeof(text));
	after = 27 + RAS_ITEM_PREFIX + text.length + RAS_ITEM_PREFIX;
	memcpy(&last, data + after, 8);
	tap_ok(r->flags & RAS_RECORD_WHOLE && first == logged &&
	       last == result && began && elapsed &&
	       began + elapsed <= r->time &&
	       r->length == RAS_RECORD_HEADER + after + 8,
	       "%s: %llu at the entry, %llu at the exit", name,
	       (unsigned long long)first, (unsigned long long)last);
}

static void check_calls(void)
{
	static const char text[] = "seventeen";
	struct account a = account_take();
	uint64_t head = bed_slice(&bed)->head, logged = (uintptr_t)text;

	hit(entry, DEEP, 7, logged, 0);
	account_is(&a, &(struct account){ .open = 1 }, "an entry");
	tap_is(bed_slice(&bed)->head, head, "it takes no room");
	hit(leave, DEEP, 0, 0, 7);
	account_is(&a, &(struct account){ .filtered = 1 }, "IF is 0");
	hit(entry, DEEP, 7, logged, 0);
	hit(leave, DEEP, 0, 0, 9);
	account_is(&a, &(struct account){ .filtered = 1, .recorded = 1 },
		   "IF holds");
	record_is(head, logged, 9, "the record");

	a = account_take();
	hit(leave, DEEP, 0, 0, 9);
	account_is(&a, &(struct account){ .no_entry = 1 }, "only an exit");
	a = account_take();
	head = bed_slice(&bed)->head;
	hit(entry, DEEP, 7, 0, 0);
	hit(entry, DEEP, 7, logged, 0);
	hit(leave, DEEP, 0, 0, 1);
	account_is(&a, &(struct account){ .never_returned = 1, .recorded = 1 },
		   "a call that was left");
	record_is(head, logged, 1, "its successor's values");

	a = account_take();
	for (uint64_t i = 0; i < MOST; i++)
		hit(entry, DEEP - 64 * i, i, logged + i, 0);
	for (uint64_t i = MOST; i--;) {
		head = bed_slice(&bed)->head;
		hit(leave, DEEP - 64 * i, 0, 0, 100 + i);
		record_is(head, logged + i, 100 + i, "calls inside each other");
	}
	account_is(&a, &(struct account){ .recorded = MOST }, "recursion");
}

static void slices_lock(bool locked)
{
	bed_slice(&bed)->lock = locked;
	for (int level = 1; level <= RAS_NEST_LEVELS; level++)
		bed_nest(&bed, level)->lock = locked;
}

static void check_losses(void)
{
	struct account a = account_take();

	for (uint64_t i = 0; i <= MOST; i++)
		hit(entry, DEEP - 64 * i, i, 0, 0);
	account_is(&a, &(struct account){ .dropped = 1, .open = MOST },
		   "more than the map takes");
	hit(entry, DEEP, 5, 0, 0);
	account_is(&a, &(struct account){ .dropped = 1, .open = MOST,
					  .never_returned = 1 },
		   "one of them anew");

	a = account_take();
	bed_state(&bed, RAS_STATE_SUSPENDED);
	hit(leave, DEEP, 0, 0, 5);
	account_is(&a, &(struct account){ .filtered = 1, .open = -1 },
		   "suspended, an exit");
	hit(leave, DEEP, 0, 0, 5);
	hit(entry, DEEP - 64, 1, 0, 0);
	account_is(&a, &(struct account){ .filtered = 2, .open = -2,
					  .never_returned = 1 },
		   "suspended, an entry: what is there goes away");
	bed_state(&bed, RAS_STATE_ON);
	hit(leave, DEEP - 64, 0, 0, 5);
	account_is(&a, &(struct account){ .filtered = 2, .open = -2,
					  .never_returned = 1, .no_entry = 1 },
		   "no exit finds it");

	a = account_take();
	slices_lock(true);
	hit(entry, DEEP, 5, 0, 0);
	hit(leave, DEEP - 128, 0, 0, 77);
	slices_lock(false);
	account_is(&a, &(struct account){ .dropped = 2, .open = -1 },
		   "all slices are busy");

	a = account_take();
	hit(entry, DEEP, 5, 0, 0);
	slices_lock(true);
	hit(entry, DEEP, 6, 0, 0);
	slices_lock(false);
	hit(leave, DEEP, 0, 0, 77);
	account_is(&a, &(struct account){ .dropped = 1, .never_returned = 1,
					  .no_entry = 1 },
		   "an entry that is dropped leaves no earlier one");
}

/* The entry ends at the pointer that can't be read; an exit adds nothing. */
static void check_fault(void)
{
	uint64_t head = bed_slice(&bed)->head;
	const struct ras_record *r = bed_record(&bed, head);

	hit(entry, DEEP, 5, 1, 0);
	hit(leave, DEEP, 0, 0, 6);
	tap_ok(r->flags & RAS_RECORD_FAULT && r->flags & RAS_RECORD_WHOLE &&
	       r->length == RAS_RECORD_HEADER + 16 + 11 + 11,
	       "a fault at the entry ends the record: %u bytes", r->length);
}

/* A value of the entry that can't be read ends it with ONFAULT=CONTINUE, too: there
 * is nothing before which the exit's items could go. */
static void check_value_fault(int flags, const char *name)
{
	const struct ras_record *r;

	programs_make(flags, true, 0);
	r = bed_record(&bed, bed_slice(&bed)->head);
	hit(entry, DEEP, 1, 0, 0);
	hit(leave, DEEP, 0, 0, 6);
	tap_ok(r->flags & RAS_RECORD_FAULT && r->flags & RAS_RECORD_WHOLE &&
	       r->length == RAS_RECORD_HEADER + 16,
	       "an unreadable value of the entry, %s: %u bytes, flags %#x",
	       name, r->length, r->flags);
}

/* Of a call in a slot and of one that isn't the exit finds what its entry logged. */
static void slot_call(uint64_t frame, uint64_t value)
{
	const struct ras_record *r = bed_record(&bed, bed_slice(&bed)->head);
	uint64_t first, last;

	hit(leave, frame, 0, 0, value);
	memcpy(&first, (const uint8_t *)(r + 1) + 16 + RAS_ITEM_PREFIX, 8);
	memcpy(&last, (const uint8_t *)(r + 1) + 27 + RAS_ITEM_PREFIX, 8);
	tap_ok(first == frame && last == value, "a call of a frame: %#llx, %llu",
	       (unsigned long long)first, (unsigned long long)last);
}

static void check_slots(void)
{
	struct account a;

	programs_make(0, false, 1);
	a = account_take();
	for (uint64_t i = 0; i <= MOST + 1; i++)
		hit(entry, DEEP - 64 * i, i, DEEP - 64 * i, 0);
	account_is(&a, &(struct account){ .open = MOST + 1, .dropped = 1 },
		   "more than slots and map take");
	a = account_take();
	for (uint64_t i = 0; i <= MOST; i++)
		slot_call(DEEP - 64 * i, 100 + i);
	account_is(&a, &(struct account){ .open = -MOST - 1,
					  .recorded = MOST + 1 },
		   "each was kept in its own place");

	a = account_take();
	hit(entry, DEEP, 7, DEEP, 0);
	hit(entry, DEEP, 8, DEEP, 0);
	hit(leave, DEEP, 0, 0, 8);
	account_is(&a, &(struct account){ .never_returned = 1, .filtered = 1 },
		   "a slot's call that was left; IF is 0");

	a = account_take();
	hit(entry, DEEP, 7, DEEP, 0);
	hit(entry, DEEP - 64, 7, DEEP - 64, 0);
	slot_call(DEEP, 9);
	hit(entry, DEEP - 64, 7, DEEP - 64, 0);
	account_is(&a, &(struct account){ .recorded = 1, .open = 2 },
		   "one that was left is not in the slot");
	bed_state(&bed, RAS_STATE_SUSPENDED);
	hit(entry, DEEP - 64, 7, DEEP - 64, 0);
	bed_state(&bed, RAS_STATE_ON);
	hit(leave, DEEP - 64, 0, 0, 5);
	account_is(&a, &(struct account){ .recorded = 1, .filtered = 1,
					  .never_returned = 2, .no_entry = 1 },
		   "an entry that keeps nothing leaves neither");
}

/* An IF that reads memory, which may be absent: the exit waits for it. */
static void check_absent(void)
{
	bed.target.context = BODY_UPROBE;
	bed.target.bring_in = bed.layout.vma;
	for (unsigned int slots = 0; slots <= 64; slots += 64) {
		programs_make(0, false, slots);
		tap_ok(true, "an exit that waits: %u slots", slots);
		close(entry);
		close(leave);
	}
}

/* The record's context is that of the exit; what the entry keeps has none. */
static void check_context(void)
{
	static const char text[] = "x";
	const struct ras_record *r;
	uint64_t first;

	bed.target.context_mask = RAS_CONTEXT_UID | RAS_CONTEXT_CGROUP;
	programs_make(0, false, 0);
	r = bed_record(&bed, bed_slice(&bed)->head);
	hit(entry, DEEP, 7, (uintptr_t)text, 0);
	hit(leave, DEEP, 0, 0, 9);
	memcpy(&first, (const uint8_t *)(r + 1) +
		       RAS_CONTEXT_BYTES(bed.target.context_mask) + 16 +
		       RAS_ITEM_PREFIX, 8);
	tap_is(first, (uintptr_t)text, "what the entry logged, after a context");
	bed.target.context_mask = 0;
}

int main(void)
{
	bed_open(&bed, BODY_TEST);
	programs_make(0, false, 0);
	check_calls();
	check_losses();
	check_fault();
	check_value_fault(0, "STOP");
	check_value_fault(TDF_POINT_CONTINUE, "CONTINUE");
	check_slots();
	check_context();
	check_absent();
	return tap_done();
}
