/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In most records all controls find what they take. The text of such a plain
 * record is made here without the pieces of decode.h, which is much faster.
 */
#ifndef LIB_READ_PLAIN_H
#define LIB_READ_PLAIN_H

#include "decode.h"

/* Of decode_compile(): format->plain, NULL where no record can be plain. 0 or
 * -ENOMEM. */
int plain_prepare(struct decode_format *format);

/*
 * The text of a record whose controls all find what they take, at p, in
 * render_room(); returns the end. NULL: the record is not plain; discard what
 * was written.
 */
char *plain_put(const struct decode_format *format,
		const struct ras_record *record, size_t skip, char *p);

#endif
