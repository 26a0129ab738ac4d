#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The manual's samples (1.5) compile, for 32-bit modules that have their
# symbols, with the diagnostics that their own mistakes deserve and no others:
# the 16-bit one gives a minor code twice, the 32-bit one has a flat register
# in a MEM. The compiler chooses where hits are slow.
. "$(dirname "$0")/../tap.sh"
here=$(cd "$(dirname "$0")" && pwd)
need cc
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
echo 'int f(void) { return 1; }' >probe.c
cc -m32 -shared -fPIC -nostdlib -o probe.so probe.c 2>log ||
	skip_all "the compiler makes no 32-bit code"
mkdir -p root/c/src

# sample NAME MODULE OPTIONS STATUS POINTS ENTRIES EXPECTED: the messages are
# "line:column:NAME" each
sample() {
	cc -m32 -O0 -g -w -shared -fPIC -nostdlib -o "$2" \
		"$here/samples/sample-$1.c" || bail "sample-$1.c"
	cp "$here/samples/sample-$1.tsf" .
	# shellcheck disable=SC2086
	status "$4" "$1: status" trcust $3 "sample-$1.tsf"
	is "$(sed -nE '/SLOWSITE/d
		s/^[^:]*:([0-9]+:[0-9]+): .*\[TRCERR_(.*)\]$/\1:\2/p' \
		err)" "$7" "$1: the messages" || diag_file err
	trcust --dump "sample-$1.tdf" >tdf.dump
	is "$(grep -c '^point' tdf.dump)" "$5" "$1: tracepoints"
	is "$(trcust --dump ./*.TFF | grep -c '^ *entry ')" "$6" "$1: formats"
	rm ./*.TFF
}

sample 16bit root/c/src/xxx.dll "--sysroot root" 1 8 9 "80:13:DUP_MINOR"
sample 32bit NEWCALLS.DLL "" 1 7 8 "72:12:NOTASEGREG"
sample doscall1 doscall1.dll "" 0 3 3 ""
sample mixed MIXCALLS.DLL "" 0 2 2 ""

# Without debug information, with a map
echo '{ local: *; };' >hidden
cc -m32 -w -shared -fPIC -nostdlib -Wl,--version-script=hidden -o bare.dll \
	"$here/samples/sample-16bit.c" || bail "hidden symbols"
nm bare.dll >xxx.map
strip bare.dll
sed '/^TRACE MINOR=0xB0/,$d' sample-16bit.tsf >label.tsf
status 1 "a stripped module" trcust -m bare.dll label.tsf
status 0 "its symbols in a map" trcust -m bare.dll label.tsf /M=xxx.map
is "$(grep -v '^ ' err | grep -v SLOWSITE)" "" "no message"
tap_done
