/* SPDX-License-Identifier: GPL-2.0 */
/* Debug information: all that code outside this folder includes. */
#ifndef LIB_DWARF_H
#define LIB_DWARF_H

#include "dwarf_call.h"
#include "dwarf_expression.h"
#include "dwarf_function.h"
#include "dwarf_lines.h"
#include "dwarf_location.h"
#include "dwarf_go.h"
#include "dwarf_result.h"
#include "dwarf_source.h"
#include "dwarf_variable.h"

#endif
