// SPDX-License-Identifier: GPL-2.0
#include "context.h"

#include <string.h>
#include "lib/number.h"
#include "lib/text.h"

#define FIXED_MAX	512	/* characters of the line, with some room */

static struct context misfit_make(void)
{
	return (struct context){ .misfit = true };
}

struct context context_find(const struct ras_record *record, uint32_t mask)
{
	const uint8_t *data = (const uint8_t *)(record + 1);
	size_t length = record->length - RAS_RECORD_HEADER;
	size_t fixed = RAS_CONTEXT_BYTES(mask);
	struct context c = { .mask = mask, .fixed = data, .bytes = fixed };
	struct ras_item item;

	if (record->flags & RAS_RECORD_MUTED)
		return (struct context){ 0 };
	if (mask & ~RAS_CONTEXT_ALL || fixed > length)
		return misfit_make();
	if (!(mask & RAS_CONTEXT_STACK))
		return c;
	if (length - fixed < sizeof(item))
		return misfit_make();
	memcpy(&item, data + fixed, sizeof(item));
	c.bytes += sizeof(item) + item.length;
	if (RAS_ITEM_KIND(item.status) != RAS_ITEM_STACK ||
	    item.length < sizeof(c.stack_end) || c.bytes > length)
		return misfit_make();
	memcpy(&c.stack_end, data + fixed + sizeof(item), sizeof(c.stack_end));
	c.stack = data + fixed + sizeof(item) + sizeof(c.stack_end);
	c.stack_bytes = item.length - sizeof(c.stack_end);
	return c;
}

size_t context_room(const struct context *c)
{
	return FIXED_MAX + (c->stack_bytes / 8 + 2) * STACK_LINE_MAX;
}

/* "  UID [1000]", without blanks at the line's start */
static char *figure_put(char *p, const char *start, const char *name,
			uint64_t value)
{
	if (p > start)
		p = TEXT_PUT(p, "  ");
	p = text_put(p, name, strlen(name));
	p = TEXT_PUT(p, " [");
	p = text_put_decimal(p, value);
	return TEXT_PUT(p, "]");
}

static char *fixed_put(const struct context *c, char *p)
{
	const uint8_t *at = c->fixed;
	const char *start = p;

	if (c->mask & RAS_CONTEXT_COMM) {
		p = TEXT_PUT(p, "Comm [");
		p = text_put_safe(p, at, strnlen((const char *)at, 16));
		p = TEXT_PUT(p, "]");
		at += 16;
	}
	if (c->mask & RAS_CONTEXT_UID) {
		p = figure_put(p, start, "UID", number_load(at, 4));
		p = figure_put(p, start, "GID", number_load(at + 4, 4));
		at += 8;
	}
	if (c->mask & RAS_CONTEXT_CGROUP) {
		p = figure_put(p, start, "Cgroup", number_load(at, 8));
		at += 8;
	}
	if (c->mask & RAS_CONTEXT_CPU) {
		p = figure_put(p, start, "CPU", number_load(at, 4));
		at += 8;
	}
	if (c->mask & RAS_CONTEXT_PPID)
		p = figure_put(p, start, "PPID", number_load(at, 4));
	return p > start ? TEXT_PUT(p, "\n") : p;
}

char *context_put(const struct context *c, struct stack_owner owner, char *p)
{
	if (c->misfit)
		return TEXT_PUT(p, "<the context doesn't fit>\n");
	p = fixed_put(c, p);
	if (!c->stack)
		return p;
	p = c->stack_end.flags & RAS_STACK_KERNEL ?
	    TEXT_PUT(p, "Stack of the kernel, innermost first:") :
	    TEXT_PUT(p, "Stack, innermost first:");
	p = stack_put(owner, c->stack_end, c->stack, c->stack_bytes, p);
	return TEXT_PUT(p, "\n");
}
