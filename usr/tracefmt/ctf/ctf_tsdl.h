/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pieces of a CTF trace: of its streams, and of TSDL, the language of its metadata
 * (CTF 1.8.3, 7 and appendix C). All is byte-aligned and little-endian.
 */
#ifndef TRACEFMT_CTF_TSDL_H
#define TRACEFMT_CTF_TSDL_H

#include <stdbool.h>
#include "lib/read/read.h"

/* ---- bytes of a stream ---- */

/* The low `bytes` bytes, at most 8, little-endian. */
void ctf_add_number(struct text *out, uint64_t value, unsigned int bytes);
/* All of it is UTF-8 without a zero: what a string of CTF can hold. */
bool ctf_is_text(const void *bytes, size_t n);
/* A string with its zero; what isn't text becomes \xHH. */
void ctf_add_string(struct text *out, const void *bytes, size_t n);
/* struct bytes: their number, then the bytes. */
void ctf_add_bytes(struct text *out, const uint8_t *data, size_t n);

/* ---- text of the metadata ---- */

/* "text", safe to print, with quotes around. */
void ctf_tsdl_literal(struct text *tsdl, const char *text, size_t n);
/* The type of an integer of 1 to 8 bytes. */
void ctf_tsdl_integer(struct text *tsdl, unsigned int bytes,
		      bool is_signed, unsigned int base);
/* "enum : TYPE", then each enumerator; the caller adds " }". */
void ctf_tsdl_enum(struct text *tsdl, unsigned int bytes, bool is_signed);
void ctf_tsdl_enumerator(struct text *tsdl, size_t i, const char *name,
			 uint64_t value, bool is_signed);
/* One that says true and false. */
void ctf_tsdl_bool(struct text *tsdl, unsigned int bytes);
/* IEEE, 4 or 8 bytes. */
void ctf_tsdl_float(struct text *tsdl, unsigned int bytes);

/* ---- what precedes a field that may be missing, and what follows then ---- */

enum ctf_content {
	CTF_CONTENT_VALUE,
	CTF_CONTENT_POINTER,	/* struct at_pointer */
	CTF_CONTENT_NOTHING,	/* struct nothing */
	CTF_CONTENT_BYTES,	/* struct bytes */
	CTF_CONTENT_NOT_TEXT,	/* struct not_text */
	CTF_CONTENT_TEXT,	/* string */
};

enum ctf_status {
	CTF_STATUS_VALUE,
	CTF_STATUS_EMPTY,
	CTF_STATUS_NOT_TEXT,
	CTF_STATUS_CUT,
	CTF_STATUS_NO_END,
	CTF_STATUS_TOO_SHORT,
	CTF_STATUS_NOT_READABLE,
	CTF_STATUS_BAD_SELECTOR,
	CTF_STATUS_LEFT_ALONE,
	CTF_STATUS_NOT_TRIED,
	CTF_STATUS_CALLER,
	CTF_STATUS_DIVISION,
	CTF_STATUS_ABSENT,
	CTF_STATUS_NOT_TRACED,
	CTF_STATUS_NOT_FORMATTED,
	CTF_STATUS_CUT_BEFORE,
	CTF_STATUS_INCOMPLETE,
	CTF_STATUS_NO_PREFIX,
	CTF_STATUS_OTHER_ITEM,
	CTF_STATUS_AS_TEXT,
	CTF_STATUS_MODULE,
	CTF_STATUS_UNKNOWN,
	CTF_STATUS_KINDS,
};

extern const struct ctf_status_entry {
	const char *name;
	enum ctf_content content;
} ctf_statuses[CTF_STATUS_KINDS];

/* Type of a content; NULL: the field's own. */
extern const char *const ctf_content_types[];
/* enum status, and the types that follow one. */
void ctf_status_tsdl(struct text *tsdl);

/* ---- C types ---- */

/*
 * Strings are plain ones, or, where one of the value is empty or no UTF-8, have
 * a status in front (babeltrace2 2.0 shows an empty string as the one that it
 * read before):
 *
 *	struct {
 *		enum status status;
 *		variant <status> {
 *			string value;
 *			struct nothing empty;
 *			struct not_text not_text;
 *		} text;
 *	} _tag;
 */
enum ctf_strings { CTF_STRINGS_PLAIN, CTF_STRINGS_WITH_STATUS };

/* "TYPE NAME;" in TSDL. false: TSDL can't have the type (too deep, too large,
 * of no fixed size), or there is no memory; nothing was added. */
bool ctf_ctype_tsdl(struct text *tsdl, const struct value_types *types,
		    uint32_t ctype, const char *name,
		    enum ctf_strings strings);
/* The type of an integer of `bytes`, with the names of an enumeration's values.
 * false: there are none, or too many; nothing was added. */
bool ctf_ctype_enum_tsdl(struct text *tsdl,
			 const struct value_types *types, uint32_t ctype,
			 unsigned int bytes);
/* A value of a type that was declared; all its bytes are at `data`. */
void ctf_ctype_write(struct text *out, const struct value_types *types,
		     uint32_t ctype, const uint8_t *data,
		     enum ctf_strings strings);
/* It has values of a shape or alternatives, which CTF has no type for. */
bool ctf_ctype_has_shape(const struct value_types *types, uint32_t ctype);
/* The strings of such a value can be plain ones. */
bool ctf_ctype_is_text(const struct value_types *types, uint32_t ctype,
		       const uint8_t *data);

#endif
