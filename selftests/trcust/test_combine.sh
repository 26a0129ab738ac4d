#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Several TFFs become one (manual 1.2.1): sections stay, the first of several
# entries with the same minor code stays, what can't be read ends it.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/combine.sh"
need cc
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
mkdir a b c d

# The sections and entries of a TFF, one a line
entries() {
	trcust --dump "$1" | sed -nE \
		-e 's/^section [0-9]+: name "([^"]*)".*/\1/p' \
		-e 's/^ +entry ([0-9]+) .*/\1/p' | tr '\n' ' '
}
tff a/TRC0009.TFF 9 7 30
tff b/TRC0009.TFF 9 2 40
tff c/TRC0009.TFF 9 9
trcust --dump a/TRC0009.TFF >a.dump
printf 'a/TRC0009.TFF b\\TRC0009.TFF\r\n\tC:c/TRC0009.TFF \n\032' >list
status 0 "three files" trcust list /C=all.TFF
is "$(entries all.TFF)" \
	"b/TRC0009.TFF 2 40 a/TRC0009.TFF 7 30 c/TRC0009.TFF 9 " \
	"in ascending order of minor codes"
cp all.TFF slash.TFF
status 0 "--combine" trcust list --combine all.TFF
ok "is the same" cmp all.TFF slash.TFF
status 0 "-C" trcust -Call.TFF list
ok "and so is the same twice" cmp all.TFF slash.TFF
echo 'a/TRC0009.TFF' >list
status 0 "one file" trcust list /C=one.TFF
trcust --dump one.TFF >one.dump
is "$(sed 1d one.dump)" "$(sed 1d a.dump)" "becomes itself"

# Duplicates
tff c/TRC0009.TFF 9 2 7 9
printf 'a/TRC0009.TFF\nb/TRC0009.TFF\nc/TRC0009.TFF\n' >list
status 0 "duplicates" trcust list /C=all.TFF
is "$(grep -c DUP_TFFMINOR err)" 2 "are reported"
like "$(cat err)" "^list:3:1: warning: .* = 2 in file c/TRC0009.TFF," "with place"
like "$(cat err)" "'b/TRC0009.TFF' in 'b/TRC0009.TFF' is kept" "and the first"
is "$(entries all.TFF)" \
	"b/TRC0009.TFF 2 40 a/TRC0009.TFF 7 30 c/TRC0009.TFF 9 " \
	"the first ones stay"
status 0 "/W0" trcust list /C=all.TFF /W0
is "$(cat err)" "" "is silent about them"
echo 'a/TRC0009.TFF a/TRC0009.TFF' >list
status 0 "a file twice" trcust list /C=all.TFF
is "$(entries all.TFF)" "a/TRC0009.TFF 7 30 " "is there once"

# The destination as a source
cp a/TRC0009.TFF all.TFF
echo 'all.TFF b/TRC0009.TFF' >list
status 0 "into one of the files" trcust list /C=all.TFF
is "$(entries all.TFF)" "b/TRC0009.TFF 2 40 a/TRC0009.TFF 7 30 " "both are there"
cp all.TFF kept.TFF

# Dynamic tracepoints: what is logged, its types, the module
echo 'struct s { int a; char b[4]; } s; int f(struct s *p) { return p->a; }' |
	cc -O1 -g -shared -fPIC -x c - -o dyn.so || bail "no module"
cat >dyn.tsf <<'END'
MODNAME=dyn.so
MAJOR=9
TYPELIST NAME=PRE,ID=1
GROUPLIST NAME=GRP,ID=300
TRACE MINOR=1, TP=.f, TYPE=(PRE), GROUP=GRP, DESC="f", VARS=(*p)
END
ok "a dynamic one" trcust dyn.tsf -o d
trcust --dump d/TRC0009.TFF >d.dump
echo 'd/TRC0009.TFF' >list
status 0 "alone" trcust list /C=one.TFF
is "$(trcust --dump one.TFF | sed 1d)" "$(sed 1d d.dump)" \
	"keeps types, groups and C types"
echo 'b/TRC0009.TFF d/TRC0009.TFF' >list
status 0 "with another" trcust list /C=one.TFF
like "$(trcust --dump one.TFF)" "struct s" "keeps them, too"

# Nothing is written
refused() {
	name=$1 text=$2
	cp kept.TFF all.TFF
	status 1 "$name" trcust list /C=all.TFF
	like "$(cat err)" "fatal: .*$text" "$name: is reported"
	ok "$name: the file is as it was" cmp kept.TFF all.TFF
}
printf 'a/TRC0009.TFF b/none.TFF' >list
refused "a file that isn't there" COMBINE_PATH
printf 'a/TRC0009.TFF b' >list
refused "a directory" COMBINE_PATH
tff b/TRC000A.TFF 10 1
printf 'a/TRC0009.TFF b/TRC000A.TFF' >list
refused "another major" DIF_MAJOR
head -c 100 a/TRC0009.TFF >b/damaged.TFF
printf 'a/TRC0009.TFF b/damaged.TFF' >list
refused "a damaged file" FILE_READ
i=0
while [ $i -lt 51 ]; do
	echo a/TRC0009.TFF
	i=$((i + 1))
done >list
refused "51 files" TOOMANYTFF
head -n 50 list | sed '2,$s/.*/kept.TFF/' >fifty
cp kept.TFF all.TFF
status 0 "50 files" trcust fifty /C=all.TFF
unlike "$(cat err)" "fatal" "are not too many"
echo 'a/TRC0009.TFF' >list
status 1 "a destination that can't be" trcust list /C=nowhere/all.TFF
like "$(cat err)" "FILE_OPEN" "is reported"
cp dyn.tsf dyn.kept
status 1 "a destination that is no TFF" trcust list /C=dyn.tsf
like "$(cat err)" "FILE_ACCESS" "is reported"
ok "and stays as it is" cmp dyn.tsf dyn.kept
is "$(echo ./*.TFF.*)" "./*.TFF.*" "nothing is left over"
mkdir path
cp list path/far
status 1 "a list that is nowhere" trcust far /C=all.TFF
status 0 "a list along TRCUST_PATH" env TRCUST_PATH=path trcust far /C=all.TFF
tap_done
