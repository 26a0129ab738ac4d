// SPDX-License-Identifier: GPL-2.0
#include "html.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/read/read.h"
#include "html_json.h"
#include "tracefmt/output/summary.h"

static void member_add(struct text *text, const char *name, int64_t value)
{
	text_add_string(text, name);
	html_add_signed(text, value);
}

static void meta_string_add(struct text *text, const char *name,
			    const char *value)
{
	text_add_string(text, name);
	html_add_string(text, value);
}

/* What summary.h prints. */
static int figures_add(const struct output *output, struct text *text)
{
	struct clock clock = {
		.utc = output->settings->utc,
		.relative = output->settings->relative,
		.start = output->stream->first,
	};
	char *figures = NULL;
	size_t size;
	FILE *file = open_memstream(&figures, &size);
	int code;

	if (!file)
		return -ENOMEM;
	code = summary_print(file, output->stream, &clock);
	if (fclose(file) || code) {
		free(figures);
		return -ENOMEM;
	}
	meta_string_add(text, ",\n\"figures\":", figures);
	free(figures);
	return 0;
}

static void losses_add(const struct trace_file *file, struct text *text)
{
	const struct damage *damage = &file->damage;
	uint64_t dropped = 0;

	for (size_t i = 0; i < file->slices.count; i++)
		dropped += file->slices.items[i]->dropped -
			   file->slices.items[i]->dropped_base;
	member_add(text, ",\"dropped\":", dropped);
	member_add(text, ",\"overwritten\":", file->pass.lost -
		   file->lost_base);
	TEXT_ADD(text, ",\"damage\":[");
	for (size_t i = 0; i < damage->count && i < DAMAGE_LINES; i++)
		meta_string_add(text, i ? "," : "", damage->lines[i]);
	member_add(text, "],\"damages\":", damage->count);
}

static void traces_add(const struct stream *stream, struct text *text)
{
	TEXT_ADD(text, ",\n\"traces\":[");
	for (size_t i = 0; i < stream->count; i++) {
		const struct trace *trace = stream->traces[i];

		if (i)
			TEXT_ADD(text, ",\n");
		meta_string_add(text, "{\"name\":", trace->name);
		meta_string_add(text, ",\"host\":", trace->file.host);
		meta_string_add(text, ",\"kernel\":", trace->file.kernel);
		member_add(text, ",\"found\":", trace->found);
		member_add(text, ",\"unmatched\":", trace->unmatched);
		member_add(text, ",\"late\":", trace->late);
		losses_add(&trace->file, text);
		TEXT_ADD(text, "}");
	}
	TEXT_ADD(text, "]");
}

int html_meta_add(const struct output *output, struct text *text)
{
	const struct html *html = output->own;
	const struct output_settings *s = output->settings;
	unsigned int count = DENSITY_COUNTS;
	char start[NUMBER_MAX + 1];
	int code;

	member_add(text, "{\"given\":", html->given);
	member_add(text, ",\"kept\":", html_store_kept(&html->store));
	member_add(text, ",\"latest\":", html->latest);
	/* too large for the numbers of a script */
	*number_put_signed(start, output->start, 64) = '\0';
	meta_string_add(text, ",\"start\":", start);
	meta_string_add(text, ",\"clock\":", s->relative ? "relative" :
		   s->utc ? "utc" : "local");
	traces_add(output->stream, text);
	while (count && !html->density.counts[count - 1])
		count--;
	member_add(text, ",\n\"density\":{\"width\":", html->density.width);
	TEXT_ADD(text, ",\"counts\":[");
	for (unsigned int i = 0; i < count; i++)
		member_add(text, i ? "," : "", html->density.counts[i]);
	TEXT_ADD(text, "]}");
	code = figures_add(output, text);
	TEXT_ADD(text, ",\n\"points\":");
	html_points_add(&html->points, text);
	TEXT_ADD(text, "}");
	return code;
}
