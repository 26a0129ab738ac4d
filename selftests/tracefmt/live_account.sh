#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Calls of a program that keeps its own account of each: 16 threads that recurse
# and leave several calls at once, in a ring that has room for all of them, and in
# one that overwrites most. Each call with a latency is right, whether its beginning
# and its end are records, or it is one.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/registers.sh"

need_root
ACCOUNT=$TOP/build/selftests/tracefmt/account
[ -x "$ACCOUNT" ] || skip_all "needs $ACCOUNT"
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1

cleanup() {
	trace off --all
}

cp "$ACCOUNT" account
{
	printf 'MODNAME=%s/account\nMAJOR=196\n' "$TMP"
	minor=0
	for name in root step_a step_b step_c; do
		minor=$((minor + 1))
		cat <<END
TRACE MINOR=$minor, TP=.$name, DESC="(account) $name Pre-Invocation",
	FMT="number = %{u64}", REGS=($ARG1)
TRACE MINOR=$((minor + 32768)), TP=.$name,RETEP=CALLER,
	DESC="(account) $name Post-Invocation", FMT="returns %{u64}",
	REGS=($RESULT)
END
	done
} >account.tsf
trcust account.tsf >log 2>&1 || bail "trcust: $(cat log)"
{
	printf 'MODNAME=%s/account\nMAJOR=197\n' "$TMP"
	minor=0
	for name in root step_a step_b step_c; do
		minor=$((minor + 1))
		printf 'TRACE MINOR=%s, CALL=.%s,RETEP=CALLER, %s, %s\n' $minor \
			$name 'VARS=(number)' 'RESULT=($result)'
	done
} >whole.tsf
trcust whole.tsf >log 2>&1 || bail "trcust: $(cat log)"

# judge CALLS: against the account: how many are right, wrong, and have no
# latency. The numbers fit into a double.
judge() {
	awk 'FILENAME == "account.txt" { before[$1] = $2; after[$1] = $3; next }
	{
		n = split($0, part, " ")
		for (i = 1; i <= n; i++) {
			split(part[i], pair, "=")
			value[pair[1]] = pair[2]
		}
		number = value["entry.number"]
		ns = value["latency"]
		if (ns == "null")
			doubt++
		else if (number == value["result"] && after[number] != "" &&
			 ns + 0 <= after[number] - before[number])
			right++
		else {
			wrong++
			print > "wrong"
		}
	}
	END { print right + 0, wrong + 0, doubt + 0 }' account.txt "$1"
}

# run NAME BUFFER CALLS [TDF]
run() {
	trace on --max-cpu=off --buffer "$2" "${4:-account.tdf}" >log 2>&1 ||
		bail "trace on: $(cat log)"
	status 0 "$1: 16 threads call" sh -c "./account 16 $3 >account.txt"
	trace get account.ras >log 2>&1 || bail "trace get: $(cat log)"
	trace off --all >log 2>&1
	tracefmt -q --format=json \
		--fields entry.number,result,latency,event,parent account.ras \
		2>err | sed 's/[{}"]//g; s/:/=/g; s/,/ /g' >calls.out
	judge calls.out >judged
	read -r right wrong doubt <judged
	is "$wrong" 0 "$1: no call has the latency of another one" ||
		head -n 5 wrong | diag_file
	ok "$1: $right have theirs, $doubt have none" [ "$right" -gt 10 ]
}

run "all of them" 16M 500
for round in 1 2 3; do
	run "the last ones, $round" 64K 4000
done

run "whole calls, all of them" 16M 500 whole.tdf
is "$doubt" 0 "  no whole call is in doubt"
is "$right" "$(wc -l <account.txt)" "  each that returned is there"
# the caller's time is around that of the call
is "$(awk 'FILENAME == "account.txt" { before[$1] = $2; after[$1] = $3; next }
	{
		gsub(/[a-z._]*=/, "")
		number[$4] = $1
		parent[$1] = $5
	}
	END {
		for (n in parent) {
			of = number[parent[n]]
			if (of == "")
				continue
			callers++
			if (int(of / 4294967296) != int(n / 4294967296) ||
			    before[of] > before[n] || after[of] < after[n])
				print "wrong", n, of
		}
		print (callers > 10 ? "callers" : "none")
	}' account.txt calls.out)" callers "  each caller is one"
run "whole calls, the last ones" 64K 4000 whole.tdf
is "$doubt" 0 "  no whole call is in doubt"
tap_done
