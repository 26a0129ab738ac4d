// SPDX-License-Identifier: GPL-2.0
#include "points.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/heap.h>
#include <rastrace/tdf.h>
#include <rastrace/tff.h>
#include "lib/hash.h"
#include "lib/identity.h"
#include "lib/path.h"
#include "lib/formats/bytes.h"
#include "lib/formats/rpn.h"

#define TABLES_MOST	8
#define RPN_ROOM	64	/* of the longest expression here */

/* ---- a file that is made ---- */

/* Tables of a TDF or TFF, one after the other, with a CRC. The last are strings,
 * and have the empty one. Errors stick until the end. */
struct tdf_tables {
	struct bytes bytes[TABLES_MOST];
	size_t counts[TABLES_MOST];
	unsigned int count;
};

/* Its index in the table. */
static uint32_t tables_add(struct tdf_tables *tables, unsigned int table,
			   const void *entry, size_t size)
{
	bytes_add(&tables->bytes[table], entry, size);
	return tables->counts[table]++;
}

/* Bytes are entries of one byte. */
static uint32_t tables_add_bytes(struct tdf_tables *tables, unsigned int table,
				 const void *bytes, size_t size)
{
	uint32_t at = tables->counts[table];

	bytes_add(&tables->bytes[table], bytes, size);
	tables->counts[table] += size;
	return at;
}

static uint32_t tables_add_string(struct tdf_tables *tables, const char *string)
{
	return tables_add_bytes(tables, tables->count - 1, string,
				strlen(string) + 1);
}

static void tdf_tables_begin(struct tdf_tables *tables, unsigned int count)
{
	*tables = (struct tdf_tables){ .count = count };
	tables_add_string(tables, "");
}

/* What the headers have in common, up to the CRC */
struct tables_head {
	char magic[8];
	uint16_t version, header_size;
	uint32_t file_size, crc;
};

/*
 * All of it, which is for free(); `tables` is given up. The header, of
 * header_size bytes, has struct tdf_table of table n at places[n], and begins
 * as those of TDF and TFF do. 0, or a negative errno with err set.
 */
static int tables_end(struct tdf_tables *tables, void *header,
		      size_t header_size, struct tdf_table *const *places,
		      void **data, size_t *size, struct error *err)
{
	struct tables_head *head = header;
	struct bytes file = { 0 };

	bytes_add(&file, header, header_size);
	for (unsigned int i = 0; i < tables->count; i++) {
		bytes_align(&file);
		*places[i] = (struct tdf_table){ file.size, tables->counts[i] };
		bytes_join(&file, &tables->bytes[i]);
		bytes_free(&tables->bytes[i]);
	}
	bytes_align(&file);
	if (file.failed) {
		bytes_free(&file);
		return error_no_memory(err);
	}
	head->header_size = header_size;
	head->file_size = file.size;
	head->crc = 0;
	memcpy(file.data, header, header_size);
	head->crc = hash_crc32(0, file.data, file.size);
	memcpy(file.data, header, header_size);
	*data = file.data;
	*size = file.size;
	return 0;
}

/* ---- the TDF ---- */

/* What a function does records a stack. */
static bool points_have_stack(const struct points_want *want,
			      const struct heap_function_def *function)
{
	return want->depth && !(want->no_free_stacks &&
				function->kind == FUNCTION_RELEASE);
}

/* The data hash of a function's tracepoint: the form of what is recorded, and
 * nothing else */
static uint64_t points_hash(const struct points_want *want,
			    const struct heap_function_def *f,
			    uint8_t elf_class)
{
	bool release = f->kind == FUNCTION_RELEASE;
	const uint8_t form[] = {
		1, f->minor, release && want->types ? elf_class : 0,
		points_have_stack(want, f),
	};

	return hash_fnv(HASH_FNV_START, form, sizeof(form));
}

enum { MODULES, POINTS, SITES, STMTS, RPN, POINT_STRINGS, POINT_TABLES };

/* An expression; they are short */
struct points_expression {
	uint8_t bytes[RPN_ROOM];
	uint8_t size;
};

/*
 * DWARF numbers: x86-64 psABI 3.6.2 in the order of its arguments (3.2.3), and
 * aadwarf64 4.1, aapcs64 6.8.2; the i386 psABI has them on the stack (2.2.3),
 * above the return address.
 */
