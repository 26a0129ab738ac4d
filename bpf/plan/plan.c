// SPDX-License-Identifier: GPL-2.0
/* What a body does: decided here, before any code of it is written. */
#include "plan.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/formats/rpn.h"
#include "needs.h"

void plan_fail(struct plan *plan, int code, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (plan->error)
		return;
	plan->error = code;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_set(plan->err, code, "%s", text);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

bool plan_returned_known(const struct body_layout *layout)
{
	return layout && layout->task_utask && layout->utask_returns &&
	       layout->return_func && layout->return_stack &&
	       layout->return_chained;
}

bool plan_is_session(const struct tdf *tdf, const struct tdf_point *point,
		     const struct body_target *target)
{
	const struct tdf_site *site = tdf->sites + point->first_site;

	return target->is_return && target->context == BODY_UPROBE &&
	       point->flags & TDF_POINT_CALL &&
	       point->sites == 2 && site[0].flags == TDF_SITE_CALL &&
	       site[1].flags == TDF_SITE_RETURN &&
	       site[0].offset == site[1].offset;
}

/* Is the process that hits kept? A return probe may not know its function. */
static bool process_kept(const struct plan *plan)
{
	const struct body_target *target = plan->target;

	return target->context != BODY_KPROBE && target->processes_fd >= 0 &&
	       (target->context == BODY_TEST || target->func_ip ||
		plan_returned_known(target->layout) ||
		!(plan->site->flags & TDF_SITE_RETURN));
}

static bool unwind_possible(const struct body_target *target)
{
	const struct body_layout *layout = target->layout;
	const struct body_heap *heap = target->heap;

	return heap && target->context != BODY_KPROBE && heap->rows_fd >= 0 &&
	       heap->segments_fd >= 0 && heap->spaces_fd >= 0 &&
	       (heap->asks_fd < 0 || (layout && layout->task_mm &&
				      layout->mm_stack && layout->mm_code));
}

static bool otel_possible(const struct body_target *target)
{
	const struct body_layout *layout = target->layout;
	const struct body_heap *heap = target->heap;

	return heap && heap->spaces_fd >= 0 && heap->asks_fd >= 0 && layout &&
	       layout->task_mm && layout->mm_stack && layout->mm_code &&
	       layout->thread_base[0];
}

static uint32_t plan_stacks(const struct plan *plan)
{
	uint32_t stacks = !!(plan->target->context_mask & RAS_CONTEXT_STACK) +
			  !!plan->by_stack;

	for (uint32_t i = 0; i < plan->item_count; i++)
		stacks += plan->items[i].kind == ITEM_STACK;
	return stacks;
}

static void context_plan(struct plan *plan)
{
	const struct body_layout *layout = plan->target->layout;
	uint32_t mask = plan->target->context_mask;

	if (mask & ~RAS_CONTEXT_ALL)
		plan_fail(plan, -EINVAL, "unknown context %#x", mask);
	if (mask & RAS_CONTEXT_PPID &&
	    (!layout || !layout->task_parent || !layout->task_tgid))
		plan_fail(plan, -EOPNOTSUPP, "the parent's process id can't be "
			  "recorded: this kernel has no BTF");
	if (mask & RAS_CONTEXT_OTEL && !otel_possible(plan->target))
		plan_fail(plan, -EOPNOTSUPP, "OpenTelemetry's ids can't be "
			  "recorded: this kernel has no BTF");
	if (plan->enters)
		return;
	plan->context_most = RAS_CONTEXT_BYTES(mask);
	if (plan->leaves) {	/* when it began, how long it took, the entry */
		plan->context_most += 16 + plan->target->open_bytes;
		plan->data_moves = true;
	}
	if (mask & RAS_CONTEXT_STACK) {
		plan->context_most += STACK_ITEM_BYTES(
			plan->target->context_depth);
		plan->data_moves = true;
	}
}

/* A text has a zero after it, and a byte that says whether it was cut. */
uint32_t plan_by_bytes(const struct tdf_stmt *by)
{
	switch (by->reg) {
	case TDF_BY_TEXT:
		return (by->length + 2 + 7) & ~7u;
	case TDF_BY_STACK:
		return sizeof(struct ras_by_stack) +
		       by->length * STACK_FRAME_BYTES;
	default:
		return 8;
	}
}

uint32_t plan_aggregate_key(const struct tdf *tdf, const struct tdf_site *site)
{
	const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;
	uint32_t bytes = sizeof(struct ras_aggregate_key);

	for (__u32 i = 0; i < site->stmts; i++, stmt++)
		if (stmt->kind == TDF_STMT_BY)
			bytes += plan_by_bytes(stmt);
	return bytes;
}

/* Does the entry of the whole call log something that is for the record? */
static bool entry_logs(const struct plan *plan)
{
	const struct tdf_point *point = plan->point;
	const struct tdf_site *site = plan->tdf->sites + point->first_site;

	for (__u32 i = 0; i < point->sites; i++)
		if (site[i].flags & TDF_SITE_ENTRY)
			return site[i].stmts > 1u + point->entry_values;
	return false;
}

static void aggregates_find(struct plan *plan, uint32_t i, uint32_t end)
{
	const struct tdf_stmt *stmts = plan->tdf->stmts;

	plan->by_first = i;
	for (; i < end && stmts[i].kind == TDF_STMT_BY; i++)
		if (stmts[i].reg == TDF_BY_STACK)
			plan->by_stack = &stmts[i];
	plan->by_count = i - plan->by_first;
	plan->aggregate_first = i;
	plan->aggregate_count = end - i;
	plan->silent = i < end && !plan->item_count &&
		       !(plan->leaves && entry_logs(plan));
	plan->aggregate_key = plan_aggregate_key(plan->tdf, plan->site);
	if (plan->aggregate_key < plan->target->aggregate_key)
		plan->aggregate_key = plan->target->aggregate_key;
}

static bool stmt_aggregates(const struct tdf_stmt *stmt)
{
	return stmt->kind == TDF_STMT_BY || stmt->kind == TDF_STMT_AGGREGATE;
}

static uint32_t stmt_bytes(const struct plan *plan, uint32_t stmt)
{
	const struct body_length *length = reads_length_find(plan, stmt);

	return length ? length->most : plan->tdf->stmts[stmt].length;
}

/* The statements of items, and their sums. MORE belongs to the one before. */
static void items_find(struct plan *plan)
{
	const struct tdf_stmt *stmts = plan->tdf->stmts;
	uint32_t i = plan->site->first_stmt, end = i + plan->site->stmts;
	struct plan_item *item = plan->items;

	if (i < end && stmts[i].kind == TDF_STMT_KEY)
		plan->key = &stmts[i++];
	if (i < end && stmts[i].kind == TDF_STMT_IF)
		plan->condition = &stmts[i++];
	for (; i < end && plan->item_count < TDF_STMTS_MAX &&
	     !stmt_aggregates(&stmts[i]); item++) {
		item->first = i;
		do {
			item->bytes += stmt_bytes(plan, i++);
		} while (i < end && stmts[i].flags & TDF_STMT_MORE);
		item->end = i;
		plan->item_count++;
	}
	aggregates_find(plan, i, end);
}

static unsigned int item_uses(const struct plan *plan,
			      const struct plan_item *item)
{
	unsigned int uses = 0;

	for (uint32_t i = item->first; i < item->end; i++)
		uses |= stmt_uses_find(plan->tdf, &plan->tdf->stmts[i],
				       plan->machine);
	return uses;
}

static bool kind_has_number(int kind)
{
	return kind == TDF_STMT_MEM || kind == TDF_STMT_ASCIIZ ||
	       kind == TDF_STMT_VALUE;
}

/* Before the sizes are known: which is VARIABLE, because of the budget, isn't. */
static enum plan_item_kind item_kind_find(const struct plan *plan,
					  const struct plan_item *item,
					  const struct tdf_stmt *stmt)
{
	switch (stmt->kind) {
	case TDF_STMT_REG:
		return ITEM_REG;
	case TDF_STMT_STACK:
		return ITEM_STACK;
	case TDF_STMT_MEM: case TDF_STMT_ASCIIZ: case TDF_STMT_VALUE:
		break;
	default:
		return ITEM_ABSENT;
	}
	if (stmt->flags & TDF_STMT_RAW)
		return ITEM_RAW;
	if (stmt->kind == TDF_STMT_ASCIIZ)
		return ITEM_STRING;
	if (stmt->kind == TDF_STMT_VALUE || item->end > item->first + 1)
		return ITEM_SUM;
	return stmt->flags & TDF_STMT_LEN || reads_length_find(plan, item->first) ?
		ITEM_VARIABLE : ITEM_PLAIN;
}

static void items_know(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->item_count; i++) {
		struct plan_item *item = &plan->items[i];
		const struct tdf_stmt *stmt = &plan->tdf->stmts[item->first];
		unsigned int uses;

		item->kind = item_kind_find(plan, item, stmt);
		if (!kind_has_number(stmt->kind))
			continue;
		item->number = ++plan->numbers;
		uses = item_uses(plan, item);
		item->faults = item->kind != ITEM_SUM ||
			       stmt->kind != TDF_STMT_VALUE ||
			       item->end > item->first + 1 ||
			       uses & ~(RPN_USES_STALE | RPN_USES_BASE);
		if (!plan->fresh && uses & RPN_USES_STALE)
			item->flags = RAS_ITEM_STALE;
		if (uses & RPN_USES_VECTOR && !plan->target->vector_read &&
		    item->kind != ITEM_RAW) {
			item->kind = ITEM_ABSENT;
			item->flags = RAS_ITEM_MODULE;
		}
	}
}

