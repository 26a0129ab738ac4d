# SPDX-License-Identifier: GPL-2.0
# A function of its own is there, and nothing calls it. Of a library another
# module may.
cat >d/inlined.c <<'END'
int counter;

int stock(int n)
{
	return counter += n;
}
__attribute__((noinline)) static int twice(int n)
{
	__asm__ volatile("" : : : "memory");
	return n * 2;
}
static inline __attribute__((always_inline)) int often(int n)
{
	return counter -= n;
}
__attribute__((noinline)) static int both(int n)
{
	__asm__ volatile("" : : : "memory");
	return often(n);
}
int (*volatile pointer)(int) = often;
int shared(int n)
{
	return counter ^= n;
}
int other(int n);
int main(int argc, char **argv)
{
	return stock(argc) + twice(argc) + both(argc) + pointer(1) +
	       shared(argc) + other(argc);
}
END
cat >d/other.c <<'END'
int shared(int n);
int other(int n)
{
	return shared(n) + 1;
}
END
cc -O2 -g -c -o d/inlined.o d/inlined.c
cc -O0 -c -o d/other.o d/other.c
cc -o d/inlined d/inlined.o d/other.o
cat <<'END'
MODNAME=d/inlined
MAJOR=9
TRACE MINOR=1, TP=.^{INLINED}stock, DESC="kept: it is in main()"
TRACE MINOR=2, TP=.twice, DESC="kept"
TRACE MINOR=3, TP=.^{INLINED}often, DESC="kept: called by a pointer alone"
TRACE MINOR=4, TP=.both, DESC="kept"
TRACE MINOR=5, TP=.^{INLINED}stock,RETEP, DESC="kept"
TRACE MINOR=6, TP=.^{INLINEDTOO}shared, DESC="kept: called by what has no debug information"
END
