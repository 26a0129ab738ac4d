#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# guest.sh KERNEL [OPTION...]: the live tests and those of bpf/, or
# $GUEST_TESTS, in a guest of scripts/vm, as one test. Of bpf/ and heapmon/, what
# doesn't depend on the kernel is left out, and what matches one of the patterns in
# $GUEST_WITHOUT. GUEST_SHORT=1: tests leave out what is the same on every
# kernel, if that takes long. GUEST_MODULE=1: with the kernel module,
# built for it. $GUEST_SECONDS is how long it may take, $GUEST_FACTOR multiplies
# the tests' own limits. ARCH=aarch64: in a guest of that machine, with what
# `make ARCH=aarch64 all selftests` has built for it, or builds now; of the tests
# only the folders $GUEST_TARGETS when that is set.
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
guest=/rastrace arch=${ARCH:-$(uname -m)} build=$TOP/build
kernel=$1
shift

skip_all() {
	echo "1..0 # SKIP $*"
	exit 4
}

bail() {
	echo "Bail out! $*"
	exit 1
}

# The folder with the modules for the kernel, all in one
build_module() {
	built=$("$TOP/scripts/kbuild" --arch "$arch" "$kernel") || exit
	folder=${built%/kmod}/modules
	mkdir -p "$folder" && cp "$built"/*.ko "$built"/sample/*.ko \
		"$built"/sample/*.tsf "$folder" &&
		echo "$folder"
}

echo "TAP version 13"
for program in "qemu-system-$arch" busybox cpio; do
	command -v "$program" >/dev/null || skip_all "needs $program"
done
reason=$("$TOP/scripts/vm" --arch "$arch" -k "$kernel" -n 2>&1)
case $? in
0)	;;
4)	skip_all "$(echo "$reason" | tail -n 1)" ;;
*)	bail "$(echo "$reason" | tail -n 1)" ;;
esac
if [ -n "${GUEST_MODULE-}" ]; then
	folder=$(build_module)
	case $? in
	0)	set -- "$@" -f "$folder:/modules.rastrace" \
			-e RASTRACE_KO=/modules.rastrace ;;
	4)	skip_all "no headers for kernel $kernel" ;;
	*)	bail "the module can't be built for $kernel" ;;
	esac
fi

if [ "$arch" != "$(uname -m)" ]; then
	build=$build/$arch BIN=$TOP/build/$arch/bin
	reason=$("${0%/*}/cross_build.sh" "$arch" all selftests \
		${GUEST_TARGETS:+TARGETS="$GUEST_TARGETS"} 2>&1)
	case $? in
	0)	;;
	4)	skip_all "$(echo "$reason" | tail -n 1)" ;;
	*)	echo "$reason" | sed 's/^/# /'
		bail "the tests can't be built for $arch" ;;
	esac
fi

for folder in "$build"/selftests/*; do
	case $folder in
	*/corpus|*/fuzz|*/lib|*/memory)	;; # not for guests
	*)	set -- "$@" -f "$folder:$guest/build/selftests/${folder##*/}" ;;
	esac
done
for folder in lib lib32; do
	[ -d "$build/$folder" ] &&
		set -- "$@" -f "$build/$folder:$guest/build/$folder"
done
set -f
without=''
for pattern in ${GUEST_WITHOUT-}; do without="$without -x $pattern"; done
# shellcheck disable=SC2086
exec "$TOP/scripts/vm" --arch "$arch" -k "$kernel" -M 1024 \
	-t "${GUEST_SECONDS:-1700}" -m fuse -m zram -e RASTRACE_GUEST=1 -e "RASTRACE_SHORT=${GUEST_SHORT-}" \
	-e "STRESS=${STRESS:-1}" "$@" \
	-f "${BIN:-$build/bin}:$guest/build/bin" -f "$TOP/selftests:$guest/selftests" \
	-- sh $guest/selftests/run.sh -t -l "${GUEST_FACTOR:-4}" \
	-x '*/test_*.sh' -x bpf/test_random -x bpf/test_disasm \
	-x heapmon/live_top.sh -x heapmon/live_types.sh $without \
	${GUEST_TESTS:-*/live_* bpf/*}
