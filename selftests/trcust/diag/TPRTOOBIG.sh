# SPDX-License-Identifier: GPL-2.0
# An expression of 4,095 bytes is taken, one of 4,096 is not; a register takes
# two bytes, a dereference one. So are 256 statements, but not 257.
repeat() {
	yes "$2" | head -n "$1" | tr -d '\n'
}
cat <<'END'
MODNAME=module.so
TRACE TP=.alpha, DESC="kept",
END
echo "MEM32=(FRDI,INDIRECT$(repeat 4093 '*'),4)"
cat <<'END'
TRACE TP=.beta, DESC="gone",
END
echo "MEM32=(^{TPRTOOBIG}FRDI,INDIRECT$(repeat 4094 '*'),4)"
cat <<'END'
TRACE TP=.beta, DESC="kept too",
END
echo "REGS=($(repeat 255 AX,)AX)"
cat <<'END'
TRACE TP=.delta, DESC="gone too",
END
echo "REGS=($(repeat 256 AX,)^{TPRTOOBIG}AX)"
