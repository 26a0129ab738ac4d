#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Modules that can't be used are named for what they are; symbols of all kinds
# mean what they should.
. "$(dirname "$0")/../tap.sh"
need cc objcopy strip readelf
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

cat >app.c <<'END'
#include <stdio.h>
#include <string.h>
__thread int per_thread;
static int data_only = 1;
int shared_number = 2;
__attribute__((visibility("hidden"))) int hidden_number = 3;
extern int imported_number;
__attribute__((noinline)) int work(const char *s)
{
	int length = strlen(s);
	per_thread += length;
	return per_thread + data_only + shared_number + hidden_number;
}
static int impl(void) { return 1; }
static int (*resolve(void))(void) { return impl; }
int indirect(void) __attribute__((ifunc("resolve")));
int main(int argc, char **argv)
{
	fputs("x", stdout);
	return work(argv[0]) + indirect();
}
END
cc -w -O0 -g -o app app.c || bail "the program does not compile"
cc -w -O1 -shared -fPIC -o lib.so app.c || bail "no shared library"

tsf() {
	printf 'MODNAME=%s\n%s\n' "$1" "$2" >t.tsf
	rm -f t.tdf ./*.TFF
}

# refused FILE TEXT NAME: the module is refused, reported as TEXT
refused() {
	tsf "$1" 'TRACE TP=.work'
	status 1 "$3" trcust t.tsf
	like "$(cat err)" "fatal: .*$1.*TRCERR_" "$3: fatal"
	like "$(cat err)" "$2" "$3: says why"
	is "$(ls ./*.tdf ./*.TFF 2>/dev/null)" "" "$3: nothing is written"
}

# patched OFFSET BYTE
patched() {
	cp app patched
	printf "\\$(printf %o "$2")" |
		dd of=patched bs=1 seek="$1" conv=notrunc 2>log
}

refused nosuch 'current directory and beside the TSF' "missing"
mkdir folder
refused folder 'not a regular file' "folder"
: >empty
refused empty 'it is empty' "empty"
echo '#!/bin/sh' >script
refused script 'it is a script' "script"
echo '/* GNU ld script' >ldscript
refused ldscript 'linker script' "linker script"
cc -w -c -o object.o app.c
refused object.o 'object file, not linked' "object file"
objcopy --only-keep-debug app app.debug
refused app.debug 'debug information only' "debug file"
patched 4 3
refused patched 'damaged' "wrong class"
patched 5 2
refused patched 'big-endian' "big-endian"
patched 18 243
refused patched 'RISC-V' "another machine"
like "$(cat err)" 'expected: .*x86-64' "another machine: says what is expected"
patched 16 4
refused patched 'core dump' "core dump"
size=$(wc -c <app)
for part in 10 60 500 5000 $((size / 2)) $((size - 1)); do
	head -c "$part" app >short
	refused short 'truncated' "cut to $part bytes"
done
cp app app.ko
refused app.ko 'a program or shared library, no kernel module' \
	"program as a kernel module"
printf '\3757zXZ\000' >app.ko.xz
refused app.ko.xz 'compressed \(xz\), and damaged' "xz"
printf '\050\265\057\375' >app.ko.zst
refused app.ko.zst 'compressed \(zstd\), and damaged' "zstd"
printf '\037\213' >app.ko.gz
refused app.ko.gz 'compressed \(gzip\), and damaged' "gzip"
if [ "$(id -u)" -ne 0 ]; then
	cp app secret && chmod 0 secret
	refused secret 'Permission denied' "unreadable"
fi
strip --strip-all -o stripped app
tsf stripped 'TRACE TP=.work'
status 1 "stripped: no such symbol" trcust t.tsf
like "$(cat err)" 'the module is stripped' "stripped: says so"
cc -w -nostdlib -static -s -x assembler - -o nosyms <<'END'
.globl _start
_start: nop
END
tsf nosyms 'TRACE TP=._start'
status 1 "no symbols" trcust t.tsf
like "$(cat err)" 'severe: .*TRCERR_NO_SYMBOLIC' "no symbols: severe"

# Symbols
tsf app 'TRACE TP=.printf'
status 1 "a function of another module" trcust t.tsf
like "$(cat err)" 'not found: printf|TRCERR_BADSYMBOL' "it isn't found"
tsf app 'TRACE TP=.strlen'
trcust t.tsf 2>err
like "$(cat err)" 'defined in another one' "it is reported where"
tsf app 'TRACE TP=.wokr'
trcust t.tsf 2>err
like "$(cat err)" 'near names: .*work' "near names"
tsf app 'TRACE TP=.work+0, MEM32=(.per_thread,DIRECT,4)'
ok "thread-local" trcust t.tsf
like "$(trcust --dump t.tdf)" 'address \[bregx 58' "thread-local: by its base"
tsf app 'TRACE TP=.work, MEM32=(.length,DIRECT,4)'
status 1 "local variable that is not stored yet" trcust t.tsf
like "$(cat "$TMP/err")" 'slot in the frame is not stored yet' "it is reported"
tsf app 'TRACE TP=@app.c,11, MEM32=(.length,DIRECT,4)'
ok "local variable" trcust t.tsf
like "$(trcust --dump t.tdf)" 'mem length 4 address \[breg6-' \
	"local variable: in the frame"
tsf app 'TRACE TP=.main, MEM32=(.length,DIRECT,4)'
trcust t.tsf 2>err
like "$(cat err)" 'TRCERR_BADSYMBOL' "not the variable of another function"
tsf app 'TRACE TP=.indirect'
status 0 "indirect function" trcust t.tsf
like "$(cat err)" 'warning: .*TRCERR_IFUNC' "indirect function: warning"

for name in one two; do
	printf 'static int twin(int a) { return a + 1; }
		int %s(int a) { return twin(a) * 2; }\n' $name >$name.c
done
echo 'int one(int), two(int); int main(void) { return one(1) + two(2); }' >main.c
cc -O0 -o twins main.c one.c two.c
tsf twins 'TRACE TP=.twin'
status 0 "two local functions of a name" trcust t.tsf
like "$(cat err)" 'warning: .*twin.* at 0x.*TRCERR_AMBIGUOUS' "warning"
like "$(trcust --dump t.tdf)" \
	"address 0x$(nm twins | awk '$3 == "twin" { print $1 }' | sort |
	sed -n '1s/^0*//p') " "the first is used"
echo 'int twin(int a) { return a; }' >three.c
cc -O0 -o twins main.c one.c two.c three.c
status 0 "and a global one" trcust t.tsf
unlike "$(cat err)" AMBIGUOUS "no warning"
like "$(trcust --dump t.tdf)" \
	"address 0x$(nm twins | awk '$2 == "T" && $3 == "twin" { print $1 }' |
	sed 's/^0*//') " "the global one is used"

