#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel that arms by links of many sites, with Debian's preemption: all live
# tests and those of bpf/.
exec "$(dirname "$0")/guest.sh" 6.12
