# SPDX-License-Identifier: GPL-2.0
# More copies of an inlined function than a tracepoint can have.
{
	echo 'static inline __attribute__((always_inline)) void in(int *p)'
	echo '{ *(volatile int *)p = 1; }'
	echo 'void outer(int *p) {'
	awk 'BEGIN { for (i = 0; i < 820; i++) print \
		"in(p+1);in(p+2);in(p+3);in(p+4);in(p+5);" \
		"in(p+6);in(p+7);in(p+8);in(p+9);in(p+10);" }'
	echo '}'
} >d/many.c
cc -g -O1 -fPIC -shared -nostdlib -o d/many.so d/many.c
cat <<'END'
MODNAME=d/many.so
MAJOR=9
TRACE MINOR=1, TP=.^{TOOMANYSITES}in, DESC="gone"
TRACE MINOR=2, TP=.outer, DESC="kept"
END
