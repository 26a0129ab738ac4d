#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A tracepoint at a function counts each call once where compilers have split
# the function, cloned it for constants or inlined it, into itself as well; where
# it doesn't, trcust said so.
. "$(dirname "$0")/../tap.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
cp "$here/split/split.c" .

{
	printf 'MODNAME=./split\nMAJOR=82\n'
	minor=0
	for name in cloned parted reduced recursive both cold shared; do
		minor=$((minor + 1))
		echo "TRACE MINOR=$minor, TP=.$name"
	done
	echo "TRACE MINOR=8, TP=.shared, RETEP"
} >split.tsf

# hits MINOR
hits() {
	sed -n "s/^$1 //p" hits
}

# "minor calls hits" of those that are wrong without a warning
wrong() {
	sed -n 's/.*"minor": \([0-9]*\),*.*/minor \1/p
		s/.*"hits": \([0-9]*\),*.*/hits \1/p' query.json |
		awk '$1 == "minor" { minor = $2 }
		$1 == "hits" && minor { print minor, $2; minor = 0 }' >hits
	sed -n 's/^[^:]*:\([0-9]*\):.*TRCERR_\(VAGUE\|SPLIT\|INLINED\|INLINEDTOO\|LEFTOUT\).*/\1/p' \
		err >warned
	awk 'FILENAME == "warned" { warned[$1 - 2] = 1 }
	FILENAME == "hits" { hits[$1] = $2 }
	FILENAME == "calls" {
		if ($2 == hits[$1])
			same++
		else if (!($1 in warned))
			print $1, $2, hits[$1]
	}
	END { print same >"same" }' warned hits calls
}

check() {
	# shellcheck disable=SC2086
	$1 -g -w -o split split.c 2>log || {
		skip "$1" "the compiler can't do it"
		return
	}
	rm -f split.tdf
	trcust --site=exact split.tsf >out 2>err
	trace on split.tdf 2>on.log || {
		grep -q 'cannot arm\|not permitted' on.log &&
			skip_all "cannot arm here: $(cat on.log)"
		diag_file on.log
	}
	./split >calls 2>/dev/null
	trace query --json >query.json
	trace off split.tdf
	is "$(wrong)" "" "$1: calls that are counted wrongly, unsaid" ||
		diag_file err
	ok "$1: $(cat same) counted exactly" test "$(cat same)" -ge "$2"
	is "$(hits 8)" "$(hits 7)" "$1: shared() returns as often as it is called"
}
check "gcc -O0" 6
check "gcc -O1" 6
check "gcc -O2" 4
check "gcc -O3" 4
check "gcc -Os" 6
check "gcc -O2 -gdwarf-4" 4
check "gcc -O3 -fno-ipa-cp" 4
check "gcc -O2 -gno-column-info" 3
check "g++ -x c++ -O2" 4
check "clang -O0" 6
check "clang -O1" 4
check "clang -O2" 3
check "clang -O3" 3
tap_done
