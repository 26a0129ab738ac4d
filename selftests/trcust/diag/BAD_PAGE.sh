# SPDX-License-Identifier: GPL-2.0
# The kernel puts no uprobe into a segment that is writable.
cc -shared -nostdlib -Wl,-N -o d/writable.so -x assembler - <<'END'
.globl alpha
.type alpha,@function
alpha: nop
je 1f
nop
ret
1: nop
nop
ret
.size alpha, . - alpha
END
cat <<'END'
MODNAME=d/writable.so
MAJOR=9
TRACE MINOR=1, TP=.^{BAD_PAGE}alpha, DESC="kept"
TRACE MINOR=2, TP=.^{BAD_PAGE}alpha,RETEP, DESC="kept: one report for both exits"
END
