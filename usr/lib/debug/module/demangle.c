// SPDX-License-Identifier: GPL-2.0
#include "demangle.h"

#include <errno.h>
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

	errno = 0;
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

	if (*at != 'o' || strncmp(at, "operator", 8) || demangle_is_word(at[8]) ||
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
		if (*at == '<' || *at == '(' || *at == '[' || *at == '{')
			depth++;
		else if (*at == ')' || *at == ']' || *at == '}' ||
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
	if (at > part.name && !strncmp(at, "::<", 3))	/* Rust: fn::<T> */
		at += 2;
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

/* Names as people write them: the standard library's types without arguments
 * that are defaults. */

#define ARGUMENTS_MAX	16	/* of a template; others stay as they are */

struct shortener {
	const char *text;	/* all of the name */
	char *out;		/* has room for it: it never gets longer */
	size_t length;
	unsigned int depth;
};

struct template_arguments {
	struct {
		size_t begin;		/* in out, with the comma before it */
		size_t start, end;
	} list[ARGUMENTS_MAX];
	size_t count;
};

static void shorten_range(struct shortener *s, const char *at, const char *end);

static void shortener_put(struct shortener *s, const char *at, size_t length)
{
	memcpy(s->out + s->length, at, length);
	s->length += length;
}

/* Is the argument FIRST after `name`, "std::less<FIRST>"? */
static bool argument_is(const struct shortener *s,
			const struct template_arguments *arguments, size_t i,
			const char *name)
{
	const char *at = s->out + arguments->list[i].start;
	size_t left = arguments->list[i].end - arguments->list[i].start;
	const char *first = s->out + arguments->list[0].start;
	size_t first_length = arguments->list[0].end - arguments->list[0].start;
	size_t length = strlen(name);

	return left == length + first_length + 1 && !memcmp(at, name, length) &&
	       !memcmp(at + length, first, first_length) &&
	       at[left - 1] == '>';
}

/* Does the last argument of the template have its default? */
static bool argument_is_default(const struct shortener *s,
				const struct template_arguments *arguments,
				const char *name, size_t length)
{
	static const char *const defaults[] = {
		"std::char_traits<", "std::less<", "std::hash<",
		"std::equal_to<", "std::default_delete<",
	};
	static const char *const plain[] = { "pair", "tuple", "variant" };
	static const char allocator[] = "std::allocator<";
	size_t last = arguments->count - 1;
	const char *at = s->out + arguments->list[last].start;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (length == strlen(plain[i]) &&
		    !memcmp(name, plain[i], length))
			return false;
	if (arguments->list[last].end - arguments->list[last].start >
		    strlen(allocator) &&
	    !memcmp(at, allocator, strlen(allocator)))
		return true;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		if (argument_is(s, arguments, last, defaults[i]))
			return true;
	if ((length == 5 && !memcmp(name, "stack", 5)) ||
	    (length == 5 && !memcmp(name, "queue", 5)))
		return argument_is(s, arguments, last, "std::deque<");
	return length == 14 && !memcmp(name, "priority_queue", 14) &&
	       argument_is(s, arguments, last, "std::vector<");
}

/* "std::string" for "std::basic_string<char>", from `start` on in out. */
static bool shorten_alias(struct shortener *s, size_t start,
			  const struct template_arguments *arguments,
			  const char *name, size_t length)
{
	static const char *const characters[][2] = {
		{ "char", "" }, { "wchar_t", "w" }, { "char8_t", "u8" },
		{ "char16_t", "u16" }, { "char32_t", "u32" },
	};
	const char *at = s->out + arguments->list[0].start;
	size_t left = arguments->list[0].end - arguments->list[0].start;

	if (length < 6 || memcmp(name, "basic_", 6) || arguments->count != 1)
		return false;
	for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++) {
		const char *prefix = characters[i][1];

		if (left != strlen(characters[i][0]) ||
		    memcmp(at, characters[i][0], left))
			continue;
		s->length = start;
		shortener_put(s, "std::", 5);
		shortener_put(s, prefix, strlen(prefix));
		shortener_put(s, name + 6, length - 6);
		return true;
	}
	return false;
}

/* Writes the arguments between `at`, after the '<', and the '>' at `end`. */
static void shorten_arguments(struct shortener *s, const char *at,
			      const char *end,
			      struct template_arguments *arguments)
{
	while (at < end) {
		const char *stop = at, *next;
		size_t begin = s->length;

		while (stop < end && *stop != ',') {
			next = operator_name_end(s->text, stop);
			if (!next)
				next = strchr("<([{", *stop) ?
					brackets_end(s->text, stop) : stop + 1;
			stop = next;
		}
		if (stop > end)
			stop = end;
		if (arguments->count)
			shortener_put(s, ",", 1);
		while (at < stop && *at == ' ') {
			if (arguments->count)
				shortener_put(s, " ", 1);
			at++;
		}
		if (arguments->count < ARGUMENTS_MAX) {
			arguments->list[arguments->count].begin = begin;
			arguments->list[arguments->count].start = s->length;
		}
		shorten_range(s, at, stop);
		while (s->length && s->out[s->length - 1] == ' ')
			s->length--;
		if (arguments->count < ARGUMENTS_MAX)
			arguments->list[arguments->count].end = s->length;
		arguments->count++;
		at = stop + (stop < end);
	}
}

/* At "std::": the end of the type's name with its arguments. */
static const char *shorten_standard(struct shortener *s, const char *at)
{
	static const char *const versions[] = { "__cxx11::", "__1::" };
	struct template_arguments arguments = { .count = 0 };
	size_t start = s->length, length;
	const char *name, *end;

	shortener_put(s, at, 5);
	at += 5;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (!strncmp(at, versions[i], strlen(versions[i])))
			at += strlen(versions[i]);
	for (name = at; demangle_is_word(*at); at++)
		;
	length = at - name;
	shortener_put(s, name, length);
	end = *at == '<' ? brackets_end(s->text, at) : at;
	/* the arguments of a function have no defaults that say nothing */
	if (*at != '<' || end[-1] != '>' || *end == '(' ||
	    operator_name_end(s->text, name))
		return at;
	shortener_put(s, "<", 1);
	shorten_arguments(s, at + 1, end - 1, &arguments);
	if (arguments.count && arguments.count <= ARGUMENTS_MAX) {
		while (arguments.count > 1 &&
		       argument_is_default(s, &arguments, name, length))
			s->length = arguments.list[--arguments.count].begin;
		if (shorten_alias(s, start, &arguments, name, length))
			return end;
	}
	shortener_put(s, ">", 1);
	return end;
}

static void shorten_range(struct shortener *s, const char *at, const char *end)
{
	bool deep = s->depth >= NESTING_MAX;

	s->depth++;
	while (at < end) {
		const char *operator = operator_name_end(s->text, at);

		if (operator && operator <= end) {
			shortener_put(s, at, operator - at);
			at = operator;
		} else if (!deep && *at == 's' && !strncmp(at, "std::", 5) &&
			   (at == s->text ||
			    (!demangle_is_word(at[-1]) && at[-1] != ':'))) {
			at = shorten_standard(s, at);
		} else {
			/* "> >" closes two lists */
			if (*at != ' ' || at[1] != '>' || at == s->text ||
			    at[-1] != '>')
				shortener_put(s, at, 1);
			at++;
		}
	}
	s->depth--;
}

char *demangle_shorten(const char *name)
{
	size_t length = strlen(name);
	struct shortener s = { .text = name, .out = malloc(length + 1) };

	if (s.out) {
		shorten_range(&s, name, name + length);
		s.out[s.length] = '\0';
	}
	return s.out;
}

char *demangle_display(const char *full)
{
	char *text = demangle_shorten(demangle_start(full));

	if (text)
		text[demangle_plain_length(text)] = '\0';
	return text;
}

/* The text without blanks that separate nothing, malloc'd; "const T" becomes "T
 * const", "(void)" "()", and Rust's "fn::<T>" "fn<T>". NULL: no memory. */
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
		if (demangle_is_word(before) && !strncmp(at, "::<", 3))
			at += 2;
		if (before && strchr("(,<", before) &&
		    !strncmp(at, "const ", 6)) {
			moved[depth % NESTING_MAX] = true;
			at += 5;
		}
		if (*at != ' ' ||
		    (demangle_is_word(before) && demangle_is_word(at[1]))) {
			if ((!*at || strchr("*&,)>", *at)) &&
			    moved[depth % NESTING_MAX]) {
				to = stpcpy(to, demangle_is_word(before) ?
						" const" : "const");
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

static bool names_match(const char *full, const char *wanted)
{
	struct name_part parts[PARTS_MAX], wanted_parts[PARTS_MAX];
	size_t count, wanted_count, i = 0;
	char *a = normalise(full), *b = normalise(wanted);
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

/* "<TYPE>::REST" or "<TYPE as TRAIT>::REST" of Rust, whose parts are cut from
 * one text. */
struct impl_name {
	char *type, *trait, *rest;	/* trait: NULL without one */
};

static bool impl_name_read(char *text, struct impl_name *impl)
{
	char *end = *text == '<' ? (char *)brackets_end(text, text) : text;

	if (end == text || end[-1] != '>' || strncmp(end, "::", 2) || !end[2])
		return false;
	*impl = (struct impl_name) { .type = text + 1, .rest = end + 2 };
	for (char *at = text + 1; at < end - 1;) {
		if (!strncmp(at, " as ", 4)) {
			*at = '\0';
			impl->trait = at + 4;
			break;
		}
		at = strchr("<([{", *at) ? (char *)brackets_end(text, at) :
					   at + 1;
	}
	end[-1] = '\0';
	return true;
}

/* "TYPE::REST" */
static char *impl_name_plain(const struct impl_name *impl)
{
	size_t length = strlen(impl->type);
	char *text = malloc(length + 2 + strlen(impl->rest) + 1);

	if (text)
		stpcpy(stpcpy(stpcpy(text, impl->type), "::"), impl->rest);
	return text;
}

/* At least one of the names is of Rust's form with brackets. */
static bool impl_matches(const char *full, const struct impl_name *impl,
			 const char *wanted, const struct impl_name *wants)
{
	char *a, *b;
	bool match;

	if (wants && wants->trait)
		return impl && impl->trait &&
		       names_match(impl->type, wants->type) &&
		       names_match(impl->trait, wants->trait) &&
		       names_match(impl->rest, wants->rest);
	a = impl ? impl_name_plain(impl) : strdup(full);
	b = wants ? impl_name_plain(wants) : strdup(wanted);
	match = a && b && names_match(a, b);
	free(a);
	free(b);
	return match;
}

bool demangle_matches(const char *full, const char *wanted)
{
	struct impl_name impl, wants;
	char *a = demangle_shorten(demangle_start(full));
	char *b = demangle_shorten(wanted);
	bool match = false, one, other;

	if (a && b) {
		one = impl_name_read(a, &impl);
		other = impl_name_read(b, &wants);
		match = one || other ?
			impl_matches(a, one ? &impl : NULL, b,
				     other ? &wants : NULL) :
			names_match(a, b);
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
