// SPDX-License-Identifier: GPL-2.0
#include "tdf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "rpn.h"
#include "table.h"

static bool tdf_has_string(const struct tdf *tdf, __u32 offset)
{
	return offset < tdf->header->strings.count;
}

static int tdf_check_module(const struct table_file *file,
			    const struct tdf *tdf, const struct tdf_module *m)
{
	TABLE_CHECK(tdf_has_string(tdf, m->path) &&
			    tdf_has_string(tdf, m->name),
		    "module without a name");
	TABLE_CHECK(m->elf_class == 1 || m->elf_class == 2,
		    "module of class %u", m->elf_class);
	TABLE_CHECK(m->kind <= TDF_MODULE_KMOD, "module of kind %u", m->kind);
	TABLE_CHECK(m->id_kind <= TDF_ID_CONTENT &&
			    m->id_length <= sizeof(m->id),
		    "module identity of kind %u", m->id_kind);
	TABLE_CHECK(m->id_kind != TDF_ID_NONE || m->kind != TDF_MODULE_USER,
		    "module without an identity");
	return 0;
}

static int tdf_check_names(const struct table_file *file, const struct tdf *tdf,
			   const struct tdf_name *names, __u32 count,
			   __u32 most)
{
	TABLE_CHECK(count <= most, "%u names of types or groups", count);
	for (__u32 i = 0; i < count; i++)
		TABLE_CHECK(tdf_has_string(tdf, names[i].name) &&
				    strlen(tdf_string(tdf, names[i].name)) <=
					    TDF_NAME_MAX,
			    "name %u of a type or group", i);
	return 0;
}

static int tdf_check_site(const struct table_file *file, const struct tdf *tdf,
			  const struct tdf_site *site, bool kernel)
{
	TABLE_CHECK(tdf_has_string(tdf, site->symbol),
		    "site without a symbol name");
	TABLE_CHECK(site->cost <= TDF_COST_UNKNOWN, "site of cost %u",
		    site->cost);
	TABLE_CHECK(site->insn_length <= TDF_INSN_MAX &&
			    (kernel || site->insn_length),
		    "site with an instruction of %u bytes", site->insn_length);
	TABLE_CHECK(!kernel || tdf_string(tdf, site->symbol)[0],
		    "kernel site without a symbol");
	return 0;
}

static int tdf_check_rpn(const struct table_file *file, const struct tdf *tdf,
			 __u32 offset, __u32 length)
{
	struct error why = {0};

	TABLE_CHECK(length && length <= TDF_RPN_MAX &&
			    table_range_valid(offset, length,
					      tdf->header->rpn.count),
		    "expression of %u bytes at %u", length, offset);
	TABLE_CHECK(!rpn_check(tdf->rpn + offset, length, &why),
		    "expression: %s", why.text);
	return 0;
}

static int tdf_check_stmt(const struct table_file *file, const struct tdf *tdf,
			  const struct tdf_stmt *stmt)
{
	if (stmt->kind == TDF_STMT_REG) {
		TABLE_CHECK(!stmt->flags && (stmt->reg_bytes == 2 ||
					     stmt->reg_bytes == 4 ||
					     stmt->reg_bytes == 8),
			    "register statement of %u bytes", stmt->reg_bytes);
		return 0;
	}
	TABLE_CHECK(stmt->kind <= TDF_STMT_ASCIIZ, "statement of kind %u",
		    stmt->kind);
	TABLE_CHECK(!(stmt->flags & ~TDF_STMT_LEN) &&
			    (!stmt->flags || stmt->kind == TDF_STMT_MEM),
		    "statement with flags %#x", stmt->flags);
	TABLE_CHECK(stmt->length && stmt->length <= tdf->header->maxdata,
		    "statement of %u bytes", stmt->length);
	if (tdf_check_rpn(file, tdf, stmt->rpn, stmt->rpn_length))
		return -EINVAL;
	if (!(stmt->flags & TDF_STMT_LEN))
		return 0;
	TABLE_CHECK(stmt->len_bytes == 1 || stmt->len_bytes == 2 ||
			    stmt->len_bytes == 4 || stmt->len_bytes == 8,
		    "length field of %u bytes", stmt->len_bytes);
	return tdf_check_rpn(file, tdf, stmt->len_rpn, stmt->len_rpn_length);
}

/*
 * Statements and sites of one tracepoint. `next` is what earlier tracepoints
 * have used up: ranges ascend, so the checks are linear in the file's size.
 */
