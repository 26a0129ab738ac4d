/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the tree of a TSF to what TDF and TFF hold. Tracepoints are taken in
 * the order of the file; one with an error leaves nothing.
 *
 * Functions that compile a part return 0; 1 after an error was told (the
 * tracepoint is discarded); -1 after a fatal or severe one. Those for one site
 * return COMPILE_LEAVE_OUT as well, after a warning: a name has a meaning at
 * other sites only.
 */
#ifndef TRCUST_COMPILE_H
#define TRCUST_COMPILE_H

#include <rastrace/tdf.h>
#include "lib/formats/bytes.h"
#include "ctype.h"
#include "trcust/tsf/diag.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "move.h"
#include "trcust/tsf/tsf.h"

#define COMPILE_LEAVE_OUT	2

struct dwarf_variable;		/* ../dwarf/dwarf_variable.h */
struct map;			/* map.h */

struct compile_site {
	const char *symbol;
	uint64_t symbol_offset;	/* of address, from the symbol */
	uint64_t offset;	/* as in struct tdf_site */
	uint64_t address, nominal;
	uint64_t named;		/* what the TP means: of a line that begins a
				 * function, in front of the nominal one */
	uint64_t semaphore;
	uint8_t flags;		/* TDF_SITE_* */
	uint8_t cost;
	uint8_t insn_length;
	uint8_t insn[TDF_INSN_MAX];
	const char *arguments;	/* USDT: of the note, "8@%rdi -4@$5"; NULL */
	uint64_t entry;		/* of the function around it; 0 not known */
	uint64_t exit;		/* of a return point: the instruction that
				 * leaves; 0: none */
	/* of a return point: what the register `result` has at the exit, in
	 * terms of the nominal address, where an instruction between sets it */
	unsigned int result;	/* DWARF number */
	const struct bytes *result_rpn;	/* NULL: what it has already */
	char *stays;		/* why it has no cheaper place: "RIP is logged";
				 * NULL */
	bool alone;		/* the only one of its tracepoint */
	struct dwarf_from from;	/* where names are looked up: at the nominal
				 * address */
	uint32_t first_stmt, stmts;
};

/* What a statement of the TSF logs, the same at all sites. */
struct compile_item {
	const struct tsf_stmt *tsf;
	uint8_t kind;		/* TDF_STMT_REG, _MEM (VALUE as well), _ASCIIZ,
				 * _STACK */
	bool raw;		/* no prefix */
	bool variable;		/* LEN, a string: `bytes` is the most */
	uint8_t len_bytes;	/* LEN: width of the length */
	uint16_t bytes;
	uint32_t ctype;		/* CTYPE_NONE: not known */
	char *label;		/* for people: "EAX", "r->len", ".buf" */
};

struct compile_point {
	const struct tsf_point *tsf;
	uint64_t hash;		/* of the data statements */
	bool is_static;
	struct compile_site *sites;	/* at least one, unless static */
	size_t site_count;
	struct compile_item *items;	/* one per statement of the TSF */
	size_t item_count;
	char *fmt;		/* the default where the TSF has no FMT; NULL */
	char *no_return;	/* RETEP: why the kernel's return probe isn't
				 * used, "it reads the address that it returns
				 * to"; NULL */
};

struct compilation {
	/* in */
	struct diag *diag;
	const struct tsf *tsf;
	struct module *module;		/* NULL: static tracepoints only */
	struct dwarf_file *dwarf;	/* NULL: none */
	struct map *map;		/* /M=; NULL: none */
	enum move_mode mode;		/* --site */

	/* out; points in ascending order of minor */
	struct compile_point *points;
	size_t point_count, dynamic_count;
	struct tdf_stmt *stmts;
	char (*sources)[64];		/* per statement: where its data comes
					 * from, for people */
	size_t stmt_count, stmt_room;
	struct bytes rpn;
	struct ctypes ctypes;

	/* on the way */
	bool *lost;		/* by point of the TSF: it is discarded; NULL:
				 * nobody needs to know before it is compiled */
	uint32_t *minor_lines;	/* by minor: line of the TRACE, 0 free */
	struct site_state *sites;	/* site.h */
	const struct compile_point *current;	/* whose sites are compiled;
						 * NULL: none */
	bool quiet;		/* at a second site: warnings were told */
	size_t slow_count;	/* of tracepoints that are dear: slow.c */
};

/* 0, or -1 after a fatal or severe diagnostic. */
int compile_points(struct compilation *c);
void compile_free(struct compilation *c);
bool compile_has_stack(const struct tsf_point *point);
/* Why debug information that was found isn't used, or that there is none. */
void compile_hint_debug(struct compilation *c);
/* Where to look for a symbol that the module uses and doesn't define. */
void compile_hint_imported(struct compilation *c);
/* A statement behind the others; NULL: no memory, told at pos. `source`: where
 * its data comes from. */
struct tdf_stmt *compile_stmt_add(struct compilation *c, struct srcpos pos,
				  const char *source);
/* The expression that was appended to c->rpn from `start` on belongs to a
 * statement: check its length and depth; 0, 1. */
