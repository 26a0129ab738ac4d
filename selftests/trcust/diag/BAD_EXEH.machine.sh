# SPDX-License-Identifier: GPL-2.0
# Byte 18 of an ELF header is its machine.
cp module.so d/other.so
printf '\363' | dd of=d/other.so bs=1 seek=18 conv=notrunc 2>d/log
cat <<'END'
MODNAME=^{BAD_EXEH}d/other.so
TRACE TP=.alpha, DESC="gone"
END
