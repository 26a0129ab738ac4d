// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a shape file: read or refused; all names are looked up in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "trcust/tsf/shape_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {
		"", "Text", "std::vector<int, std::allocator<int> >", "*",
	};
	struct shapes shapes = { .level = 2 };
	const struct shape_pattern *pattern;
	size_t length, found = 0;
	char *text;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return 0;
	shapes_add_text(&shapes, "fuzz.shapes", (const char *)data, size, out);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct shape *shape = NULL;

		while ((shape = shapes_find(&shapes, shape, SHAPE_CC, names[i],
					    &pattern)))
			found += strlen(pattern->text) && shape->what;
	}
	shapes_free(&shapes);
	fclose(out);
	free(text);
	(void)found;
	return 0;
}
