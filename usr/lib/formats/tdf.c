// SPDX-License-Identifier: GPL-2.0
#include "tdf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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

static int tdf_check_sections(const struct table_file *file,
			      const struct tdf *tdf)
{
	__u32 count = tdf->header->sections.count;
	__u64 end = 0;

	TABLE_CHECK(count <= TDF_SECTIONS_MAX, "%u sections", count);
	for (__u32 i = 0; i < count; i++) {
		const struct tdf_section *s = &tdf->sections[i];

		TABLE_CHECK(tdf_has_string(tdf, s->name) &&
				    tdf_string(tdf, s->name)[0] &&
				    !strchr(tdf_string(tdf, s->name), '/'),
			    "section without a name");
		TABLE_CHECK(s->module < tdf->header->modules.count &&
				    s->module == tdf->sections->module &&
				    tdf->modules[s->module].kind !=
					    TDF_MODULE_USER,
			    "section of module %u", s->module);
		TABLE_CHECK(!(s->flags & ~TDF_SECTION_PERCPU),
			    "section with flags %#x", s->flags);
		TABLE_CHECK(s->size && s->address >= end &&
				    s->size <= ~0ULL - s->address,
			    "section at %#llx", s->address);
		end = s->address + s->size;
	}
	return 0;
}

/* The kernel reads a symbol from a line of words. */
static bool tdf_is_word(const char *text)
{
	const unsigned char *p = (const void *)text;

	while (*p > ' ' && *p != 0x7f)
		p++;
	return p != (const void *)text && !*p;
}

static int tdf_check_site(const struct table_file *file, const struct tdf *tdf,
			  const struct tdf_site *site, bool kernel)
{
	TABLE_CHECK(tdf_has_string(tdf, site->symbol),
		    "site without a symbol name");
	TABLE_CHECK(tdf_has_string(tdf, site->text),
		    "site without the text of its instruction");
	TABLE_CHECK(site->cost <= TDF_COST_UNKNOWN, "site of cost %u",
		    site->cost);
	TABLE_CHECK(site->insn_length <= TDF_INSN_MAX &&
			    (kernel || site->insn_length),
		    "site with an instruction of %u bytes", site->insn_length);
	TABLE_CHECK(!kernel || tdf_is_word(tdf_string(tdf, site->symbol)),
		    "kernel site without a symbol, or with blanks in it");
	TABLE_CHECK(site->flags <= TDF_SITE_RETURN ||
			    site->flags == TDF_SITE_TAIL_CALL ||
			    site->flags == TDF_SITE_CALL ||
			    site->flags == TDF_SITE_ENTRY,
		    "site with flags %#x", site->flags);
	TABLE_CHECK(!kernel || !site->semaphore,
		    "kernel site with a semaphore");
	return 0;
}

static int tdf_check_rpn(const struct table_file *file, const struct tdf *tdf,
			 __u32 offset, __u32 length, bool segment)
{
	struct error why = {0};

	TABLE_CHECK(length && length <= TDF_RPN_MAX &&
			    table_range_valid(offset, length,
					      tdf->header->rpn.count),
		    "expression of %u bytes at %u", length, offset);
	TABLE_CHECK(!rpn_check(tdf->rpn + offset, length, segment ? 2 : 1,
			       &why),
		    "expression: %s", why.text);
	return 0;
}

enum tdf_needs { NO, MAY, MUST };

/* The most that a statement of this kind logs; the flags that it may have; has
 * it an expression? */
static const struct {
	__u16 length;
	__u8 flags;
	enum tdf_needs rpn;
} tdf_stmt_limits[] = {
	[TDF_STMT_REG] = { 0, 0, NO },
	[TDF_STMT_MEM] = { TDF_DATA_MAX, TDF_STMT_LEN | TDF_STMT_LEN_VALUE |
			   TDF_STMT_RAW | TDF_STMT_MORE | TDF_STMT_SEGMENT |
			   TDF_STMT_LEN_SEGMENT, MUST },
	[TDF_STMT_ASCIIZ] = { TDF_DATA_MAX, TDF_STMT_SEGMENT, MUST },
	[TDF_STMT_VALUE] = { 8, TDF_STMT_RAW | TDF_STMT_MORE | TDF_STMT_BLOCK |
			     TDF_STMT_SIZE, MUST },
	[TDF_STMT_ABSENT] = { TDF_DATA_MAX, 0, NO },
	[TDF_STMT_IF] = { 0, 0, MUST },
	[TDF_STMT_STACK] = { TDF_STACK_MAX, 0, MAY },
	[TDF_STMT_KEY] = { 0, 0, MUST },
	[TDF_STMT_BY] = { TDF_BY_TEXT_MAX, 0, MUST },
	[TDF_STMT_AGGREGATE] = { 0, 0, MAY },
};

