// SPDX-License-Identifier: GPL-2.0
#include "source.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/table.h"
#include "lib/path.h"

void source_lines_open(struct tsf_source *source, const struct tdf *tdf)
{
	const char *tsf = tdf_string(tdf, tdf->header->tsf);
	const char *slash = strrchr(tdf->path, '/');
	char beside[PATH_MAX];
	void *text = NULL;

	snprintf(beside, sizeof(beside), "%.*s%s",
		 slash ? (int)(slash - tdf->path + 1) : 0, tdf->path,
		 path_base(tsf));
	*source = (struct tsf_source){ 0 };
	if (table_file_read(tsf, &text, &source->size, NULL) &&
	    table_file_read(beside, &text, &source->size, NULL))
		return;
	source->text = text;
}

void source_lines_close(struct tsf_source *source)
{
	free(source->text);
}

bool source_line(const struct tsf_source *source, uint32_t line, char *text,
		 size_t size)
{
	const char *p = source->text, *end = p + source->size, *stop;
	size_t n = 0;

	while (p && line > 1) {
		p = memchr(p, '\n', end - p);
		p = p ? p + 1 : NULL;
		line--;
	}
	if (!p || p == end || !line)
		return false;
	stop = memchr(p, '\n', end - p);
	while (p < (stop ? stop : end) && n + 1 < size) {
		text[n++] = iscntrl((unsigned char)*p) ? ' ' : *p;
		p++;
	}
	text[n] = '\0';
	return true;
}
