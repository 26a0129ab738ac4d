/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a body does, decided before any code of it is written: what is read and
 * at once, what may fail, how large things are, what the frame may have. Once it
 * is made nothing changes it.
 */
#ifndef BPF_PLAN_PLAN_H
#define BPF_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include "lib/error.h"
#include "lib/formats/tdf.h"
#include "processor.h"
#include "reads.h"
#include "target.h"

#define PLAN_FAULT_BYTES	8	/* of the failing pointer */
#define PLAN_VALUE_BYTES	8	/* that a computed value is stored with */

#define PLAN_DIRECT_ITEMS	16	/* at most, of a body with direct reads */

#define STACK_FRAME_BYTES	8
#define STACK_ITEM_BYTES(depth)	(RAS_ITEM_PREFIX + sizeof(struct ras_stack) + \
				 STACK_FRAME_BYTES * (depth))

/*
 * The state of a stack by tables (unwind.c) is the last that the record has
 * room for and no record ever takes: the verifier doesn't follow what is there,
 * and is done with the loop after one round.
 */
#define UNWIND_STATE	(RAS_RECORD_MAX - 64)
/* That of direct reads (direct.c) is before it. */
#define PLAN_DIRECT_BYTES	64
#define PLAN_DIRECT_STATE	(UNWIND_STATE - PLAN_DIRECT_BYTES)

/*
 * A CALL of which one program is for the beginning and the return, where the
 * kernel has such (uprobe sessions, 6.13): what it returns at the beginning says
 * whether it is called when the function returns. That is the site of the return;
 * the other one has no program of its own.
 */
bool plan_is_session(const struct tdf *tdf, const struct tdf_point *point,
		     const struct body_target *target);

enum plan_kind {
	PLAN_RECORD,		/* a tracepoint that makes a record */
	PLAN_CALL,		/* where a call begins: it keeps its arguments */
	PLAN_STATIC,		/* rastrace_write(): the point is the major */
	PLAN_KINDS
};

/* How an item comes into the record */
enum plan_item_kind {
	ITEM_REG,
	ITEM_ABSENT,
	ITEM_STACK,
	ITEM_RAW,		/* pieces without a prefix */
	ITEM_PLAIN,		/* memory of constant length */
	ITEM_VARIABLE,		/* memory whose length is known at run time */
	ITEM_SUM,		/* values, or pieces that are one item */
	ITEM_STRING,
	ITEM_KINDS
};

struct plan_item {
	enum plan_item_kind kind;
	uint32_t first, end;	/* its statements */
	uint32_t number;	/* of those with expressions, from 1; else 0 */
	uint32_t bytes;		/* of its statements */
	uint32_t limit;		/* bytes of it at most */
	uint32_t fixed;		/* bytes before it that are in every record */
	uint32_t depth;		/* STACK: frames */
	bool budget;		/* what the items before left may be less */
	bool faults;		/* something in it may */
	uint8_t flags;		/* of its status, RAS_ITEM_* */
};

/* What the frame may be taken for */
struct plan_frame {
	int room;		/* words of what is read at once */
	int detour;		/* bytes that are read to the frame, and copied
				 * from there: the kernel is quicker to see that
				 * it may write there than that it may in a map */
	bool alone;		/* it is large: see plan.alone */
};