static bool tdf_stmt_aggregates(const struct tdf_stmt *stmt)
{
	return stmt->kind == TDF_STMT_BY || stmt->kind == TDF_STMT_AGGREGATE;
}

/* What is different of those that log nothing and have a text */
static int tdf_check_aggregate(const struct table_file *file,
			       const struct tdf *tdf,
			       const struct tdf_stmt *stmt)
{
	bool by = stmt->kind == TDF_STMT_BY;
	bool counts = !by && stmt->reg == TDF_AGGREGATE_COUNT;

	TABLE_CHECK(stmt->reg < (by ? TDF_BY_KINDS : TDF_AGGREGATE_KINDS),
		    "%s of kind %u", by ? "BY" : "aggregate", stmt->reg);
	TABLE_CHECK(by || !stmt->length, "aggregate of %u bytes", stmt->length);
	TABLE_CHECK(!by || stmt->reg == TDF_BY_TEXT ||
		    (stmt->reg == TDF_BY_STACK ?
		     stmt->length <= TDF_STACK_MAX : stmt->length == 8),
		    "BY of %u bytes", stmt->length);
	TABLE_CHECK(by || counts == !stmt->rpn_length,
		    "aggregate with an expression of %u bytes",
		    stmt->rpn_length);
	TABLE_CHECK(tdf_has_string(tdf, stmt->len_rpn) && !stmt->len_rpn_length,
		    "aggregate without its text");
	TABLE_CHECK(!rpn_kept(tdf->rpn + stmt->rpn, stmt->rpn_length),
		    "use of what is kept, in an aggregate");
	return 0;
}

static int tdf_check_stmt(const struct table_file *file, const struct tdf *tdf,
			  const struct tdf_stmt *stmt)
{
	enum tdf_needs needs;

	TABLE_CHECK(stmt->kind <= TDF_STMT_AGGREGATE, "statement of kind %u",
		    stmt->kind);
	needs = tdf_stmt_limits[stmt->kind].rpn;
	if (stmt->kind == TDF_STMT_BY && stmt->reg == TDF_BY_STACK)
		needs = MAY;
	TABLE_CHECK(!(stmt->flags & ~tdf_stmt_limits[stmt->kind].flags),
		    "statement with flags %#x", stmt->flags);
	if (stmt->kind == TDF_STMT_REG)
		TABLE_CHECK(stmt->reg_bytes == 2 || stmt->reg_bytes == 4 ||
				    stmt->reg_bytes == 8,
			    "register statement of %u bytes", stmt->reg_bytes);
	else if (stmt->kind != TDF_STMT_IF && stmt->kind != TDF_STMT_KEY &&
		 stmt->kind != TDF_STMT_AGGREGATE)
		TABLE_CHECK((stmt->length || stmt->kind == TDF_STMT_ABSENT) &&
			    stmt->length <= tdf->header->maxdata &&
			    stmt->length <= tdf_stmt_limits[stmt->kind].length,
			    "statement of %u bytes", stmt->length);
	TABLE_CHECK(stmt->kind != TDF_STMT_VALUE ||
			    !stmt->reg || (stmt->reg <= TDF_KEPT_MAX &&
					   !(stmt->flags & TDF_STMT_RAW)),
		    "value kept as %u", stmt->reg);
	TABLE_CHECK(needs != NO || !stmt->rpn_length,
		    "expression of a statement of kind %u", stmt->kind);
	if ((needs == MUST || stmt->rpn_length) &&
	    tdf_check_rpn(file, tdf, stmt->rpn, stmt->rpn_length,
			  stmt->flags & TDF_STMT_SEGMENT))
		return -EINVAL;
	if (tdf_stmt_aggregates(stmt))
		return tdf_check_aggregate(file, tdf, stmt);
	if (stmt->flags & TDF_STMT_LEN) {
		TABLE_CHECK(!(stmt->flags & (TDF_STMT_RAW | TDF_STMT_MORE)),
			    "LEN with flags %#x", stmt->flags);
		TABLE_CHECK(!(stmt->flags & TDF_STMT_LEN_VALUE) ||
				    !(stmt->flags & TDF_STMT_LEN_SEGMENT),
			    "LEN with flags %#x", stmt->flags);
		TABLE_CHECK(
			stmt->flags & TDF_STMT_LEN_VALUE ||
				stmt->len_bytes == 1 || stmt->len_bytes == 2 ||
				stmt->len_bytes == 4 || stmt->len_bytes == 8,
			"length field of %u bytes", stmt->len_bytes);
		return tdf_check_rpn(file, tdf, stmt->len_rpn,
				     stmt->len_rpn_length,
				     stmt->flags & TDF_STMT_LEN_SEGMENT);
	}
	TABLE_CHECK(!(stmt->flags & (TDF_STMT_LEN_VALUE |
				     TDF_STMT_LEN_SEGMENT)),
		    "statement with flags %#x and no LEN", stmt->flags);
	return 0;
}

