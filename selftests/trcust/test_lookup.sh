#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Names mean what the language says: every row of lookup/ prints an expression,
# and what a tracepoint there logs is the same. What isn't there has a mark.
. "$(dirname "$0")/../tap.sh"
need_root
need cc g++ clang clang++
here=$(cd "$(dirname "$0")" && pwd)/lookup
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
cp -r "$here"/* .

# A TSF with a tracepoint for each row of the files, the line is its minor.
points() {
	printf 'MODNAME=./names\nMAJOR=%d\n' "$1"
	sed -n 's/^[[:space:]]*P(\(.*\));$/\1/;t row;d;:row;=;p' "$2" |
		paste - - | while IFS='	' read -r line expr; do
			echo "TRACE MINOR=$line, TP=@$2,$line," \
				"VARS=($expr+0)"
		done
}

# What a file's rows are, in the program's own words, and as they are logged:
# "line value" both; a row with a mark has "line -".
compare() {
	points "$1" "$2" >names.tsf
	trcust names.tsf >/dev/null 2>err
	trace run -o names.ras names.tdf -- ./names >all 2>log || {
		diag_file log
		return 1
	}
	sed -n "s|^$2:||p" all >said
	tracefmt -q --tff . --fields minor,fields names.ras |
		sed -n 's/^minor=\([0-9]*\) .* = \(-\{0,1\}[0-9]*\)$/\1 \2/;t ok
			s/^minor=\([0-9]*\) .*/\1 -/;:ok;p' >logged
	sed -n 's/^names.tsf:\([0-9]*\):[0-9]*: \(error\|.*OTHERTYPE\).*/\1/p' err | sort -u |
		while read -r at; do
			sed -n "$at"'s/^TRACE MINOR=\([0-9]*\),.*/\1 -/p' \
				names.tsf
		done | sort -u >refused
	sed -n 's/^TRACE MINOR=\([0-9]*\),.*/\1/p' names.tsf >rows
	awk -v marks=refused '
		FILENAME == "rows" { row[$1]; next }
		FILENAME == "said" && $1 in row { said[$1] = said[$1] " " $2 }
		FILENAME == "refused" { not[$1] }
		FILENAME == "logged" { logged[$1] = logged[$1] " " $2 }
		END {
			for (r in row) {
				if (!(r in said) || r in not) {
					skipped++
					continue
				}
				if (logged[r] == said[r]) {
					right++
					continue
				}
				n = split(logged[r], a, " ")
				m = split(said[r], b, " ")
				bad = n != m
				for (i = 1; i <= n && i <= m; i++)
					bad += a[i] != b[i] && a[i] != "-"
				if (bad)
					print r ": said" said[r] \
						", logged" logged[r]
				else
					skipped++
			}
			print right + 0, skipped + 0 >"counts"
		}' rows refused said logged >wrong
	read -r right skipped <counts
	[ ! -s wrong ]
}

# Rows that must be right at least, of each file.
file() {
	major=$((major + 1))
	compare $major "$2" || diag_file wrong
	ok "$1 $2: $right values are right, $skipped have a mark" \
		test ! -s wrong -a "$right" -ge "$3"
	[ "$right" -ge "$3" ] || diag_file wrong
	[ "$right" -ge "$3" ] || grep -A3 ': error' err | diag_file -
}

cxx() {
	$1 -o names names.cc other.cc elsewhere.cc 2>log || {
		skip "$1" "the compiler can't do it"
		return
	}
	file "$1" names.cc "$2"
	file "$1" other.cc "$3"
}

c() {
	$1 -o names names.c other.c sub/third.c 2>log || {
		skip "$1" "the compiler can't do it"
		return
	}
	file "$1" names.c "$2"
	file "$1" other.c "$3"
	file "$1" sub/third.c "$4"
}

major=0
cxx "g++ -g -O0" 114 11
cxx "clang++ -g -O0" 114 11
cxx "g++ -gdwarf-4 -O0 -gsplit-dwarf" 114 11
cxx "clang++ -gdwarf-4 -O0" 114 11
cxx "g++ -g -O1" 90 5
cxx "clang++ -g -O1" 90 5
cxx "g++ -g -O2" 90 5
cxx "clang++ -g -O2 -gsplit-dwarf" 90 5
c "cc -g -O0" 13 10 2
c "clang -g -O0" 7 10 2
c "cc -gdwarf-4 -O2" 8 6 0
c "clang -g -O2" 4 6 0

