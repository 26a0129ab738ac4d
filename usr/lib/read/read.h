/* SPDX-License-Identifier: GPL-2.0 */
/* The library that reads traces: this header is all that programs include. */
#ifndef LIB_READ_H
#define LIB_READ_H

#include "lib/json.h"
#include "lib/number.h"
#include "lib/text.h"
#include "process_table.h"
#include "format/stack.h"
#include "format/field.h"
#include "format/decode.h"
#include "format/plain_data.h"
#include "format/render.h"
#include "format/value.h"
#include "match/match.h"
#include "match/stream.h"
#include "merge.h"
#include "trace_file.h"

#endif
