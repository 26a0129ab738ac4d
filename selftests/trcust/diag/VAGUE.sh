# SPDX-License-Identifier: GPL-2.0
# A copy is in pieces, and no row is marked as the one where it is entered.
cat >d/copy.c <<'END'
int counter;
static inline __attribute__((always_inline)) int copied(int n)
{
	counter += n;
	if (n > 5)
		__builtin_trap();
	return n * counter;
}
int work(int n)
{
	if (__builtin_expect(n & 1, 0))
		return n;
	return copied(n) + n * 7;
}
END
cc -O2 -g -gno-column-info -fPIC -shared -nostdlib -o d/copy.so d/copy.c
cc -O2 -g -fPIC -shared -nostdlib -o d/marked.so d/copy.c
cat <<'END'
MODNAME=d/copy.so
MAJOR=9
TRACE MINOR=1, TP=.^{VAGUE}copied, DESC="kept"
END
