// SPDX-License-Identifier: GPL-2.0
#include "points.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/heap.h>
#include <rastrace/tdf.h>
#include "lib/hash.h"
#include "lib/identity.h"
#include "lib/path.h"
#include "lib/formats/rpn.h"
#include "tables.h"

#define RPN_ROOM	64	/* of the longest expression here */

enum { MODULES, POINTS, SITES, STMTS, RPN, POINT_STRINGS, POINT_TABLES };

/* An expression; they are short */
struct points_expression {
	uint8_t bytes[RPN_ROOM];
	uint8_t size;
};

struct points {
	struct tdf_tables tables;
	const struct allocator_file *file;
	const struct points_want *want;
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
	{EM_X86_64, {5, 4, 1, 2, 8, 9}, 7, 8},
	{EM_AARCH64, {0, 1, 2, 3, 4, 5}, 31, 0},
	{EM_386,
	 {0},
	 4,
	 4}, /* the last: allocator_entry_read() knows no more */
};

static const struct points_machine *
points_machine_of(const struct allocator_file *file)
{
	const struct points_machine *machine = machines;

	while (machine->machine != file->machine &&
	       machine->machine != EM_386)
		machine++;
	return machine;
}

static void put_argument(const struct points *p, struct points_expression *e,
			 unsigned int index)
{
	const struct points_machine *machine = points_machine_of(p->file);
	const uint8_t word = 4;

	if (p->wide && p->entry) {
		points_put(e, RPN_breg + machine->arguments[index]);
		points_put(e, 0);
	} else if (p->wide) {
		points_put(e, RPN_entry_value);
		points_put(e, 1);
		points_put(e,
			   0x50 + machine->arguments[index]); /* DW_OP_regN */
	} else {
		if (!p->entry) {
			points_put(e, RPN_entry_value);
			points_put(e, 4);
		}
		points_put(e, RPN_breg + machine->stack);
		points_put(e, word + word * index);
		points_put(e, RPN_deref_size);
		points_put(e, word);
	}
}

/* rax, eax, x0 */
static void put_result(struct points_expression *e)
{
	points_put(e, RPN_breg);
	points_put(e, 0);
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

static void put_compare(struct points_expression *e, uint8_t code)
{
	points_put(e, RPN_lit);
	points_put(e, code);
}

/* The block came, or there is one to release. */
static struct points_expression condition_make(const struct points *p)
{
	const struct heap_function_def *f = p->function;
	struct points_expression e = { .size = 0 };

	switch (f->kind) {
	case FUNCTION_ACQUIRE:
		put_result(&e);
		put_compare(&e, RPN_ne);
		break;
	case FUNCTION_ACQUIRE_INTO:
		put_result(&e);
		put_compare(&e, RPN_eq);
		break;
	case FUNCTION_RESIZE:
		/* or it was released: result || (old && !size) */
		put_result(&e);
		put_compare(&e, RPN_ne);
		put_arguments(p, &e, f->address);
		put_compare(&e, RPN_ne);
		put_arguments(p, &e, f->size);
		put_compare(&e, RPN_eq);
		points_put(&e, RPN_and);
		points_put(&e, RPN_or);
		break;
	case FUNCTION_RELEASE:
	case FUNCTION_UNMAP:
		put_arguments(p, &e, f->address);
		put_compare(&e, RPN_ne);
		break;
	case FUNCTION_ABSENT:
		break;
	case FUNCTION_MAP:
		/* not -1: MAP_FAILED */
		put_result(&e);
		points_put(&e, p->wide ? RPN_const4s : RPN_const4u);
		for (unsigned int i = 0; i < 4; i++)
			points_put(&e, 0xff);
		points_put(&e, RPN_ne);
		break;
	}
	return e;
}

static struct points_expression address_make(const struct points *p)
{
	const struct heap_function_def *f = p->function;
	struct points_expression e = { .size = 0 };

	switch (f->kind) {
	case FUNCTION_ACQUIRE_INTO:
		put_argument(p, &e, 0);
		points_put(&e, RPN_deref_size);
		points_put(&e, p->wide ? 8 : 4);
		break;
	case FUNCTION_RELEASE:
	case FUNCTION_UNMAP:
		put_arguments(p, &e, f->address);
		break;
	default:
		put_result(&e);
	}
	return e;
}

static struct points_expression size_make(const struct points *p)
{
	struct points_expression e = { .size = 0 };

	put_arguments(p, &e, p->function->size);
	return e;
}

static struct points_expression old_make(const struct points *p)
{
	enum heap_function_kind kind = p->function->kind;
	struct points_expression e = { .size = 0 };

	put_arguments(p, &e, kind == FUNCTION_RESIZE || kind == FUNCTION_MAP ?
		      p->function->address : FUNCTION_NONE);
	return e;
}

/* At the entry: what a call pushes is below it. */
static struct points_expression points_frame_make(const struct points *p)
{
	const struct points_machine *machine = points_machine_of(p->file);
	struct points_expression e = { .size = 0 };

	if (!p->entry)
		return e;
	points_put(&e, RPN_breg + machine->stack);
	points_put(&e, machine->call_bytes);
	return e;
}

/* ---- statements, sites, points ---- */

static void add_stmt(struct points *p, uint8_t kind, uint8_t flags,
		     uint16_t length, struct points_expression e)
{
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
	bool release = p->function->kind == FUNCTION_RELEASE;

	add_stmt(p, TDF_STMT_IF, 0, 0, condition_make(p));
	add_stmt(p, value, raw | TDF_STMT_BLOCK, 8, address_make(p));
	add_stmt(p, value, raw | TDF_STMT_SIZE, 8, size_make(p));
	add_stmt(p, value, raw | TDF_STMT_OLD, 8, old_make(p));
	if (release && p->want->types)
		add_stmt(p, TDF_STMT_MEM, 0, p->wide ? 8 : 4, address_make(p));
	if (points_have_stack(p->want, p->function))
		add_stmt(p, TDF_STMT_STACK, 0, p->want->depth,
			 points_frame_make(p));
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
		add_stmt(p, TDF_STMT_VALUE, TDF_STMT_SIZE, 8, size_make(p));
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

static void add_point(struct points *p, const struct allocator_place *place)
{
	const struct heap_function_def *f = &heap_functions[place->function];
	bool name = points_is_name(p->file, f);
	bool release = f->kind == FUNCTION_RELEASE ||
		       f->kind == FUNCTION_UNMAP;
	struct tdf_point point = {
		.hash = points_hash(p->want, f->minor, p->file->elf_class),
		.minor = f->minor,
		.name = tables_add_string(&p->tables, place->symbol),
		.first_site = p->tables.counts[SITES],
		.sites = release || name ? 1 : 2,
		.flags = TDF_POINT_CONTINUE |
			 (release ? TDF_POINT_RELEASE : TDF_POINT_CALL),
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
		.wide = file->elf_class == ELFCLASS64,
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

bool points_have_stack(const struct points_want *want,
		       const struct heap_function_def *function)
{
	return want->depth && !(want->no_free_stacks &&
				function->kind == FUNCTION_RELEASE);
}

/* The form of what is recorded, and nothing else */
uint64_t points_hash(const struct points_want *want, uint16_t minor,
		     uint8_t elf_class)
{
	const struct heap_function_def *f = &heap_functions[minor];
	bool release = f->kind == FUNCTION_RELEASE;
	const uint8_t form[] = {
		1, minor, release && want->types ? elf_class : 0,
		points_have_stack(want, f),
	};

	return hash_fnv(HASH_FNV_START, form, sizeof(form));
}
