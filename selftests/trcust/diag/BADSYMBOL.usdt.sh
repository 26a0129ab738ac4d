# SPDX-License-Identifier: GPL-2.0
# Static probes: unknown ones, and one at two places.
cc -shared -nostdlib -o d/probes.so -x assembler - <<'END'
.globl alpha
.type alpha,@function
alpha: nop
1: nop
2: nop
ret
.size alpha, . - alpha
.macro probe at
.pushsection .note.stapsdt,"","note"
.balign 4
.4byte 8, 5f - 4f, 3
.asciz "stapsdt"
4: .8byte \at, 0, 0
.asciz "app"
.asciz "request"
.asciz "8@%rdi"
5: .balign 4
.popsection
.endm
probe 1b
probe 2b
END
cat <<'END'
MODNAME=d/probes.so
MAJOR=9
TRACE MINOR=1, TP=@USDT,app,^{BADSYMBOL}reply, DESC="gone"
TRACE MINOR=2, TP=@USDT,other,^{BADSYMBOL}request, DESC="gone"
TRACE MINOR=3, TP=@USDT,app,request, DESC="kept"
TRACE MINOR=4, TP=@USDT,app,^{DUP_SEGOFF}request, DESC="gone"
TRACE MINOR=5, TP=.^{DUP_SEGOFF}alpha+1, DESC="gone"
END
