// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a .ras file: refused or printed, with figures and damage. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "selftests/tracefmt/builder.h"
#include "usr/tracefmt/merge.h"
#include "usr/tracefmt/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A TFF that fits the corpus, as if a search had found it. */
static struct tff *tff_make(void)
{
	struct tff_builder builder = { .major = 0xc5 };
	struct error err;
	struct bytes bytes;
	struct tff *tff;

	tff_section_begin(&builder, "/usr/bin/app", 0xefbeadde);
	tff_entry_add(&builder, 25, 0x1111, 0, "one",
		      "%W %B%B %P%S\n%I2 %X %Y\n");
	tff_entry_add(&builder, 0xb1, 0x2222, 0, "two", "%P%D\n%P%S %R%W\n%U");
	tff_entry_add(&builder, 0xb5, 0, TFF_STATIC, "three", "%W %S %A %Q");
	bytes = tff_finish(&builder);
	if (tff_parse(&tff, bytes.data, bytes.size, "fuzz.tff", &err))
		abort();
	bytes_free(&bytes);
	return tff;
}

static void file_print(struct trace_file *file, struct search *search,
		       bool force)
{
	struct print print = { .utc = true, .hex = force, .verbose = force,
			       .wall_offset = file->header.wall_offset };
	FILE *out = fopen("/dev/null", "w");
	const struct ras_record *record;
	struct trace_slice *slice;
	struct match match;
	struct merge merge;
	struct text text;

	if (!out || text_open(&text, fileno(out)) ||
	    match_open(&match, file, search, force) || merge_open(&merge, file))
		abort();
	print.text = &text;
	while ((record = merge_next(&merge, &slice))) {
		struct match_point *point = match_record(&match, record);

		point->present++;
		print_record(&print, point, record, slice->damaged);
	}
	merge_close(&merge);
	trace_file_finish(file);
	summary_print(out, file, &match, &print);
	match_close(&match);
	text_close(&text);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct search_file *files[1];
	struct search search = { .files = files, .count = 1 };
	uint8_t *copy = malloc(size ? size : 1);
	struct trace_file file;
	struct error err;

	if (!files[0]) {
		files[0] = calloc(1, sizeof(**files));
		files[0]->path = "fuzz.tff";
		files[0]->major = 0xc5;
		files[0]->tried = true;
		files[0]->tff = tff_make();
	}
	memcpy(copy, data, size);
	if (trace_file_parse(&file, copy, size, "fuzz.ras", &err))
		return 0;
	file_print(&file, &search, size & 1);
	trace_file_free(&file);
	return 0;
}
