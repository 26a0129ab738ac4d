/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The short way of the records that are as they should be, which is nearly all
 * of them: decode.h and render.h in one, without pieces.
 */
#ifndef TRACEFMT_PLAIN_H
#define TRACEFMT_PLAIN_H

#include "decode.h"

/* Of decode_compile(): format->plain, NULL where no record can be plain. 0 or
 * -ENOMEM. */
int plain_prepare(struct decode_format *format);

/*
 * The text of a record whose controls all find what they take, at p, in
 * render_room(); returns the end. NULL: something is amiss or out of the
 * ordinary; what was written is to be forgotten.
 */
char *plain_put(const struct decode_format *format,
		const struct ras_record *record, size_t skip, char *p);

#endif
