/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What runs while a function does: the functions that it calls, those that
 * these call, and so on, as far as the code has it.
 */
#ifndef TRCUST_CALLS_H
#define TRCUST_CALLS_H

#include "module_elf.h"

enum calls_reach {
	CALLS_CLOSED,	/* what runs is known: a few functions of the module,
			 * and of the C library that call none of it; each
			 * returns to where it was called */
	CALLS_OPEN,	/* anything else may run; nothing that is known leads
			 * back to the function */
	CALLS_AGAIN,	/* it may be called again before it returns */
	CALLS_UNKNOWN,	/* not known, or too much to look at */
};

struct calls;

/* The module must last longer. NULL: no memory. */
struct calls *calls_begin(const struct module *module);
void calls_end(struct calls *calls);

/* Of the function that begins at entry. 0 or -ENOMEM. */
int calls_find(struct calls *calls, uint64_t entry, enum calls_reach *reach);
/* Does some code of the module go on on another stack? True, too, when that's
 * too much to look at. 0 or -ENOMEM. */
int calls_switch_stacks(struct calls *calls, bool *switches);
/* Does some call of the function read what it returns, in the instructions that
 * follow, or is it reached by pointers only? False, too, when that's too much to
 * look at. 0 or -ENOMEM. */
int calls_use_result(struct calls *calls, uint64_t entry, bool *used);

/*
 * What calls and jumps lead to, found by decoding all of the module's code:
 * addresses in the middle of functions that other code jumps to (parts of a
 * function of which nothing says that they are), and whether a function is called.
 */
struct targets {
	uint64_t *addresses;	/* ascending */
	size_t count, room;
	bool known;		/* they were looked for */
};

/* 0 or -ENOMEM. */
int targets_find(struct targets *targets, const struct module *module);
/* Does code elsewhere call the function, or jump to where it begins? What goes
 * through a register or memory isn't seen. */
bool targets_lead_to(const struct module *module,
		     const struct module_range *function);
void targets_free(struct targets *targets);

#endif
