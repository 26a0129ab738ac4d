// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "trcust/compile/symbol.h"
#include "lib/hash.h"
#include "lib/formats/rpn.h"
#include "lib/debug/arch/arch.h"
#include "tdf_write.h"

#define INSN_TEXT	128	/* bytes of an instruction as text */

struct tdf_writer {
	const struct compilation *c;
	const struct compiled *compiled;
	struct tdf_header header;
	struct bytes file;
	struct strings strings;
	struct tdf_section sections[TDF_SECTIONS_MAX];
	bool too_many;		/* of them */
};

/* The next table begins here. */
static void table_begin(struct tdf_writer *w, struct tdf_table *table,
			size_t count)
{
	bytes_align(&w->file);
	table->offset = w->file.size;
	table->count = count;
}

static void write_module(struct tdf_writer *w)
{
	const struct module *m = w->c->module;
	struct tdf_module out = {
		.path = strings_add(&w->strings, m->path),
		.name = strings_add(&w->strings, w->c->tsf->modname),
		.machine = m->machine,
		.elf_class = m->elf_class,
		.kind = m->kind,
		.id_kind = m->identity.kind,
		.id_length = m->identity.length,
	};

	memcpy(out.id, m->identity.id, sizeof(out.id));
	table_begin(w, &w->header.modules, 1);
	bytes_add(&w->file, &out, sizeof(out));
}

static void write_names(struct tdf_writer *w, struct tdf_table *table,
			const struct tsf_name *names, size_t count)
{
	table_begin(w, table, count);
	for (size_t i = 0; i < count; i++) {
		struct tdf_name out = {
			.name = strings_add(&w->strings, names[i].name),
			.id = names[i].id,
		};

		bytes_add(&w->file, &out, sizeof(out));
	}
}

static void write_points(struct tdf_writer *w)
{
	uint32_t site = 0;

	table_begin(w, &w->header.points, w->compiled->dynamic_count);
	for (size_t i = 0; i < w->compiled->point_count; i++) {
		const struct compile_point *in = &w->compiled->points[i];
		struct tdf_point out = {
			.hash = in->hash,
			.minor = in->tsf->minor,
			.type = in->tsf->type,
			.group = in->tsf->group,
			.line = in->tsf->pos.line,
			.name = strings_add(&w->strings, in->tsf->tp.text),
			.first_site = site,
			.sites = in->site_count,
			.maxhits = in->tsf->maxhits,
			.passcount = in->tsf->passcount,
			.flags = in->tsf->continue_on_fault ?
					 TDF_POINT_CONTINUE : 0,
		};

		if (in->is_static)
			continue;
		bytes_add(&w->file, &out, sizeof(out));
		site += out.sites;
	}
}

/* *stmt: of the statements table, in the order of the sites. */
static void write_site(struct tdf_writer *w, const struct compile_site *in,
		       uint32_t *stmt)
{
	char text[INSN_TEXT];
	struct tdf_site out = {
		.offset = in->offset,
		.address = in->address,
		.nominal = in->nominal,
		.symbol = strings_add(&w->strings, in->symbol),
		.symbol_offset = in->symbol_offset,
		.cost = in->cost,
		.insn_length = in->insn_length,
		.flags = in->flags,
		.semaphore = in->semaphore,
		.first_stmt = *stmt,
		.stmts = in->stmts,
	};

	/* A site of the kernel may have no instruction: no text either. */
	if (!arch_insn_print(w->c->module->arch, in->insn, in->insn_length,
			     in->address, text, sizeof(text)))
		out.text = strings_add(&w->strings, text);
	memcpy(out.insn, in->insn, sizeof(out.insn));
	bytes_add(&w->file, &out, sizeof(out));
	*stmt += in->stmts;
}

static size_t site_count(const struct compiled *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->point_count; i++)
		count += c->points[i].site_count;
	return count;
}

static void write_sites(struct tdf_writer *w)
{
	uint32_t stmt = 0;

	table_begin(w, &w->header.sites, site_count(w->compiled));
	for (size_t i = 0; i < w->compiled->point_count; i++)
		for (size_t j = 0; j < w->compiled->points[i].site_count; j++)
			write_site(w, &w->compiled->points[i].sites[j], &stmt);
}

