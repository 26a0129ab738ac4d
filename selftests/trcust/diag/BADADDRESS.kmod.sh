# SPDX-License-Identifier: GPL-2.0
# What is for the start of a kernel module only is gone when it can be traced;
# of its per-CPU data the kernel exports only the symbols.
cc -O2 -g -mcmodel=kernel -fno-pic -fno-pie -c -o object.o -x c - <<'END'
#define SECTION(name) __attribute__((section(name), used))
SECTION(".init.data") int start_only = 1;
int kept = 2;
int used(int a) { return a + kept; }
int also(int a) { return a + start_only; }
int third(int a) { return a - start_only; }
END
ld -r --build-id=0x0123456789abcdef -o plain.ko object.o
cat <<'END'
MODNAME=plain.ko
MAJOR=9
TRACE MINOR=1, TP=.used, DESC="gone", MEM32=(.^{BADADDRESS}start_only+4,DIRECT,4)
TRACE MINOR=2, TP=.also, DESC="gone", VARS=(a, ^{BADADDRESS}start_only)
TRACE MINOR=3, TP=.third, DESC="gone", IF=(a == ^{BADADDRESS}start_only), VARS=(a)
TRACE MINOR=4, TP=.used, DESC="kept", VARS=(a, kept)
END
