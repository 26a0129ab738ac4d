#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What tracepoints record of the variables of random programs is what these
# print, or it is marked; a place is hit as often as it is run, or trcust has
# warned. A difference is named with its seed and options, by which
# random_values.py repeats it. LONG=1: more seeds, compilers and options.
. "$(dirname "$0")/../tap.sh"
need_root
need_tree
need python3
here=$TOP/selftests/corpus
values=0
cd "$TMP" || exit 1

echo 'int main(void) { return 0; }' >empty.c
cc -g -o empty empty.c || skip_all "needs a compiler"
printf 'MODNAME="./empty"\nMAJOR=1\nTRACE MINOR=1,TP=.main+0\n' >empty.tsf
trcust empty.tsf >/dev/null 2>&1
trace run -o empty.ras empty.tdf -- ./empty >/dev/null 2>err ||
	skip_all "cannot arm here: $(tail -n 1 err)"

# SEED LANGUAGE SITE COMPILER OPTION...
program() {
	what="seed $*"
	if ! command -v "$4" >/dev/null; then
		skip "$what" "there is no $4"
		return
	fi
	mkdir program
	cd program || exit 1
	PYTHONDONTWRITEBYTECODE=1 python3 "$here/random_values.py" "$@" \
		>out 2>err
	code=$?
	case $code in
	2)	skip "$what" "the compiler can't do it" ;;
	*)	ok "$what: $(tail -n 1 out)" test "$code" = 0 || diag_file out err ;;
	esac
	same=$(sed -n 's/ the same,.*//p' out)
	values=$((values + ${same:-0}))
	cd .. && rm -rf program
}

for level in -O0 ${LONG:+-O1} -O2 ${LONG:+-O3 -Os}; do
	program 12 c safe gcc $level
	program 13 c++ safe clang++ $level
done
program 13 c++ safe g++ -O2
program 11 c safe clang -O2
program 31 c++ fast g++ -O2
program 22 c safe gcc -O2 -flto
program 14 c safe gcc -O1 -m32
# Others have differences where the compiler's debug information is wrong.
if [ -n "${LONG-}" ]; then
	for seed in 41 42 43 44 45; do
		for level in -O0 -O2; do
			program $seed c safe gcc $level
			program $seed c++ safe g++ $level
		done
		program $seed c safe clang -O0
		program $seed c++ safe clang++ -O0
		program $seed c exact gcc -O0 -m32 -fPIE
		program $seed c fast gcc -O2 -fcf-protection -gdwarf-4
	done
fi
ok "$values values were compared" test "$values" -ge 20000
tap_done
