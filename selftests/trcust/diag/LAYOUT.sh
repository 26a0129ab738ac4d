# SPDX-License-Identifier: GPL-2.0
# A line of two functions, whose variables have the same name.
cat >layout.c <<'END'
int number;
int narrow(char v) { return number + v; } long wide(long v) { return number * v; }
END
cc -O2 -g -shared -fPIC -nostdlib -o layout.so layout.c
cat <<'END'
MODNAME=layout.so
TRACE MINOR=1, TP=@layout.c,2, DESC="gone", ^{LAYOUT}REGS=(.v)
TRACE MINOR=2, TP=@layout.c,2, DESC="kept", REGS=(AX), MEM32=(.v,DIRECT,1)
END