/* What a reader of records sees of one or, with MORE, several statements. */
struct tdf_item {
	__u8 kind;		/* VALUE counts as MEM */
	__u8 flags;		/* LEN, RAW */
	__u32 bytes;
};

/* The items of one tracepoint, as far as its sites have them. */
struct tdf_layout {
	struct tdf_item items[TDF_STMTS_MAX];
	__u32 count;
	__u32 by, aggregates, by_stacks;
	bool condition, key;
	bool uses_entry;	/* what a call's entry has left */
	unsigned int entry_values;	/* of these, so many */
};

static int tdf_item_add(const struct table_file *file, const struct tdf *tdf,
			struct tdf_layout *layout, const struct tdf_stmt *stmt)
{
	struct tdf_item *last;

	if (!(stmt->flags & TDF_STMT_MORE)) {
		layout->items[layout->count++] = (struct tdf_item){
			.kind = stmt->kind == TDF_STMT_VALUE ? TDF_STMT_MEM :
							       stmt->kind,
			.flags = stmt->flags & (TDF_STMT_LEN | TDF_STMT_RAW),
			.bytes = stmt->kind == TDF_STMT_REG ? stmt->reg_bytes :
							      stmt->length,
		};
		return 0;
	}
	TABLE_CHECK(layout->count, "MORE without a statement before");
	last = &layout->items[layout->count - 1];
	TABLE_CHECK(last->kind == TDF_STMT_MEM &&
			    !(last->flags & TDF_STMT_LEN) &&
			    !(stmt->flags & TDF_STMT_RAW & ~last->flags),
		    "MORE after another kind of statement");
	last->bytes += stmt->length;
	TABLE_CHECK(last->bytes <= tdf->header->maxdata, "item of %u bytes",
		    last->bytes);
	return 0;
}

/* At all sites of a tracepoint they are the same. */
static void tdf_aggregate_add(struct tdf_layout *layout,
			      const struct tdf_stmt *stmt)
{
	bool by = stmt->kind == TDF_STMT_BY;

	layout->items[layout->count++] = (struct tdf_item){
		.kind = stmt->kind, .flags = stmt->reg, .bytes = stmt->length,
	};
	layout->by += by;
	layout->by_stacks += by && stmt->reg == TDF_BY_STACK;
	layout->aggregates += !by;
}

/* What a statement uses has been kept before, by another one: a bit each. */
static int tdf_check_kept(const struct table_file *file, const struct tdf *tdf,
			  const struct tdf_stmt *stmt, unsigned int *kept)
{
	bool keeps = stmt->kind == TDF_STMT_VALUE && stmt->reg;
	unsigned int own = keeps ? 1u << stmt->reg : 0;
	unsigned int used = rpn_kept(tdf->rpn + stmt->rpn, stmt->rpn_length);

	if (stmt->flags & TDF_STMT_LEN)
		used |= rpn_kept(tdf->rpn + stmt->len_rpn,
				 stmt->len_rpn_length);
	TABLE_CHECK(!(used & (~*kept | own)),
		    "use of what no statement before kept");
	*kept |= own;
	return 0;
}

static void tdf_entry_note(const struct tdf *tdf, __u32 rpn, __u32 length,
			   struct tdf_layout *layout)
{
	unsigned int values;

	layout->uses_entry |= rpn_has_entry(tdf->rpn + rpn, length, &values);
	if (values > layout->entry_values)
		layout->entry_values = values;
}

static int tdf_check_stmts(const struct table_file *file,
			   const struct tdf *tdf, const struct tdf_site *site,
			   struct tdf_layout *layout)
{
	const struct tdf_stmt *stmts = tdf->stmts + site->first_stmt;

	unsigned int kept = 0;