static const struct points_machine {
	uint16_t machine;
	uint8_t arguments[6];
	uint8_t stack;
	uint8_t call_bytes;	/* that a call pushes */
} machines[] = {
	{ EM_X86_64, { 5, 4, 1, 2, 8, 9 }, 7, 8 },
	{ EM_AARCH64, { 0, 1, 2, 3, 4, 5 }, 31, 0 },
	/* the last: allocator_entry_read() knows no more */
	{ EM_386, { 0 }, 4, 4 },
};

struct points {
	struct tdf_tables tables;
	const struct allocator_file *file;
	const struct points_want *want;
	const struct points_machine *machine;
	const struct heap_function_def *function;
	bool entry;		/* at the function's beginning, else where it has
				 * returned to */
	bool name;		/* it has no return probe */
	bool wide;		/* 64-bit */
};

/* ---- expressions ---- */

static void points_put(struct points_expression *e, uint8_t byte)
{
	e->bytes[e->size++] = byte;
}

static void put_argument(const struct points *p, struct points_expression *e,
			 unsigned int index)
{
	uint8_t reg = p->machine->arguments[index];

	if (!p->entry) {
		points_put(e, RPN_entry_value);
		points_put(e, p->wide ? 1 : 4);	/* bytes of what follows */
	}
	if (p->wide && p->entry) {
		points_put(e, RPN_breg + reg);
		points_put(e, 0);
	} else if (p->wide) {
		points_put(e, 0x50 + reg);	/* DW_OP_regN */
	} else {
		points_put(e, RPN_breg + p->machine->stack);
		points_put(e, 4 + 4 * index);
		points_put(e, RPN_deref_size);
		points_put(e, 4);
	}
}

/* FUNCTION_NONE, _ARG, _MUL */
static void put_arguments(const struct points *p, struct points_expression *e,
			  uint8_t which)
{
	if (which == FUNCTION_NONE) {
		points_put(e, RPN_lit);
		return;
	}
	put_argument(p, e, (which & 15) - 1);
	if (which >> 4) {
		put_argument(p, e, (which >> 4) - 1);
		points_put(e, RPN_mul);
	}
}

/*
 * What a function has done, a letter for each step: r the result, a and s the
 * arguments that are the address and the size, 1 the first argument, * the pointer
 * there, 0 a zero, m MAP_FAILED; ! other than, = like, & and, | or. And f, the
 * frame: at the entry what a call pushes is below it. The condition: the block
 * came, or there is one to release.
 */
static const struct points_form {
	const char *condition, *address, *old;
} points_forms[] = {
	[FUNCTION_ABSENT] = { "", "r", "0" },
	[FUNCTION_ACQUIRE] = { "r0!", "r", "0" },
	[FUNCTION_ACQUIRE_INTO] = { "r0=", "1*", "0" },
	/* or it was released: result || (old && !size) */
	[FUNCTION_RESIZE] = { "r0!a0!s0=&|", "r", "a" },
	[FUNCTION_RELEASE] = { "a0!", "a", "0" },
	[FUNCTION_MAP] = { "rm!", "r", "a" },
	[FUNCTION_UNMAP] = { "a0!", "a", "0" },
};

static struct points_expression expression_make(const struct points *p,
						const char *form)
{
	struct points_expression e = { .size = 0 };

	for (; *form; form++)
		switch (*form) {
		case 'r':	/* rax, eax, x0 */
			points_put(&e, RPN_breg);
			points_put(&e, 0);
			break;
		case 'a':
			put_arguments(p, &e, p->function->address);
			break;
		case 's':
			put_arguments(p, &e, p->function->size);
			break;
		case '1':
			put_argument(p, &e, 0);
			break;
		case 'f':
			if (!p->entry)
				break;
			points_put(&e, RPN_breg + p->machine->stack);
			points_put(&e, p->machine->call_bytes);
			break;
		case '*':
			points_put(&e, RPN_deref_size);
			points_put(&e, p->wide ? 8 : 4);
			break;
		case '0':
			points_put(&e, RPN_lit);
			break;
		case 'm':
			points_put(&e, p->wide ? RPN_const4s : RPN_const4u);
			for (unsigned int i = 0; i < 4; i++)
				points_put(&e, 0xff);
			break;
		default:
			points_put(&e, *form == '!' ? RPN_ne :
				       *form == '=' ? RPN_eq :
				       *form == '&' ? RPN_and : RPN_or);
		}
	return e;
}

/* ---- statements, sites, points ---- */

