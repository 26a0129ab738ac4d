/* SPDX-License-Identifier: GPL-2.0 */
/* Names of numbers in TDFs and in the buffer: stable, for
 * programs that read our output. */
#ifndef LIB_NAMES_H
#define LIB_NAMES_H

#include <stdbool.h>
#include <stdint.h>

extern const char *const names_cost[];		/* TDF_COST_* */
extern const char *const names_filtered[];	/* RAS_FILTERED_*; NULL: not in
						 * use */
extern const char *const names_fault[];		/* RAS_FAULT_* */
extern const char *const names_reads[];		/* RAS_READS_*; NULL: memory of
						 * processes isn't read */
extern const char *const names_aggregate[];	/* TDF_AGGREGATE_* */
extern const char *const names_stack_end[];	/* RAS_STACK_* */
extern const char *const names_by[];		/* TDF_BY_* */
extern const char *const names_context[];	/* RAS_CONTEXT_* by bit, "" of one
						 * that is not asked for; ends with
						 * NULL */

/* RAS_POINT_*, RAS_TRIGGER_*; "unknown" for what is none. */
const char *names_point_state(uint16_t state);
const char *names_trigger_state(uint64_t state);
/* Why a stack has no more frames, for people: "(stopped: no frame pointer)", at most
 * 64 characters. */
const char *names_stack_stopped(uint8_t end);

/*
 * What a hit is expected to cost, by the instruction under the probe. The times
 * were measured on several machines and are rough; their ratios hold.
 */

#define COST_TEXT	24	/* bytes of a text */

/* ns at a site with this TDF_COST_* and these TDF_SITE_*; 0: not known. */
unsigned int cost_expect(uint8_t cost, uint8_t flags);
/* "about 200 ns", "about 2.5 us"; false, and empty: not known. */
bool cost_print(char *text, uint8_t cost, uint8_t flags);

#endif
