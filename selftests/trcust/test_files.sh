#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Files that others write, too, that block, or that are of an earlier run.
. "$(dirname "$0")/../tap.sh"
need cc timeout mkfifo
cd "$TMP" || exit 1
echo 'int main(void) { return 0; }' >main.c
cc main.c -o app1.exe || bail "the module of the tests does not compile"
cp app1.exe app2.exe
cp app1.exe app3.exe
cp app1.exe app4.exe

# tsf N TRACEPOINT...
tsf() {
	n=$1
	printf 'MODNAME=./app%d.exe\nMAJOR=7\n' "$n" >"app$n.tsf"
	shift
	printf '%s\n' "$@" >>"app$n.tsf"
}

dynamic='TRACE MINOR=1, TP=.main, DESC="main"'
static='TRACE MINOR=2, TP=@STATIC, DESC="static"'
for n in 1 2 3 4; do
	tsf "$n" "$dynamic"
done

# Several at once, each with its section
lost=0
for round in 1 2 3 4 5 6 7 8; do
	rm -f TRC0007.TFF
	for n in 1 2 3 4; do
		trcust app$n.tsf &
	done
	wait
	for n in 1 2 3 4; do
		trcust --dump TRC0007.TFF | grep -q "app$n.exe" ||
			lost=$((lost + 1))
	done
done
is "$lost" 0 "$round rounds of four at once: no section is lost"
is "$(echo ./*.??????)" "./*.??????" "nothing else is left"

# What blocks when it is opened
mkfifo fifo.tdf
status 1 "a FIFO for the TDF" timeout 60 trcust app1.tsf fifo.tdf
mkdir fifos
mkfifo fifos/TRC0007.TFF
status 1 "a FIFO for the TFF" timeout 60 trcust app1.tsf -o fifos
ok "it is still one" test -p fifos/TRC0007.TFF
status 1 "a FIFO to print" timeout 60 trcust --dump fifo.tdf
if command -v objcopy >/dev/null; then
	cc -g -Wl,--build-id=none main.c -o app4.exe
	objcopy --only-keep-debug app4.exe app4.dbg
	objcopy --strip-debug --add-gnu-debuglink=app4.dbg app4.exe
	rm app4.dbg
	mkfifo app4.dbg
	ok "a FIFO for the debug file" timeout 60 trcust app4.tsf
else
	skip "a FIFO for the debug file" "needs objcopy"
fi

# A TDF that is no longer made
ok "a TDF" trcust app1.tsf
ok "is there" test -e app1.tdf
tsf 1 "$static"
ok "now there are static tracepoints only" trcust app1.tsf
ok "the TDF is gone" test ! -e app1.tdf
like "$(trcust --dump TRC0007.TFF)" 'static' "the TFF knows them"
tsf 1 "$dynamic"
trcust ./app1.tsf
tsf 1 'TRACE MINOR=1, TP=.nowhere, DESC="bad"'
status 1 "now no tracepoint is good" trcust app1.tsf
ok "the TDF is gone then, too" test ! -e app1.tdf
cp app2.tdf kept.tdf
tsf 1 "$static"
status 0 "the TDF of another TSF" trcust app1.tsf app2.tdf
like "$(cat err)" "'app2.tdf' is of another TSF" "is reported"
ok "and left" cmp kept.tdf app2.tdf
echo text >text.tdf
status 0 "what is no TDF" trcust app1.tsf text.tdf
is "$(cat text.tdf) $(cat err)" "text " "is left, too"
tap_done
