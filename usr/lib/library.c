// SPDX-License-Identifier: GPL-2.0
#include "library.h"

#include <dlfcn.h>
#include <stddef.h>

const bool library_possible = true;

void *library_symbol(const char *library, const char *name)
{
	void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	return loaded ? dlsym(loaded, name) : NULL;
}
