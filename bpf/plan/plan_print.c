// SPDX-License-Identifier: GPL-2.0
#include "plan_print.h"

static void flags_print(const struct plan *plan, FILE *out)
{
	const struct {
		const char *name;
		bool set;
	} flags[] = {
		{ "cookie known", plan->known },
		{ "bias known", plan->bias_known },
		{ "relocated", plan->relocated },
		{ "process kept", plan->process },
		{ "segments as of now", plan->fresh },
		{ "own addresses", plan->own },
		{ "goes on after faults", plan->go_on },
		{ "IF before preemption is off", plan->early },
		{ "brings memory in", plan->bring_in },
		{ "reads directly", plan->direct },
		{ "stacks by tables", plan->tables },
		{ "blocks are chosen", plan->chosen },
		{ "decided where the call begins", plan->decided },
		{ "entry of a whole call", plan->enters },
		{ "exit of a whole call", plan->leaves },
		{ "kept in a slot", plan->slotted },
		{ "preemption off", plan->alone },
		{ "large frame", plan->large },
		{ "data moves", plan->data_moves },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (flags[i].set)
			fprintf(out, "\t%s\n", flags[i].name);
}

static void item_print(const struct plan_item *item, uint32_t i, FILE *out)
{
	static const char *const kinds[ITEM_KINDS] = {
		[ITEM_REG] = "register", [ITEM_ABSENT] = "absent",
		[ITEM_STACK] = "stack", [ITEM_RAW] = "without prefix",
		[ITEM_PLAIN] = "memory", [ITEM_VARIABLE] = "memory up to",
		[ITEM_SUM] = "values", [ITEM_STRING] = "string",
	};

	fprintf(out, "\titem %u: %s, %u bytes, statements %u to %u", i,
		kinds[item->kind], item->limit ? item->limit : item->bytes,
		item->first, item->end - 1);
	if (item->kind == ITEM_STACK)
		fprintf(out, ", %u frames", item->depth);
	if (item->budget)
		fputs(", of what is left", out);
	if (item->faults)
		fputs(", may fault", out);
	fputc('\n', out);
}

static void read_spans_print(const struct reads *reads, FILE *out)
{
	for (int i = 0; i < reads->span_count; i++) {
		const struct read_span *span = &reads->spans[i];

		fprintf(out, "\tspan: bytes %lld to %lld",
			(long long)span->from, (long long)span->to - 1);
		if (span->dropped)
			fputs(", no room", out);
		else
			fprintf(out, ", word %d", span->word);
		fputc('\n', out);
		for (int k = 0; k < reads->count; k++)
			if (reads->reads[k].span == i)
				fprintf(out, "\t\t%u bytes at %lld, %d times\n",
					reads->reads[k].bytes,
					(long long)reads->reads[k].add,
					reads->reads[k].events);
	}
}

void plan_print(const struct plan *plan, FILE *out)
{
	static const char *const kinds[PLAN_KINDS] = {
		[PLAN_RECORD] = "record", [PLAN_CALL] = "call",
		[PLAN_STATIC] = "static tracepoint",
	};

	if (plan->begins)
		plan_print(plan->begins, out);
	fprintf(out, "%s, machine %u\n", kinds[plan->kind], plan->machine);
	flags_print(plan, out);
	fprintf(out, "\tframe: %d words for reads at once, %d bytes by way of it\n",
		plan->frame.room, plan->frame.detour);
	fprintf(out, "\tdata: %u bytes%s, context %u bytes, kept %u words\n",
		plan->budget, plan->suffices ? "" : ", too few for all items",
		plan->context_most, plan->kept_count);
	if (plan->condition)
		fputs("\tIF\n", out);
	for (uint32_t i = 0; i < plan->item_count; i++)
		item_print(&plan->items[i], i, out);
	if (plan->aggregate_count)
		fprintf(out, "\taggregates: statements %u to %u, by %u values%s\n",
			plan->aggregate_first,
			plan->aggregate_first + plan->aggregate_count - 1,
			plan->by_count, plan->silent ? ", no record" : "");
	read_spans_print(&plan->reads, out);
}
