#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The runner counts test points and accepts only complete output.
. "$(dirname "$0")/../tap.sh"

mkdir -p "$TMP/selftests/x"
cp "$TOP/selftests/run.sh" "$TOP/selftests/splats" "$TMP/selftests/"
echo timeout=5 >"$TMP/selftests/x/settings"

# row COUNTS NAME: a test with the script on stdin is counted so
row() {
	{
		echo '#!/bin/sh'
		cat
	} >"$TMP/selftests/x/test_row.sh"
	chmod +x "$TMP/selftests/x/test_row.sh"
	(
		unset TOP
		"$TMP/selftests/run.sh" >"$TMP/out" 2>&1
		echo "status $?" >>"$TMP/out"
	)
	is "$(tail -n 2 "$TMP/out")" "$1" "$2" || diag_file "$TMP/out"
}

row "1 passed, 0 failed, 0 skipped
status 0" "a passed point" <<'ROW'
echo TAP version 13; echo "ok 1 - a"; echo 1..1
ROW
row "1 passed, 1 failed, 1 skipped
status 1" "one of each" <<'ROW'
echo 1..3; echo "ok 1 - a"; echo "not ok 2 - b"; echo "ok 3 - c # SKIP why"
exit 1
ROW
row "0 passed, 0 failed, 1 skipped
status 0" "skipped as a whole" <<'ROW'
echo "1..0 # SKIP needs a lake"; exit 4
ROW
row "0 passed, 1 failed, 0 skipped
status 1" "a skip that exits otherwise" <<'ROW'
echo "1..0 # SKIP needs a lake"; exit 3
ROW
row "1 passed, 1 failed, 0 skipped
status 1" "no plan" <<'ROW'
echo "ok 1 - a"
ROW
row "1 passed, 1 failed, 0 skipped
status 1" "fewer points than planned" <<'ROW'
echo 1..2; echo "ok 1 - a"
ROW
row "0 passed, 1 failed, 0 skipped
status 1" "silence" <<'ROW'
exit 0
ROW
row "1 passed, 1 failed, 0 skipped
status 1" "an exit status without a failed point" <<'ROW'
echo 1..1; echo "ok 1 - a"; exit 7
ROW
row "1 passed, 1 failed, 0 skipped
status 1" "a bail out" <<'ROW'
echo "ok 1 - a"; echo "Bail out! no more"; exit 1
ROW
row "1 passed, 1 failed, 0 skipped
status 1" "a test that does not end" <<'ROW'
echo "ok 1 - a"; echo 1..1; exec sleep 60
ROW
row "0 passed, 1 failed, 0 skipped
status 1" "a test that is killed" <<'ROW'
kill -SEGV $$
ROW

# A test with jobs=N starts as soon as there is room. On one processor with jobs=2
# the first of these ends when the third has started. Tests in the background run one after another, beside all
# others, and each test is reported when it ends.
y=$TMP/selftests/y
mkdir "$y" "$TMP/selftests/z"
printf 'timeout=100\njobs=2\n' >"$y/settings"
printf 'timeout=100\nbackground=1\n' >"$TMP/selftests/z/settings"
for name in y/test_1.sh y/test_2.sh y/test_3.sh z/test_4.sh z/test_5.sh; do
	cat >"$TMP/selftests/$name" <<'TEST'
#!/bin/sh
cd "$(dirname "$0")/../y"
case ${0##*/} in
test_1.sh)	until [ -e third ]; do sleep 0.1; done
		: >first ;;
test_2.sh)	: >second ;;
test_3.sh)	: >third ;;
test_5.sh)	until [ -e first ]; do sleep 0.1; done
		sleep 1
		[ ! -e fourth ] && : >fifth ;;
test_4.sh)	: >fourth
		[ -e fifth ] || echo "not ok 2 - alone" ;;
esac
[ -e second ] && echo "ok 1 - in turn" || echo "not ok 1 - in turn"
echo 1..1
TEST
	chmod +x "$TMP/selftests/$name"
done
mkdir "$TMP/bin"
printf '#!/bin/sh\necho 1\n' >"$TMP/bin/nproc"
chmod +x "$TMP/bin/nproc"
(unset TOP && PATH=$TMP/bin:$PATH "$TMP/selftests/run.sh" 'y/*' 'z/*') >"$TMP/out" 2>&1
is "$(sed -n 's/^\([yz][^ ]*\) .*/\1/p' "$TMP/out" | sort | tr '\n' ' ')" \
	"y/test_1.sh y/test_2.sh y/test_3.sh z/test_4.sh z/test_5.sh " \
	"tests beside each other: each is reported" || diag_file "$TMP/out"
like "$(cat "$TMP/out")" '^5 passed, 0 failed' "  each started in its turn"
like "$(grep '^[yz]/' "$TMP/out" | sed -n '1p')" '^y/test_2' \
	"  the first to end is reported first"
rm -r "$TMP/selftests/z"
rm -r "$y"

if [ -w /dev/kmsg ] && dmesg >/dev/null 2>&1; then
	# a word of its own, as tests around this one read the log, too
	echo "runner of .* complains" >"$TMP/selftests/splats"
	row "1 passed, 1 failed, 0 skipped
status 1" "a splat in the kernel log" <<'ROW'
echo "the runner of selftests complains" >/dev/kmsg
echo "ok 1 - a"; echo 1..1
ROW
	# warning FUNCTION PID: a row that logs a warning
	warning() {
		cat <<ROW
{
	echo "------------[ cut here ]------------"
	echo "the runner of selftests complains at $1+0x1/0x2"
	echo "CPU: 0 PID: $2 Comm: x Not tainted"
	echo "---[ end trace 0000000000000000 ]---"
} | while read -r line; do echo "\$line" >/dev/kmsg; done
echo "ok 1 - a"; echo 1..1
ROW
	}
	# shellcheck disable=SC2016
	setsid sh -c 'echo $$ >"$TMP/other" && exec sleep 60' &
	until [ -s "$TMP/other" ]; do sleep 0.1; done
	other=$(cat "$TMP/other")
	warning uprobe_write "$$" >"$TMP/row"
	row "1 passed, 1 failed, 0 skipped
status 1" "a warning of a process of the tests" <"$TMP/row"
	warning uprobe_write 4194305 >"$TMP/row"
	row "1 passed, 1 failed, 0 skipped
status 1" "a warning of a process that has ended" <"$TMP/row"
	warning uprobe_write "$other" >"$TMP/row"
	row "1 passed, 0 failed, 0 skipped
status 0" "a warning of another session's process is not the test's" <"$TMP/row"
	warning ext4_check_map_extents_env "$$" >"$TMP/row"
	row "1 passed, 0 failed, 0 skipped
status 0" "a known warning of the kernel is not the test's" <"$TMP/row"
	kill "$other"
	echo background=1 >>"$TMP/selftests/x/settings"
	row "1 passed, 0 failed, 0 skipped
status 0" "the log of this kernel is not checked for guests" <<'ROW'
echo "the runner of selftests complains" >/dev/kmsg
echo "ok 1 - a"; echo 1..1
ROW
else
	skip "a splat in the kernel log" "the log can't be read or written"
fi
tap_done
