// SPDX-License-Identifier: GPL-2.0
#include "dump.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <rastrace/rasfile.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/outfile.h"
#include "lib/library.h"
#include "lib/formats/chunk.h"

#define INFO_NAME	"VMCOREINFO"
#define CPU_NAME	"QEMU"

/* "FILE is damaged: what"; returns -EINVAL. */
static int dump_damaged(const char *path, const char *what, struct error *err)
{
	return error_set(err, -EINVAL, "'%s' is damaged: %s", path, what);
}

/* Read exactly these bytes of the file. */
static bool dump_fetch(const struct dump *dump, uint64_t at, void *to,
		       size_t size)
{
	return at <= INT64_MAX - size &&
	       !temp_file_read(dump->fd, to, size, at);
}

/* A copy with a zero at its end. */
static void dump_text_set(struct dump_text *text, const void *data, size_t size)
{
	if (text->data)
		return;
	text->data = malloc(size + 1);
	if (!text->data)
		return;
	memcpy(text->data, data, size);
	text->data[size] = '\0';
	text->size = size;
}

/* Take VMCOREINFO and the processor's out of ELF notes. */
static void dump_notes_take(struct dump *dump, const uint8_t *notes,
			    size_t size)
{
	Elf64_Nhdr note;
	size_t at = 0;

	while (size - at >= sizeof(note)) {
		uint64_t name, data;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		name = ((uint64_t)note.n_namesz + 3) & ~3ULL;
		data = ((uint64_t)note.n_descsz + 3) & ~3ULL;
		if (name > size - at || data > size - at - name)
			return;
		if (note.n_namesz == sizeof(INFO_NAME) &&
		    !memcmp(notes + at, INFO_NAME, sizeof(INFO_NAME)))
			dump_text_set(&dump->info, notes + at + name,
				      note.n_descsz);
		if (note.n_namesz == sizeof(CPU_NAME) &&
		    !memcmp(notes + at, CPU_NAME, sizeof(CPU_NAME)))
			dump_text_set(&dump->cpu, notes + at + name,
				      note.n_descsz);
		at += name + data;
	}
}

/*
 * The form in which makedumpfile -F and QEMU write to what can't be sought in:
 * a header of 4096 bytes, then pieces, each with where it belongs and how long
 * it is (big-endian); -1 ends it.
 */

#define HEADER		4096
#define BUFFER		(64u << 10)

struct piece {
	uint64_t offset, size;		/* big-endian */
};

