/* SPDX-License-Identifier: GPL-2.0 */
/* ELF files: code, symbols, demangled names. Code outside of this folder
 * includes this header. */
#ifndef LIB_MODULE_H
#define LIB_MODULE_H

#include "calls.h"
#include "code.h"
#include "demangle.h"
#include "flow.h"
#include "labels.h"
#include "map.h"
#include "module_elf.h"
#include "module_open.h"
#include "module_rel.h"
#include "module_symbols.h"
#include "stores.h"
#include "symbol_find.h"

#endif
