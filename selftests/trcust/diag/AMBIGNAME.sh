# SPDX-License-Identifier: GPL-2.0
# Static variables, and types, of two other files.
for i in 1 2; do
	echo "static int own = $i; struct s { int a[$i]; } s$i;
int get$i(void) { return own += s$i.a[0]; }" >d/own$i.c
done
echo 'int third(int a) { return a; }' >d/own3.c
cc -g -O0 -fPIC -shared -nostdlib -o d/own.so d/own1.c d/own2.c d/own3.c
cat <<'END'
MODNAME=d/own.so
MAJOR=9
TRACE MINOR=1, TP=.third, DESC="gone: none is of this file",
      VARS=(^{AMBIGNAME}own)
TRACE MINOR=2, TP=.third+4, DESC="gone: a type", VARS=((^{AMBIGNAME}struct s *)a)
TRACE MINOR=3, TP=.get2, DESC="kept", VARS=('own1.c'::own)
TRACE MINOR=4, TP=.get1, DESC="kept", VARS=(own)
END
