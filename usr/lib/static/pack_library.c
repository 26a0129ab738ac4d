// SPDX-License-Identifier: GPL-2.0
#include "../pack_library.h"

#include <stddef.h>

const bool pack_library_possible = false;

void *pack_library_symbol(const char *name)
{
	return NULL;
}
