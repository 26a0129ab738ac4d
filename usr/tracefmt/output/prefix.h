/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What --prefix puts in front of a record's lines. A template's text is printed
 * as it is, but for
 *
 *	%n number of the event	%t time, as in the header line
 *	%D date			%s seconds since 1970
 *	%r since the first	%d since the event before, in seconds
 *	%b boot clock, seconds	%h host
 *	%p pid			%i tid
 *	%c process		%C CPU
 *	%M major		%m minor
 *	%e DESC			%l length
 *	%f flags		%% %
 *	%{NAME}			what --fields calls so, of the event or its data
 *	\n \t \\
 *
 * Between % and letter there may be a width, with a - in front to fill up at
 * the right, and # for hexadecimal (%p, %i, %M, %m).
 */
#ifndef TRACEFMT_PREFIX_H
#define TRACEFMT_PREFIX_H

#include "cell.h"

struct prefix;

/* 0, or -EINVAL or -ENOMEM with err set. */
int prefix_parse(struct prefix **prefix, const char *template,
		 struct error *err);
void prefix_free(struct prefix *prefix);

/* The text output with --prefix or --fields. */
extern const struct output_ops output_prefixed;

#endif
