#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# heapmon record sees every call of the allocator, of every allocator, once: as
# many as the program itself counts.
. "$(dirname "$0")/../tap.sh"
need_root
need_tree
source=$(dirname "$0")/heap_calls.c
server=

cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null
}

# compile NAME COMPILER OPTION...
compile() {
	name=$1
	shift
	command -v "$1" >/dev/null && "$@" -w -O1 -o "$TMP/$name" "$source" \
		2>/dev/null
}

# figures: "ALLOCATIONS RESIZES RELEASES" of the last recording
figures() {
	sed -n 's/.*: \([0-9]*\) allocations*, \([0-9]*\) resizes*, \([0-9]*\) releases*$/\1 \2 \3/p' \
		"$TMP/log"
}

record() {
	"$BIN/heapmon" record -o "$TMP/file.ras" "$@" >"$TMP/said" 2>"$TMP/log"
}

# less A B: A - B, number by number
less() {
	echo "$1 $2" | awk '{ print $1 - $4, $2 - $5, $3 - $6 }'
}

# exact NAME PROGRAM [PRELOAD]: what it does is what it does more than when it
# does nothing
exact() {
	LD_PRELOAD=$3 record -- "$2" 0
	before=$(figures)
	LD_PRELOAD=$3 record -- "$2" 3
	is "$(less "$(figures)" "$before")" "$(cat "$TMP/said")" "$1: all calls" ||
		diag_file "$TMP/log"
	unlike "$(cat "$TMP/log")" "overwritten|dropped|missed" "$1: none is lost"
}

compile calls "${CC:-cc}" || bail "no C compiler"
exact glibc "$TMP/calls"
like "$(cat "$TMP/log")" "probed [0-9]+ functions of '.*libc.so.6' \(glibc\)" \
	"it says what is probed"
ok "tracefmt prints it by the formats that are in it" sh -c \
	"tracefmt '$TMP/file.ras' 2>/dev/null | grep -q '^realloc$'"
size=$(wc -c <"$TMP/file.ras") plain=$(figures)
if record --compress -- "$TMP/calls" 3; then
	is "$(figures)" "$plain" "--compress: the same is recorded"
	ok "... into a smaller file" \
		test $(($(wc -c <"$TMP/file.ras") * 2)) -lt "$size"
	like "$(heapmon report -s summary "$TMP/file.ras")" \
		"allocated +$(echo "$plain" | awk '{ print $1 + $2 }') blocks" \
		"... which reports read"
else
	skip "--compress" "$(grep compress "$TMP/log")"
fi
for library in jemalloc:libjemalloc.so.2 tcmalloc:libtcmalloc_minimal.so.4 \
	       mimalloc:libmimalloc.so.2; do
	if ldconfig -p | grep -q "${library#*:} "; then
		exact "${library%:*}" "$TMP/calls" "${library#*:}"
		like "$(cat "$TMP/log")" "\(${library%:*}\)" \
			"${library%:*} is known"
	else
		skip "${library%:*}" "it isn't installed"
	fi
done
if compile static "${CC:-cc}" -static; then
	exact "static glibc" "$TMP/static"
	strip -o "$TMP/stripped" "$TMP/static"
	status 1 "a stripped static program has no names" "$BIN/heapmon" record \
		--no-follow -o "$TMP/none.ras" -- "$TMP/stripped" 1
	like "$(cat "$TMP/err")" "looked for malloc, calloc" \
		"the names it looked for are reported"
	like "$(cat "$TMP/err")" "--object" "... and what to do"
	is "$(cat "$TMP/out")" "" "... and the program didn't run"
	status 1 "... nor has what it executes: it runs, unrecorded" \
		"$BIN/heapmon" record -o "$TMP/none.ras" -- "$TMP/stripped" 1
	like "$(cat "$TMP/err")" "nothing was recorded: there was no allocator" \
		"... and that is reported at the end"
	ok "... it has run" test -s "$TMP/out"
	cat >"$TMP/exec.c" <<'END'
