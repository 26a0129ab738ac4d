// SPDX-License-Identifier: GPL-2.0
#include "module_rel.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "lib/debug/arch/arch.h"

#define UNPACKED_MAX	(256u << 20)	/* bytes of a module */
#define MEMORY_MAX	(128u << 20)	/* that unpacking may need */
#define WINDOW_LOG_MAX	27		/* the same for zstd */
#define CHUNK		(64u << 10)
#define GZIP_WINDOW	(15 + 16)	/* of inflateInit2: gzip, no zlib */

const char *const unpack_suffixes[] = { ".xz", ".zst", ".gz", NULL };

struct unpack {
	int from, to;
	off_t at;		/* in `from` */
	uint64_t written;
	uint8_t in[CHUNK], out[CHUNK];
	size_t have;		/* bytes of in */
	struct error *err;
};

/* All methods: the next bytes from u->in, into u->out. *used and *made are how
 * many. 0 goes on, 1 the end of what is compressed, negative: damaged. */
struct unpack_method {
	const char *name, *magic;
	size_t magic_length;
	void *(*begin)(void);
	int (*step)(void *state, struct unpack *u, size_t from, bool last,
		    size_t *used, size_t *made);
	void (*end)(void *state);
};

static void *xz_begin(void)
{
	lzma_stream *s = calloc(1, sizeof(*s));

	if (s && !lzma_stream_decoder(s, MEMORY_MAX, 0))
		return s;
	free(s);
	return NULL;
}

static int xz_step(void *state, struct unpack *u, size_t from, bool last,
		   size_t *used, size_t *made)
{
	lzma_stream *s = state;
	lzma_ret ret;

	s->next_in = u->in + from;
	s->avail_in = u->have - from;
	s->next_out = u->out;
	s->avail_out = sizeof(u->out);
	ret = lzma_code(s, last ? LZMA_FINISH : LZMA_RUN);
	*used = u->have - from - s->avail_in;
	*made = sizeof(u->out) - s->avail_out;
	if (ret == LZMA_STREAM_END)
		return 1;
	return ret == LZMA_OK || ret == LZMA_BUF_ERROR ? 0 : -EINVAL;
}

static void xz_end(void *state)
{
	lzma_end(state);
	free(state);
}

static void *gzip_begin(void)
{
	z_stream *s = calloc(1, sizeof(*s));

	if (s && !inflateInit2(s, GZIP_WINDOW))
		return s;
	free(s);
	return NULL;
}

static int gzip_step(void *state, struct unpack *u, size_t from, bool last,
		     size_t *used, size_t *made)
{
	z_stream *s = state;
	int ret;

	s->next_in = u->in + from;
	s->avail_in = u->have - from;
	s->next_out = u->out;
	s->avail_out = sizeof(u->out);
	ret = inflate(s, Z_NO_FLUSH);
	*used = u->have - from - s->avail_in;
	*made = sizeof(u->out) - s->avail_out;
	if (ret == Z_STREAM_END)
		return 1;
	return ret == Z_OK || ret == Z_BUF_ERROR ? 0 : -EINVAL;
}

static void gzip_end(void *state)
{
	inflateEnd(state);
	free(state);
}

