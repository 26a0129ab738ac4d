/* SPDX-License-Identifier: GPL-2.0 */
/* ELF files: code, symbols, demangled names. Code outside of this folder
 * includes this header. */
#ifndef LIB_MODULE_H
#define LIB_MODULE_H

#include "block.h"
#include "calls.h"
#include "code.h"
#include "demangle.h"
#include "flow.h"
#include "functions.h"
#include "labels.h"
#include "landing.h"
#include "map.h"
#include "module_elf.h"
#include "module_open.h"
#include "module_rel.h"
#include "runtime.h"
#include "section.h"
#include "source_path.h"
#include "stores.h"
#include "symbol_find.h"
#include "symbol_index.h"
#include "symbol_near.h"
#include "symbols.h"
#include "targets.h"
#include "unpack.h"
#include "usdt.h"

#endif