/* Registers, prefixes and what has none are in every record. */
static uint32_t item_fixed_bytes(const struct plan *plan,
				 const struct plan_item *item)
{
	switch (item->kind) {
	case ITEM_REG:
		return plan->tdf->stmts[item->first].reg_bytes;
	case ITEM_RAW:
		return item->bytes;
	case ITEM_STACK:
		return STACK_ITEM_BYTES(0);
	default:
		return RAS_ITEM_PREFIX;
	}
}

/* The most that is written after an item's prefix. */
static uint32_t item_widest(const struct plan *plan,
			    const struct plan_item *item)
{
	const struct tdf_stmt *stmt = &plan->tdf->stmts[item->first];

	if (stmt->kind == TDF_STMT_STACK)
		return STACK_ITEM_BYTES(stmt->length);
	if (stmt->kind == TDF_STMT_VALUE || item->end > item->first + 1)
		return item->bytes + PLAN_VALUE_BYTES;
	if (reads_length_find(plan, item->first))	/* in words */
		return least(item->bytes, (plan->budget + 8) & ~7u);
	return least(item->bytes, plan->budget) + 2;
}

/*
 * MAXDATALENGTH less what is in every record is the budget of the other items.
 * A failing pointer comes on top of it. The sum is the verifier's: an item at
 * the end of the budget, not cut yet.
 */
