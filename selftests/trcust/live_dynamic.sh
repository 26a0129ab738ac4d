#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Objects are shown as what they are, not as what the pointer to them is: derived
# classes, targets of std::function, exceptions; what is no object is marked.
. "$(dirname "$0")/../tap.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)/shapes
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
rounds=30
levels="0 2"
if [ "$LONG" = 1 ]; then
	rounds=300
	levels="0 1 2"
fi

cat >classes.tsf <<'T'
MODNAME="./classes"
MAJOR=1
TRACE TP=.work,DESC="t",FMT="s=%P%{auto}",FMT="n=%P%{auto}",FMT="r=%P%{auto}",
	FMT="u=%P%{auto}",VARS=(*s,*n,r,u)
TRACE TP=.several,DESC="t",FMT="v=%P%{auto}",VARS=(v)
TRACE TP=.faults,DESC="t",FMT="e=%P%{auto}",FMT="t=%P%{auto}",VARS=(*e,*r)
TRACE TP=.calls,DESC="t",FMT="f=%P%{auto}",VARS=(f)
TRACE TP=.hostile,DESC="t",FMT="h=%P%{auto}",VARS=(*s)
T

at() { # pointers are not the same in each run
	sed 's/: 0000[0-9A-F]*>/: ADDRESS>/g' "$1"
}

for compiler in g++ "clang++ -fstandalone-debug" "g++ -no-pie"; do
	for level in $levels; do
		name="$compiler -O$level"
		# shellcheck disable=SC2086
		if ! $compiler -g -O$level -std=c++17 -o classes \
		     "$here/classes.cc" 2>log; then
			skip "$name" "cannot compile"
			continue
		fi
		ok "$name: compiles" trcust -W1 classes.tsf || continue
		trace run -b 8M -o t.ras classes.tdf -- ./classes $rounds >printed \
			2>log
		tracefmt -q t.ras 2>log2 | grep -a '^[a-z]*=' >all
		# clang describes std::exception, which has no members
		grep -v '^h=' all | sed 's/^e=std::exception {}$/e=std::exception/' \
			>traced
		ok "$name: $(wc -l <traced) values" cmp printed traced ||
			diff printed traced | head -8 | diag_file
		is "$(grep '^h=' all | at /dev/stdin)" \
			"h=<not readable: ADDRESS>
h=<not readable: FFFFFFFFFFFFFFF8>
h=<not readable: 555555555555554D>
h=geo::Shape {id = 0}
h=<not readable: ADDRESS>" "$name: what is no object"
	done
done
tap_done
