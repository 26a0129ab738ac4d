// SPDX-License-Identifier: GPL-2.0
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "lib/array.h"

#define DEMANGLED_MAX	16384	/* a short name can stand for terabytes */
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

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80);
}

/* Behind the word "operator" at `at` and the marks that it names; NULL: no
 * such word is there. */
static const char *operator_end(const char *start, const char *at)
{
	static const char *const marks[] = {
		" new[]", " delete[]",
		"()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>",
		"<=", ">=", "<", ">",
	};

	if (strncmp(at, "operator", 8) || is_word(at[8]) ||
	    (at > start && is_word(at[-1])))
		return NULL;
	at += 8;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (!strncmp(at, marks[i], strlen(marks[i])))
			return at + strlen(marks[i]);
	return at;
}

/* Behind the brackets that open at `at`, or the end of the text. */
static const char *group_end(const char *start, const char *at)
{
	unsigned int depth = 0;

	while (*at) {
		const char *behind = operator_end(start, at);

		if (behind) {
			at = behind;
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
struct part {
	const char *name, *arguments, *parameters, *end;
};

/* Template arguments and parameters begin at the end when there are none. */
static struct part part_read(const char *text, const char *at)
{
	struct part part = { .name = at };

	if (*at == '(' || *at == '{')
		at = group_end(text, at);
	while (*at && !strchr("<([", *at) && strncmp(at, "::", 2)) {
		const char *behind = operator_end(text, at);

		at = behind ? behind : at + 1;
	}
	part.arguments = at;
	while (*at == '<' || *at == '[')
		at = group_end(text, at);
	part.parameters = at;
	while (*at && strncmp(at, "::", 2))
		at = strchr("<([{", *at) ? group_end(text, at) : at + 1;
	part.end = at;
	return part;
}

const char *demangle_start(const char *full)
{
	static const char anonymous[] = "(anonymous namespace)";
	static const char of_type[] = "decltype (";
	const char *start = full, *at = full;

	while (*at && !operator_end(full, at)) {
		if (!strncmp(at, anonymous, strlen(anonymous)))
			at += strlen(anonymous);
		else if (!strncmp(at, of_type, strlen(of_type)))
			at = group_end(full, at + strlen(of_type) - 1);
		else if (*at == '(')
			break;
		else if (strchr("<[{", *at))
			at = group_end(full, at);
		else if (*at++ == ' ')
			start = at;
	}
	return *at ? start : full;
}

/* The parts of a name, at most PARTS_MAX, the last ones when there are more. */
static size_t parts_read(const char *text, struct part *parts)
{
	const char *at = text;
	size_t count = 0;

	for (;;) {
		if (count == PARTS_MAX)
			memmove(parts, parts + 1,
				--count * sizeof(*parts));
		parts[count] = part_read(text, at);
		at = parts[count++].end;
		if (!*at)
			return count;
		at += 2;
	}
}

const char *demangle_base(const char *name, size_t *length)
{
	struct part parts[PARTS_MAX];
	struct part *last = &parts[parts_read(name, parts) - 1];

	*length = last->arguments - last->name;
	return last->name;
}

size_t demangle_plain_length(const char *name)
{
	struct part parts[PARTS_MAX];

	return parts[parts_read(name, parts) - 1].parameters - name;
}

/* The text without blanks that separate nothing; "const T" becomes "T const",
 * and "(void)" "()". */
struct normaliser {
	char *to;
	unsigned int depth;	/* of brackets */
	bool moved[NESTING_MAX];	/* a const goes behind the type */
};

static void put_moved(struct normaliser *n)
{
	if (n->moved[n->depth % NESTING_MAX])
		n->to = stpcpy(n->to, " const");
	n->moved[n->depth % NESTING_MAX] = false;
}

/* Malloc'd; NULL: no memory. */
static char *normalise(const char *from)
{
	char *text = malloc(2 * strlen(from) + 8);
	struct normaliser n = { .to = text };
	char c;

	if (!text)
		return NULL;
	for (const char *at = from;; at++) {
		char before = n.to > text ? n.to[-1] : '\0';

		if (before == '(' && !strncmp(at, "void)", 5))
			at += 4;
		if (before && strchr("(,<", before) &&
		    !strncmp(at, "const ", 6)) {
			n.moved[n.depth % NESTING_MAX] = true;
			at += 5;
		}
		if (*at != ' ' || (is_word(before) && is_word(at[1]))) {
			c = *at;
			if (!c || strchr("*&,)>", c))
				put_moved(&n);
			n.depth += c == '(' || c == '<';
			n.depth -= c == ')' || c == '>';
			*n.to++ = c;
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

/* A compiler's variant of a function, "fn(int) [clone .cold]", has its name
 * only when it is asked for. */
static bool is_clone(const struct part *part)
{
	return memmem(part->parameters, part->end - part->parameters, "[clone",
		      6);
}

static bool part_matches(const struct part *full, const struct part *wanted)
{
	if (!range_equal(full->name, full->arguments, wanted->name,
			 wanted->arguments) ||
	    (is_clone(full) && !is_clone(wanted)))
		return false;
	if (wanted->parameters > wanted->arguments &&
	    !range_equal(full->arguments, full->parameters, wanted->arguments,
			 wanted->parameters))
		return false;
	if (wanted->end == wanted->parameters)
		return true;
	return full->end - full->parameters >=
		       wanted->end - wanted->parameters &&
	       !memcmp(full->parameters, wanted->parameters,
		       wanted->end - wanted->parameters);
}

bool demangle_matches(const char *full, const char *wanted)
{
	struct part parts[PARTS_MAX], wanted_parts[PARTS_MAX];
	size_t count, wanted_count, i = 0;
	char *a = normalise(demangle_start(full)), *b = normalise(wanted);
	bool match = false;

	if (a && b) {
		count = parts_read(a, parts);
		wanted_count = parts_read(b, wanted_parts);
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

static uint32_t base_hash(const char *name)
{
	size_t length;
	const char *base = demangle_base(name, &length);

	return hash_fnv(HASH_FNV_START, base, length);
}

static bool entry_add(struct demangle_index *index, char *full,
		      uint32_t number)
{
	size_t length;
	const char *base = demangle_base(demangle_start(full), &length);

	if (!array_grow(&index->entries, index->count, &index->room,
			sizeof(*index->entries)))
		return false;
	index->entries[index->count++] = (struct demangle_entry) {
		.full = full, .base = base, .base_length = length,
		.hash = hash_fnv(HASH_FNV_START, base, length),
		.number = number,
	};
	return true;
}

void demangle_index_add(struct demangle_index *index, const char *name,
			uint32_t number)
{
	char *full = demangle_symbol(name);

	if (!full) {
		if (!strstr(name, "::") && !strchr(name, '('))
			return;
		full = strdup(name);
	}
	if (full && !index->failed && entry_add(index, full, number))
		return;
	free(full);
	index->failed = true;
}

void demangle_index_finish(struct demangle_index *index)
{
	index->bucket_count = 16;
	while (index->bucket_count < index->count)
		index->bucket_count *= 2;
	index->buckets = calloc(index->bucket_count, sizeof(*index->buckets));
	index->failed |= !index->buckets;
	for (size_t i = index->failed ? 0 : index->count; i--; ) {
		struct demangle_entry *entry = &index->entries[i];
		uint32_t *bucket =
			&index->buckets[entry->hash &
					(index->bucket_count - 1)];

		entry->next = *bucket;
		*bucket = i + 1;
	}
}

void demangle_index_free(struct demangle_index *index)
{
	for (size_t i = 0; i < index->count; i++)
		free(index->entries[i].full);
	free(index->entries);
	free(index->buckets);
	*index = (struct demangle_index) {0};
}

const struct demangle_entry *
demangle_index_next(const struct demangle_index *index, const char *wanted,
		    uint32_t *position)
{
	uint32_t hash = base_hash(wanted), at;

	if (!index->buckets)
		return NULL;
	at = *position ? index->entries[*position - 1].next :
			 index->buckets[hash & (index->bucket_count - 1)];
	while (at && (index->entries[at - 1].hash != hash ||
		      !demangle_matches(index->entries[at - 1].full, wanted)))
		at = index->entries[at - 1].next;
	*position = at;
	return at ? &index->entries[at - 1] : NULL;
}

const struct demangle_entry *
demangle_index_within(const struct demangle_index *index, const char *wanted,
		      uint32_t *position)
{
	size_t length = strlen(wanted);

	if (!index->buckets || !demangle_may_be_whole(wanted))
		return NULL;
	while (*position < index->count) {
		const struct demangle_entry *entry =
			&index->entries[(*position)++];

		if (memmem(wanted, length, entry->base, entry->base_length))
			return entry;
	}
	return NULL;
}
