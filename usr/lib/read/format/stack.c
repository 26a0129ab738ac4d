// SPDX-License-Identifier: GPL-2.0
#include "stack.h"

#include "lib/number.h"
#include "lib/text.h"

const char *stack_end_text(uint8_t end)
{
	switch (end) {
	case RAS_STACK_DEPTH:
		return "(stopped: as deep as asked for)";
	case RAS_STACK_OUTERMOST:
		return "(outermost)";
	case RAS_STACK_UNREADABLE:
		return "(stopped: the next frame can't be read)";
	case RAS_STACK_NO_FRAME:
		return "(stopped: no frame pointer)";
	case RAS_STACK_UNWINDER:
		return "(stopped: the kernel's unwinder knows no more)";
	case RAS_STACK_NO_TABLE:
		return "(stopped: neither frame pointer nor table)";
	default:
		return "(stopped: for an unknown reason)";
	}
}

static char *stack_name_put(struct stack_owner owner, uint64_t address,
			    bool caller, char *p)
{
	uint32_t pid;

	if (!owner.processes)
		return p;
	pid = process_table_owner(owner.processes, owner.pid, &address);
	return symbols_put(owner.symbols, owner.processes, pid, address, caller,
			   p);
}

char *stack_put_address(struct stack_owner owner, uint64_t address, char *p)
{
	char *end = stack_name_put(owner, address, false, p);

	return end > p ? end : number_put_pointer(p, address);
}

char *stack_put(struct stack_owner owner, struct ras_stack stack,
		const uint8_t *data, size_t n, char *p)
{
	const char *text = stack_end_text(stack.end);

	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t address = number_load(data + i, 8);
		char *name;

		p = TEXT_PUT(p, "\n  ");
		p = text_put_hex(p, address, 16);
		name = TEXT_PUT(p, "  ");
		name = stack_name_put(owner, address, true, name);
		p = name > p + 2 ? name : p;
	}
	p = TEXT_PUT(p, "\n  ");
	return text_put(p, text, strlen(text));
}
