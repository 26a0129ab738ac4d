#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What rastrace.conf says is armed when the machine starts, line by line; the
# unit that does it is one that systemd takes.
. "$(dirname "$0")/../tap.sh"
need_tree
. "$TOP/selftests/trace/target.sh"
need_root
make_app
mkdir "$TMP/other place"
cp "$TDF" "$TMP/other place/app.tdf"

# --- all is well
cat >"$TMP/good.conf" <<'END'
# a comment, and a line that is empty

buffer 128K	# for each CPU
  on app.tdf --max-rate 1000
on "other place/app.tdf"
END
cd / || bail "no /"
status 0 "on --boot" trace on --boot "$TMP/good.conf"
is "$(cat "$TMP/err")" "" "  without a word"
is "$(figure state 1) $(figure state 2)" '"on" "on"' "both are armed"
like "$(trace query)" "^buffer: 128 KiB" "the buffer is as it says"
"$TMP/target" 3
is "$(figure recorded 1) $(figure recorded 2)" "3 3" "they record"
status 1 "again" trace on --boot "$TMP/good.conf"
like "$(cat "$TMP/err")" "^$TMP/good.conf:4:3: error: .*armed already" \
	"  what is armed is reported with its place"
trace off --all

# --- errors: the rest is done
cat >"$TMP/bad.conf" <<END
buffer 1K
frobnicate now
on none.tdf
on
on "app.tdf
on app.tdf
buffer 64K 64K
END
status 1 "on --boot with errors" trace on --boot "$TMP/bad.conf"
like "$(cat "$TMP/err")" "^$TMP/bad.conf:1:8: error: buffer size '1K' is out of range" \
	"  a size"
like "$(cat "$TMP/err")" "^$TMP/bad.conf:2:1: error: 'frobnicate' is no statement" \
	"  a statement"
like "$(cat "$TMP/err")" "^$TMP/bad.conf:3:1: error: .*none.tdf" "  a TDF"
like "$(cat "$TMP/err")" "^$TMP/bad.conf:4:1: error: 'on' needs" "  nothing to arm"
like "$(cat "$TMP/err")" "^$TMP/bad.conf:5:4: error: the quote" "  a quote"
like "$(cat "$TMP/err")" "^$TMP/bad.conf:7:12: error: '64K' is one word" \
	"  a word too many"
unlike "$(cat "$TMP/err")" "bad.conf:6" "  the good line"
is "$(figure state)" '"on"' "  is done"
trace off --all

# --- whose file it is
chmod 666 "$TMP/good.conf"
status 1 "a file that all may write to" trace on --boot "$TMP/good.conf"
like "$(cat "$TMP/err")" "writable by everybody" "  is refused"
chmod 644 "$TMP/good.conf"
chown 12345 "$TMP/good.conf"
status 1 "a file of another user's" trace on --boot "$TMP/good.conf"
like "$(cat "$TMP/err")" "belongs to user 12345" "  is refused"
is "$(pins)" "" "  nothing is armed"
status 1 "a file that isn't there" trace on --boot "$TMP/none.conf"
like "$(cat "$TMP/err")" "cannot open '$TMP/none.conf'" "  is reported"
status 1 "a directory" trace on --boot "$TMP"
like "$(cat "$TMP/err")" "cannot read '$TMP': Is a directory" "  is reported"
mkfifo "$TMP/fifo"
for odd in "$TMP/fifo" /dev/zero; do
	status 1 "'$odd'" timeout 60 trace on --boot "$odd"
	like "$(cat "$TMP/err")" "^trace: '$odd' is no regular file" "  is refused"
done
status 2 "--boot with another option" trace on --boot --dry-run "$TMP/good.conf"
like "$(cat "$TMP/err")" "goes with no other option" "  is reported"
status 0 "the example" trace on --boot "$TOP/etc/rastrace.conf"

# --- the unit
if command -v systemd-analyze >/dev/null; then
	sed "s,@BINDIR@,$BIN," "$TOP/etc/rastrace.service" \
		>"$TMP/rastrace.service"
	SYSTEMD_UNIT_PATH="$TMP:" systemd-analyze verify --man=no \
		"$TMP/rastrace.service" >"$TMP/verify" 2>&1
	is "$(grep rastrace "$TMP/verify")" "" "systemd-analyze finds nothing wrong in the unit"
else
	skip "the unit" "no systemd-analyze"
fi
tap_done
