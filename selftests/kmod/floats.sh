#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In a guest: what a program has in vector registers is recorded as it prints it
# when the module is there, and is marked when it isn't. TDF and program are in
# /app, the module is /kmod/rastrace.ko.
. "$(dirname "$0")/../tap.sh"
export RASTRACE_RUN=/run/rastrace
cd "$TMP" || exit 1

# look NAME ROUNDS THREADS: what the program prints and the tracepoints record
look() {
	status 0 "$1: on" trace on /app/floats.tdf
	/app/floats "$2" "$3" >printed
	is $? 0 "$1: runs"
	status 0 "$1: off" trace off /app/floats.tdf
	tracefmt --tff /app >trace 2>summary
	grep -E '^(eight|singles|points|ratio|swapped) ' trace >recorded
	trace clear
}

absent='<not available: needs rastrace.ko on 6.12 or later>'
look absent 1 0
is "$(grep -cF "$absent" trace)" 5 "absent: all records, with a mark" ||
	diag_file trace
like "$(cat trace)" "^n 5$" "and what is elsewhere is recorded"
ok "loaded" insmod /kmod/rastrace.ko
look loaded 5 0
is "$(cat recorded)" "$(cat printed)" "loaded: the values that are printed" ||
	diag_file trace
look disturbed 1500 6
is "$(wc -l <recorded)" 7500 "while others use these registers: all records"
ok "the values that are printed" cmp recorded printed
unlike "$(cat trace)" 'not available' "nothing is marked"
sleep 1
ok "and the module goes" rmmod rastrace
tap_done