	*layout = (struct tdf_layout){ .count = 0 };
	for (__u32 i = 0; i < site->stmts; i++) {
		int code = tdf_check_stmt(file, tdf, &stmts[i]);

		if (!code)
			code = tdf_check_kept(file, tdf, &stmts[i], &kept);
		if (code)
			return code;
		tdf_entry_note(tdf, stmts[i].rpn, stmts[i].rpn_length, layout);
		if (stmts[i].flags & TDF_STMT_LEN)
			tdf_entry_note(tdf, stmts[i].len_rpn,
				       stmts[i].len_rpn_length, layout);
		if (tdf_stmt_aggregates(&stmts[i])) {
			TABLE_CHECK(stmts[i].kind != TDF_STMT_BY ||
					    !layout->aggregates,
				    "BY after an aggregate");
			tdf_aggregate_add(layout, &stmts[i]);
			continue;
		}
		TABLE_CHECK(!layout->by && !layout->aggregates,
			    "statement after an aggregate");
		if (stmts[i].kind == TDF_STMT_KEY) {
			TABLE_CHECK(!i && !layout->uses_entry,
				    "KEY after another statement");
			layout->key = true;
			continue;
		}
		if (stmts[i].kind != TDF_STMT_IF) {
			code = tdf_item_add(file, tdf, layout, &stmts[i]);
			if (code)
				return code;
			continue;
		}
		TABLE_CHECK(i == layout->key, "IF after another statement");
		layout->condition = true;
	}
	TABLE_CHECK(layout->by <= TDF_BY_MAX &&
			    layout->aggregates <= TDF_AGGREGATES_MAX,
		    "%u aggregates by %u", layout->aggregates, layout->by);
	TABLE_CHECK(layout->by_stacks <= 1, "BY of two stacks");
	TABLE_CHECK(!layout->by || layout->aggregates, "BY of no aggregate");
	return 0;
}

static bool tdf_item_raw(const struct tdf_item *item)
{
	return item->kind == TDF_STMT_REG || item->flags & TDF_STMT_RAW;
}

/* What is in a register at one site may be computed at another one. */
static bool tdf_item_same(const struct tdf_item *a, const struct tdf_item *b)
{
	bool raw = tdf_item_raw(a);

	return a->bytes == b->bytes && raw == tdf_item_raw(b) &&
	       (raw || (a->kind == b->kind && a->flags == b->flags));
}

/* An item may be absent where it has a prefix for that. */
static bool tdf_item_absent(const struct tdf_item *absent,
			    const struct tdf_item *other)
{
	return absent->kind == TDF_STMT_ABSENT &&
	       other->kind < TDF_STMT_BY && other->kind != TDF_STMT_REG &&
	       !(other->flags & TDF_STMT_RAW);
}

/* What earlier tracepoints and sites have used up: ranges ascend, so the
 * checks are linear in the file's size. */
struct tdf_used {
	__u16 minor;
	__u32 sites, stmts;
	const struct tdf_site *last[2];	/* of this tracepoint, that logs; [1]: of
					 * the entries of a whole call */
};

static int tdf_check_site_stmts(const struct table_file *file,
				const struct tdf *tdf,
				const struct tdf_site *site,
				struct tdf_used *used,
				struct tdf_layout *known)
{
	bool entry = site->flags & TDF_SITE_ENTRY;
	const struct tdf_site *last = used->last[entry];
	bool begins = site->flags & TDF_SITE_CALL;
	struct tdf_layout layout;
	const struct tdf_stmt *stmt;
	unsigned int kept = 0, values;

	if (!begins)
		used->last[entry] = site;
	if (last && !begins && site->first_stmt == last->first_stmt &&
	    site->stmts == last->stmts)
		return 0;
	TABLE_CHECK((!site->stmts || site->first_stmt >= used->stmts) &&
			    table_range_valid(site->first_stmt, site->stmts,
					      tdf->header->stmts.count),
		    "statements %u to %u of a site", site->first_stmt,
		    site->first_stmt + site->stmts);
	TABLE_CHECK(site->stmts <= TDF_STMTS_MAX, "%u statements of a site",
		    site->stmts);
	if (site->stmts)
		used->stmts = site->first_stmt + site->stmts;
	if (begins) {
		/* Where a call that makes no record begins: its size, or
		 * nothing. */
		stmt = tdf->stmts + site->first_stmt;
		TABLE_CHECK(!site->stmts ||
				    (site->stmts == 1 &&
				     stmt->kind == TDF_STMT_VALUE &&
				     stmt->flags == TDF_STMT_SIZE),
			    "statements where a call begins");
		if (!site->stmts)
			return 0;
		if (tdf_check_stmt(file, tdf, stmt) ||
		    tdf_check_kept(file, tdf, stmt, &kept))
			return -EINVAL;
		TABLE_CHECK(!rpn_has_entry(tdf->rpn + stmt->rpn,
					   stmt->rpn_length, &values),
			    "value of an entry where a call begins");
		return 0;
	}
	if (!last)
		return tdf_check_stmts(file, tdf, site, known);
	if (tdf_check_stmts(file, tdf, site, &layout))
		return -EINVAL;

