#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Addresses as symbols and lines: of the program with debug information, of a
# stripped one with its debug file elsewhere, of one of another build-id.
. "$(dirname "$0")/../tap.sh"

built=${BUILT:-$TOP/build/selftests}/tracefmt
make_symbols=$built/make_symbols
[ -x "$make_symbols" ] && [ -x "$built/named" ] || skip_all "needs $make_symbols"
need nm
need objcopy
need addr2line
[ -e /usr/lib/x86_64-linux-gnu/libdw.so.1 ] || ldconfig -p | grep -q libdw.so.1 ||
	skip_all "needs libdw"
unset TRACEFMT_PATH TRACEFMT_PREFIX
cd "$TMP" || exit 1


# where NAME [OFFSET]: its address, in hex
where() {
	nm "$built/named" | sed -n "s/ T $1\$//p" |
		{ read -r at && printf '%x\n' $((0x$at + ${2:-0})); }
}

# line ADDRESS: "named.c:12", as binutils have it
line() {
	addr2line -e "$built/named" "$1" | sed 's,.*/,,; s/ .*//'
}

# make_it PROGRAM PATH [OTHER]: symbols.ras
make_it() {
	{
		where _ZN2ns5firstEi
		where named_second
		where named_second 5
		echo 1
	} | "$make_symbols" . "$@" || bail "make_symbols"
}

# ats [ARGUMENT...]: what %{sym} printed, without the offsets of places in lines
ats() {
	tracefmt -q "$@" symbols.ras 2>&1 | sed -n 's/^at=//p'
}

cp "$built/named" named
make_it named "$TMP/named"
said=$(ats)
expected="ns::first(int)+0x0 $(line "$(where _ZN2ns5firstEi)") (named)
named_second+0x0 $(line "$(where named_second)") (named)
named_second+0x5 $(line "$(where named_second 5)") (named)
0x555555554001"
is "$said" "$expected" "names of C++ and C, lines, modules; and no address"
is "$(tracefmt -q --event 4 symbols.ras | sed -n '/^stack=/,/outermost/p' |
	sed -n 's/^  [0-9A-F]*  //p')" \
	"named_second+0x5 $(line "$(where named_second 4)") (named)" \
	"of a return address the line of the call"
is "$(ats --no-symbols | head -n 1)" \
	"named+0x$(where _ZN2ns5firstEi | tr a-f A-F)" \
	"--no-symbols: module and offset"

long=$(printf '%0300d' 0 | tr 0 x)
objcopy --redefine-sym "named_second=$long" named
like "$(ats | sed -n 2p)" '^x{256}\.\.\.\+0x0 ' "a long name is cut"
cp "$built/named" named

make_it named "$TMP/named" other
unlike "$(ats)" "first|named_second" "another build-id: no symbol"
like "$(ats)" '^named\+0x' "but module and offset"

# Code without lines (of crt1.o) after a row where its sequence ends
cat >e.s <<'END'
	.file 1 "e.c"
	.section .text.startup,"ax"
	.globl main
	.type main,%function
main:	.loc 1 1
	nop
	.loc 1 2
	ret
	.loc 1 99 view .LV9
	.size main,.-main
	.text
	.globl f
	.type f,%function
f:	.loc 1 5
	nop
	ret
	.size f,.-f
	.section .note.GNU-stack,"",%progbits
END
if ${CC:-cc} -g -Wl,--build-id -o named e.s 2>/dev/null; then
	for name in main _start f; do
		nm named | sed -n "s/ T $name\$//p"
	done | "$make_symbols" . named "$TMP/named" || bail "make_symbols"
	is "$(ats)" "main+0x0 e.c:1 (named)
_start+0x0 (named)
f+0x0 e.c:5 (named)" "code without lines has none"
else
	skip "code without lines" "the compiler can't make it"
