#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the module does, and what is asked of it that makes no sense.
. "$(dirname "$0")/../kmod/guest.sh"
. "$(dirname "$0")/kernel.sh"
modules debug &&
	guest debug debug 'records storm replace ioctl_fuzz event life' \
		-M 1024 -t 1800
tap_done
