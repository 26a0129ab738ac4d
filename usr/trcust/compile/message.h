/* SPDX-License-Identifier: GPL-2.0 */
/* Messages that several passes print. */
#ifndef TRCUST_MESSAGE_H
#define TRCUST_MESSAGE_H

#include "compile.h"

/* "alloc+0x1b" for an address relative to a symbol, cut to size. */
void message_name(char *text, size_t size, const char *name, uint64_t symbol,
		  uint64_t address);
/* The same for the nominal address of a site. */
void message_site_name(const struct compile_site *site, char *text,
		       size_t size);
/* A hint: why debug information that was found is not used, or that there is
 * none. */
void message_hint_debug(const struct compilation *c);
/* A hint: where a symbol may be defined that the module only uses. */
void message_hint_imported(const struct compilation *c);
/* A variable is not available at the site, or only in part. Returns 1. */
int message_absent(const struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name, const char *why,
		   const char *hint);
/* Two declarations match the name, neither hides the other. Returns 1. */
int message_ambiguous(const struct compilation *c, struct srcpos pos,
		      const char *name, const Dwarf_Die *one,
		      const Dwarf_Die *other);
/* The site's unit has no type of this name, or no definition of it: the type of
 * another unit is used. */
void message_other_type(const struct compilation *c, struct srcpos pos,
			const char *name, const Dwarf_Die *type);

#endif
