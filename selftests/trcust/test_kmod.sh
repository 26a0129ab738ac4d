#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Kernel modules are object files: what is found in one is what is found when
# the linker has made a program of it, in every form of TP and of debug
# information; what can't be known before it is loaded is refused.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/kmod.sh"
need cc ld objcopy nm
cd "$TMP" || exit 1

module_write <<'END'
int kmod_choose(int which, int a, int b)
{
	switch (which) {
	case 0: return printk("%d", a);
	case 1: a += 5; break;
	case 2: b *= a; break;
	case 3: return first_item()->key;
	case 4: a ^= b; break;
	case 5: a -= exported_total; break;
	}
	return a + b;
}
#define SECTION(name) __attribute__((section(name), used))
SECTION(".data..percpu") static int of_cpu_first = 1;
SECTION(".data..percpu") static long of_cpu = 2;
SECTION(".init.data") static int start_only = 5;
END
cat >twin.c <<'END'
extern int printk(const char *fmt, ...);
static __attribute__((noinline)) int twin(int a)
{
	return printk("%d", a) + NUMBER;
}
int NAME(int a) { return twin(a) * 2; }
END
# Defined where the kernel would: so that the linker has all it needs
cat >kernel.s <<'END'
.text
.globl printk, first_item, __x86_return_thunk
.type __x86_return_thunk, @function
printk: nop
first_item: nop
__x86_return_thunk: ret
.section .note.GNU-stack, "", @progbits
END
cat >t.tsf <<'END'
MODNAME=mod.ko
MAJOR=9
TRACE MINOR=1, TP=.kmod_work, VARS=(list, n, list->name, list->next->key)
TRACE MINOR=2, TP=.kmod_work,RETEP, VARS=(total)
TRACE MINOR=3, TP=.helper+0, MEM32=(FRDI+8,INDIRECT,4)
TRACE MINOR=4, TP=@mod.c,12, VARS=(i, sum)
TRACE MINOR=5, TP=.kmod_start
TRACE MINOR=6, TP=.helper,RETEP
TRACE MINOR=7, TP=.kmod_stop, VARS=(last)
TRACE MINOR=8, TP=.kmod_choose,RETEP
TRACE MINOR=9, TP=.one
TRACE MINOR=10, TP=@mod.c,40, VARS=(b)
TRACE MINOR=11, TP=.helper,RETEP=CALLER
END
flags='-g -O2 -mcmodel=kernel -mno-red-zone -fno-pic -fno-pie
	-fno-asynchronous-unwind-tables -ffreestanding -w'
machine=$(uname -m)
[ "$machine" = x86_64 ] || bail "the module is for x86-64"

