#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What --context and `trace spool` put into a file: context and stacks with
# names of addresses, several chunks of a slice with gaps, files of a cycle,
# packed chunks, formats that came along; and a pipe whose records are printed
# as they come.
. "$(dirname "$0")/../tap.sh"

make_spool=${BUILT:-$TOP/build/selftests}/tracefmt/make_spool
golden=$TOP/selftests/tracefmt/golden
[ -x "$make_spool" ] || skip_all "needs $make_spool"
unset TRACEFMT_PATH
cd "$TMP" || exit 1
mkdir tff here
"$make_spool" here && mv here/TRC00C7.TFF tff

status 0 "records with context" tracefmt --utc -q --tff tff here/context.ras
ok "the text is that of golden/context.txt" diff -u "$golden/context.txt" out
status 0 "without their format" tracefmt --utc -q here/context.ras
is "$(grep -c '^Comm' out) $(grep -c '^Data' out)" "3 5" \
	"context is text, data is hex"
status 0 "the figures" tracefmt --utc --summary --tff tff here/context.ras
is "$(wc -l <out)" 7 "have no reasons where there are none"

# figures: hits, recorded, present, overwritten and filtered
figures() {
	awk 'n { print $3, $4, $5, $6, $7; exit } /^Major/ { n = 1 }' err
}
minors() {
	sed -n 's/.*Time \[\([^]]*\)\].*/\1/p' out
}

# a cycle
status 0 "the older file" tracefmt --utc --tff tff here/spool.ras.1
is "$(minors)" "23:59:51.000000000
23:59:52.000000000
23:59:53.000000000
23:59:53.000000001
23:59:56.000000000
23:59:57.000000000" "its chunks come in the order of time"
is "$(figures)" "28 8 6 2 20" "counters that are ahead claim no loss"
like "$(cat err)" "^2 records overwritten before they were spooled, in 1 place$" \
	"the gap is reported"
like "$(cat err)" "^Complete from 23:59:56.000000000 on, .* CPU 0 after its last gap$" \
	"and from when on it is complete"
status 0 "the newer file" tracefmt --utc --tff tff here/spool.ras
is "$(figures)" "13 4 4 0 9" "its figures are those of its time"
like "$(cat err)" "^Complete from 23:59:59.000000000 on, where the file before it ended$" \
	"it says where it begins"
like "$(cat err)" "^  199      1  filtered: 9 process$" "and why hits are missing"

# formats
status 0 "a bundle" tracefmt --utc -q here/bundle.ras
like "$(cat out)" "^name = name$" "is printed by what it brings"
status 0 "the same, strictly" tracefmt --strict -q here/bundle.ras

# packed
for method in zlib zstd; do
	"$make_spool" here $method context.ras spool.ras.1 bundle.ras
	case $? in
	0)	;;
	4)	skip "packed by $method" "it isn't here"
		continue ;;
	*)	not_ok "packed by $method" ;;
	esac
	ok "$method makes it smaller" test "$(wc -c <here/$method.context.ras)" \
		-lt "$(wc -c <here/context.ras)"
	status 0 "packed by $method" \
		tracefmt --utc -q --tff tff here/$method.context.ras
	ok "it is printed alike" diff -u "$golden/context.txt" out
	status 0 "a spool packed by $method" \
		tracefmt --utc --tff tff here/$method.spool.ras.1
	is "$(figures)" "28 8 6 2 20" "has the same figures"
	status 0 "a bundle packed by $method" \
		tracefmt --utc --strict -q here/$method.bundle.ras
	head -c -100 here/$method.context.ras >cut.ras
	status 1 "cut in a packed chunk" tracefmt cut.ras
	like "$(cat err)" "the end: the file was cut short" "is reported"
done

# a pipe: what a pass has closed is printed while the rest isn't there yet
mkfifo pipe
: >piped
tracefmt --utc -q --tff tff - <pipe >piped &
reader=$!
exec 3>pipe
size=$(wc -c <here/spool.ras.1)
head -c 1200 here/spool.ras.1 >&3
tries=0
while [ "$(grep -c '^Event' piped)" -lt 3 ] && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
is "$(grep -c '^Event' piped)" 3 "records of a pipe are printed as they come"
tail -c $((size - 1200)) here/spool.ras.1 >&3
exec 3>&-
ok "the pipe ends" wait $reader
tracefmt --utc -q --tff tff here/spool.ras.1 >whole
ok "it was printed as the file is" diff -u whole piped
cat here/spool.ras.1 here/spool.ras >both
status 1 "a file after the end of another" tracefmt both
like "$(cat err)" "lost or damaged: .* after the end chunk" "is reported"
status 1 "in a pipe" sh -c 'cat both | tracefmt -'
like "$(cat err)" "lost or damaged: .* after the end chunk" "of a pipe, too"
tap_done
