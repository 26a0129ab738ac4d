#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The heap monitoring text: the document's example comes back as it is; crawls,
# types, old blocks; the banners of a corrupt heap; lines that are none.
. "$(dirname "$0")/../tap.sh"
cd "$TMP" || exit 1

convert() {
	heapmon convert --to monitor "$@" 2>err
}

# The example of "Heap monitoring file format" (Taligent, 1995)
crawl="TArrayIterator::~TArrayIterator()|THybridNumerals::AddFormattingPairAbsolutely(unsigned short,long)|TTieredTextBuffer::operator<<(const long)|TLocalHeapMonitorTest::ShowMem(void*,long)"
cat >example <<END
Thread      Time of event       Address     Size    Type            Stack crawl
2-22982     759537687555872     0xb2362718  del     TIterator       $crawl
2-22982     759537687558595     0xb2362950  12      novtbl          THybridNumber...
0-0         old                 0xb24020d0  48      TLocalSemaphore
END
status 0 "the document's example" heapmon convert --to monitor example
ok "  is written as it was" cmp out example || diag_file out
is "$(cat err)" "heapmon: monitor: the functions that allocate and free, and \
source lines are left out" "  and nothing else is reported"
sed 's/^/      /' example >indented
ok "as it is printed there, too" test "$(convert indented)" = "$(cat example)"
sed "s/   */$(printf '\t')/g" example >tabbed
convert tabbed >out
ok "with tabs" cmp out example || diag_file out
sed "s/\$/ $(printf '\r')/" example >returned
convert returned >out
ok "with carriage returns" cmp out example || diag_file out

