#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Across a panic, in memory that the next boot finds again: each way to end.
. "$(dirname "$0")/../kmod/crash.sh"
crashes_address 'sysrq bug lockup running'
crashes_name 'sysrq bug lockup running'
tap_done
