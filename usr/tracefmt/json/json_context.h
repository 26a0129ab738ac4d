/* SPDX-License-Identifier: GPL-2.0 */
/* A record's context as JSON: {"comm":"app","uid":0,"gid":0,"cgroup":4711,
 * "cpu":3,"ppid":33,"stack":{...}} of what there is; the stack as json_field.h
 * says. */
#ifndef TRACEFMT_JSON_CONTEXT_H
#define TRACEFMT_JSON_CONTEXT_H

#include "lib/read/read.h"

/* Append it; its mask isn't 0, and it fits. 0 or -ENOMEM. */
int json_context_put(const struct context *context, struct stack_owner owner,
		     struct text *text);

#endif
