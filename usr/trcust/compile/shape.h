/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values as their language means them: a std::string is its characters, a Vec
 * its elements. What a type means is in shapes (trcust/tsf/shape_file.h); Rust's
 * enumerations are described by the debug information.
 *
 * A value with a shape is logged as several items, its parts (rastrace/tff.h), of
 * statements that TDFs have anyway: a number is a VALUE; characters, elements
 * and what a pointer points to are a MEM whose length is computed. What does not
 * exist at run time (the fifth of four strings, the string of an empty optional,
 * what a null pointer points to) has the length 0, and its address isn't looked
 * at. So the layout of a record does not depend on the values, each part has a
 * status of its own, and a length of 2^60 is a number that is compared with the
 * limit.
 */
#ifndef TRCUST_SHAPE_H
#define TRCUST_SHAPE_H

#include "emit.h"
#include "value.h"

#define SHAPE_TEXT_MOST		128	/* bytes of a text, unless there is a limit */
#define SHAPE_ELEMENTS_MOST	16	/* elements of a sequence */

/*
 * Logs the value if its type has a shape, or a part of it has: 0; 1, -1 after
 * messages, and COMPILE_LEAVE_OUT. SHAPE_NOT: it has none, nothing was done.
 * `most`: bytes of text, elements; 0: as usual.
 */
#define SHAPE_NOT	3
int shape_log(const struct site_stmt *s, struct evaluation *e,
	      struct value *value, uint16_t most);

/* VARS=(pointer[:count, n]): so many elements from there on, n at most, or of a text
 * bytes. Both values are used up. As above, but always done. */
int shape_log_counted(const struct site_stmt *s, struct evaluation *e,
		      struct value *pointer, struct value *count);

/* See struct evaluation. Both are loaded; ONE has no count. */
bool shape_view(struct evaluation *e, struct srcpos pos,
		const struct value *value, enum value_view kind,
		struct value *address, struct value *count);

#endif