# build FLAG...: mod.ko, and the program mod.elf of the same code
build() {
	rm -f ./*.o
	# shellcheck disable=SC2086
	${CC:-cc} $flags "$@" -c mod.c &&
		${CC:-cc} $flags "$@" -DNAME=one -DNUMBER=1 -c -o one.o twin.c &&
		${CC:-cc} $flags "$@" -DNAME=two -DNUMBER=2 -c -o two.o twin.c &&
		cc -c -o kernel.o kernel.s &&
		ld -r --build-id=0x0123456789abcdef -o mod.ko mod.o one.o two.o &&
		ld -o mod.elf -e 0 mod.ko kernel.o
} >log 2>&1

build || { diag_file log; bail "the module does not compile"; }
compare gcc
is "$(grep -c '^  site' mod.text)" "$(grep -c '^  site' elf.text)" "all sites"
like "$(cat mod.text)" 'site "kmod_start"\+' "code of a second section"
like "$(cat mod.text)" 'tail-call' "jumps out of the module are exits"
trcust --dump t.tdf >dump
like "$(cat dump)" 'kind kernel-module .* id build-id 0123456789abcdef$' \
	"its identity"
like "$(cat dump)" 'cost unknown insn -' "instructions aren't compared"
status 0 "by MODNAME" trcust t.tsf
trcust --dump t.tdf | diff - dump >different
is "$(cat different)" "" "the same"

# Return thunks: a jump there is no tail call
build -mfunction-return=thunk-extern -fcf-protection=none && compare thunks
is "$(sed -n '/"kmod_work,RETEP"/,/^point/p' mod.text | grep -c '^  site')" \
	"2" "thunks: both exits"
is "$(sed -n '/"kmod_work,RETEP"/,/^point/p' mod.text | grep -c tail-call)" \
	"1" "thunks: one is a tail call"
objcopy --strip-debug mod.ko
cat >call.tsf <<'END'
MODNAME=mod.ko
MAJOR=9
TRACE MINOR=1, CALL=.kmod_work, HIST=(elapsed)
END
status 0 "thunks: a whole call, without debug information" trcust call.tsf
is "$(trcust --dump call.tdf | grep -c '^  key value \[breg7+8\]')" 3 \
	"thunks: at its entry and exits the return address is on top"
for version in 4 5; do
	build "-gdwarf-$version" && compare "DWARF $version"
done
build -O0 && compare "-O0"
build -O3 && compare "-O3"
if command -v clang >log; then
	CC=clang
	build && compare clang
	CC=
else
	skip clang "there is none"
fi

# Debug information elsewhere, or compressed
build
trcust t.tsf 2>err
normal t.tdf >expected
cp mod.ko full.ko
separate() {
	rm -f t.tdf
	trcust "$@" t.tsf 2>err
	is "$(normal t.tdf)" "$(cat expected)" "$what" || diag_file err
}
for kind in zlib zlib-gnu; do
	what="compressed: $kind"
	objcopy --compress-debug-sections=$kind full.ko mod.ko && separate
done
objcopy --strip-debug full.ko mod.ko
objcopy --only-keep-debug full.ko other.debug
what="--debug" separate --debug other.debug
# sections in another order, one more in front
echo more >extra
objcopy --add-section .more=extra --set-section-flags .more=alloc,data \
	full.ko order.ko
ld -r -T /dev/stdin -o order.debug order.ko 2>log <<'END'
SECTIONS {
	.more : { *(.more) }
	.exit.text : { *(.exit.text) }
	.init.text : { *(.init.text) }
	.text : { *(.text) }
}
END
what="its sections in another order" separate --debug order.debug
folder=lib/modules/6.1/kernel
mkdir -p root/usr/$folder root/usr/lib/debug/$folder
cp mod.ko root/usr/$folder
cp other.debug root/usr/lib/debug/$folder/mod.ko
what="below /usr/lib/debug" separate --sysroot "$TMP/root" \
	--module "$TMP/root/usr/$folder/mod.ko"
status 1 "without any" trcust t.tsf
like "$(cat err)" 'TRCERR_NO_CV' "without any: said"
cc -c -g -x c -o foreign.o - <twin.c -DNAME=f -DNUMBER=1 -w
ld -r --build-id=0x99 -o foreign.debug foreign.o
status 1 "of another build" trcust --debug foreign.debug t.tsf
like "$(cat err)" 'belongs to another build' "of another build: said"
cp full.ko mod.ko

# Symbols that aren't alone: the kernel would take another one
printf 'MODNAME=mod.ko\nMAJOR=9\nTRACE TP=@twin.c,4\n' >twin.tsf
status 0 "a name that two functions have" trcust twin.tsf
unlike "$(trcust --dump twin.tdf)" 'site "twin"' "its symbol isn't named"
like "$(trcust --dump twin.tdf)" 'site "[a-z_]+"\+[0-9]+ ' "another one is"

# refused TEXT LINE...
refused() {
	text=$1
	shift
	printf 'MODNAME=mod.ko\nMAJOR=9\n%s\n' "$@" >r.tsf
	status 1 "$*" trcust r.tsf
	like "$(cat err)" "$text" "$*: said" || diag_file err
}

# Static data: the section that the kernel relocates for itself
# data TSF SECTION [ADDRESS]: what is logged there, and where that is
data() {
	printf 'MODNAME=mod.ko\nMAJOR=9\nTRACE TP=.%s\n' "$1" >r.tsf
	status 0 "$1" trcust r.tsf
	trcust --dump r.tdf >dump
	is "$(sed -n 's/^\(.*section.*"\) address.*/\1/p' dump)" "$2" "$1: section"
	address=$(sed -n 's/.*addr 0x\([0-9a-f]*\).*/\1/p' dump)
	sed -n 's/^.*section.* address 0x\([0-9a-f]*\) size 0x\([0-9a-f]*\) .*/\1 \2/p' \
		dump >section
	read -r start size <section
	ok "$1: it is in there" test $((0x$address - 0x$start)) -ge 0 -a \
		$((0x$address - 0x$start)) -lt $((0x$size))
}
data 'helper, VARS=(counter)' 'section ".bss"'
data 'kmod_work, MEM32=(.exported_total,DIRECT,4)' 'section ".data"'
data 'kmod_work, MEM32=(.exported_total+4000,DIRECT,4)' 'section ".data"'
data 'kmod_work, VARS=(&exported_total)' 'section ".data"'
data 'kmod_work, IF=(n > counter)' 'section ".bss"'
data 'kmod_work, VARS=(kmod_stop)' 'section ".exit.text"'
data 'kmod_work, VARS=(kmod_choose)' 'section ".text"'
first=$(nm mod.ko | sed -n 's/^0* . \(of_cpu.*\)$/\1/p')
data 'kmod_work, VARS=(of_cpu)' "per-cpu section from \"$first\""
data 'kmod_work, VARS=(of_cpu_first)' "per-cpu section from \"$first\""
printf 'MODNAME=mod.ko\nTRACE TP=.kmod_work, VARS=(counter, exported_total, of_cpu)\n' \
	>r.tsf
