#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# As many tracepoints as there may be, with their files, in a short time; one
# more is refused; a line of a megabyte is no harm.
. "$(dirname "$0")/../tap.sh"
need cc as timeout
cd "$TMP" || exit 1
awk 'BEGIN {
	for (i = 1; i <= 65535; i++)
		printf ".globl f%d\n.type f%d, @function\n" \
		       "f%d: push %%rbp\nret\n.size f%d, . - f%d\n",
		       i, i, i, i, i
}' >many.s
cc -shared -nostdlib -o many.so many.s || bail "no module"
awk 'BEGIN {
	print "MODNAME=many.so"
	for (i = 1; i <= 65535; i++)
		printf "TRACE MINOR=%d, TP=.f%d, DESC=\"f %d\"," \
		       "FMT=\" %%L %%P%%S\",\n\tREGS=(RAX)," \
		       "ASCIIZ64=(FRDI,DIRECT,32)\n", i, i, i
}' >many.tsf
begin=$(date +%s)
status 0 "65,535 tracepoints" timeout 60 trcust many.tsf
took=$(($(date +%s) - begin))
ok "in $took seconds" test $took -lt 60
is "$(trcust --dump many.tdf | grep -c '^point')" 65535 "all are in the TDF"
echo 'TRACE MINOR=1, TP=.f1' >>many.tsf
rm many.tdf
status 1 "65,536 tracepoints" timeout 60 trcust many.tsf
like "$(cat err)" "^many.tsf:131072:1: fatal: .*TOOMANYRECS" "are too many"
ok "nothing is written" test ! -e many.tdf

{
	echo 'MODNAME=many.so'
	printf 'TRACE TP=.f1, DESC="'
	head -c 1048576 /dev/zero | tr '\0' x
	echo '"'
} >long.tsf
status 1 "a line of a megabyte" timeout 60 trcust long.tsf
like "$(cat err)" "^long.tsf:2:65536: severe: .*LINE_SIZE" "is too long"
ok "the message is short" test "$(wc -c <err)" -lt 1000
tap_done
