# SPDX-License-Identifier: GPL-2.0
# Local functions of two files.
for i in 1 2; do
	echo "static int twice(int a) { return a + $i; }
int (*caller$i)(int) = twice;" >d/$i.c
	cc -O0 -fPIC -c -o d/$i.o d/$i.c
done
cc -shared -nostdlib -o d/twice.so d/1.o d/2.o
cat <<'END'
MODNAME=d/twice.so
TRACE MINOR=1, TP=.^{AMBIGUOUS}twice, DESC="kept"
END
