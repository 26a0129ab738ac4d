#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# No memory, at each place that asks for some.
export GUEST_MODULE=1 GUEST_SECONDS=1800 GUEST_FACTOR=10
export GUEST_TESTS=stress/live_failslab
exec "$(dirname "$0")/../vm/guest.sh" debug
