#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Under lockdown (secure boot) a module that isn't signed, or with a key that the
# kernel doesn't trust, is not loaded, and all else goes on; under that for
# confidentiality the kernel isn't traced. With $LONG trace(8)'s table of who may do
# what is tested under both, too.
. "$(dirname "$0")/guest.sh"
. "$TOP/selftests/trace/target.sh"
built=	# by modules
modules 6.12 || tap_done

mkdir "$TMP/app"
make_app
cp "$TMP/target" "$TMP"/app.tdf "$TMP"/*.TFF "$TMP/app"
cat >"$TMP/opened.tsf" <<'TSF'
MODNAME=vmlinux
MAJOR=9
TRACE MINOR=1, TP=.do_sys_openat2, DESC="opened", REGS=(RDI)
TSF
cp "$TMP/opened.tsf" "$TMP/app"

# as rastrace(4) says
cp "$built/rastrace.ko" "$TMP/signed.ko"
if command -v openssl >/dev/null; then
	openssl req -new -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=owner \
		-keyout "$TMP/mok.key" -outform DER -out "$TMP/mok.pub" \
		2>/dev/null
	ok "signed by hand" "$("$TOP/scripts/kbuild" -n 6.12)/scripts/sign-file" \
		sha256 "$TMP/mok.key" "$TMP/mok.pub" "$TMP/signed.ko"
	is "$(modinfo -F signer "$TMP/signed.ko")" owner "  by the owner"
else
	skip "signed by hand" "needs openssl"
fi

cat >"$TMP/guest" <<'GUEST'
exec 2>&1
PATH=/bin/rastrace:$PATH
export PATH
cd /tmp
insmod /kmod/rastrace.ko
echo "insmod: $?"
insmod /kmod/signed.ko
echo "signed: $?"
trcust -o /tmp /app/opened.tsf
trace on /app/app.tdf
echo "program: $?"
trace on opened.tdf
echo "kernel: $?"
/app/target 3
echo "records: $(tracefmt -q --tff /app --major 197 | grep -c '^text some text')"
trace off --all
TOP=/rastrace BIN=/bin/rastrace RASTRACE_GUEST=1 RIGHTS=settings
export TOP BIN RASTRACE_GUEST RIGHTS
[ -z "$TABLE" ] || sh /rastrace/selftests/trace/live_rights.sh
GUEST

# locked MODE: "what: result" lines go to $TMP/out
locked() {
	table=${LONG-}
	status 0 "$1: in the guest" "$TOP/scripts/vm" -k 6.12 -t 1200 \
		-a "lockdown=$1" \
		-f "$built/rastrace.ko:/kmod/rastrace.ko" \
		-f "$TMP/signed.ko:/kmod/signed.ko" \
		-f "$TMP/app:/app" -f "$BIN:/bin/rastrace" \
		-f "${kmod:?}/../trace:/rastrace/build/selftests/trace" \
		-f "$kmod/../static:/rastrace/build/selftests/static" \
		-f "$TOP/selftests/tap.sh:/rastrace/selftests/tap.sh" \
		-f "$TOP/selftests/registers.sh:/rastrace/selftests/registers.sh" \
		-f "$TOP/selftests/trace:/rastrace/selftests/trace" \
		-e LOCKDOWN="$1" -e TABLE="$table" \
		-f "$TMP/guest:/guest" -- sh /guest
	like "$(cat "$TMP/out")" "^insmod: 1" "  the module isn't loaded"
	like "$(cat "$TMP/out")" "^signed: 1" "  nor with a key of its own"
	like "$(cat "$TMP/out")" "^program: 0" "  a program is armed"
	like "$(cat "$TMP/out")" "^records: 3" "  and recorded"
	[ "$table" ] || return
	is "$(grep '^not ok' "$TMP/out")" "" "  trace(8) has who may do what" ||
		diag_file "$TMP/out"
	like "$(cat "$TMP/out")" "^ok .* lockdown=$1: caps: heapmon" \
		"  all of it is looked at"
}

locked integrity
like "$(cat "$TMP/out")" "^kernel: 0" "  and so is the kernel"
locked confidentiality
like "$(cat "$TMP/out")" "^kernel: 1" "  the kernel isn't"
like "$(cat "$TMP/out")" "lockdown" "  and the reason is named"
tap_done
