#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# STACK: what the program itself says that it returns to is what is recorded,
# where a function begins, inside, at its end and after it; without frame
# pointers it is the caller, and that there are none is reported.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
programs=$TOP/build/selftests/trace

# points PROGRAM FUNCTION: a TSF on stdout
points() {
	cat <<TSF
MODNAME=$programs/$1
MAJOR=9
TRACE MINOR=1, TP=.$2+0, DESC="entry", STACK=(8)
TRACE MINOR=2, TP=.$2, DESC="inside", STACK=(8)
TRACE MINOR=3, TP=.$2,RETEP, DESC="exit", STACK=(8)
TRACE MINOR=4, TP=.three+0, DESC="upper", STACK=(2)
TSF
}

# stacks NAME: the addresses of each record with this DESC, and why no more
stacks() {
	awk -v name="$1" '
		!NF { on = 0 }
		$0 == name { on = 1 }
		on && /^  [0-9A-F]+( |$)/ {
			sub(/^0+/, "", $1)
			line = line "0x" $1 " "
		}
		on && /^  \(/ {
			sub(/^ +/, "")
			print line $0
			line = ""
		}' "$TMP/trace"
}

# record PROGRAM: run it traced; what it printed is in $TMP/said
record() {
	status 0 "$1: on" trace on --stacks=frames "$TMP/$1.tdf"
	ok "$1: runs" sh -c "'$programs/$1' >'$TMP/said'"
	status 0 "$1: off" trace off "$TMP/$1.tdf"
	tracefmt --tff "$TMP" >"$TMP/trace" 2>"$TMP/summary"
	trace clear
}

# starts GOT EXPECTED NAME: each of the addresses, then those of the C library
starts() {
	case $1 in
	"$2"*)	pass "$3" ;;
	*)	is "$1" "$2" "$3" ;;
	esac
}

with_frames() {
	for function in inner aligned; do
		points "$1" $function | make_tdf "$TMP/$1.tsf"
		record "$1"
		[ $function = inner ] && line=1 || line=2
		said=$(sed -n ${line}p "$TMP/said")
		for place in entry inside exit; do
			starts "$(stacks $place)" "$said" \
				"$1: $function, $place"
		done
		is "$(stacks upper | sed -n ${line}p)" \
			"$(echo "$said" | cut -d ' ' -f 2,3) (stopped: as deep as asked for)" \
			"$1: two frames"
	done
	make_tdf "$TMP/$1.tsf" <<TSF
MODNAME=$programs/$1
MAJOR=9
TRACE MINOR=5, TP=.inner,RETEP=CALLER, DESC="after", STACK=(8)
TSF
	cp "$TMP/said" "$TMP/reported"	# a return probe changes what it says
	record "$1"
	starts "$(stacks after)" "$(sed -n 1p "$TMP/reported")" "$1: after it"
}

without_frames() {
	points "$1" inner | sed '/inside/d' | make_tdf "$TMP/$1.tsf"
	record "$1"
	said=$(sed -n 1p "$TMP/said")
	for place in entry exit; do
		found=$(stacks $place | sed 's/ (.*//')
		case $(uname -m) in
		# x29 is still the C library's, whose frames follow
		aarch64) starts "$found" "${said%% *}" \
			"$1: $place: the caller" ;;
		*)	is "$found" "${said%% *}" "$1: $place: the caller"
			# what main() left in RBP, which may be 0
			like "$(stacks $place)" '\(stopped: no frame pointer\)' \
				"and why no more"
			;;
		esac
	done
}

# own PROGRAM: of the addresses on stdin those of the program, a line
own() {
	tr ' ' '\n' | sed -n 's/^0x\(00*\)*\([0-9A-Fa-f]\{6,7\}\)$/0x\2/p' |
		tr a-f A-F | tr '\n' ' '
}

# like_gdb PROGRAM PREFIX: of the program's own frames, all or the first
like_gdb() {
	points "$1" inner | sed '/upper/d; /inside/d' | make_tdf "$TMP/$1.tsf"
	record "$1"
	trcust --dump "$TMP/$1.tdf" |
		sed -n 's/^  site .* address \(0x[0-9a-f]*\) .*/\1/p' >"$TMP/sites"
	for place in entry exit; do
		read -r site
		gdb -batch -nx -ex "break *$site" -ex run -ex backtrace \
			"$programs/$1" 2>/dev/null >"$TMP/gdb"
		theirs=$(sed -n 's/^#[1-9][0-9]* *\(0x[0-9a-f]*\) .*/\1/p' \
			"$TMP/gdb" | own)
		ours=$(stacks $place | own)
		ok "$1: $place: gdb finds frames" test "$theirs"
		case $theirs in
		"$ours"*) pass "$1: $place: those that gdb finds" ;;
		*)	is "$ours" "$theirs" "$1: $place: gdb" ;;
		esac
		[ "$2" = prefix ] || is "$ours" "$theirs" "$1: $place: all"
	done <"$TMP/sites"
}

with_frames stack
without_frames stack_bare
if command -v gdb >/dev/null; then
	like_gdb stack all
	like_gdb stack_bare prefix
else
	skip "as gdb" "no gdb"
fi
if [ -e "$programs/stack32" ]; then
	with_frames stack32
else
	skip "32 bits" "the compiler makes no such programs"
fi
tap_done