#include <unistd.h>
int main(int argc, char **argv)
{
	execv(argv[1], argv + 1);
	return 1;
}
END
	"${CC:-cc}" -static -s -o "$TMP/exec" "$TMP/exec.c"
	status 0 "a program without one that executes one with" \
		"$BIN/heapmon" record -o "$TMP/none.ras" -- "$TMP/exec" \
		"$(command -v sleep)" 1
fi
if compile m32 "${CC:-cc}" -m32; then
	exact "32-bit" "$TMP/m32"
else
	skip "32-bit" "the compiler can't make it"
fi
if compile musl musl-gcc; then
	exact musl "$TMP/musl"
	compile musl_static musl-gcc -static
	exact "static musl" "$TMP/musl_static"
else
	skip musl "it isn't installed"
fi

# an exception out of an operator new that has a return probe
cat >"$TMP/throw.cc" <<'END'
#include <cstdio>
#include <new>

int main()
{
	volatile std::size_t size = std::size_t(1) << (sizeof(size) * 8 - 2);
	int caught = 0;

	for (int i = 0; i < 3; i++)
		try {
			operator delete(operator new(size));
		} catch (const std::bad_alloc &) {
			caught++;
		}
	delete new int;
	return caught != 3;
}
END
if "${CXX:-c++}" -w -o "$TMP/throw" "$TMP/throw.cc" 2>/dev/null; then
	record -- "$TMP/throw"
	like "$(cat "$TMP/log")" "exited with status 0" \
		"libstdc++'s operator new may throw"
	unlike "$(cat "$TMP/log")" "bad_alloc" "... and nothing is reported"
	new=$(figures)
	if ldconfig -p | grep -q "libjemalloc.so.2 "; then
		LD_PRELOAD=libjemalloc.so.2 record -- "$TMP/calls" 0
		like "$(cat "$TMP/log")" "libjemalloc.so.2' is probed where .*bad_alloc" \
			"that of jemalloc may not, which is reported"
		LD_PRELOAD=libjemalloc.so.2 record --no-new -- "$TMP/throw"
		like "$(cat "$TMP/log")" "exited with status 0" \
			"... but with --no-new" || diag_file "$TMP/log"
		unlike "$(cat "$TMP/log")" "bad_alloc" "... when nothing is reported"
		record --no-new -- "$TMP/throw"
		is "$(figures)" "$new" "... which leaves libstdc++'s alone"
	else
		skip "jemalloc's operator new" "it isn't installed"
	fi
else
	skip "exceptions" "no C++ compiler"
fi

# processes
record -- "$TMP/calls" 0
before=$(figures)
record -- "$TMP/calls" fork 2
is "$(less "$(figures)" "$before")" "$(cat "$TMP/said")" "a child that is forked"
record -- "$TMP/calls" exec "$TMP/calls" 2
is "$(less "$(figures)" "$before")" "$(cat "$TMP/said")" "... that is executed"
record --no-follow -- "$TMP/calls" exec "$TMP/calls" 2
is "$(figures)" "$before" "... and not followed"
record --no-follow -- env "$TMP/calls" 0
before=$(figures)
record --no-follow -- env "$TMP/calls" 2
is "$(less "$(figures)" "$before")" "$(cat "$TMP/said")" \
	"a program that becomes another one"
record --min-size 9000 -- "$TMP/calls" 1
is "$(figures)" "0 100 100" "blocks of a least size"

# A sample's estimate deviates by 0.3 % on average; a few blocks are the
# C library's.
summary() {
	heapmon report -s summary "$TMP/file.ras"
}
record -- "$TMP/calls" 40
bytes=$(summary | awk '$1 == "allocated" { print $4 }')
record --sample 2000 -- "$TMP/calls" 40
is "$(summary | awk -v bytes="$bytes" '$1 == "allocated" {
	part = $4 / bytes
	print (part > 0.98 && part < 1.02) ? "all" : $4 " of " bytes }')" all \
	"the bytes of a sample, by their weights"
is "$(summary | awk '/not freed/ { print ($3 < 10) ? "all" : $0 }')" all \
	"... which are released"
if ldconfig -p | grep -q "libmimalloc.so.2 "; then
	record -- "$TMP/calls" load libmimalloc.so.2 1
	is "$(echo "$(figures)" | awk '{ print ($1 >= 500), ($3 >= 500) }')" \
		"1 1" "an allocator that is loaded later" ||
		diag_file "$TMP/log"
	like "$(cat "$TMP/log")" "mimalloc.*it came later" "... which is reported"