static void add_stmt(struct points *p, uint8_t kind, uint8_t flags,
		     uint16_t length, const char *form)
{
	struct points_expression e = expression_make(p, form);
	struct tdf_stmt stmt = {
		.kind = kind, .flags = flags, .length = length,
		.rpn = e.size ? tables_add_bytes(&p->tables, RPN, e.bytes,
						 e.size) : 0,
		.rpn_length = e.size,
	};

	tables_add(&p->tables, STMTS, &stmt, sizeof(stmt));
}

/* struct ras_heap, and what follows it */
static void add_stmts(struct points *p)
{
	const uint8_t value = TDF_STMT_VALUE, raw = TDF_STMT_RAW;
	const struct points_form *form = &points_forms[p->function->kind];

	add_stmt(p, TDF_STMT_IF, 0, 0, form->condition);
	add_stmt(p, value, raw | TDF_STMT_BLOCK, 8, form->address);
	add_stmt(p, value, raw | TDF_STMT_SIZE, 8, "s");
	add_stmt(p, value, raw | TDF_STMT_OLD, 8, form->old);
	if (p->function->kind == FUNCTION_RELEASE && p->want->types)
		add_stmt(p, TDF_STMT_MEM, 0, p->wide ? 8 : 4, form->address);
	if (points_have_stack(p->want, p->function))
		add_stmt(p, TDF_STMT_STACK, 0, p->want->depth, "f");
}

static void points_add_site(struct points *p,
			    const struct allocator_place *place, uint8_t flags)
{
	uint32_t first = p->tables.counts[STMTS];
	struct tdf_site site = {
		.offset = place->offset + place->skip,
		.address = place->address + place->skip,
		.nominal = place->address + place->skip,
		.symbol = tables_add_string(&p->tables, place->symbol),
		.symbol_offset = place->skip,
		.cost = place->fast ? TDF_COST_EMULATED : TDF_COST_STEPPED,
		.insn_length = place->insn_length,
		.flags = flags,
		.first_stmt = first,
	};

	memcpy(site.insn, place->insn, place->insn_length);
	if (flags != TDF_SITE_CALL)
		add_stmts(p);
	else if (p->name && p->function->size != FUNCTION_NONE)
		add_stmt(p, TDF_STMT_VALUE, TDF_STMT_SIZE, 8, "s");
	site.stmts = p->tables.counts[STMTS] - first;
	tables_add(&p->tables, SITES, &site, sizeof(site));
}

/*
 * A function that only gives its name to the one that it calls: operator new,
 * which may be left by an exception, as far as it is malloc's caller; strdup(),
 * which has no size argument. No return probe of it is needed.
 */
static bool points_is_name(const struct allocator_file *file,
			   const struct heap_function_def *f)
{
	if (f->kind != FUNCTION_ACQUIRE)
		return false;
	return f->size == FUNCTION_NONE ||
	       (heap_function_is_cxx(f->minor) &&
		!allocator_file_makes_new(file));
}

/* Nothing else that is recorded is inside. */
static bool points_is_leaf(const struct points *p,
			   const struct heap_function_def *f)
{
	if (f->minor != HEAP_FUNCTION_MALLOC ||
	    !allocator_file_calls_none(p->file))
		return false;
	for (size_t i = 0; i < p->file->count; i++)
		if (heap_functions[p->file->places[i].function].kind ==
		    FUNCTION_MAP)
			return false;
	return true;
}

static void add_point(struct points *p, const struct allocator_place *place)
{
	const struct heap_function_def *f = &heap_functions[place->function];
	bool name = points_is_name(p->file, f);
	bool release = f->kind == FUNCTION_RELEASE ||
		       f->kind == FUNCTION_UNMAP;
	struct tdf_point point = {
		.hash = points_hash(p->want, f, p->file->elf_class),
		.minor = f->minor,
		.name = tables_add_string(&p->tables, place->symbol),
		.first_site = p->tables.counts[SITES],
		.sites = release || name ? 1 : 2,
		.flags = TDF_POINT_CONTINUE |
			 (release ? TDF_POINT_RELEASE : TDF_POINT_CALL) |
			 (points_is_leaf(p, f) ? TDF_POINT_LEAF : 0),
		.level = f->level,
	};

	p->function = f;
	p->entry = true;
	p->name = name;
	points_add_site(p, place, release ? 0 : TDF_SITE_CALL);
	p->entry = false;
	if (!release && !name)
		points_add_site(p, place, TDF_SITE_RETURN);
	tables_add(&p->tables, POINTS, &point, sizeof(point));
}

