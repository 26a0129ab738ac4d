// SPDX-License-Identifier: GPL-2.0
/* Rows of a line number program, by address: those of code, each in the sequence
 * that has it. */
#include <stdlib.h>
#include <string.h>
#include <tap.h>
#include "lib/debug/lines/lines.h"

#define CODE_START	0x1000
#define CODE_END	0x2000

static uint8_t bytes[4096];
static size_t size;

static void put(uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[size++] = value >> 8 * i;
}

/* The header of a program. */
static void begin(unsigned int version)
{
	size_t header;

	size = 0;
	put(0, 4);
	put(version, 2);
	if (version == 5)
		put(0x0008, 2);
	put(0, 4);
	header = size;
	put(1, 1);			/* bytes per instruction */
	if (version >= 4)
		put(1, 1);
	put(1, 1);			/* is_stmt */
	put(0, 1);			/* line_base */
	put(1, 1);			/* line_range */
	put(10, 1);			/* opcode_base */
	put(0x0100000001010100, 8);	/* operands of opcodes 1 to 9 */
	put(1, 1);
	put(0, version == 5 ? 4 : 2);	/* no directories, no files */
	bytes[header - 4] = size - header;
}

/* A row of the line, at the address. */
static void row(uint64_t address, unsigned int line)
{
	put(0x020900, 3);		/* DW_LNE_set_address */
	put(address, 8);
	put(3, 1);			/* DW_LNS_advance_line, from line 1 */
	put((line - 1) & 0x7f, 1);
	put(1, 1);			/* DW_LNS_copy */
	put(3, 1);
	put((1 - line) & 0x7f, 1);
}

static void end(uint64_t address)
{
	put(0x020900, 3);
	put(address, 8);
	put(0x010100, 3);		/* DW_LNE_end_sequence */
}

static bool is_code(const void *context, uint64_t address)
{
	return address >= CODE_START && address < CODE_END;
}

static bool rows_make(struct dwarf_rows *rows)
{
	const struct dwarf_program_sections sections = {
		.line = { bytes, size },
	};
	struct dwarf_program program;
	uint32_t length = size - 4;
	int code;

	memcpy(bytes, &length, sizeof(length));
	if (dwarf_program_open(&program, &sections, 0))
		return false;
	code = dwarf_rows_read(rows, &program, is_code, NULL);
	dwarf_program_close(&program);
	return !code;
}

/* The line of each address from `from` on as a digit, '-': it has none. */
static void lines_are(uint64_t from, const char *expected, const char *what)
{
	struct dwarf_rows rows;
	char lines[32] = "";

	if (!rows_make(&rows)) {
		tap_ok(false, "%s: not read", what);
		return;
	}
	for (size_t i = 0; i < strlen(expected); i++) {
		const struct dwarf_row *at;
		size_t first, end;

		lines[i] = '-';
		if (!dwarf_rows_find(&rows, from + i, &first, &end))
			continue;
		at = &rows.list[end - 1];
		if (!at->end_sequence)
			lines[i] = '0' + at->line;
	}
	dwarf_rows_free(&rows);
	tap_ok(!strcmp(lines, expected), "%s: %s", what, lines);
}

/* Lines 1 and 2 at 0x1000, and 3 and 4 at 0x1002, after it or before it. */
static void first(void)
{
	row(0x1000, 1);
	row(0x1001, 2);
	row(0x1002, 9);
	end(0x1002);
}

static void second(void)
{
	row(0x1002, 8);
	row(0x1002, 3);
	row(0x1003, 4);
	end(0x1004);
}

int main(void)
{
	struct dwarf_rows rows;

	for (unsigned int version = 2; version <= 5; version++) {
		begin(version);
		first();
		second();
		lines_are(0xfff, "-1234-", "a sequence after another");
		begin(version);
		second();
		first();
		lines_are(0xfff, "-1234-", "written in front of it");
	}

	for (uint64_t at = 0x1000; at < 0x1005; at++) {
		begin(5);
		second();
		row(at, 7);
		end(at);
		first();
		lines_are(0xfff, "-1234-", "one without code");
	}

	begin(5);
	row(0, 7);
	row(0x1001, 7);
	end(0x1800);
	second();
	first();
	lines_are(0xfff, "-1234-", "one that the linker left out");

	begin(5);
	second();
	row(UINT64_MAX, 7);
	row(3, 7);
	end(5);
	first();
	lines_are(0xfff, "-1234-", "at the highest address");

	begin(5);
	first();
	row(0x1006, 5);
	row(0x1007, 6);
	lines_are(0x1000, "12----56", "one that doesn't end");

	begin(5);
	tap_ok(rows_make(&rows) && !rows.count, "no rows");
	dwarf_rows_free(&rows);
	return tap_done();
}
