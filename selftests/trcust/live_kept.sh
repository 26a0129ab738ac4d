#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A variable in a register that the function restores before it returns: RETEP
# records what the program prints, or that it isn't there, but never what the
# caller has in that register.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/registers.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
command -v cc >/dev/null || skip_all "needs cc"

# trace_kept CLAUSES PREFIX: arm the functions, run ./kept
trace_kept() {
	rm -f ./*.TFF ./*.tdf
	{
		printf 'MODNAME=%s\nMAJOR=76\n' "$PWD/kept"
		for name in one apart many sized either; do
			echo "TRACE TP=.$name,RETEP, DESC=\"$name\"," \
				"FMT=\"$name ${2}%{d32} %{d32}\", $1"
		done
	} >kept.tsf
	# 1: a variable isn't at any exit of a function
	trcust /W0 kept.tsf
	trace run -o kept.ras kept.tdf -- ./kept >traced 2>log || return 1
	tracefmt -q -t . kept.ras | grep -E '^(one|apart|many|sized|either) ' \
		>records
}

# The records that have the variable; what isn't as the program prints it, but
# for a variable that is absent.
known() {
	grep -cE '^[a-z]+ -?[0-9]+ -?[0-9]+$' records
}
# shellcheck disable=SC2016
wrong() {
	awk 'FNR == NR {
		calls[$1]++
		kept[$1, calls[$1]] = $2
		result[$1, calls[$1]] = $3
		next
	}
	{
		n = ++records[$1]
		if ($NF != result[$1, n] ||
		    ($2 ~ /^-?[0-9]+$/ && $2 != kept[$1, n]))
			print $0, "for", kept[$1, n], result[$1, n]
	}
	END {
		for (name in records)
			if (records[name] != calls[name])
				print name, calls[name], "calls", records[name],
					"records"
	}' expected records
}

# kept NAME MINIMUM CLAUSES PREFIX: ./kept, of whose 45 calls so many have it
kept() {
	ok "$1: armed and run" trace_kept "$3" "$4" || return
	is "$(cat traced)" "$(cat expected)" "$1: the program does the same"
	is "$(wrong)" "" "$1: values"
	ok "$1: in $(known) records" test "$(known)" -ge "$2"
}

build() {
	"$@" -w -g -o kept "$here/exits/kept.c" 2>build.log || return
	./kept >expected
}

build cc -O0 || skip_all "cannot build"
if ! trace_kept "VARS=(kept), REGS=($RESULT_32)" %P >on.log 2>&1; then
	grep -q 'cannot arm\|not permitted' on.log &&
		skip_all "cannot arm here: $(tail -n 1 on.log)"
	diag_file on.log
fi

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	while read -r least options; do
		# shellcheck disable=SC2086
		if ! build $cc $options; then
			skip "$cc $options" "the compiler can't do it"
			continue
		fi
		kept "$cc $options, VARS" "$least" \
			"VARS=(kept), REGS=($RESULT_32)" %P
		kept "$cc $options, REGS" "$least" "REGS=(.kept,$RESULT_32)"
	done <<-'LIST'
	45 -O0
	45 -O0 -m32
	45 -O0 -m32 -fPIC
	45 -O0 -fno-asynchronous-unwind-tables
	9 -O1
	9 -O2 -fno-omit-frame-pointer
	9 -O2 -m32
	9 -Os
	LIST
done

# The program writes to memory after it has restored the register: what is
# recorded of memory is as of then, and the variable is gone.
if cc -O0 -S -w -g -o - "$here/exits/kept.c" 2>build.log |
	sed 's/^\tleave$/\tmovl $1, other(%rip)\n&/' >kept.s &&
   grep -q 'movl.*other' kept.s && cc -o kept kept.s; then
	./kept >expected
	kept "a write after it" 0 "VARS=(kept), REGS=($RESULT_32)" %P
	like "$(trcust /W0 kept.tsf 2>&1; trcust kept.tsf 2>&1)" \
		'it was in rbx, which has the caller.s value again here' \
		"a write after it: the reason"
else
	skip "a write after it" "no such code"
fi
tap_done
