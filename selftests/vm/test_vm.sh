#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The statuses of scripts/vm: it must not take a dead guest for a good one.
. "$(dirname "$0")/../tap.sh"
need qemu-system-x86_64 busybox cpio
vm=$TOP/scripts/vm
"$vm" -k 6.12 -n >"$TMP/out" 2>&1 || skip_all "$(cat "$TMP/out")"

status 7 "the command's status, files, variables, arguments" \
	"$vm" -k 6.12 -f "$0:/data/file" -e "WORD=it's one" -a preempt=full -- \
	sh -c 'test -s /data/file && grep -q preempt=full /proc/cmdline &&
		echo "$WORD,$1,$2" && exit 7' sh 'a b' '"'
is "$(cat "$TMP/out")" "it's one,a b,\"" "what it prints is on stdout"
status 0 "a program with its libraries, a module of the kernel's" \
	"$vm" -k 6.12 -m dummy -f "$(command -v ldd):/ldd" \
	-f "$(command -v readlink):/a/readlink" -- \
	sh -c '/a/readlink -f / && grep -q ^dummy /proc/modules'
status 124 "out of time" "$vm" -k 6.12 -t 8 sleep 1000
status 125 "a panic" "$vm" -k 6.12 sh -c 'echo c >/proc/sysrq-trigger'
like "$(cat "$TMP/err")" "sysrq triggered crash" "and its log is shown"
status 126 "a splat" "$vm" -k 6.12 sh -c 'echo "BUG: of a test" >/dev/kmsg'
status 2 "no such kernel" "$vm" -k none true
tap_done
