/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An expression over an event's fields, with C's operators and their order:
 *
 *	len > 64 && name ~ "conf"
 *	req.hdr.flags & 0x10 || (pid == 33 && r->next->age >= 1.5)
 *
 * ~ and !~ match a string with an extended regular expression. Numbers: 64,
 * 0x40, 0b101, 0o17, 1.5; 64K, 1M, 1G, and 5ns, 5us, 5ms, 5s in ns. Integers
 * are exact. A value with a name (an enumerator, flags, an address's symbol)
 * compares with strings by it.
 *
 * Names: fields (format/field.h) by name or label, members and elements of what
 * is composed, and event, time (ns since 1970), major, minor, pid, tid, comm,
 * cpu, length, desc, which go before fields: .pid is the field pid. A
 * comparison with what a record doesn't have is false, and so is the value
 * itself, also with ! in front.
 */
#ifndef TRACEFMT_EXPRESSION_PARSE_H
#define TRACEFMT_EXPRESSION_PARSE_H

#include "lib/error.h"

struct expression;

/* 0, or -EINVAL or -ENOMEM with err set. */
int expression_parse(struct expression **expression, const char *text,
		     struct error *err);
void expression_free(struct expression *expression);

#endif
