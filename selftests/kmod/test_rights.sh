#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel module's cells of the tables of trace(8), RIGHTS: who reads the buffer
# from its device, and whose buffer it takes (trace/live_rights.sh), in a guest.
. "$(dirname "$0")/guest.sh"
built=	# by modules
modules 6.12 || tap_done
folder=$TMP/modules
mkdir "$folder"
cp "$built/rastrace.ko" "$folder"
there=/rastrace/selftests
vm -k 6.12 -t "${GUEST_SECONDS:-1200}" -M 768 \
	-f "$folder:/modules.rastrace" -f "${guest_bin:?}:/rastrace/build/bin" \
	-f "${kmod:?}/../trace:/rastrace/build/selftests/trace" \
	-f "$kmod/../static:/rastrace/build/selftests/static" \
	-f "$TOP/selftests/tap.sh:$there/tap.sh" \
	-f "$TOP/selftests/registers.sh:$there/registers.sh" \
	-f "$TOP/selftests/trace:$there/trace" \
	-e RASTRACE_GUEST=1 -e RASTRACE_KO=/modules.rastrace -e RIGHTS=module \
	-e TOP=/rastrace -e BIN=/rastrace/build/bin \
	-a 'memmap=1M$0x10000000' -e REGION=crash_mem=1M@0x10000000 \
	sh -c "echo program rights; exec sh $there/trace/live_rights.sh" \
	>"$TMP/points" 2>"$TMP/kernel"
status=$?
points 6.12 <"$TMP/points"
is "$status" 0 "6.12: status" || diag_file "$TMP/kernel"
tap_done
