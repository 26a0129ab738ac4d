# SPDX-License-Identifier: GPL-2.0
# Two source files have the same name.
mkdir d/a d/b
for part in a b; do
	printf 'int %s(int a)\n{\n\treturn a + 1;\n}\n' $part >d/$part/same.c
done
cc -g -O0 -fPIC -shared -nostdlib -o d/same.so d/a/same.c d/b/same.c
cat <<'END'
MODNAME=d/same.so
MAJOR=9
TRACE MINOR=1, TP=@^{SEVERALFILES}same.c,3, DESC="kept: in both"
TRACE MINOR=2, TP=@^{DUP_SEGOFF}"a/same.c",3, DESC="gone: one of them"
TRACE MINOR=3, TP=@"b/same.c",4, DESC="kept"
END
