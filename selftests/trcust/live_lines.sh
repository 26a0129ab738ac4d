#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A tracepoint at a line counts each execution once, wherever the compiler has
# copies of its code; where it doesn't, trcust said so.
. "$(dirname "$0")/../tap.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
cp "$here/lines/copies.c" .

grep -n 'work([0-9]' copies.c |
	sed 's/^\([0-9]*\):.*work(\([0-9]*\),.*/\1 \2/' >lines
make_tsf() {
	printf 'MODNAME=./copies\nMAJOR=81\n'
	while read -r line number; do
		echo "TRACE MINOR=$((number + 1)), TP=@copies.c,$line"
	done <lines
}

# "line number executions hits" of lines that are hit otherwise than executed
# and have no warning
unequal() {
	sed -n 's/.*"minor": \([0-9]*\),*.*/minor \1/p
		s/.*"hits": \([0-9]*\),*.*/hits \1/p' query.json |
		awk '$1 == "minor" { minor = $2 }
		$1 == "hits" && minor { print minor - 1, $2; minor = 0 }' >hits
	grep -E 'TRCERR_(LINECOPIES|NEXTLINENUM|LINEPART|LEFTOUT)|: error:' err |
		sed 's/^[^:]*:\([0-9]*\):.*/\1/' >warned
	awk 'FILENAME == "lines" { line[$2] = $1; at[$2] = FNR + 2 }
	FILENAME == "warned" { warned[$1] = 1 }
	FILENAME == "hits" { hits[$1] = $2 }
	FILENAME == "executions" {
		all++
		if ($2 == hits[$1])
			same++
		else if (!(at[$1] in warned))
			print line[$1], $1, $2, hits[$1]
	}
	END { print same, all >"same" }' lines warned hits executions
}

check() {
	# shellcheck disable=SC2086
	$1 -g -c copies.c -o copies.o 2>log &&
		cc -o copies copies.o "$here/lines/count.c" 2>>log || {
		skip "$1" "the compiler can't do it"
		return
	}
	make_tsf >copies.tsf
	rm -f copies.tdf
	trcust --site=exact copies.tsf >out 2>err
	trace on copies.tdf 2>on.log || {
		grep -q 'cannot arm\|not permitted' on.log &&
			skip_all "cannot arm here: $(cat on.log)"
		diag_file on.log
	}
	./copies >executions
	trace query --json >query.json
	trace off copies.tdf
	is "$(unequal)" "" "$1: lines that are counted wrongly, unsaid"
	ok "$1: $(cat same) counted exactly" \
		test "$(cut -d' ' -f1 same)" -ge "$2"
}
check "gcc -O0" 24
check "gcc -Og" 24
check "gcc -O1" 24
check "gcc -O2" 24
check "gcc -O3" 24
check "gcc -Os" 24
check "gcc -O3 -funroll-loops" 24
check "gcc -O2 -gno-column-info" 12
check "gcc -O2 -gno-statement-frontiers" 12
check "gcc -O2 -gdwarf-4 -gsplit-dwarf" 24
check "clang -O0" 24
check "clang -O1" 12
check "clang -O2" 12
check "clang -O3" 12
tap_done
