# SPDX-License-Identifier: GPL-2.0
# A nop of 5 bytes stays the site where no other instruction has the values: a
# jump goes to the instruction after it.
cat >d/nop.c <<'END'
asm(".text\n.globl stays, leaves\n"
    ".type stays,@function\n.type leaves,@function\n"
    "stays: .byte 0x0f, 0x1f, 0x44, 0, 0\n1: dec %edi\njne 1b\nret\n"
    ".size stays, . - stays\n"
    "leaves: .byte 0x0f, 0x1f, 0x44, 0, 0\npush %rbx\npop %rbx\nret\n"
    ".size leaves, . - leaves\n");
END
cc -O2 -fPIC -shared -nostdlib -o d/nop.so d/nop.c
cat <<'END'
MODNAME=d/nop.so
MAJOR=9
TRACE TP=.^{NOP5SITE}stays, DESC="kept", REGS=(RDI)
TRACE TP=.leaves, DESC="kept", REGS=(RDI)
END