	/* `known` is what the sites before log; what was absent there is found
	 * here. */
	TABLE_CHECK(known->count == layout.count &&
			    known->condition == layout.condition &&
			    known->key == layout.key,
		    "sites of a tracepoint differ in their statements");
	for (__u32 i = 0; i < known->count; i++) {
		struct tdf_item *item = &known->items[i];

		if (tdf_item_absent(item, &layout.items[i]))
			*item = layout.items[i];
		TABLE_CHECK(tdf_item_same(item, &layout.items[i]) ||
				    tdf_item_absent(&layout.items[i], item),
			    "sites of a tracepoint differ in item %u", i);
	}
	known->uses_entry |= layout.uses_entry;
	if (known->entry_values < layout.entry_values)
		known->entry_values = layout.entry_values;
	return 0;
}

/* sides[1] is what its entries log. */
static int tdf_check_whole(const struct table_file *file,
			   const struct tdf *tdf, const struct tdf_point *p,
			   const struct tdf_used *used,
			   const struct tdf_layout sides[2])
{
	if (!(p->flags & TDF_POINT_WHOLE)) {
		TABLE_CHECK(!used->last[1] && !p->entry_values &&
				    (!used->last[0] || (!sides[0].key &&
							!sides[0].uses_entry)),
			    "tracepoint that is no whole call");
		return 0;
	}
	TABLE_CHECK(!(p->flags & (TDF_POINT_CALL | TDF_POINT_RELEASE)),
		    "tracepoint with flags %#x", p->flags);
	TABLE_CHECK(used->last[0] && used->last[1] && sides[0].key &&
			    sides[1].key,
		    "whole call without an entry, an exit or a key");
	TABLE_CHECK(!sides[1].condition && !sides[1].uses_entry &&
			    !sides[1].aggregates,
		    "IF, aggregates, or values of the entry, at an entry");
	TABLE_CHECK(p->entry_values <= TDF_ENTRY_VALUES_MAX &&
			    p->entry_values <= sides[1].count &&
			    sides[0].entry_values <= p->entry_values,
		    "%u values of the entry", p->entry_values);
	for (__u32 i = 0; i < p->entry_values; i++)
		TABLE_CHECK(sides[1].items[i].kind == TDF_STMT_MEM &&
				    sides[1].items[i].flags == TDF_STMT_RAW &&
				    sides[1].items[i].bytes == 8,
			    "value %u of the entry", i);
	return 0;
}

/* The sites are in the file. */
static int tdf_check_call(const struct table_file *file, const struct tdf *tdf,
			  const struct tdf_point *p)
{
	const __u32 both = TDF_POINT_CALL | TDF_POINT_RELEASE;
	const struct tdf_site *site = &tdf->sites[p->first_site];
	bool call = p->flags & TDF_POINT_CALL, begins = false, returns = false;
	bool plain = false;

	for (__u32 i = 0; i < p->sites; i++) {
		begins |= site[i].flags == TDF_SITE_CALL;
		returns |= site[i].flags == TDF_SITE_RETURN;
		plain |= !(site[i].flags & (TDF_SITE_CALL | TDF_SITE_RETURN));
	}
	TABLE_CHECK((p->flags & both) != both &&
			    (!(p->flags & both) ||
			     tdf->modules[p->module].kind == TDF_MODULE_USER),
		    "tracepoint with flags %#x", p->flags);
	TABLE_CHECK(call || !(p->flags & TDF_POINT_LEAF),
		    "tracepoint with flags %#x", p->flags);
	TABLE_CHECK(!p->level == !(p->flags & both) &&
			    p->level <= TDF_LEVEL_MAX &&
			    (!p->level || tdf->header->sites.count <=
						  TDF_LEVEL_SITES),
		    "tracepoint of level %u", p->level);
	TABLE_CHECK(call ? begins && !plain : !begins,
		    "tracepoint that doesn't begin where calls do");
	TABLE_CHECK(!(p->flags & TDF_POINT_RELEASE) || !returns,
		    "release where a function returns");
	return 0;
}

