/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file format: how it is known, read and written. The table of all formats is
 * in reading.c; --from and --to are their names.
 */
#ifndef HEAPMON_FORMAT_H
#define HEAPMON_FORMAT_H

#include <stdio.h>
#include "profile.h"

/* What the options of convert and report say about reading and writing. */
struct heap_options {
	const struct heap_format *from;	/* --from; NULL: by its content */
	uint32_t pid;			/* --pid: of one process; 0: of all */
	/* of a tracker's stream that is read: 32 or 64, 'l' or 'b'; 0: as it is
	 * found */
	unsigned int bits;
	int endian;
	/* of what is written (tracker, MTRC, MPTL); 0: as is usual there */
	unsigned int to_bits;
	int to_endian;
	bool rebase;			/* --rebase: addresses from 0x1000 on, small
					 * thread ids (MTRC) */
	struct heap_bounds bounds;	/* --bounds, --bins (MPTL) */
	const char *value;		/* --value: alloc_space, alloc_objects,
					 * inuse_space, inuse_objects, peak_space,
					 * peak_objects, temporary (collapsed);
					 * NULL: inuse_space */
	const char *run;		/* read the live buffer of this run
					 * directory instead of a file; NULL */
	char **symbols;			/* --symbols DIR */
	size_t symbol_count;
	bool no_symbols;		/* --no-symbols */
};

struct heap_input {
	const char *path;		/* for messages; "-": standard input */
	const uint8_t *data;		/* the whole file; NULL for .ras */
	size_t size;
	const struct heap_options *options;
	struct heap_trace *trace;	/* to be filled in */
	/* what is wrong with the file, but not so that it can't be used: printed
	 * by the caller that set it; may be called often */
	void (*warn)(void *context, const char *text);
	void *context;
};

struct heap_output {
	FILE *file;
	const char *path;
	const struct heap_options *options;
	const struct heap_trace *trace;
	/* what the format can't hold, or what was changed for its sake; each text
	 * once. Counted: `events` of them */
	void (*warn)(void *context, const char *text);
	void *context;
};

struct heap_format {
	const char *name;		/* "mtrc" */
	const char *help;		/* "mpatrol tracing (mpatrol.trace)" */
	bool tags;			/* when it is written, it has a place for a
					 * memory tracker's tags */
	bool words;			/* ... it may have words of 32 or 64 bits in
					 * either order */
	/* Is it this one, by its first bytes? How sure: 0 no, 1 by trial, 2 by a
	 * magic number. NULL: never guessed. */
	int (*detect)(const uint8_t *data, size_t size);
	/* Give all events to the sink. 0; or a negative errno with err set, after
	 * what could be read was given. */
	int (*read_events)(struct heap_input *input,
			   const struct heap_sink *sink, struct error *err);
	/* The same of a file of sums. */
	int (*read_profile)(struct heap_input *input,
			    struct heap_profile *profile, struct error *err);
	/*
	 * Write: begin(); step() for every step; end(), which writes the rest and
	 * frees what the state has, also after an error (then `failed`, and
	 * nothing more is written). The state has `state_size` bytes, which are
	 * zero at first. Or, for a file of sums, write_profile(). Whether the
	 * file could be written is checked by the caller.
	 */
	size_t state_size;
	int (*begin)(struct heap_output *output, void *state,
		     struct error *err);
	int (*step)(struct heap_output *output, void *state,
		    const struct heap_model *model,
		    const struct heap_step *step, struct error *err);
	int (*end)(struct heap_output *output, void *state,
		   const struct heap_model *model, bool failed,
		   struct error *err);
	int (*write_profile)(struct heap_output *output,
			     const struct heap_profile *profile,
			     const struct heap_model *model,
			     struct error *err);
};

extern const struct heap_format
	format_ras,		/* ras/ */
	format_mtrc, format_mptl,	/* mpatrol/ */
	format_monitor,		/* text/ */
	format_tracker,		/* tracker/ */
	format_pprof, format_collapsed, format_massif, format_heaptrack;
				/* export/ */

/* Warnings of readers and writers about a file. */
void heap_input_warn(const struct heap_input *input, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Each text whose number isn't 0, with it: "text: 3 times". */
void heap_input_warn_counts(const struct heap_input *input,
			    const char *const *texts, const uint64_t *counts,
			    size_t n);
void heap_output_warn(const struct heap_output *output, const char *text);

#endif
