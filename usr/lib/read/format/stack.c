// SPDX-License-Identifier: GPL-2.0
#include "stack.h"

#include <string.h>
#include "lib/names.h"
#include "lib/number.h"
#include "lib/path.h"
#include "lib/text.h"

/* Characters of each part of a name, which is cut there */
#define SYMBOL_MAX	256
#define FILE_MAX	96
#define MODULE_MAX	64

struct symbols_place symbols_find(struct symbols *symbols,
				  const struct process_table *table,
				  uint32_t pid, uint64_t address)
{
	const struct ras_mapping *mapping =
		process_table_mapping(table, pid, address);
	struct symbols_place place = { 0 };
	const char *name;

	if (!mapping)
		return place;
	place = symbols_find_mapped(symbols, mapping, address,
				    pid == PROCESS_KERNEL);
	if (place.symbol)
		return place;
	name = process_table_function(table, mapping, address, &place.offset);
	if (name)
		place.symbol = symbols_name(symbols, name);
	return place;
}

struct symbols_place symbols_find_caller(struct symbols *symbols,
					 const struct process_table *table,
					 uint32_t pid, uint64_t address)
{
	struct symbols_place place = symbols_find(symbols, table, pid,
						  address - 1);

	if (!place.module)
		return place;
	place.offset++;
	place.module_offset++;
	return place;
}

/* At most `most` characters of the text, "..." after a cut */
static char *cut_put(char *p, const char *text, size_t most)
{
	size_t n = strnlen(text, most), kept;
	char safe[4 * SYMBOL_MAX];
	size_t length = text_put_safe(safe, text, n) - safe;

	if (length <= most && !text[n])
		return text_put(p, safe, length);
	kept = length < most ? length : most;
	while (kept && kept < length && (safe[kept] & 0xc0) == 0x80)
		kept--;		/* not within a character */
	p = text_put(p, safe, kept);
	return TEXT_PUT(p, "...");
}

static char *source_line_put(const char *file, unsigned int line, char *p)
{
	if (!file)
		return p;
	*p++ = ' ';
	p = cut_put(p, path_base(file), FILE_MAX);
	*p++ = ':';
	return text_put_decimal(p, line);
}

static char *place_put(const struct symbols_place *place, char *p)
{
	if (!place->symbol)
		p = cut_put(p, place->module, MODULE_MAX);
	else
		p = cut_put(p, place->symbol, SYMBOL_MAX);
	*p++ = '+';
	p = number_put_pointer(p, place->symbol ? place->offset :
						  place->module_offset);
	p = source_line_put(place->file, place->line, p);
	if (!place->symbol)
		return p;
	p = TEXT_PUT(p, " (");
	p = cut_put(p, place->module, MODULE_MAX);
	return TEXT_PUT(p, ")");
}

/* The place of an address; its module is NULL when nothing was mapped there.
 * caller: it is a return address. path: room for what it may name. */
static struct symbols_place
stack_place(struct stack_owner owner, uint64_t address, bool caller,
	    char path[sizeof(((struct ras_mapping *)0)->path) + 1])
{
	const struct ras_mapping *mapping;
	struct symbols_place place = { 0 };
	uint32_t pid;

	if (!owner.processes)
		return place;
	pid = process_table_owner(owner.processes, owner.pid, &address);
	if (owner.symbols)
		return (caller ? symbols_find_caller : symbols_find)(
			owner.symbols, owner.processes, pid, address);
	mapping = process_table_mapping(owner.processes, pid, address);
	if (mapping) {
		memcpy(path, mapping->path, sizeof(mapping->path));
		path[sizeof(mapping->path)] = 0;
		place.module = path_base(path);
		place.module_offset = mapping->offset +
				      (address - mapping->start);
	}
	return place;
}

char *stack_put_address(struct stack_owner owner, uint64_t address, char *p)
{
	char path[sizeof(((struct ras_mapping *)0)->path) + 1];
	struct symbols_place place = stack_place(owner, address, false, path);

	return place.module ? place_put(&place, p) :
			      number_put_pointer(p, address);
}

void symbols_place_outwards(struct symbols_place *place)
{
	place->file = place->inlined->file;
	place->line = place->inlined->line;
	place->inlined++;
	place->inlined_count--;
}

/* The functions that were inlined into the place's, which becomes that of the last
 * call; as many as have room before `most`. */
static char *inlined_put(struct symbols_place *place, const char *indent,
			 const char *most, char *p)
{
	size_t left_out = 0;

	while (place->inlined_count) {
		if (p + STACK_LINE_MAX <= most) {
			p = text_put(p, indent, strlen(indent));
			p = TEXT_PUT(p, "                  ");
			p = cut_put(p, place->inlined->name ?: "?", SYMBOL_MAX);
			p = TEXT_PUT(p, " (inlined)");
			p = source_line_put(place->file, place->line, p);
		} else {
			left_out++;
		}
		symbols_place_outwards(place);
	}
	if (!left_out)
		return p;
	p = text_put(p, indent, strlen(indent));
	p = TEXT_PUT(p, "                  (");
	p = text_put_decimal(p, left_out);
	return TEXT_PUT(p, " more inlined)");
}

