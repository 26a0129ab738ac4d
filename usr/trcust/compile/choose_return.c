// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's return probe replaces the return address on the stack with one
 * of its own, and keeps the original in a list (kernel/events/uprobes.c). The
 * program ends, or goes on wrongly, where the function is left in another way
 * than by its return, or where its frame is looked at:
 *  - an exception or an unwinder reaches the frame, and finds no function
 *    around the kernel's address: terminate() is called
 *  - the stack is changed for another one, and back: what is entered next
 *    takes the pending return for one that longjmp() has skipped, and the
 *    kernel sends SIGILL when it comes. A signal handler on a stack of its own
 *    does the same
 *  - the function reads the address, as dlsym(RTLD_NEXT, ...) does
 * And at most 64 can be pending in a thread (MAX_URETPROBE_DEPTH); the kernel
 * neither records nor reports further calls.
 *
 * Which other modules run, and what they do, isn't known here: only --site=fast
 * takes such a probe. It is not taken where the module itself shows that it
 * does any of this, or that the function may be called again before it returns.
 */
#include "choose_return.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "lib/formats/rpn.h"
#include "stmts.h"

/* Tracepoints of functions that call others: so many may be pending at once. */
#define OPEN_RETURNS_MAX	32

static const char *why_not_module(unsigned int what)
{
	if (what & RUNTIME_GO)
		return "Go looks through its stacks and moves them";
	if (what & RUNTIME_SPLITS)
		return "the stack is split";
	if (what & RUNTIME_SIGNAL_STACK)
		return "signals are handled on another stack";
	if (what & RUNTIME_UNWINDS)
		return "exceptions or the end of a thread may leave it";
	if (what & RUNTIME_SWITCHES)
		return "the program changes stacks";
	return NULL;
}

/* What it calls; *open counts return probes in functions that call others. 0 or
 * -ENOMEM. */
static int check_calls(const struct compilation *c, uint64_t entry,
		       size_t *open, const char **why)
{
	enum calls_reach reach;
	bool switches;

	if (analysis_reach(c, entry, &reach))
		return -ENOMEM;
	if (reach == CALLS_CLOSED)
		return 0;
	if (reach == CALLS_AGAIN)
		*why = "it may be called again before it returns";
	else if (reach == CALLS_UNKNOWN)
		*why = "what it calls isn't known";
	else if (*open >= OPEN_RETURNS_MAX)
		*why = "there are many of them already";
	else if (!(analysis_runtime(c) & RUNTIME_PROGRAM))
		*why = "it calls other functions, in a library";
	if (*why)
		return 0;
	if (calls_switch_stacks(c->analysis->calls, &switches))
		return -ENOMEM;
	if (switches)
		*why = "the program changes stacks";
	else
		++*open;
	return 0;
}

/* Another function begins in its code: calls of that are not recorded. */
static bool has_entries(const struct compilation *c, uint64_t entry,
			const struct flow_part *part)
{
	const struct symbol_index *index = &c->analysis->symbols;

	for (size_t i = analysis_symbol_from(c, part->start + 1);
	     i < index->count &&
	     index->symbols[i]->address - part->start < part->size; i++)
		if (index->symbols[i]->type == STT_FUNC &&
		    index->symbols[i]->address != entry)
			return true;
	return false;
}

/* The memory in the frame may have the return address: it covers the word
 * there, or where that is isn't known. Where there is a register for the
 * address, the frame pointer points to the caller's frame pointer, which the
 * address follows. */
static bool read_may_be_return(const struct arch *arch,
			       const struct arch_memory *read,
			       const struct flow_frame *frame)
{
	unsigned int word = arch->elf_class == ELFCLASS64 ? 8 : 4;
	int64_t from = read->number - word;

	if (frame->known && frame->reg == read->base) {
		if (!frame->has_link)
			return false;
		from = read->number - (frame->offset + frame->link);
	} else if (arch->link < 0) {
		return !frame->known && read->base == arch->stack;
	} else if (read->base == arch->stack) {
		return true;
	}
	return !read->bytes || (from < (int64_t)word && from + read->bytes > 0);
}

