// SPDX-License-Identifier: GPL-2.0
/*
 * What a line of each kind of map looks like:
 *
 * nm, System.map	0000000000001139 [000000000000001a] T main
 * GNU ld		                0x0000000000001139                main
 *			 .text          0x0000000000001130       0x2f main.o
 * lld			  1139     1139       1a     1                 main
 */
#include "map.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/formats/table.h"
#include "lib/hash.h"
#include "lib/path.h"
#include "demangle.h"

#define BAD_BYTES	"it holds bytes that are no text"
#define LLD_COLUMNS_MAX	4	/* VMA, LMA, Size, Align */

struct map_symbols {
	struct map_symbol *list;
	size_t count, room;
};

enum map_kind { MAP_UNKNOWN, MAP_NM, MAP_GNU, MAP_LLD };

/* What a section has, by its name. */
struct map_section {
	bool code, data;
};

struct map_reader {
	struct map_symbols *symbols;
	struct error *err;
	enum map_kind kind;
	unsigned long line;
	struct map_section output, input;	/* that the line is in */
	unsigned int columns;		/* lld: numbers before the name */
	unsigned int size_column;	/* lld */
};

static int reader_refuse(struct map_reader *r, const char *what)
{
	error_set(r->err, -EINVAL, "line %lu: %s", r->line, what);
	error_hint(r->err, "a map of GNU ld or lld (-Wl,-Map=FILE), a "
			   "System.map or the output of nm is expected");
	return -EINVAL;
}

static int map_symbol_add(struct map_reader *r, const char *name,
			  uint64_t address, uint64_t size,
			  struct map_section in, bool local)
{
	struct map_symbols *symbols = r->symbols;

	if (!array_grow(&symbols->list, symbols->count, &symbols->room,
			sizeof(*symbols->list)))
		return error_no_memory(r->err);
	symbols->list[symbols->count++] = (struct map_symbol) {
		.name = name, .address = address, .size = size,
		.code = in.code, .data = in.data, .local = local,
	};
	return 0;
}