static char *stack_line_put(struct stack_owner owner, uint64_t address,
		       const char *indent, const char *most, char *p)
{
	char path[sizeof(((struct ras_mapping *)0)->path) + 1];
	struct symbols_place place = stack_place(owner, address, true, path);

	p = inlined_put(&place, indent, most, p);
	p = text_put(p, indent, strlen(indent));
	p = text_put_hex(p, address, 16);
	if (!place.module)
		return p;
	p = TEXT_PUT(p, "  ");
	return place_put(&place, p);
}

char *stack_put_frame(struct stack_owner owner, uint64_t address,
		      const char *indent, char *p)
{
	return stack_line_put(owner, address, indent,
			 p + STACK_INLINED_LINES * STACK_LINE_MAX, p);
}

char *stack_put(struct stack_owner owner, struct ras_stack stack,
		const uint8_t *data, size_t n, char *p)
{
	const char *text = names_stack_stopped(stack.end);
	const char *most = p + STACK_INLINED_LINES * STACK_LINE_MAX;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		/* what a frame doesn't take is for the inlined ones */
		p = stack_line_put(owner, number_load(data + i, 8), "\n  ", most,
			      p);
		most += STACK_LINE_MAX;
	}
	p = TEXT_PUT(p, "\n  ");
	p = text_put(p, text, strlen(text));
	return stack.flags & RAS_STACK_CHANGED ?
	       TEXT_PUT(p, " <may be wrong: code was mapped meanwhile>") : p;
}

#define FIXED_MAX	512	/* characters of the line, with some room */

static struct context misfit_make(void)
{
	return (struct context){ .misfit = true };
}

/* After the rest: when a whole call began */
static struct context began_take(const struct ras_record *record,
				 struct context c)
{
	size_t end = c.bytes + sizeof(c.began);

	if (!(record->flags & RAS_RECORD_WHOLE))
		return c;
	if (end > record->length - RAS_RECORD_HEADER)
		return misfit_make();
	memcpy(&c.began, (const uint8_t *)(record + 1) + c.bytes,
	       sizeof(c.began));
	c.bytes = end;
	return c;
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
	if (mask & (RAS_CONTEXT_COMM | RAS_CONTEXT_NAME))
		c.name = (const char *)data;
	c.mask &= ~RAS_CONTEXT_NAME;
	if (!(mask & RAS_CONTEXT_COMM) && c.name)
		c.fixed += 16;
	if (!(mask & RAS_CONTEXT_STACK))
		return began_take(record, c);
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
	return began_take(record, c);
}

size_t context_room(const struct context *c)
{
	return FIXED_MAX + STACK_ROOM(c->stack_bytes);
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

bool context_otel(const struct context *c, struct ras_otel *otel)
{
	uint32_t before = c->mask & ~RAS_CONTEXT_OTEL;

	if (c->misfit || before == c->mask)
		return false;
	memcpy(otel, c->fixed + RAS_CONTEXT_BYTES(before), sizeof(*otel));
	return true;
}

const char *context_otel_lack(const struct ras_otel *otel)
{
	static const struct ras_otel none;

	switch (otel->status) {
	case RAS_OTEL_VALID:
		return memcmp(otel->trace_id, none.trace_id, 16) &&
		       memcmp(otel->span_id, none.span_id, 8) ? NULL : "none";
	case RAS_OTEL_NONE:
		return "none";
	case RAS_OTEL_INVALID:
		return "being changed";
	case RAS_OTEL_UNREADABLE:
		return "not readable";
	default:
		return "not known yet";
	}
}

static char *hex_put(char *p, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (; n; n--, bytes++) {
		*p++ = digits[*bytes >> 4];
		*p++ = digits[*bytes & 15];
	}
	return p;
}

static char *otel_put(const struct context *c, char *p, const char *start)
{
	struct ras_otel otel;
	const char *lack;

	if (!context_otel(c, &otel))
		return p;
	if (p > start)
		p = TEXT_PUT(p, "  ");
	lack = context_otel_lack(&otel);
	if (lack) {
		p = TEXT_PUT(p, "Span [<");
		p = text_put(p, lack, strlen(lack));
		return TEXT_PUT(p, ">]");
	}
	p = TEXT_PUT(p, "Trace [");
	p = hex_put(p, otel.trace_id, sizeof(otel.trace_id));
	p = TEXT_PUT(p, "]  Span [");
	p = hex_put(p, otel.span_id, sizeof(otel.span_id));
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
	p = otel_put(c, p, start);
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
