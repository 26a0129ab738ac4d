// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../lib/quantity.h"

#define PROGRAM	"heapmon"

static int value_wrong(const char *option, const char *value,
		       const char *expected)
{
	fprintf(stderr, PROGRAM ": --%s '%s': %s\n", option, value, expected);
	return -1;
}

int heapmon_take_pid(void *context, const char *value)
{
	struct heap_options *options = context;
	uint64_t pid;

	if (!quantity_number(value, &pid) || !pid || pid > INT_MAX)
		return value_wrong("pid", value,
				   "a process id is a decimal number");
	options->pid = pid;
	return 0;
}

int heapmon_take_bits(void *context, const char *value)
{
	struct heap_options *options = context;

	if (strcmp(value, "32") && strcmp(value, "64"))
		return value_wrong("bits", value, "32 or 64 is expected");
	options->bits = atoi(value);
	return 0;
}

int heapmon_take_endian(void *context, const char *value)
{
	struct heap_options *options = context;

	if (strcmp(value, "little") && strcmp(value, "big"))
		return value_wrong("endian", value,
				   "'little' or 'big' is expected");
	options->endian = value[0];
	return 0;
}

int heapmon_take_symbols(void *context, const char *value)
{
	struct heap_options *options = context;
	char **dirs = reallocarray(options->symbols, options->symbol_count + 1,
				   sizeof(*dirs));

	if (!dirs)
		return value_wrong("symbols", value, "out of memory");
	dirs[options->symbol_count++] = (char *)value;
	options->symbols = dirs;
	return 0;
}

int heapmon_take_no_symbols(void *context, const char *value)
{
	((struct heap_options *)context)->no_symbols = true;
	return 0;
}
