# SPDX-License-Identifier: GPL-2.0
# A register variable needs debug information; memory needs a symbol only.
objcopy --strip-debug module.so plain.so
cat <<'END'
MODNAME=plain.so
MAJOR=9
TRACE MINOR=1, TP=.alpha, DESC="gone", REGS=(.^{NO_CV}a)
TRACE MINOR=2, TP=.alpha, DESC="gone: no type is known", REGS=(.^{NO_CV}number)
TRACE MINOR=3, TP=.alpha, DESC="gone: perhaps a local", MEM32=(.^{BADSYMBOL}a,DIRECT,4)
TRACE MINOR=4, TP=.alpha, DESC="kept", MEM32=(.number,DIRECT,4)
END
