#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In a guest: selectors that a program has just loaded are followed as they are
# when the module is there, and as they were at the last switch when it isn't.
# TDF and program are in /app, the module is /kmod/rastrace.ko.
. "$(dirname "$0")/../tap.sh"
export RASTRACE_RUN=/run/rastrace
cd "$TMP" || exit 1

# look: what the tracepoints record
look() {
	status 0 "$1: on" trace on /app/at_once.tdf /app/base.tdf
	ok "$1: runs" /app/segments32 at-once
	ok "$1: a program of 64 bits" /app/gsbase
	[ "$1" = loaded ] && status 1 "$1: in use" rmmod rastrace
	status 0 "$1: off" trace off /app/at_once.tdf /app/base.tdf
	tracefmt --tff /app >trace 2>summary
	trace clear
}

look absent
# they are the program's if the kernel has switched since they were loaded
is "$(grep -c 'as of last context switch' trace)" 2 \
	"as the kernel has seen them last: each with a mark"
ok "loaded" insmod /kmod/rastrace.ko
look loaded
like "$(cat trace)" '^es 1122 3344$' "ES as it is"
like "$(cat trace)" '^text in a segment$' "for a string, too"
like "$(cat trace)" '^fs 5566 7788$' "FS as it is"
like "$(cat trace)" '^gs 1122 3344$' "the base of GS as it is"
unlike "$(cat trace)" 'as of last context switch' "and nothing of age"
diag_file trace
trace off --all >/dev/null
sleep 1
ok "and the module goes" rmmod rastrace
tap_done
