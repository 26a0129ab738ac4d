/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tracepoint's body: its data statements as eBPF instructions that take a
 * slice of the buffer, write the record and publish it (rastrace/buffer.h).
 * A pure function: no system calls, the same instructions on every host.
 *
 * Everything that differs between two tracepoints of one session and is not
 * in the statements comes from the link's cookie, so bodies that come out
 * equal, instruction by instruction, are one program. Of offsets and lengths in
 * the statements the target says which are in a map instead, so that bodies which
 * differ by these only are one program, too.
 */
#ifndef BPF_BODY_H
#define BPF_BODY_H

#include <stdbool.h>
#include <stdio.h>
#include <stddef.h>
#include <linux/bpf.h>
#include "lib/error.h"
#include "lib/formats/tdf.h"
#include "plan/target.h"

struct body_note {		/* which statement made an instruction */
	__u32 insn;		/* index of its first instruction */
	int stmt;		/* index in the TDF; -1 prologue, -2 epilogue */
};

struct body {
	struct bpf_insn *insns;
	size_t count;
	struct body_note *notes;
	size_t note_count;
	bool sleepable;			/* load it so */
	/* indices of the first instructions of its subprograms, which need
	 * BTF; 0: none */
	__u32 subprograms[BODY_SUBPROGRAMS];
};

/*
 * Generate the body of one site of a tracepoint. 0, or a negative errno with
 * err set; -EOPNOTSUPP: the target hasn't what it needs (a register that is
 * not in pt_regs, segments). The caller frees with body_free().
 */
int body_generate(struct body *body, const struct tdf *tdf,
		  const struct tdf_point *point, const struct tdf_site *site,
		  const struct body_target *target, struct error *err);
void body_free(struct body *body);

/* Is one program for the beginning and the return of this CALL? It is that of the
 * return, whose site is the second; the first one has none. */
bool body_is_session(const struct tdf *tdf, const struct tdf_point *point,
		     const struct body_target *target);

/* Before it is instructions */
enum body_stage {
	BODY_STAGE_NONE, BODY_STAGE_PLAN, BODY_STAGE_CODE, BODY_STAGE_PLACED,
};

/* Print a stage of the body that body_generate() makes; the same results. */
int body_stage_print(FILE *out, enum body_stage stage, const struct tdf *tdf,
		     const struct tdf_point *point,
		     const struct tdf_site *site,
		     const struct body_target *target, struct error *err);

#endif
