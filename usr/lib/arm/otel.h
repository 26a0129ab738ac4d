/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where threads of a process have otel_thread_ctx_v1, by which they publish the
 * trace and the span that they work for: OpenTelemetry's OTEP 4947, "Thread Context".
 * It is a thread-local pointer to 16 bytes of trace id, 8 of span id, and a byte
 * that is 1 while both are valid.
 */
#ifndef ARM_OTEL_H
#define ARM_OTEL_H

#include <stdbool.h>
#include <stdint.h>
#include <rastrace/unwind.h>

enum otel_kind {
	OTEL_ABSENT,		/* the file does not have the variable */
	OTEL_PROGRAM,		/* a program's own: at a constant distance */
	/* the loader writes to a slot of the file's: */
	OTEL_DISTANCE,		/* the distance from the thread pointer */
	OTEL_PAIR,		/* number of the module, offset in its block */
	OTEL_DESCRIPTOR,	/* a function; the distance or address of a pair */
};

/* What an ELF file has of it */
struct otel_variable {
	enum otel_kind kind;
	int64_t distance;	/* OTEL_PROGRAM */
	uint64_t slot;		/* address as linked */
	uint64_t code;		/* address as linked less the offset in the file, of
				 * the code */
	uint8_t table;		/* offset of the table of blocks' address from the
				 * thread pointer */
	uint8_t header;		/* blocks begin so many bytes after it, at least; 0:
				 * they are before it */
};

/* Hostile; what can't be read does not have it. */
void otel_variable_read(struct otel_variable *variable, int fd);
/* Its place in the process that has mapped the file's code, from `offset` of the
 * file on, at `start`. UNWIND_OTEL_UNKNOWN: the loader has not been there yet. */
void otel_place_find(const struct otel_variable *variable, uint32_t pid,
		     uint64_t start, uint64_t offset, struct unwind_otel *place);

#endif
