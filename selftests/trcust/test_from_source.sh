#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Trace comments of sources become a TSF that compiles: where they are, what
# is filled in, and what only looks like one.
. "$(dirname "$0")/../tap.sh"
need cc
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
mkdir src

# made SOURCE EXPECTED NAME: the TSF's TRACE lines and what follows them, the
# blanks at the beginning of lines taken away
made() {
	printf '%s\n' "$1" >a.c
	trcust --from-source --modname=x a.c 2>err |
		sed -n '/^TRACE/,$p' | sed -E '/^(; .*)?$/d; s/^ +//' >got
	is "$(cat got)" "$2" "$3"
}

made '/***DT DESC="d"*/
x = 1;' 'TRACE TP=@a.c,2,
DESC="d"' "the line after the comment"
made '/***DT DESC="d"*/ x = 1;' 'TRACE TP=@a.c,1,
DESC="d"' "the same line"
made '/***DT*/ x;' 'TRACE TP=@a.c,1,' "nothing but the place"
made '/***DT

*/
/* x */ // y

#define z \
	w
{
	;
	x = 1;' 'TRACE TP=@a.c,10,' "what is no code is passed over"
made '/***DT TP=.f*/' 'TRACE
TP=.f' "a place of its own"
made '/***DT REGS=(AX), tp = @b.c,7*/ x' 'TRACE
REGS=(AX), tp = @b.c,7' "in either case"
made '/***DT IF=(TP == 1), DESC="TP="*/ x' 'TRACE TP=@a.c,1,
IF=(TP == 1), DESC="TP="' "TP is not one where it isn't the keyword"
made '/***DT
 * TYPE=(PRE),
 *	DESC="d",
 *
 * MEM32=(.a,INDIRECT
 * *+4,4)
 */ x' 'TRACE TP=@a.c,7,
TYPE=(PRE),
DESC="d",
MEM32=(.a,INDIRECT
*+4,4)' "stars that begin lines are no part"
made '/***DT A=1 */
/***DT B=2 */
x' 'TRACE TP=@a.c,3,
A=1
TRACE TP=@a.c,3,
B=2' "two of them"
made '/***DT MINOR=1*/ x /***DT A=1*/ y /***DT MINOR=3*/ z /***DT B=2*/ w' \
	'TRACE TP=@a.c,1,
MINOR=1
TRACE MINOR=2, TP=@a.c,1,
A=1
TRACE TP=@a.c,1,
MINOR=3
TRACE MINOR=4, TP=@a.c,1,
B=2' "free minor codes where some are given"
made '/***DT ; "comment"
A=1 */ x' 'TRACE TP=@a.c,2,
; "comment"
A=1' "comments of a TSF"
made "/***DT IF=(c == '\"')*/ x" "TRACE TP=@a.c,1,
IF=(c == '\"')" "a character constant"

# What only looks like one
for source in '"/***DT A*/"' "'\"' \"/***DT A*/\"" '// /***DT A*/' \
	'// \
/***DT A*/' '"\"/***DT A*/"' 'R"x(")/***DT A*/)x"' \
	'u8R"(/***DT A*/)"' "1'000 \"/***DT A*/\"" '/* /***DT A*/' \
	'/***DTX A*/' '/**DT A*/' '/***dt A*/' '/***DTHEADER A*/'; do
	printf '%s x\n' "$source" >a.c
	status 1 "none: $(echo "$source" | tr '\n' ' ')" \
		trcust --from-source --modname=x a.c
	is "$(cat out)" "" "nothing is printed"
	like "$(cat err)" "TRCERR_UNEXPECTEDEOF" "which is reported"
done
made "R\"(\")\" '\\\\' \"\\\\\" 1'0 L'\\''; /***DT A*/ x" 'TRACE TP=@a.c,1,
A' "after literals"
printf '#define A "\r\n/***DT A=1*/ x' >a.c
trcust --from-source --modname=x a.c >out
like "$(cat out)" '@a.c,2' "after a lone quote in a directive"

# The head
cat >src/srv.c <<'END'
/***DTHEAD
 * MODNAME=./nothing, MAJOR = 0x22,
 * TYPELIST NAME=PRE,ID=1
 */
int work(int a);
int work(int a)
{
	/***DT TYPE=(PRE), DESC="work", VARS=(a) */
	return a + 1;
}
/***DT TP=.main+0, DESC="main" */
int main(int argc, char **argv)
{
	argc = work(argc);
	/***DT DESC="before", REGS=(RSP) */
	return work(argc) + argc;
}
END
cc -O1 -g -fno-inline -o srv src/srv.c || bail "the source does not compile"
trcust --from-source src/srv.c >srv.tsf
like "$(cat srv.tsf)" "^ *MODNAME=./nothing, MAJOR = 0x22,$" "the head"
status 0 "options" trcust --from-source --modname ./srv --major 0x23 src/srv.c
is "$(grep -cE 'MODNAME|MAJOR' out)" 2 "take the place of the head's"
like "$(cat out)" 'MODNAME="./srv"' "MODNAME"
like "$(cat out)" 'MAJOR=35' "MAJOR"
cp out srv.tsf
status 0 "it compiles" trcust srv.tsf
is "$(grep -v '^ ' err | grep -v SLOWSITE)" "" \
	"without a message, but that probes are slow"
is "$(trcust --dump srv.tdf | grep -c '^point')" 3 "all tracepoints are there"
status 0 "into a file" trcust --from-source --modname ./srv --major 0x23 \
	-o made.tsf src/srv.c
is "$(cat out)" "" "nothing is printed"
ok "it is the same" cmp srv.tsf made.tsf
status 1 "a file that can't be" trcust --from-source -o no/x.tsf src/srv.c

# Names
cp src/srv.c 'src/a b.c'
trcust --from-source 'src/a b.c' >out
like "$(cat out)" '@"src/a b.c",9,' "a name with a blank"
trcust --from-source "./src/srv.c" >out
like "$(cat out)" '@src/srv.c,9,' "a name below the current directory"
trcust --from-source "$TMP/src/srv.c" >out
like "$(cat out)" '@srv.c,9,' "a name elsewhere"
cp src/srv.c 'q"uote.c'
status 1 "a quote" trcust --from-source 'q"uote.c'
like "$(cat err)" "TRCERR_BADPARM" "is reported"
like "$(cat out)" 'TP=.main.0' "the others are printed"
echo '/***DT A=1 */ x' >b.c
status 0 "two files" trcust --from-source src/srv.c b.c
like "$(cat out)" 'TP=@b.c,1,' "both are in it"
status 1 "no such file" trcust --from-source nowhere.c
like "$(cat err)" "TRCERR_NO_FILE" "is reported"
tap_done
