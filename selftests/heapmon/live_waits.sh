#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A program that is recorded from the outside is stopped for a moment: none of its
# calls that wait ends early or says EINTR, and only those that heapmon(1) names
# wait longer.
. "$(dirname "$0")/../tap.sh"
need_root
programs=${BUILT:-$TOP/build/selftests}/heapmon
machine=$(uname -m)
target=
# heapmon has to stop the program well before the waits end
seconds=${RASTRACE_GUEST:+20}
seconds=${seconds:-6}

cleanup() {
	[ -z "$target" ] || kill "$target" 2>/dev/null
}

# check PROGRAM NAME
check() {
	"$programs/$1" $seconds >"$TMP/ended" &
	target=$!
	sleep 1
	ok "$2: recorded while it waits" heapmon record -p $target -t 1 \
		-o "$TMP/out.ras"
	wait $target
	target=
	is "$(awk -v least=$((seconds * 1000 - 10)) \
		'$2 < least || $3 == 4' "$TMP/ended")" "" \
		"  no call ends early" || diag_file "$TMP/ended"
	# begun anew, they end a second or more later
	is "$(awk -v most=$((seconds * 1000 + 700)) \
		'$2 > most { print $1 }' "$TMP/ended" | sort | tr '\n' ' ')" \
		"accept epoll_wait io_getevents read recv recvmmsg recvmsg semtimedop send sigtimedwait write " \
		"  these wait longer" || diag_file "$TMP/ended"
}

if [ "$machine" = aarch64 ]; then
	skip "calls that wait" "they end with EINTR there"
	tap_done
fi
check waits_target "64 bits"
if [ -x "$programs/waits_target32" ]; then
	check waits_target32 "32 bits"
else
	skip "32 bits" "no program of 32 bits"
fi
tap_done
