#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --dry-run reports what would be armed, where and at what cost, and leaves
# nothing.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app
{
	cat "$TMP/app.tsf"
	echo "TRACE MINOR=2, TP=.many_3, DESC=\"many\", REGS=($ARG1_32)"
} | make_tdf "$TMP/two.tsf"
mv "$TMP/two.tdf" "$TDF"

status 0 "--dry-run" trace on -n "$TDF"
like "$(cat "$TMP/out")" "2 of 2 tracepoints would be armed" "how many"
like "$(cat "$TMP/out")" "in '$TMP/target'" "in which file"
like "$(cat "$TMP/out")" "many_3\+0, [a-z]+.*, uprobe(_multi)?, emulated, about [0-9]+ ns$" \
	"site, instruction, kind of link, class and cost"
like "$(cat "$TMP/out")" "[1-9][0-9]* programs? in .*, maps of " "memory"
like "$(cat "$TMP/out")" "^buffer: .* would be made" "the buffer"
is "$(pins)" "" "nothing is left"

# A selection, and a kind of link
status 0 "of one tracepoint" trace on -n --attach perf "$TMP/app(2)"
like "$(cat "$TMP/out")" "1 of 2 tracepoints" "only it"
like "$(cat "$TMP/out")" "many_3\+0, .*, uprobe, " "with that kind of link"

# What is armed already, and what is refused
trace on "$TMP/app(1)"
status 0 "of a TDF that is armed in part" trace on -n "$TDF"
like "$(cat "$TMP/out")" "1 of 2 tracepoints would be armed" "the rest"
like "$(cat "$TMP/out")" "^buffer: .* is there" "the buffer"
is "$(figure hits)" 0 "what is armed goes on"
status 1 "of what is armed" trace on -n "$TMP/app(1)"
like "$(cat "$TMP/err")" "armed already" "is refused"
trace off --all
status 1 "of a process that isn't there" trace on -n --pid 4194303 "$TDF"
like "$(cat "$TMP/err")" "there is no process" "is refused"
rm "$TMP/target"
status 1 "of a module that isn't there" trace on -n "$TDF"
like "$(cat "$TMP/err")" "cannot arm" "is refused"
is "$(pins)" "" "nothing is left"

# What isn't chosen needn't be there
make_tdf "$TMP/kernel.tsf" <<TSF
MODNAME=vmlinux
MAJOR=20
TRACE MINOR=1, TP=.vfs_read, DESC="read", REGS=($ARG1_32)
TRACE MINOR=3, TP=.no_such_function, DESC="none", REGS=($ARG1_32)
TRACE MINOR=4, TP=.vfs_write, DESC="write", REGS=($ARG1_32)
TSF
status 0 "of what the kernel has" trace on -n "$TMP/kernel(1,4)"
like "$(cat "$TMP/out")" "2 of 3 tracepoints" "only that"
status 1 "of what it hasn't" trace on -n "$TMP/kernel(1,3)"
like "$(cat "$TMP/err")" "no function 'no_such_function'" "is refused"
is "$(pins)" "" "nothing is left"
tap_done
