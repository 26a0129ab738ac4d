#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
ARCH=aarch64 GUEST_SECONDS=7000 GUEST_FACTOR=10 GUEST_MODULE=1 \
	exec "$(dirname "$0")/../vm/guest.sh" 6.1
