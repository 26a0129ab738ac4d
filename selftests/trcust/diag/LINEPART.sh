# SPDX-License-Identifier: GPL-2.0
# The line table has rows of the line where no statement begins: the function
# that begins after it isn't meant. Of several places none is known to be meant.
cat >d/part.c <<'END'
int first(int a)
{
	a++;
	a += 2; a += 3;
	return a;
}

int second(int a)
{
	return a + 2;
}
END
cc -g -O0 -S -o d/part.s d/part.c
# as if an optimiser had joined lines
awk '$1 == ".loc" && $3 == 4 { $0 = $0 " is_stmt 0\n nop\n .loc 1 3 1 is_stmt 1\n nop\n .loc 1 4 9 is_stmt 0" }
	$1 == ".loc" && $3 == 5 { $0 = $0 " is_stmt 0" }
	$1 == ".loc" && !/is_stmt/ { $0 = $0 " is_stmt 1" }
	{ print }' d/part.s >d/joined.s
cc -fPIC -shared -nostdlib -o d/part.so d/joined.s
cat <<'END'
MODNAME=d/part.so
MAJOR=9
TRACE MINOR=1, TP=@^{LINEPART}part.c,5, DESC="kept: what is left of a return"
TRACE MINOR=2, TP=@^{INVALIDLINENUM}part.c,4, DESC="gone: at two places"
TRACE MINOR=3, TP=@^{NEXTLINENUM}part.c,7, DESC="kept: the next one"
END
