#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# mpatrol's tracing and profiling files: the reports that mptrace and mprof print
# of samples, to the byte; all forms of numbers; what is written is what was read;
# files that are cut, lie or contradict themselves. mpatrol_files.py reads and
# makes them, too, independently.
. "$(dirname "$0")/../tap.sh"
need python3
here=$(cd "$(dirname "$0")" && pwd)
samples=$here/mpatrol
cd "$TMP" || exit 1

files() {
	python3 "$here/mpatrol_files.py" "$@"
}

# convert ARGUMENT...: the result into `new`, the messages into `err`
convert() {
	heapmon convert "$@" >new 2>err
}

# report SAMPLE EXPECTED OPTION...
report() {
	sample=$1 expected=$2
	shift 2
	heapmon report "$@" "$samples/$sample" >out 2>err
	ok "$sample: report $*" cmp out "$samples/$expected" || diag_file err
}

# ---- reports of the original readers ----
report collect2.trace collect2.trace.mptrace --style=mptrace -v
report realloc.trace realloc.trace.mptrace --style=mptrace -v --source
report test.out test.out.mprof --style=mprof -a -v --depth 0
report collect2.out collect2.out.mprof --style=mprof -a -v --depth 0
report collect2.out collect2.out.mprof1 --style=mprof
report collect2.out collect2.out.mprofc --style=mprof -c -v --depth 2
report realloc.out realloc.out.mprof --style=mprof -a -v --depth 0
report nosites.out nosites.out.mprof1 --style=mprof

for name in test collect2; do
	form=
	[ $name = collect2 ] || form=-a
	# shellcheck disable=SC2086
	heapmon report --style=mprof $form -g graph "$samples/$name.out" \
		>out 2>err
	is "$(sed 1d graph)" "$(sed 1d "$samples/$name.out.dot")" \
		"$name.out: the graph file $form" || diag_file err
done
heapmon report --style=mprof -c -l -g graph "$samples/test.out" >out 2>err
like "$(cat graph)" '^digraph "memory leak call graph"$' "of leaks, by count"
like "$(cat graph)" '^    "START" -> "_start" \[label = "[0-9]+"\];$' "  it is"
for option in "-g graph" -l; do
	# shellcheck disable=SC2086
	status 2 "$option without mprof's tables" \
		heapmon report $option "$samples/test.out"
done
echo before >graph
status 1 "a graph file of a trace that isn't there" \
	heapmon report --style=mprof -g graph gone
is "$(cat graph)" before "  leaves the file alone"
if [ -c /dev/full ]; then
	status 1 "a graph file on a full disk" \
		heapmon report --style=mprof -g /dev/full "$samples/test.out"
	like "$(cat err)" "cannot write '/dev/full': No space left" "  is reported"
fi

# An index that is used again: the original goes on counting its life. Its
# second block lives from event 3 to event 4, and 4 - 1 is printed.
{
	printf 'MTRC\1\0\0\0\0\0\0\0\005\051\0\0\0\0\0\0'
	printf 'A\7\020\1\0\0\0\0F\7\0\0\0\0A\7\040\4\0\0\0\0F\7\0\0\0\0MTRC'
} >reused
heapmon report --style=mptrace -v reused >out 2>err
is "$(awk '$2 == "free" { print $1, $6 }' out | tr '\n' ' ')" "2 1 4 3 " \
	"the life of an index that is used again, as mptrace prints it" ||
	diag_file out

# ---- forms ----
for form in be64 le32; do
	heapmon report --style=mptrace -v --source "$samples/$form.trace" >$form
done
is "$(sed 's/0x0*//; s/  */ /g; 1,2d' be64)" \
	"$(sed 's/0x0*//; s/  */ /g; 1,2d' le32)" \
	"64 bits big-endian and 32 bits little-endian: the same events"
like "$(cat le32)" '^     1  alloc        1  0x[0-9A-F]{8}        17 ' \
	"  addresses as wide as they are there"
