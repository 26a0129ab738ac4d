#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
BARE_KERNEL=6.1 exec "$(dirname "$0")/../vm/test_bare.sh"
