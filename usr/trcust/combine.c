// SPDX-License-Identifier: GPL-2.0
/*
 * Several TFFs of one major code made into one (manual 1.2.1, 1.2.2). The list
 * has their names with white space between. Each keeps its sections; of
 * several entries with the same minor code the first one stays. The result may
 * be one of the files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/outfile.h"
#include "lib/formats/tff.h"
#include "locate.h"
#include "output.h"
#include "run.h"
#include "trcust/write/tff_tables.h"

#define COMBINE_FILES_MAX	50
#define MINORS	65536

struct combine_file {
	struct srcpos pos;	/* of its name in the list */
	char *path;
	struct tff *tff;
};

struct combine_section {
	const struct combine_file *file;
	const struct tff_section *section;
	uint32_t first;		/* minor that is kept; MINORS: none */
};

struct combination {
	struct diag *diag;
	struct combine_file files[COMBINE_FILES_MAX];
	size_t file_count;
	struct combine_section *sections;	/* in the order of the files */
	size_t section_count;
	/* by minor: the section that has it first */
	const struct combine_section *owners[MINORS];
	const struct combine_section *copied;
};

static int report_memory(struct diag *diag)
{
	return diag_no_memory(diag, (struct srcpos){ 0 });
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x1a;
}

static void report_file(struct diag *diag, const struct combine_file *file,
			int code, const struct error *err)
{
	if (code != -ENOENT && code != -ENOTDIR && code != -EACCES &&
	    code != -ELOOP && code != -EISDIR) {
		diag_report_error(diag, file->pos, file->path, code, err);
		return;
	}
	diag_report(diag, file->pos, TRCERR_COMBINE_PATH);
	diag_hint(diag, "%s", err->text);
}

static int file_add(struct combination *c, struct srcpos pos, const char *name)
{
	struct combine_file *file = &c->files[c->file_count];
	struct error err = { 0 };
	char *copy;
	int code;

	if (c->file_count == COMBINE_FILES_MAX) {
		diag_report(c->diag, pos, TRCERR_TOOMANYTFF);
		return -1;
	}
	copy = strndup(name, pos.length);
	file->path = copy ? locate_portable(copy) : NULL;
	free(copy);
	if (!file->path)
		return report_memory(c->diag);
	file->pos = pos;
	c->file_count++;
	code = tff_open(&file->tff, file->path, &err);
	if (code) {
		report_file(c->diag, file, code, &err);
		return -1;
	}
	if (file->tff->header->major == c->files[0].tff->header->major)
		return 0;
	diag_report(c->diag, pos, TRCERR_DIF_MAJOR, file->path);
	diag_hint(c->diag, "its major code is %u, that of '%s' is %u",
		  file->tff->header->major, c->files[0].path,
		  c->files[0].tff->header->major);
	return -1;
}

static size_t word_length(const char *at, const char *end)
{
	const char *start = at;

	while (at < end && !is_space(*at))
		at++;
	return at - start;
}

static int list_read(struct combination *c)
{
	struct srcpos pos = { .line = 1, .column = 1 };
	size_t size;
	const char *at = diag_text(c->diag, &size), *end = at + size;

	while (at < end) {
		pos.length = word_length(at, end);
		if (pos.length && file_add(c, pos, at))
			return -1;
		at += pos.length;
		pos.column += pos.length;
		if (pos.length)
			continue;
		pos.column = *at == '\n' ? 1 : pos.column + 1;
		pos.line += *at++ == '\n';
	}
	if (c->file_count)
		return 0;
	pos.length = 1;
	diag_report(c->diag, pos, TRCERR_UNEXPECTEDEOF);
	diag_hint(c->diag, "the list is empty");
	return -1;
}

/* The minor codes of a section that nobody before it has are its own. */
static void section_claim(struct combination *c, struct combine_section *s)
{
	const struct tff_entry *entries = s->file->tff->entries +
					  s->section->first_entry;
	char text[16];

	s->first = MINORS;
	for (uint32_t i = 0; i < s->section->entries; i++) {
		uint16_t minor = entries[i].minor;

		if (!c->owners[minor]) {
			c->owners[minor] = s;
			s->first = s->first < minor ? s->first : minor;
			continue;
		}
		snprintf(text, sizeof(text), "%u", minor);
		diag_report(c->diag, s->file->pos, TRCERR_DUP_TFFMINOR, text,
			    s->file->path);
		diag_hint(c->diag, "the one of '%s' in '%s' is kept",
			  tff_string(c->owners[minor]->file->tff,
				     c->owners[minor]->section->name),
			  c->owners[minor]->file->path);
	}
}

