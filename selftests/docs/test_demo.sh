#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make demo` prints what it promises: both programs' records, and how many
# hits, records and losses there were.
. "$(dirname "$0")/../tap.sh"
need_root
need make script

ok "the example builds" make -s -C "$TOP" build/demo/app
status 0 "the demo runs" "$TOP/scripts/demo"
out=$(cat "$TMP/out")
like "$out" '^\(bash\) add_history Pre-Invocation$' "records of bash"
like "$out" '^  line +echo "the first line"$' "the string that was typed"
like "$out" '^\(app\) order_book Pre-Invocation$' "records of the example"
like "$out" '^  note +gift wrap$' "the record of variable length"
like "$out" '^  note +<not readable: 0000000000000000>$' "the missing note"
like "$out" '^ +181 +1 +3 +3 +3 +0 +0 +0 +[0-9a-z]+ +0 ' "bash: 3 hits, no loss"
like "$out" '^ +161 +1 +3 +3 +3 +0 +0 +0 +[0-9a-z]+ +1 ' "app: 3 hits, a fault"
tap_done
