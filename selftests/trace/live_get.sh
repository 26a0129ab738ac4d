#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace get: the file has the processes that were traced and where their code was, can bring
# its formats along and be compressed; it is taken while tracing goes on, and
# leaves everything as it was.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
cp "$TARGET" "$TMP/target"
make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=197
TRACE MINOR=1, TP=.work, DESC="work", FMT="n=%D at %{sym}",
	FMT="text %P%S", REGS=($ARG1_32, $IP), ASCIIZ32=(F$ARG3,DIRECT,20)
TSF
trace on --max-cpu=off "$TDF" || bail "nothing is armed"
where=$(trace query | sed -n 's/.*work+0 (0x\([0-9a-f]*\)).*/\1/p' |
	tr abcdef ABCDEF)

# A process that has ended: by where its module lay
"$TMP/target" 3
status 0 "get" trace get "$TMP/app.ras"
status 0 "it is printed" tracefmt -q --no-symbols "$TMP/app.ras"
is "$(grep -c 'Process \[target\]$' "$TMP/out")" 3 "the process is named"
is "$(sed -n 's/.* at //p' "$TMP/out" | sort -u)" "target+0x$where" \
	"an address of it is named, wherever it lay"
"$TMP/target" 1
trace get "$TMP/later.ras"
tracefmt -q --no-symbols "$TMP/later.ras" >"$TMP/out"
is "$(grep -c '^Event' "$TMP/out") $(sed -n 's/.* at //p' "$TMP/out" | sort -u)" \
	"4 target+0x$where" "of two processes, too"

is "$(trace get - | tracefmt -q - | grep -c '^Event')" 4 \
	"'-' is standard output"
ok "  not a file" test ! -e ./-

# Away from here: without the program and the formats
mkdir "$TMP/away"
status 0 "get" trace get "$TMP/away/bundle.ras"
status 0 "get --compress" \
	trace get --compress=zlib "$TMP/away/zlib.ras"
mv "$TMP/TRC00C5.TFF" "$TMP/kept.tff"
cd "$TMP/away" || exit 1
status 0 "a bundle needs no other file" tracefmt -q --relative --strict bundle.ras
is "$(grep -c '^text some text$' "$TMP/out")" 4 "it is printed by its formats"
cp "$TMP/out" "$TMP/bundle.txt"
status 0 "compressed" tracefmt -q --relative --strict zlib.ras
ok "it is printed alike" diff -u "$TMP/bundle.txt" "$TMP/out"
ok "it is smaller" \
	test "$(wc -c <zlib.ras)" -lt "$(wc -c <bundle.ras)"
status 0 "get --no-bundle" trace get --no-bundle "$TMP/away/bare.ras"
status 1 "this needs it" tracefmt -q --strict bare.ras
cd "$TMP" || exit 1
mv "$TMP/kept.tff" "$TMP/TRC00C5.TFF"
status 2 "a compression that there isn't" \
	trace get --compress=lzma "$TMP/none.ras"
like "$(cat "$TMP/err")" "'lzma' is no compression: zlib or zstd" "is reported"

# While the program runs: all that lies in it
trace clear
"$TMP/target" 2000000000 &
target=$!
sleep 0.5
i=0
while [ $i -lt 3 ]; do
	i=$((i + 1))
	ok "get while it runs ($i)" trace get "$TMP/run$i.ras"
	status 0 "and nothing is wrong with it" \
		tracefmt --summary "$TMP/run$i.ras"
done
libc=$(sed -n 's,.* \(/.*/libc[.-].*\),\1,p' /proc/$target/maps | head -n 1)
kill $target
wait $target 2>/dev/null
ok "the C library is in it" grep -q 'libc' "$TMP/run1.ras"
# shellcheck disable=SC2016
ok "a file that can't be replaced stays" \
	sh -c 'cp "$TMP/app.ras" "$TMP/full" && cd "$TMP" &&
		! trace get /dev/full 2>/dev/null && cmp -s app.ras full'
is "$(trace query | grep -c ', on, ')" 1 "what is armed stays armed"
trace off --all

# Of a process that is gone all modules are known that were traced in it
make_tdf "$TMP/libc.tsf" <<TSF
MODNAME=$libc
MAJOR=7
TRACE MINOR=5, TP=.exit, DESC="exit", FMT="at %{sym}", REGS=($IP)
TSF
make_tdf "$TMP/where.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=8
TRACE MINOR=5, TP=.work, DESC="work", FMT="at %{sym}", REGS=($IP)
TSF
trace on "$TMP/where.tdf"
trace on "$TMP/libc.tdf"
"$TMP/target" 1
status 0 "get of a process that is gone" trace get "$TMP/gone.ras"
tracefmt -q --no-symbols "$TMP/gone.ras" 2>&1 | awk '/Process \[/ { ours = /\[target\]/ }
	ours' >"$TMP/out"
like "$(cat "$TMP/out")" '^at target\+0x' "its program is named"
like "$(cat "$TMP/out")" '^at libc.*\+0x' "and its library"
trace off --all

# The kernel's addresses
if [ -e /sys/bus/event_source/devices/kprobe ]; then
	make_tdf "$TMP/kernel.tsf" <<TSF
MODNAME=vmlinux
MAJOR=7
TRACE MINOR=5, TP=.do_sys_openat2, DESC="open", FMT="at %{sym}", REGS=($IP)
TSF
	trace on --context=stack:3 "$TMP/kernel.tdf"
	cat /proc/uptime >/dev/null
	trace off "$TMP/kernel.tdf"
	status 0 "get of the kernel's records" trace get "$TMP/kernel.ras"
	tracefmt -q --no-symbols "$TMP/kernel.ras" >"$TMP/out" 2>&1
	like "$(cat "$TMP/out")" '^at vmlinux\+0x[0-9A-F]+$' "the kernel's text is named"
	like "$(cat "$TMP/out")" '^  FFFF[0-9A-F]{12}  vmlinux\+0x[0-9A-F]+$' \
		"and callers in it"
	trace off --all
else
	skip "the kernel's addresses" "no kprobes"
fi
tap_done
