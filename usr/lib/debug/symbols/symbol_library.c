// SPDX-License-Identifier: GPL-2.0
#include "symbol_library.h"

#if SYMBOL_LIBRARY

#include "lib/library.h"

bool symbol_library_load(struct symbol_library *library)
{
#define SYMBOL_LIBRARY_LOAD(name)					\
	library->name = library_symbol("libdw.so.1", #name);		\
	if (!library->name)						\
		return false;
	SYMBOL_LIBRARY_FUNCTIONS(SYMBOL_LIBRARY_LOAD)
	return true;
}

#endif
