#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The files written: both or none, and nothing of the user's is overwritten.
. "$(dirname "$0")/../tap.sh"
need cc
cd "$TMP" || exit 1

echo 'int main(void) { return 0; }' | cc -x c - -o app.exe
cat >app.tsf <<'END'
MODNAME=./app.exe
MAJOR=5
TRACE TP=.main, DESC="main"
END
cp app.tsf other.tsf
cp app.exe kept.exe

for name in app.tsf other.tsf app.exe; do
	status 1 "a TDF doesn't replace $name" trcust app.tsf $name
	like "$(cat err)" "'$name' exists and is not a TDF" "and it is told"
done
ok "the sources are as they were" cmp app.tsf other.tsf
ok "the module is as it was" cmp app.exe kept.exe
ok "no TFF is written then" test ! -e TRC0005.TFF
status 1 "the TDF can't have the TFF's name" trcust app.tsf TRC0005.TFF
ok "nothing is written then" test ! -e TRC0005.TFF
: >app.tdf
ok "an empty file is replaced" trcust app.tsf
ok "a TDF is replaced" trcust app.tsf
is "$(echo ./*.??????)" "./*.??????" "nothing else is left"

status 2 "/M= is refused" trcust app.tsf /M=app.map
like "$(trcust --help)" "APP.TSF" "--help"
is "$(trcust --help | grep -c '/[MC]=')" 0 "--help doesn't offer /M= and /C="

if [ "$(id -u)" -ne 0 ] || ! mkdir full ||
	! mount -t tmpfs -o size=16k none full 2>log; then
	skip "a full disk" "needs root and tmpfs"
	tap_done
fi
cleanup() {
	umount full
}
trcust app.tsf -o full
cp full/app.tdf full/TRC0005.TFF .
dd if=/dev/zero of=full/fill bs=4k count=1 2>log
sed 's/TRACE.*/TRACE TP=.main, DESC="changed", REGS=(RAX)/' other.tsf >app.tsf
status 1 "no room for the second file" trcust app.tsf -o full
like "$(cat err)" "full/app.tdf.*No space left" "and it is told"
ok "the old TDF is whole" cmp app.tdf full/app.tdf
ok "the old TFF is whole, too" cmp TRC0005.TFF full/TRC0005.TFF
is "$(ls full | tr '\n' ' ')" "TRC0005.TFF app.tdf fill " "nothing else"
tap_done
