#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Lists, trees, hash tables, pairs and tuples of C++ are what the program itself
# prints at that point, or marked, with both ABIs of libstdc++ and with libc++.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/values_judge.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)/shapes
LC_ALL=C.UTF-8
export LC_ALL
cd "$TMP" || exit 1
rounds=20
levels=2
if [ "$LONG" = 1 ]; then
	rounds=200
	levels="0 1 2"
fi

cat >c.tsf <<'T'
MODNAME="./collections"
MAJOR=1
MAXDATALENGTH=4096
TRACE TP=.lists,DESC="t",FMT="l=%P%{auto}",FMT="s=%P%{auto}",
	FMT="f=%P%{auto}",VARS=(l,*s,f)
TRACE TP=.nested,DESC="t",FMT="ll=%P%{auto}",FMT="b=%P%{auto}",VARS=(l,b)
TRACE TP=.trees,DESC="t",FMT="set=%P%{auto}",FMT="map=%P%{auto}",VARS=(s,m)
TRACE TP=.groups,DESC="t",FMT="g=%P%{auto}",FMT="m=%P%{auto}",VARS=(g,*m)
TRACE TP=.tables,DESC="t",FMT="x=%P%{auto}",FMT="us=%P%{auto}",VARS=(x,s)
TRACE TP=.blocks,DESC="t",FMT="d=%P%{auto}",FMT="ds=%P%{auto}",
	FMT="db=%P%{auto}",VARS=(d,s,*b)
TRACE TP=.choices,DESC="t",FMT="c=%P%{auto}",FMT="vc=%P%{auto}",
	FMT="vb=%P%{auto}",FMT="a=%P%{auto}",VARS=(c,v,b,a)
TRACE TP=.times,DESC="t",FMT="ms=%P%{auto}",FMT="time=%P%{auto}",
	FMT="min=%P%{auto}",VARS=(m,t,n)
TRACE TP=.owners,DESC="t",FMT="wa=%P%{auto}",FMT="wb=%P%{auto}",VARS=(a,b)
TRACE TP=.rows,DESC="t",FMT="r=%P%{auto}",FMT="p=%P%{auto}",VARS=(r,*p)
T

trace_values() {
	if ! trcust -W1 c.tsf >log 2>&1; then
		not_ok "$1: compiles"
		diag_file log
		return
	fi
	trace run -o t.ras c.tdf -- ./collections "$rounds" >printed 2>log
	tracefmt -q t.ras 2>log2 | grep -a '^[a-z]*=' >traced
	judge_values "$1" 9
}

for compiler in "g++" "clang++" "clang++ -stdlib=libc++" \
		"g++ -D_GLIBCXX_USE_CXX11_ABI=0" "g++ -m32"; do
	for level in $levels; do
		# shellcheck disable=SC2086
		if $compiler -g -O$level -std=c++17 -o collections \
		   "$here/collections.cc" 2>log; then
			trace_values "$compiler -O$level"
		else
			skip "$compiler cannot compile"
			diag_file log
		fi
	done
done
tap_done