static int tdf_check_point(const struct table_file *file, const struct tdf *tdf,
			   const struct tdf_point *p, struct tdf_used *used)
{
	const struct tdf_header *h = tdf->header;
	struct tdf_layout sides[2];
	bool kernel;

	TABLE_CHECK(p->minor > used->minor, "minor codes don't ascend");
	TABLE_CHECK(!(p->flags & ~(TDF_POINT_CONTINUE | TDF_POINT_CALL |
				   TDF_POINT_RELEASE | TDF_POINT_WHOLE |
				   TDF_POINT_LEAF)),
		    "tracepoint with flags %#x", p->flags);
	TABLE_CHECK(p->module < h->modules.count &&
			    tdf_has_string(tdf, p->name),
		    "tracepoint %u", p->minor);
	TABLE_CHECK(p->sites && p->sites <= TDF_SITES_MAX &&
			    p->first_site >= used->sites &&
			    table_range_valid(p->first_site, p->sites,
					      h->sites.count),
		    "sites of tracepoint %u", p->minor);
	if (tdf_check_call(file, tdf, p))
		return -EINVAL;
	kernel = tdf->modules[p->module].kind != TDF_MODULE_USER;
	used->last[0] = used->last[1] = NULL;
	sides[0].aggregates = sides[1].aggregates = 0;
	for (__u32 i = 0; i < p->sites; i++) {
		const struct tdf_site *site = &tdf->sites[p->first_site + i];

		if (tdf_check_site(file, tdf, site, kernel) ||
		    tdf_check_site_stmts(file, tdf, site, used,
					 &sides[site->flags == TDF_SITE_ENTRY]))
			return -EINVAL;
	}
	TABLE_CHECK(!p->level || !sides[0].aggregates,
		    "tracepoint of level %u with aggregates", p->level);
	if (tdf_check_whole(file, tdf, p, used, sides))
		return -EINVAL;
	used->minor = p->minor;
	used->sites = p->first_site + p->sites;
	return 0;
}

static int tdf_check(const struct table_file *file, struct tdf *tdf)
{
	const struct tdf_header *h = tdf->header;
	size_t length = strlen(file->path);
	struct tdf_used used = {0};

	if (table_file_check(file, TDF_MAGIC, TDF_VERSION, sizeof(*h))) {
		/* Another kind of file that is easily taken for a TDF */
		if (file->size >= SELFMAG &&
		    !memcmp(file->data, ELFMAG, SELFMAG))
			error_hint(file->err, "it is a program or library: 'trcust --from-module' makes a TSF for it, of which trcust makes a TDF");
		else if ((file->size < 8 || memcmp(file->data, TDF_MAGIC, 8)) &&
			 length > 4 &&
			 !strcasecmp(file->path + length - 4, ".tsf"))
			error_hint(file->err, "it is a TSF: 'trcust %s' makes a TDF of it",
				   file->path);
		return -EINVAL;
	}

	/* The tables are inside the file. */
#define TABLE(name) \
	(tdf->name = table_entries(file, #name, h->name, sizeof(*tdf->name)))
	if (!TABLE(modules) || !TABLE(types) || !TABLE(groups) ||
	    !TABLE(points) || !TABLE(sites) || !TABLE(stmts) ||
	    !TABLE(rpn) || !TABLE(sections))
		return -EINVAL;
#undef TABLE
	tdf->strings = table_strings(file, h->strings);
	if (!tdf->strings)
		return -EINVAL;

	/* Their contents */
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
			    TDF_GROUPS_MAX) ||
	    tdf_check_sections(file, tdf))
		return -EINVAL;
	TABLE_CHECK(h->points.count <= TDF_POINTS_MAX, "%u tracepoints",
		    h->points.count);
	for (__u32 i = 0; i < h->points.count; i++)
		if (tdf_check_point(file, tdf, &tdf->points[i], &used))
			return -EINVAL;
	return 0;
}

/* Takes over `data`. */
static int tdf_adopt(struct tdf **result, void *data, size_t size,
		     const char *path, struct error *err)
{
	struct table_file file = {"TDF", path, data, size, err};
	struct tdf *tdf = calloc(1, sizeof(*tdf));
	int code;

	if (!tdf || !(tdf->path = strdup(path))) {
		free(tdf);
		free(data);
		return error_no_memory(err);
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
		return error_no_memory(err);
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
