// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a configuration file: lines of names and values, or refused. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "lib/config_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int line_check(void *context, const char *name, const char *value,
		      struct error *err)
{
	size_t *left = context;
	size_t taken = strlen(name) + strlen(value) + 1;

	if (!*name && !*value)
		return error_set(err, -EINVAL, "a line is empty");
	if (taken > *left)
		abort();
	*left -= taken;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);	/* exactly, so that no byte more is read */
	struct error err = { 0 };
	size_t left = size;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	if (config_parse(text, size, "x.conf", line_check, &left, &err) &&
	    !strstr(err.text, "'x.conf', line "))
		abort();
	free(text);
	return 0;
}
