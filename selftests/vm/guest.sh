#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# guest.sh KERNEL [OPTION...]: the live tests and those of bpf/, or $GUEST_TESTS,
# in a guest of scripts/vm, as one test. Of bpf/, what doesn't depend on the
# kernel is left out.
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
BIN=${BIN:-$TOP/build/bin}
guest=/rastrace
kernel=$1
shift

skip_all() {
	echo "1..0 # SKIP $*"
	exit 4
}

echo "TAP version 13"
for program in qemu-system-x86_64 busybox cpio; do
	command -v $program >/dev/null || skip_all "needs $program"
done
reason=$("$TOP/scripts/vm" -k "$kernel" -n 2>&1) || skip_all "$reason"

for folder in "$TOP"/build/selftests/*; do
	case $folder in
	*/fuzz)	;;
	*)	set -- "$@" -f "$folder:$guest/build/selftests/${folder##*/}" ;;
	esac
done
for folder in lib lib32; do
	[ -d "$TOP/build/$folder" ] &&
		set -- "$@" -f "$TOP/build/$folder:$guest/build/$folder"
done
set -f
# shellcheck disable=SC2086
exec "$TOP/scripts/vm" -k "$kernel" -M 1024 -t 880 -m fuse -m zram \
	-e RASTRACE_GUEST=1 "$@" -f "$BIN:$guest/build/bin" \
	-f "$TOP/selftests:$guest/selftests" \
	-- sh $guest/selftests/run.sh -t -l 4 -x '*/test_*.sh' \
	-x bpf/test_random -x bpf/test_disasm ${GUEST_TESTS:-*/live_* bpf/*}