# slot_of FILE SYMBOL: where its global offset table has the address
slot_of() {
	readelf -rW "$1" | awk -v s="$2" \
		'/GLOB_DAT/ && index($5, s) == 1 { print $1 }' | sed 's/^0*//'
}

# What can be replaced by another module is read where the library reads it.
tsf lib.so 'TRACE TP=.work+0, MEM32=(.shared_number+4,DIRECT,4),
	MEM32=(.hidden_number,DIRECT,4), MEM32=(.stdout,INDIRECT,4)'
status 0 "data of a shared library" trcust t.tsf
trcust --dump t.tdf >dump
like "$(cat dump)" \
	"\[addr 0x$(slot_of lib.so shared_number); deref; plus_uconst 4\]" \
	"its exported data by the global offset table"
like "$(cat dump)" "\[addr 0x$(slot_of lib.so stdout); deref; deref\]" \
	"data of another module too"
like "$(cat dump)" "\[addr 0x$(nm lib.so | awk '$3 == "hidden_number" {
	print $1 }' | sed 's/^0*//')\]" "hidden data where they are"
cc -w -O1 -no-pie -o copy app.c
if readelf -rW copy | grep -q 'R_X86_64_COPY.*stdout'; then
	tsf copy 'TRACE TP=.main+0, MEM32=(.stdout,INDIRECT,4)'
	status 0 "data copied into the program" trcust t.tsf
	like "$(trcust --dump t.tdf)" "\[addr 0x$(readelf -rW copy |
		awk '/COPY.*stdout/ { print $1 }' | sed 's/^0*//'); deref\]" \
		"are read there"
else
	skip "data copied into the program" "the compiler makes no copies"
fi

# The kernel
tsf vmlinux 'TRACE MINOR=1, TP=.do_sys_open, REGS=(RDI)
TRACE MINOR=2, TP=.do_sys_open+4
TRACE MINOR=3, TP=.do_sys_open+4
TRACE MINOR=4, TP=.do_sys_open-4
TRACE MINOR=5, TP=.do_sys_close, MEM32=(.jiffies,DIRECT,8)
TRACE MINOR=6, TP=.do_sys_close, MEM32=(FRDI+8,INDIRECT,8)'
status 1 "a kernel without a file" trcust t.tsf
is "$(sed -nE 's/^t.tsf:([0-9]+):.*\[TRCERR_(.*)\]/\1 \2/p' err | xargs)" \
	"4 DUP_SEGOFF 5 INVALIDADDRESS 6 BADSYMBOL" "what can't be known"
like "$(cat err)" 'give it with --module vmlinux' "and what to do"
trcust --dump t.tdf >dump
like "$(cat dump)" 'path "vmlinux" kind kernel .* class 64 id none$' "kernel"
like "$(cat dump)" 'site "do_sys_open"\+4 offset 0x4 address 0 .* cost unknown insn -$' \
	"symbol and offset"
# a program replaces the kernel's file
cc -w -O1 -no-pie -Wl,--build-id=0x0123456789abcdef -o kernel app.c
tsf vmlinux 'TRACE MINOR=1, TP=.work+0, MEM32=(.shared_number,DIRECT,4)
TRACE MINOR=2, TP=.wrok'
status 1 "a kernel's file" trcust --module kernel t.tsf
like "$(cat err)" 'near names: .*work' "its symbols are known"
trcust --dump t.tdf >dump
like "$(cat dump)" 'path "vmlinux" kind kernel .* id build-id 0123456789abcdef$' \
	"its identity"
like "$(cat dump)" 'site "work"\+0 offset 0 address 0x[0-9a-f]+ ' "its addresses"
tap_done