fi

# a process that runs
"$TMP/calls" serve >"$TMP/ready" &
server=$!
while ! [ -s "$TMP/ready" ]; do sleep 0.1; done
ok "attach for a second" "$BIN/heapmon" record -t 1 -o "$TMP/file.ras" \
	-p "$server"
"$BIN/heapmon" record -t 2 -o "$TMP/other.ras" -p "$server" 2>"$TMP/other" &
other=$!
"$BIN/heapmon" record -o "$TMP/file.ras" -p "$server" -p "$server" \
	2>"$TMP/log" &
recorder=$!
wait "$other"
like "$(cat "$TMP/other")" "50[0-9] blocks .* were there before" \
	"two at a time" || diag_file "$TMP/other"
kill -INT "$recorder"
ok "SIGINT ends it" wait "$recorder"
like "$(cat "$TMP/log")" "50[0-9] blocks .* were there before" "old blocks" ||
	diag_file "$TMP/log"
ok "what it wrote is whole" sh -c "tracefmt '$TMP/file.ras' >/dev/null"
"$BIN/heapmon" record -o "$TMP/file.ras" -p "$server" 2>"$TMP/log" &
recorder=$!
sleep 2
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
ok "when it is killed the next one" "$BIN/heapmon" record -t 1 \
	-o "$TMP/next.ras" -p "$server"
is "$(find "$RASTRACE_RUN" -name 'run_*')" "" "... leaves nothing of both"
ok "what was written is kept" sh -c \
	"tracefmt '$TMP/file.ras' 2>/dev/null | grep -q '^malloc$'"
ok "the process runs on" kill -0 "$server"
"$BIN/heapmon" record -o "$TMP/file.ras" -p "$server" 2>"$TMP/log" &
recorder=$!
sleep 2
kill "$server"
ok "it ends with the process" wait "$recorder"
server=

# more than there is room for, from the first moment on
echo 'int main(void) { for (;;) __builtin_free(__builtin_malloc(10)); }' \
	>"$TMP/busy.c"
"${CC:-cc}" -O0 -fno-builtin -o "$TMP/busy" "$TMP/busy.c"
"$TMP/busy" &
server=$!
record --buffer 64K -t 1 -p "$server"
kill "$server"
server=
is "$(sed -n 's/.*recorded \([0-9]*\) .*/\1/p; s/.*: \([0-9]*\) events were over.*/\1/p' \
	"$TMP/log" | awk '{ n += $1 } END { print n }')" \
	"$(figures | awk '{ print $1 + $2 + $3 }')" "all that is lost is counted" ||
	diag_file "$TMP/log"

# what can't be
status 1 "no such process" "$BIN/heapmon" record -o "$TMP/x.ras" -p 4194303
status 1 "no such name" "$BIN/heapmon" record -o "$TMP/x.ras" -c no_such_name
status 1 "no such program" "$BIN/heapmon" record -o "$TMP/x.ras" -- "$TMP/none"
if [ -c /dev/full ]; then
	status 1 "no room" "$BIN/heapmon" record -o /dev/full -- true
	like "$(cat "$TMP/err")" "'/dev/full': No space left" "... which is reported"
	ok "... and the device is left" test -c /dev/full
	like "$(cat "$TMP/err")" "nothing could be written" "... and what is left"
fi
status 1 "no such folder" "$BIN/heapmon" record -o "$TMP/no/x.ras" -- true
status 2 "no file" "$BIN/heapmon" record -- true
status 2 "no process" "$BIN/heapmon" record -o "$TMP/x.ras"
status 2 "a process and a program" "$BIN/heapmon" record -o "$TMP/x.ras" -p 1 \
	-- true
status 2 "a program that writes there, too" "$BIN/heapmon" record -o - -- true
status 2 "a depth that is too big" "$BIN/heapmon" record -d 33 \
	-o "$TMP/x.ras" -- true
ok "nothing was made" test ! -e "$TMP/x.ras"
tap_done