fi
# Ranges of a unit of 64-bit DWARF that libdw would look for outside of the file
cat >far.c <<'END'
int first(void) { return 1; }
int second(void) { return 2; }
END
if clang -O1 -gdwarf-5 -gdwarf64 -ffunction-sections -nostdlib -Wl,-e,first \
	-Wl,--build-id -o named far.c 2>/dev/null &&
   objcopy --dump-section .debug_rnglists=lists named 2>/dev/null; then
	for name in first second; do
		nm named | sed -n "s/ T $name\$//p"
	done >addresses
	for entry in '\000\000\000\000\000\000\000\244' \
		'\000\377\377\377\377\377\377\377' \
		'\377\377\377\377\377\377\377\177' \
		'\000\020\000\000\000\000\000\000' ''; do
		# shellcheck disable=SC2059
		printf "$entry" |
			dd of=lists bs=1 seek=20 conv=notrunc 2>/dev/null
		objcopy --update-section .debug_rnglists=lists named damaged
		[ "$entry" ] || cp named damaged
		mv damaged named.new
		cp named whole
		mv named.new named
		"$make_symbols" . named "$TMP/named" <addresses ||
			bail "make_symbols"
		like "$(ats | head -n 1)" \
			"^first\+0x0 $([ "$entry" ] || echo 'far.c:1 ')\(named\)$" \
			"ranges ${entry:+out of the section}"
		mv whole named
	done
else
	skip "ranges that are elsewhere" "clang can't make them"
fi
# Where the sequence of one function ends, and that of one without code is, the
# next one begins, which was written before them
cat >f.s <<'END'
	.file 1 "f.c"
	.text
	.globl second
	.type second,%function
second:	.loc 1 5
	nop
	.loc 1 6
	ret
	.size second,.-second
	.section .text.hot,"ax"
	.globl first
	.type first,%function
first:	.loc 1 1
	nop
	.loc 1 2
	ret
	.loc 1 99 view .LV9
	.size first,.-first
	.section .text.hot.none,"ax"
	.loc 1 98 view .LV8
	.section .note.GNU-stack,"",%progbits
END
# sequences OPTION...: their lines, of a program that the options make
sequences() {
	rm -f named
	${CC:-cc} -g -nostdlib -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 \
		-Wl,-e,first "$@" -o named f.s 2>/dev/null
}
expected_lines="first+0x0 f.c:1 (named)
first+0x1 f.c:2 (named)
second+0x0 f.c:5 (named)
second+0x1 f.c:6 (named)"
if sequences; then
	for name in first second; do
		nm named | sed -n "s/ T $name\$//p" |
			{ read -r at && printf '%s\n%x\n' "$at" $((0x$at + 1)); }
	done >addresses
	"$make_symbols" . named "$TMP/named" <addresses || bail "make_symbols"
fi
for option in -gdwarf-2 -gdwarf-4 -gdwarf-5 -gz=zlib -gz=zlib-gnu -m32; do
	if sequences "$option"; then
		is "$(ats)" "$expected_lines" "sequences that meet: $option"
	else
		skip "sequences that meet: $option" "the compiler can't make it"
	fi
done
if sequences && objcopy --remove-section=.debug_aranges named; then
	is "$(ats)" "$expected_lines" "without a table of the units' addresses"
else
	skip "without a table of the units' addresses" "it can't be made"
fi
if sequences; then
	objcopy --only-keep-debug named f.debug
	objcopy --strip-all named
	is "$(ats --symbols f.debug)" "$expected_lines" "in a debug file"
	rm named
	is "$(ats --symbols f.debug)" "$expected_lines" "and by that alone"
else
	skip "sequences that meet, in a debug file" "the compiler can't make it"
fi
cp "$built/named" named

# stripped, with what was stripped elsewhere
make_it named "$TMP/named"
id=$(od -An -v -tx1 -N 4096 named | tr -d ' \n' |
	sed -n 's/.*040000001400000003000000474e5500\(.\{40\}\).*/\1/p')
