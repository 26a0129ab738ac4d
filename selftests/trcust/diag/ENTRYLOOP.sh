# SPDX-License-Identifier: GPL-2.0
# A loop may begin at the function's entry. In a function with a prologue it
# begins after that.
cat >d/loop.c <<'END'
void loop(volatile int *p)
{
	do
		--*p;
	while (*p);
}
int callee(int n);
int framed(volatile int *p, int n)
{
	do
		n = callee(n) + --*p;
	while (n);
	return n;
}
END
cc -O2 -g -fPIC -shared -nostdlib -o d/loop.so d/loop.c
cat <<'END'
MODNAME=d/loop.so
MAJOR=9
TRACE MINOR=1, TP=.^{ENTRYLOOP}loop, DESC="kept"
TRACE MINOR=2, TP=.loop,RETEP, DESC="kept"
TRACE MINOR=3, TP=.framed, DESC="kept"
END
