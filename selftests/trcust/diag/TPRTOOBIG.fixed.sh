# SPDX-License-Identifier: GPL-2.0
# What every record holds, registers and prefixes, has at most 1,984 bytes:
# 248 registers of 8 bytes, but not a prefix of 3 more.
repeat() {
	yes "$2" | head -n "$1" | tr -d '\n'
}
cat <<'END'
MODNAME=module.so
TRACE TP=.alpha, DESC="kept",
END
printf 'REGS=('
repeat 64 RDI,
echo "^{MAXLEN_EXCEED}$(repeat 183 RDI,)RDI)"
cat <<'END'
TRACE TP=.beta, DESC="gone",
END
printf 'REGS=('
repeat 64 RDI,
echo "^{MAXLEN_EXCEED}$(repeat 183 RDI,)RDI),"
echo "^{TPRTOOBIG}MEM64=(FRDI,DIRECT,4)"
