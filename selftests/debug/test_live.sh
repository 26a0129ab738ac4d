#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The live tests of all subjects, which arm real tracepoints.
export GUEST_MODULE=1 GUEST_SECONDS=3500 GUEST_FACTOR=20
export GUEST_TESTS='trace/live_* static/live_* tracefmt/live_*
trcust/live_* bpf/*'
exec "$(dirname "$0")/../vm/guest.sh" debug
