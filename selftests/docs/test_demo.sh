#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make demo` prints what it promises: both programs' records, and how many
# hits, records and losses there were.
. "$(dirname "$0")/../tap.sh"
need_root
need make script

ok "the examples build" make -s -C "$TOP" build/demo/app build/demo/shop
status 0 "the demo runs" "$TOP/scripts/demo"
out=$(cat "$TMP/out")
like "$out" '^\(bash\) add_history Pre-Invocation$' "records of bash"
like "$out" '^  line +echo "the first line"$' "the string that was typed"
like "$out" '^\(shop\) Store::order$' "records of C++"
like "$out" '^items = \{\{name = "lamp", count = 1\}' "a vector of structures"
like "$out" '^coupon = nullopt$' "an empty value"
like "$out" '^\(app\) order_book Pre-Invocation$' "records of the example"
like "$out" '^  note +gift wrap$' "the record of variable length"
like "$out" '^  note +<not readable: 0000000000000000>$' "the missing note"
like "$out" '^ +181 +1 +3 +3 +3 +0 +0 +0 +[0-9a-z]+ +0 ' "bash: 3 hits, no loss"
like "$out" '^ +162 +1 +3 +2 +2 +0 +1 ' "shop: 3 hits, one is filtered"
like "$out" '^ +161 +1 +3 +3 +3 +0 +0 +0 +[0-9a-z]+ +1 ' "app: 3 hits, a fault"
tap_done
