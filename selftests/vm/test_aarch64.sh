#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The live tests that show the most, on another kind of machine; all of them:
# selftests/aarch64.
export ARCH=aarch64 GUEST_TESTS='bpf/test_body_golden trace/live_sites trace/live_load
trace/live_kernel.sh trace/live_whole.sh tracefmt/live_calls.sh' GUEST_TARGETS='trace tracefmt'
exec "$(dirname "$0")/guest.sh" 6.12
