# SPDX-License-Identifier: GPL-2.0
# An absolute symbol is in no section; its value may be an address of code.
cc -shared -nostdlib -o d/absolute.so -x assembler - <<END
.globl alpha, absolute, nowhere
.type alpha,@function
.org 0x40
alpha: nop
ret
.size alpha, . - alpha
END
address=$(nm d/absolute.so | awk '$3 == "alpha" { print $1 }')
cc -shared -nostdlib -o d/absolute.so -x assembler - <<END
.globl alpha, absolute, nowhere
.type alpha,@function
.org 0x40
alpha: nop
ret
.size alpha, . - alpha
.set absolute, 0x$address + 1
.set nowhere, 0x12345678
END
cat <<'END'
MODNAME=d/absolute.so
MAJOR=9
TRACE MINOR=1, TP=.^{BAD_OBJ}absolute, DESC="kept: the address is one of code"
TRACE MINOR=2, TP=.^{INVALIDADDRESS}nowhere, DESC="gone"
TRACE MINOR=3, TP=.alpha, DESC="kept"
END
