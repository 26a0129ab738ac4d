#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Writers in all contexts on four CPUs, and the sample.
export GUEST_MODULE=1 GUEST_SECONDS=1800 GUEST_FACTOR=10 STRESS=2
export GUEST_TESTS='stress/live_contexts stress/live_sample.sh'
exec "$(dirname "$0")/../vm/guest.sh" debug -s 4
