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

cp app.exe program.tdf
status 1 "a TDF doesn't replace what is none" trcust app.tsf program.tdf
like "$(cat err)" "'program.tdf' exists and is not a TDF" "and it is reported"
ok "it is as it was" cmp app.exe program.tdf
rm program.tdf
ok "no TFF is written then" test ! -e TRC0005.TFF
for name in other.tsf app.exe TRC0005.TFF; do
	status 0 "a TDF isn't called $name" trcust app.tsf $name
	like "$(cat err)" "warning: file: $name,.*using: ${name%.*}.tdf" \
		"it is called another name, and that is reported"
	ok "which is there" test -s "${name%.*}.tdf"
	rm "${name%.*}.tdf"
done
ok "the sources are as they were" cmp app.tsf other.tsf
ok "the module is as it was" cmp app.exe kept.exe
like "$(trcust --dump TRC0005.TFF)" 'desc "main"' "the TFF is one"
rm TRC0005.TFF
trcust app.tsf
for row in 'a literal without its end:MODNAME=./app.exe TRACE TP=.main, DESC="m' \
	'a module that is not there:MODNAME=./gone.exe TRACE TP=.main' \
	'an empty TSF:'; do
	cp app.tsf again.tsf
	trcust again.tsf 2>/dev/null
	[ -s again.tdf ] || bail "again.tsf isn't compiled"
	echo "${row#*:}" >again.tsf
	status 1 "${row%%:*}" trcust --explain again.tsf
	ok "its TDF is left by --explain" test -s again.tdf
	status 1 "${row%%:*}, in earnest" trcust again.tsf
	ok "the TDF made of it before is removed" test ! -e again.tdf
	status 1 "${row%%:*}, another TSF's TDF" trcust again.tsf app.tdf
	ok "that is left" test -s app.tdf
done
like "$(cat err)" '^trcust: no TDF is written$' "that there is none is reported"
printf '%s\n' 'MODNAME=./app.exe MAJOR=5' 'TRACE TP=.main' 'TRACE TP=.nosuch' \
	'TRACE TP=@STATIC, DESC="s", FMT="s"' >again.tsf
status 1 "one of two tracepoints" trcust again.tsf
like "$(cat err)" "^trcust: 'again.tdf' has 1 of 2 tracepoints\$" "and says so"
rm -f again.tsf again.tdf TRC0005.TFF app.tdf
: >app.tdf
ok "an empty file is replaced" trcust app.tsf
ok "a TDF is replaced" trcust app.tsf
is "$(echo ./*.??????)" "./*.??????" "nothing else is left"

like "$(trcust --help)" "APP.TSF" "--help"

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
like "$(cat err)" "full/app.tdf.*No space left" "and it is reported"
ok "the old TDF is whole" cmp app.tdf full/app.tdf
ok "the old TFF is whole, too" cmp TRC0005.TFF full/TRC0005.TFF
is "$(ls full | tr '\n' ' ')" "TRC0005.TFF app.tdf fill " "nothing else"
tap_done
