/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of C types (format/value.h) in CTF: a structure becomes one of the
 * same members, a union one of all its members, a bit-field an integer of whole
 * bytes, an array of characters a string up to its zero.
 */
#ifndef TRACEFMT_CTF_CTYPE_H
#define TRACEFMT_CTF_CTYPE_H

#include "lib/read/read.h"
#include "ctf_tsdl.h"

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
/* The strings of such a value can be plain ones. */
bool ctf_ctype_is_text(const struct value_types *types, uint32_t ctype,
		       const uint8_t *data);

#endif
