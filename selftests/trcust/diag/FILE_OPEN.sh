# SPDX-License-Identifier: GPL-2.0
echo 'trcust input.tsf -o d/nowhere' >run
cat <<'END'
^{:FILE_OPEN}MODNAME=module.so
TRACE TP=.alpha, DESC="gone"
END
