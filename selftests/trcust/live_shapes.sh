#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Values that have a shape are what the program itself prints at that point, or
# marked: strings, vectors, optional values, pointers, enumerations; of C++ with
# both of its libraries, of Rust and of Go.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/values_judge.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)/shapes
LC_ALL=C.UTF-8
export LC_ALL
cd "$TMP" || exit 1
rounds=40
levels=2
if [ "$LONG" = 1 ]; then
	rounds=400
	levels="0 1 2"
fi

cat >cc.tsf <<'T'
MODNAME="./values"
MAJOR=1
TRACE TP=.texts,DESC="t",FMT="s=%P%S",FMT="v=%P%{auto}",FMT="p=%P%{auto}",
	VARS=(s,v,*p)
TRACE TP=.sequences,DESC="t",FMT="i=%P%{auto}",FMT="w=%P%{auto}",
	FMT="a=%P%{auto}",VARS=(v,*w,a)
TRACE TP=.items,DESC="t",FMT="t=%P%{auto}",FMT="pair=%P%{auto}",VARS=(v,*p)
TRACE TP=.optionals,DESC="t",FMT="o=%P%{auto}",FMT="os=%P%{auto}",
	FMT="u=%P%{auto}",FMT="h=%P%{auto}",VARS=(*o,*s,*u,*h)
TRACE TP=.status,DESC="t",FMT="st=%P%{auto}",VARS=(*st)
T
cat >rs.tsf <<'T'
MODNAME="./values"
MAJOR=1
TRACE TP=.values::scalars,DESC="t",FMT="a=%P%{auto}",FMT="b=%P%{auto}",
	FMT="c=%P%{auto}",FMT="d=%P%{auto}",FMT="e=%P%{auto}",FMT="g=%P%{auto}",
	VARS=(a,b,*c,d,e,*g)
TRACE TP=.values::texts,DESC="t",FMT="s=%P%{auto}",FMT="t=%P%{auto}",
	FMT="bx=%P%{auto}",VARS=(s,*t,*b)
TRACE TP=.values::sequences,DESC="t",FMT="v=%P%{auto}",FMT="w=%P%{auto}",
	FMT="x=%P%{auto}",VARS=(v,*w,*x)
TRACE TP=.values::enums,DESC="t",FMT="o=%P%{auto}",FMT="os=%P%{auto}",
	FMT="r=%P%{auto}",FMT="sh=%P%{auto}",FMT="ob=%P%{auto}",
	FMT="ss=%P%{auto}",VARS=(*o,*os,*r,*sh,*ob,s)
TRACE TP=.values::ones,DESC="t",FMT="b=%P%{auto}",FMT="rc=%P%{auto}",
	FMT="arc=%P%{auto}",VARS=(*b,*rc,*arc)
TRACE TP=.values::paths,DESC="t",FMT="p=%P%{auto}",FMT="pb=%P%{auto}",
	FMT="os=%P%{auto}",VARS=(p,*pb,*os)
TRACE TP=.values::cstrings,DESC="t",FMT="osr=%P%{auto}",FMT="cs=%P%{auto}",
	FMT="c=%P%{auto}",VARS=(osr,*cs,c)
TRACE TP=.values::times,DESC="t",FMT="d=%P%{auto}",FMT="od=%P%{auto}",
	VARS=(*d,*od)
TRACE TP=.values::cells,DESC="t",FMT="a=%P%{auto}",FMT="b=%P%{auto}",
	FMT="c=%P%{auto}",FMT="d=%P%{auto}",VARS=(*a,*b,*c,*d)
TRACE TP=.values::inside,DESC="t",FMT="e=%P%{auto}",FMT="f=%P%{auto}",
	FMT="v=%P%{auto}",FMT="s=%P%{auto}",VARS=(*e,*f,*v,s)
TRACE TP=.values::wide,DESC="t",FMT="i=%P%{auto}",FMT="u=%P%{auto}",
	FMT="c=%P%{auto}",VARS=(*i,*u,c)
TRACE TP=.values::dynamic,DESC="t",FMT="a=%P%{auto}",FMT="b=%P%{auto}",
	FMT="e=%P%{auto}",FMT="r=%P%{auto}",VARS=(a,*b,*e,*r)
TRACE TP=.values::closure,DESC="t",FMT="f=%P%{auto}",FMT="v=%P%{auto}",
	VARS=(f,*v)
TRACE TP=.values::maps,DESC="t",FMT="m=%P%{auto}",FMT="s=%P%{auto}",
	VARS=(*m,*s)
TRACE TP=.values::trees,DESC="t",FMT="b=%P%{auto}",FMT="t=%P%{auto}",
	FMT="d=%P%{auto}",FMT="q=%P%{auto}",VARS=(*b,*t,*d,*q)
T
cat >go.tsf <<'T'
MODNAME="./values"
MAJOR=1
TRACE TP=.main.texts,DESC="t",FMT="who=%P%{auto}",FMT="v=%P%{auto}",
	FMT="w=%P%{auto}",FMT="p=%P%{auto}",VARS=(who,v,w,*p)
TRACE TP=dynamic,DESC="t",FMT="e=%P%{auto}",FMT="a=%P%{auto}",
	FMT="s=%P%{auto}",FMT="m=%P%{auto}",VARS=(e,a,s,m)
TRACE TP=scalars,DESC="t",FMT="a=%P%{auto}",FMT="b=%P%{auto}",
	FMT="c=%P%{auto}",FMT="d=%P%{auto}",FMT="r=%P%{auto}",
	FMT="p=%P%{auto}",FMT="q=%P%{auto}",FMT="t=%P%{auto}",FMT="u=%P%{auto}",
	VARS=(a,b,c,d,r,*p,q,t,u)
T

# trace_values TSF NAME: the program has been built
trace_values() {
	if ! trcust -W1 "$1" >log 2>&1; then
		not_ok "$2: compiles"
		diag_file log
		return
	fi
	trace run -b 32M -o t.ras "${1%.tsf}.tdf" -- ./values "$rounds" >printed 2>log
	tracefmt -q t.ras 2>log2 | grep -a '^[a-z]*=' >traced
	judge_values "$2" 9
}

for compiler in "g++" "clang++" "clang++ -stdlib=libc++" \
		"g++ -D_GLIBCXX_USE_CXX11_ABI=0"; do
	for level in $levels; do
		# shellcheck disable=SC2086
		if $compiler -g -O$level -std=c++17 -o values "$here/values.cc" \
		   2>log; then
			trace_values cc.tsf "$compiler -O$level"
		else
			skip "$compiler cannot compile"
		fi
	done
done
# Debian's and a newer one
for rustc in /usr/bin/rustc "$HOME/.cargo/bin/rustc"; do
	for level in $levels; do
		if "$rustc" -A warnings -g -C opt-level=$level -o values \
			"$here/values.rs" 2>log; then
			trace_values rs.tsf "$rustc $level"
		else
			skip "$rustc cannot compile"
		fi
	done
done
export HOME="$TMP" GOCACHE="$TMP/cache" GO111MODULE=off
# those of Debian and of its backports
for go in /usr/lib/go-*/bin/go; do
	[ -x "$go" ] || go=go
	for flags in "" "-N -l"; do
		if "$go" build -gcflags="all=$flags" -o values \
			"$here/values.go" 2>log; then
			trace_values go.tsf "$go $flags"
		else
			skip "$go cannot compile"
		fi
	done
done
tap_done
