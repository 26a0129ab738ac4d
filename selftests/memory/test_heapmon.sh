#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# heapmon where memory runs out, reading a recording and writing all formats: it
# says so, and leaves no file.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/memory/fail_each.sh"
built=${BUILT:-$TOP/build/selftests}/heapmon
[ -x "$built/test_ras" ] || skip_all "needs $built/test_ras"
export MOST=12

"$built/test_ras" . >/dev/null || bail "test_ras"
for format in mtrc mptl monitor tracker; do
	each "to $format" heapmon convert --to $format -o made/file heap.ras
	heapmon convert --to $format -o "heap.$format" heap.ras 2>/dev/null
	each "from $format" heapmon convert --from $format --to collapsed \
		-o made/file "heap.$format"
done
for format in pprof massif heaptrack; do
	each "to $format" heapmon convert --to $format -o made/file heap.ras
done
each "tables" heapmon report -o made/file heap.ras
each "a page" heapmon report --html -o made/file heap.ras
each "JSON" heapmon report --json -o made/file heap.ras
each "a comparison" heapmon report --diff -o made/file heap.ras heap.ras
tap_done
