/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunks of a .ras file (rastrace/rasfile.h) being made, one after the other;
 * each goes out whole. Errors stick: check them once, at the end.
 */
#ifndef LIB_CHUNK_H
#define LIB_CHUNK_H

#include <rastrace/rasfile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

/*
 * Compression of chunks (rastrace/rasfile.h): by zlib and by zstd, when their
 * libraries are there at run time.
 */

/* Is the library of the method there? */
bool pack_is_there(int method);

/* The method of that name, RAS_PACKED_*; NULL: the better one that is there.
 * Or a negative errno with err set. */
int pack_method_find(const char *name, struct error *err);
/* An option's value, in *method; the error is printed: 0, or -1. */
int pack_method_take(const char *program, const char *value, int *method);

/* The library that a method needs; NULL: it is none. */
const char *pack_library(int method);

/* Exactly `size` bytes come out, or it is -EINVAL; -ENOTSUP: not here. */
int pack_expand(int method, const void *from, size_t packed, void *to,
		size_t size);

/*
 * Compress by a method and a level of its own, into *packed, which grows and is
 * for free(). How many bytes it has; 0: not fewer than before, or no memory, or
 * the method isn't there.
 */
size_t pack_bytes(int method, int level, const void *from, size_t size,
		  uint8_t **packed, size_t *room);

struct chunk_out {
	/* Takes a whole chunk with its padding. 0, or a negative errno. */
	int (*take)(void *context, const void *chunk, size_t size);
	void *context;
	int pack;		/* RAS_PACKED_*: compress what gets smaller by
				 * it; 0: nothing */
	int error;		/* first negative errno met, kept */
	uint8_t *data;		/* the chunk that is being made */
	size_t used, room;
	uint8_t *packed;	/* and its packed form */
	size_t packed_room;
};

/* The file's header, which is no chunk; what isn't set here is set already. */
void chunk_file_begin(struct chunk_out *out, struct ras_file *file);
void chunk_begin(struct chunk_out *out);
/* Room for n more bytes of payload; NULL:
 * no memory. Other pointers into the chunk are void. */
void *chunk_room(struct chunk_out *out, size_t n);
void chunk_add(struct chunk_out *out, const void *data, size_t n);
void chunk_end(struct chunk_out *out, uint32_t kind);
void chunk_out_free(struct chunk_out *out);

/* A `take` that keeps them in memory, which is for free(). */
struct chunk_memory {
	uint8_t *data;
	size_t size, room;
};

int chunk_memory_take(void *context, const void *chunk, size_t size);

#endif
