// SPDX-License-Identifier: GPL-2.0
/*
 * --folded: the stacks of functions, each with the time in ns that was spent in
 * the innermost one itself: "open;read;copy 1203". Memory grows with the number
 * of different stacks. Calls whose self time isn't known are left out.
 */
#include <errno.h>
#include <stdlib.h>
#include "lib/array.h"
#include "lib/read/read.h"
#include "output.h"

struct folded_path {
	uint64_t ns;
	bool some;
};

struct folded {
	struct folded_path *paths;	/* by path, from 1 on */
	size_t count, room;
};

static int folded_call(struct output *output, struct pair_call *call,
		       struct text *text, struct scratch *scratch)
{
	struct folded *own = output->own;
	struct folded_path *path;

	if (call->self_doubt || !call->path)
		return 0;
	if (!array_extend(&own->paths, &own->count, &own->room,
			  sizeof(*own->paths), call->path))
		return -ENOMEM;
	path = &own->paths[call->path];
	path->some = true;
	if (__builtin_add_overflow(path->ns, (uint64_t)call->self, &path->ns))
		path->ns = UINT64_MAX;
	return 0;
}

/* Without what separates stacks and figures. */
static void folded_name(const struct output *output, const char *name,
			struct text *text)
{
	for (const char *p = output_desc(output, name); *p; p++)
		text_add_char(text, *p == ';' ? ':' : *p == '\n' ? ' ' : *p);
}

static int folded_close(struct output *output, struct text *text,
			struct error *err)
{
	const struct pair_path *stack[PAIRING_PATH_DEPTH];
	const struct folded *own = output->own;

	for (size_t i = 1; i < own->count; i++) {
		const struct pair_path *path = pairing_path(output->pairing, i);
		size_t n = 0;

		if (!own->paths[i].some)
			continue;
		for (; path; path = pairing_path(output->pairing, path->around))
			stack[n++] = path;
		while (n--) {
			folded_name(output, stack[n]->name, text);
			text_add_char(text, n ? ';' : ' ');
		}
		text_add_number(text, own->paths[i].ns);
		TEXT_ADD(text, "\n");
		text_pass(text);
	}
	return -text->error;
}

static void folded_free(struct output *output)
{
	struct folded *own = output->own;

	free(own->paths);
}

const struct output_ops output_folded = {
	.name = "folded",
	.own_bytes = sizeof(struct folded),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.calls = true,
	.pairing = PAIRING_PATHS,
	.call = folded_call,
	.close = folded_close,
	.free = folded_free,
};
