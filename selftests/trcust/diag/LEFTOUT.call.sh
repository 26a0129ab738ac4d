# SPDX-License-Identifier: GPL-2.0
# A CALL of a function whose entry, or each of whose exits, is left out.
cat >d/call.c <<'END'
long entered(long), left(long), both(long);
asm(".text\n.globl entered, left, both\n"
    ".type entered,@function\n.type left,@function\n.type both,@function\n"
    "entered: lock incq (%rdi)\nmov %rdi, %rax\nret\n"
    ".size entered, . - entered\n"
    "left: mov %rdi, %rax\n.byte 0x3e\nret\n.size left, . - left\n"
    "both: test %edi, %edi\nje 1f\n.byte 0x3e\nret\n1: nop\nret\n"
    ".size both, . - both\n");
END
cc -O2 -fPIC -shared -nostdlib -o d/call.so d/call.c
cat <<'END'
MODNAME=d/call.so
MAJOR=9
TRACE MINOR=1, CALL=.^{LEFTOUT}^{BADOPCODE}entered, DESC="gone", VARS=($rdi)
TRACE MINOR=2, CALL=.^{LEFTOUT}^{BADOPCODE}entered, DESC="gone", RESULT=(entry($rdi))
TRACE MINOR=3, CALL=.^{LEFTOUT}^{BADOPCODE}entered, HIST=(elapsed)
TRACE MINOR=4, CALL=.^{LEFTOUT}^{BADOPCODE}left, DESC="gone", VARS=($rdi)
TRACE MINOR=5, CALL=.^{LEFTOUT}both, DESC="kept: one exit is there", VARS=($rdi)
END
