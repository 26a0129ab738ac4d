// SPDX-License-Identifier: GPL-2.0
#include "json_context.h"

#include <errno.h>
#include "lib/read/read.h"
#include "json_field.h"

#define FIXED_ROOM	512	/* of all but the stack */

static char *figure_put(char *p, const char *key, uint64_t value)
{
	p = text_put(p, key, strlen(key));
	p = text_put_decimal(p, value);
	*p++ = ',';
	return p;
}

static char *fixed_put(const struct context *c, char *p)
{
	const uint8_t *at = c->fixed;

	if (c->mask & RAS_CONTEXT_COMM) {
		p = TEXT_PUT(p, "\"comm\":");
		p = json_put_string(p, at, strnlen((const char *)at, 16));
		*p++ = ',';
		at += 16;
	}
	if (c->mask & RAS_CONTEXT_UID) {
		p = figure_put(p, "\"uid\":", number_load(at, 4));
		p = figure_put(p, "\"gid\":", number_load(at + 4, 4));
		at += 8;
	}
	if (c->mask & RAS_CONTEXT_CGROUP) {
		p = figure_put(p, "\"cgroup\":", number_load(at, 8));
		at += 8;
	}
	if (c->mask & RAS_CONTEXT_CPU) {
		p = figure_put(p, "\"cpu\":", number_load(at, 4));
		at += 8;
	}
	if (c->mask & RAS_CONTEXT_PPID)
		p = figure_put(p, "\"ppid\":", number_load(at, 4));
	return p;
}

int json_context_put(const struct context *context, struct stack_owner owner,
		     struct text *text)
{
	char *p;
	int code = 0;

	if (text_reserve(text, FIXED_ROOM))
		return -ENOMEM;
	p = text->data + text->used;
	*p++ = '{';
	p = fixed_put(context, p);
	if (context->stack)
		p = TEXT_PUT(p, "\"stack\":");
	text->used = p - text->data;
	if (context->stack)
		code = json_stack_put(owner, context->stack_end, context->stack,
				      context->stack_bytes, text);
	else
		text->used--;	/* the comma */
	if (code || text_reserve(text, 1))
		return -ENOMEM;
	text->data[text->used++] = '}';
	return 0;
}