static int sections_collect(struct combination *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->file_count; i++)
		count += c->files[i].tff->header->sections.count;
	c->sections = calloc(count + 1, sizeof(*c->sections));
	if (!c->sections)
		return report_memory(c->diag);
	for (size_t i = 0; i < c->file_count; i++) {
		const struct tff *tff = c->files[i].tff;

		for (uint32_t k = 0; k < tff->header->sections.count; k++) {
			struct combine_section *s =
				&c->sections[c->section_count++];

			s->file = &c->files[i];
			s->section = &tff->sections[k];
			section_claim(c, s);
		}
	}
	return 0;
}

static int section_compare(const void *a, const void *b)
{
	const struct combine_section *x = *(void *const *)a;
	const struct combine_section *y = *(void *const *)b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool entry_is_kept(void *context, const struct tff_entry *entry)
{
	const struct combination *c = context;

	return c->owners[entry->minor] == c->copied;
}

/* In ascending order of minor: the sections by their first one. */
static int sections_copy(struct combination *c, struct tff_tables *tables)
{
	const struct combine_section **order =
		calloc(c->section_count + 1, sizeof(*order));

	if (!order)
		return report_memory(c->diag);
	for (size_t i = 0; i < c->section_count; i++)
		order[i] = &c->sections[i];
	qsort(order, c->section_count, sizeof(*order), section_compare);
	for (size_t i = 0; i < c->section_count; i++) {
		c->copied = order[i];
		tff_tables_copy(tables, order[i]->file->tff, order[i]->section,
				entry_is_kept, c);
	}
	free(order);
	return 0;
}

/* Only a TFF is replaced. */
static int check_old(const char *dest, struct error *err)
{
	struct tff *old;
	int code = tff_open(&old, dest, err);

	tff_close(old);
	if (!code || code == -ENOENT)
		return 0;
	error_hint(err, "remove it, or give the file another name");
	return code;
}

static int write_tables(const struct combination *c,
			const struct tff_tables *tables, const char *dest)
{
	struct outfile *out;
	struct error err = { 0 };
	int code = check_old(dest, &err);

	if (!code)
		code = tff_tables_write(tables,
					c->files[0].tff->header->major, &out,
					dest, &err);
	if (!code)
		code = outfile_commit(out, &err);
	if (code)
		output_report(c->diag, dest, code, &err);
	return code ? -1 : 0;
}

static int combine(struct combination *c, const char *dest)
{
	struct tff_tables tables = { 0 };
	int code = list_read(c);

	if (!code)
		code = sections_collect(c);
	if (!code)
		code = sections_copy(c, &tables);
	if (!code)
		code = write_tables(c, &tables, dest);
	tff_tables_free(&tables);
	return code;
}

static int combine_files(struct diag *diag, const char *dest)
{
	struct combination *c = calloc(1, sizeof(*c));
	int lock, code;

	if (!c)
		return report_memory(diag);
	c->diag = diag;
	lock = outfile_lock_directory(dest);
	code = combine(c, dest);
	if (lock >= 0)
		close(lock);
	for (size_t i = 0; i < c->file_count; i++) {
		tff_close(c->files[i].tff);
		free(c->files[i].path);
	}
	free(c->sections);
	free(c);
	return code;
}

int run_combine(const struct settings *s, const char *list)
{
	char *path = locate_input(list), *dest = locate_portable(s->combine);
	struct diag *diag;
	int code = path && dest ? diag_open(&diag, path, s->level) : -1;

	free(path);
	if (!code) {
		code = combine_files(diag, dest);
		if (diag_count(diag, DIAG_ERROR))
			code = 1;
		diag_close(diag);
	}
	free(dest);
	return code ? 1 : 0;
}
