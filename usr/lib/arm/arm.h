/* SPDX-License-Identifier: GPL-2.0 */
/* The library that arms tracepoints: this header is all that programs include. */
#ifndef LIB_ARM_H
#define LIB_ARM_H

#include "filters.h"
#include "job.h"
#include "keep/keep.h"
#include "pinned/aggregates.h"
#include "pinned/bufmaps.h"
#include "pinned/kmod.h"
#include "pinned/open_calls.h"
#include "pinned/sessions.h"
#include "probe/program.h"
#include "select/amount.h"
#include "select/select.h"
#include "stacks.h"
#include "static.h"
#include "unwind.h"

#endif
