// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a .ras file: refused or printed, with figures and damage. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "selftests/tracefmt/builder.h"
#include "usr/tracefmt/merge.h"
#include "usr/tracefmt/sequence.h"
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

/* As show.c does it: to the end, or of a pipe pass by pass. */
static void records_print(struct trace_file *file, struct match *match,
			  struct print *print)
{
	const struct merge_head *head;
	struct sequences sequences;
	struct merge merge;
	int more;

	sequence_open(&sequences, file);
	merge_open(&merge, file);
	do {
		more = trace_file_more(file);
		if (more < 0 || merge_more(&merge, file->header.key))
			abort();
		while ((head = merge_next(&merge, more ? file->pass.time :
							 UINT64_MAX))) {
			struct match_point *point = match_record(match,
								 head->record);

			point->present++;
			sequence_see(&sequences, point, head);
			print_record(print, point, head);
		}
	} while (more);
	merge_close(&merge);
	sequence_close(&sequences);
}

static void file_print(struct trace_file *file, struct search *search,
		       bool force)
{
	struct print print = { .utc = true, .hex = force, .verbose = force,
			       .wall_offset = file->header.wall_offset,
			       .book = &file->book };
	FILE *out = fopen("/dev/null", "w");
	struct match match;
	struct text text;

	if (!out || text_open(&text, fileno(out)) ||
	    match_open(&match, file, search, force))
		abort();
	print.text = &text;
	records_print(file, &match, &print);
	for (size_t i = 0; i < file->format_count; i++) {
		struct search bundled = { 0 };

		search_add_bundled(&bundled, file->formats[i].name,
				   file->formats[i].data,
				   file->formats[i].size);
		search_free(&bundled);
	}
	trace_file_finish(file);
	summary_print(out, file, &match, &print);
	match_close(&match);
	text_close(&text);
	fclose(out);
}

/* In memory, or through a pipe that has room for it. */
static int file_open(struct trace_file *file, const uint8_t *data, size_t size)
{
	struct error err;
	char path[32];
	uint8_t *copy;
	int ends[2], code;

	if (size % 4 < 2 || size > 65536) {
		copy = malloc(size ? size : 1);
		memcpy(copy, data, size);
		return trace_file_open_memory(file, copy, size, "fuzz.ras",
					      &err);
	}
	if (pipe(ends) || write(ends[1], data, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	code = trace_file_open(file, path, &err);
	close(ends[0]);
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct search_file *files[1];
	struct search search = { .files = files, .count = 1 };
	struct trace_file file;

	if (!files[0]) {
		files[0] = calloc(1, sizeof(**files));
		files[0]->path = "fuzz.tff";
		files[0]->major = 0xc5;
		files[0]->tried = true;
		files[0]->tff = tff_make();
	}
	if (file_open(&file, data, size))
		return 0;
	file_print(&file, &search, size & 1);
	trace_file_free(&file);
	return 0;
}