static int add_module(struct points *p, struct error *err)
{
	struct tdf_module module = {
		.machine = p->file->machine,
		.elf_class = p->file->elf_class,
		.kind = TDF_MODULE_USER,
	};
	struct identity id;
	int code = identity_read(p->file->fd, p->file->path, &id, err);

	if (code)
		return code;
	module.path = tables_add_string(&p->tables, p->file->path);
	module.name = tables_add_string(&p->tables, path_base(p->file->path));
	module.id_kind = id.kind;
	module.id_length = id.length;
	memcpy(module.id, id.id, sizeof(module.id));
	tables_add(&p->tables, MODULES, &module, sizeof(module));
	return 0;
}

int points_make_tdf(const struct allocator_file *file,
		    const struct points_want *want, void **data, size_t *size,
		    struct error *err)
{
	struct points p = {
		.file = file, .want = want,
		.machine = machines, .wide = file->elf_class == ELFCLASS64,
	};
	struct tdf_header header = {
		.magic = TDF_MAGIC, .version = TDF_VERSION,
		.major = HEAP_MAJOR, .maxdata = TDF_DATA_MAX,
	};
	struct tdf_table *const places[POINT_TABLES] = {
		&header.modules, &header.points, &header.sites, &header.stmts,
		&header.rpn, &header.strings,
	};
	int code, added;

	while (p.machine->machine != file->machine &&
	       p.machine->machine != EM_386)
		p.machine++;
	tdf_tables_begin(&p.tables, POINT_TABLES);
	added = add_module(&p, err);
	for (size_t i = 0; i < file->count; i++)
		add_point(&p, &file->places[i]);
	code = tables_end(&p.tables, &header, sizeof(header), places, data,
			  size, added ? NULL : err);
	if (!code && added)
		free(*data);
	return added ? added : code;
}

/* ---- the TFF ---- */

enum {
	SECTIONS, ENTRIES, TYPES, GROUPS, CTYPES, MEMBERS, FORMAT_STRINGS,
	FORMAT_TABLES
};

static uint32_t format_add(struct tdf_tables *tables,
			   const struct heap_function_def *f,
			   const struct points_want *want, bool wide)
{
	char text[160] = "  address %{p64}";

	if (f->kind == FUNCTION_RELEASE)
		strcat(text, " %I16");
	else if (f->kind == FUNCTION_UNMAP)
		strcat(text, " size %{u64} %I8");
	else
		strcat(text, " size %{u64} before %{p64}");
	if (f->kind == FUNCTION_RELEASE && want->types)
		strcat(text, wide ? "\n  first word %P%{p64}" :
				    "\n  first word %P%{p32}");
	if (points_have_stack(want, f))
		strcat(text, "\n%P%{stack}");
	strcat(text, "\n");
	return tables_add_string(tables, text);
}

static void points_section_add(struct tdf_tables *tables,
			       const struct points_want *want,
			       uint8_t elf_class)
{
	struct tff_section section = {
		.name = tables_add_string(tables, "heap"),
		.first_entry = tables->counts[ENTRIES],
	};

	for (unsigned int i = 0; i < HEAP_FUNCTIONS; i++) {
		const struct heap_function_def *f = &heap_functions[i];
		struct tff_entry entry = { .minor = f->minor };

		if (!f->kind)
			continue;
		entry.hash = points_hash(want, f, elf_class);
		entry.desc = tables_add_string(tables, f->text);
		entry.fmt = format_add(tables, f, want,
				       elf_class == ELFCLASS64);
		tables_add(tables, ENTRIES, &entry, sizeof(entry));
		section.entries++;
	}
	tables_add(tables, SECTIONS, &section, sizeof(section));
}

int points_make_tff(const struct points_want *want, void **data, size_t *size,
		    struct error *err)
{
	struct tff_header header = {
		.magic = TFF_MAGIC, .version = TFF_VERSION,
		.major = HEAP_MAJOR,
	};
	struct tdf_table *const places[FORMAT_TABLES] = {
		&header.sections, &header.entries, &header.types,
		&header.groups, &header.ctypes, &header.members,
		&header.strings,
	};
	struct tdf_tables tables;

	tdf_tables_begin(&tables, FORMAT_TABLES);
	points_section_add(&tables, want, ELFCLASS64);
	points_section_add(&tables, want, ELFCLASS32);
	return tables_end(&tables, &header, sizeof(header), places, data, size,
			  err);
}
