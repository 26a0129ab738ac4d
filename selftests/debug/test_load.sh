#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A thousand loads and unloads.
export GUEST_MODULE=1 GUEST_SECONDS=3000 GUEST_FACTOR=20 STRESS=25
export GUEST_TESTS=stress/live_load
exec "$(dirname "$0")/../vm/guest.sh" debug
