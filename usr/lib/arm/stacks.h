/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables for the stacks of an armed session (rastrace/unwind.h). The maps are
 * pinned with it; the keeper fills them, for the processes that map the traced
 * module, and for those that ask when they hit a tracepoint.
 */
#ifndef ARM_STACKS_H
#define ARM_STACKS_H

#include <stdint.h>
#include "bpf/plan/target.h"
#include "pinned/run_dir.h"

struct unwind_state;

/* Make the maps, for `heap`, and pin them in the session's directory. 0, or a
 * negative errno with err set. */
int stacks_maps_make(struct body_heap *heap, const struct run_dir *run,
		     const char *dir, struct error *err);
void stacks_maps_close(struct body_heap *heap);

struct stacks;

/* Begin to fill the maps of the session in `dir`, whose module has this inode. NULL:
 * it has none, or they can't be opened. */
struct stacks *stacks_open(const char *dir, uint64_t inode);
/* For poll(2): readable when a process has asked */
int stacks_fd(const struct stacks *stacks);
/* Make the tables that were asked for. */
void stacks_update(struct stacks *stacks);
/* Every now and then: forget processes that have ended, look again at what was not
 * known of others. */
void stacks_clean(struct stacks *stacks);
void stacks_close(struct stacks *stacks);

/* The same for all sessions that are armed in a run directory. NULL: none has
 * stacks. */
struct stacks_server *stacks_server_open(const char *run);
/* A process whose libraries are mapped, before the start. */
void stacks_server_add(struct stacks_server *server, uint32_t pid);
/* In a thread of this process */
void stacks_server_start(struct stacks_server *server);
/* Also when it was never started; NULL: nothing */
void stacks_server_close(struct stacks_server *server);

#endif
