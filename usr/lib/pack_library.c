// SPDX-License-Identifier: GPL-2.0
#include "pack_library.h"

#include <dlfcn.h>
#include <stddef.h>

const bool pack_library_possible = true;

void *pack_library_symbol(const char *name)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW);

	return library ? dlsym(library, name) : NULL;
}
