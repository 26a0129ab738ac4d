/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of the module's code. Each part is found when a pass first asks
 * for it, and kept as long as the compilation.
 */
#ifndef TRCUST_ANALYSIS_H
#define TRCUST_ANALYSIS_H

#include "compile.h"
#include "lib/debug/module/module.h"

/* Messages that several passes print. */

/* "shop::Store::add+0x1b" for an address relative to a symbol, cut to size. */
void message_name(char *text, size_t size, const char *name, uint64_t symbol,
		  uint64_t address);
/* The same for the nominal address of a site. */
void message_site_name(const struct compile_site *site, char *text,
		       size_t size);
/* A hint: why debug information that was found is not used, or that there is
 * none. */
void message_hint_debug(const struct compilation *c);
/* A hint: where a symbol may be defined that the module only uses. */
void message_hint_imported(const struct compilation *c);
/* A variable is not available at the site, or only in part. Returns 1. */
int message_absent(const struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name, const char *why,
		   const char *hint);
/* Two declarations match the name, neither hides the other. Returns 1. */
int message_ambiguous(const struct compilation *c, struct srcpos pos,
		      const char *name, const Dwarf_Die *one,
		      const Dwarf_Die *other);
/* The site's unit has no type of this name, or no definition of it: the type of
 * another unit is used. */
void message_other_type(const struct compilation *c, struct srcpos pos,
			const char *name, const Dwarf_Die *type);

struct analysis {
	struct symbol_index symbols;
	/* the rest is for analysis.c */
	struct flow_source source;
	bool cfi_is_own;
	struct analysis_function *function;	/* the last one looked at */
	struct calls *calls;
	unsigned int runtime;	/* RUNTIME_* */
	bool runtime_known;
	struct usdt_probes usdt;
	bool usdt_known;
	struct dynamic_known *dynamic;	/* dynamic.h */
};

/* 0, -ENOMEM. Nothing is done when c->analysis is there. */
int analysis_begin(struct compilation *c);
void analysis_end(struct compilation *c);

/* How the code of functions is decoded. */
const struct flow_source *analysis_source(const struct compilation *c);
/* The function around an address: its code, valid until another function is
 * looked at, and where it is entered (may be NULL). 0; -ENOENT: the function is
 * not known; -ENOMEM. */
int analysis_flow(const struct compilation *c, uint64_t address,
		  const struct flow **flow, uint64_t *entry);
/* The block around an address. 0; -ENOENT: the function is not known, or no
 * instruction begins there; -ENOMEM. */
int analysis_block(const struct compilation *c, uint64_t address,
		   struct block *block);
/* What the function around the address may have stored in its frame: by all of
 * its code, or, where that is enough, by the block around the address that the
 * function begins with. 0, -ENOENT, -ENOMEM. */
int analysis_stores(const struct compilation *c, uint64_t address,
		    const struct block *block, const struct stores **stores);
/* The index in analysis->symbols of the first symbol at or after address. */
size_t analysis_symbol_from(const struct compilation *c, uint64_t address);
/* Which functions the function at entry may lead to. 0, -ENOMEM. */
int analysis_reach(const struct compilation *c, uint64_t entry,
		   enum calls_reach *reach);
/* Whether a call of the function at entry reads what it returns. 0, -ENOMEM. */
int analysis_use_result(const struct compilation *c, uint64_t entry, bool *used);
/* What the module's run time does to stacks: RUNTIME_*. */
unsigned int analysis_runtime(const struct compilation *c);
/* The USDT probes of the module; NULL: no memory. */
const struct usdt_probes *analysis_usdt(const struct compilation *c);

/* The address after the prologue of the function that begins at entry and ends
 * before end (0: not known), when each call reaches it exactly once; else
 * entry. */
uint64_t analysis_after_prologue(const struct compilation *c, uint64_t entry,
				 uint64_t end);
/* The address of a probe on a line whose code begins at `address`. */
uint64_t analysis_line_address(const struct compilation *c, uint64_t address);
/* A probe on the instruction is fast and safe: see choose.c. */
bool analysis_is_cheap(const struct compilation *c,
		       const struct arch_insn *insn);

/* "work+0x5" for an address. */
void analysis_name(const struct compilation *c, uint64_t address, char *text,
		   size_t size);
/* The name of the symbol at or before the address, "" without one, and the
 * distance; NULL after a message at pos: no memory. */
const char *analysis_symbol(const struct compilation *c, struct srcpos pos,
			    uint64_t address, uint64_t *distance);
/* A copy of the text that lives as long as the TSF; NULL after a message at
 * pos: no memory. */
const char *analysis_text(const struct compilation *c, struct srcpos pos,
			  const char *text, size_t length);

#endif
