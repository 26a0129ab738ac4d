# SPDX-License-Identifier: GPL-2.0
# A type that only another file has; one that this file declares.
cat >d/type1.c <<'END'
struct s { int a; } s1;
struct t { int b; } t1;
END
cat >d/type2.c <<'END'
struct t *t2;
int third(int a) { return a + (t2 != 0); }
END
cc -g -O0 -fPIC -shared -nostdlib -o d/type.so d/type1.c d/type2.c
cat <<'END'
MODNAME=d/type.so
MAJOR=9
TRACE MINOR=1, TP=.third, DESC="kept", VARS=(((^{OTHERTYPE}struct s *)t2)->a)
TRACE MINOR=2, TP=.third+4, DESC="kept", VARS=(t2->b,((struct t *)t2)->b)
END
