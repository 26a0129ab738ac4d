#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The module's kfunc for vector registers, used by trace (floats.sh), in a guest
# whose kernel lets programs at probes call one.
# shellcheck disable=SC2154
. "$(dirname "$0")/guest.sh"
[ "$arch" = x86_64 ] || skip_all "vector registers are read on x86-64 only"
built=	# by modules
mkdir "$TMP/app"
cp "$kmod/floats" "$TMP/app"
cat >"$TMP/app/floats.tsf" <<END
MODNAME=/app/floats
MAJOR=9
TRACE MINOR=1, TP=.eight+0, DESC="doubles",
	FMT="eight %P%{x64} %P%{x64} %P%{x64} %P%{x64} %P%{x64} %P%{x64} %P%{x64} %P%{x64}",
	VARS=(a, b, c, d, e, f, g, h)
TRACE MINOR=2, TP=.singles+0, DESC="floats", FMT="n %P%{d32}",
	FMT="singles %P%{x32} %P%{x32} %P%{x64}", VARS=(n, a, b, c)
TRACE MINOR=3, TP=.points+0, DESC="structures",
	FMT="points %P%{x64} %{x64} %P%{x32} %P%{x64} %{x64}",
	VARS=(p, m.f, v)
TRACE MINOR=4, TP=.ratio,RETEP, DESC="result", FMT="ratio %P%{x64}",
	VARS=(\$result)
TRACE MINOR=5, TP=.swapped,RETEP, DESC="results",
	FMT="swapped %P%{x64} %{x64}", VARS=(\$result)
END
ok "compiled" trcust --module "$kmod/floats" "$TMP/app/floats.tsf"
modules 6.12 || tap_done
"$TOP/scripts/vm" -k 6.12 -t 1200 -f "$built/rastrace.ko:/kmod/rastrace.ko" \
	-f "$TMP/app:/app" -f "$BIN:/rastrace/build/bin" \
	-f "$TOP/selftests/tap.sh:/rastrace/selftests/tap.sh" \
	-f "$TOP/selftests/kmod/floats.sh:/rastrace/selftests/kmod/floats.sh" \
	-e TOP=/rastrace -e BIN=/rastrace/build/bin \
	sh -c 'echo program floats
		exec sh /rastrace/selftests/kmod/floats.sh' \
	>"$TMP/points" 2>"$TMP/kernel"
guest_status=$?
points 6.12 <"$TMP/points"
is "$guest_status" 0 "6.12: status" || diag_file "$TMP/kernel"
tap_done
