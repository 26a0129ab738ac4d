/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the functions in recorded stacks, for machines that do not have the
 * files: RAS_CHUNK_NAMES. Starts as { 0 }.
 */
#ifndef LIB_PICTURE_NAMES_H
#define LIB_PICTURE_NAMES_H

#include "lib/aggregate.h"
#include "lib/formats/chunk.h"
#include "lib/key_map.h"
#include "mappings.h"
#include "picture_stacks.h"
#include "ring.h"

struct picture_names {
	struct names_address *addresses;	/* that are in stacks */
	size_t address_count, address_room;
	struct key_map known;		/* which of these there are */
	struct ras_mapping *modules;	/* one of each */
	size_t module_count, module_room;
	struct names_pick *picks;	/* what to look up */
	size_t pick_count, pick_room;
};

/* Note the addresses in stacks of these records, and in those they name by number. */
void picture_names_scan(struct picture_names *names, const struct ring *ring,
			uint64_t key, struct picture_stacks *stacks,
			const struct session_list *list);
/* Those of the stacks in aggregates */
void picture_names_note(struct picture_names *names,
			const struct aggregates *aggregates);
/* The mappings of a process whose stacks were noted; sorted here. */
void picture_names_place(struct picture_names *names, uint32_t pid,
			 struct mappings *mappings);
/* A chunk for each module. What has no memory, or no room, has no name. */
void picture_names_write(struct picture_names *names, struct chunk_out *out);
void picture_names_free(struct picture_names *names);

#endif
