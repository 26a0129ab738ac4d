#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A TDF of a kernel module that isn't loaded waits for it: it is armed when the
# module comes; one of another build is refused then, with a message.
. "$(dirname "$0")/../tap.sh"
need qemu-system-x86_64 busybox cpio
vm=$TOP/scripts/vm
kernel=$("$vm" -k 6.1 -n 2>"$TMP/err") || skip_all "$(tail -n 1 "$TMP/err")"
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
END
	ok "$1: compiled" trcust --module "$3" "$TMP/t/$1.tsf"
}
made loop /lib/loop.ko "$loop" lo_ioctl
made other /lib/loop.ko "$dummy" dummy_xmit
made never /lib/dummy.ko "$dummy" dummy_xmit
cp "$loop" "$TMP/t/loop.ko"

cat >"$TMP/t/guest" <<'END'
PATH=/bin/rastrace:$PATH
RASTRACE_RUN=/run/rastrace
export PATH RASTRACE_RUN
mkdir -p /run
say() {
	echo "== $*"
}
keepers() {
	set -- $(ps | grep -c '[t]race keep')
	echo "keepers: $1"
}
cd /t
trace on loop.tdf || exit 1
trace on /t/other.tdf || exit 1
trace on never.tdf || exit 1
say waiting
trace query
keepers
say two
trace off never.tdf nothing.tdf
echo "status: $?"
say given up
trace query
killed=$(trace query | sed -n 's/^keeper: process //p')
kill -9 "$killed"
sleep 0.2
say killed
trace query
trace off /t/nothing.tdf
keepers
say loaded
insmod /t/loop.ko
i=0
while ! trace query | grep -q ', on, ' && [ $i -lt 100 ]; do
	i=$((i + 1))
	sleep 0.1
done
trace query
[ -b /dev/loop0 ] || mknod /dev/loop0 b 7 0
head -c 65536 /dev/zero >/image
losetup /dev/loop0 /image && losetup -d /dev/loop0
say records
tracefmt
trace off loop.tdf
say removed
rmmod loop
i=0
until trace query | grep -q '^waiting: /t/other.tdf' || [ $i -eq 30 ]; do
	i=$((i + 1))
	sleep 1
done
trace query
trace off other.tdf || exit 1
i=0
until [ "$(keepers)" = "keepers: 0" ] || [ $i -eq 30 ]; do
	i=$((i + 1))
	sleep 1
done
say end
trace query
keepers
trace off --all
END
status 0 "in the guest" "$vm" -k 6.1 -f "$BIN:/bin/rastrace" \
	-f "$TMP/t:/t" -- sh -c 'exec 2>&1 && . /t/guest' || diag_file "$TMP/out"

# part NAME: what was printed after "== NAME"
part() {
	sed -n "/^== $1/,/^==/p" "$TMP/out"
}
is "$(part waiting | grep -c '^waiting:')" 3 "three wait"
like "$(part waiting)" "^keepers: 1" "  and one keeper"
like "$(part two)" "nothing.tdf'" \
	"of two TDFs the one that isn't there is named"
unlike "$(part two)" "never.tdf" "  and nothing of the other"
like "$(part two)" "^status: 1" "  status"
is "$(part "given up" | grep -c '^waiting:')" 2 "one is given up"
like "$(part killed)" "keeper: isn't running" "the keeper is killed: query says so"
like "$(part killed)" "^keepers: 1" "  the next command starts another"
like "$(part loaded)" "loop.tdf: session 1, on" "the module comes: armed"
like "$(part loaded)" "^refused: /t/other.tdf .*build-id differs" \
	"one for another build is refused"
unlike "$(part loaded)" "^waiting" "  nothing waits any more"
like "$(part records)" "^entered" "it records"
like "$(part removed)" "^waiting: /t/other.tdf" \
	"the module goes: what was refused waits again"
like "$(part end)" "^keepers: 0" "with nothing to do the keeper ends"
tap_done