static void sizes_find(struct plan *plan)
{
	uint32_t maxdata = least(plan->tdf->header->maxdata, TDF_DATA_MAX);
	uint32_t fixed = 0, widest = PLAN_FAULT_BYTES, bytes;

	if (plan->enters)
		maxdata = least(maxdata, TDF_ENTRY_DATA_MAX);
	for (uint32_t i = 0; i < plan->item_count; i++) {
		plan->items[i].fixed = fixed;
		fixed += item_fixed_bytes(plan, &plan->items[i]);
	}
	plan->budget = fixed < maxdata ? maxdata - fixed : 0;
	while (plan->spread < plan->budget +
			      (plan->go_on ? PLAN_FAULT_BYTES : 0))
		plan->spread = 2 * plan->spread + 1;
	for (uint32_t i = 0; i < plan->item_count; i++) {
		bytes = item_widest(plan, &plan->items[i]);
		if (bytes > widest)
			widest = bytes;
	}
	bytes = RAS_RECORD_HEADER + plan->context_most + fixed + plan->spread +
		RAS_ITEM_PREFIX + widest;
	plan->tables &= bytes <= UNWIND_STATE;
	plan->direct &= bytes <= PLAN_DIRECT_STATE;
	if (bytes > RAS_RECORD_MAX)
		plan_fail(plan, -E2BIG, "the record exceeds %u bytes",
			  RAS_RECORD_MAX);
}

/* How much of the budget is used at most, so far: the items whose limit may be
 * less than what is left ask for it at run time. */