int compile_rpn_end(struct compilation *c, struct srcpos pos, uint32_t start,
		    uint32_t *rpn, uint32_t *rpn_length);

/* The statements of a site, behind those of the other ones. Returns
 * COMPILE_LEAVE_OUT as well. */
int compile_site_stmts(struct compilation *c, const struct tsf_point *point,
		       struct compile_point *out, struct compile_site *site);

/* site.c: what the sites of a compilation share, once: for what asks about the
 * code at an address. 0, -ENOMEM. */
int site_prepare(struct compilation *c);
/* Where a tracepoint is: fills out->sites. */
int site_resolve(struct compilation *c, const struct tsf_point *point,
		 struct compile_point *out);
/* The addresses of a good tracepoint: another one can't have them. 0, or -1
 * out of memory. */
int site_remember(struct compilation *c, const struct compile_point *point);
void site_forget(struct compilation *c);
/* "alloc+0x1b" of an address, cut to size. */
void site_name(char *text, size_t size, const char *name, uint64_t symbol,
	       uint64_t address);

/* address.c: a register in this module: its DWARF number; -1 after an error. */
int address_register(struct compilation *c, const struct tsf_register *reg,
		     uint8_t *bytes);
/* What it has + displacement, at a return point the result that it will have;
 * behind rpn. */
void address_register_emit(const struct compile_site *site, unsigned int number,
			   int64_t displacement, struct bytes *rpn);
struct address {		/* what address specification and flag mean */
	struct place place;	/* the bytes to log, or of LEN the length; all
				 * ABSENT: not at this site, others may do */
	uint64_t offset;	/* where they begin in the place */
	bool segment;		/* the place is MEMORY with a far address: rpn
				 * leaves selector and offset */
	bool typed;		/* type is that of what is there */
	Dwarf_Die type;
	bool pointer;		/* DIRECT on a `char *` variable */
};
/* `segmented`: pointers at a symbol are far ones (MEM, ASCIIZ). */
int address_compile(struct compilation *c, const struct compile_site *site,
		    const struct tsf_address *address,
		    const struct tsf_chain *chain, bool segmented,
		    struct address *result);
bool address_is_absent(const struct address *address);
/* What is there is in memory as a whole: its address; NULL: it isn't. */
const struct bytes *address_in_memory(const struct address *address);

/* address_symbol.c: what .name means at the site, without displacement and
 * flag. `must_be_typed`: only debug information will do. */
int address_symbol(struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name, bool must_be_typed,
		   struct address *result);
/* ... of a variable that was looked up. */
int address_variable(struct compilation *c, const struct compile_site *site,
		     struct srcpos pos, const char *name,
		     const struct dwarf_variable *variable,
		     struct address *result);
/* The site's unit has no type of this name, or none that its debug information
 * knows: that of another unit is taken. */
void address_warn_type(struct compilation *c, struct srcpos pos,
		       const char *name, const Dwarf_Die *type);
/* Two declarations fit the name, neither hides the other. Returns 1. */
int address_report_ambiguous(struct compilation *c, struct srcpos pos,
			     const char *name, const Dwarf_Die *one,
			     const Dwarf_Die *other);
/* The section around the address that the kernel relocates for itself, as the
 * module's file or, without one, the map tells. False: none. */
bool address_section_find(const struct compilation *c, uint64_t address,
			  struct module_section *section);
/* The static data of the place will be found in the module that is loaded; 0; 1,
 * told. */
int address_check_static(struct compilation *c, const struct compile_site *site,
			 struct srcpos pos, const char *name,
			 const struct place *place);
/* A variable isn't at the site, or only a part of it. Returns 1. */
int address_report_absent(struct compilation *c,
			  const struct compile_site *site, struct srcpos pos,
			  const char *name, const char *why, const char *hint);

/* data.c: one data statement at one site: statements behind c->stmts, and
 * what it logs in *item (label and ctype are the caller's to free). */
int data_compile(struct compilation *c, const struct compile_site *site,
		 const struct tsf_stmt *in, struct compile_item *item);
/* Is every item there at one of the sites at least? 0; 1, told; -1. */
int data_check_absent(struct compilation *c, const struct compile_point *point);
/* Statements that log `bytes` of the place from `offset` on as one item.
 * Where a part is absent: an error at pos when the site stands alone, else
 * TDF_STMT_ABSENT (raw: an error, too). */
int data_place_log(struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name,
		   const struct place *place, uint64_t offset, uint16_t bytes,
		   bool raw);

/* variable.c: VARS and IF. */
int variable_compile(struct compilation *c, const struct compile_site *site,
		     const struct tsf_stmt *in, struct compile_item *item);
int condition_compile(struct compilation *c, const struct compile_site *site,
		      const struct tsf_point *point);

/* data_hash.c: of the data statements of a tracepoint, normalised, with the
 * sizes and types of the items. False: no memory. */
bool data_hash(const struct compilation *c, const struct compile_point *point,
	       uint64_t *result);

#endif
