# SPDX-License-Identifier: GPL-2.0
# What every record holds, registers and prefixes, has at most 4,096 bytes: 64
# variables of 64 bytes, but not a prefix of 3 more.
repeat() {
	yes "$2" | head -n "$1" | tr -d '\n'
}
cat <<'END'
MODNAME=module.so
MAXDATALENGTH=4096
TRACE TP=.alpha, DESC="kept",
END
echo "REGS=($(repeat 63 .big,).big)"
cat <<'END'
TRACE TP=.beta, DESC="gone",
END
echo "REGS=($(repeat 63 .big,).big),"
echo "^{TPRTOOBIG}MEM64=(FRDI,DIRECT,4)"
