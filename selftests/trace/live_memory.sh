#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Memory that isn't resident is brought in and the record says so; what can't be
# read, or would wait for somebody else, is reported with its address; nothing hangs.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
mkdir "$TMP/fuse"
swap='' zram=/sys/block/zram0

cleanup() {
	umount -l "$TMP/fuse" 2>/dev/null
	[ -z "$swap" ] || swapoff "$swap"
	[ "$swap" != /dev/zram0 ] || echo 1 >$zram/reset
}

# swap_on FILE
swap_on() {
	chmod 600 "$1" && mkswap "$1" >/dev/null 2>&1 &&
		swapon "$1" 2>/dev/null && swap=$1
}

# A swap file, where the file system can have one, or compressed memory
if dd if=/dev/zero of="$TMP/swap" bs=1M count=16 2>/dev/null &&
	swap_on "$TMP/swap"; then
	:
elif [ "$(cat $zram/disksize 2>/dev/null)" = 0 ]; then
	echo 16M >$zram/disksize
	swap_on /dev/zram0
fi

# memory_tdf PROGRAM WORD: its tracepoints; a pointer has WORD bytes
memory_tdf() {
	cp "$TOP/build/selftests/trace/$1" "$TMP/$1"
	make_tdf "$TMP/$1.tsf" <<-TSF
	MODNAME=$TMP/$1
	MAJOR=199
	TRACE MINOR=1, TP=.look, DESC="look", FMT="first %P%D",
		FMT="after %P%D", MEM32=(.p,INDIRECT,4), MEM32=(.after,INDIRECT,4)
	TRACE MINOR=2, TP=.text, DESC="text", FMT="text %P%S",
		ASCIIZ32=(.s,INDIRECT,60)
	TRACE MINOR=3, TP=.chain, DESC="chain", FMT="two %P%D",
		FMT="three %P%D", MEM32=(.n,INDIRECT**+$2,4),
		MEM32=(.n,INDIRECT***+$2,4)
	TRACE MINOR=4, TP=.both, DESC="both", FMT="p %P%D", FMT="q %P%D",
		MEM32=(.p,INDIRECT,4), MEM32=(.q,INDIRECT,4), ONFAULT=CONTINUE
	TRACE MINOR=5, TP=.choose, DESC="choose", FMT="chosen %D",
		REGS=(.number), IF=(*wanted == 7)
	TSF
}

# lines: what was printed of the data, with the flags of the first of a record
lines() {
	awk '/^Event / {
			flags = ""
			if (match($0, /Flags \[[^]]*\]/))
				flags = substr($0, RSTART + 7, RLENGTH - 8)
		}
		/^(first|text|two|three|p|q|chosen) / {
			print flags "|" $0
			flags = "-"
		}' "$TMP/out"
}

# compare EXPECTED: as the program printed them
compare() {
	n=0
	while IFS='|' read -r name flags line; do
		if [ "$flags" = SKIP ]; then
			skip "$name" "$line"
			continue
		fi
		n=$((n + 1))
		is "$(sed -n ${n}p "$TMP/lines")" "$flags|$line" "$name"
	done <"$1"
}

# traced NAME PROGRAM [ARGUMENT...]: nothing that is traced hangs; what it says
# is in $TMP/expected, what the trace says in $TMP/out
traced() {
	name=$1
	shift
	ok "$name ends" timeout 60 sh -c '"$@" >"$0"' "$TMP/expected" "$@"
	status 0 "  tracefmt" tracefmt --tff "$TMP"
}

# cases PROGRAM WORD
cases() {
	memory_tdf "$1" "$2"
	status 0 "on" trace on "$TMP/$1.tdf"
	traced "$1" "$TMP/$1" "$TMP"
	lines | grep -v '^[^|]*|after ' >"$TMP/lines"
	compare "$TMP/expected"
	is "$(figure recorded 5) $(figure filtered 5) $(figure faults 5)" \
		"1 2 1" "a condition is evaluated once, and reported when it can't be"
	status 0 "off" trace off "$TMP/$1.tdf"
}

cases memory 8
if [ -x "$TOP/build/selftests/trace/memory32" ]; then
	trace clear
	cases memory32 4
else
	skip "a program of 32 bits" "the compiler makes none"
fi

trace clear
status 0 "on --resident-only" trace on --resident-only "$TMP/memory.tdf"
traced "resident only" "$TMP/memory" "$TMP"
lines >"$TMP/lines"
unlike "$(cat "$TMP/lines")" "paged in" "nothing is brought in"
unlike "$(cat "$TMP/lines")" "left alone|not readable" "nothing is looked up"
absent=$(grep -c "|paged in|" "$TMP/expected")
ok "what is absent says that it wasn't tried" \
	test "$(grep -c "<not tried: " "$TMP/lines")" -gt "$absent"
like "$(sed -n 1p "$TMP/lines")" "^\|first 0000 002A" "what is there, is read"
status 0 "off" trace off "$TMP/memory.tdf"

trace clear
status 0 "on" trace on "$TMP/memory.tdf"
ok "a thousand strings, all absent" timeout 60 "$TMP/memory" "$TMP" 1000
is "$(figure recorded 2) $(figure faults 2) $(figure paged_in 2)" \
	"1000 0 1000" "each of them is brought in"
status 0 "tracefmt" tracefmt --tff "$TMP"
is "$(grep -c '^text string ' "$TMP/out")" 1000 "and printed"
ok "again, while the mappings change" \
	timeout 60 "$TMP/memory" "$TMP" 1000 2
in=$(figure paged_in 2) absent=$(figure absent 2)
is "$(figure recorded 2) $((in + absent))" "2000 2000" \
	"each is brought in, or says that it wasn't tried"
diag "$((in - 1000)) of 1000 were brought in"
status 0 "tracefmt" tracefmt --tff "$TMP"
is "$(grep -c '^text string \|^text <not tried' "$TMP/out")" 2000 "and printed"
unlike "$(cat "$TMP/out")" "left alone|not readable" "no other reason is reported"
status 0 "off" trace off "$TMP/memory.tdf"
tap_done