static void budget_share(struct plan *plan)
{
	uint32_t used = 0, sum = 0;

	for (uint32_t i = 0; i < plan->item_count; i++) {
		struct plan_item *item = &plan->items[i];
		const struct tdf_stmt *stmt = &plan->tdf->stmts[item->first];
		uint32_t bytes = item->bytes;

		if (item->kind == ITEM_STACK) {
			item->depth = least(stmt->length, plan->budget /
					    STACK_FRAME_BYTES);
			bytes = item->depth * STACK_FRAME_BYTES;
			item->budget = used + bytes > plan->budget;
			used = least(used + bytes, plan->budget);
			sum += stmt->length * STACK_FRAME_BYTES;
		}
		if (kind_has_number(stmt->kind) && item->kind != ITEM_RAW)
			sum += bytes < PLAN_FAULT_BYTES ? PLAN_FAULT_BYTES :
			       bytes;
		if (item->kind < ITEM_PLAIN)
			continue;
		item->limit = least(bytes, plan->budget);
		item->budget = used + bytes > plan->budget ||
			       (item->kind == ITEM_STRING &&
				stmt->flags & TDF_STMT_SEGMENT);
		item->faults |= item->budget;
		if (item->budget && item->kind == ITEM_PLAIN)
			item->kind = ITEM_VARIABLE;
		if (plan->go_on && item->faults && bytes < PLAN_FAULT_BYTES)
			bytes = PLAN_FAULT_BYTES;
		used = least(used + bytes, plan->budget);
	}
	plan->suffices = sum <= plan->budget;
}

uint32_t plan_string_bytes(const struct plan *plan, const struct tdf_stmt *stmt)
{
	return least(stmt->length, plan->budget) + 2;
}

uint32_t plan_strings_bytes(const struct plan *plan)
{
	const struct tdf_stmt *stmt = plan->tdf->stmts + plan->site->first_stmt;
	uint32_t most = 0;

	for (__u32 i = 0; i < plan->site->stmts; i++, stmt++)
		if (stmt->kind == TDF_STMT_ASCIIZ &&
		    most < plan_string_bytes(plan, stmt))
			most = plan_string_bytes(plan, stmt);
	return most;
}

/* The registers, prefixes and what has none; what else an item may have */
static void entry_stmt_bytes(const struct tdf_stmt *stmt, uint32_t *fixed,
			     uint32_t *more)
{
	uint32_t bytes = stmt->length < PLAN_FAULT_BYTES ? PLAN_FAULT_BYTES :
			 stmt->length;

	if (stmt->kind == TDF_STMT_KEY || stmt->kind == TDF_STMT_IF)
		return;
	if (stmt->kind == TDF_STMT_REG) {
		*fixed += stmt->reg_bytes;
	} else if (stmt->flags & TDF_STMT_RAW) {
		*fixed += stmt->length;
	} else if (stmt->kind == TDF_STMT_STACK) {
		*fixed += STACK_ITEM_BYTES(0);
		*more += stmt->length * STACK_FRAME_BYTES;
	} else {
		*fixed += RAS_ITEM_PREFIX;
		*more += bytes;
	}
}

static uint32_t entry_bytes(const struct tdf *tdf, const struct tdf_site *site)
{
	const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;
	uint32_t maxdata = least(tdf->header->maxdata, TDF_ENTRY_DATA_MAX);
	uint32_t fixed = 0, more = 0;

	for (__u32 i = 0; i < site->stmts; i++, stmt++)
		entry_stmt_bytes(stmt, &fixed, &more);
	more = least(more, fixed < maxdata ? maxdata - fixed : 0);
	return (fixed + more + 2 * PLAN_FAULT_BYTES - 1) & -PLAN_FAULT_BYTES;
}

uint32_t plan_open_bytes(const struct tdf *tdf, const bool *picked)
{
	uint32_t most = 0;

	for (__u32 i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];

		for (__u32 k = 0; picked[i] && k < point->sites; k++) {
			const struct tdf_site *site =
				&tdf->sites[point->first_site + k];
			uint32_t bytes = RAS_RECORD_HEADER;

			if (!(site->flags & TDF_SITE_ENTRY))
				continue;
			bytes += entry_bytes(tdf, site);
			if (bytes > most)
				most = bytes;
		}
	}
	return most;
}

