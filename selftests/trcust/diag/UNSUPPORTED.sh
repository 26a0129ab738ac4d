# SPDX-License-Identifier: GPL-2.0
# The symbol table doesn't have the address of a thread-local variable.
cc -O2 -shared -fPIC -nostdlib -o plain.so -x c - <<'END'
__thread int each;
int number;
int *used(int a) { return a ? &each : &number; }
END
cat <<'END'
MODNAME=plain.so
MAJOR=9
TRACE MINOR=1, TP=.used, DESC="gone", MEM32=(.^{UNSUPPORTED}each,DIRECT,4)
TRACE MINOR=2, TP=.used, DESC="kept", MEM32=(.number,DIRECT,4)
END