like "$(cat be64)" '^ *thread 1000 in free1 at file1\.c line 10$' \
	"  with their sources"
like "$(cat be64)" '^average size:  22 bytes$' "  21.5 is 22 on average"
{
	printf 'MTRC\1\0\0\0\0\0\0\0\005\051\0\0\0\0\0\0'
	printf 'A\1\020\1\0\0\0\0A\2\040\4\0\0\0\0MTRC'
} >halves
like "$(heapmon report --style=mptrace halves)" '^average size:  2 bytes$' \
	"  and 2.5 is 2"
for form in le64 be64 le32 be32 llp64; do
	files trace $form 10501 2000 >trace.$form
	convert --to mtrc trace.$form
	is "$(files dump new | sed 1d)" "$(files dump trace.$form | sed 1d)" \
		"$form: 2000 events"
	is "$(files dump new | sed -n 1p)" "version 10501 bits 64 little" \
		"  and 64 bits little-endian out of them"
done
convert --to mtrc trace.le64
ok "name caches as mpatrol has them: the same bytes" cmp new trace.le64
convert --to mtrc --bits 32 --endian big trace.be32
ok "  of 32 bits big-endian, too, on demand" cmp new trace.be32
for version in 10300 10404 10405; do
	files trace le64 $version 500 >old
	convert --to mtrc old
	heapmon report --style=mptrace -v old >out
	heapmon report --style=mptrace -v new | cmp - out >differences
	ok "version $version: the same table" test ! -s differences
done
files trace le64 10300 500 >old
like "$(heapmon report --style=mptrace -v old)" '^ *[0-9]+  realloc ' \
	"  before 1.4.4 a second A means that a block is resized"
for sample in collect2 test realloc nosites le64; do
	convert --to mptl "$samples/$sample.out"
	is "$(files dump new | sed 1d)" \
		"$(files dump "$samples/$sample.out" | sed 1d)" \
		"$sample.out: the same sums"
done
convert --to mptl "$samples/realloc.out"
ok "  to the byte" cmp new "$samples/realloc.out"
convert --to mptl --bits 32 --endian big "$samples/collect2.out"
printf '\050\005' | dd of=new bs=1 seek=10 conv=notrunc 2>/dev/null
printf '\050\074' | dd of=new bs=1 seek=10 conv=notrunc 2>/dev/null
ok "  of 32 bits big-endian, too" cmp new "$samples/collect2.out"
convert --to mptl --bits 32 "$samples/realloc.out"
like "$(cat err)" 'no room in 32 bits' "  unless it has no room there"
echo '1-1 1 0x100002000 8 novtbl f()' >high
convert --to mtrc --bits 32 high
like "$(cat err)" 'no room in 32 bits' "  nor an address in a trace"
convert --to mtrc --bits 32 --rebase high
like "$(files dump new)" '^A 1 0x1000 8 ' "  but for a rebased one"

# ---- odd ones ----
status 0 "no event" heapmon report --style=mptrace "$samples/empty.trace"
like "$(cat out)" '^allocated: 0 \(0 bytes\)$' "  is 0"
status 0 "a newer version" heapmon report --style=mptrace "$samples/newer.trace"
like "$(cat err)" '10600.*newer' "  is reported"
status 1 "no trailer" heapmon report --style=mptrace "$samples/notrail.trace"
like "$(cat err)" 'damaged: no trailer at byte 280' "  is reported"
like "$(cat out)" '^freed:     10 ' "  and what is there is counted"
like "$(heapmon report --style=mptrace -v --source "$samples/src.trace")" \
	'^     1  alloc        1  0x0000000100000010 ' \
	"an address above 32 bits, which mptrace garbles"

