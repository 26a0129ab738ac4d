# SPDX-License-Identifier: GPL-2.0
# Byte 18 of an ELF header is its machine. Which registers it has isn't asked.
cp module.so d/other.so
printf '\363' | dd of=d/other.so bs=1 seek=18 conv=notrunc 2>d/log
cat <<'END'
MODNAME=^{BAD_EXEH}d/other.so
TRACE TP=.alpha, DESC="gone", REGS=(X0), MEM32=(FX1+X2,DIRECT,4)
END
