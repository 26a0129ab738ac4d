#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# At a line names mean what they mean in the function that has the line, where
# functions inlined into each other begin at the same address.
. "$(dirname "$0")/../tap.sh"
here=$(cd "$(dirname "$0")" && pwd)/scope
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
cp "$here/inlined.cc" .

# The types that `p` has at the sites of a line. A variable that isn't there is
# no other one.
types_of() {
	printf 'MODNAME=./inlined\nTRACE TP=%s, VARS=(p)\n' "$1" >one.tsf
	trcust --site=exact --explain one.tsf >out 2>err
	sed -n 's/^    p  *[0-9]* bytes  *\(.* \*\), .*/\1/p' out |
		sed 's/short unsigned/unsigned short/; s/ int / /' | sort -u
}

for row in "g++ -O2 -g" "g++ -O1 -gdwarf-4 -gsplit-dwarf" \
	"g++ -O2 -g -gno-variable-location-views" "clang++ -O1 -g"; do
	# shellcheck disable=SC2086
	$row -o inlined inlined.cc 2>/dev/null || {
		skip "$row" "the compiler can't do it"
		continue
	}
	wrong=
	right=0
	grep -n '// p: ' inlined.cc >lines
	while IFS=: read -r line _ type; do
		got=$(types_of "@inlined.cc,$line")
		case $got in
		"${type# }")	right=$((right + 1)) ;;
		"")	grep -q 'optimized out\|ADDRESS\|NEXTLINENUM' err ||
				wrong="$wrong $line:none" ;;
		*)	grep -q NEXTLINENUM err || wrong="$wrong $line:$got" ;;
		esac
	done <lines
	is "$wrong" "" "$row: no line has the variable of another function"
	ok "$row: nor are they all optimized out" test "$right" -ge 7
done

if g++ -O2 -g -o inlined inlined.cc; then
	is "$(types_of .use)" "pair *" "a function by its name"
	is "$(types_of .middle)" "int *" "one that was only inlined"
	line=$(grep -n 'middle(&p->w' inlined.cc | cut -d: -f1)
	types_of "@inlined.cc,$line" >/dev/null
	like "$(cat out)" "inlined.cc:$line, names as in use[(][)]\$" \
		"--explain names the function"
	types_of .middle >/dev/null
	like "$(cat out)" 'names as in middle[(][)], inlined$' "and a copy"
fi

# What a block declares after the line isn't meant.
cat >block.c <<'C'
int x = 3;
__attribute__((noinline)) int work(int k)
{
	int r = k;
	asm volatile("" : : "r"(r));
	asm volatile("nop");
	{
		char x = r;
		asm volatile("nop" : : "r"(x));
	}
	return r;
}
int main(int c, char **v) { return work(c); }
C
cc -O0 -g -o inlined block.c || bail "block.c doesn't compile"
for row in "6 int" "9 char"; do
	printf 'MODNAME=./inlined\nTRACE TP=@block.c,%s, VARS=(x)\n' \
		"${row% *}" >one.tsf
	like "$(trcust --explain one.tsf 2>&1)" \
		"^    x  +[0-9]+ bytes? +${row#* }, " "line ${row% *}: ${row#* }"
done

# A file that is called as elsewhere: "\" separates, too
cp block.c 'src\block.c'
cc -O0 -g -o inlined 'src\block.c' || bail "src\\block.c doesn't compile"
for name in block.c 'src\block.c' src/block.c; do
	printf 'MODNAME=./inlined\nTRACE TP=@%s,6, VARS=(x)\n' "$name" >one.tsf
	status 0 "'$name'" trcust one.tsf
done
tap_done
