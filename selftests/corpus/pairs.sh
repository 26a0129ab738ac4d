# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A program's functions, their parameters and what they return, traced twice at
# once while its own tests run: at the nominal addresses (--site=exact), and
# where trcust would have the probes. Each hit is a pair of records, and these
# are equal; the tests print what they do without probes.
#
# Sourced after tap.sh. MAXHITS: pairs per tracepoint; BUFFER: its size;
# KEEP: a folder for what differs.
. "$TOP/selftests/corpus/suites.sh"
builds=$TOP/build/selftests/corpus
compare=$TOP/build/selftests/corpus/pairs
corrupt='' all_pairs=0 all_moved=0 all_cheaper=0

# need_sources PROGRAM...: of scripts/corpus
need_sources() {
	SOURCES=$("$TOP/scripts/corpus" --sources "$@" 2>"$TMP/err") || {
		diag_file "$TMP/err"
		skip_all "needs sources from Debian: $*"
	}
	export SOURCES
}

# tsf_make PROGRAM
tsf_make() {
	trcust --from-module --args --retep "$1" 2>/dev/null |
		sed "s/^	TYPE=/	MAXHITS=${MAXHITS:-1000},&/" \
		>"$TMP/points.tsf"
	grep -q MAXHITS "$TMP/points.tsf"
}

# tdf_make NAME HOW MAJOR [SED]: $TMP/NAME.tdf
tdf_make() {
	sed -e "s/^MAJOR = .*/MAJOR = $3/" -e "${4-}" "$TMP/points.tsf" \
		>"$TMP/$1.tsf"
	trcust -W 1 --exit-zero --site="$2" "$TMP/$1.tsf" "$TMP/$1.tdf" &&
		[ -e "$TMP/$1.tdf" ]
}

# suite COMMAND...: what it prints goes to $TMP/said
suite() {
	"$@" >"$TMP/said" 2>&1 </dev/null
	echo "status $?" >>"$TMP/said"
}

# probed COMMAND...: the same with both TDFs armed; records go to $TMP/both.ras
probed() {
	trace on --buffer "${BUFFER:-256M}" "$TMP/exact.tdf" "$TMP/moved.tdf" \
		>"$TMP/on" 2>&1 || {
		diag_file "$TMP/on"
		return 1
	}
	suite "$@"
	trace get "$TMP/both.ras" >/dev/null 2>"$TMP/get" &&
		trace off --all >/dev/null
}

# figure NAME: of the last comparison's
figure() {
	sed -n "/^pairs/s/.*\<$1 \([0-9]*\).*/\1/p" "$TMP/figures"
}

# twice HOW PROGRAM COMMAND...: $TMP/figures, and what the program's tests say
# without probes in $TMP/said.plain. corrupt: a change of the moved one's TSF.
twice() {
	twice_how=$1 twice_program=$2
	shift 2
	rm -f "$TMP"/*.tdf "$TMP/figures"
	tsf_make "$twice_program" && tdf_make exact exact 1 &&
		tdf_make moved "$twice_how" 2 "$corrupt" || return
	suite "$@"
	mv "$TMP/said" "$TMP/said.plain"
	probed "$@" || return
	"$compare" "$TMP/both.ras" "$TMP/exact.tdf" "$TMP/moved.tdf" \
		>"$TMP/figures" || grep -q ^pairs "$TMP/figures"
}

# pairs HOW PROGRAM COMMAND...: its tests, probed both ways
pairs() {
	what="${2##*/}, $1"
	ok "$what: its tests ran probed" twice "$@" || return
	diag "$what: $(tail -n 1 "$TMP/figures")"
	is "$(figure different)" 0 "$what: no value differs" || keep
	is "$(figure alone) $(figure lost)" "0 0" "$what: all have a partner" ||
		keep
	ok "$what: its tests have the same results" \
		diff "$TMP/said.plain" "$TMP/said" || keep
	all_pairs=$((all_pairs + $(figure pairs)))
	all_moved=$((all_moved + $(figure moved)))
	all_cheaper=$((all_cheaper + $(figure cheaper)))
}

# What there was to see
keep() {
	head -n 40 "$TMP/figures" | diag_file
	[ -z "${KEEP-}" ] || {
		mkdir -p "$KEEP/$what" && cp "$TMP"/both.ras "$TMP"/*.tdf \
			"$TMP"/*.tsf "$TMP"/said* "$TMP/figures" \
			"$KEEP/$what"
	}
}

# program HOW NAME COMPILER FLAGS...: one of scripts/corpus, with its suite
program() {
	how=$1 name=$2
	shift 2
	built=$("$TOP/scripts/corpus" "$name" "$builds" "$@" 2>"$TMP/err") || {
		not_ok "$name $*: is built"
		diag_file "$TMP/err"
		return
	}
	pairs "$how" "$built" "${name%-server}_suite" "$built"
}

# enough PAIRS: of records at different addresses, in all
enough() {
	ok "enough pairs: $all_pairs, $all_moved moved, $all_cheaper cheaper" \
		test "$all_moved" -ge "$1"
}

# corrupted SED HOW NAME COMPILER FLAGS...: a comparison that can't fail would
# prove nothing
corrupted() {
	corrupt=$1 how=$2 name=$3
	shift 3
	built=$("$TOP/scripts/corpus" "$name" "$builds" "$@" 2>"$TMP/err")
	ok "corrupted values: are compared" \
		twice "$how" "$built" "${name%-server}_suite" "$built"
	ok "corrupted values: are found" test "$(figure different)" -gt 1000
	corrupt=
}
