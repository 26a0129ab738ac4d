#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Loading, handing over, switching, mapping and arming at the same time.
export GUEST_MODULE=1 GUEST_SECONDS=1800 GUEST_FACTOR=10 STRESS=8
export GUEST_TESTS='stress/live_races stress/live_arm.sh'
exec "$(dirname "$0")/../vm/guest.sh" debug
