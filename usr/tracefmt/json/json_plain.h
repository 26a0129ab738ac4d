/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The short way of the records whose fields are numbers and strings that are
 * as they should be, which is nearly all of them: decode.h and json_field.h in
 * one, without pieces.
 */
#ifndef TRACEFMT_JSON_PLAIN_H
#define TRACEFMT_JSON_PLAIN_H

#include "lib/read/read.h"

struct json_plain;

/*
 * wanted[i]: field i is. Sets *made, which is freed with free() and has the
 * fields' names; NULL: its records never are plain. 0 or -ENOMEM.
 */
int json_plain_make(struct json_plain **made, const struct match_point *point,
		    const bool *wanted);
/* Room for so many bytes of data. */
size_t json_plain_room(const struct json_plain *plain, size_t length);
/*
 * ,"fields":{...} of a record at p; returns the end. NULL: something is amiss
 * or out of the ordinary; what was written is to be forgotten.
 */
char *json_plain_put(const struct json_plain *plain,
		     const struct ras_record *record, size_t skip, char *p);

#endif
