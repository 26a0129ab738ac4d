/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All code of a function, decoded from its entry along its jumps. What only a
 * table or the unwinder leads to is decoded where it is found to be code.
 * Parts of it that lie elsewhere (its cold code) are added when a jump leads
 * there and they can be known as its own.
 */
#ifndef TRCUST_FLOW_H
#define TRCUST_FLOW_H

#include <elfutils/libdw.h>
#include "lib/debug/arch/arch.h"
#include "module_elf.h"

/* What is known of a byte of code. */
#define FLOW_INSN	0x01	/* an instruction begins here */
#define FLOW_INNER	0x02	/* belongs to one that began before */
#define FLOW_CLEAN	0x04	/* decoding a gap came by here */
#define FLOW_TARGET	0x08	/* jumped to, or called */
#define FLOW_SWITCH	0x10	/* labels.c: a jump that stays inside ... */
#define FLOW_LABEL	0x20	/* ... and what one of these may lead to */

struct flow_part {
	uint64_t start;
	uint32_t size;
	const uint8_t *bytes;
	uint8_t *marks;
};

/* Where the caller's frame begins: register + offset; where, from there on, the
 * address to return to is, if it is in memory. */
struct flow_frame {
	bool known;
	uint64_t reg;
	int64_t offset;
	bool has_link;
	int64_t link;
};

struct flow_lost {		/* a way that can't be followed */
	uint64_t address;
	const char *why;
};

struct flow_leaving {		/* a jump to where no part was */
	uint64_t address, target;
};

struct flow_source {
	struct module *module;
	const struct symbol_index *symbols;
	Dwarf_CFI *cfi;		/* NULL: none */
	bool landing_pads;	/* the unwinder may enter functions; in the
				 * kernel the handler of a trap (WARN_ON) */
	bool keeps_none;	/* functions give no register back as it was but
				 * the frame pointer: Go */
};

struct flow {
	struct flow_source source;
	struct flow_part *parts;
	size_t part_count;
	struct flow_lost *lost;
	size_t lost_count, lost_room;
	bool computed;		/* a computed jump was met */
	uint64_t undecoded;	/* a gap that isn't code; 0: none */
	bool held;		/* arch_insn_held() has to be asked */
	bool failed;		/* out of memory; sticks */

	/* on the way */
	uint64_t bytes;		/* of all parts */
	uint64_t gap_insns;	/* decoded to find out about gaps */
	uint64_t *todo;		/* addresses to decode from */
	size_t todo_count, todo_room;
	struct flow_leaving *leaving;
	size_t leaving_count, leaving_room;
};

/* The code in the ranges, from entry on. 0 or -ENOMEM. */
int flow_decode(struct flow *flow, const struct flow_source *source,
		uint64_t entry, const struct module_range *ranges,
		size_t range_count);
void flow_free(struct flow *flow);

/* Add an element to an array, not zeroed; NULL: flow->failed. */
void *flow_append(struct flow *flow, void *array, size_t *count, size_t *room,
		  size_t size);
/* Note a way that can't be followed, once for an address. */
void flow_lose(struct flow *flow, uint64_t address, const char *why);

struct flow_part *flow_part_find(const struct flow *flow, uint64_t address);
/* False: what is there is no instruction. One that no probe may be on
 * because of those before it is refused as others are. */
bool flow_insn(const struct flow *flow, const struct flow_part *part,
	       uint32_t at, struct arch_insn *insn);
/* Where the instruction begins that goes on at `at`; -1: none, or it isn't
 * certain. */
int64_t flow_insn_before(const struct flow *flow, const struct flow_part *part,
			 uint32_t at, struct arch_insn *insn);
/* Where the jump or call at address leads. */
uint64_t flow_target(const struct flow *flow, uint64_t address,
		     const struct arch_insn *insn);

/* The symbol is that of a part of a function, not where it is entered. */
bool flow_name_is_cold(const struct module_symbol *symbol);
struct flow_frame flow_frame_find(const struct flow *flow, uint64_t address);
/* Nothing is on the stack but the address to return to. */
bool flow_frame_is_empty(const struct flow *flow,
			 const struct flow_frame *frame);

/* The jump at `at` is a tail call of the function itself: it leads to the entry,
 * after the frame was given back. A function that makes no frame loops. */
bool flow_calls_itself(const struct flow *flow, const struct flow_part *part,
		       uint32_t at, const struct arch_insn *insn,
		       uint64_t entry);

/* Landing pads: where the unwinder enters functions (Itanium C++ ABI: Exception
 * Handling, Tables). */
struct landings {
	struct landing {
		uint64_t start;		/* of the code */
		uint64_t table;		/* address of the table of its pads */
	} *list;		/* ascending */
	size_t count, room;
	bool known;		/* they were looked for */
};

/* 0 or -ENOMEM. */
int landings_find(struct landings *landings, const struct module *module);
void landings_free(struct landings *landings);

/* Mark the landing pads of the function FLOW_TARGET. */
void landings_mark(const struct landings *landings, struct flow *flow);

#endif
