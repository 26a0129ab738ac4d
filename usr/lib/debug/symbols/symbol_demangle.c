// SPDX-License-Identifier: GPL-2.0
#include "symbol_demangle.h"

#include <stddef.h>
#include <string.h>
#include "lib/library.h"

char *symbol_demangle(const char *name)
{
	char *(*demangle)(const char *, char *, size_t *, int *);
	int status;

	if (strncmp(name, "_Z", 2))
		return NULL;
	demangle = library_symbol("libstdc++.so.6", "__cxa_demangle");
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}
