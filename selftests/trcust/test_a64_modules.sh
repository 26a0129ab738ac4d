#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Kernel modules for AArch64 are relocated as the linker does it: what is found
# in one is what is found in the program that is made of it, jumps by tables and
# out of it included.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/kmod.sh"
need aarch64-linux-gnu-gcc aarch64-linux-gnu-ld aarch64-linux-gnu-objdump
cd "$TMP" || exit 1
tools=aarch64-linux-gnu-

module_write <<'END'
static unsigned char bytes[100];
static unsigned short halves[100];
static long words[100];
static const void *const places[] = { &bytes, &words[7], kmod_work };
int kmod_choose(int which, int a, int b)
{
	switch (which) {
	case 0: return printk("%d", a);
	case 1: a += bytes[5]; break;
	case 2: b *= halves[3]; break;
	case 3: return first_item()->key;
	case 4: a ^= words[9]; break;
	case 5: a -= exported_total; break;
	case 6: b += places[a] != 0; break;
	}
	return a + b;
}
END
# Defined where the kernel would: so that the linker has all it needs
cat >kernel.s <<'END'
.text
.globl printk, first_item
printk: nop
first_item: ret
END
cat >t.tsf <<'END'
MODNAME=mod.ko
MAJOR=9
TRACE MINOR=1, TP=.kmod_work, VARS=(list, n, list->name, list->next->key)
TRACE MINOR=2, TP=.kmod_work,RETEP, VARS=(total)
TRACE MINOR=3, TP=.helper+0, MEM32=(FX0+8,INDIRECT,4)
TRACE MINOR=4, TP=@mod.c,12, VARS=(i)
TRACE MINOR=5, TP=.kmod_start
TRACE MINOR=6, TP=.helper,RETEP
TRACE MINOR=7, TP=.kmod_stop, VARS=(last)
TRACE MINOR=8, TP=.kmod_choose,RETEP
TRACE MINOR=9, TP=@mod.c,47, VARS=(b)
TRACE MINOR=10, TP=.helper,RETEP=CALLER
TRACE MINOR=11, TP=.kmod_choose, VARS=(counter, exported_total)
END
flags='-g -O2 -mgeneral-regs-only -fno-pic -fno-pie -ffreestanding -w
	-fno-asynchronous-unwind-tables'

# build FLAG...: mod.ko, and the program mod.elf of the same code
build() {
	# shellcheck disable=SC2086
	${CC:-${tools}gcc} $flags "$@" -c mod.c &&
		${tools}as -o kernel.o kernel.s &&
		${tools}ld -r --build-id=0x0123456789abcdef -o mod.ko mod.o &&
		${tools}ld -o mod.elf -e 0 mod.ko kernel.o
} >log 2>&1

build || { diag_file log; bail "the module does not compile"; }
compare gcc
trcust --dump t.tdf >dump
like "$(cat dump)" 'machine AArch64|machine 183' "its machine" ||
	head -n 3 dump | diag_file
like "$(cat mod.text)" 'tail-call' "jumps out of the module are exits"
build -mbranch-protection=standard && compare "signed addresses"
build -O0 && compare "-O0"
build -O3 && compare "-O3"
build -mcmodel=large && compare "-mcmodel=large"
if clang --target=aarch64-linux-gnu -c -x c -o /dev/null /dev/null 2>log; then
	CC='clang --target=aarch64-linux-gnu'
	build && compare clang
	CC=
else
	skip clang "there is none for AArch64"
fi
tap_done
