#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The memory tracker's stream: each of its four forms is recognized and read;
# what heapmon writes is the same to an independent reader; the streams of
# librastrace, for 32 bits, too; cut and damaged ones.
. "$(dirname "$0")/../tap.sh"
need python3
stream=$(cd "$(dirname "$0")" && pwd)/tracker_stream.py
programs=${BUILT:-$TOP/build/selftests}/heapmon
cd "$TMP" || exit 1

# to_lines FILE [OPTION...]: as heap monitoring text, without times
to_lines() {
	heapmon convert --to monitor "$@" 2>err |
		sed '1d; /^\*/!s/^[^ ]*  *[^ ]*  *//; s/  */ /g'
}

cat >records <<'END'
malloc 0x7f120040 1024 draw|a.c|42
malloc 0x7f120480 16 sound|mixer_open|0
free 0x7f120040
malloc 0x7f120040 2048 draw|a.c|42
lost
malloc 0x7f130000 8 ||0
free 0x7f120480
END
cat >lines <<'END'
0x7f120040 1024 novtbl a.c:42
0x7f120480 16 novtbl mixer_open
0x7f120040 del notype
0x7f120040 2048 novtbl a.c:42
*** some events lost
0x7f130000 8 novtbl
0x7f120480 del notype
END
for bits in 32 64; do
	for order in little big; do
		python3 "$stream" make in $bits $order <records
		to_lines in >got
		ok "$bits bits, $order endian: it is known, and read" \
			cmp got lines || diag_file got err
		to_lines --from tracker --from-bits $bits \
			--from-endian $order in >got
		ok "  also when the options name it" cmp got lines
		ok "  and written" heapmon convert --to tracker -o out in
		ok "  it is the same, by the byte" cmp in out
		python3 "$stream" dump out $bits $order >got
		ok "  another reader agrees" cmp got records || diag_file got
	done
done

# between forms
python3 "$stream" make wide 64 little <records
heapmon convert --to monitor -o text wide 2>err
heapmon convert --to tracker --bits 32 --endian big -o narrow text 2>err
python3 "$stream" dump narrow 32 big >got 2>&1
like "$(cat got)" '^malloc 0x7f120480 16 \|mixer_open\|0$' \
	"written as another form"
is "$(grep -c '^lost' got)" 1 "  the loss is carried on"
echo 'malloc 0x7f1234560040 8 a|b|1' |
	python3 "$stream" make wide 64 little
heapmon convert --to monitor -o text wide 2>err
ok "an address of 64 bits for 32" heapmon convert --to tracker --bits 32 \
	-o narrow text
like "$(heapmon convert --to tracker --bits 32 -o narrow text 2>&1)" \
	'addresses are cut to 32 bits' "  it is reported"

# --bits and --endian are of one side
python3 "$stream" make in 32 big <records
status 0 "a stream of 32 bits, as 64 bits little-endian" heapmon convert \
	--to tracker --from-bits 32 --from-endian big --bits 64 \
	--endian little -o out in
python3 "$stream" dump out 64 little >got
ok "  both are as they were asked for" cmp got records || diag_file got
status 0 "  only what is written" heapmon convert --to mtrc --bits 64 \
	--endian little -o out in
is "$(od -An -tx1 -j4 -N8 out | tr -d ' ')" 0100000000000000 "  is so"
status 0 "report: what is read" heapmon report --bits 32 --endian big in
status 2 "--bits with a format that has none" heapmon convert --to pprof \
	--bits 32 in
like "$(cat err)" "have no effect on 'pprof'" "  is refused"
like "$(cat err)" "--from-bits and --from-endian are of what is read" \
	"  with the options that were meant"
heapmon convert --to monitor -o text in 2>err
status 1 "--from-bits of another format" heapmon convert --to mtrc \
	--from-bits 32 text
like "$(cat err)" "'text' is in the format 'monitor': of what is read, bits" \
	"  is refused"
status 1 "report --endian of another format" heapmon report --endian big text
like "$(cat err)" "'text' is in the format 'monitor'" "  is refused"

# events that it has no record for
cat >text <<'END'
Thread  Time of event  Address  Size  Type  Stack crawl
5-5     old            0x1000   64    Old
5-5     1000000        0x2000   3000000000  novtbl  load(char const*)|main
5-6     1000001        0x1000   del   Old   main
5-6     1000002        0xf00000000  del   Gone  main
6-6     1000003        0x3000   8     novtbl  main
5-5     1000004        0x2000   del   notype  main
END
ok "from heap monitoring text" heapmon convert --to tracker -o out text
cat "$TMP/.tap" >warnings
python3 "$stream" dump out 64 little >got
cat >expected <<'END'
malloc 0x1000 64 old||0
malloc 0x2000 2147483647 |load(char const*)|0
free 0x1000
free 0x2000
END
ok "  these are the records" cmp got expected || diag_file got
for text in "of blocks that were never seen are left out" \
	"events of other processes than the first" "blocks of 2 GiB and more" \
	"times, threads, types"; do
	like "$(cat warnings)" "$text" "  reported: $text"
