#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# rastrace.ko in guests: records.c (what is recorded, what isn't and why),
# storm.c (all contexts on all CPUs at once), replace.c (another buffer),
# ioctl_fuzz.c (any bytes at its interface), event.c (ftrace and perf), life.c
# (mappings, release, unloading). On 6.1 all of them with $LONG only.
. "$(dirname "$0")/guest.sh"
modules 6.1 && guest 6.1 6.1 "records event life${LONG:+ storm replace ioctl_fuzz}"
modules 6.12 && guest '6.12 preempt=full' 6.12 'records storm replace ioctl_fuzz event life' \
	-a preempt=full
tap_done
