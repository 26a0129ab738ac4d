#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Values of C++ that have a shape are what gdb prints of them at the same places of
# the same program, with the pretty printers of libstdc++.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/values_judge.sh"
need_root
need g++ gdb python3
here=$(cd "$(dirname "$0")" && pwd)/shapes
LC_ALL=C.UTF-8
export LC_ALL
cd "$TMP" || exit 1
rounds=15
[ "$LONG" = 1 ] && rounds=150
gdb -q -batch -ex 'info pretty-printer' "$(command -v gdb)" 2>/dev/null |
	grep -q builtin || skip_all "gdb has no Python"

cat >values.points <<'T'
texts s s v v p *p
sequences i v w *w a a
items t v pair *p
optionals o *o os *s u *u h *h
T
cat >collections.points <<'T'
lists l l s *s f f
nested ll l b b
trees set s map m
groups g g m *m
tables x x us s
rows r r p *p
T

# tsf PROGRAM, script PROGRAM: each line of PROGRAM.points is a function, then
# pairs of a name and an expression
tsf() {
	printf 'MODNAME="./%s"\nMAJOR=1\n' "$1"
	awk '{
		printf "TRACE TP=%s(*),DESC=\"t\"", $1
		for (i = 2; i < NF; i += 2)
			printf ",FMT=\"%s=%%P%%{auto}\"", $i
		vars = $3
		for (i = 5; i <= NF; i += 2)
			vars = vars "," $i
		print ",VARS=(" vars ")"
	}' "$1.points"
}
script() {
	cat <<'G'
set pagination off
set width 0
set print elements 0
set print repeats unlimited
set print null-stop on
set print address on
set print static-members off
set breakpoint pending on
G
	awk '{
		print "break " $1 "\ncommands\nsilent"
		for (i = 2; i < NF; i += 2)
			printf "echo @%s=\noutput %s\necho \\n\n", $i, $(i + 1)
		print "continue\nend"
	}' "$1.points"
	echo "run $rounds >/dev/null"
}

# compare WHAT: what gdb shows as an address only is left out
compare() {
	paste gdb.values all | grep -v '^[a-z]*=?	' >pairs
	cut -f 1 pairs >printed
	cut -f 2- pairs >traced
	judge_values "$1" 1
}

abis=1
[ "$LONG" = 1 ] && abis="1 0"
for program in values collections; do
	for abi in $abis; do
		what="$program, ABI $abi"
		g++ -g -O0 -D_GLIBCXX_USE_CXX11_ABI="$abi" -std=c++17 \
			-o $program "$here/$program.cc" 2>log || {
			skip "$what" "it does not build"
			continue
		}
		tsf $program >$program.tsf
		status 0 "$what: compiles" trcust -W1 $program.tsf
		trace run -o t.ras $program.tdf -- ./$program $rounds \
			>printed 2>log
		tracefmt -q t.ras 2>log2 | grep -a '^[a-z]*=' >all
		script $program >script.gdb
		gdb -q -batch -x script.gdb ./$program 2>gdb.err |
			sed -n 's/^@//p' |
			python3 "$here/gdb_values.py" >gdb.values
		is "$(wc -l <all)" "$(wc -l <gdb.values)" \
			"$what: as many values as gdb prints"
		compare "$what"
	done
done
tap_done