# Names that separators are part of
cat >text <<'END'
7-7         1000                0x1000      8       novtbl          Set::operator|(Set)|main
7-7         2000                0x1000      del     notype          Set::operator|=(Set)|operator||(A, B)|main
7-7         3000                0x2000      8       novtbl          f(decltype (a|b))|Set::operator()(int)|main
7-7         4000                0x2000      del     novtbl          operator<< <char>(int)|(anonymous namespace)::f(int)
7-7         5000                0x3000      8       novtbl          broken(int|main|start
END
convert text >out
sed 1d out >lines
ok "operators with bars are names" cmp lines text || diag_file out
heapmon convert --to collapsed --value alloc_objects text >out 2>err
is "$(cat out)" "main;Set::operator|(Set) 1
main;Set::operator()(int);f(decltype (a|b)) 1
start;main;broken(int 1" "  and each is one name"

# Types: one word
cat >text <<'END'
7-7 old 0x1000 8 std::map<int, Pair<char, unsigned long> >
7-7 1 0x1000 del std::map<int, Pair<char, unsigned long> > main()
7-7 2 0x2000 8 novtbl main() | start
7-7 3 0x2000 del A<(B)1> main()
END
convert text >out
is "$(awk 'NR > 1 { print NF, $5 ":" $6 }' out)" \
	"5 std::map<int,Pair<char,unsigned_long>>:
6 std::map<int,Pair<char,unsigned_long>>:main()
6 novtbl:main()|start
6 A<(B)1>:main()" "a type is one word"
convert out >again
ok "  and is read as one" cmp out again
like "$(cat out)" '^0-0  *old ' "an old block is of no thread"
heapmon convert --to tracker -o stream text 2>err
unlike "$(cat err)" "never seen" "  but of the process that frees it"
printf '%s\n' '0-0 old 0x1000 8 novtbl' '7-7 1 0x1000 del novtbl f()' >text
heapmon convert --to tracker -o stream text 2>err
unlike "$(cat err)" "never seen|other processes" "  also when no line names the process"
printf '7-7 1 0x1000 del \001 f()\n' >text
is "$(convert text | awk 'NR == 2 { print $5, $6 }')" "notype f()" \
	"a type of nothing that can be written is none"

# A heap that becomes corrupt
cat >text <<'END'
Thread      Time of event       Address     Size    Type            Stack crawl
7-7         1000                0x1000      8       novtbl          f()|main
*********************************************************
*** Tree heap corrupt with error 5.
*********************************************************
*7-7        2000                0x2000      16      novtbl          g()|main
* 7-8       3000                0x1000      del     notype          main
*** 12 events lost
*** some events lost
END
status 0 "of a corrupt heap" heapmon convert --to monitor text
cat >expected <<'END'
Thread      Time of event       Address     Size    Type            Stack crawl
7-7         1000                0x1000      8       novtbl          f()|main
7-7         2000                0x2000      16      novtbl          g()|main
7-8         3000                0x1000      del     notype          main
*** 12 events lost
*** some events lost
END
ok "  all events are read" cmp out expected || diag_file out
like "$(cat err)" "line 4 says: Tree heap corrupt with error 5\\.$" \
	"  the banner is reported"
is "$(grep -c says err)" 1 "  and no line of stars"
like "$(cat err)" "an unknown number of events" "  and that some are missing"
sed 1,2d text >middle
ok "beginning in the middle, it is known" convert -o out middle

# From other formats
printf '\001\0\0\0\0\020\0\0\0\0\0\0' >stream
status 0 "without times" heapmon convert --from tracker \
	--from-bits 64 --from-endian little --to monitor stream
like "$(cat err)" "times are not known: they are the numbers" "  it is reported"
is "$(sed -n 2p out)" \
	"0-0         1                   0x1000          del     notype" \
	"  an address of 64 bits has more room"

# A block of 8 bytes that is resized to 16, moves, and is freed
{
	printf 'MTRC\001\0\0\0\0\0\0\0\241\050\0\0\0\0\0\0'
	printf 'A\001\200\040\010R\001\200\100\020F\001MTRC'
} >trace
status 0 "a block that is resized" heapmon convert --to monitor trace
is "$(sed 1d out | awk '{ print $2, $3, $4 }')" "1 0x1000 8
2 0x1000 del
2 0x2000 16
3 0x2000 del" "  is deleted, and allocated again"
status 0 "as memory tracker stream" heapmon convert --to tracker -o out trace
is "$(od -An -v -tx4 -w4 out | sed 's/ //' | grep -c '^0000[12]000$')" 4 \
	"  as well"

# Thread 2 gets the block before thread 1's resize, which moved it, has returned
{
	printf 'MTRC\001\0\0\0\0\0\0\0\005\051\0\0\0\0\0\0'
	printf 'A\001\200\040\010\001\0\0\0A\002\200\040\004\002\0\0\0'
	printf 'R\001\200\100\020\001\0\0\0F\002\002\0\0\0MTRC'
} >trace
status 0 "a block that was another's already" heapmon convert --to monitor trace
is "$(sed 1d out | awk '{ print $1, $3, $4 }')" "0-1 0x1000 8
0-2 0x1000 4
0-1 0x2000 16
0-2 0x1000 del" "  isn't deleted by the resize"

# Lines that are none
cat >text <<'END'
7-7 1 0x1000 8 novtbl main
7-7 99999999999999999999 0x1000 8 novtbl main
7-7 2 1000 8 novtbl main
7-7 2 0x 8 novtbl main
7-7 2 0x11112222333344445 8 novtbl main
7-7 2 0x1000 -8 novtbl main
7-7 2 0x1000 99999999999999999999 novtbl main
7-7 2 0x1000 8
7 2 0x1000 8 novtbl main
4294967296-7 2 0x1000 8 novtbl main
7-7 old 0x1000 del novtbl
-7 2 0x1000 8 novtbl
7- 2 0x1000 8 novtbl
words
7-7 3 0x2000 8 novtbl main
END
status 1 "lines that are none" heapmon convert --to monitor text
is "$(grep -c 0x out)" 2 "  are left out, the others read"
is "$(grep -c "is no event$" err)" 10 "  the first ten are reported"
like "$(cat err)" "3 more lines are no events" "  of the others how many"
like "$(cat err)" "'text' is damaged: what could be read" "  and what came of it"
status 1 "prose" sh -c 'echo some words | heapmon convert --to monitor -'
status 1 "  also with --from monitor" sh -c \
	'echo some words | heapmon convert --from monitor --to monitor -'
printf '7-7 1 0x1000 8 novtbl a\0b|c\033[31m\n7-7 2 0x10' >text
status 1 "bytes of any kind" heapmon convert --to monitor text
unlike "$(cat out)" "$(printf '\033')" "  no terminal obeys"
like "$(cat err)" "the last line has no end" "a cut line is reported"
printf '7-7 1 0x1000 8 novtbl a\n7-7 2 0x1000 16 novtbl mai' >text
status 1 "cut in a crawl" heapmon convert --to monitor text
is "$(grep -c 0x out)" 2 "  what there is is written"
is "$(heapmon report --json -s summary text 2>/dev/null |
	grep -o '"damaged": *[0-9]*' | tr -dc 0-9)" 1 "  one place is damaged"
tap_done
