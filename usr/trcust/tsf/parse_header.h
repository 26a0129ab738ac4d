/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_PARSE_HEADER_H
#define TRCUST_PARSE_HEADER_H

#include "parser.h"

/* All up to the first TRACE. */
bool parse_header(struct parser *p);

#endif
