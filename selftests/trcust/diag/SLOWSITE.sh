# SPDX-License-Identifier: GPL-2.0
# Where a probe is slow and can't be moved to a fast instruction: what it would pass over faults,
# or changes what is logged. The ninth is counted only.
cat >d/slow.c <<'END'
asm(".text\n.irp n, 1,2,3,4,5,6,7,8,9\n"
    ".globl slow\\n\n.type slow\\n,@function\n"
    "slow\\n: mov (%rdi), %eax\npush %rbx\npop %rbx\nret\n"
    ".size slow\\n, . - slow\\n\n.endr\n"
    ".globl cheap\n.type cheap,@function\n"
    "cheap: push %rbx\nmov (%rdi), %eax\npop %rbx\nret\n"
    ".size cheap, . - cheap\n");
END
cc -O2 -fPIC -shared -nostdlib -o d/slow.so d/slow.c
echo 'MODNAME=d/slow.so'
echo 'MAJOR=9'
for n in 1 2 3 4 5 6 7 8; do
	echo "TRACE TP=.^{SLOWSITE}slow$n, DESC=\"kept\", REGS=(RDI)"
done
echo 'TRACE TP=.^{:SLOWSITE}slow9, DESC="kept", REGS=(RDI)'
echo 'TRACE TP=.cheap, DESC="kept: it is cheap", REGS=(RDI)'
