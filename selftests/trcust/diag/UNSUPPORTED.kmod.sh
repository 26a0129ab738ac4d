# SPDX-License-Identifier: GPL-2.0
# The kernel puts each section of a module where it likes: one load bias won't
# do for code and data.
cc -O2 -g -mcmodel=kernel -fno-pic -fno-pie -c -o object.o -x c - <<'END'
static int count;
int total;
int used(int a) { return count += a + total; }
END
ld -r --build-id=0x0123456789abcdef -o plain.ko object.o
cat <<'END'
MODNAME=plain.ko
MAJOR=9
TRACE MINOR=1, TP=.used, DESC="gone", MEM32=(.^{UNSUPPORTED}total+4,DIRECT,4)
TRACE MINOR=2, TP=.used, DESC="gone", VARS=(a, ^{UNSUPPORTED}count)
TRACE MINOR=3, TP=.used, DESC="gone", IF=(a == ^{UNSUPPORTED}total), VARS=(a)
TRACE MINOR=4, TP=.used, DESC="kept", VARS=(a)
END
