# SPDX-License-Identifier: GPL-2.0
# An offset leads out of the symbol's section, into another one with code.
cc -shared -nostdlib -o d/sections.so -x assembler - <<'END'
.globl alpha, beta
.type alpha,@function
.type beta,@function
alpha: nop
ret
.size alpha, . - alpha
.section other,"ax",@progbits
beta: nop
nop
ret
.size beta, . - beta
END
at() {
	nm d/sections.so | awk -v s="$1" '$3 == s { print "0x" $1 }'
}
distance=$(($(at beta) - $(at alpha)))
cat <<END
MODNAME=d/sections.so
MAJOR=9
TRACE MINOR=1, TP=.^{BAD_OFFSET}alpha+$distance, DESC="kept: beta"
TRACE MINOR=2, TP=.^{BAD_OFFSET}beta-$distance, DESC="kept: alpha"
TRACE MINOR=3, TP=.beta+1, DESC="kept"
TRACE MINOR=4, TP=.^{INVALIDADDRESS}beta+100000, DESC="gone: no code there"
END
