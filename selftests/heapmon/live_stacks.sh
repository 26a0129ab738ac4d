#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The stacks of allocations are those that the programs themselves find, whatever
# they were compiled by and with: frame for frame, to the outermost.
. "$(dirname "$0")/../tap.sh"
need_root
programs=$TOP/build/selftests/heapmon

# stacks FILE: "SIZE address address ... end" of each block of such a size
stacks() {
	tracefmt "$1" 2>"$TMP/summary" | awk '
		/^  address 0x/ { size = $4; line = "" }
		/^  [0-9A-F]+( |$)/ {
			sub(/^0+/, "", $1)
			line = line " " tolower($1)
		}
		/^  \(/ && size > 777000 && size < 777100 {
			sub(/^ +/, "")
			print size line " " $0
			size = 0
		}'
}

# without the innermost: "address address ... end"
callers() {
	awk -v size="$1" '$1 == size { $1 = $2 = ""; print; exit }' "$2" |
		sed 's/^ *//'
}

for program in "$programs"/unwind_program_*; do
	[ -x "$program" ] || continue
	name=${program##*_}
	# where everything takes ten times as long, one of each kind
	case ${RASTRACE_GUEST:+guest}-$name in
	guest-gcc-O2 | guest-m32-O2 | guest-static | \
	guest-gcc-pac | guest-gcc-nofp)	;;
	guest-*)	continue ;;
	esac
	ok "$name: it is recorded" sh -c "'$BIN/heapmon' record --depth 32 \
		-o '$TMP/$name.ras' -- '$program' >'$TMP/said' 2>'$TMP/log'" ||
		diag_file "$TMP/log"
	stacks "$TMP/$name.ras" >"$TMP/stacks"
	[ "$(wc -l <"$TMP/said")" -gt 10 ] || not_ok "$name: it said something"
	while read -r size what rest; do
		is "$(callers "$size" "$TMP/stacks")" \
			"$rest (outermost)" \
			"$name: $what ($(echo "$rest" | wc -w) frames)"
	done <"$TMP/said"
done

# stacked FILE: how many events of which function have a stack
stacked() {
	tracefmt "$1" 2>/dev/null |
		awk '/^[a-z]+$/ { what = $1 } /^  \(outermost\)$/ { n[what]++ }
			END { print n["malloc"] + 0, n["free"] + 0 }'
}

for row in 6:6: 6:0:--no-free-stacks 0:0:--depth=0; do
	option=${row##*:} numbers=${row%:*}
	# shellcheck disable=SC2086
	ok "releases without stacks: $row" "$BIN/heapmon" record $option \
		-o "$TMP/less.ras" -- "$programs/types_target"
	is "$(stacked "$TMP/less.ras")" "${numbers%:*} ${numbers#*:}" \
		"  stacks of malloc, of free"
	like "$(heapmon report "$TMP/less.ras" 2>&1)" '^  freed +6 blocks' \
		"  all are counted"
done
tap_done
