/* SPDX-License-Identifier: GPL-2.0 */
/* Names of C++ (and Rust): mangled, as written in the source, and in a TSF. */
#ifndef TRCUST_DEMANGLE_H
#define TRCUST_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/key_map.h"

/*
 * "ns::cls::fn(int, char const*) const" of a mangled name, without a return
 * type, malloc'd. NULL: it isn't mangled, is damaged (errno is 0), or there is no
 * memory (ENOMEM).
 */
char *demangle_symbol(const char *mangled);
/* With the return type, as templates have one: "int fn<int>(int)" */
char *demangle_whole(const char *mangled);
/* It looks like a mangled name. */
bool demangle_is_mangled(const char *name, size_t length);

/* The end of the return type that a name with parameters may begin with. */
const char *demangle_start(const char *name);
/* What names the function itself: "fn" of "ns::cls<int>::fn<char>(int)" */
const char *demangle_base(const char *name, size_t *length);
/* The length of a name without parameters and what follows them. */
size_t demangle_plain_length(const char *name);

/* The name with "std::string" for "std::__cxx11::basic_string<char, ...>", and
 * without other arguments of the standard library's templates that are their
 * defaults, malloc'd. NULL: no memory. */
char *demangle_shorten(const char *name);
/* The same without return type and parameters: "ns::cls<std::string>::fn" */
char *demangle_display(const char *full);

/*
 * Is `wanted` a way to write the name `full`, which has parameters? Scopes may
 * be left out from the left, and template arguments and parameters as a whole;
 * blanks, on which side of a type const is, and what demangle_shorten() leaves
 * out don't matter. "<ns::Type>::fn" and "<ns::Type as ns::Trait>::fn" of Rust
 * may be written as "ns::Type::fn".
 */
bool demangle_matches(const char *full, const char *wanted);

/* It may have a return type. */
bool demangle_may_be_whole(const char *name);
/* Is `wanted` what demangle_whole() returns? Blanks, and on which side of a
 * type const is, don't matter. */
bool demangle_is_whole(const char *mangled, const char *wanted);

/* Numbered names by what they name themselves (demangle_base()). */
struct demangle_entry {
	char *full;		/* demangled */
	const char *base;	/* in full: demangle_base() */
	const char *name;	/* as it was added */
	uint32_t base_length, name_length, number;
};

struct demangle_index {
	struct demangle_entry *entries;
	size_t count, room;
	struct key_map bases;	/* hash of base: index + 1 */
	bool complete;		/* for the caller: all names were added */
	bool failed;		/* out of memory; sticks */
};

/* Add a name, mangled or not, which must last longer; others than those of C++
 * are left out. */
void demangle_index_add(struct demangle_index *index, const char *name,
			size_t length, uint32_t number);
void demangle_index_free(struct demangle_index *index);

struct demangle_walk {
	size_t position;
	bool found, whole;
};

/* The next name that the wanted one means: that it demangle_matches() or, when
 * there is none, demangle_is_whole(). *walk starts as zeros. NULL: no more. */
const struct demangle_entry *
demangle_index_next(const struct demangle_index *index, const char *wanted,
		    struct demangle_walk *walk);

#endif