struct plan {
	const struct tdf *tdf;
	const struct tdf_point *point;
	const struct tdf_site *site;
	const struct body_target *target;
	enum plan_kind kind;
	uint16_t machine;		/* ELF e_machine */
	const struct processor *cpu;	/* of that */
	int majors_fd;		/* PLAN_STATIC */
	bool flat32;		/* addresses are 32 bits wide */
	bool known;		/* the cookie is in the code */
	bool bias_known;	/* DW_OP_addr adds what the registers say */
	bool relocated;		/* expressions use DW_OP_addr */
	bool process;		/* who hits is kept, and where */
	bool fresh;		/* segment registers are as of now */
	bool own;		/* may an address be of the current process? is
				 * asked (kernel code) */
	bool go_on;		/* after an item that faults */
	bool early;		/* the IF comes before preemption is off */
	bool bring_in;		/* absent memory is brought in */
	bool direct;		/* memory is read without a call (direct.c) */
	bool tables;		/* stacks by tables (unwind.c) */
	bool chosen;		/* only some blocks are recorded */
	bool decided;		/* ... which is known where the call begins */
	struct plan *begins;	/* the body is that of a session: what it does
				 * at the beginning; NULL: it is not */
	bool session;		/* this is one of these */
	bool enters;		/* the entry of a whole call: what is logged is
				 * kept until the exit */
	bool leaves;		/* an exit of one */
	bool slotted;		/* an entry may be in `slots` */
	bool cputime;		/* ... whose time on a CPU is used */
	/*
	 * Preemption is off from the beginning on, but while something is
	 * brought in. Kernels from 6.13 on have frames of 64 bytes and more in
	 * memory of the CPU, where who comes next on that CPU overwrites what
	 * the one that was preempted has.
	 */
	bool alone;
	struct plan_frame frame;

	const struct tdf_stmt *key;		/* of a whole call; NULL: none */
	const struct tdf_stmt *condition;	/* the IF; NULL: none */
	uint32_t by_first, by_count;	/* statements */
	uint32_t aggregate_first, aggregate_count;
	uint32_t aggregate_key;	/* bytes of a key */
	const struct tdf_stmt *by_stack;	/* that has one; NULL */
	bool silent;		/* it has aggregates and no data: no records */
	struct plan_item items[TDF_STMTS_MAX];
	uint32_t item_count;
	uint32_t numbers;	/* of the last item that has one */
	uint32_t maxhits;	/* 0: none */
	uint32_t budget;	/* MAXDATALENGTH less what is in every record */
	uint32_t spread;	/* 2^n - 1: bounds the sum of the items' lengths */
	bool large;		/* its frame can't be a lean one (bpf/body.c) */
	bool suffices;		/* every item has the room that it may need; else
				 * they are cut by what the items before have
				 * left, and may not be looked at */
	unsigned int kept_count;	/* words of what is kept (tdf.h) */
	uint32_t context_most;	/* bytes of the context, at most */
	bool data_moves;	/* its length varies */
	struct reads reads;

	int error;		/* negative errno */
	struct error *err;
};

/* Keep the first error and its text. */
void plan_fail(struct plan *plan, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Plan the body of a site, with a frame that has nothing; or that of the static
 * tracepoints. 0, or plan->error with err set. */
int plan_make(struct plan *plan, const struct tdf *tdf,
	      const struct tdf_point *point, const struct tdf_site *site,
	      const struct body_target *target, struct error *err);
int plan_make_static(struct plan *plan, uint16_t machine, int majors_fd,
		     const struct body_target *target, struct error *err);
/* The same with such a frame */
void plan_frame_set(struct plan *plan, const struct plan_frame *frame);

/* Bytes that a BY takes in the key; of a key with those of the site's */
uint32_t plan_by_bytes(const struct tdf_stmt *by);
uint32_t plan_aggregate_key(const struct tdf *tdf, const struct tdf_site *site);

/* The bytes that are read of a string at most, its zero and one more counted;
 * of all of the site's strings, 0 without any */
uint32_t plan_string_bytes(const struct plan *plan,
			   const struct tdf_stmt *stmt);
uint32_t plan_strings_bytes(const struct plan *plan);
/* Bytes of what an entry of the TDF's whole calls leaves for the exit, at most: of
 * a header and data, of the points that are picked; 0: there is none. */
uint32_t plan_open_bytes(const struct tdf *tdf, const bool *picked);
/* returned.c of bpf/code knows where the function is whose return probe is hit. */
bool plan_returned_known(const struct body_layout *layout);

#endif
