# SPDX-License-Identifier: GPL-2.0
# 48 MB of text where 64 MB of memory are all there is.
cat >run <<'END'
head -c 48000000 /dev/zero | tr '\0' '\n' | cat input.tsf - >d/long.tsf
ulimit -v 65536
trcust d/long.tsf
END
cat <<'END'
^{:NO_MEM}MODNAME=module.so
TRACE TP=.alpha, DESC="gone"
END