done

# Tags: two systems at one line of the source, one without a line, one unknown
cat >tagged <<'END'
malloc 0x1000 100 render|a.c|7
malloc 0x2000 10 sound|a.c|7
malloc 0x3000 1 sound||0
malloc 0x4000 1000 |a.c|7
malloc 0x5000 50 malloc|a.c|7
free 0x1000
malloc 0x1000 200 render|a.c|7
END
python3 "$stream" make in 64 little <tagged
status 0 "two systems at one line" heapmon report -s live in
is "$(awk 'bytes != "" { $1 = $1; print bytes, $0; bytes = "" }
	/^ +[0-9]+ +[0-9]+ +[0-9.]+$/ { bytes = $2 }' out)" "1000 a.c:7
200 a.c:7 [render]
50 a.c:7 [malloc]
10 a.c:7 [sound]
1 [sound]" "  are distinguished" || diag_file out
status 0 "the table of tags" heapmon report -s tags in
is "$(sed '1,/^ *allocated/d' out | tr -s ' ')" " 1 1000 0 1 1000 0 (none)
 2 300 1 1 200 0 render
 1 50 0 1 50 0 malloc
 2 11 0 2 11 0 sound" "  has what each of them allocated" || diag_file out
is "$(heapmon report --json in | python3 -c '
import json, sys
report = json.load(sys.stdin)
print([(tag.get("tag"), tag["allocated"]["bytes"], tag["kept"]["count"])
       for tag in report["tags"]])
print(sorted((site.get("tag", ""), site["kept"]["bytes"])
	     for site in report["sites"]))')" \
	"[(None, 1000, 1), ('render', 300, 1), ('malloc', 50, 1), ('sound', 11, 2)]
[('', 1000), ('malloc', 50), ('render', 200), ('sound', 1), ('sound', 10)]" \
	"  and so has JSON, with the tag of each stack"
is "$(heapmon convert --to collapsed in 2>err | sort)" "[sound] 1
a.c:7 1000
a.c:7 [malloc] 50
a.c:7 [render] 200
a.c:7 [sound] 10" "collapsed: in the name" || diag_file err
is "$(cat err | grep -c tags)" 0 "  which loses nothing of them"
is "$(heapmon convert --to pprof in 2>err | gunzip | strings -n 3 |
	grep -c '^render$\|^sound$')" 2 "pprof: labels"
heapmon convert --to massif in >massif 2>err
like "$(cat massif)" 'a\.c:7 \[render\]' "massif: in the name"
heapmon report --html -o page.html in
like "$(cat page.html)" 'a\.c:7 \[render\]' "a flame graph: in the name"
for format in mtrc mptl monitor heaptrack; do
	heapmon convert --to $format in >lossy 2>err
	like "$(cat err)" "^heapmon: $format: the tags are left out" \
		"$format has no place for tags, and says so"
done
ok "a stream of it" heapmon convert --to tracker -o out in
python3 "$stream" dump out 64 little >got
ok "  is the same" cmp tagged got || diag_file got
sed 's/render/physics/' tagged | python3 "$stream" make other 64 little
like "$(heapmon report --diff in other)" 'a\.c:7 \[physics\]' \
	"compared: by tag, too"

# A block at 0 counts like any other: the reference's own test has one.
cat >null <<'END'
malloc 0x0 1024 test|a.c|42
free 0x0
free 0x0
malloc 0x0 8 test|a.c|43
END
python3 "$stream" make in 64 little <null
status 0 "a block at address 0" heapmon report -s summary -s wrong in
like "$(tr -s ' ' <out)" '^ allocated 2 blocks 1032 bytes$' "  is counted"
like "$(tr -s ' ' <out)" '^ freed 1 blocks 1024 bytes$' "  and so is its release"
unlike "$(cat out)" 'wrong|unknown' "  free(NULL) is nothing"
heapmon convert --to tracker -o out in
python3 "$stream" dump out 64 little >got
is "$(cat got)" "$(sed 3d null)" "  it is written"
heapmon convert --to monitor in >out 2>err
is "$(grep -c ' 0x0 ' out)" 3 "  as text, too" || diag_file out

