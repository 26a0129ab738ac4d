// SPDX-License-Identifier: GPL-2.0
#include "keyword.h"

/* test_keywords.sh compares them with the parser's. */
static const struct keyword keywords[] = {
	{ "MODNAME", "", "path of the module that is traced" },
	{ "MAJOR", "", "code of the module, 1 to 255; it names the TFF" },
	{ "MAXDATALENGTH", "", "most bytes of data in a record" },
	{ "MAXDATALEN", "", "the same as MAXDATALENGTH" },
	{ "TYPELIST", "", "types: NAME=name,ID=bit, ..." },
	{ "GROUPLIST", "", "groups: NAME=name,ID=number, ..." },
	{ "TRACE", "", "begins a tracepoint" },
	{ "NAME", "TYPELIST", "of a type or group, 1 to 8 characters" },
	{ "ID", "TYPELIST", "of a type a power of two, of a group a number" },
	{ "MINOR", "TRACE", "number of the tracepoint, 1 to 65535" },
	{ "TP", "TRACE", "where it is: a function, @file,line or another @" },
	{ "CALL", "TRACE", "instead of TP: a whole call of a function, one record" },
	{ "RETEP", "TRACE", "after TP: where the function returns" },
	{ "OPCODE", "TRACE", "first byte of the instruction there" },
	{ "TYPE", "TRACE", "its types: (name, ...)" },
	{ "GROUP", "TRACE", "its group" },
	{ "DESC", "TRACE", "first line of the printed record" },
	{ "FMT", "TRACE", "line of the printed record, with controls" },
	{ "REGS", "TRACE", "log registers: (register, ...)" },
	{ "LEN", "TRACE", "length of the memory that follows" },
	{ "MEM", "TRACE", "log memory at a segmented address" },
	{ "MEM32", "TRACE", "log memory: (address, flag, length)" },
	{ "MEM64", "TRACE", "the same as MEM32" },
	{ "ASCIIZ", "TRACE", "log a string at a segmented address" },
	{ "ASCIIZ32", "TRACE", "log a string: (address, flag, length)" },
	{ "ASCIIZ64", "TRACE", "the same as ASCIIZ32" },
	{ "VARS", "TRACE", "log values of C expressions: (expression, ...)" },
	{ "RESULT", "TRACE", "with CALL: the same where it returns" },
	{ "STACK", "TRACE", "log return addresses: (depth)" },
	{ "IF", "TRACE", "record only if the expression is not 0" },
	{ "COUNT", "TRACE", "count the hits in the kernel" },
	{ "SUM", "TRACE", "add up expressions in the kernel: (expression, ...)" },
	{ "MIN", "TRACE", "keep their least values" },
	{ "MAX", "TRACE", "keep their highest values" },
	{ "HIST", "TRACE", "keep histograms of them" },
	{ "BY", "TRACE", "for each value of these: (expression[:n], ...)" },
	{ "MAXHITS", "TRACE", "most records" },
	{ "PASSCOUNT", "TRACE", "hits that are not recorded at first" },
	{ "ONFAULT", "TRACE", "what follows data that can't be read" },
	{ "STATIC", "TP", "format of records that other code writes" },
	{ "USDT", "TP", "a probe that was compiled in: provider,name" },
	{ "ADDR", "TP", "an address as linked" },
	{ "EXIT", "RETEP", "at each exit of the function" },
	{ "CALLER", "RETEP", "the kernel's return probe" },
	{ "DIRECT", "MEM32", "the data is at the address" },
	{ "INDIRECT", "MEM32", "the address of the data is there" },
	{ "STOP", "ONFAULT", "the record ends there" },
	{ "CONTINUE", "ONFAULT", "the record goes on" },
};

const struct keyword *keyword_next(size_t *at)
{
	return *at < sizeof(keywords) / sizeof(*keywords) ?
	       &keywords[(*at)++] : NULL;
}
