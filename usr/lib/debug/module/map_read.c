// SPDX-License-Identifier: GPL-2.0
/*
 * What a line of each kind of map looks like:
 *
 * nm, System.map	0000000000001139 [000000000000001a] T main
 * GNU ld		                0x0000000000001139                main
 *			 .text          0x0000000000001130       0x2f main.o
 * lld			  1139     1139       1a     1                 main
 */
#include "map_read.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define BAD_BYTES	"it holds bytes that are no text"
#define LLD_COLUMNS_MAX	4	/* VMA, LMA, Size, Align */

enum map_kind { MAP_UNKNOWN, MAP_NM, MAP_GNU, MAP_LLD };

/* What the name of a section tells of what is in it. */
struct section {
	bool code, data;
};

struct reader {
	struct map_symbols *symbols;
	struct error *err;
	enum map_kind kind;
	unsigned long line;
	struct section output, input;	/* where the line stands */
	unsigned int columns;		/* lld: numbers in front of the name */
	unsigned int size_column;	/* lld */
};

static int reader_refuse(struct reader *r, const char *what)
{
	error_set(r->err, -EINVAL, "line %lu: %s", r->line, what);
	error_hint(r->err, "a map of GNU ld or lld (-Wl,-Map=FILE), a "
			   "System.map or the output of nm is expected");
	return -EINVAL;
}

static int symbol_add(struct reader *r, const char *name, uint64_t address,
		      uint64_t size, struct section in, bool local)
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

static char *skip_blanks(char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* A number of hexadecimal digits and the blanks behind it; NULL: none. */
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
	       skip_blanks(at) : NULL;
}

/* The same behind 0x. */
static char *take_0x(char *at, uint64_t *value)
{
	return at[0] == '0' && at[1] == 'x' ? take_hex(at + 2, value) : NULL;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static struct section section_of(const char *name)
{
	static const char *const data[] = {
		".data", ".bss", ".rodata", ".tdata", ".tbss", ".dynamic",
		".got", ".eh_frame", ".init_array", ".fini_array", ".sdata",
		".sbss", ".lrodata", ".ldata", ".lbss", "COMMON",
		".preinit_array", ".note", ".interp",
	};
	size_t length = strcspn(name, " \t");

	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++)
		if (starts(name, data[i]))
			return (struct section) { .data = true };
	if (memmem(name, length, "text", 4) || starts(name, ".init") ||
	    starts(name, ".fini") || starts(name, ".plt"))
		return (struct section) { .code = true };
	return (struct section) { .code = true, .data = true };
}

/* nm(1): the letter tells the section; that of a local symbol is small. */
static bool nm_section(char letter, struct section *in, bool *local)
{
	*local = strchr("abdgirst", letter);
	switch (toupper((unsigned char)letter)) {
	case 'T': case 'I':
		*in = (struct section) { .code = true };
		return true;
	case 'B': case 'C': case 'D': case 'G': case 'R': case 'S': case 'V':
		*in = (struct section) { .data = true };
		return true;
	case 'A': case 'W': case '?':
		*in = (struct section) { .code = true, .data = true };
		return true;
	case 'U':	/* u is a unique global one; U has no address */
		*in = (struct section) { .data = true };
		return letter == 'u';
	}
	return false;
}

/* A name may be followed by a tab and where it is: nm -l, kallsyms. */
static char *nm_name(char *at)
{
	at[strcspn(at, "\t")] = '\0';
	return at;
}

static bool is_nm_letter(const char *at)
{
	return *at && strchr("AaBbCcDdGgIiNnPpRrSsTtUuVvWw?-", *at) &&
	       at[1] == ' ' && at[2];
}

/* 0, 1: it is none of nm's lines. */
static int nm_line(struct reader *r, char *text)
{
	uint64_t address = 0, size = 0;
	char *at = take_hex(text, &address), *behind;
	struct section in;
	bool local;

	if (!at) {
		at = skip_blanks(text);
		return at > text && is_nm_letter(at) ? 0 : 1;
	}
	behind = is_nm_letter(at) ? NULL : take_hex(at, &size);
	at = behind ? behind : at;
	if (!is_nm_letter(at))
		return 1;
	if (!nm_section(*at, &in, &local))
		return 0;
	return symbol_add(r, nm_name(at + 2), address, size, in, local);
}

