// SPDX-License-Identifier: GPL-2.0
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/array.h"

#define DEMANGLED_MAX	16384	/* a short name can mean terabytes */
#define NESTING_MAX	256
#define PARTS_MAX	64	/* scopes within scopes */

struct demangling {
	char *text;
	size_t length;
	jmp_buf too_long;
};

/* What a demangler owns while it prints, which is a name in Punycode at most,
 * is lost when that gets too long. */
static void demangle_take(const char *text, size_t length, void *context)
{
	struct demangling *d = context;

	if (length > DEMANGLED_MAX - d->length)
		longjmp(d->too_long, 1);
	memcpy(d->text + d->length, text, length);
	d->length += length;
}

bool demangle_is_mangled(const char *name, size_t length)
{
	return length > 2 && name[0] == '_' &&
	       (name[1] == 'Z' || name[1] == 'R');
}

static char *demangle(const char *mangled, int options)
{
	struct demangling d = {0};
	char *text = NULL;

	if (!demangle_is_mangled(mangled, strlen(mangled)))
		return NULL;
	d.text = malloc(DEMANGLED_MAX + 1);
	if (!d.text)
		return NULL;
	if (!setjmp(d.too_long) &&
	    (rust_demangle_callback(mangled, options, demangle_take, &d) ||
	     cplus_demangle_v3_callback(mangled, options, demangle_take, &d))) {
		d.text[d.length] = '\0';
		text = strdup(d.text);
	}
	free(d.text);
	return text;
}

char *demangle_symbol(const char *mangled)
{
	return demangle(mangled, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP);
}

char *demangle_whole(const char *mangled)
{
	return demangle(mangled, DMGL_PARAMS | DMGL_ANSI);
}

static bool demangle_is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}

/* The end of the word "operator" at `at` and the marks that it names; NULL: no
 * such word is there. */
static const char *operator_name_end(const char *start, const char *at)
{
	static const char *const marks[] = {
		" new[]", " delete[]",
		"()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>",
		"<=", ">=", "<", ">",
	};

	if (strncmp(at, "operator", 8) || demangle_is_word(at[8]) ||
	    (at > start && demangle_is_word(at[-1])))
		return NULL;
	at += 8;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (!strncmp(at, marks[i], strlen(marks[i])))
			return at + strlen(marks[i]);
	return at;
}

/* The end of the brackets that open at `at`, or the end of the text. */
static const char *brackets_end(const char *start, const char *at)
{
	unsigned int depth = 0;

	while (*at) {
		const char *end = operator_name_end(start, at);

		if (end) {
			at = end;
			continue;
		}
		if (strchr("<([{", *at))
			depth++;
		else if (strchr(")]}", *at) ||
			 (*at == '>' && at[-1] != '-'))
			depth--;
		at++;
		if (!depth)
			break;
	}
	return at;
}

/* A part of a name between "::". */
struct name_part {
	const char *name, *arguments, *parameters, *end;
};

/* Template arguments and parameters begin at the end when there are none. */
static struct name_part demangle_part_read(const char *text, const char *at)
{
	struct name_part part = { .name = at };

	if (*at == '(' || *at == '{')
		at = brackets_end(text, at);
	while (*at && !strchr("<([", *at) && strncmp(at, "::", 2)) {
		const char *end = operator_name_end(text, at);

		at = end ? end : at + 1;
	}
	part.arguments = at;
	while (*at == '<' || *at == '[')
		at = brackets_end(text, at);
	part.parameters = at;
	while (*at && strncmp(at, "::", 2))
		at = strchr("<([{", *at) ? brackets_end(text, at) : at + 1;
	part.end = at;
	return part;
}

const char *demangle_start(const char *full)
{
	static const char anonymous[] = "(anonymous namespace)";
	static const char of_type[] = "decltype (";
	const char *start = full, *at = full;

	while (*at && !operator_name_end(full, at)) {
		if (!strncmp(at, anonymous, strlen(anonymous)))
			at += strlen(anonymous);
		else if (!strncmp(at, of_type, strlen(of_type)))
			at = brackets_end(full, at + strlen(of_type) - 1);
		else if (*at == '(')
			break;
		else if (strchr("<[{", *at))
			at = brackets_end(full, at);
		else if (*at++ == ' ')
			start = at;
	}
	return *at ? start : full;
}

/* The parts of a name, at most PARTS_MAX, the last ones when there are more. */
static size_t demangle_parts_read(const char *text, struct name_part *parts)
{
	const char *at = text;
	size_t count = 0;

	for (;;) {
		if (count == PARTS_MAX)
			memmove(parts, parts + 1,
				--count * sizeof(*parts));
		parts[count] = demangle_part_read(text, at);
		at = parts[count++].end;
		if (!*at)
			return count;
		at += 2;
	}
}

const char *demangle_base(const char *name, size_t *length)
{
	struct name_part parts[PARTS_MAX];
	struct name_part *last = &parts[demangle_parts_read(name, parts) - 1];

	*length = last->arguments - last->name;
	return last->name;
}

size_t demangle_plain_length(const char *name)
{
	struct name_part parts[PARTS_MAX];

	return parts[demangle_parts_read(name, parts) - 1].parameters - name;
}

/* The text without blanks that separate nothing, malloc'd; "const T" becomes "T
 * const", and "(void)" "()". NULL: no memory. */
