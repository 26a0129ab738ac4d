/* SPDX-License-Identifier: GPL-2.0 */
/* The library that arms tracepoints: this header is all that programs include. */
#ifndef LIB_ARM_H
#define LIB_ARM_H

#include "arm_tdf.h"
#include "filters.h"
#include "job.h"
#include "keep/keep.h"
#include "keep/keep_request.h"
#include "kernel/features.h"
#include "pinned/bufmaps.h"
#include "pinned/kmod.h"
#include "pinned/run_dir.h"
#include "pinned/sessions.h"
#include "probe/program.h"
#include "probe/hit_cost.h"
#include "probe/target.h"
#include "select/amount.h"
#include "select/select.h"
#include "select/selection.h"
#include "select/settings.h"
#include "static.h"

#endif
