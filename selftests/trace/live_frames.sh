#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tracepoints that share their programs wait for a disk, many at a time on one CPU:
# each record has the number, the values and the text of its own tracepoint.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
processes=10 rounds=40
[ -z "${LONG-}" ] || rounds=400
cp "$TOP/build/selftests/trace/frames" "$TMP/frames"

# point KIND MINOR N STATEMENTS
point() {
	cat <<-TSF
	TRACE MINOR=$(($2 + $3)), TP=.$1_$3, DESC="$1 $3",
		FMT="hit %{u32} of %P%{u32}: %P%S.",
		REGS=($ARG1_32), MEM32=(F$ARG2+8,DIRECT,4), $4
	TSF
}

# What needs little of a frame, a length, and a limit with what follows a pointer
n=0
while [ $n -lt $processes ]; do
	point plain 100 $n "ASCIIZ32=(F$ARG2+20,DIRECT,40)"
	point sized 200 $n "LEN=(F$ARG2+16,DIRECT,4),
		MEM32=(F$ARG2,INDIRECT*+20,LEN)"
	point listed 300 $n "ASCIIZ32=(F$ARG2,INDIRECT*+20,40),
		MAXHITS=1000000, ONFAULT=CONTINUE"
	n=$((n + 1))
done >"$TMP/points"
make_tdf "$TMP/frames.tsf" <<TSF
MODNAME=$TMP/frames
MAJOR=195
$(cat "$TMP/points")
TSF

# wrong: lines that no call has, and those of tracepoints without all of theirs
wrong() {
	awk -v processes=$processes -v rounds=$rounds '
	/^Event / {
		match($0, /Minor \[[0-9]*/)
		minor = substr($0, RSTART + 7, RLENGTH - 7)
		kind = int(minor / 100)
		n = minor % 100
	}
	/^hit / {
		round = substr($0, index($0, "round ") + 6, 3)
		text = "owner " n " round " round " and more of it"
		if (kind == 2)
			text = substr(text, 1, 17 + n)
		if ($0 != "hit " n " of " n ": " text "." ||
		    round >= rounds || seen[minor, round]++)
			print minor ": " $0
		else
			count[kind]++
	}
	END {
		for (kind = 1; kind <= 3; kind++)
			if (count[kind] != processes * rounds)
				print "kind " kind ": " count[kind] " right"
	}' "$TMP/out"
}

status 0 "on" trace on "$TMP/frames.tdf"
status 0 "processes wait for the disk" \
	"$TMP/frames" "$TMP/data" $processes $rounds
[ "$(cat "$TMP/out")" = waited ] || diag "no page had to be read from a disk"
status 0 "tracefmt" tracefmt --tff "$TMP"
is "$(wrong | head -n 20)" "" "each record is what its process had"
status 0 "off" trace off "$TMP/frames.tdf"
tap_done