# ---- cut ----
convert --to mtrc "$samples/le32.trace"
cp new whole
bad=
for n in $(seq 0 20) $(seq 21 9 275); do
	head -c "$n" "$samples/le32.trace" >part
	heapmon convert --from mtrc --to mtrc part >out 2>err
	[ $? -eq 1 ] || bad="$bad $n:status"
	[ "$n" -lt 12 ] && continue
	size=$(stat -c %s out)
	cmp -s -n $((size - 4)) out whole || bad="$bad $n"
done
is "$bad" "" "a trace that is cut: what is before that"
bad=
for n in $(seq 0 811 8100) $(seq 8200 17 8513); do
	head -c "$n" "$samples/test.out" >part
	heapmon convert --from mptl --to mptl part >out 2>err
	[ $? -eq 1 ] || bad="$bad $n"
done
is "$bad" "" "a profile that is cut: it is reported"
head -c 8300 "$samples/test.out" >part
heapmon report --style=mprof part >out 2>err
like "$(cat out)" '^   total     512 ' "  and the bins are still there"

# ---- lies: offset and bytes in test.out (32 bits, big-endian) ----
while read -r offset bytes expected; do
	files patch "$samples/test.out" "$offset" "$bytes" >lie
	status 1 "$expected" heapmon report --style=mprof -a -v --depth 0 lie
	like "$(cat err)" "$expected" "  is reported"
	like "$(cat err)" "'lie' is damaged: what could be read" "  as damage"
	like "$(cat out)" '^   total     512 ' "  what could be read is there"
done <<END
8232 00000009 an index is out of range or there twice
8372 00000002 an index is out of range or there twice
8376 00000001 a call site is its own caller
8376 00000063 the caller of a call site isn't there
8384 00000063 the symbol of a call site isn't there
8388 ffffff00 a name isn't in the string table
8416 00000063 the sums of a call site aren't there
END
while read -r offset what; do
	files patch "$samples/test.out" "$offset" 7fffffff >lie
	status 1 "2147483647 $what" heapmon report --style=mprof lie
	like "$(cat err)" "damaged: more $what than" "  is reported"
done <<END
24 bins
8228 sums
8368 call sites
8468 symbols
END
{
	printf 'MTRC\1\0\0\0\0\0\0\0\005\051\0\0\0\0\0\0'
	printf 'A\1\200\040\010\0\0\0\0F\1\0\0\0\0F\1\0\0\0\0F\7\0\0\0\0'
	printf 'A\2\200\040\010\0\011\0\0MTRC'
} >lie
status 0 "indices that aren't there" heapmon report --style=mptrace -v lie
is "$(sed -n '3,5p' out)" \
"     1  alloc        1  0x0000000000001000         8               1         8
     2  free         1  0x0000000000001000         8       1       0         0
     5  alloc        2  0x0000000000001000         8               1         8" \
	"  such events are counted only"
like "$(cat err)" 'that was freed already: 1 times' "  freed twice"
like "$(cat err)" "the file doesn't know: 1 times" "  never allocated"
like "$(cat err)" 'a slot that nothing was put in: 1 times' "  a name, too"
printf 'MTRC\1\0\0\0\0\0\0\0\005\051\0\0\0\0\0\0A\377\377\377\377\377\377\377\377\377\377\1' >lie
status 1 "a number of more than 64 bits" heapmon report --style=mptrace lie

# ---- out of events that know more ----
cat >text <<'END'
7-8 old 0x1000 100 novtbl
7-8 1000000 0x7f0000002000 10 novtbl inner(int)|middle()|main
7-8 1000001 0x7f0000002000 del novtbl middle()|main
7-9 1000002 0x5000 20 novtbl inner(int)|other()|main
7-8 1000003 0x1000 del novtbl middle()|main
7-8 1000004 0x9000 del novtbl middle()|main
7-9 1000005 0x7f0000002000 3000 novtbl other()|main
END
convert --from monitor --to mtrc text
is "$(files dump new | sed 1d)" \
"A 2 0x7f0000002000 10 8 inner(int) - 0
F 2 8 middle() - 0
A 3 0x5000 20 9 inner(int) - 0
A 4 0x7f0000002000 3000 9 other() - 0" "threads, callers, new indices"
like "$(cat err)" 'blocks that were there before' "  old blocks are left out"
like "$(cat err)" 'frees of unknown blocks are left out' \
	"  blocks that never came, too"
