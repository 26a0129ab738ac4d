#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Across a panic, in memory that the next boot finds again. The hard lockup, which
# takes its time, with $LONG only.
# selftests/debug/test_crash.sh has every end on both kernels.
. "$(dirname "$0")/../kmod/crash.sh"
crashes_address sysrq
crashes_name "bug${LONG:+ lockup}"
tap_done
