#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What is read must be a trace from its first bytes on: devices are refused, and a
# pipe without end isn't read to its end. What is written to must be able to take
# it, or the failure is reported.
. "$(dirname "$0")/../tap.sh"
need prlimit
cd "$TMP" || exit 1
cat >heap.txt <<'END'
Thread   Time of event     Address  Size  Type     Stack crawl
10-11    1000000000000000  0x1000   100   novtbl   leak(int)|main
END

# limited COMMAND...: with 1 GB of memory, for 20 seconds
limited() {
	prlimit --as=1000000000 timeout 60 "$@"
}

for command in report 'convert -t monitor'; do
	for device in /dev/zero /dev/urandom /dev/full; do
		for from in '' '--from mtrc' '--from monitor' '--from tracker'; do
			# shellcheck disable=SC2086
			status 1 "$command $from $device" \
				limited heapmon $command $from $device
			is "$(sed -n 1p err)" \
				"heapmon: cannot read '$device': it is a device" \
				"  why"
		done
	done
	for from in '' '--from ras' '--from mtrc' '--from mptl' \
		'--from monitor' '--from tracker'; do
		# shellcheck disable=SC2086
		status 1 "$command $from, zeros without end" limited sh -c \
			"cat /dev/zero | heapmon $command $from -"
		like "$(cat err)" \
			"no format that is known|doesn't begin like a file in the format" \
			"  why"
	done
	# shellcheck disable=SC2086
	status 1 "$command of a folder" heapmon $command .
	like "$(cat err)" "cannot read '.': Is a directory" "  why"
done
mkfifo fifo
cat heap.txt >fifo &
status 0 "a FIFO" heapmon report -s live fifo
like "$(cat out)" 'leak\(int\)' "  is read"
(cat heap.txt; sleep 1; tail -n 1 heap.txt) >fifo &
status 0 "a FIFO whose writer takes its time" heapmon report -s summary fifo
like "$(cat out)" '2 blocks' "  is read to its end"
: >empty
status 1 "an empty file" heapmon report empty
like "$(cat err)" "no format that is known" "  why"
truncate -s 1T sparse
printf MTRC | dd of=sparse conv=notrunc 2>/dev/null
printf '\1\0\0\0\0\0\0\0\005\051\0\0\0\0\0\0' |
	dd of=sparse conv=notrunc bs=4 seek=1 2>/dev/null
status 1 "a file that is larger than the memory" limited heapmon report sparse
like "$(cat err)" "half of this machine's memory" "  why"
tap_done
