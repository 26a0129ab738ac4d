#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# heapmon report --html makes one page that needs nothing else and keeps what is
# in the file from running; its flame graph works in a browser.
. "$(dirname "$0")/../tap.sh"

here=$TOP/selftests/heapmon
cd "$TMP" || exit 1
cat >some.txt <<'END'
10-11  1000000  0x1000  100  novtbl  leak(int)|main
10-11  2000000  0x2000  200  novtbl  leak(int)|main
10-11  2000000  0x3000  100  novtbl  keep()|main
10-11  3000000  0x4000  600  novtbl  temp<char>(int)|work()|main
10-11  4000000  0x4000  del  novtbl  drop()|main
END
# the same program later: one leak less, one more; a stack that ends early
cat >other.txt <<'END'
10-11  1000000  0x1000  100  novtbl  leak(int)|main
10-11  2000000  0x3000  300  novtbl  keep()|main
10-11  2500000  0x5000  200  novtbl  deep()|far()|(stopped: as deep as asked for)
END
printf '%s\n' "10-11 1 0x1000 9 novtbl \"'</script><script>alert(1)</script>|<!--" \
	>hostile.txt

status 0 "a page" heapmon report --html --from monitor -o some.html some.txt
is "$(cat out err)" "" "nothing else is printed"
heapmon report --html --from monitor some.txt >out
is "$(sed 's/nonce[=-]["a-f0-9]*//g' out | cksum)" \
	"$(sed 's/nonce[=-]["a-f0-9]*//g' some.html | cksum)" \
	"the same on standard output"
heapmon report --html --from monitor -o hostile.html hostile.txt
status 0 "of two files" heapmon report --html --diff --from monitor \
	-o changed.html some.txt other.txt
heapmon report --html --from monitor -o other.html other.txt
while read -r page scripts; do
	is "$(grep -c '<script' "$page.html")" "$scripts" "$page: script elements"
	is "$(grep -c '</script>' "$page.html")" "$scripts" "$page: and their ends"
	is "$(sed -n '/id="report">/,/<\/script>/p' "$page.html" |
		sed '1d;$d' | grep -c '<')" 0 "$page: data has no <"
done <<'END'
some 2
hostile 2
changed 3
END
for part in '<main id="graph" role="tree"' 'aria-live="polite"' '@media print' \
	'data-theme="dark"' '<noscript>'; do
	like "$(cat some.html)" "$part" "the page has $part"
done
unlike "$(cat some.html)" '(src|href|url|import)[ (=]*["'"'"']?(https?:|//)' \
	"nothing is loaded from elsewhere"
like "$(cat some.html)" "default-src 'none'" "nor may it be"

chromium=
for program in chromium chromium-browser google-chrome; do
	[ -n "$chromium" ] || chromium=$(command -v "$program")
done
if [ -z "$chromium" ] || ! command -v python3 >/dev/null; then
	skip "the page in a browser" "needs chromium and python3"
	tap_done
fi
PYTHONDONTWRITEBYTECODE=1 python3 "$here/check_flame.py" "$chromium" \
	some.html hostile.html changed.html other.html . >checks 2>errors || diag_file errors
while read -r line; do
	case $line in
	"ok "*)		pass "${line#ok }" ;;
	"not ok "*)	not_ok "${line#not ok }" ;;
	esac
done <checks
is "$(tail -n 1 checks)" "done" "all was checked"
tap_done