/* ". = expr", "name = expr", "PROVIDE (name = expr)" in a linker script; NULL:
 * it gives no symbol. */
static char *gnu_name(char *at)
{
	static const char *const wrappers[] = {
		"PROVIDE (", "HIDDEN (", "PROVIDE_HIDDEN (",
	};
	char *equals = strstr(at, " = ");

	if (*at == '.' || *at == '[' || starts(at, "ASSERT ") ||
	    starts(at, "(size before") || starts(at, "0x"))
		return NULL;
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (starts(at, wrappers[i]))
			at += strlen(wrappers[i]);
	if (equals && equals > at)
		*equals = '\0';
	return *at ? at : NULL;
}

/* An address alone in front of a name is a symbol, behind a name and in front
 * of a size a section; a section's long name stands on a line of its own. */
static int gnu_line(struct reader *r, char *text)
{
	uint64_t address, size;
	char *at = skip_blanks(text), *behind, *name;

	if (*at == '.' || starts(at, "COMMON")) {
		struct section in = section_of(at);

		r->input = in;
		if (at == text)
			r->output = in;
		return 0;
	}
	behind = at > text ? take_0x(at, &address) : NULL;
	if (!behind || take_0x(behind, &size))
		return 0;
	name = gnu_name(behind);
	return name ? symbol_add(r, name, address, 0,
				 r->input.code != r->input.data ? r->input :
								  r->output,
				 false) : 0;
}

/* "VMA LMA Size Align Out In Symbol": older ones have no LMA. */
static bool lld_header(struct reader *r, char *text)
{
	char *at = skip_blanks(text);

	r->columns = 0;
	if (!starts(at, "VMA ") && !starts(at, "Address "))
		return false;
	while (*at && !starts(at, "Out ") && r->columns <= LLD_COLUMNS_MAX) {
		if (starts(at, "Size "))
			r->size_column = r->columns;
		r->columns++;
		at = skip_blanks(at + strcspn(at, " "));
	}
	return r->columns >= 2 && r->columns <= LLD_COLUMNS_MAX && *at;
}

/* The text behind the numbers stands the further right the more it is inside:
 * output section, input section, symbol. */
static int lld_line(struct reader *r, char *text)
{
	uint64_t numbers[LLD_COLUMNS_MAX];
	char *at = skip_blanks(text), *end = at;

	for (unsigned int i = 0; i < r->columns; i++) {
		at = starts(at, "0x") ? at + 2 : at;
		end = at + strcspn(at, " ");
		at = take_hex(at, &numbers[i]);
		if (!at)
			return 1;
	}
	if (at - end < 8) {
		r->output = section_of(at);
		return 0;
	}
	if (at - end < 16 || starts(at, ". = ") || strstr(at, " = "))
		return 0;
	return symbol_add(r, at, numbers[0], numbers[r->size_column],
			  r->output, false);
}

static enum map_kind guess(struct reader *r, char *text)
{
	uint64_t address;
	char *at;

	if (lld_header(r, text))
		return MAP_LLD;
	at = take_hex(text, &address);
	if (at && (is_nm_letter(at) || ((at = take_hex(at, &address)) &&
					is_nm_letter(at))))
		return MAP_NM;
	at = skip_blanks(text);
	if (at > text && is_nm_letter(at) && at[0] != '?')
		return MAP_NM;
	/* any line of GNU ld's with an address; the others are in words, of
	 * the language of whoever linked */
	at = strstr(text, " 0x");
	return at && take_0x(at + 1, &address) ? MAP_GNU : MAP_UNKNOWN;
}

static int reader_line(struct reader *r, char *text)
{
	int code;

	r->line++;
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' && *at != '\t' && *at != '\r')
			return reader_refuse(r, BAD_BYTES);
	text[strcspn(text, "\r")] = '\0';
	if (!*skip_blanks(text))
		return 0;
	if (r->kind == MAP_UNKNOWN) {
		r->kind = guess(r, text);
		if (r->kind == MAP_LLD)
			return 0;
	}
	switch (r->kind) {
	case MAP_NM:
		/* of several files each has its name in front */
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

int map_read(struct map_symbols *symbols, char *text, uint64_t size,
	     struct error *err)
{
	struct reader r = {
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
