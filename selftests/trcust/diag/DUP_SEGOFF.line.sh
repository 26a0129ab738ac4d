# SPDX-License-Identifier: GPL-2.0
# A line where a function begins is one of its own, although its probe is
# after the prologue, as that of the line there is.
cat >d/dup.c <<'END'
int first(int a)
{
	__asm__("nop" : "+r"(a));
	return a + 1;
}
END
cc -g -O0 -fPIC -shared -nostdlib -o d/dup.so d/dup.c
cat <<'END'
MODNAME=d/dup.so
MAJOR=9
TRACE MINOR=1, TP=@dup.c,2, DESC="kept: where the function begins"
TRACE MINOR=2, TP=@dup.c,3, DESC="kept"
TRACE MINOR=3, TP=.first+0, DESC="kept"
TRACE MINOR=4, TP=@^{DUP_SEGOFF}dup.c,2, DESC="gone: it has been taken"
TRACE MINOR=5, TP=.^{DUP_SEGOFF}first, DESC="gone: it is line 3"
END
