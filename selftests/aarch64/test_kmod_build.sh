#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
ARCH=aarch64 exec "$(dirname "$0")/../kmod/test_build.sh"