# librastrace
for program in nfmt_stream nfmt_stream32; do
	if ! [ -x "$programs/$program" ]; then
		skip "$program" "needs gcc -m32"
		continue
	fi
	"$programs/$program" >in
	to_lines in >got
	is "$(cat got)" "0x56550040 1024 novtbl a.c:42
0x56550480 16 novtbl b.c:7
0x56550040 del notype
0x56550480 del notype" "$program: read" || diag_file err
	"$programs/$program" much >in
	to_lines in >got
	is "$(sed -n '/lost/,$p' got)" "*** some events lost
0x56550480 del notype" "  the loss is reported"
	ok "  and many are there" test "$(wc -l <got)" -gt 500
done
if [ -x "$programs/nfmt_api32" ]; then
	ok "the library's test for 32 bits" "$programs/nfmt_api32"
else
	skip "the library's test for 32 bits" "needs gcc -m32"
fi

# Damage: what is in front of it is read.
printf 'malloc 0x1000 8 a|b|1\nlost\nfree 0x1000\n' |
	python3 "$stream" make whole 64 little
size=$(wc -c <whole)
cut=1
while [ $cut -lt "$size" ]; do
	head -c $cut whole >in
	heapmon convert --from tracker --to monitor --from-bits 64 \
		--from-endian little \
		-o out in 2>err
	echo "$? $(wc -l <out) $(grep cut err)"
	cut=$((cut + 1))
done >got
is "$(grep -cv '^[01] ' got)" 0 "cut at any byte: no more than an error"
is "$(grep -c '^1 .*the record at byte [0-9]* is cut' got)" \
	"$((size - 1 - $(grep -c '^0 ' got)))" "  which says so"
ok "  unless it is between records" test "$(grep -c '^0 ' got)" -eq 4
is "$(sed -n '$s/^1 \([0-9]*\).*/\1/p' got)" 3 "  all in front of it is there"
head -c 60 whole >in
status 1 "a cut one is known" heapmon convert --to monitor in
like "$(cat err)" "the record at byte [0-9]* is cut" "  as what it is"
printf '\001\0\0\0\0\020\0\0\0\0\0\0\007\0\0\0' >in
status 1 "a type that there isn't" heapmon convert --from tracker \
	--from-bits 64 --from-endian little --to monitor in
like "$(cat err)" "no record at byte 12" "  is reported with its place"
status 1 "zeros aren't taken for one" sh -c \
	'head -c 4096 /dev/zero | heapmon convert --to monitor -'
printf '\002\0\0\0\005\0\0\0abc\0\002\0\0\0\003\0\0\0abc\0' >in
status 1 "nor are numbers that don't follow from names" \
	heapmon convert --to monitor in
like "$(cat err)" "in no format that is known" "  it is reported"
status 1 "symbols that go down" heapmon convert --from tracker --to monitor in
like "$(cat err)" "symbol 3 is out of order" "  are reported"
printf '\0\0\0\0\0\020\0\0\0\0\0\0\010\0\0\0\011\0\0\0\0\0\0\0\0\0\0\0' >in
status 0 "a symbol that is not defined" heapmon convert --from tracker \
	--from-bits 64 --from-endian little --to monitor in
like "$(cat err)" "symbol 9 is used but not defined" "  is reported"
printf '\002\0\0\0\001\0\0\0a\0x\0' >in
status 1 "a name with more bytes after it isn't taken for one" \
	heapmon convert --to monitor in
like "$(cat err)" "in no format that is known" "  it is reported"
# allocated at 0x1000, and a release that is cut: little-endian it is no record
printf '\0\0\0\0\0\0\0\0\0\0\020\0\0\0\0\010\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\001\0\0' \
	>in
status 1 "of forms in which as much makes sense" heapmon convert --to monitor in
like "$(cat out)" " 0x1000  *8 " "  it is the one in which all does"
cat whole whole >in
status 0 "a program that starts anew" heapmon convert --to monitor in
is "$(grep -c ' 0x1000 ' out)" 4 "  defines its names again"
printf '\002\0\0\0\001\0\0\0f()\0' >in
printf '\0\0\0\0\0\020\0\0\0\0\0\0\010\0\0\0\0\0\0\0\001\0\0\0\377\377\377\377' \
	>>in
status 0 "a line below 0" heapmon convert --to monitor in
like "$(cat out)" 'novtbl  *f\(\)$' "  is none"
awk 'BEGIN { printf "1-1 1 0x1000 8 novtbl %017000d\n", 0 }' >long
status 0 "a name that no ring has room for" \
	heapmon convert --to tracker -o stream long
like "$(cat err)" "names that are too long are unknown" "  is unknown"
status 0 "  and can be read" heapmon convert --to monitor stream
tap_done
