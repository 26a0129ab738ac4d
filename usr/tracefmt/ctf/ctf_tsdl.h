/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pieces of TSDL, the language of a CTF trace's metadata (CTF 1.8.3, 7 and
 * appendix C). All is byte-aligned and little-endian.
 */
#ifndef TRACEFMT_CTF_TSDL_H
#define TRACEFMT_CTF_TSDL_H

#include "ctf_buffer.h"

/* "text", safe to print, with quotes around. */
void ctf_tsdl_literal(struct ctf_buffer *tsdl, const char *text, size_t n);
/* The type of an integer of 1 to 8 bytes. */
void ctf_tsdl_integer(struct ctf_buffer *tsdl, unsigned int bytes,
		      bool is_signed, unsigned int base);
/* One that says true and false. */
void ctf_tsdl_bool(struct ctf_buffer *tsdl, unsigned int bytes);
/* IEEE, 4 or 8 bytes. */
void ctf_tsdl_float(struct ctf_buffer *tsdl, unsigned int bytes);

#endif
