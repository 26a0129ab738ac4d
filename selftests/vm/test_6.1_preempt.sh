#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
exec "$(dirname "$0")/guest.sh" 6.1 -a preempt=full
