#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The runner counts what tests say, and believes only what is said in full.
. "$(dirname "$0")/../tap.sh"

mkdir -p "$TMP/selftests/x"
cp "$TOP/selftests/run.sh" "$TOP/selftests/splats" "$TMP/selftests/"
echo timeout=1 >"$TMP/selftests/x/settings"

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
echo "ok 1 - a"; echo 1..1; exec sleep 20
ROW
row "0 passed, 1 failed, 0 skipped
status 1" "a test that is killed" <<'ROW'
kill -SEGV $$
ROW

# What may run beside others begins when there is room: the first of these ends
# when the third has begun.
y=$TMP/selftests/y
mkdir "$y"
printf 'timeout=20\njobs=2\n' >"$y/settings"
for name in 1 2 3; do
	cat >"$y/test_$name.sh" <<'TEST'
#!/bin/sh
cd "$(dirname "$0")"
case ${0##*/} in
test_1.sh)	until [ -e third ]; do sleep 0.1; done ;;
test_2.sh)	: >second ;;
test_3.sh)	: >third ;;
esac
[ -e second ] && echo "ok 1 - in turn" || echo "not ok 1 - in turn"
echo 1..1
TEST
	chmod +x "$y/test_$name.sh"
done
(unset TOP && "$TMP/selftests/run.sh" 'y/*') >"$TMP/out" 2>&1
is "$(sed 's/ .*//' "$TMP/out" | tr '\n' ' ')" \
	"y/test_1.sh y/test_2.sh y/test_3.sh 3 " "two at a time, told in order" ||
	diag_file "$TMP/out"
like "$(cat "$TMP/out")" '^3 passed, 0 failed' "the third one beside the first"
rm -r "$y"

if [ -w /dev/kmsg ] && dmesg >/dev/null 2>&1; then
	# a word of its own, as tests around this one read the log, too
	echo "runner of .* complains" >"$TMP/selftests/splats"
	row "1 passed, 1 failed, 0 skipped
status 1" "a splat in the kernel log" <<'ROW'
echo "the runner of selftests complains" >/dev/kmsg
echo "ok 1 - a"; echo 1..1
ROW
else
	skip "a splat in the kernel log" "the log can't be read or written"
fi
tap_done