mkdir -p "debug/.build-id/${id%??????????????????????????????????????}"
debug=debug/.build-id/${id%??????????????????????????????????????}/${id#??}.debug
objcopy --only-keep-debug named "$debug"
objcopy --strip-all named stripped && mv stripped named
unlike "$(ats)" "first|named_second" "a stripped program has no symbols"
is "$(ats --symbols debug)" "$expected" "--symbols: a directory of debug files"
rm named
is "$(ats --symbols debug)" "$expected" "the debug file alone does"
is "$(ats --symbols "$debug")" "$expected" "a debug file that is named itself"

# a debug link
mkdir linked tff
cp "$debug" linked/apart.debug
objcopy --strip-all --add-gnu-debuglink=linked/apart.debug "$built/named" named
like "$(ats)" '^named\+0x' "a debug link that leads nowhere"
is "$(ats --symbols linked)" "$expected" "--symbols: the debug link's name"
is "$(ats --symbols named --symbols linked/apart.debug)" "$expected" \
	"files that are named themselves"
is "$(ats --symbols "$built/named")" "$expected" "instead of the stripped one"
status 0 "a directory of nothing" tracefmt -q --symbols tff --symbols linked \
	symbols.ras
is "$(cat "$TMP/err")" \
	"tracefmt: --symbols 'tff': it has no file of a build-id that is in the trace" \
	"is reported"
mkdir .debug
mv linked/apart.debug .debug
is "$(ats)" "$expected" "a debug link into .debug"
mv .debug/apart.debug .
is "$(ats)" "$expected" "and to a file beside it"
rm apart.debug named

# the other machine's files
mkdir -p "root$TMP"
cp "$built/named" "root$TMP/named"
rm -r debug
is "$(ats --symbols root)" "$expected" "--symbols: like a root directory"
mkdir flat
cp "$built/named" flat/named
is "$(ats --symbols none --symbols flat)" "$expected" "--symbols: the file itself"
status 1 "one that isn't there" tracefmt -q --symbols nowhere symbols.ras
like "$(cat "$TMP/err")" \
	"^tracefmt: cannot read 'nowhere': No such file or directory" \
	"is reported"
mkfifo named
is "$(timeout 60 tracefmt -q symbols.ras | grep -c '^at=named+0x')" 3 \
	"a path that is a pipe is not waited for"
head -c 200 "$built/named" >flat/named
like "$(ats --symbols flat)" '^named\+0x' "a damaged file is none"

# a program of another machine, with signatures and tags in its addresses
if command -v aarch64-linux-gnu-gcc >/dev/null; then
	rm -rf named root
	aarch64-linux-gnu-gcc -g -Wl,--build-id -o named \
		"$TOP/selftests/tracefmt/named.c" || bail "aarch64-linux-gnu-gcc"
	for name in _ZN2ns5firstEi named_second; do
		nm named | sed -n "s/ T $name\$//p"
	done | "$make_symbols" . named "$TMP/named" || bail "make_symbols"
	is "$(ats | sed 's/ .*//')" "ns::first(int)+0x0
named_second+0x0" "AArch64: signed and tagged addresses"
	is "$(tracefmt -q --event 2 symbols.ras | grep -c 'ns::first')" 1 \
		"in stacks, too"
	objcopy --only-keep-debug named named.debug 2>/dev/null ||
		aarch64-linux-gnu-objcopy --only-keep-debug named named.debug
	rm named
	mkdir flat64
	mv named.debug flat64/named
	is "$(ats --symbols flat64 | sed 's/ .*//')" "ns::first(int)+0x0
named_second+0x0" "AArch64: the debug file alone"
	mkdir -p "root$TMP"
	cp "$built/named" "root$TMP/named"
	make_it "$built/named" "$TMP/named"
else
	skip "addresses of AArch64" "needs aarch64-linux-gnu-gcc"
fi

if command -v python3 >/dev/null; then
	is "$(tracefmt -q --format=json --symbols root symbols.ras |
		python3 -c 'import json, sys
for line in sys.stdin:
    f = json.loads(line)["fields"]
    a = f["at"]
    print(a.get("symbol"), a.get("offset"), a.get("line"), a.get("module"),
          len(f["stack"]["frames"]), f["stack"]["end"])')" \
"ns::first(int) 0 $(line "$(where _ZN2ns5firstEi)" | tr -d a-z.:) named 2 outermost
named_second 0 $(line "$(where named_second)" | tr -d a-z.:) named 2 outermost
named_second 5 $(line "$(where named_second 5)" | tr -d a-z.:) named 2 outermost
None None None None 2 outermost" "--format=json has the same"
fi
# Functions that are inlined, at every byte of the code, as addr2line has them. A
# frame's address is one more: a return address.
# inlined COMPILER OPTION...: of callers.cc
inlined() {
	name="inlined functions: $*"
	if ! "$@" -Wl,--build-id -o named "$TOP/selftests/trace/callers.cc" \
			2>/dev/null; then
		skip "$name" "the compiler can't make them"
		return
	fi
	nm -S named | awk '$3 ~ /^[Tt]$/ { print $1, $2 }' >functions
	python3 - "$TMP" "$make_symbols" >judged 2>&1 <<'PYTHON'
import json, os, subprocess, sys

bias = 0x555555554000
addresses = sorted({a for line in open("functions")
                    for at, size in [[int(n, 16) for n in line.split()]]
                    for a in range(at, at + size)})
text = "".join("%x\n" % (a + 1) for a in addresses)
subprocess.run([sys.argv[2], ".", "named", sys.argv[1] + "/named"],
               input=text, text=True, check=True)
said = subprocess.run(["addr2line", "-aifC", "-e", "named"],
                      input="".join("0x%x\n" % a for a in addresses),
                      text=True, capture_output=True).stdout.split("\n0x")
expected = {}
for address in said:
    lines = address.splitlines()
    frames = [(function, os.path.normpath(place.split(" ")[0]))
              for function, place in zip(lines[1::2], lines[2::2])]
    expected[int(lines[0], 16)] = frames
events = subprocess.run(["tracefmt", "--format=json", "symbols.ras"],
                        text=True, capture_output=True).stdout.splitlines()
deep = wrong = 0
for line in events:
    stack = json.loads(line).get("fields", {}).get("stack")
    if not stack or len(stack["frames"]) < 2:
        continue
    frame = stack["frames"][1]
    address = int(frame["address"], 16) - bias - 1
    found = [(f.get("symbol"), "%s:%s" % (f.get("file", "??"), f.get("line", "?")))
             for f in frame.get("inlined", []) + [frame]]
    theirs = expected.get(address, [])
    deep = max(deep, len(found))
    # addr2line has the function's name for one without a name of the linker's
    same = len(found) == len(theirs) and \
        all(a[1] == b[1] or "?" in b[1] for a, b in zip(found, theirs)) and \
        all(b[0].startswith((a[0], found[-1][0])) or b[0] == theirs[-1][0]
            for a, b in zip(found[:-1], theirs))
    if not same:
        wrong += 1
        if wrong < 4:
            print(hex(address), found, theirs)
print(len(addresses), deep, wrong, "done", file=sys.stderr)
PYTHON
	tail -n 1 judged >verdict
	count=0 deep=0 wrong=1
	read -r count deep wrong rest <verdict
	ok "$name: $count addresses, up to $deep frames at one, $wrong wrong" \
		test "$rest" = "done" -a "$wrong" -eq 0 -a "$deep" -gt 2 ||
		diag_file <judged
}
if command -v python3 >/dev/null && command -v c++ >/dev/null; then
	inlined c++ -O2 -g
	inlined clang++ -O2 -gdwarf-4	# addr2line cannot read its version 5
else
	skip "inlined functions" "needs python3 and c++"
fi
tap_done
