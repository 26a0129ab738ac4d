/* SPDX-License-Identifier: GPL-2.0 */
/* Names of C++ symbols, by libstdc++, which is loaded when it is needed. */
#ifndef DEBUG_SYMBOL_DEMANGLE_H
#define DEBUG_SYMBOL_DEMANGLE_H

/* "ns::work(int)" of "_ZN2ns4workEi", to be freed; NULL: the name is not
 * mangled, or there is no libstdc++ or no memory. */
char *symbol_demangle(const char *name);

#endif
