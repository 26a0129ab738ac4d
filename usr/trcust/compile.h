/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the tree of a TSF to what TDF and TFF hold. Tracepoints are taken in
 * the order of the file; one with an error leaves nothing.
 */
#ifndef TRCUST_COMPILE_H
#define TRCUST_COMPILE_H

#include <rastrace/tdf.h>
#include "bytes.h"
#include "diag.h"
#include "dwarf.h"
#include "module.h"
#include "tsf.h"

struct compile_site {
	const char *symbol;
	uint64_t symbol_offset;	/* of address, from the symbol */
	uint64_t offset;	/* as in struct tdf_site */
	uint64_t address, nominal;
	uint8_t cost;
	uint8_t insn_length;
	uint8_t insn[TDF_INSN_MAX];
};

struct compile_point {
	const struct tsf_point *tsf;
	uint64_t hash;		/* of the data statements */
	bool is_static;
	struct compile_site site;
	uint32_t first_stmt, stmts;
};

struct compilation {
	/* in */
	struct diag *diag;
	const struct tsf *tsf;
	struct module *module;		/* NULL: static tracepoints only */
	struct dwarf_file *dwarf;	/* NULL: none */

	/* out; points in ascending order of minor */
	struct compile_point *points;
	size_t point_count, dynamic_count;
	struct tdf_stmt *stmts;
	size_t stmt_count, stmt_room;
	struct bytes rpn;

	/* on the way */
	uint32_t *minor_lines;	/* by minor: line of the TRACE, 0 free */
	void *addresses;	/* tree of the nominal addresses */
};

/* 0, or -1 after a fatal or severe diagnostic. */
int compile_points(struct compilation *c);
void compile_free(struct compilation *c);

/* site.c: where a tracepoint stands. 0; 1 after an error; -1 after a fatal or
 * severe one. */
int site_resolve(struct compilation *c, const struct tsf_point *point,
		 struct compile_site *site);
/* The address of a good tracepoint: another one can't have it. 0, or -1 out of
 * memory. */
int site_remember(struct compilation *c, const struct tsf_point *point,
		  const struct compile_site *site);
void site_forget(struct compilation *c);

/* address.c: the expression of an address and its dereferences, behind
 * c->rpn. `pc`: the address of the tracepoint, for what is known there.
 * 0, or 1 after an error. */
int address_compile(struct compilation *c, const struct tsf_address *address,
		    const struct tsf_chain *chain, uint64_t pc,
		    uint32_t *rpn, uint32_t *rpn_length);
/* A register in this module: its DWARF number; -1 after an error. */
int address_register(struct compilation *c, const struct tsf_register *reg,
		     uint8_t *bytes);

/* data_hash.c: of the data statements of a tracepoint, normalised. */
uint64_t data_hash(const struct tsf_point *point);

#endif