/* Does it read the address that it returns to, otherwise than to return? */
static bool reads_return(const struct flow *flow, uint64_t address,
			 const struct arch_insn *insn,
			 const struct arch_effect *effect)
{
	const struct arch *arch = flow->source.module->arch;
	unsigned int link = arch->link;
	struct flow_frame frame = {0};
	bool looked = false, restores = false;

	if (insn->flow == ARCH_FLOW_RETURN)
		return false;
	/* the register for the address may get it back, or be saved in the
	 * frame */
	for (uint8_t i = 0; arch->link >= 0 && i < effect->count; i++) {
		const struct arch_transfer *t = &effect->transfers[i];

		restores |= !t->to_memory && t->to == link;
		if (t->source == ARCH_SOURCE_REGISTER && t->reg == link &&
		    (t->to_memory ? t->memory.space != ARCH_SPACE_BASE ||
				    t->memory.base != arch->stack :
				    t->to != link))
			return true;
	}
	for (uint8_t i = 0; i < effect->read_count && !restores; i++) {
		const struct arch_memory *read = &effect->reads[i];

		if (read->space != ARCH_SPACE_BASE ||
		    (read->base != arch->stack && read->base != arch->frame))
			continue;
		if (!looked)
			frame = flow_frame_find(flow, address);
		looked = true;
		if (read_may_be_return(arch, read, &frame))
			return true;
	}
	return false;
}

static const char *why_not_insn(const struct flow *flow, uint64_t entry,
				const struct flow_part *part, uint32_t at)
{
	uint64_t address = part->start + at, target;
	struct arch_effect effect;
	struct arch_insn insn;

	if (!flow_insn(flow, part, at, &insn) ||
	    !arch_effect_find(flow->source.module->arch, part->bytes + at,
			      part->size - at, address, &effect))
		return "not all of its code is known";
	if (reads_return(flow, address, &insn, &effect))
		return "it reads the address that it returns to";
	if ((insn.flow != ARCH_FLOW_JUMP && insn.flow != ARCH_FLOW_BRANCH) ||
	    !insn.jump)
		return NULL;
	target = flow_target(flow, address, &insn);
	if (target == entry)
		return "it jumps to where it is entered";
	if (!flow_part_find(flow, target))
		return "it ends with a jump to other code";
	return NULL;
}

static const char *why_not_code(const struct compilation *c, uint64_t entry,
				const struct flow *flow)
{
	const char *why = NULL;

	if ((flow->computed && flow->undecoded) || flow->lost_count)
		return "not all of its code is known";
	for (size_t i = 0; i < flow->part_count && !why; i++) {
		const struct flow_part *part = &flow->parts[i];

		if (has_entries(c, entry, part))
			return "another function begins in it";
		for (uint32_t at = 0; at < part->size && !why; at++)
			if (part->marks[at] & FLOW_INSN)
				why = why_not_insn(flow, entry, part, at);
	}
	return why;
}

struct returning {
	const struct compilation *c;
	struct compiled *out;
	struct choose_return_state *state;
	struct compile_point *point;
	struct compile_site site;	/* the return probe */
	/* what it logs, and what the exit that is looked at does */
	struct tdf_stmt *stmts, *others;
	struct bytes rpn, others_rpn;
	const char *why;	/* a return probe is refused */
	char text[MOVE_WHY];
};

/* 1: not a return probe, why. */
static int refuse_return(struct returning *r, const char *why)
{
	r->why = why;
	return 1;
}

/* Up to the instruction the return address is where the stack pointer points,
 * or in the register for it: there the kernel looks for it. The stack pointer
 * identifies the call. */
static size_t find_reach(const struct compilation *c, const struct block *block)
{
	const struct arch *arch = c->module->arch;

	for (size_t i = 0; i < block->count; i++) {
		const struct block_insn *insn = &block->insns[i];
		struct arch_effect effect;

		if (!arch_effect_find(arch, insn->bytes, insn->insn.length,
				      insn->address, &effect) ||
		    !effect.known || insn->insn.flow == ARCH_FLOW_CALL)
			return i + 1;
		for (uint8_t j = 0; j < effect.count; j++) {
			const struct arch_transfer *t = &effect.transfers[j];

			if (!t->to_memory && (t->to == arch->stack ||
					      (int)t->to == arch->link))
				return i + 1;
		}
	}
	return block->count;
}

/* Puts the probe on the first fast instruction of those that every call
 * executes first. */
