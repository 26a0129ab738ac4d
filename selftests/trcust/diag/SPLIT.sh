# SPDX-License-Identifier: GPL-2.0
# Only the second part of a function is there: its first one is nowhere.
cat >d/split.c <<'END'
__attribute__((noipa)) int whole(int n)
{
	return n + 1;
}
int other(int n)
{
	return whole(n) * 2;
}
END
cc -O2 -g -fPIC -S -o d/split.s d/split.c
sed '/\.string\|\.ascii/!s/\<whole\>/whole.part.0/g' d/split.s >d/part.s
cc -fPIC -shared -nostdlib -o d/split.so d/part.s
cat <<'END'
MODNAME=d/split.so
MAJOR=9
TRACE MINOR=1, TP=.^{SPLIT}whole, DESC="kept"
TRACE MINOR=2, TP=.other, DESC="kept"
END
