/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that find the sites of a tracepoint: site.c (what all
 * have in common), site_symbol.c (.name), site_line.c (@file,line),
 * site_exit.c (RETEP), site_usdt.c (@USDT), site_check.c (what may stand
 * there), site_flow.c (the code around them).
 */
#ifndef TRCUST_SITE_H
#define TRCUST_SITE_H

#include "compile.h"
#include "exits.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"

/* What lasts from one tracepoint to the next. */
struct site_state {
	void *addresses;	/* tree of the nominal addresses */
	void *names;		/* tree of texts that sites refer to */
	struct symbol_index symbols;
	struct flow_source flow;	/* made when first needed */
	bool cfi_is_own;
	struct site_function *function;	/* the last one looked at */
	struct calls *calls;	/* made when first needed */
	unsigned int runtime;	/* RUNTIME_* */
	bool runtime_known;
	size_t open_returns;	/* return probes in functions that call others,
				 * chosen by choose_return.c */
	struct site_result *results;	/* of return points */
	struct usdt_probes usdt;
	bool usdt_known;
};

/* A candidate for a site. */
struct site_place {
	uint64_t address;
	uint64_t named;		/* as in compile_site; 0: the address */
	const char *symbol;	/* NULL: the nearest one */
	uint64_t base;		/* address of the symbol */
	uint64_t end;		/* of the function; 0 unknown */
	uint8_t flags;		/* TDF_SITE_* */
	bool function;		/* a function begins here: its prologue may be
				 * skipped */
	struct dwarf_from from;	/* its pc is the address */
	bool claimed;		/* the debug information or a note says that
				 * an instruction begins here */
	bool decoded;		/* one does: the way there was decoded */
	uint64_t semaphore;	/* USDT: address */
	const char *arguments;
	uint64_t entry, exit;	/* of a return point, as in compile_site */
	const struct bytes *result_rpn;
};

struct site_places {
	struct site_place *list;
	size_t count, room;
};

/* site.c; NULL: no memory, which was told. */
struct site_place *site_place_add(struct compilation *c,
				  const struct tsf_point *point,
				  struct site_places *places, uint64_t address);
/* A copy that lives as long as the compilation. */
const char *site_text(struct compilation *c, const struct tsf_point *point,
		      const char *text, size_t length);
/* Name of what is at address, "work+0x5". */
void site_name_at(struct compilation *c, uint64_t address, char *text,
		  size_t size);
bool site_tp_has_offset(const struct tsf_tp *tp);

/* Number of the section that has the address, "?" when none has. */
void site_section_number(struct compilation *c, uint64_t address, char *text,
			 size_t size);

/* site_flow.c: what code of the module is decoded by. */
const struct flow_source *site_flow_source(struct compilation *c);
/* The block around an address. 0; -ENOENT: what function it is in, or that an
 * instruction begins there, isn't known; -ENOMEM. */
int site_block_find(struct compilation *c, uint64_t address,
		    struct block *block);
/* The function around an address: its code, until another one is looked at.
 * 0, -ENOENT, -ENOMEM as above. */
int site_flow_find(struct compilation *c, uint64_t address,
		   const struct flow **flow, uint64_t *entry);
/* What the function around the address may have stored in its frame: of all of
 * its code, or, where that is enough, of the block around the address that it
 * begins with. 0, -ENOENT, -ENOMEM. */
int site_stores_find(struct compilation *c, uint64_t address,
		     const struct block *block, const struct stores **stores);
void site_flow_forget(struct site_state *state);

/* What the module's run time does to stacks: RUNTIME_*. */
unsigned int site_runtime(struct compilation *c);

/* site_check.c: can a probe stand there? Fills the site. With `several` a
 * place that can't have one is told by a warning: SITE_LEFT_OUT. */
#define SITE_LEFT_OUT	2
int site_check(struct compilation *c, const struct tsf_point *point,
	       const struct site_place *place, bool several,
	       struct compile_site *site);
/* False: the segment will have no probe, which was told. */
bool site_check_page(struct compilation *c, const struct tsf_point *point,
		     const struct compile_site *site);

/*
 * Those that find places; 0, 1, -1 as in compile.h.
 */

/* site_symbol.c: the function, label or inlined copies that the name means. */
int site_symbol_find(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places);
/* What the debug information has of that name, inlined copies, too. 0, the
 * caller frees it; -ENOMEM. */
int site_symbol_functions(struct compilation *c, const struct tsf_point *point,
			  struct dwarf_functions *found);
/* ... and where a tracepoint stands there. */
int site_symbol_places(struct compilation *c, const struct tsf_point *point,
		       struct site_places *places);
/* Behind the prologue of the function that begins at entry and ends before
 * end (0 unknown), when each call comes there once; else entry. */
uint64_t site_behind_prologue(struct compilation *c, uint64_t entry,
			      uint64_t end);
/* Where a probe on a line stands whose first address this is. */
uint64_t site_line_address(struct compilation *c, uint64_t address);

int site_line_places(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places);
int site_exit_places(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places);
void site_exit_forget(struct site_state *state);
int site_usdt_places(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places);

#endif
