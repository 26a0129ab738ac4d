# SPDX-License-Identifier: GPL-2.0
echo 'trcust input.tsf /M=module.txt' >run
cat <<'END'
^{:MAP_EXTN}MODNAME=module.so
TRACE TP=.alpha, DESC="gone"
END