static int put_probe(struct returning *r, const struct block *block)
{
	const struct block_insn *best = NULL;
	struct compile_site *site = &r->site;
	size_t available, reach = find_reach(r->c, block);

	for (size_t i = 0; i < reach && !best; i++)
		if (analysis_is_cheap(r->c, &block->insns[i].insn))
			best = &block->insns[i];
	if (!best)
		return refuse_return(r, "no instruction that it begins with is "
					"cheap");
	*site = r->point->sites[0];
	site->address = best->address;
	site->cost = best->insn.cost;
	site->flags = TDF_SITE_RETURN;
	site->result_rpn = NULL;
	site->insn_length = best->insn.length;
	memset(site->insn, 0, sizeof(site->insn));
	memcpy(site->insn, best->bytes, best->insn.length);
	module_code(r->c->module, site->address, &available, &site->offset);
	return 0;
}

static int find_entry(struct returning *r)
{
	const struct compile_site *sites = r->point->sites;
	const struct flow *flow;
	struct block block;
	uint64_t entry;
	int code = analysis_flow(r->c, sites[0].entry, &flow, &entry);

	if (!code && entry != sites[0].entry)
		code = -ENOENT;
	for (size_t i = 0; i < r->point->site_count && !code; i++)
		if (sites[i].entry != entry ||
		    !flow_part_find(flow, sites[i].exit))
			code = -ENOENT;
	if (!code)
		code = analysis_block(r->c, entry, &block);
	if (code)
		return code == -ENOENT ?
		       refuse_return(r, "not all of its code is known") : code;
	if (block.at || !block.entry)
		code = refuse_return(r, "it jumps to where it is entered");
	else
		code = put_probe(r, &block);
	r->site.entry = entry;
	block_free(&block);
	return code;
}

static bool same_rpn(const struct bytes *a, uint32_t a_at, uint32_t a_length,
		     const struct bytes *b, uint32_t b_at, uint32_t b_length)
{
	return a_length == b_length &&
	       (!a_length || !memcmp(a->data + a_at, b->data + b_at, a_length));
}

/* The same in the record, and read in the same way. */
static bool same_stmt(const struct tdf_stmt *a, const struct bytes *a_rpn,
		      const struct tdf_stmt *b, const struct bytes *b_rpn)
{
	return a->kind == b->kind && a->flags == b->flags &&
	       a->reg == b->reg && a->reg_bytes == b->reg_bytes &&
	       a->length == b->length && a->len_bytes == b->len_bytes &&
	       same_rpn(a_rpn, a->rpn, a->rpn_length, b_rpn, b->rpn,
			b->rpn_length) &&
	       same_rpn(a_rpn, a->len_rpn, a->len_rpn_length, b_rpn,
			b->len_rpn, b->len_rpn_length);
}

/* An exit, with the code around it. */
struct leaving_exit {
	const struct compile_site *site;
	struct block block;
	struct move *move;	/* from the nominal address to after the exit */
	struct move *late;	/* the same from the exit itself */
	uint32_t plain;		/* first of the statements in which the result
				 * is what its register has at the exit */
};

static bool reads_result(const struct leaving_exit *exit,
			 const struct bytes *rpn, uint32_t at, uint32_t length)
{
	struct rpn_op op = {0};

	while (rpn_next(rpn->data + at, length, &op))
		if (op.operand == RPN_ENTRY || op.code == RPN_bregx ||
		    op.code == RPN_vector ||
		    (op.code >= RPN_breg && op.code <= RPN_breg_last &&
		     op.index != exit->site->result))
			return false;
	return op.next == length;
}

/*
 * A statement as it is available after the return. Where an instruction after
 * the nominal address sets the result, each exit has an expression of its own
 * for it; after the return the result is in its register whatever the exit.
 */