static char *map_skip_blanks(char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* A number of hexadecimal digits and the blanks after it; NULL: none. */
static char *take_hex(char *at, uint64_t *value)
{
	char *start = at;

	for (*value = 0; isxdigit((unsigned char)*at); at++) {
		if (*value >> 60)
			return NULL;
		*value = *value << 4 | (isdigit((unsigned char)*at) ?
					*at - '0' : (*at | 0x20) - 'a' + 10);
	}
	return at > start && (*at == ' ' || *at == '\t' || !*at) ?
		       map_skip_blanks(at) :
		       NULL;
}

/* One that begins with 0x */
static char *take_0x(char *at, uint64_t *value)
{
	return at[0] == '0' && at[1] == 'x' ? take_hex(at + 2, value) : NULL;
}

static bool text_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static struct map_section map_section_of(const char *name)
{
	static const char *const data[] = {
		".data", ".bss", ".rodata", ".tdata", ".tbss", ".dynamic",
		".got", ".eh_frame", ".init_array", ".fini_array", ".sdata",
		".sbss", ".lrodata", ".ldata", ".lbss", "COMMON",
		".preinit_array", ".note", ".interp",
	};
	size_t length = strcspn(name, " \t");

	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
		if (text_begins(name, data[i]))
			return (struct map_section) { .data = true };
	if (memmem(name, length, "text", 4) || text_begins(name, ".init") ||
	    text_begins(name, ".fini") || text_begins(name, ".plt"))
		return (struct map_section) { .code = true };
	return (struct map_section) { .code = true, .data = true };
}

/* nm(1): the letter is for the section; that of a local symbol is small. */
static bool nm_section(char letter, struct map_section *in, bool *local)
{
	*local = strchr("abdgirst", letter);
	switch (toupper((unsigned char)letter)) {
	case 'T': case 'I':
		*in = (struct map_section) { .code = true };
		return true;
	case 'B': case 'C': case 'D': case 'G': case 'R': case 'S': case 'V':
		*in = (struct map_section) { .data = true };
		return true;
	case 'A': case 'W': case '?':
		*in = (struct map_section) { .code = true, .data = true };
		return true;
	case 'U':	/* u is a unique global one; U has no address */
		*in = (struct map_section) { .data = true };
		return letter == 'u';
	}
	return false;
}

static bool is_nm_letter(const char *at)
{
	return *at && strchr("AaBbCcDdGgIiNnPpRrSsTtUuVvWw?-", *at) &&
	       at[1] == ' ' && at[2];
}

/* 0, 1: it is none of nm's lines. */
static int nm_line(struct map_reader *r, char *text)
{
	uint64_t address = 0, size = 0;
	char *at = take_hex(text, &address), *rest;
	struct map_section in;
	bool local;

	if (!at) {
		at = map_skip_blanks(text);
		return at > text && is_nm_letter(at) ? 0 : 1;
	}
	rest = is_nm_letter(at) ? NULL : take_hex(at, &size);
	at = rest ? rest : at;
	if (!is_nm_letter(at))
		return 1;
	if (!nm_section(*at, &in, &local))
		return 0;

	/* A name may be followed by a tab and where it is: nm -l, kallsyms. */
	at[strcspn(at, "\t")] = '\0';
	return map_symbol_add(r, at + 2, address, size, in, local);
}

/* ". = expr", "name = expr", "PROVIDE (name = expr)" in a linker script; NULL:
 * it gives no symbol. */
static char *gnu_name(char *at)
{
	static const char *const wrappers[] = {
		"PROVIDE (", "HIDDEN (", "PROVIDE_HIDDEN (",
	};
	char *equals = strstr(at, " = ");

	if (*at == '.' || *at == '[' || text_begins(at, "ASSERT ") ||
	    text_begins(at, "(size before") || text_begins(at, "0x"))
		return NULL;
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (text_begins(at, wrappers[i]))
			at += strlen(wrappers[i]);
	if (equals && equals > at)
		*equals = '\0';
	return *at ? at : NULL;
}

/* An address alone before a name is a symbol, between a name and a size a
 * section; a section's long name is on a line of its own. */
static int gnu_line(struct map_reader *r, char *text)
{
	uint64_t address, size;
	char *at = map_skip_blanks(text), *rest, *name;

	if (*at == '.' || text_begins(at, "COMMON")) {
		struct map_section in = map_section_of(at);

		r->input = in;
		if (at == text)
			r->output = in;
		return 0;
	}
	rest = at > text ? take_0x(at, &address) : NULL;
	if (!rest || take_0x(rest, &size))
		return 0;
	name = gnu_name(rest);
	return name ? map_symbol_add(r, name, address, 0,
				     r->input.code != r->input.data ? r->input :
								      r->output,
				     false) :
		      0;
}

/* "VMA LMA Size Align Out In Symbol": older ones have no LMA. */
static bool lld_header(struct map_reader *r, char *text)
{
	char *at = map_skip_blanks(text);

	r->columns = 0;
	if (!text_begins(at, "VMA ") && !text_begins(at, "Address "))
		return false;
	while (*at && !text_begins(at, "Out ") && r->columns <= LLD_COLUMNS_MAX) {
		if (text_begins(at, "Size "))
			r->size_column = r->columns;
		r->columns++;
		at = map_skip_blanks(at + strcspn(at, " "));
	}
	return r->columns >= 2 && r->columns <= LLD_COLUMNS_MAX && *at;
}

/* The text after the numbers is the further right the more it is inside:
 * output section, input section, symbol. */
static int lld_line(struct map_reader *r, char *text)
{
	uint64_t numbers[LLD_COLUMNS_MAX];
	char *at = map_skip_blanks(text), *end = at;

	for (unsigned int i = 0; i < r->columns; i++) {
		at = text_begins(at, "0x") ? at + 2 : at;
		end = at + strcspn(at, " ");
		at = take_hex(at, &numbers[i]);
		if (!at)
			return 1;
	}
	if (at - end < 8) {
		r->output = map_section_of(at);
		return 0;
	}
	if (at - end < 16 || text_begins(at, ". = ") || strstr(at, " = "))
		return 0;
	return map_symbol_add(r, at, numbers[0], numbers[r->size_column],
			      r->output, false);
}

static enum map_kind guess(struct map_reader *r, char *text)
{
	uint64_t address;
	char *at;

	if (lld_header(r, text))
		return MAP_LLD;
	at = take_hex(text, &address);
	if (at && (is_nm_letter(at) || ((at = take_hex(at, &address)) &&
					is_nm_letter(at))))
		return MAP_NM;
	at = map_skip_blanks(text);
	if (at > text && is_nm_letter(at) && at[0] != '?')
		return MAP_NM;
	/* any line of GNU ld's with an address; the others are in words, of
	 * the language that the linker spoke */
	at = strstr(text, " 0x");
	return at && take_0x(at + 1, &address) ? MAP_GNU : MAP_UNKNOWN;
}

static int reader_line(struct map_reader *r, char *text)
{
	int code;

	r->line++;
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' && *at != '\t' && *at != '\r')
			return reader_refuse(r, BAD_BYTES);
	text[strcspn(text, "\r")] = '\0';
	if (!*map_skip_blanks(text))
		return 0;
	if (r->kind == MAP_UNKNOWN) {
		r->kind = guess(r, text);
		if (r->kind == MAP_LLD)
			return 0;
	}
	switch (r->kind) {
	case MAP_NM:
		/* of several files each begins with its name */
		if (text[strlen(text) - 1] == ':')
			return 0;
		code = nm_line(r, text);
		break;
	case MAP_LLD:
		code = lld_line(r, text);
		break;
	case MAP_GNU:
		code = gnu_line(r, text);
		break;
	default:
		return 0;
	}
	return code > 0 ? reader_refuse(r, "it is no line of a map") : code;
}

/*
 * Read the text of a map, which has a zero at text[size]. Names end in it: it
 * is changed. 0, -EINVAL: it is no map, or damaged, err says in which line;
 * -ENOMEM. The caller frees symbols->list in any case.
 */
static int map_read(struct map_symbols *symbols, char *text, uint64_t size,
		    struct error *err)
{
	struct map_reader r = {
		.symbols = symbols, .err = err,
		.input = { true, true }, .output = { true, true },
	};
	char *end = text + size;
	int code = 0;

	while (!code && text < end) {
		char *newline = memchr(text, '\n', end - text);

		newline = newline ? newline : end;
		*newline = '\0';
		if (strlen(text) < (size_t)(newline - text)) {
			r.line++;
			return reader_refuse(&r, BAD_BYTES);
		}
		code = reader_line(&r, text);
		text = newline + 1;
	}
	if (!code && !symbols->count)
		code = reader_refuse(&r, "no symbol was found up to here");
	return code;
}

struct map {
	char *text;		/* the names point into it */
	struct map_symbols symbols;
	struct key_map names;	/* hash of a name: index + 1 */
	struct demangle_index full_names;
};

static uint64_t map_name_hash(const char *name)
{
	return hash_fnv(HASH_FNV_START, name, strlen(name));
}

int map_parse(struct map **result, const char *text, uint64_t size,
	      struct error *err)
{
	struct map *map = calloc(1, sizeof(*map));
	bool failed = false;
	int code;

	*result = NULL;
	if (map)
		map->text = malloc(size + 1);
	if (!map || !map->text) {
		free(map);
		return error_no_memory(err);
	}
	memcpy(map->text, text, size);
	map->text[size] = '\0';
	code = map_read(&map->symbols, map->text, size, err);
	for (size_t i = 0; !code && i < map->symbols.count; i++) {
		const char *name = map->symbols.list[i].name;

		failed |= key_map_add_number(&map->names, map_name_hash(name),
					     i + 1);
		demangle_index_add(&map->full_names, name, strlen(name), i);
	}
	if (!code && (failed || map->full_names.failed))
		code = error_no_memory(err);
	if (code)
		map_close(map);
	else
		*result = map;
	return code;
}

int map_open(struct map **result, const char *path, struct error *err)
{
	void *data;
	size_t size;
	int code = table_file_read(path, &data, &size, err);

	*result = NULL;
	if (code)
		return code;
	code = map_parse(result, data, size, err);
	free(data);
	return code;
}

void map_close(struct map *map)
{
	if (!map)
		return;
	demangle_index_free(&map->full_names);
	free(map->symbols.list);
	key_map_free(&map->names);
	free(map->text);
	free(map);
}

/* What is asked for, and what was found. */
struct map_choice {
	const struct map_symbol *best;
	bool code, others;
};

static void map_choose(struct map_choice *choice,
		       const struct map_symbol *symbol)
{
	const struct map_symbol *best = choice->best;

	if (choice->code ? !symbol->code : !symbol->data)
		return;
	if (!best || (best->local && !symbol->local)) {
		choice->best = symbol;
		choice->others = false;
	} else if (best->local == symbol->local &&
		   best->address != symbol->address) {
		choice->others = true;
	}
}

const struct map_symbol *map_find(const struct map *map, const char *name,
				  bool code, bool *others)
{
	struct map_choice choice = { .code = code };
	const struct demangle_index *index = &map->full_names;
	const struct map_symbol *list = map->symbols.list;
	const struct demangle_entry *entry;
	struct demangle_walk walk = { 0 };
	uint64_t hash = map_name_hash(name);
	size_t step = 0, i;

	while ((i = key_map_each_number(&map->names, hash, &step)))
		if (!strcmp(list[i - 1].name, name))
			map_choose(&choice, &list[i - 1]);
	if (!choice.best)
		while ((entry = demangle_index_next(index, name, &walk)))
			map_choose(&choice, &list[entry->number]);
	*others = choice.others;
	return choice.best;
}

bool map_name_valid(const char *path)
{
	const char *base = path_base(path);
	size_t length = strlen(base);

	return !strncmp(base, "System.map", 10) ||
	       (length > 4 && (!strcmp(base + length - 4, ".map") ||
			       !strcmp(base + length - 4, ".MAP")));
}