static char *normalise(const char *from)
{
	char *text = malloc(2 * strlen(from) + 8), *to = text;
	bool moved[NESTING_MAX] = { false };	/* const goes after the type */
	unsigned int depth = 0;			/* of brackets */

	if (!text)
		return NULL;
	for (const char *at = from;; at++) {
		char before = to > text ? to[-1] : '\0';

		if (before == '(' && !strncmp(at, "void)", 5))
			at += 4;
		if (before && strchr("(,<", before) &&
		    !strncmp(at, "const ", 6)) {
			moved[depth % NESTING_MAX] = true;
			at += 5;
		}
		if (*at != ' ' ||
		    (demangle_is_word(before) && demangle_is_word(at[1]))) {
			if ((!*at || strchr("*&,)>", *at)) &&
			    moved[depth % NESTING_MAX]) {
				to = stpcpy(to, " const");
				moved[depth % NESTING_MAX] = false;
			}
			depth += *at == '(' || *at == '<';
			depth -= *at == ')' || *at == '>';
			*to++ = *at;
		}
		if (!*at)
			return text;
	}
}

static bool range_equal(const char *a, const char *a_end, const char *b,
			const char *b_end)
{
	return a_end - a == b_end - b && !memcmp(a, b, a_end - a);
}

static bool part_matches(const struct name_part *full,
			 const struct name_part *wanted)
{
	size_t full_rest = full->end - full->parameters;
	size_t wanted_rest = wanted->end - wanted->parameters;

	if (!range_equal(full->name, full->arguments, wanted->name,
			 wanted->arguments))
		return false;

	/* A compiler's variant of a function, "fn(int) [clone .cold]", has its
	 * name only when it is asked for. */
	if (memmem(full->parameters, full_rest, "[clone", 6) &&
	    !memmem(wanted->parameters, wanted_rest, "[clone", 6))
		return false;
	if (wanted->parameters > wanted->arguments &&
	    !range_equal(full->arguments, full->parameters, wanted->arguments,
			 wanted->parameters))
		return false;
	return full_rest >= wanted_rest &&
	       !memcmp(full->parameters, wanted->parameters, wanted_rest);
}

bool demangle_matches(const char *full, const char *wanted)
{
	struct name_part parts[PARTS_MAX], wanted_parts[PARTS_MAX];
	size_t count, wanted_count, i = 0;
	char *a = normalise(demangle_start(full)), *b = normalise(wanted);
	bool match = false;

	if (a && b) {
		count = demangle_parts_read(a, parts);
		wanted_count = demangle_parts_read(b, wanted_parts);
		match = wanted_count <= count;
		for (i = 1; match && i <= wanted_count; i++)
			match = part_matches(&parts[count - i],
					     &wanted_parts[wanted_count - i]);
	}
	free(a);
	free(b);
	return match;
}

bool demangle_may_be_whole(const char *name)
{
	return strchr(name, ' ') && strchr(name, '<') && strchr(name, '(');
}

bool demangle_is_whole(const char *mangled, const char *wanted)
{
	char *whole = demangle_whole(mangled);
	char *a = whole ? normalise(whole) : NULL, *b = normalise(wanted);
	bool match = a && b && !strcmp(a, b);

	free(whole);
	free(a);
	free(b);
	return match;
}

void demangle_index_add(struct demangle_index *index, const char *name,
			size_t length, uint32_t number)
{
	char *text = strndup(name, length), *full;
	struct demangle_entry *entry;
	size_t base_length;

	full = text ? demangle_symbol(text) : NULL;
	if (full || (text && !strstr(text, "::") && !strchr(text, '('))) {
		free(text);
		if (!full)
			return;
	} else {
		full = text;
	}
	if (!full || index->failed ||
	    !array_grow(&index->entries, index->count, &index->room,
			sizeof(*index->entries))) {
		free(full);
		index->failed = true;
		return;
	}
	entry = &index->entries[index->count++];
	entry->full = full;
	entry->name = name;
	entry->name_length = length;
	entry->base = demangle_base(demangle_start(full), &base_length);
	entry->base_length = base_length;
	entry->number = number;
	index->failed = key_map_add_number(
		&index->bases, hash_fnv(HASH_FNV_START, entry->base,
					base_length), index->count);
}

void demangle_index_free(struct demangle_index *index)
{
	for (size_t i = 0; i < index->count; i++)
		free(index->entries[i].full);
	free(index->entries);
	key_map_free(&index->bases);
	*index = (struct demangle_index) {0};
}

const struct demangle_entry *
demangle_index_next(const struct demangle_index *index, const char *wanted,
		    struct demangle_walk *walk)
{
	size_t length, at;
	const char *base = demangle_base(wanted, &length);
	uint64_t hash = hash_fnv(HASH_FNV_START, base, length);

	while (!walk->whole) {
		at = key_map_each_number(&index->bases, hash, &walk->position);
		if (at && demangle_matches(index->entries[at - 1].full,
					   wanted)) {
			walk->found = true;
			return &index->entries[at - 1];
		}
		walk->whole = !at;
		if (!at)
			walk->position = 0;
	}
	if (walk->found || !demangle_may_be_whole(wanted))
		return NULL;
	while (walk->position < index->count) {
		const struct demangle_entry *entry =
			&index->entries[walk->position++];
		bool match = false;
		char *name;

		if (!memmem(wanted, strlen(wanted), entry->base,
			    entry->base_length))
			continue;
		name = strndup(entry->name, entry->name_length);
		match = name && demangle_is_whole(name, wanted);
		free(name);
		if (match)
			return entry;
	}
	return NULL;
}
