# SPDX-License-Identifier: GPL-2.0
# A function is there, and called, but some calls were inlined.
cat >d/some.c <<'END'
int counter;
int shared(int n)
{
	return counter ^= n;
}
int user(int n)
{
	return shared(n) + 2;
}
END
cc -O2 -g -fPIC -shared -nostdlib -Wl,-Bsymbolic -fno-semantic-interposition \
	-o d/some.so d/some.c
cat <<'END'
MODNAME=d/some.so
MAJOR=9
TRACE MINOR=1, TP=.^{INLINEDTOO}shared, DESC="kept"
TRACE MINOR=2, TP=.shared,RETEP, DESC="kept: the first one has the message"
TRACE MINOR=3, TP=.user, DESC="kept"
END
