// SPDX-License-Identifier: GPL-2.0
/*
 * Collapsed stacks, as flamegraph.pl and others read them: a line per stack,
 * its functions from the outermost on, with ; between them, a blank and a
 * number.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/text.h"
#include "heapmon/core/format.h"

enum value {
	ALLOC_SPACE, ALLOC_OBJECTS, INUSE_SPACE, INUSE_OBJECTS, PEAK_SPACE,
	PEAK_OBJECTS, TEMPORARY, VALUES
};

static const char *const value_names[VALUES] = {
	"alloc_space", "alloc_objects", "inuse_space", "inuse_objects",
	"peak_space", "peak_objects", "temporary",
};

/* Stacks may differ and yet read the same: their lines, each with its sum. */
struct collapsed {
	const struct heap_trace *trace;
	struct heap_strings lines;
	double *sums;			/* by the numbers there */
	size_t count, room;
	uint32_t *frames;		/* of the stack at hand */
	size_t frame_room;
};

static int collapsed_value_find(const char *name, enum value *value,
				struct error *err)
{
	if (!name)
		name = value_names[INUSE_SPACE];
	for (*value = 0; *value < VALUES; ++*value)
		if (!strcmp(name, value_names[*value]))
			return 0;
	error_set(err, -EINVAL, "there is no value '%s'", name);
	error_hint(err, "alloc_space, alloc_objects, inuse_space, "
		   "inuse_objects, peak_space, peak_objects, temporary");
	return -EINVAL;
}

static double value_of(const struct heap_weighted *sums, enum value value)
{
	const double values[VALUES] = {
		sums->alloc_bytes, sums->allocs,
		sums->alloc_bytes - sums->free_bytes,
		sums->allocs - sums->frees, sums->peak_bytes, sums->peak_count,
		sums->temporary,
	};

	return values[value];
}

/* For free(); NULL: no memory. */
static char *stack_line(struct collapsed *collapsed, uint32_t stack)
{
	const struct heap_trace *trace = collapsed->trace;
	char *text = NULL, name[4096];
	size_t size, count = 0;
	FILE *line;

	for (; stack; stack = trace->stacks[stack].parent) {
		if (!array_grow(&collapsed->frames, count,
				&collapsed->frame_room,
				sizeof(*collapsed->frames)))
			return NULL;
		collapsed->frames[count++] = trace->stacks[stack].frame;
	}
	line = open_memstream(&text, &size);
	if (!line)
		return NULL;
	if (!count)
		fputs("(unknown)", line);
	while (count) {
		heap_frame_name(trace, collapsed->frames[--count], name,
				sizeof(name));
		/* with nothing in it that separates */
		for (char *c = name; (c = strchr(c, ';')); )
			*c = ':';
		safe_text_print(line, name, false);
		if (count)
			putc(';', line);
	}
	if (!fclose(line))
		return text;
	free(text);
	return NULL;
}

static int collapsed_add(struct collapsed *collapsed, uint32_t stack,
			 double value)
{
	char *line = stack_line(collapsed, stack);
	uint32_t number;

	if (!line)
		return -ENOMEM;
	number = heap_strings_add(&collapsed->lines, line);
	free(line);
	if (!number || !array_extend(&collapsed->sums, &collapsed->count,
				     &collapsed->room,
				     sizeof(*collapsed->sums), number))
		return -ENOMEM;
	collapsed->sums[number] += value;
	return 0;
}

static int collapsed_write(struct heap_output *output,
			   const struct heap_profile *profile,
			   const struct heap_model *model, struct error *err)
{
	struct collapsed collapsed = { .trace = output->trace };
	enum value value;
	int code = collapsed_value_find(output->options->value, &value, err);

	if (code)
		return code;
	heap_output_warn(output, "single blocks, times and threads are left out");
	for (size_t i = 0; i < profile->site_count && !code; i++) {
		struct heap_weighted sums;

		heap_site_weighted(profile, &profile->sites[i], &sums);
		code = collapsed_add(&collapsed, profile->sites[i].stack,
				     value_of(&sums, value));
	}
	if (code)
		error_no_memory(err);
	for (size_t i = 1; !code && i < collapsed.count; i++) {
		uint64_t sum = heap_rounded(collapsed.sums[i]);

		if (sum)
			fprintf(output->file, "%s %" PRIu64 "\n",
				heap_strings_get(&collapsed.lines, i), sum);
	}
	heap_strings_free(&collapsed.lines);
	free(collapsed.sums);
	free(collapsed.frames);
	return code;
}

const struct heap_format format_collapsed = {
	.name = "collapsed",
	.tags = true,
	.help = "collapsed stacks for flame graphs (written only)",
	.write_profile = collapsed_write,
};