static int tdf_check_point(const struct table_file *file, const struct tdf *tdf,
			   const struct tdf_point *p,
			   const struct tdf_point *next)
{
	const struct tdf_header *h = tdf->header;
	bool kernel;

	TABLE_CHECK(p->minor, "tracepoint without a minor code");
	TABLE_CHECK(!p->flags, "tracepoint with flags %#x", p->flags);
	TABLE_CHECK(p->module < h->modules.count &&
			    tdf_has_string(tdf, p->name),
		    "tracepoint %u", p->minor);
	TABLE_CHECK(p->sites && p->first_site >= next->first_site &&
			    table_range_valid(p->first_site, p->sites,
					      h->sites.count),
		    "sites of tracepoint %u", p->minor);
	TABLE_CHECK((!p->stmts || p->first_stmt >= next->first_stmt) &&
			    table_range_valid(p->first_stmt, p->stmts,
					      h->stmts.count),
		    "statements of tracepoint %u", p->minor);
	TABLE_CHECK(p->stmts <= TDF_STMTS_MAX, "%u statements of tracepoint %u",
		    p->stmts, p->minor);
	kernel = tdf->modules[p->module].kind != TDF_MODULE_USER;
	for (__u32 i = 0; i < p->sites; i++)
		if (tdf_check_site(file, tdf, &tdf->sites[p->first_site + i],
				   kernel))
			return -EINVAL;
	for (__u32 i = 0; i < p->stmts; i++)
		if (tdf_check_stmt(file, tdf, &tdf->stmts[p->first_stmt + i]))
			return -EINVAL;
	return 0;
}

static int tdf_check_points(const struct table_file *file,
			    const struct tdf *tdf)
{
	struct tdf_point next = {0};

	TABLE_CHECK(tdf->header->points.count <= TDF_POINTS_MAX,
		    "%u tracepoints", tdf->header->points.count);
	for (__u32 i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *p = &tdf->points[i];

		TABLE_CHECK(p->minor > next.minor, "minor codes don't ascend");
		if (tdf_check_point(file, tdf, p, &next))
			return -EINVAL;
		next.minor = p->minor;
		next.first_site = p->first_site + p->sites;
		if (p->stmts)
			next.first_stmt = p->first_stmt + p->stmts;
	}
	return 0;
}

static int tdf_map_tables(const struct table_file *file, struct tdf *tdf)
{
	const struct tdf_header *h = tdf->header;

#define TABLE(name) \
	(tdf->name = table_entries(file, #name, h->name, sizeof(*tdf->name)))
	if (!TABLE(modules) || !TABLE(types) || !TABLE(groups) ||
	    !TABLE(points) || !TABLE(sites) || !TABLE(stmts) || !TABLE(rpn))
		return -EINVAL;
#undef TABLE
	tdf->strings = table_strings(file, h->strings);
	return tdf->strings ? 0 : -EINVAL;
}

static int tdf_check(const struct table_file *file, struct tdf *tdf)
{
	const struct tdf_header *h = tdf->header;

	if (table_file_check(file, TDF_MAGIC, TDF_VERSION, sizeof(*h)) ||
	    tdf_map_tables(file, tdf))
		return -EINVAL;
	TABLE_CHECK(h->major >= 1 && h->major <= 255, "major code %u",
		    h->major);
	TABLE_CHECK(h->maxdata >= TDF_DATA_MIN && h->maxdata <= TDF_DATA_MAX,
		    "MAXDATALENGTH %u", h->maxdata);
	TABLE_CHECK(tdf_has_string(tdf, h->tsf), "name of the TSF");
	TABLE_CHECK(h->modules.count && h->modules.count <= 65535, "%u modules",
		    h->modules.count);
	for (__u32 i = 0; i < h->modules.count; i++)
		if (tdf_check_module(file, tdf, &tdf->modules[i]))
			return -EINVAL;
	if (tdf_check_names(file, tdf, tdf->types, h->types.count,
			    TDF_TYPES_MAX) ||
	    tdf_check_names(file, tdf, tdf->groups, h->groups.count,
			    TDF_GROUPS_MAX))
		return -EINVAL;
	return tdf_check_points(file, tdf);
}

/* Takes over `data`. */
static int tdf_adopt(struct tdf **result, void *data, size_t size,
		     const char *path, struct error *err)
{
	struct table_file file = {"TDF", path, data, size, err};
	struct tdf *tdf = calloc(1, sizeof(*tdf));
	int code;

	*result = NULL;
	if (!tdf || !(tdf->path = strdup(path))) {
		free(tdf);
		free(data);
		return error_set(err, -ENOMEM, "out of memory");
	}
	tdf->data = data;
	tdf->header = data;
	code = tdf_check(&file, tdf);
	if (code) {
		tdf_close(tdf);
		return code;
	}
	*result = tdf;
	return 0;
}

int tdf_open(struct tdf **tdf, const char *path, struct error *err)
{
	void *data;
	size_t size;
	int code = table_file_read(path, &data, &size, err);

	*tdf = NULL;
	return code ? code : tdf_adopt(tdf, data, size, path, err);
}

int tdf_parse(struct tdf **tdf, const void *data, size_t size, const char *path,
	      struct error *err)
{
	void *copy = malloc(size + 1);

	*tdf = NULL;
	if (!copy)
		return error_set(err, -ENOMEM, "out of memory");
	memcpy(copy, data, size);
	return tdf_adopt(tdf, copy, size, path, err);
}

void tdf_close(struct tdf *tdf)
{
	if (!tdf)
		return;
	free((void *)tdf->data);
	free(tdf->path);
	free(tdf);
}