static void plan_kept_find(struct plan *plan)
{
	const struct tdf_stmt *stmt = plan->tdf->stmts + plan->site->first_stmt;

	for (__u32 i = 0; i < plan->site->stmts; i++, stmt++)
		if (stmt->kind == TDF_STMT_VALUE &&
		    stmt->reg > plan->kept_count)
			plan->kept_count = stmt->reg;
}

/* What can't be done here is refused. */
static void uses_find(struct plan *plan)
{
	const struct body_target *target = plan->target;
	const struct tdf_site *site = plan->site;
	unsigned int uses = site_uses_find(plan->tdf, site, plan->machine);
	bool reads = site_reads(plan->tdf, site);

	plan->relocated = uses & RPN_USES_ADDR;
	plan->cputime = plan->point->flags & TDF_POINT_WHOLE &&
			point_has_cputime(plan->tdf, plan->point);
	if (plan->cputime && (!target->layout || !target->layout->task_waits ||
			      !target->layout->task_yields))
		plan_fail(plan, -EOPNOTSUPP, "the CPU time of calls isn't known: "
			  "this kernel has no BTF");
	plan->fresh = uses & (RPN_USES_STALE | RPN_USES_LATE) &&
		      target->segments_save && target->context == BODY_UPROBE;
	plan->own = reads && target->context == BODY_KPROBE;
	/* what a call's return has to do with its beginning is on no second way */
	plan->bring_in = reads && target->bring_in && target->layout &&
			 target->layout->vma &&
			 target->context != BODY_KPROBE &&
			 !(plan->point->flags & TDF_POINT_CALL);
	if (plan->relocated && site->flags & TDF_SITE_RETURN &&
	    target->context == BODY_UPROBE && !target->func_ip &&
	    !plan_returned_known(target->layout))
		plan_fail(plan, -EOPNOTSUPP,
			  "static data can't be read at a return probe: this "
			  "kernel doesn't report which function returns");
}

/* Calls of which no entry can fail, and all log as many bytes: these are written
 * where they stay. */
static bool slots_possible(const struct plan *plan)
{
	const struct tdf *tdf = plan->tdf;
	const struct tdf_site *site = tdf->sites + plan->point->first_site;
	const unsigned int fails = RPN_USES_MEMORY | RPN_USES_RAISES |
				   RPN_USES_XDEREF | RPN_USES_VECTOR;

	for (__u32 i = 0; i < plan->point->sites; i++) {
		if (!(site[i].flags & TDF_SITE_ENTRY))
			continue;
		if (site_uses_find(tdf, &site[i], plan->machine) & fails)
			return false;
		for (__u32 k = 0; k < site[i].stmts; k++) {
			__u16 kind = tdf->stmts[site[i].first_stmt + k].kind;

			if (kind != TDF_STMT_KEY && kind != TDF_STMT_REG &&
			    kind != TDF_STMT_VALUE && kind != TDF_STMT_ABSENT)
				return false;
		}
	}
	/* in the kernel a thread may have the id 0 */
	return plan->target->slots && !plan->maxhits &&
	       plan->target->context != BODY_KPROBE;
}

/* Each read is more code than a call. */
static bool direct_possible(const struct plan *plan)
{
	const struct body_target *target = plan->target;
	unsigned int calls = TDF_POINT_CALL | TDF_POINT_RELEASE;

	return target->direct && target->layout &&
	       target->context != BODY_KPROBE &&
	       !(plan->point->flags & calls) &&
	       plan->item_count <= PLAN_DIRECT_ITEMS &&
	       (site_reads(plan->tdf, plan->site) ||
		plan_stacks(plan) > !!plan->by_stack);
}

/* Does it need more of the frame than a few words in any case? */
static void large_find(struct plan *plan)
{
	plan->large = plan_stacks(plan) || !plan->early;
}

static void cookie_plan(struct plan *plan)
{
	plan->known = plan->target->single;
	plan->bias_known = plan->known &&
			   plan->target->context == BODY_UPROBE &&
			   !(plan->site->flags & TDF_SITE_RETURN);
}

