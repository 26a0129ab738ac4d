/* SPDX-License-Identifier: GPL-2.0 */
/* The maps of CALL and RELEASE points (rastrace/buffer.h). */
#ifndef TRACE_HEAP_MAPS_H
#define TRACE_HEAP_MAPS_H

#include "bpf/body.h"

/* No maps, all blocks. */
#define HEAP_MAPS_NONE	((struct body_heap){ .calls_fd = -1, .blocks_fd = -1, \
					     .owners_fd = -1, .rows_fd = -1, \
					     .segments_fd = -1, \
					     .spaces_fd = -1 })

/*
 * `calls`, and `blocks` where min_size or sample are set, unless heap has them:
 * TDFs whose functions call each other share them. 0, or a negative errno with
 * err set. The file descriptors are the caller's.
 */
int heap_maps_make(struct body_heap *heap, struct error *err);
void heap_maps_close(struct body_heap *heap);

#endif
