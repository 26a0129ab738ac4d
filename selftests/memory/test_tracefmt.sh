#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tracefmt where memory runs out, in each of its outputs and with options that
# keep events: it says so, and leaves no file.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/memory/fail_each.sh"
built=${BUILT:-$TOP/build/selftests}/tracefmt
[ -x "$built/make_trace" ] || skip_all "needs $built/make_trace"
unset TRACEFMT_PATH TRACEFMT_PREFIX
export TZ=UTC
export MOST=12

mkdir trace choices page
"$built/make_trace" trace
"$built/make_choices" choices
"$built/make_page" page
(cd trace && "$built/make_calls" calls.ras) <<'SCRIPT'
session 1 1 0 1 0x8001 2 0x8002
1000000100 7 70 1 1 0 "one"
1000000200 7 70 1 2 0 5
1000000300 7 70 1 0x8002 0 "two" 0
1000000400 7 70 1 0x8001 0 3
SCRIPT

for format in text json csv perfetto ctf otlp; do
	each "$format" tracefmt -q --tff trace "--format=$format" \
		-o made/file trace/typed.ras
done
each "html" tracefmt -q --tff page --format=html -o made/file page/page.ras
each "spans" tracefmt -q --tff trace --format=otlp -o made/file \
	trace/calls.ras
for option in --pair --tree --format=line "--calls --format=csv"; do
	# shellcheck disable=SC2086
	each "$option" tracefmt -q --tff trace $option -o made/file \
		trace/calls.ras
done
each "figures" tracefmt --tff trace --summary=pid trace/calls.ras
each "a damaged trace" tracefmt --tff trace trace/sample.ras
each "events that are chosen" tracefmt -q --tff choices --newest-first \
	--last 5 --minor 1 --comm app --field 'len > 6 && name ~ "conf"' \
	--text /a.c/ --since 00:01:35 --type PRE --group MEM,FILE \
	choices/choices.ras
each "events around others" tracefmt -q --tff choices --around 2 \
	--fields time,n,pid,len --field 'fd == 3' choices/choices.ras
each "a form of one's own" tracefmt -q --tff choices \
	--prefix '%{time} %p %{comm} ' --last 3 choices/choices.ras
tap_done
