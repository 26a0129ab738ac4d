// SPDX-License-Identifier: GPL-2.0
#include "write.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include <rastrace/tff.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"
#include "lib/formats/format.h"
#include "lib/formats/rpn.h"
#include "lib/formats/tff.h"
#include "lib/hash.h"
#include "trcust/compile/symbol.h"

#define INSN_TEXT	128	/* bytes of an instruction as text */

/* The next table of the file begins here. */
static void table_begin(struct bytes *file, struct tdf_table *table,
			size_t count)
{
	bytes_align(file);
	table->offset = file->size;
	table->count = count;
}

static void name_add(struct bytes *table, struct strings *strings,
		     const char *name, uint32_t id)
{
	struct tdf_name out = {
		.name = strings_add(strings, name), .id = id,
	};

	bytes_add(table, &out, sizeof(out));
}

/* Puts the header in front, with the CRC of all at `crc`; frees the bytes. */
static int file_write(struct bytes *file, const void *header, size_t size,
		      size_t crc, struct outfile **out, const char *path,
		      struct error *err)
{
	uint32_t sum;
	int code;

	if (!file->failed) {
		memcpy(file->data, header, size);
		sum = hash_crc32(0, file->data, file->size);
		memcpy(file->data + crc, &sum, sizeof(sum));
	}
	code = file->failed ? error_no_memory(err) :
			      outfile_open(out, path, err);
	if (!code)
		outfile_write(*out, file->data, file->size);
	bytes_free(file);
	return code;
}

struct tdf_writer {
	const struct compilation *c;
	const struct compiled *compiled;
	struct tdf_header header;
	struct bytes file;
	struct strings strings;
	struct tdf_section sections[TDF_SECTIONS_MAX];
	bool too_many;		/* of them */
};

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
	table_begin(&w->file, &w->header.modules, 1);
	bytes_add(&w->file, &out, sizeof(out));
}

static void write_names(struct tdf_writer *w, struct tdf_table *table,
			const struct tsf_name *names, size_t count)
{
	table_begin(&w->file, table, count);
	for (size_t i = 0; i < count; i++)
		name_add(&w->file, &w->strings, names[i].name, names[i].id);
}

static void write_points(struct tdf_writer *w)
{
	uint32_t site = 0;

	table_begin(&w->file, &w->header.points, w->compiled->dynamic_count);
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
			.flags = in->goes_on ?
					 TDF_POINT_CONTINUE : 0,
			.entry_values = in->entry_count,
		};

		if (in->is_static)
			continue;
		if (in->tsf->tp.whole)
			out.flags |= TDF_POINT_WHOLE;
		bytes_add(&w->file, &out, sizeof(out));
		site += out.sites;
	}
}