# What the types of one file mean in its FMT, though another has them, too.
cc -g -O0 -o names names.c other.c sub/third.c || bail "names.c"
cat >fmt.tsf <<'T'
MODNAME=./names
MAJOR=50
TRACE MINOR=1, TP=.first+0, VARS=(*(struct s *)$rdi)
TRACE MINOR=2, TP=.other+0, DESC="its own", FMT="%P%{struct s}",
      MEM64=(FRDI,DIRECT,24)
TRACE MINOR=3, TP=.third+0, VARS=('names.c'::count,'other.c'::count,
      'third.c'::count)
T
status 0 "a type that two files have" trcust fmt.tsf
trace run -o fmt.ras fmt.tdf -- ./names >/dev/null 2>&1
tracefmt -q --tff . --fields minor,fields fmt.ras >out
like "$(cat out)" '^minor=1 .* = {x = 1, y = 2}$' "is the one of VARS' file"
like "$(cat out)" '^minor=2 .*{pad = 8589934593, y = 3, x = 4}$' \
	"and of FMT's file"
like "$(cat out)" "count = 3, .*count = 12, .*count = 31\$" \
	"variables of three files"

for compiler in g++ clang++; do
	$compiler -g -O0 -o member member.cc || bail "member.cc"
	cat >member.tsf <<'T'
MODNAME=./member
MAJOR=51
TRACE MINOR=1, TP=.work, VARS=(data,code,*h,*s,*e,s->b,e->b,t->one::twice)
T
	status 0 "$compiler: members" trcust member.tsf
	trace run -o member.ras member.tdf -- ./member >/dev/null 2>&1
	tracefmt -q --tff . member.ras >out
	like "$(cat out)" '^data = 12$' "a pointer to a member is its offset"
	like "$(cat out)" '^code = {ptr = 0x1, adj = 0}$' "of a virtual function"
	like "$(cat out)" '^[*]h = {data = 12, code = {ptr = 0x[0-9A-F]*, adj = 0}, last = 7}$' \
		"in a struct"
	like "$(cat out)" '^[*]s = (shape )?[{]<virtual base base: not shown> .*x = 3, y = 4}$' \
		"a virtual base has a mark"
	like "$(cat out)" '^[*]e = (empty )?[{]<virtual base base: not shown>' \
		"where it is all there is"
	like "$(cat out)" '^s->b = 1$' "its members are read"
	like "$(cat out)" '^e->b = 1$' "through the vtable"
	like "$(cat out)" '^t->one::twice = 5$' "of two base classes one"
	printf 'MODNAME=./member\nTRACE TP=.work, VARS=(t->twice)\n' >two.tsf
	trcust two.tsf >out 2>&1
	like "$(cat out)" "'twice' is ambiguous here: .*member.cc:12 .*member.cc:13 " \
		"a member of both is refused"
done

# Damaged: a class is its own base class, twice
printf '%s\n' 'struct B { int x; }; struct C { int y; };' \
	'struct A : B, C { int z; } a;' \
	'extern "C" int f(int n) { return n + a.x; }' >own.cc
g++ -g -fPIC -S -dA -o own.s own.cc
awk '/DIE .*DW_TAG_structure_type/ {
	die = $0
	sub(/.*DIE \(/, "", die)
	sub(/\).*/, "", die)
}
/DIE .*DW_TAG_inheritance/ { base = 1 }
base && /DW_AT_type/ { sub(/0x[0-9a-f]+/, die); base = 0 }
{ print }' own.s >damaged.s
ok "a class that is its own base" g++ -shared -nostdlib -o own.so damaged.s
printf 'MODNAME=./own.so\nTRACE TP=.f, VARS=(a.Q::z)\n' >own.tsf
status 1 "  doesn't keep trcust busy" timeout 60 trcust own.tsf
like "$(cat err)" "A has no member Q::z" "  and has no such member"

tap_done
