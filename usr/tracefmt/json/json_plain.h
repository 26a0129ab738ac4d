/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Most records have only numbers and strings, and all of them are there. Their
 * fields become JSON here without the pieces of decode.h and without
 * json_field.h, which is much faster.
 */
#ifndef TRACEFMT_JSON_PLAIN_H
#define TRACEFMT_JSON_PLAIN_H

#include "lib/read/read.h"
#include "json_values.h"

struct json_plain;

enum json_plain_form {
	JSON_PLAIN_MEMBER,	/* ,"fields":{"EIP":49997} */
	JSON_PLAIN_CELL,	/* "{""EIP"":49997}" of CSV */
};

/*
 * keys: of the point's fields. Sets *made, which is freed with free() and has
 * the fields' names; NULL: none of its records is plain. 0 or -ENOMEM.
 */
int json_plain_make(struct json_plain **made, const struct match_point *point,
		    const struct json_key *keys, enum json_plain_form form);
/* Room for so many bytes of data. */
size_t json_plain_room(const struct json_plain *plain, size_t length);
/*
 * The form of a record at p; returns the end. NULL: it is not plain;
 * discard what was written.
 */
char *json_plain_put(const struct json_plain *plain,
		     const struct ras_record *record, size_t skip, char *p);

#endif
