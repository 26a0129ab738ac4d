#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# 200 points are armed as a whole, share their program, hit, and go.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_many 200

# with uprobe_multi links, far from one system call after the other for each
limit=3000
start=$(clock_ms)
status 0 "200 points are armed" trace on "$TMP/many.tdf"
armed=$(($(clock_ms) - start))
"$TMP/target" 3
is "$(figure hits)" 3 "the first is hit"
is "$(trace query --json | grep -c '"minor": [0-9]')" 200 "all are there"
# links of one program show its id
if command -v bpftool >/dev/null && trace query | grep -q uprobe_multi; then
	for pin in "$RASTRACE_RUN"/armed/many/*; do
		case ${pin##*/} in
		count | why | state | sites | *.debug) ;;
		*) bpftool link show pinned "$pin" ;;
		esac
	done >"$TMP/links"
	is "$(grep -c ' prog ' "$TMP/links")" 200 "200 links"
	is "$(sed -n 's/.* prog \([0-9]*\).*/\1/p' "$TMP/links" | sort -u |
		wc -l)" 1 "of one program"
else
	skip "links of one program" "needs bpftool and uprobe_multi links"
fi
start=$(clock_ms)
status 0 "and disarmed" trace off "$TMP/many.tdf"
disarmed=$(($(clock_ms) - start))
diag "armed in $armed ms, disarmed in $disarmed ms"
"$TMP/target" 2
is "$(figure hits)" 3 "nothing is recorded any more"
if trace query | grep -q uprobe_multi; then
	ok "armed in less than $limit ms" test $armed -lt $limit
	ok "disarmed in less than $limit ms" test $disarmed -lt $limit
else
	skip "arming time" "no uprobe_multi links"
fi

# Links that are freed all at once can stop the kernel (run_dir.c).
gone_wait() {
	i=0
	while [ -n "$(ls "$RASTRACE_RUN/gone" 2>/dev/null)" ] &&
	      [ $i -lt 200 ]; do
		sleep 0.1
		i=$((i + 1))
	done
}

make_many 600
# without a keeper, which would help to remove them
if command -v flock >/dev/null; then
	status 0 "600 points are armed" trace on --max-cpu=off "$TMP/many.tdf"
	status 0 "and disarmed while others are removed" \
		flock "$RASTRACE_RUN" sh -c 'trace off "$1" && ls "$2"/gone/* >"$3"' - \
		"$TMP/many.tdf" "$RASTRACE_RUN" "$TMP/left"
	ok "theirs are removed first" test "$(wc -l <"$TMP/left")" -ge 600
	gone_wait
	is "$(ls "$RASTRACE_RUN/gone" 2>/dev/null)" "" "then these"
else
	skip "removers take turns" "needs flock"
fi
if command -v strace >/dev/null; then
	status 0 "600 points are armed" trace on --max-cpu=off "$TMP/many.tdf"
	status 0 "and disarmed" strace -f -q -e trace=bpf -o "$TMP/calls" \
		trace off "$TMP/many.tdf"
	gone_wait
	is "$(grep -c 'BPF_OBJ_GET,.*/gone/' "$TMP/calls")" 2 \
		"each 256 links are waited for"
else
	skip "how links are freed" "needs strace"
fi
tap_done
