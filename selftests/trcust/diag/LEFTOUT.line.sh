# SPDX-License-Identifier: GPL-2.0
# Of a line that is one of several functions, those in which a name means
# nothing; a name of none of them is an error.
cat >d/line.c <<'END'
#define BOTH int first(int a) { return a + 1; } int second(int b) { return b; }
BOTH
END
cc -O1 -g -fPIC -shared -nostdlib -o d/line.so d/line.c
cat <<'END'
MODNAME=d/line.so
MAJOR=9
TRACE MINOR=1, TP=@line.c,2, DESC="gone: neither has both", VARS=(^{BADSYMBOL}a, ^{LEFTOUT}b)
TRACE MINOR=2, TP=@line.c,2, DESC="gone", VARS=(^{BADSYMBOL}c)
TRACE MINOR=3, TP=@line.c,2, DESC="kept: second", IF=(^{LEFTOUT}b > 2), MEM32=(.b,DIRECT,4)
END