/* *stmt: of the statements table, in the order of the sites. */
static void write_site(struct tdf_writer *w, const struct compile_site *in,
		       uint32_t *stmt)
{
	char text[INSN_TEXT];
	/* without a file or map, an address is one of the BTF's image */
	bool placed = w->c->module->elf || w->c->map;
	/* the kernel is asked for its symbols, those of programs are shown */
	bool is_shown = w->c->module->kind == TDF_MODULE_USER;
	char *full = is_shown ? demangle_symbol(in->symbol) : NULL;
	bool failed = is_shown && !full && errno == ENOMEM;
	char *shown = full ? demangle_display(full) : NULL;
	struct tdf_site out = {
		.offset = in->offset,
		.address = placed ? in->address : 0,
		.nominal = placed ? in->nominal : 0,
		.symbol = strings_add(&w->strings, shown ? shown : in->symbol),
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
	w->file.failed |= failed || (full && !shown);
	free(shown);
	free(full);
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

/* Aggregates, which are the last of a site, have their texts. */
static void write_stmt(struct tdf_writer *w, const struct tsf_point *tsf,
		       const struct compile_site *site, uint32_t i)
{
	struct tdf_stmt out = w->compiled->stmts[site->first_stmt + i];
	size_t first = site->stmts - tsf->by_count - tsf->aggregate_count;

	if (out.kind == TDF_STMT_BY)
		out.len_rpn = strings_add(&w->strings,
					  tsf->by[i - first].text);
	else if (out.kind == TDF_STMT_AGGREGATE)
		out.len_rpn = strings_add(&w->strings, tsf->aggregates[
			i - first - tsf->by_count].text);
	bytes_add(&w->file, &out, sizeof(out));
}

/* In the order of the tracepoints, which is not that of the TSF. */
static void write_stmts(struct tdf_writer *w)
{
	const struct compiled *c = w->compiled;

	table_begin(&w->file, &w->header.stmts, c->stmt_count);
	for (size_t i = 0; i < c->point_count; i++)
		for (size_t j = 0; j < c->points[i].site_count; j++) {
			const struct compile_site *in = &c->points[i].sites[j];

			for (uint32_t k = 0; k < in->stmts; k++)
				write_stmt(w, c->points[i].tsf, in, k);
		}
	table_begin(&w->file, &w->header.rpn, c->rpn.size);
	bytes_join(&w->file, &c->rpn);
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
	qsort(w->sections, count, sizeof(*w->sections), array_compare);
	table_begin(&w->file, &w->header.sections, count);
	bytes_add(&w->file, w->sections, count * sizeof(*w->sections));
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
	struct tdf_header *h = &w.header;
	uint32_t stmt = 0;
	int code = 0;

	bytes_add(&w.file, &w.header, sizeof(w.header));
	h->tsf = strings_add(&w.strings, diag_path(c->diag));
	write_module(&w);
	write_names(&w, &h->types, c->tsf->types, c->tsf->type_count);
	write_names(&w, &h->groups, c->tsf->groups, c->tsf->group_count);
	write_points(&w);
	table_begin(&w.file, &h->sites, site_count(w.compiled));
	for (size_t i = 0; i < w.compiled->point_count; i++)
		for (size_t j = 0; j < w.compiled->points[i].site_count; j++)
			write_site(&w, &w.compiled->points[i].sites[j], &stmt);
	write_stmts(&w);
	write_sections(&w);
	table_begin(&w.file, &h->strings, w.strings.bytes.size);
	bytes_join(&w.file, &w.strings.bytes);
	memcpy(h->magic, TDF_MAGIC, sizeof(h->magic));
	h->version = TDF_VERSION;
	h->header_size = sizeof(*h);
	h->file_size = w.file.size;
	h->major = w.c->tsf->major;
	h->maxdata = w.c->tsf->maxdata;
	if (w.too_many && !w.file.failed)
		code = error_set(err, -E2BIG, "data of more than %d sections",
				 TDF_SECTIONS_MAX);
	else if (!w.file.failed)
		code = check_old(path, err);
	if (!code)
		code = file_write(&w.file, &w.header, sizeof(w.header),
				  offsetof(struct tdf_header, crc), out, path,
				  err);
	bytes_free(&w.file);
	strings_free(&w.strings);
	return code;
}

static uint32_t count_entries(const struct bytes *bytes, size_t entry_size)
{
	return bytes->size / entry_size;
}

/* A section's share of the tables begins at what they hold now. */
static void tff_tables_begin(const struct tff_tables *t, struct tff_section *s)
{
	s->first_entry = count_entries(&t->entries, sizeof(struct tff_entry));
	s->first_type = count_entries(&t->types, sizeof(struct tdf_name));
	s->first_group = count_entries(&t->groups, sizeof(struct tdf_name));
	s->first_ctype = count_entries(&t->ctypes, sizeof(struct tff_ctype));
	s->first_member = count_entries(&t->members, sizeof(struct tff_member));
}

static uint32_t copy_string(struct tff_tables *t, const struct tff *from,
			    uint32_t at)
{
	return strings_add(&t->strings, tff_string(from, at));
}

static void copy_names(struct tff_tables *t, const struct tff *from,
		       struct bytes *table, const struct tdf_name *names,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		name_add(table, &t->strings, tff_string(from, names[i].name),
			 names[i].id);
}

void tff_tables_copy(struct tff_tables *t, const struct tff *from,
		     const struct tff_section *in,
		     bool (*keep)(void *context, const struct tff_entry *entry),
		     void *context)
{
	struct tff_section out = *in;

	tff_tables_begin(t, &out);
	out.entries = 0;
	for (uint32_t i = 0; i < in->entries; i++) {
		struct tff_entry entry = from->entries[in->first_entry + i];

		if (keep && !keep(context, &entry))
			continue;
		entry.desc = copy_string(t, from, entry.desc);
		entry.fmt = copy_string(t, from, entry.fmt);
		bytes_add(&t->entries, &entry, sizeof(entry));
		out.entries++;
	}
	if (keep && !out.entries)
		return;
	out.name = copy_string(t, from, in->name);
	out.path = copy_string(t, from, in->path);
	out.tsf = copy_string(t, from, in->tsf);
	copy_names(t, from, &t->types, from->types + in->first_type, in->types);
	copy_names(t, from, &t->groups, from->groups + in->first_group,
		   in->groups);
	for (uint32_t i = 0; i < in->ctypes; i++) {
		struct tff_ctype type = from->ctypes[in->first_ctype + i];

		type.name = copy_string(t, from, type.name);
		bytes_add(&t->ctypes, &type, sizeof(type));
	}
	for (uint32_t i = 0; i < in->members; i++) {
		struct tff_member m = from->members[in->first_member + i];

		m.name = copy_string(t, from, m.name);
		bytes_add(&t->members, &m, sizeof(m));
	}
	bytes_add(&t->sections, &out, sizeof(out));
}

static void add_table(struct bytes *file, struct tdf_table *table,
		      const struct bytes *bytes, size_t entry_size)
{
	table_begin(file, table, count_entries(bytes, entry_size));
	bytes_join(file, bytes);
}

int tff_tables_write(const struct tff_tables *t, unsigned int major,
		     struct outfile **out, const char *path, struct error *err)
{
	struct tff_header h = {
		.magic = TFF_MAGIC,
		.version = TFF_VERSION,
		.header_size = sizeof(h),
		.major = major,
	};
	struct bytes file = { 0 };

	bytes_add(&file, &h, sizeof(h));
	add_table(&file, &h.sections, &t->sections, sizeof(struct tff_section));
	add_table(&file, &h.entries, &t->entries, sizeof(struct tff_entry));
	add_table(&file, &h.types, &t->types, sizeof(struct tdf_name));
	add_table(&file, &h.groups, &t->groups, sizeof(struct tdf_name));
	add_table(&file, &h.ctypes, &t->ctypes, sizeof(struct tff_ctype));
	add_table(&file, &h.members, &t->members, sizeof(struct tff_member));
	add_table(&file, &h.strings, &t->strings.bytes, 1);
	h.file_size = file.size;
	return file_write(&file, &h, sizeof(h),
			  offsetof(struct tff_header, crc), out, path, err);
}

void tff_tables_free(struct tff_tables *t)
{
	bytes_free(&t->sections);
	bytes_free(&t->entries);
	bytes_free(&t->types);
	bytes_free(&t->groups);
	bytes_free(&t->ctypes);
	bytes_free(&t->members);
	strings_free(&t->strings);
}

struct tff_writer {
	const struct compilation *c;
	const struct compiled *compiled;
	const char *module, *path;
	const struct tff *old;		/* NULL: there was no file */
	struct tff_tables t;
	/* Which of the C types the TFF needs: those that the formats name, and
	 * what they consist of. What a pointer points at isn't printed. */
	const struct ctypes *known;
	uint32_t *indices;		/* in the TFF; CTYPE_NONE: not wanted */
};

/* The type that a control names, which the TFF needs; CTYPE_NONE. */
static uint32_t want_name(const void *context, const char *name, size_t length)
{
	const struct tff_writer *w = context;
	uint32_t found = ctypes_find(w->known, name, length);

	if (found != CTYPE_NONE)
		w->indices[found] = 0;
	return found;
}

/* All formats were seen: their indices are given. Parts are before what they
 * make up: backwards, all are found in one go. */
static void types_number(struct tff_writer *w)
{
	uint32_t next = 0;

	for (size_t i = w->known->count; i--;) {
		const struct ctype *type = &w->known->types[i];

		if (w->indices[i] == CTYPE_NONE)
			continue;
		if (tff_kind_has_elements(type->kind))
			w->indices[type->target] = 0;
		for (size_t j = 0; j < type->member_count; j++)
			if (type->kind != TFF_CTYPE_ENUM)
				w->indices[type->members[j].ctype] = 0;
	}
	for (size_t i = 0; i < w->known->count; i++)
		if (w->indices[i] != CTYPE_NONE)
			w->indices[i] = next++;
}

static uint32_t type_index(const struct tff_writer *w, uint32_t type)
{
	return type < w->known->count ? w->indices[type] : CTYPE_NONE;
}

/* The FMT lines, each ended by a line end, or the default format. The C types
 * that it names are wanted. */
static uint32_t add_fmt(struct tff_writer *w, const struct compile_point *point)
{
	struct format_types known = { want_name, w };
	const struct tsf_point *tsf = point->tsf;
	struct bytes text = {0};
	struct format format;
	uint32_t at = 0;

	if (point->fmt)
		bytes_add(&text, point->fmt, strlen(point->fmt));
	for (size_t i = 0; !point->fmt && i < tsf->fmt_count; i++) {
		bytes_add(&text, tsf->fmts[i].text, tsf->fmts[i].length);
		bytes_add(&text, "\n", 1);
	}
	bytes_add(&text, "", 1);
	if (!text.failed) {
		at = strings_add(&w->t.strings, (char *)text.data);
		if (strstr((char *)text.data, "%{")) {
			text.failed = format_compile(&format, (char *)text.data,
						     &known);
			format_free(&format);
		}
	}
	w->t.strings.bytes.failed |= text.failed;
	bytes_free(&text);
	return at;
}

static void tff_add_entries(struct tff_writer *w)
{
	const struct module *module = w->c->module;
	uint16_t migrates = module && module->elf &&
			    module->kind == TDF_MODULE_USER &&
			    runtime_find(module) & RUNTIME_MIGRATES ?
				    TFF_MIGRATES : 0;

	for (size_t i = 0; i < w->compiled->point_count; i++) {
		const struct compile_point *point = &w->compiled->points[i];
		const struct tsf_point *tsf = point->tsf;
		size_t fields = point->entry_fields < TFF_ENTRY_FIELDS_MAX ?
				point->entry_fields : TFF_ENTRY_FIELDS_MAX;
		struct tff_entry entry = {
			.hash = point->hash,
			.minor = tsf->minor,
			.type = tsf->type,
			.group = tsf->group,
			.flags = point->is_static ? TFF_STATIC :
				 tsf->tp.whole ?
				 TFF_WHOLE | migrates | fields << 8 : migrates,
		};

		entry.desc = strings_add(&w->t.strings, tsf->desc ?
						tsf->desc : tsf->tp.text);
		entry.fmt = add_fmt(w, point);
		bytes_add(&w->t.entries, &entry, sizeof(entry));
	}
}

static void add_members(struct tff_writer *w, const struct ctype *type)
{
	for (size_t i = 0; i < type->member_count; i++) {
		const struct ctype_member *in = &type->members[i];
		struct tff_member out = {
			.name = strings_add(&w->t.strings, in->name),
			.value = in->value,
			.bits = in->bits,
		};

		if (type->kind != TFF_CTYPE_ENUM)
			out.ctype = type_index(w, in->ctype);
		bytes_add(&w->t.members, &out, sizeof(out));
	}
}

/* `members`: of the types before it. */
static void add_ctype(struct tff_writer *w, const struct ctype *in,
		      uint32_t members)
{
	struct tff_ctype out = {
		.name = strings_add(&w->t.strings, in->name),
		.bytes = in->bytes,
		.target = TFF_CTYPE_NONE,
		.count = in->count,
		.first_member = members,
		.members = in->member_count,
		.kind = in->kind,
		.is_signed = in->is_signed,
	};

	if (in->kind == TFF_CTYPE_POINTER || tff_kind_has_elements(in->kind))
		out.target = type_index(w, in->target);
	bytes_add(&w->t.ctypes, &out, sizeof(out));
}

/* Strings come in the order in which tff_tables_copy() adds them, so that a
 * section makes the same bytes when it is written and when it is copied. */
static void add_own_section(struct tff_writer *w)
{
	const struct compilation *c = w->c;
	size_t types = w->compiled->ctypes.count;
	struct tff_section out = {
		.entries = w->compiled->point_count,
		.types = c->tsf->type_count,
		.groups = c->tsf->group_count,
	};

	if (c->module) {
		out.id_kind = c->module->identity.kind;
		out.id_length = c->module->identity.length;
		memcpy(out.id, c->module->identity.id, sizeof(out.id));
	}
	tff_tables_begin(&w->t, &out);
	w->known = &w->compiled->ctypes;
	w->indices = malloc((types + 1) * sizeof(*w->indices));
	if (!w->indices || w->known->failed) {
		w->t.strings.bytes.failed = true;
		free(w->indices);
		return;
	}
	for (size_t i = 0; i < types; i++)
		w->indices[i] = CTYPE_NONE;
	tff_add_entries(w);
	out.name = strings_add(&w->t.strings, c->tsf->modname);
	out.path = strings_add(&w->t.strings, w->module);
	out.tsf = strings_add(&w->t.strings, diag_path(c->diag));
	for (size_t i = 0; i < c->tsf->type_count; i++)
		name_add(&w->t.types, &w->t.strings, c->tsf->types[i].name,
			 c->tsf->types[i].id);
	for (size_t i = 0; i < c->tsf->group_count; i++)
		name_add(&w->t.groups, &w->t.strings, c->tsf->groups[i].name,
			 c->tsf->groups[i].id);
	types_number(w);

	/* Those that are wanted, in their order. */
	for (size_t i = 0; i < types; i++) {
		const struct ctype *in = &w->known->types[i];

		if (w->indices[i] == CTYPE_NONE)
			continue;
		add_ctype(w, in, out.members);
		out.members += in->member_count;
		out.ctypes++;
	}
	for (size_t i = 0; i < types; i++)
		if (w->indices[i] != CTYPE_NONE)
			add_members(w, &w->known->types[i]);
	free(w->indices);
	bytes_add(&w->t.sections, &out, sizeof(out));
}

/* What was made from another TSF goes away: its records can't be printed. */
static void check_replaced(const struct tff_writer *w,
			   const struct tff_section *in)
{
	const struct tff_entry *entries = w->old->entries + in->first_entry;
	const char *tsf = tff_string(w->old, in->tsf);
	bool lost = false;

	for (uint32_t i = 0; i < in->entries && !lost; i++) {
		const struct compile_point *points = w->compiled->points;

		lost = true;
		for (size_t j = 0; lost && j < w->compiled->point_count; j++)
			lost = points[j].tsf->minor != entries[i].minor ||
			       points[j].hash != entries[i].hash;
	}
	if (!lost || outfile_is_same(tsf, diag_path(w->c->diag)))
		return;
	diag_report(w->c->diag, w->c->tsf->modname_pos, TRCERR_REPLACED, tsf,
		    w->path);
	diag_hint(w->c->diag, "records of that one can't be printed any more: "
			      "give one of the two another MAJOR, or write "
			      "elsewhere with --output-dir");
}

int tff_write(struct outfile **out, const char *path,
	      const struct compilation *c, const struct compiled *compiled,
	      const char *module, struct error *err)
{
	struct tff_writer w = {
		.c = c, .compiled = compiled, .module = module, .path = path,
	};
	struct tff *old;
	int code = tff_open(&old, path, err);
	bool done = false;

	if (code && code != -ENOENT) {
		error_hint(err, "remove it, or write elsewhere with --output-dir");
		return code;
	}
	if (!code && old->header->major != c->tsf->major) {
		tff_close(old);
		return -EEXIST;
	}
	w.old = code ? NULL : old;

	/* The own section takes the place of the one of the same module. */
	for (uint32_t i = 0; w.old && i < w.old->header->sections.count; i++) {
		const struct tff_section *in = &w.old->sections[i];

		if (strcmp(tff_string(w.old, in->path), w.module)) {
			tff_tables_copy(&w.t, w.old, in, NULL, NULL);
			continue;
		}
		check_replaced(&w, in);
		if (!done)
			add_own_section(&w);
		done = true;
	}
	if (!done)
		add_own_section(&w);
	code = tff_tables_write(&w.t, c->tsf->major, out, path, err);
	tff_tables_free(&w.t);
	tff_close((struct tff *)w.old);
	return code;
}
