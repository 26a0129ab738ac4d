#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Many tracepoints that differ by offsets, lengths or registers only share a
# program, and each logs what is its own; a few have programs of their own.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TOP/build/selftests/trace/alike" "$TMP/alike"

# make_alike COUNT: points that log the tag, a word and a text, once from its third
# byte on: two of the offsets are apart by the same in all
make_alike() {
	i=0
	{
		echo "MODNAME=$TMP/alike"
		echo "MAJOR=199"
		while [ $i -lt "$1" ]; do
			text=$((328 + 16 * i))
			echo "TRACE TP=.alike_$i, DESC=\"alike\", FMT=\"$i: tag %P%D word %P%D\","
			echo "	FMT=\"text %P%S end %P%S\","
			echo "	MEM64=(F$ARG1,DIRECT,4),"
			echo "	MEM64=(F$ARG1+8,INDIRECT*+$((8 + 8 * i)),4),"
			echo "	ASCIIZ64=(F$ARG1+8,INDIRECT*+$text,15),"
			echo "	ASCIIZ64=(F$ARG1+8,INDIRECT*+$((text + 2)),15)"
			i=$((i + 1))
		done
	} | make_tdf "$TMP/alike.tsf"
}

# programs: how many the links have
programs() {
	for pin in "$RASTRACE_RUN"/armed/alike/[0-9]*; do
		bpftool link show pinned "$pin"
	done | sed -n 's/.* prog \([0-9]*\).*/\1/p' | sort -u | wc -l
}

# wanted COUNT: what is printed of that many points in two rounds
wanted() {
	for _ in 1 2; do
		i=0
		while [ $i -lt "$1" ]; do
			printf '%d: tag 0000 0007 word 0000 %04X\n' $i \
				$((1001 + i))
			echo "text text $i end xt $i"
			i=$((i + 1))
		done
	done
}

# recorded COUNT [absent]: the same as wanted
recorded() {
	"$TMP/alike" 2 ${2+"$2"}
	wanted "$1" >"$TMP/wanted"
	tracefmt -q --tff "$TMP" | grep -E '^([0-9]+: |text )' >"$TMP/lines"
	is "$(diff "$TMP/wanted" "$TMP/lines" | head -n 5)" "" \
		"  all log what is theirs${2+, of absent memory}"
	trace clear
}

for count in 40 3; do
	make_alike $count
	for reads in auto helper; do
		status 0 "$count points, reads: $reads" \
			trace on --reads=$reads "$TMP/alike.tdf"
		if command -v bpftool >/dev/null &&
		   trace query | grep -q uprobe_multi; then
			expected=$count
			[ "$count" -eq 3 ] || expected=1
			is "$(programs)" $expected "  programs"
		else
			skip "  programs" "needs bpftool, uprobe_multi links"
		fi
		recorded $count
		recorded $count absent
		trace off --all
	done
done

# --- that differ by lengths: 1 to 153 bytes, and a few longer ones
# length POINT
length() {
	echo $(($1 < 36 ? 1 + 4 * $1 + $1 / 10 * 4 : 20 * $1))
}

i=0
{
	echo "MODNAME=$TMP/alike"
	echo "MAJOR=199"
	while [ $i -lt 40 ]; do
		echo "TRACE TP=.alike_$i, DESC=\"alike\", FMT=\"$i: %P%{hex} after %P%D\"," \
			"MEM64=(F$ARG1+8,INDIRECT*+8,$(length $i))," \
			"MEM64=(F$ARG1,DIRECT,4)"
		i=$((i + 1))
	done
} | make_tdf "$TMP/alike.tsf"

# wanted_lengths: the words, then the texts
wanted_lengths() {
	awk 'function byte(n) { return sprintf(" %02x", n) }
	BEGIN {
		for (i = 0; i < 40; i++)
			all = all byte((1001 + i) % 256) \
				byte(int((1001 + i) / 256)) \
				" 00 00 00 00 00 00"
		for (i = 0; i < 128; i++)
			code[sprintf("%c", i)] = i
		for (i = 0; i < 40; i++) {
			text = "text " i
			for (k = 1; k <= 16; k++)
				all = all byte(k > length(text) ? 0 : \
					code[substr(text, k, 1)])
		}
		for (i = 0; i < 40; i++) {
			bytes = i < 36 ? 1 + 4 * i + int(i / 10) * 4 : 20 * i
			print i ":" substr(all, 1, 3 * bytes) \
				" after 0000 0007"
		}
	}'
}

wanted_lengths >"$TMP/wanted"
for reads in auto helper; do
	status 0 "40 points with other lengths, reads: $reads" \
		trace on --reads=$reads "$TMP/alike.tdf"
	for memory in there absent; do
		set --
		[ $memory = there ] || set -- absent
		"$TMP/alike" 1 "$@"
		tracefmt -q --tff "$TMP" | grep '^[0-9]*: ' >"$TMP/lines"
		is "$(diff "$TMP/wanted" "$TMP/lines" | head -n 5)" "" \
			"  all log theirs, memory is $memory"
		trace clear
	done
	if command -v bpftool >/dev/null && trace query | grep -q uprobe_multi; then
		is "$(programs)" 6 "  programs: 1, 5, to 64, 128, 256, 1024 bytes"
	else
		skip "  programs" "needs bpftool, uprobe_multi links"
	fi
	trace off --all
done

# --- that differ by registers: three numbers, and where the tag is
# register WHAT POINT: its own of three
register() {
	case $1$(($2 % 3)) in
	base0)	echo "$ARG1" ;;
	base1)	echo "$ARG2" ;;
	base2)	echo "$ARG3" ;;
	number0) echo "$ARG4" ;;
	number1) echo "$ARG5" ;;
	number2) echo "$ARG6" ;;
	esac
}

i=0
{
	echo "MODNAME=$TMP/alike"
	echo "MAJOR=199"
	while [ $i -lt 40 ]; do
		echo "TRACE TP=.alike_$i, DESC=\"alike\", FMT=\"$i: %Q %Q %Q tag %P%D\","
		echo "	REGS=($(register number $i), $(register number $((i / 3))),"
		echo "		$(register number $((i / 27)))),"
		echo "	MEM64=(F$(register base $((i / 9))),DIRECT,4)"
		i=$((i + 1))
	done
} | make_tdf "$TMP/alike.tsf"
awk 'function number(i) { return sprintf("%08X 00000000", 103 + i % 3) }
BEGIN {
	for (i = 0; i < 40; i++)
		printf "%d: %s %s %s tag 0000 %04X\n", i, number(i),
			number(int(i / 3)), number(int(i / 27)),
			7 + int(i / 9) % 3
}' >"$TMP/wanted"
expected=40
! grep -q bpf_rdonly_cast /sys/kernel/btf/vmlinux 2>/dev/null || expected=1
for reads in auto helper; do
	status 0 "40 points with other registers, reads: $reads" \
		trace on --reads=$reads "$TMP/alike.tdf"
	"$TMP/alike"
	tracefmt -q --tff "$TMP" | grep '^[0-9]*: ' >"$TMP/lines"
	is "$(diff "$TMP/wanted" "$TMP/lines" | head -n 5)" "" "  all log theirs"
	if command -v bpftool >/dev/null && trace query | grep -q uprobe_multi; then
		is "$(programs)" $expected "  programs"
	else
		skip "  programs" "needs bpftool, uprobe_multi links"
	fi
	trace off --all
done

tap_done
