#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A tracepoint logs the same wherever its probe was moved: the records of one
# TSF, compiled with each --site.
. "$(dirname "$0")/../tap.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)/choose
cd "$TMP" || exit 1
command -v cc >/dev/null || skip_all "needs cc"
[ "$(uname -m)" = x86_64 ] || skip_all "the code is for x86-64"
cc -no-pie -o code "$here/main.c" "$here/code.s" 2>log || {
	diag_file log
	bail "the program can't be built"
}

# A tracepoint has an address for itself: what is logged there comes in turn.
# points: a TSF for each line, of what is logged where each function begins
points() {
	while read -r logged; do
		set=$((set + 1))
		printf 'MODNAME=%s\nMAJOR=77\n' "$PWD/code" >$set.tsf
		for name in $(sed -n 's/^\t\.globl //p' "$here/code.s"); do
			echo "TRACE TP=.$name+0, $logged"
		done >>$set.tsf
	done
}

# shellcheck disable=SC2016
points <<'T'
REGS=(RDI,RSI,RDX,RSP,RIP)
REGS=(RDI), STACK=(2)
MEM32=(FRDI+0,DIRECT,8), VARS=($esi)
REGS=(RFLAGS)
T
cat >>1.tsf <<'T'
TRACE TP=.frame+11, MEM32=(FRBP-4,DIRECT,4), REGS=(RBP,RSP)
TRACE TP=.copied+6, REGS=(RDI,RBX)
T
cat >>2.tsf <<'T'
TRACE TP=.frame+11, MEM32=(FRBP-16,DIRECT,8), MEM32=(FRBP-16,INDIRECT,4)
T

# What was logged, tracepoint by tracepoint: of two on a straight line either
# may come first.
by_minor() {
	awk '/^Event/ {
		sub(/.*Minor \[/, "")
		minor = $0 + 0
		next
	}
	NF && !/^[a-z]*[+][0-9]*$/ { print minor, ++line[minor], $0 }' | sort -n -k1,1 -k2,2
}

# values MODE: what all tracepoints log
values() {
	: >"$1.costs"
	for tsf in 1 2 3 4; do
		rm -f ./*.TFF ./*.tdf
		trcust --site="$1" $tsf.tsf >log 2>&1 || {
			diag_file log
			return 1
		}
		trcust --dump $tsf.tdf | sed -n \
			's/.* cost \([a-z0-9]*\) .*/\1/p' >>"$1.costs"
		trace on --stacks=frames -b 4M $tsf.tdf || return 1
		setarch -R ./code
		trace off $tsf.tdf
		tracefmt -q -t . >records || return 1
		trace clear
		by_minor <records
	done
}

# steps MODE: how many probes are single-stepped
steps() {
	grep -c stepped "$1.costs"
}

values exact >exact || bail "nothing is recorded"
is "$(wc -l <exact | awk '{ print ($1 > 300) }')" 1 "there are records"
for mode in safe fast; do
	status 0 "records of --site=$mode" values $mode
	mv out $mode
	diff exact $mode >differences
	is "$(head -n 20 differences)" "" "are those of --site=exact"
	is "$(($(steps $mode) * 4 < $(steps exact) * 3))" 1 \
		"$(steps $mode) are stepped, not $(steps exact)"
done
tap_done