static int move_one(struct returning *r, struct leaving_exit *exit,
		    uint32_t index, struct tdf_stmt *out, struct bytes *rpn)
{
	const struct bytes *all = &r->out->rpn;
	const struct tdf_stmt *in = r->out->stmts + exit->site->first_stmt +
				    index;
	const struct tdf_stmt *plain = r->out->stmts + exit->plain + index;
	struct move *move = exit->move;
	int code;

	if (exit->late && !same_stmt(in, all, plain, all)) {
		/* of all registers it has only the one with the result */
		if (plain->kind == TDF_STMT_REG ?
			    plain->reg != exit->site->result :
			    !reads_result(exit, all, plain->rpn,
					  plain->rpn_length) ||
			    !reads_result(exit, all, plain->len_rpn,
					  plain->len_rpn_length))
			return refuse_return(r, "a value is made of the result "
						"and others");
		move = exit->late;
		in = plain;
	}
	code = move_stmt(move, in, all->data, out, rpn, r->text);
	return rpn->failed ? -ENOMEM : code;
}

static int begin_moves(struct returning *r, struct leaving_exit *exit)
{
	const struct block *block = &exit->block;
	const struct compilation *c = r->c;
	struct compile_site plain = *exit->site;
	int code;

	if (block->insns[block->count - 1].address != exit->site->exit)
		return refuse_return(r, "an exit isn't known");
	exit->move = move_begin(block, c->module, c->dwarf, MOVE_FAST,
				block->at, block->count, r->text);
	if (!exit->move)
		return *r->text ? 1 : -ENOMEM;
	if (!exit->site->result_rpn)
		return 0;
	/* when nothing is written between the nominal address and the exit,
	 * what the result points to is the same at both */
	for (size_t i = block->at; i + 1 < block->count; i++) {
		const struct block_insn *insn = &block->insns[i];
		struct arch_effect effect;

		if (!arch_effect_find(c->module->arch, insn->bytes,
				      insn->insn.length, insn->address,
				      &effect) ||
		    !effect.known || effect.write_count)
			return refuse_return(r, "memory is written after an "
						"exit");
	}
	exit->late = move_begin(block, c->module, c->dwarf, MOVE_FAST,
				block->count - 1, block->count, r->text);
	if (!exit->late)
		return *r->text ? 1 : -ENOMEM;
	/* the statements once more, the result being what its register has */
	exit->plain = r->out->stmt_count;
	plain.result_rpn = NULL;
	plain.repeated = true;
	code = stmts_compile_site(c, r->out, r->point, &plain);
	if (code < 0)
		return -ENOMEM;
	return code || plain.stmts != exit->site->stmts ?
		refuse_return(r, "its exits are not alike") : 0;
}

/* What the exit logs as it is available after its return. */
static int move_exit(struct returning *r, const struct compile_site *site,
		     struct tdf_stmt *stmts, struct bytes *rpn)
{
	size_t count = r->out->stmt_count, size = r->out->rpn.size;
	struct leaving_exit exit = { .site = site };
	int code = analysis_block(r->c, site->nominal, &exit.block);

	if (code)
		return code == -ENOENT ?
		       refuse_return(r, "an exit isn't known") : code;
	code = begin_moves(r, &exit);
	for (uint32_t i = 0; i < site->stmts && !code; i++)
		code = move_one(r, &exit, i, &stmts[i], rpn);
	if (exit.move)
		move_end(exit.move);
	if (exit.late)
		move_end(exit.late);
	block_free(&exit.block);
	r->out->stmt_count = count;
	r->out->rpn.size = size;
	return code;
}

/* After the return nothing shows which exit it was: the statements of all exits
 * must be the same. */
static int move_exits(struct returning *r)
{
	const struct compile_site *sites = r->point->sites;
	int code = move_exit(r, &sites[0], r->stmts, &r->rpn);

	for (size_t i = 1; i < r->point->site_count && !code; i++) {
		r->others_rpn.size = 0;
		code = move_exit(r, &sites[i], r->others, &r->others_rpn);
		for (uint32_t j = 0; j < sites[0].stmts && !code; j++)
			if (!same_stmt(&r->stmts[j], &r->rpn, &r->others[j],
				       &r->others_rpn))
				code = refuse_return(r, "a value is elsewhere "
							"at another exit");
	}
	return code;
}