/* In the order of the tracepoints, which is not that of the TSF. */
static void write_stmts(struct tdf_writer *w)
{
	const struct compiled *c = w->compiled;

	table_begin(w, &w->header.stmts, c->stmt_count);
	for (size_t i = 0; i < c->point_count; i++)
		for (size_t j = 0; j < c->points[i].site_count; j++) {
			const struct compile_site *in = &c->points[i].sites[j];

			if (in->stmts)
				bytes_add(&w->file, &c->stmts[in->first_stmt],
					  in->stmts * sizeof(*c->stmts));
		}
	table_begin(w, &w->header.rpn, c->rpn.size);
	bytes_join(&w->file, &c->rpn);
}

static int tdf_section_compare(const void *a, const void *b)
{
	const struct tdf_section *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* The one that the operand of a DW_OP_addr is in. */
static void tdf_section_add(struct tdf_writer *w, uint64_t address)
{
	uint32_t *count = &w->header.sections.count;
	struct module_section in;

	for (uint32_t i = 0; i < *count; i++)
		if (address - w->sections[i].address < w->sections[i].size)
			return;
	if (!symbol_section_find(w->c, address, &in))
		return;
	if (*count == TDF_SECTIONS_MAX) {
		w->too_many = true;
		return;
	}
	w->sections[(*count)++] = (struct tdf_section) {
		.address = in.address, .size = in.size,
		.name = strings_add(&w->strings, in.name),
		.flags = in.percpu ? TDF_SECTION_PERCPU : 0,
	};
}

static void write_sections(struct tdf_writer *w)
{
	const struct bytes *rpn = &w->compiled->rpn;
	struct rpn_op op = { 0 };
	uint32_t count;

	while (rpn_next(rpn->data, rpn->size, &op))
		if (op.code == RPN_addr)
			tdf_section_add(w, op.a);
	count = w->header.sections.count;
	qsort(w->sections, count, sizeof(*w->sections), tdf_section_compare);
	table_begin(w, &w->header.sections, count);
	bytes_add(&w->file, w->sections, count * sizeof(*w->sections));
}

static void write_header(struct tdf_writer *w)
{
	struct tdf_header *h = &w->header;

	table_begin(w, &h->strings, w->strings.bytes.size);
	bytes_join(&w->file, &w->strings.bytes);
	memcpy(h->magic, TDF_MAGIC, sizeof(h->magic));
	h->version = TDF_VERSION;
	h->header_size = sizeof(*h);
	h->file_size = w->file.size;
	h->major = w->c->tsf->major;
	h->maxdata = w->c->tsf->maxdata;
	if (w->file.failed)
		return;
	memcpy(w->file.data, h, sizeof(*h));
	h->crc = hash_crc32(0, w->file.data, w->file.size);
	memcpy(w->file.data, h, sizeof(*h));
}

/* Only a TDF is replaced: not the TSF, not the module, nothing else. */
static int check_old(const char *path, struct error *err)
{
	char magic[sizeof(((struct tdf_header *)0)->magic)];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n = read(fd, magic, sizeof(magic));
	close(fd);
	if (!n || (n == sizeof(magic) && !memcmp(magic, TDF_MAGIC, n)))
		return 0;
	return error_set(err, -EINVAL, "'%s' exists and is not a TDF", path);
}

int tdf_write(struct outfile **out, const char *path,
	      const struct compilation *c, const struct compiled *compiled,
	      struct error *err)
{
	struct tdf_writer w = { .c = c, .compiled = compiled };
	int code;

	bytes_add(&w.file, &w.header, sizeof(w.header));
	w.header.tsf = strings_add(&w.strings, diag_path(c->diag));
	write_module(&w);
	write_names(&w, &w.header.types, c->tsf->types, c->tsf->type_count);
	write_names(&w, &w.header.groups, c->tsf->groups,
		    c->tsf->group_count);
	write_points(&w);
	write_sites(&w);
	write_stmts(&w);
	write_sections(&w);
	write_header(&w);
	if (w.file.failed || w.strings.bytes.failed)
		code = error_no_memory(err);
	else if (w.too_many)
		code = error_set(err, -E2BIG, "data of more than %d sections",
				 TDF_SECTIONS_MAX);
	else
		code = check_old(path, err);
	if (!code)
		code = outfile_open(out, path, err);
	if (!code)
		outfile_write(*out, w.file.data, w.file.size);
	bytes_free(&w.file);
	strings_free(&w.strings);
	return code;
}
