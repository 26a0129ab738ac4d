# SPDX-License-Identifier: GPL-2.0
# Of several sites those that can't be traced are left out.
cat >d/left.c <<'END'
int other(int a);
asm(".text\n.globl other, several, all, prefixed\n"
    ".type other,@function\n.type several,@function\n"
    ".type prefixed,@function\n"
    "other: mov %edi, %eax\nret\n.size other, . - other\n"
    "several: test %edi, %edi\nje other\nmov $1, %eax\nret\n"
    ".size several, . - several\n"
    "prefixed: test %edi, %edi\nje 1f\n.byte 0x3e\nret\n1: nop\nret\n"
    ".size prefixed, . - prefixed\n"
    ".type all,@function\n"
    "all: test %edi, %edi\nje 1f\n.byte 0x3e\nret\n1: .byte 0x3e\nret\n"
    ".size all, . - all\n");
END
cc -O2 -fPIC -shared -nostdlib -o d/left.so d/left.c
cat <<'END'
MODNAME=d/left.so
MAJOR=9
TRACE MINOR=1, TP=.^{LEFTOUT}several,RETEP, DESC="kept: but for a conditional tail call"
TRACE MINOR=2, TP=.^{LEFTOUT}prefixed,RETEP, DESC="kept: but for a prefix"
TRACE MINOR=3, TP=.^{LEFTOUT}^{LEFTOUT}^{BADOPCODE}all,RETEP, DESC="gone: all have it"
TRACE MINOR=4, TP=.other, DESC="kept"
END