status 0 "of three sections" trcust r.tsf
is "$(trcust --dump r.tdf | grep -c '^\(per-cpu \)*section')" 3 "all of them"
refused 'gone once the module runs' 'TRACE TP=.kmod_work, VARS=(start_only)'
like "$(cat err)" "'start_only'" "the variable is named"
refused 'defined in another one' 'TRACE TP=.printk'
refused 'TRCERR_BADSYMBOL' 'TRACE TP=.kmod_wrok'
like "$(cat err)" 'near names: .*kmod_work' "near names"
refused 'inside an instruction' 'TRACE TP=.kmod_choose+1'

# Files that are none, or damaged
objcopy --only-keep-debug full.ko mod.ko
refused 'debug information only' 'TRACE TP=.helper'
for part in 0 40 600 4000; do
	head -c $part full.ko >mod.ko
	refused 'TRCERR_' 'TRACE TP=.helper'
done
rm mod.ko
: >mod.ko.xz
refused 'it is empty' 'TRACE TP=.helper'
rm mod.ko.xz

# Compressed ones, found by the name without the suffix and with it
for method in xz zstd gzip; do
	command -v $method >log || {
		skip "$method" "there is none"
		continue
	}
	case $method in
	zstd)	suffix=zst ;;
	gzip)	suffix=gz ;;
	*)	suffix=$method ;;
	esac
	$method -q -c <full.ko >mod.ko.$suffix
	what="$method: found" separate
	what="$method: named" separate --module mod.ko.$suffix
	like "$(trcust --dump t.tdf)" "path \".*/mod.ko.$suffix\" .* id build-id 0123" \
		"$method: what the TDF says of it"
	sed "s/mod\.ko/mod.ko.$suffix/" t.tsf >named.tsf
	status 0 "$method: in MODNAME" trcust named.tsf
	is "$(normal named.tdf)" "$(cat expected)" "$method: the same there"
	size=$(wc -c <mod.ko.$suffix)
	cp mod.ko.$suffix whole
	for part in 20 $((size / 2)) $((size - 1)); do
		head -c $part whole >mod.ko.$suffix
		refused 'damaged or cut short|TRCERR_BADFILE' 'TRACE TP=.helper'
	done
	rm mod.ko.$suffix whole
done
head -c 300000000 /dev/zero | gzip -1 >bomb.ko.gz
printf 'MODNAME=bomb.ko\nTRACE TP=.helper\n' >r.tsf
status 1 "a bomb" trcust r.tsf
like "$(cat err)" 'more than 256 MiB' "a bomb: said"
rm bomb.ko.gz
cp full.ko mod.ko
objcopy --remove-section .note.gnu.build-id mod.ko
status 0 "no build-id" trcust t.tsf
like "$(trcust --dump t.tdf)" 'id none$' "no build-id: no identity"

# A TSF of the whole module
cp full.ko mod.ko
status 0 "--from-module" trcust --from-module mod.ko --retep --args
cp out whole.tsf
status 0 "it compiles" trcust whole.tsf
like "$(trcust --dump whole.tdf)" 'site "kmod_choose"' "all functions"
tap_done