/* `size` bytes at `from` go to `to`, as far as they are there. */
static int flat_copy(struct dump *dump, uint64_t from, int fd, uint64_t to,
		     uint64_t size)
{
	uint8_t buffer[BUFFER];
	int code = 0;

	while (size && !code) {
		ssize_t n = pread(dump->fd, buffer,
				  size < BUFFER ? size : BUFFER, from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		code = temp_file_write(fd, buffer, n, to);
		from += n;
		to += n;
		size -= n;
	}
	dump->cut |= size;
	return code;
}

static int pieces_copy(struct dump *dump, int fd)
{
	uint64_t at = HEADER;
	struct piece piece;
	int code = 0;

	while (!code && !dump->cut) {
		uint64_t to, size;

		if (pread(dump->fd, &piece, sizeof(piece), at) !=
		    sizeof(piece)) {
			dump->cut = true;
			break;
		}
		to = be64toh(piece.offset);
		size = be64toh(piece.size);
		if (to > INT64_MAX || size > INT64_MAX - to)
			break;
		at += sizeof(piece);
		code = flat_copy(dump, at, fd, to, size);
		at += size;
	}
	return code;
}

/* dump->fd becomes a file in the right order. 0, or a negative errno with err
 * set. */
static int dump_flat_open(struct dump *dump, const char *path,
			  struct error *err)
{
	int fd = temp_file_open();
	int code = fd < 0 ? fd : pieces_copy(dump, fd);

	if (fd >= 0) {
		close(dump->fd);
		dump->fd = fd;
	}
	if (!code)
		return 0;
	error_set(err, code, "cannot put '%s' into its order: %s", path,
		  strerror(-code));
	error_hint(err, "it takes as much room in TMPDIR; or: makedumpfile -R DUMP <%s",
		   path);
	return code;
}

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

/* dump->fd is open, all else zero. 0, or a negative errno with err set. */
static int dump_elf_open(struct dump *dump, const char *path, struct error *err)
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

/* As dump_read(). */
static size_t dump_elf_read(struct dump *dump, uint64_t physical, void *to,
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

/*
 * The compressed form of makedumpfile, which QEMU writes, too (makedumpfile's
 * IMPLEMENTATION and diskdump_mod.h): a header, a second one, a bitmap of the
 * machine's pages and one of those that are in the file, a descriptor for each
 * of these, and the pages, packed one by one.
 */

#define MAGIC		"KDUMP   "
#define INFO_MAX	(1u << 20)	/* bytes of VMCOREINFO, of notes */
#define BITMAP_MAX	(1u << 30)	/* bytes: of 32 TiB */
#define PROBES		4096		/* pages looked at for their method */
#define STRETCH		4096		/* pages that are counted together */

struct header {
	char magic[8];
	uint32_t version;
	char uts[6][65];		/* struct new_utsname */
	uint8_t padding[6];
	uint64_t timestamp[2];
	uint32_t status;
	uint32_t block_size;
	uint32_t sub_blocks;
	uint32_t bitmap_blocks;		/* of both bitmaps */
	uint32_t unused[6];
};

#define UTS_MACHINE	4
#define STATUS_INCOMPLETE 8

struct sub_header {
	uint64_t phys_base;
	uint32_t dump_level, split;
	uint64_t pfns[2];
	uint64_t info_offset, info_size;	/* of VMCOREINFO; 0: none */
	uint64_t note_offset, note_size;
};

struct kdump_descriptor {
	uint64_t offset;
	uint32_t size, flags;
	uint64_t page_flags;
};

#define FLAG_ZLIB	0x01
#define FLAG_LZO	0x02
#define FLAG_SNAPPY	0x04
#define FLAG_ZSTD	0x20

_Static_assert(sizeof(struct header) == 464 &&
	       sizeof(struct sub_header) == 64 &&
	       sizeof(struct kdump_descriptor) == 24, "as in the file");

struct dump_kdump {
	uint64_t descriptors;	/* their offset */
	uint8_t *bitmap;
	uint64_t pages;		/* bits of it */
	uint64_t *before;	/* of every stretch: pages in front of it */
	uint64_t at;		/* the page that is in `page`; UINT64_MAX none */
	uint8_t page[DUMP_PAGE];
	uint8_t packed[2 * DUMP_PAGE];
};

/* ---- pages ---- */

#define LZO		"liblzo2.so.2"
#define SNAPPY		"libsnappy.so.1"

static int lzo_expand(const void *from, size_t size, void *to)
{
	static int (*expand)(const void *from, unsigned long size, void *to,
			     unsigned long *room, void *work);
	unsigned long room = DUMP_PAGE;

	if (!expand)
		expand = library_symbol(LZO, "lzo1x_decompress_safe");
	if (!expand)
		return -ENOTSUP;
	return !expand(from, size, to, &room, NULL) && room == DUMP_PAGE ?
	       0 : -EINVAL;
}

static int snappy_expand(const void *from, size_t size, void *to)
{
	static int (*expand)(const void *from, size_t size, void *to,
			     size_t *room);
	size_t room = DUMP_PAGE;

	if (!expand)
		expand = library_symbol(SNAPPY, "snappy_uncompress");
	if (!expand)
		return -ENOTSUP;
	return !expand(from, size, to, &room) && room == DUMP_PAGE ?
	       0 : -EINVAL;
}

static const char *method_library(uint32_t flags)
{
	if (flags & FLAG_LZO)
		return LZO;
	if (flags & FLAG_SNAPPY)
		return SNAPPY;
	return pack_library(flags & FLAG_ZSTD ? RAS_PACKED_ZSTD :
						RAS_PACKED_ZLIB);
}

/* 0; -ENOTSUP: without its library; or another negative errno. */
static int page_expand(uint32_t flags, const uint8_t *from, size_t size,
		       uint8_t *to)
{
	if (flags & FLAG_ZLIB)
		return pack_expand(RAS_PACKED_ZLIB, from, size, to, DUMP_PAGE);
	if (flags & FLAG_LZO)
		return lzo_expand(from, size, to);
	if (flags & FLAG_SNAPPY)
		return snappy_expand(from, size, to);
	if (flags & FLAG_ZSTD)
		return pack_expand(RAS_PACKED_ZSTD, from, size, to, DUMP_PAGE);
	if (size != DUMP_PAGE)
		return -EINVAL;
	memcpy(to, from, size);
	return 0;
}

static int page_fetch(struct dump *dump, const struct kdump_descriptor *d,
		      uint8_t *to)
{
	struct dump_kdump *kdump = dump->kdump;

	if (d->size > sizeof(kdump->packed))
		return -EINVAL;
	if (!dump_fetch(dump, d->offset, kdump->packed, d->size))
		return -ENODATA;
	return page_expand(d->flags, kdump->packed, d->size, to);
}

/* Of the pages in the file, which one is it? */
static uint64_t page_index(const struct dump_kdump *kdump, uint64_t page)
{
	uint64_t first = page / STRETCH * STRETCH;
	uint64_t index = kdump->before[page / STRETCH];

	for (uint64_t i = first / 8; i < page / 8; i++)
		index += __builtin_popcount(kdump->bitmap[i]);
	return index + __builtin_popcount(kdump->bitmap[page / 8] &
					  ((1u << page % 8) - 1));
}

/* Into kdump->page */
static bool page_load(struct dump *dump, uint64_t page)
{
	struct dump_kdump *kdump = dump->kdump;
	struct kdump_descriptor d;

	if (page == kdump->at)
		return true;
	if (page >= kdump->pages || !(kdump->bitmap[page / 8] >> page % 8 & 1))
		return false;
	kdump->at = UINT64_MAX;
	if (!dump_fetch(dump, kdump->descriptors +
			page_index(kdump, page) * sizeof(d), &d, sizeof(d))) {
		dump->cut = true;
		return false;
	}
	switch (page_fetch(dump, &d, kdump->page)) {
	case 0:
		break;
	case -ENODATA:
		dump->cut = true;
		return false;
	default:
		dump->damaged = true;
		return false;
	}
	kdump->at = page;
	return true;
}

/* As dump_read(). */
static size_t dump_kdump_read(struct dump *dump, uint64_t physical, void *to,
			      size_t size)
{
	size_t done = 0;

	while (done < size) {
		uint64_t at = physical + done;
		size_t n = DUMP_PAGE - at % DUMP_PAGE;

		if (!page_load(dump, at / DUMP_PAGE))
			break;
		if (n > size - done)
			n = size - done;
		memcpy((uint8_t *)to + done,
		       dump->kdump->page + at % DUMP_PAGE, n);
		done += n;
	}
	return done;
}

/* ---- opening ---- */

static int kdump_header_check(const struct header *h,
			      const struct sub_header *sub, const char *path,
			      struct error *err)
{
	if (h->block_size != DUMP_PAGE)
		return error_set(err, -EINVAL,
				 "'%s' is of a kernel whose pages have %u bytes, not 4096",
				 path, h->block_size);
	if (sub->split) {
		error_set(err, -EINVAL, "'%s' is one of several parts", path);
		error_hint(err, "put them together: makedumpfile --reassemble PART... DUMP");
		return -EINVAL;
	}
	return 0;
}

static bool bitmap_read(struct dump *dump, const struct header *h)
{
	struct dump_kdump *kdump = dump->kdump;
	uint64_t bytes = (uint64_t)(h->bitmap_blocks / 2) * DUMP_PAGE;
	uint64_t at = (1 + (uint64_t)h->sub_blocks) * DUMP_PAGE + bytes;
	uint64_t count = 0;

	/* nothing is allocated for what the file doesn't have */
	if (!bytes || bytes > BITMAP_MAX || at > dump->size ||
	    bytes > dump->size - at)
		return false;
	kdump->pages = bytes * 8;
	kdump->descriptors = at + bytes;
	kdump->bitmap = malloc(bytes);
	kdump->before = calloc(kdump->pages / STRETCH + 1,
			       sizeof(*kdump->before));
	if (!kdump->bitmap || !kdump->before ||
	    !dump_fetch(dump, at, kdump->bitmap, bytes))
		return false;
	for (uint64_t i = 0; i < bytes; i++) {
		if (i % (STRETCH / 8) == 0)
			kdump->before[i / (STRETCH / 8)] = count;
		count += __builtin_popcount(kdump->bitmap[i]);
	}
	dump->pages = count;
	return true;
}

/* Can the pages be expanded? All of them have one method, or none. */
static int method_check(struct dump *dump, const char *path, struct error *err)
{
	const uint32_t packed = FLAG_ZLIB | FLAG_LZO | FLAG_SNAPPY | FLAG_ZSTD;
	struct dump_kdump *kdump = dump->kdump;
	struct kdump_descriptor d = { 0 };

	for (uint64_t i = 0; i < dump->pages && i < PROBES; i++)
		if (!dump_fetch(dump, kdump->descriptors + i * sizeof(d), &d,
				sizeof(d)) || d.flags & packed)
			break;
	if (!(d.flags & packed) ||
	    page_fetch(dump, &d, kdump->page) != -ENOTSUP)
		return 0;
	error_set(err, -ENOTSUP, "'%s' is compressed by what needs %s", path,
		  method_library(d.flags));
	error_hint(err, "install it, or dump ELF: makedumpfile -E");
	return -ENOTSUP;
}

/* dump->fd is open, all else zero. 0, or a negative errno with err set. */
static int dump_kdump_open(struct dump *dump, const char *path,
			   struct error *err)
{
	struct sub_header sub;
	struct header h;
	int code;
	uint64_t info;
	uint64_t notes;
	uint8_t *bytes;

	if (!dump_fetch(dump, 0, &h.magic, sizeof(h.magic)) ||
	    memcmp(h.magic, MAGIC, sizeof(h.magic)))
		return error_set(err, -EINVAL, "'%s' is no memory dump", path);
	if (!dump_fetch(dump, 0, &h, sizeof(h)) ||
	    !dump_fetch(dump, DUMP_PAGE, &sub, sizeof(sub)))
		return dump_damaged(path, "cut short in its headers", err);
	code = kdump_header_check(&h, &sub, path, err);
	if (code)
		return code;
	dump->kdump = calloc(1, sizeof(*dump->kdump));
	if (!dump->kdump)
		return error_no_memory(err);
	dump->kdump->at = UINT64_MAX;
	memcpy(dump->machine_name, h.uts[UTS_MACHINE],
	       sizeof(dump->machine_name) - 1);
	if (!bitmap_read(dump, &h))
		return dump_damaged(path, "its bitmap of pages is missing",
				     err);
	dump->cut |= h.status & STATUS_INCOMPLETE;
	info = sub.info_size < INFO_MAX ? sub.info_size : INFO_MAX;
	notes = sub.note_size < INFO_MAX ? sub.note_size : INFO_MAX;
	bytes = malloc(INFO_MAX);
	if (bytes && sub.info_offset &&
	    dump_fetch(dump, sub.info_offset, bytes, info))
		dump_text_set(&dump->info, bytes, info);
	if (bytes && sub.note_offset &&
	    dump_fetch(dump, sub.note_offset, bytes, notes))
		dump_notes_take(dump, bytes, notes);
	free(bytes);
	return method_check(dump, path, err);
}

#define FLAT_MAGIC	"makedumpfile"
#define MAGIC_BYTES	16

/* ---- opening ---- */

static int magic_read(struct dump *dump, char *magic, const char *path,
		      struct error *err)
{
	off_t size = lseek(dump->fd, 0, SEEK_END);

	memset(magic, 0, MAGIC_BYTES);
	if (size < 0 || pread(dump->fd, magic, MAGIC_BYTES, 0) < 0)
		return error_set(err, -errno, "cannot read '%s': %s", path,
				 strerror(errno));
	dump->size = size;
	return 0;
}

static int dump_file_open(struct dump *dump, const char *path,
			  struct error *err)
{
	char magic[MAGIC_BYTES];
	int code = magic_read(dump, magic, path, err);

	if (!code && !memcmp(magic, FLAT_MAGIC, strlen(FLAT_MAGIC))) {
		code = dump_flat_open(dump, path, err);
		if (!code)
			code = magic_read(dump, magic, path, err);
	}
	if (code)
		return code;
	return memcmp(magic, ELFMAG, SELFMAG) ?
	       dump_kdump_open(dump, path, err) :
	       dump_elf_open(dump, path, err);
}

int dump_open(struct dump *dump, const char *path, struct error *err)
{
	int code;

	*dump = (struct dump){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	code = dump->fd < 0 ?
	       error_set(err, -errno, "cannot read '%s': %s", path,
			 strerror(errno)) :
	       dump_file_open(dump, path, err);
	if (code)
		dump_close(dump);
	return code;
}

void dump_close(struct dump *dump)
{
	if (dump->kdump) {
		free(dump->kdump->bitmap);
		free(dump->kdump->before);
		free(dump->kdump);
		dump->kdump = NULL;
	}
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump->segments);
	free(dump->info.data);
	free(dump->cpu.data);
	*dump = (struct dump){ .fd = -1 };
}

size_t dump_read(struct dump *dump, uint64_t physical, void *to, size_t size)
{
	return dump->kdump ? dump_kdump_read(dump, physical, to, size) :
			     dump_elf_read(dump, physical, to, size);
}

void dump_info_text(const struct dump *dump, const char *name, char *value,
		    size_t size)
{
	const char *line = dump->info.data, *end = line + dump->info.size;
	size_t length = strlen(name), n;

	*value = '\0';
	while (line && line < end) {
		const char *next = memchr(line, '\n', end - line);

		next = next ? next : end;
		n = next - line;
		if (n > length && line[length] == '=' &&
		    !memcmp(line, name, length)) {
			n -= length + 1;
			n = n < size ? n : size - 1;
			memcpy(value, line + length + 1, n);
			value[n] = '\0';
			return;
		}
		line = next + 1;
	}
}

int dump_info_number(const struct dump *dump, const char *name, int base,
		     uint64_t *value)
{
	char text[32], *end;
	uint64_t number;

	dump_info_text(dump, name, text, sizeof(text));
	number = strtoull(text, &end, base);
	if (!*text || *end)
		return 0;
	*value = number;
	return 1;
}
