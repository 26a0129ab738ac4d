/* SPDX-License-Identifier: GPL-2.0 */
/* The clauses that log data, after the keyword and '='. */
#ifndef TRCUST_PARSE_DATA_H
#define TRCUST_PARSE_DATA_H

#include "parser.h"

bool parse_regs(struct parser *p);
bool parse_memory(struct parser *p);
bool parse_len(struct parser *p);
bool parse_vars(struct parser *p);
bool parse_stack(struct parser *p);
/* The name of a symbol, after its dot; `function`: as TP has it. */
bool parse_symbol_name(struct parser *p, bool function, const char **name,
		       struct srcpos *pos);

#endif
