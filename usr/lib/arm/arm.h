/* SPDX-License-Identifier: GPL-2.0 */
/* The library that arms tracepoints: this header is all that programs include. */
#ifndef LIB_ARM_H
#define LIB_ARM_H

#include "arm_tdf.h"
#include "filters.h"
#include "heap_maps.h"
#include "job.h"
#include "keep/keep.h"
#include "keep/keep_arm.h"
#include "keep/keep_files.h"
#include "keep/keep_request.h"
#include "keep/keep_watch.h"
#include "kernel/features.h"
#include "pinned/bufmaps.h"
#include "pinned/crash.h"
#include "pinned/kmod.h"
#include "pinned/pins.h"
#include "pinned/retire.h"
#include "pinned/run_dir.h"
#include "pinned/run_open.h"
#include "pinned/session_tdf.h"
#include "pinned/sesslog.h"
#include "probe/attach.h"
#include "probe/hit_cost.h"
#include "probe/target.h"
#include "raw_tracepoint.h"
#include "select/amount.h"
#include "select/choice.h"
#include "select/select.h"
#include "select/selection.h"
#include "select/settings.h"
#include "keep/self_run.h"
#include "static.h"

#endif
