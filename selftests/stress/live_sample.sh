#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The sample's records, from every context of the kernel, as text.
. "$(dirname "$0")/../tap.sh"
need_root
ko=${RASTRACE_KO:-}
[ -r "$ko/rastrace_sample.ko" ] ||
	skip_all "needs RASTRACE_KO, the folder of rastrace_sample.ko"
context=/sys/module/rastrace_sample/parameters/context

cleanup() {
	rmmod rastrace_sample 2>/dev/null
	trace off --all >/dev/null 2>&1
	rmmod rastrace 2>/dev/null
}

ok "the module is loaded" insmod "$ko/rastrace.ko"
ok "and the sample" insmod "$ko/rastrace_sample.ko"
ok "formats" trcust "$ko/rastrace_sample.tsf" "$TMP/sample.tdf"
ok "on" trace on --max-cpu=off 200
for name in process softirq hardirq nmi; do
	ok "a record in $name context" sh -c "echo $name >$context"
done
ok "printed" sh -c "tracefmt --tff '$TMP' >'$TMP/text'"
for name in process softirq hardirq nmi; do
	like "$(cat "$TMP/text")" "number .*$name" "the record in $name context"
done
ok "off" trace off 200
echo process >$context
is "$(tracefmt --tff "$TMP" | grep -c number)" 4 "off is off"
ok "the buffer is given up" trace off --all
ok "the sample is unloaded" rmmod rastrace_sample
ok "and the module" rmmod rastrace
tap_done
