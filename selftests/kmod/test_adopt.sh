#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The hand-over of the buffer to the kernel module, by trace (adopt.sh), in a guest
# of each of $KERNELS, beside each other; in the first one to a module of another
# layout, too. Without $LONG it is the newest kernel only.
. "$(dirname "$0")/guest.sh"
. "$TOP/selftests/trace/target.sh"
built=	# by modules

# other_layout KERNEL: the module as a version with another layout has it, in
# $TMP/other/kmod
other_layout() {
	mkdir "$TMP/other"
	cp -r "$TOP/kmod" "$TOP/include" "$TMP/other"
	sed -i 's/^\(#define RAS_LAYOUT\t*\)[0-9]*/\1250/' \
		"$TMP/other/include/rastrace/buffer.h"
	ok "$1: with another layout it builds" \
		kbuild -s "$TMP/other/kmod" "$1"
}

export TARGET="${kmod:?}/../trace/target"
mkdir "$TMP/app"
make_app
ok "the sample's formats" \
	trcust -o "$TMP/app" "$TOP/kmod/sample/rastrace_sample.tsf"
cp "$TMP/target" "$TMP"/app.tdf "$TMP"/*.TFF "$TMP/app"
sed -n '/^    insmod FOLDER/,/^$/s/^    //p' "$TOP/docs/kernel-module.md" |
	sed 's,FOLDER,/kmod,' >"$TMP/app/readme"

set --
if [ "${arch:?}" = "$(uname -m)" ] && command -v udevadm >/dev/null; then
	udev=$(command -v udevadm)
	set -- -f "$udev:/bin/udevadm" -f "$udev:/lib/systemd/systemd-udevd" \
		-f "$TOP/etc/60-rastrace.rules:/lib/udev/rules.d/60-rastrace.rules"
fi

# adopt KERNEL OTHER [OPTION...]: what its guest prints and says, and its status,
# are in $TMP/KERNEL
adopt() {
	kernel=$1 other=$2
	shift 2
	keep 768
	mkdir "$TMP/$kernel"
	vm -k "$kernel" -t "${GUEST_SECONDS:-1200}" -M 768 "$@" \
		-f "$built/rastrace.ko:/kmod/rastrace.ko" \
		-f "$built/sample/rastrace_sample.ko:/kmod/sample/rastrace_sample.ko" \
		-f "$built/sample/rastrace_storm.ko:/kmod/sample/rastrace_storm.ko" \
		-f "$TMP/other/kmod/rastrace.ko:/other/rastrace.ko" \
		-f "$TMP/app:/app" -f "${guest_bin:?}:/rastrace/build/bin" \
		-f "$kmod/../static/caller:/rastrace/build/selftests/static/caller" \
		-f "$kmod/as:/rastrace/build/selftests/kmod/as" \
		-f "$kmod/watch:/rastrace/build/selftests/kmod/watch" \
		-f "$kmod/short:/rastrace/build/selftests/kmod/short" \
		-f "$TOP/kmod/sample/rastrace_sample.tsf:/rastrace/kmod/sample/rastrace_sample.tsf" \
		-f "$TOP/selftests/tap.sh:/rastrace/selftests/tap.sh" \
		-f "$TOP/selftests/kmod/adopt.sh:/rastrace/selftests/kmod/adopt.sh" \
		-a "${keep:?}" -e CRASH_MEM=1M@"${kept:?}" \
		-e KMOD=/kmod -e OTHER="$other" -e APP=/app \
		-e TOP=/rastrace -e BIN=/rastrace/build/bin \
		sh -c 'echo program adopt
			exec sh /rastrace/selftests/kmod/adopt.sh' \
		>"$TMP/$kernel/points" 2>"$TMP/$kernel/kernel"
	echo $? >"$TMP/$kernel/status"
}

guests=
for kernel in ${KERNELS:-${LONG:+6.1 }6.12}; do
	other=
	modules "$kernel" || continue
	[ -e "$TMP/other" ] || {
		other_layout "$kernel"
		other=/other
	}
	adopt "$kernel" "$other" "$@" &
	guests="$guests $kernel"
done
wait
for kernel in $guests; do
	points "$kernel" <"$TMP/$kernel/points"
	is "$(cat "$TMP/$kernel/status")" 0 "$kernel: status" ||
		diag_file "$TMP/$kernel/kernel"
done
tap_done