static void plan_begin(struct plan *plan, const struct body_target *target,
		       uint16_t machine, struct error *err)
{
	memset(plan, 0, sizeof(*plan));
	plan->target = target;
	plan->err = err;
	plan->machine = machine;
	plan->cpu = processor_find(machine);
	if (err)
		err->text[0] = err->hint[0] = '\0';
}

int plan_make(struct plan *plan, const struct tdf *tdf,
	      const struct tdf_point *point, const struct tdf_site *site,
	      const struct body_target *target, struct error *err)
{
	const struct tdf_module *module = &tdf->modules[point->module];
	bool calls = point->flags & (TDF_POINT_CALL | TDF_POINT_RELEASE);

	plan_begin(plan, target, module->machine, err);
	plan->tdf = tdf;
	plan->point = point;
	plan->site = site;
	plan->maxhits = point->maxhits;
	if (target->max_hits &&
	    (!plan->maxhits || plan->maxhits > target->max_hits))
		plan->maxhits = target->max_hits;
	if (!plan->cpu) {
		plan_fail(plan, -ENOSYS, "registers of machine %u are not known",
			  module->machine);
		return plan->error;
	}
	plan->kind = site->flags & TDF_SITE_CALL ? PLAN_CALL : PLAN_RECORD;
	plan->flat32 = module->elf_class == ELFCLASS32;
	plan->go_on = point->flags & TDF_POINT_CONTINUE;
	plan->early = !calls;
	plan->enters = site->flags & TDF_SITE_ENTRY;
	plan->leaves = point->flags & TDF_POINT_WHOLE && !plan->enters;
	plan->slotted = point->flags & TDF_POINT_WHOLE && slots_possible(plan);
	plan->process = !plan->enters && process_kept(plan);
	plan->session = plan_is_session(tdf, point, target);
	plan->chosen = calls && target->heap && target->heap->blocks_fd >= 0;
	plan->decided = plan->session && plan->chosen &&
			point->flags & TDF_POINT_LEAF;
	cookie_plan(plan);
	context_plan(plan);
	uses_find(plan);
	plan_kept_find(plan);
	items_find(plan);
	items_know(plan);
	plan->process &= !plan->silent || plan->by_stack;
	plan->tables = unwind_possible(target) &&
		       plan_stacks(plan) * (1 + plan->bring_in) <= BODY_UNWINDS;
	if (plan->silent && target->trigger)
		plan_fail(plan, -EINVAL, "a tracepoint with aggregates and no "
			  "data makes no record, and can't be a trigger");
	plan->direct = direct_possible(plan);
	sizes_find(plan);
	budget_share(plan);
	large_find(plan);
	return plan->error;
}

int plan_make_static(struct plan *plan, uint16_t machine, int majors_fd,
		     const struct body_target *target, struct error *err)
{
	/* A tracepoint without statements, at a function's first instruction: a
	 * frame hasn't been built yet. */
	static const struct tdf no_tdf;
	static const struct tdf_point no_point;
	static const struct tdf_site no_site = { .symbol = 1 };

	plan_begin(plan, target, machine, err);
	plan->tdf = &no_tdf;
	plan->point = &no_point;
	plan->site = &no_site;
	plan->kind = PLAN_STATIC;
	plan->majors_fd = majors_fd;
	if (!plan->cpu) {
		plan_fail(plan, -EOPNOTSUPP, "unknown machine %u", machine);
		return plan->error;
	}
	plan->flat32 = machine == EM_386;
	plan->process = target->processes_fd >= 0;
	plan->bring_in = target->bring_in && target->layout &&
			 target->layout->vma;
	plan->tables = unwind_possible(target);
	plan->items[0] = (struct plan_item){ .number = 1, .faults = true };
	plan->numbers = 1;
	context_plan(plan);
	if (RAS_RECORD_HEADER + plan->context_most + RAS_STATIC_DATA_MAX >
	    RAS_RECORD_MAX)
		plan_fail(plan, -E2BIG, "the record exceeds %u bytes",
			  RAS_RECORD_MAX);
	return plan->error;
}

void plan_frame_set(struct plan *plan, const struct plan_frame *frame)
{
	plan->frame = *frame;
	if (plan->begins)
		plan_frame_set(plan->begins, frame);
	plan->alone = frame->alone && plan->target->preempt_disable &&
		      plan->target->preempt_enable;
	reads_plan(plan, frame->room);
}
