# SPDX-License-Identifier: GPL-2.0
# Arrays whose number of elements is not known have no size, and neither have
# those of such arrays elements to count.
cat >d/array.c <<'END'
int use(int (*rows)[2], void *columns);
struct open { int n, rest[]; };
int f(struct open *open, int n)
{
	int columns[3][n], rows[n][2];
	return use(rows, columns) +
	       open->rest[n];
}
END
cc -O0 -g -fPIC -shared -nostdlib -o d/array.so d/array.c
cat <<'END'
MODNAME=d/array.so
MAJOR=9
TRACE MINOR=1, TP=@array.c,6, DESC="gone", VARS=(^{NOSIZE}sizeof columns, ^{NOSIZE}sizeof rows, ^{NOSIZE}sizeof open->rest)
TRACE MINOR=2, TP=@array.c,6, DESC="gone: elements of unknown size", VARS=(columns^{NOSIZE}[2][1], *(columns ^{NOSIZE}+ 2))
TRACE MINOR=3, TP=@array.c,6, DESC="kept", VARS=(rows[1][1], rows:2, sizeof rows[0], open->rest[2], open->rest:2, **columns)
END
