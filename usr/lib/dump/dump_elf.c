// SPDX-License-Identifier: GPL-2.0
#include "dump_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SEGMENTS_MAX	(1u << 20)
#define NOTES_MAX	(16u << 20)	/* bytes */

/* ---- opening ---- */

static int elf_header_check(const Elf64_Ehdr *h, const char *path,
			    struct error *err)
{
	const uint16_t one = 1;

	if (h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_CORE)
		return error_set(err, -EINVAL,
				 "'%s' is no memory dump of a 64-bit machine",
				 path);
	if (!*(const uint8_t *)&one)
		return error_set(err, -ENOTSUP,
				 "'%s' is of a machine of the other byte order",
				 path);
	if (h->e_phentsize != sizeof(Elf64_Phdr))
		return dump_damaged(
			path, "its program headers have another size", err);
	return 0;
}

/* A count of more than 16 bits is in the first section header. */
static bool elf_count_read(const struct dump *dump, const Elf64_Ehdr *h,
			   size_t *count)
{
	Elf64_Shdr section;

	*count = h->e_phnum;
	if (*count != PN_XNUM)
		return true;
	if (!h->e_shoff || !dump_fetch(dump, h->e_shoff, &section, sizeof(section)))
		return false;
	*count = section.sh_info;
	return *count <= SEGMENTS_MAX;
}

/* Of a dump that was cut short, what is there. */
static void segment_take(struct dump *dump, const Elf64_Phdr *p, uint64_t end)
{
	uint64_t there = p->p_offset < end ? end - p->p_offset : 0;
	uint64_t size = p->p_filesz < there ? p->p_filesz : there;

	if (p->p_type != PT_LOAD)
		return;
	dump->cut |= size < p->p_filesz;
	if (!size || size > UINT64_MAX - p->p_paddr)
		return;
	dump->segments[dump->count++] = (struct dump_segment){
		.physical = p->p_paddr, .size = size, .offset = p->p_offset,
	};
}

static int segment_compare(const void *a, const void *b)
{
	const struct dump_segment *x = a, *y = b;

	return x->physical < y->physical ? -1 : x->physical > y->physical;
}

/* Of all notes together *left bytes are looked at. */
static void elf_notes_take(struct dump *dump, const Elf64_Phdr *p, size_t *left)
{
	uint64_t there = p->p_offset < dump->size ? dump->size - p->p_offset : 0;
	uint64_t size = p->p_filesz < there ? p->p_filesz : there;
	uint8_t *notes;

	if (p->p_type != PT_NOTE)
		return;
	size = size < *left ? size : *left;
	*left -= size;
	notes = malloc(size + 1);
	if (notes && dump_fetch(dump, p->p_offset, notes, size))
		dump_notes_take(dump, notes, size);
	free(notes);
}

int dump_elf_open(struct dump *dump, const char *path, struct error *err)
{
	Elf64_Phdr *headers;
	Elf64_Ehdr h;
	size_t count;
	int code;
	size_t left;
	uint64_t reach;
	size_t total;

	if (!dump_fetch(dump, 0, &h, sizeof(h)))
		return dump_damaged(path, "cut short in its header", err);
	code = elf_header_check(&h, path, err);
	if (code)
		return code;
	dump->machine = h.e_machine;
	if (!elf_count_read(dump, &h, &count))
		return dump_damaged(
			path, "its count of segments is missing", err);
	headers = calloc(count + 1, sizeof(*headers));
	dump->segments = calloc(count + 1, sizeof(*dump->segments));
	if (!headers || !dump->segments)
		code = error_no_memory(err);
	else if (!dump_fetch(dump, h.e_phoff, headers, count * sizeof(*headers)))
		code = dump_damaged(path, "its program headers aren't there",
				   err);
	else {
		left = NOTES_MAX;
		for (size_t i = 0; i < count; i++) {
			segment_take(dump, &headers[i], dump->size);
			elf_notes_take(dump, &headers[i], &left);
		}

		/* In order, and each without what those before it have: kdump's
		 * has the kernel's image twice. */
		reach = 0;
		total = 0;
		qsort(dump->segments, dump->count, sizeof(*dump->segments),
		      segment_compare);
		for (size_t i = 0; i < dump->count; i++) {
			struct dump_segment s = dump->segments[i];
			uint64_t known =
				reach > s.physical ? reach - s.physical : 0;

			if (known >= s.size)
				continue;
			s.physical += known;
			s.offset += known;
			s.size -= known;
			reach = s.physical + s.size;
			dump->pages += s.size / DUMP_PAGE;
			dump->segments[total++] = s;
		}
		dump->count = total;
	}
	free(headers);
	return code;
}

/* ---- reading ---- */

/* That has this address. */
static const struct dump_segment *elf_segment_find(const struct dump *dump,
						   uint64_t physical)
{
	size_t low = 0, high = dump->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dump->segments[middle].physical <= physical)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	return physical - dump->segments[low - 1].physical <
	       dump->segments[low - 1].size ? &dump->segments[low - 1] : NULL;
}

size_t dump_elf_read(struct dump *dump, uint64_t physical, void *to,
		     size_t size)
{
	size_t done = 0;

	while (done < size) {
		const struct dump_segment *s =
			elf_segment_find(dump, physical + done);
		uint64_t at, n;

		if (!s)
			break;
		at = physical + done - s->physical;
		n = s->size - at;
		if (n > size - done)
			n = size - done;
		if (!dump_fetch(dump, s->offset + at, (uint8_t *)to + done, n))
			break;
		done += n;
	}
	return done;
}
