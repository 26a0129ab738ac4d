# SPDX-License-Identifier: GPL-2.0
# What could be a source, say, is not written to.
echo 'trcust input.tsf other.c && test -e other.tdf -a ! -e other.c' >run
cat <<'END'
^{:BAD_EXTN}MODNAME=module.so
TRACE TP=.alpha, DESC="kept"
END
