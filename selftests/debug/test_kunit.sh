#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The module's KUnit tests; Debian's kernels have no KUnit.
. "$(dirname "$0")/../tap.sh"
need qemu-system-x86_64 busybox cpio make
. "$(dirname "$0")/kernel.sh"
suite=$TOP/kmod/record_kunit.c
ok "builds" "$TOP/scripts/kbuild" -o "$TMP/kunit" debug \
	CONFIG_RASTRACE_KUNIT_TEST=y || tap_done
status 0 "is loaded" "$TOP/scripts/vm" --debug \
	-a kunit.enable=1 -m "$TMP/kunit/kmod/rastrace.ko" -- dmesg
sed 's/^\[[^]]*\] *//' "$TMP/out" >"$TMP/log"
for name in $(sed -n 's/.*KUNIT_CASE(\(.*\)).*/\1/p' "$suite"); do
	like "$(cat "$TMP/log")" "^ *ok [0-9]+ $name" "$name" ||
		grep -B 12 "not ok [0-9]* $name" "$TMP/log" | diag_file
done
like "$(cat "$TMP/log")" '^ok [0-9]+ rastrace_record' "the suite"
tap_done
