#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The hand-over by trace.
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
# where it can't be had, the test says so
"$TOP/scripts/debug_kernel" >/dev/null || [ $? -eq 4 ] || {
	echo "Bail out! no debug kernel"
	exit 1
}
export KERNELS=debug GUEST_SECONDS=2700
exec "$TOP/selftests/kmod/test_adopt.sh"