/* Replaces the exits by the return probe. */
static int take_return(struct returning *r, size_t stmts, size_t rpn)
{
	struct compiled *out = r->out;
	struct compile_point *point = r->point;
	char source[sizeof(*out->sources)];

	r->site.symbol = analysis_symbol(r->c, point->tsf->tp.pos,
					 r->site.address,
					 &r->site.symbol_offset);
	if (!r->site.symbol)
		return -ENOMEM;
	r->site.first_stmt = stmts;
	out->stmt_count = stmts;
	out->rpn.size = rpn;
	for (uint32_t i = 0; i < r->site.stmts; i++) {
		memcpy(source, out->sources[stmts + i], sizeof(source));
		if (emit_copy(r->c, out, point->tsf->pos, &r->stmts[i],
			      r->rpn.data, source))
			return -ENOMEM;
	}
	point->sites[0] = r->site;
	point->site_count = 1;
	return out->rpn.failed ? -ENOMEM : 0;
}

/* 0: a return probe has the same values, and nothing is known that it would
 * harm; 1: why not; -ENOMEM. */
static int consider(struct returning *r)
{
	const struct compile_site *sites = r->point->sites;
	const struct tsf *tsf = r->c->tsf;
	size_t count = sites[0].stmts + 1;
	const struct flow *flow;
	uint64_t entry;
	int code;

	/* a record made after a tail call, where there is no return value yet,
	 * is another one than that of the return */
	for (size_t i = 0; i < r->point->site_count; i++) {
		if (sites[i].flags & TDF_SITE_TAIL_CALL)
			return refuse_return(r, "it ends with the call of "
						"another function");
		if (!sites[i].exit || sites[i].stmts != sites[0].stmts)
			return refuse_return(r, "its exits are not alike");
	}
	/* statements that show the frames of functions see the kernel's
	 * addresses */
	for (size_t i = 0; i < tsf->point_count; i++) {
		if ((r->state->lost && r->state->lost[i]) ||
		    !stmts_have_stack(&tsf->points[i]))
			continue;
		if (&tsf->points[i] == r->point->tsf)
			return refuse_return(r, "STACK would come to the "
						"kernel's address");
		snprintf(r->text, sizeof(r->text), "the STACK of the "
			 "tracepoint in line %u would come to the kernel's "
			 "address", tsf->points[i].pos.line);
		return 1;
	}
	r->stmts = calloc(count, sizeof(*r->stmts));
	r->others = calloc(count, sizeof(*r->others));
	if (!r->stmts || !r->others)
		return -ENOMEM;
	code = find_entry(r);
	if (!code)
		code = move_exits(r);
	if (!code)
		code = analysis_flow(r->c, r->site.entry, &flow, &entry);
	if (code)
		return code;
	/* does anything in the module show that it would harm the program? */
	r->why = module_is_relocated(r->c->module, 0, 0) ?
			 "the loader changes the code" :
			 why_not_module(analysis_runtime(r->c));
	if (!r->why)
		r->why = why_not_code(r->c, entry, flow);
	if (!r->why)
		code = check_calls(r->c, entry, &r->state->open_returns,
				   &r->why);
	return code ? code : r->why != NULL;
}

int choose_return(const struct compilation *c, struct compiled *out,
		  struct choose_return_state *state,
		  struct compile_point *point, size_t stmts, size_t rpn)
{
	struct returning r = {
		.c = c, .out = out, .state = state, .point = point,
	};
	bool slow = false;
	int code;

	/* is the choice ours, and would a return probe be faster? */
	for (size_t i = 0; i < point->site_count; i++)
		slow |= point->sites[i].cost >= TDF_COST_STEPPED;
	if (point->tsf->tp.retep != TSF_RETEP_ANY || !slow ||
	    point->tsf->tp.whole ||
	    c->mode == MOVE_NEVER || !c->module->elf ||
	    c->module->kind != TDF_MODULE_USER)
		return 0;
	code = consider(&r);
	if (!code)
		code = c->mode == MOVE_FAST ? take_return(&r, stmts, rpn) :
		       refuse_return(&r, "--site=fast takes one, as "
				     "RETEP=CALLER does: a hit is cheap, but a "
				     "program that unwinds, walks or switches "
				     "its stack may crash");
	if (code == 1) {
		point->no_return = tsf_format(c->tsf, "%s",
					      r.why ? r.why : r.text);
		code = point->no_return ? 0 : -ENOMEM;
	}
	free(r.stmts);
	free(r.others);
	bytes_free(&r.rpn);
	bytes_free(&r.others_rpn);
	return code ? diag_no_memory(c->diag, point->tsf->pos) : 0;
}