static void *zstd_begin(void)
{
	ZSTD_DStream *s = ZSTD_createDStream();

	if (s)
		ZSTD_DCtx_setParameter(s, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return s;
}

static int zstd_step(void *state, struct unpack *u, size_t from, bool last,
		     size_t *used, size_t *made)
{
	ZSTD_inBuffer in = { u->in + from, u->have - from, 0 };
	ZSTD_outBuffer out = { u->out, sizeof(u->out), 0 };
	size_t ret = ZSTD_decompressStream(state, &out, &in);

	*used = in.pos;
	*made = out.pos;
	return ZSTD_isError(ret) ? -EINVAL : !ret;
}

static void zstd_end(void *state)
{
	ZSTD_freeDStream(state);
}

static const struct unpack_method methods[] = {
	{ "xz", "\xfd" "7zXZ\0", 6, xz_begin, xz_step, xz_end },
	{ "zstd", "\x28\xb5\x2f\xfd", 4, zstd_begin, zstd_step, zstd_end },
	{ "gzip", "\x1f\x8b", 2, gzip_begin, gzip_step, gzip_end },
};

static int unpack_write(struct unpack *u, size_t size)
{
	const uint8_t *from = u->out;

	u->written += size;
	if (u->written > UNPACKED_MAX)
		return error_set(u->err, -EFBIG,
				 "it has more than %u MiB when it is unpacked",
				 UNPACKED_MAX >> 20);
	while (size) {
		ssize_t n = write(u->to, from, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_no_memory(u->err);
		from += n;
		size -= n;
	}
	return 0;
}

static int stream_unpack(struct unpack *u, const struct unpack_method *method)
{
	void *state = method->begin();
	ssize_t n = 1;
	int end = 0;

	if (!state)
		return error_no_memory(u->err);
	while (!end && n > 0) {
		size_t from = 0, used, made;

		n = pread(u->from, u->in, sizeof(u->in), u->at);
		u->have = n > 0 ? n : 0;
		u->at += u->have;

		/* A step that neither uses nor makes anything waits for more. */
		do {
			end = n < 0 ? -EIO : method->step(state, u, from, !n,
							  &used, &made);
			if (end >= 0 && made && unpack_write(u, made))
				end = -EFBIG;
			from += end ? 0 : used;
		} while (!end && (from < u->have ? used || made :
						   made == sizeof(u->out)));
	}
	method->end(state);
	if (end == 1)
		return 0;
	if (end != -EFBIG)
		error_set(u->err, -EIO, "it is compressed (%s), and damaged or cut short",
			  method->name);
	return -EIO;
}

int unpack_file(int fd, int *unpacked, struct error *err)
{
	const struct unpack_method *method = NULL;
	uint8_t head[8];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	struct unpack *u;
	int code;

	*unpacked = -1;
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (n >= (ssize_t)methods[i].magic_length &&
		    !memcmp(head, methods[i].magic, methods[i].magic_length))
			method = &methods[i];
	if (!method)
		return 0;
	u = calloc(1, sizeof(*u));
	if (!u)
		return error_no_memory(err);
	u->from = fd;
	u->err = err;
	u->to = memfd_create("module", MFD_CLOEXEC);
	code = u->to < 0 ? error_set(err, -errno, "%s", strerror(errno)) :
			   stream_unpack(u, method);
	if (!code)
		*unpacked = u->to;
	else if (u->to >= 0)
		close(u->to);
	free(u);
	return code;
}

#define REL_START	0x10000		/* of the first section */
#define REL_END		0x60000000	/* of the last one: distances have 32
					 * bits */
#define REL_GAP		16		/* what ends in front of a section is
					 * none of it */
#define REL_ALIGN_MAX	(2u << 20)
#define REL_OUTSIDE	16		/* from an undefined symbol to the next */
#define REL_PAGE		4096ULL
#define REL_SECTIONS_MAX	4096	/* that have addresses */

struct rel {
	Elf *elf, *like;
	const struct arch *arch;
	size_t names, like_names;	/* sections of their names */
	bool *taken;			/* sections of `like` that are matched */
	uint64_t next;			/* free address */
	Elf_Scn *symtab;		/* NULL: none */
	Elf_Data *symbols;
	uint64_t left;			/* bytes of relocations */
	uint64_t compressed_left;	/* bytes of compressed sections */
	struct error *err;
};

Elf *module_rel_open(int fd, uint64_t size, void **image, struct error *err)
{
	uint64_t have = 0;
	ssize_t n = 1;
	Elf *elf = NULL;

	*image = malloc(size + 1);
	if (!*image) {
		error_no_memory(err);
		return NULL;
	}
	while (have < size && n > 0) {
		n = pread(fd, (char *)*image + have, size - have, have);
		have += n > 0 ? n : 0;
	}
	if (n < 0)
		error_set(err, -EIO, "it cannot be read");
	else if (!(elf = elf_memory(*image, have)))
		error_set(err, -EIO, "%s", elf_errmsg(-1));
	if (!elf) {
		free(*image);
		*image = NULL;
	}
	return elf;
}

static bool section_has_bytes(const GElf_Shdr *sh)
{
	return sh->sh_type != SHT_NULL && sh->sh_type != SHT_NOBITS &&
	       sh->sh_size;
}

static bool ranges_overlap(uint64_t a, uint64_t a_size, uint64_t b,
			   uint64_t b_size)
{
	return a < b ? b - a < a_size : a - b < b_size;
}

/* Sections will be written to: what describes them must stay as it is. */
static int rel_check_headers(struct rel *rel)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	GElf_Shdr sh;
	size_t count;

	if (!gelf_getehdr(rel->elf, &eh) || elf_getshdrnum(rel->elf, &count))
		return module_refuse(rel->err,
				     "its ELF header is truncated or damaged");
	rel->arch = arch_find(eh.e_machine, eh.e_ident[EI_CLASS]);
	if (!rel->arch)
		return module_refuse(rel->err, "it is for another machine");
	while ((scn = elf_nextscn(rel->elf, scn)))
		if (gelf_getshdr(scn, &sh) && section_has_bytes(&sh) &&
		    (sh.sh_offset < eh.e_ehsize ||
		     sh.sh_offset < sizeof(Elf64_Ehdr) ||
		     ranges_overlap(sh.sh_offset, sh.sh_size, eh.e_shoff,
				    count * sizeof(Elf64_Shdr))))
			return module_refuse(rel->err, "a section of it covers "
						       "its headers");
	return 0;
}

static const char *rel_section_name(Elf *elf, size_t names, const GElf_Shdr *sh)
{
	const char *name = elf_strptr(elf, names, sh->sh_name);

	return name ? name : "";
}

/* Where `like` has the section. */
static bool rel_find_like(struct rel *rel, GElf_Shdr *sh)
{
	const char *name = rel_section_name(rel->elf, rel->names, sh);
	Elf_Scn *scn = NULL;
	GElf_Shdr other;

	while (rel->like && (scn = elf_nextscn(rel->like, scn))) {
		bool *taken = &rel->taken[elf_ndxscn(scn)];

		if (*taken || !gelf_getshdr(scn, &other) ||
		    !(other.sh_flags & SHF_ALLOC) ||
		    other.sh_size < sh->sh_size ||
		    strcmp(rel_section_name(rel->like, rel->like_names, &other),
			   name))
			continue;
		*taken = true;
		sh->sh_addr = other.sh_addr;
		return true;
	}
	return false;
}

static int rel_place_all(struct rel *rel)
{
	Elf_Scn *scn = NULL;
	size_t count = 0;
	uint64_t align;
	GElf_Shdr sh;

	/* Sections without an equal in `like` come after those of it. */
	rel->next = REL_START;
	if (rel->like) {
		if (elf_getshdrnum(rel->like, &count) ||
		    elf_getshdrstrndx(rel->like, &rel->like_names))
			return module_refuse(rel->err, MODULE_BAD_SECTIONS);
		rel->taken = calloc(count + 1, sizeof(*rel->taken));
		if (!rel->taken)
			return error_no_memory(rel->err);
		while ((scn = elf_nextscn(rel->like, scn)))
			if (gelf_getshdr(scn, &sh) &&
			    (sh.sh_flags & SHF_ALLOC) &&
			    sh.sh_addr + sh.sh_size > rel->next)
				rel->next = sh.sh_addr + sh.sh_size;
	}
	count = 0;
	scn = NULL;

	while ((scn = elf_nextscn(rel->elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			continue;
		sh.sh_addr = 0;
		if (sh.sh_flags & SHF_ALLOC && ++count > REL_SECTIONS_MAX)
			return module_refuse(rel->err,
					     "it has too many sections");
		if (sh.sh_flags & SHF_ALLOC &&
		    !rel_find_like(rel, &sh)) {
			align = sh.sh_addralign;
			if (!align || align & (align - 1) ||
			    align > REL_ALIGN_MAX)
				align = 1;
			sh.sh_addr = (rel->next + REL_GAP + align - 1) & -align;
			if (sh.sh_size > REL_END ||
			    sh.sh_addr > REL_END - sh.sh_size)
				return module_refuse(rel->err, "its sections "
						     "are too large");
			rel->next = sh.sh_addr + sh.sh_size;
		}
		gelf_update_shdr(scn, &sh);
	}
	return 0;
}

/* What is defined elsewhere is placed after the sections, as near as jumps go.
 */
static void rel_set_symbols(struct rel *rel)
{
	Elf_Data *extended = NULL;	/* section numbers above 16 bits */
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym, same;

	do {
		scn = elf_nextscn(rel->elf, scn);
		if (!scn)
			return;
	} while (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB);
	rel->symtab = scn;
	rel->symbols = elf_getdata(scn, NULL);
	if (!rel->symbols)
		return;
	scn = NULL;
	while (!extended && (scn = elf_nextscn(rel->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB_SHNDX &&
		    sh.sh_link == elf_ndxscn(rel->symtab))
			extended = elf_getdata(scn, NULL);
	for (size_t i = 1; gelf_getsym(rel->symbols, i, &sym); i++) {
		Elf32_Word section = 0;

		if (sym.st_shndx < SHN_LORESERVE)
			section = sym.st_shndx;
		else if (sym.st_shndx == SHN_XINDEX && extended &&
			 !gelf_getsymshndx(rel->symbols, extended, i, &same,
					   &section))
			section = 0;
		if (section && gelf_getshdr(elf_getscn(rel->elf, section), &sh))
			sym.st_value += sh.sh_addr;
		else if (sym.st_shndx == SHN_UNDEF ||
			 sym.st_shndx == SHN_COMMON)
			sym.st_value = rel->next + i * REL_OUTSIDE;
		gelf_update_sym(rel->symbols, i, &sym);
	}
}

static uint64_t rel_field_read(const uint8_t *field, uint8_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, field, bytes);
	return bytes == 4 ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* Put the number where the instruction has it. A jump goes as far as its field
 * lets it: what is further away is outside of the module in any case. */
static void field_write(const struct arch_relocation *how, uint8_t *field,
			uint64_t value)
{
	uint32_t mask = (1ULL << how->count) - 1, insn, bits;
	int64_t most;

	if (!how->count) {
		memcpy(field, &value, how->bytes);
		return;
	}
	most = (int64_t)1 << (how->first + how->count - 1);
	if (how->clamps && (int64_t)value < -most)
		value = -most;
	else if (how->clamps && (int64_t)value >= most)
		value = most - 1;
	bits = value >> how->first & mask;
	memcpy(&insn, field, sizeof(insn));
	if (how->low_at) {
		insn &= ~((mask >> 2) << how->at | 3U << how->low_at);
		insn |= (bits >> 2) << how->at | (bits & 3) << how->low_at;
	} else {
		insn = (insn & ~(mask << how->at)) | bits << how->at;
	}
	memcpy(field, &insn, sizeof(insn));
}

struct rel_target {
	GElf_Shdr sh;
	Elf_Data *data;
	bool loaded;		/* the kernel relocates it as well */
};

static int rel_apply(struct rel *rel, const struct rel_target *target,
		     const GElf_Rela *rela, bool in_place)
{
	const struct arch_object_relocation *known = rel->arch->relocations;
	struct arch_relocation how;
	size_t i = 0;
	char text[64];
	uint64_t value, here;
	uint8_t *field;
	GElf_Sym sym;

	while (i < rel->arch->relocation_count &&
	       known[i].type != GELF_R_TYPE(rela->r_info))
		i++;
	if (i == rel->arch->relocation_count) {
		snprintf(text, sizeof(text), "it has a relocation of type %u",
			 (uint32_t)GELF_R_TYPE(rela->r_info));
		return target->loaded ? module_refuse(rel->err, text) : 0;
	}
	how = known[i].relocation;
	if (!how.bytes)
		return 0;
	if (target->data->d_size < how.bytes ||
	    rela->r_offset > target->data->d_size - how.bytes ||
	    !gelf_getsym(rel->symbols, GELF_R_SYM(rela->r_info), &sym))
		return target->loaded ?
		       module_refuse(rel->err,
				     "a relocation of it is damaged") : 0;
	field = (uint8_t *)target->data->d_buf + rela->r_offset;
	value = sym.st_value;
	value += in_place ? rel_field_read(field, how.bytes) :
			    (uint64_t)rela->r_addend;
	here = target->sh.sh_addr + rela->r_offset;
	if (how.relative)
		value = how.pages ? (value & -REL_PAGE) - (here & -REL_PAGE) :
				    value - here;
	field_write(&how, field, value);
	return 0;
}

/* The bytes that a section of relocations is for; false: none that count. */
static bool rel_find_target(struct rel *rel, const GElf_Shdr *relocations,
			    struct rel_target *target)
{
	Elf_Scn *scn = elf_getscn(rel->elf, relocations->sh_info);
	GElf_Shdr *sh = &target->sh;

	if (!relocations->sh_info || !scn || !gelf_getshdr(scn, sh) ||
	    sh->sh_type == SHT_SYMTAB || sh->sh_type == SHT_STRTAB ||
	    sh->sh_type == SHT_RELA || sh->sh_type == SHT_REL ||
	    !section_has_bytes(sh))
		return false;
	target->loaded = sh->sh_flags & SHF_ALLOC;
	if (!target->loaded) {
		if (sh->sh_size > rel->compressed_left)
			return false;
		rel->compressed_left -= sh->sh_size;
		module_section_decompress(
			scn, sh, rel_section_name(rel->elf, rel->names, sh));
	}
	target->data = elf_rawdata(scn, NULL);
	return target->data && target->data->d_buf;
}

static int rel_relocate(struct rel *rel)
{
	Elf_Scn *scn = NULL;
	int code = 0;
	GElf_Rela rela;
	GElf_Shdr sh;

	while (!code && rel->symbols && (scn = elf_nextscn(rel->elf, scn))) {
		struct rel_target target;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) ||
		    (sh.sh_type != SHT_RELA && sh.sh_type != SHT_REL) ||
		    sh.sh_link != elf_ndxscn(rel->symtab) ||
		    sh.sh_size > rel->left ||
		    !rel_find_target(rel, &sh, &target) ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		rel->left -= sh.sh_size;
		for (int i = 0; !code && module_relocation(data, &sh, i, &rela);
		     i++)
			code = rel_apply(rel, &target, &rela,
					 sh.sh_type == SHT_REL);
	}
	return code;
}

int module_rel_link(Elf *elf, uint64_t file_size, Elf *like, struct error *err)
{
	struct rel rel = {
		.elf = elf,
		.like = like,
		.left = file_size,
		.compressed_left = file_size,
		.err = err,
	};
	int code = rel_check_headers(&rel);

	if (!code && elf_getshdrstrndx(elf, &rel.names))
		code = module_refuse(err, MODULE_BAD_SECTIONS);
	if (!code)
		code = rel_place_all(&rel);
	if (!code) {
		rel_set_symbols(&rel);
		code = rel_relocate(&rel);
	}
	free(rel.taken);
	return code;
}

int module_rel_segments(struct module *module, struct error *err)
{
	uint64_t left = module->file_size;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	int code = 0;

	module->segments = calloc(REL_SECTIONS_MAX, sizeof(*module->segments));
	if (!module->segments)
		return error_no_memory(err);
	while (!code && (scn = elf_nextscn(module->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC) ||
		    !section_has_bytes(&sh))
			continue;
		code = module_segment_add(module, (struct module_segment) {
			.address = sh.sh_addr, .offset = sh.sh_offset,
			.size = sh.sh_size,
			.executable = sh.sh_flags & SHF_EXECINSTR,
		}, "section", &left, err);
	}
	return code;
}
