/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compiles the tree of a TSF to the contents of a TDF and a TFF, tracepoint by
 * tracepoint in the order of the file. Nothing is kept of a tracepoint with an
 * error.
 *
 * Functions that compile a part return 0; 1 after an error message (the
 * tracepoint is discarded); -1 after a fatal or severe one. Functions for one
 * site may also return COMPILE_LEAVE_OUT after a warning: a name has a meaning
 * only at other sites of the tracepoint.
 */
#ifndef TRCUST_COMPILE_H
#define TRCUST_COMPILE_H

#include <rastrace/tdf.h>
#include "ctype.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "lib/formats/bytes.h"
#include "move.h"
#include "trcust/tsf/diag.h"
#include "trcust/tsf/tsf.h"

#define COMPILE_LEAVE_OUT	2

struct shapes;			/* trcust/tsf/shape_file.h */
struct analysis;		/* analysis.h */
struct map;			/* lib/debug/module/map.h */

/* What is compiled. The passes change nothing in it; `analysis` is found by and
 * by from the module, and names that sites have live in the memory of `tsf`. */
struct compilation {
	struct diag *diag;
	struct tsf *tsf;
	struct module *module;		/* NULL: static tracepoints only */
	struct dwarf_file *dwarf;	/* NULL: none */
	struct map *map;		/* /M=; NULL: none */
	const struct shapes *shapes;	/* NULL: types have no meaning */
	enum move_mode mode;		/* --site */
	struct analysis *analysis;	/* NULL: not begun */
};

struct compile_site {
	const char *symbol;
	uint64_t symbol_offset;	/* of address, from the symbol */
	uint64_t offset;	/* as in struct tdf_site */
	uint64_t address, nominal;
	uint64_t named;		/* what the TP means: of a line that begins a
				 * function, before the nominal one */
	uint64_t semaphore;
	uint8_t flags;		/* TDF_SITE_* */
	uint8_t cost;
	bool pushes;		/* as in struct arch_insn */
	uint8_t insn_length;
	uint8_t insn[TDF_INSN_MAX];
	const char *arguments;	/* USDT: of the note, "8@%rdi -4@$5"; NULL */
	uint64_t entry;		/* of the function around it; 0 not known */
	uint64_t exit;		/* of a return point: the instruction that
				 * leaves; 0: none */
	/* of a return point: what the register `result` has at the exit,
	 * computed at the nominal address, where an instruction between sets
	 * it */
	unsigned int result;	/* DWARF number */
	const struct bytes *result_rpn;	/* NULL: what it has it */
	const char *stays;	/* why the probe is not at a faster instruction:
				 * "RIP is logged"; NULL */
	bool alone;		/* the only one of its tracepoint */
	bool repeated;		/* another site of the tracepoint was compiled
				 * before: its warnings are not repeated */
	const struct compile_point *point;	/* while it is compiled */
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
	uint16_t items;		/* of the record, of a shape; 0: it is one */
	uint16_t bytes;
	uint32_t ctype;		/* CTYPE_NONE: not known */
	const char *label;	/* for people: "EAX", "r->len", ".buf" */
};

struct compile_point {
	const struct tsf_point *tsf;
	uint64_t hash;		/* of the data statements */
	bool is_static;
	struct compile_site *sites;	/* at least one, unless static */
	size_t site_count;
	struct compile_item *items;	/* one per statement of the TSF */
	size_t item_count;
	bool goes_on;		/* after an item that can't be read */
	/* of a CALL: what the exits use of its entry */
	const struct expr *entries[TDF_ENTRY_VALUES_MAX];
	size_t entry_count;
	size_t entry_fields;	/* of a CALL: TFF_ENTRY_FIELDS */
	char *fmt;		/* the default where the TSF has no FMT; NULL */
	const char *no_return;	/* RETEP: why the kernel's return probe isn't
				 * used, "it reads the address that it returns
				 * to"; NULL */
};

/* What came of it; the TSF has to live as long. */
struct compiled {
	struct compile_point *points;	/* in ascending order of minor */
	size_t point_count, dynamic_count;
	struct tdf_stmt *stmts;
	char (*sources)[64];		/* per statement: where its data comes
					 * from, for people */
	size_t stmt_count, stmt_room, source_room;
	struct bytes rpn;
	struct ctypes ctypes;
};

/* 0, or -1 after a fatal or severe message. */
int compile_points(struct compilation *c, struct compiled *out);
/* Frees what was compiled, and the analysis. */
void compile_free(struct compilation *c, struct compiled *out);

#endif
