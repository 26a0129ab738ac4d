// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/quantity.h"

#define PROGRAM	"heapmon"

int heapmon_format(const char *option, const char *value,
		   const struct heap_format **format)
{
	*format = heap_format_find(value);
	if (*format)
		return 0;
	options_value_wrong(option, value, "there is no such format");
	fputs(PROGRAM ": there are:", stderr);
	for (size_t i = 0; heap_formats[i]; i++)
		fprintf(stderr, " %s", heap_formats[i]->name);
	fputc('\n', stderr);
	return -1;
}

int heapmon_take_from(void *context, const char *value)
{
	return heapmon_format("from", value,
			      &((struct heap_options *)context)->from);
}

int heapmon_take_pid(void *context, const char *value)
{
	struct heap_options *options = context;
	uint64_t pid;

	if (!quantity_number(value, &pid) || !pid || pid > INT_MAX)
		return options_value_wrong("pid", value,
				   "a process id is a decimal number");
	options->pid = pid;
	return 0;
}

static int bits_take(const char *option, const char *value, unsigned int *bits)
{
	if (strcmp(value, "32") && strcmp(value, "64"))
		return options_value_wrong(option, value, "32 or 64 is expected");
	*bits = atoi(value);
	return 0;
}

static int endian_take(const char *option, const char *value, int *endian)
{
	if (strcmp(value, "little") && strcmp(value, "big"))
		return options_value_wrong(option, value,
				   "'little' or 'big' is expected");
	*endian = value[0];
	return 0;
}

/* The input's: convert calls them --from-bits and --from-endian. */
int heapmon_take_bits(void *context, const char *value)
{
	return bits_take("bits", value,
			 &((struct heap_options *)context)->bits);
}

int heapmon_take_endian(void *context, const char *value)
{
	return endian_take("endian", value,
			   &((struct heap_options *)context)->endian);
}

int heapmon_take_to_bits(void *context, const char *value)
{
	return bits_take("bits", value,
			 &((struct heap_options *)context)->to_bits);
}

int heapmon_take_to_endian(void *context, const char *value)
{
	return endian_take("endian", value,
			   &((struct heap_options *)context)->to_endian);
}

int heapmon_take_symbols(void *context, const char *value)
{
	struct heap_options *options = context;
	char **dirs = reallocarray(options->symbols, options->symbol_count + 1,
				   sizeof(*dirs));

	if (!dirs)
		return options_value_wrong("symbols", value, "out of memory");
	dirs[options->symbol_count++] = (char *)value;
	options->symbols = dirs;
	return 0;
}

