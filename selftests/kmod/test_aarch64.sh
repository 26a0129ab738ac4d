#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# rastrace.ko built here for a kernel of AArch64 and loaded there: as
# test_records.sh, in short. All of this folder's tests run with ARCH=aarch64.
ARCH=aarch64
export ARCH
. "$(dirname "$0")/guest.sh"
modules 6.12 && guest 'aarch64, 6.12' 6.12 'records event life'
tap_done