like "$(cat err)" 'only the innermost' "  and the other callers"
convert --from monitor --to mtrc --rebase text
is "$(files dump new | sed 1d)" \
"A 2 0x3000 10 1 inner(int) - 0
F 2 1 middle() - 0
A 3 0x1000 20 2 inner(int) - 0
A 4 0x3000 3000 2 other() - 0" "--rebase: small addresses and thread ids"
awk 'BEGIN {
	for (i = 0; i < 4000; i++) {
		place = i * 1237 % 4000
		printf "1-1 1 0x%x000 8 novtbl f()\n", 3 * place + 4096
		printf "0x%x000 8\n", 2 * place + 1 >"moved"
	}
}' >scattered
convert --to mtrc --rebase scattered
files dump new | awk '/^A/ { print $3, $4 }' >dump
ok "  of 4000 pages in disorder" cmp dump moved
awk 'BEGIN {
	printf "1-1 1 0x1000 8 novtbl f0"
	for (i = 1; i < 3000; i++)
		printf "|f%d", i
	print ""
}' >deep
convert --to mptl deep
mv new chain
convert --to collapsed chain
is "$(tr -cd ';' <new | wc -c)" 951 "a stack of 3000: its inner frames"
like "$(cat err)" 'so many callers that they are left out: 2 times' \
	"  and it is reported"
convert --from monitor --to mptl --bins 16 --bounds 9,19,2000 text
files dump new >dump
is "$(sed 1d dump)" "bounds 9 19 2000
allocated 10:1 16:2 large 3020
freed 10:1 large 0
0,1,0,0 0,10,0,0 0,1,0,0 0,10,0,0 inner(int)|middle()|main
0,0,1,0 0,0,20,0 0,0,0,0 0,0,0,0 inner(int)|other()|main
0,0,0,1 0,0,0,3000 0,0,0,0 0,0,0,0 other()|main" \
	"a profile with bounds and bins of one's own"
like "$(cat err)" 'addresses are made up' "  of names alone"
heapmon report --style=mprof -v new >out
like "$(cat out)" '^  0\.66 ' "  mprof's tables out of it" || diag_file out
convert --from monitor --to mptl "$samples/recursion.text"
heapmon report --style=mprof -v --depth 0 new >out
ok "circles in the call graph, as mprof prints them" \
	cmp out "$samples/recursion.mprof"
heapmon report --style=mprof -g graph new >out
is "$(sort graph | grep -v '^[/{}d]' | grep .)" \
	'    "START" -> "main" [label = "5370"];
    "main" -> "visit" [label = "5000"];
    "main" -> "walk" [label = "350"];
    "main" -> "xmalloc" [label = "20"];
    "visit" -> "walk" [label = "300", style = dotted];
    "visit" -> "xmalloc" [label = "5000"];
    "walk" -> "ALLOC" [label = "50"];
    "walk" -> "visit" [label = "5000", style = dotted];
    "walk" -> "walk" [label = "0", style = dotted];
    "walk" -> "xmalloc" [label = "300"];
    "xmalloc" -> "ALLOC" [label = "5320"];' "circles in the graph file" ||
	diag_file graph
echo '1-1 1 0x1000 8 novtbl operator"" _x(char)|a\b' >quoted
convert --from monitor --to mptl quoted
heapmon report --style=mprof -g graph new >out
like "$(cat graph)" '"operator\\"\\" _x\(char\)" -> "ALLOC"' \
	"quotes in a name are escaped"
tap_done
