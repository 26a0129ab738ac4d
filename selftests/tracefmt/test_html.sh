#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# --format=html makes one page that needs nothing else, keeps what is in the
# trace from running, and works in a browser: by clicks, keys and its picture.
. "$(dirname "$0")/../tap.sh"

here=$TOP/selftests/tracefmt
cd "$TMP" || exit 1
mkdir tff
"${BUILT:-$TOP/build/selftests}/tracefmt/make_page" "$TMP"
mv TRC00C5.TFF tff

# page NAME TRACE...: NAME.html
page() {
	page_name=$1
	shift
	tracefmt -q --utc --tff tff --format=html -o "$page_name.html" "$@"
}

# what is JSON in the page
data() {
	sed -n '/<script type="application\/json"/,/<\/script>/p' "$1.html"
}

# kept NAME: how many events are in its tiles
kept() {
	sed -n 's/.*class="tile">\([0-9]*\) .*/\1/p' "$1.html" |
		awk '{ sum += $1 } END { print sum + 0 }'
}

status 0 "a page" page page page.ras
is "$(cat "$TMP/out" "$TMP/err")" "" "nothing else is reported"
status 0 "on standard output" tracefmt -q --utc --tff tff --format=html page.ras
is "$(sed 's/nonce[=-]["A-F0-9]*//g' "$TMP/out" | cksum)" \
	"$(sed 's/nonce[=-]["A-F0-9]*//g' page.html | cksum)" "is the same"
is "$(grep -c '<script' page.html)" "$(grep -c '</script>' page.html)" \
	"each script element has its end"
is "$(grep -c '<script' page.html)" 3 "and there are three of them"
is "$(sed -n '/class="tile"/,/<\/script>/p' page.html | sed '1d;$d' |
	grep -cv '^[A-Za-z0-9+/]*=*$')" 0 "what isn't JSON is base64"
is "$(data page | sed '1d;s/<script type.*//;s/<\/script>//' | grep -c '<')" \
	0 "data has no <"
unlike "$(cat page.html)" '(src|href|url|import)[ (=]*["'"'"']?(https?:|//)' \
	"nothing is loaded from elsewhere"
like "$(cat page.html)" "default-src 'none'" "nor may it be"
is "$(kept page)" 12 "each event is there"
for part in '<main>' 'role="tablist"' 'role="grid"' 'aria-live="polite"' \
	'@media print' 'data-theme="dark"' '<noscript>'; do
	like "$(cat page.html)" "$part" "the page has $part"
done
if iconv -f UTF-8 -t UTF-8 page.html >/dev/null 2>&1; then
	pass "it is UTF-8"
else
	not_ok "it is UTF-8"
fi

# what was chosen only
status 0 "chosen events" page chosen --cpu 0 page.ras
is "$(kept chosen)" 5 "are those in the page"
status 2 "another order than that of time" page order --newest-first page.ras
status 2 "some fields only" page fields --fields n page.ras
like "$(cat "$TMP/err")" "a page has all fields" "and the message says why"
status 1 "no place for events" env TMPDIR=/nowhere \
	tracefmt -q --tff tff --format=html page.ras
like "$(cat "$TMP/err")" "cannot keep events in a file of TMPDIR" \
	"is reported"
status 1 "a full disk" sh -c \
	"tracefmt -q --tff tff --format=html page.ras >/dev/full"

# a damaged file
head -c "$(($(wc -c <page.ras) - 400))" page.ras >cut.ras
status 1 "a damaged file" page cut cut.ras
like "$(data cut)" '"damage":\["' "the page says so"
is "$(($(kept cut) > 0))" 1 "and has what is readable"

# more than a page holds
"${BUILT:-$TOP/build/selftests}/tracefmt/make_page" "$TMP" 260000
mv TRC00C5.TFF tff
status 0 "1040000 events" page many many.ras
is "$(kept many)" 1000000 "1000000 of them are in the page"
is "$(data many | sed -n 's/^{"given":\([0-9]*\),"kept":\([0-9]*\),.*/\1 \2/p')" \
	"1040000 1000000" "and how many there are"
is "$(($(wc -c <many.html) < 20000000))" 1 "in less than 20 bytes each"

if ! command -v python3 >/dev/null; then
	skip "what is in the tiles, and the page in a browser" "needs python3"
	tap_done
fi
export PYTHONDONTWRITEBYTECODE=1
# The events of page.ras, and 1000000 of many.ras
rows() {
	python3 "$here/page_rows.py" "$1.html" | grep -v '^tile'
}
rows page | python3 -c 'import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print([row[k] for k in ("number", "time", "cpu", "pid", "tid", "comm",
                            "values")])
' >by_page
tracefmt -q --tff tff --format=json page.ras | python3 -c 'import json, sys
for line in sys.stdin:
    row = json.loads(line)
    first = row["time_ns"] if row["event"] == 1 else first
    print([row["event"], row["time_ns"] - first] +
          [row[k] for k in ("cpu", "pid", "tid", "comm")] +
          [list(row["fields"].values())])
' >by_json
is "$(wc -l <by_page)" 12 "a reader of tiles finds 12 events"
ok "they are those of --format=json" diff by_page by_json
rows many >by_page
is "$(wc -l <by_page)" 1000000 "a reader of tiles finds 1000000 events"
like "$(sed -n '1p' by_page)" '^\{"number": 40001,' "from the oldest kept one"
like "$(sed -n '$p' by_page)" '^\{"number": 1040000,' "to the newest"

# in the browser
chromium=
for program in chromium chromium-browser google-chrome; do
	[ -n "$chromium" ] || chromium=$(command -v "$program")
done
if [ -z "$chromium" ]; then
	skip "the page in a browser" "needs chromium"
	tap_done
fi
"${BUILT:-$TOP/build/selftests}/tracefmt/make_hostile" . -1000000000000000
status 0 "hostile.ras" tracefmt -q --utc --tff . --format=html -o hostile.html \
	hostile.ras
for expression in 'wide > 1' 'wide <= 0.1' 'wide != 1' 'wide == 0' \
	'wide + 1 > 1' '!wide' 'u == 9007199254740993' 'd < 0' 'u > d' \
	'u == 18446744073709551615' 'u >> 63' 'd * 2 < 0' 'how == -7' \
	'how != "@x"' 'how > "A"' 'chars == "=1+1"' 'chars ~ "1"' 's > 1' \
	's != 5' 's ~ "^$"' 'time < 0' 'two_words_2 == 5'; do
	numbers=$(tracefmt -q --tff . --format=csv --fields event \
		--field "$expression" hostile.ras | sed 1d | tr -d '\r')
	printf '%s\t%s\n' "$expression" "$(echo $numbers)"
done >chosen
mkdir pictures
python3 "$here/check_page.py" "$chromium" \
	page.html many.html hostile.html chosen pictures >checks 2>errors || diag_file errors
while read -r line; do
	case $line in
	"ok "*)		pass "${line#ok }" ;;
	"not ok "*)	not_ok "${line#not ok }" ;;
	esac
done <checks
is "$(tail -n 1 checks)" "done" "all was checked"
tap_done
