#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The module's kfunc for segment registers, used by trace (segments.sh), in a
# guest whose kernel lets programs at probes call one.
. "$(dirname "$0")/guest.sh"
program=$TOP/build/selftests/trace/segments32
[ -e "$program" ] || skip_all "the compiler makes no 32-bit programs"
built=	# by modules
mkdir "$TMP/app"
cp "$program" "$TOP/build/selftests/kmod/gsbase" "$TMP/app"
cat >"$TMP/app/at_once.tsf" <<END
MODNAME=/app/segments32
MAJOR=9
TRACE MINOR=1, TP=.look+0, DESC="look", ONFAULT=CONTINUE,
	FMT="es %P%D", FMT="text %P%S", FMT="fs %P%D",
	MEM=(RES+BX,DIRECT,4), ASCIIZ=(RES+BX-0x10,DIRECT,40),
	MEM=(RFS+8,DIRECT,4)
END
cat >"$TMP/app/base.tsf" <<END
MODNAME=/app/gsbase
MAJOR=10
TRACE MINOR=1, TP=.look+0, DESC="base", FMT="gs %P%D",
	MEM=(RGS+0x10,DIRECT,4)
END
ok "of 64 bits compiled" trcust --module "$TOP/build/selftests/kmod/gsbase" "$TMP/app/base.tsf"
ok "compiled" trcust --module "$program" "$TMP/app/at_once.tsf"
modules 6.12 || tap_done
"$TOP/scripts/vm" -k 6.12 -t 1200 -f "$built/rastrace.ko:/kmod/rastrace.ko" \
	-f "$TMP/app:/app" -f "$BIN:/rastrace/build/bin" \
	-f "$TOP/selftests/tap.sh:/rastrace/selftests/tap.sh" \
	-f "$TOP/selftests/kmod/segments.sh:/rastrace/selftests/kmod/segments.sh" \
	-e TOP=/rastrace -e BIN=/rastrace/build/bin \
	sh -c 'echo program segments
		exec sh /rastrace/selftests/kmod/segments.sh' \
	>"$TMP/points" 2>"$TMP/kernel"
guest_status=$?
points 6.12 <"$TMP/points"
is "$guest_status" 0 "6.12: status" || diag_file "$TMP/kernel"
tap_done
