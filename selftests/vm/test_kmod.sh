#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A module of the kernel's own is traced: its entries and exits are recorded;
# one that isn't loaded, or is of another build, is refused.
. "$(dirname "$0")/../tap.sh"
need qemu-system-x86_64 busybox cpio
vm=$TOP/scripts/vm
kernel=$("$vm" -k 6.1 -n 2>"$TMP/err") || skip_all "$(cat "$TMP/err")"
find "${kernel%/boot/*}/lib/modules" -name '*.ko' >"$TMP/modules"
loop=$(grep '/loop\.ko$' "$TMP/modules") &&
	dummy=$(grep '/dummy\.ko$' "$TMP/modules") ||
	skip_all "the kernel's package has not the modules"

# made NAME MODNAME MODULE SYMBOL
mkdir "$TMP/t"
made() {
	cat >"$TMP/t/$1.tsf" <<END
MODNAME=$2
MAJOR=9
TRACE MINOR=1, TP=.$4, DESC="entered", REGS=(RDX)
TRACE MINOR=2, TP=.$4,RETEP, DESC="left", REGS=(RAX)
TRACE MINOR=3, TP=.$4,RETEP=CALLER, DESC="returned", REGS=(RAX)
END
	ok "$1: compiled" trcust --module "$3" "$TMP/t/$1.tsf"
}
made loop /lib/loop.ko "$loop" lo_ioctl
made other /lib/loop.ko "$dummy" dummy_xmit
made absent /lib/dummy.ko "$dummy" dummy_xmit

cat >"$TMP/t/guest" <<'END'
PATH=/bin/rastrace:$PATH
RASTRACE_RUN=/run/rastrace
export PATH RASTRACE_RUN
mkdir -p /run
trace on /t/other.tdf && exit 1
trace on /t/absent.tdf && exit 1
trace on /t/loop.tdf || exit 1
[ -b /dev/loop0 ] || mknod /dev/loop0 b 7 0
head -c 65536 /dev/zero >/image
losetup /dev/loop0 /image && losetup -d /dev/loop0
trace off /t/loop.tdf
tracefmt
END
status 0 "in the guest" "$vm" -k 6.1 -m loop -f "$BIN:/bin/rastrace" \
	-f "$TMP/t:/t" -- sh -c 'exec 2>&1 && . /t/guest' || diag_file "$TMP/out"
like "$(cat "$TMP/out")" "build-id differs .*loaded module" "another build"
like "$(cat "$TMP/out")" "module 'dummy' is not loaded" "not loaded"
entered=$(grep -c '^entered' "$TMP/out")
left=$(grep -c '^left' "$TMP/out")
ok "entered ($entered)" test "$entered" -ge 2
is "$left" "$entered" "each left by an exit"
is "$(grep -c '^returned' "$TMP/out")" "$entered" "and to its caller"
tap_done
