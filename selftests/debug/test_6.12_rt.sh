#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel module on a kernel whose locks sleep and whose interrupts are
# threads.
export GUEST_MODULE=1
export GUEST_TESTS='stress/* trace/live_load'
exec "$(dirname "$0")/../vm/guest.sh" 6.12-rt
