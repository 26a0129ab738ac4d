#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Far pointers in memory and in segment registers are followed through the LDT
# of the program; a far pointer that the processor would refuse is reported.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
programs=$TOP/build/selftests/trace
[ -e "$programs/segments" ] || skip_all "there are no segments"

# look PROGRAM [ARGUMENT]: run it traced; each line on stdin has a name, a
# format and a statement
look() {
	program=$1
	shift
	{
		echo "MODNAME=$programs/$program"
		echo "MAJOR=9"
		printf 'TRACE MINOR=1, TP=.look+0, DESC="look", ONFAULT=CONTINUE'
		while read -r name format stmt; do
			printf ',\n\tFMT="%s", %s' "$name %P$format" "$stmt"
		done
		echo
	} >"$TMP/$program.in"
	make_tdf "$TMP/$program.tsf" <"$TMP/$program.in"
	status 0 "$program: on" trace on "$TMP/$program.tdf"
	ok "$program: runs" "$programs/$program" "$@"
	status 0 "$program: off" trace off "$TMP/$program.tdf"
	tracefmt --tff "$TMP" >"$TMP/trace" 2>"$TMP/summary"
	trace query --json >"$TMP/query"
	trace clear
}

# shows NAME TEXT: the trace has TEXT after NAME
shows() {
	is "$(sed -n "s/^$1 //p" "$TMP/trace")" "$2" "$program: $1" ||
		diag_file "$TMP/trace"
}

# the selectors: 0x7 of 128 bytes, 0xf, 0x17 not present, 0x1f expands down
memory='value %D MEM=(.far_value,INDIRECT,4)
final %D MEM=(.far_value+(0x10),INDIRECT,4)
is %D MEM32=(.far_value,IS,4)
chain %D MEM=(.far_far,INDIRECT**,4)
flat %D MEM=(.far_flat,IF**,4)
through %D MEM32=(.to_far,IS**,4)
text %S ASCIIZ=(.far_text,INDIRECT,40)
long %S ASCIIZ=(.far_long,INDIRECT,40)
length %D LEN=(.far_length,INDIRECT),MEM=(.far_value,INDIRECT,LEN)
end %D MEM=(.far_end,INDIRECT,4)
past %D MEM=(.far_behind,INDIRECT,4)
absent %D MEM=(.far_absent,INDIRECT,4)
null %D MEM=(.far_null,INDIRECT,4)
down %D MEM=(.far_down,INDIRECT,4)
below %D MEM=(.far_below,INDIRECT,4)'

in_memory() {
	shows value "1122 3344"
	shows final "000F 0008"
	shows is "1122 3344"
	shows chain "5566 7788"
	shows flat "F1A7 0001"
	shows through "1122 3344"
	shows text "in a segment"
	shows long "up to the end, a<cut>"
	shows length "1122 3344"
	shows end "6120 2C64"
	shows past "<bad selector: 000000070000007D>"
	shows absent "<bad selector: 0000001700000000>"
	shows null "<bad selector: 0000000000000000>"
	shows down "99AA BBCC"
	shows below "<bad selector: 0000001F00000010>"
}

look segments <<END
$memory
END
in_memory
like "$(cat "$TMP/query")" '"selector": 4' "counted by its kind"
if [ ! -e "$programs/segments32" ]; then
	skip "32 bits" "the compiler makes no such programs"
	tap_done
fi
look segments32 <<END
$memory
END
in_memory
look segments32 <<'END'
es %D MEM=(RES+BX,DIRECT,4)
es-text %S ASCIIZ=(RES+BX-0x10,DIRECT,40)
es-far %D MEM=(RES+BX+0x10,INDIRECT,4)
fs %D MEM=(RFS+8,DIRECT,4)
fs-end %D MEM=(RFS+0xFFFC,DIRECT,4)
fs-past %D MEM=(RFS+0xFFFD,DIRECT,4)
END
shows es "1122 3344"
shows es-text "in a segment"
shows es-far "5566 7788"
shows fs "5566 7788"
shows fs-end "0000 0000"
shows fs-past "<bad selector: 0000000F0000FFFD>"
like "$(cat "$TMP/trace")" 'as of last context switch' "and how old that may be"
look segments32 at-once <<'END'
es %D MEM=(RES+BX,DIRECT,4)
END
like "$(cat "$TMP/trace")" 'as of last context switch' \
	"a register that the kernel hasn't seen is reported"

# Thread-local variables, which i386 finds through GS
make_tdf "$TMP/thread32.tsf" <<TSF
MODNAME=$programs/thread32
MAJOR=10
TRACE MINOR=1, TP=.work,RETEP, DESC="work", VARS=(first, text)
TSF
status 0 "thread32: on" trace on "$TMP/thread32.tdf"
ok "thread32: runs" "$programs/thread32"
status 0 "thread32: off" trace off "$TMP/thread32.tdf"
tracefmt --tff "$TMP" >"$TMP/trace" 2>"$TMP/summary"
is "$(sed -n 's/^first = //p' "$TMP/trace")" '12
22' "in each thread"
is "$(sed -n 's/^text = //p' "$TMP/trace")" 'uhread
Uhread' "each has its own"
unlike "$(cat "$TMP/trace")" 'context switch' "and it is no older"
tap_done
