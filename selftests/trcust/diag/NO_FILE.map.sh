# SPDX-License-Identifier: GPL-2.0
echo 'trcust input.tsf /M=nothing.map' >run
cat <<'END'
^{:NO_FILE}MODNAME=module.so
TRACE TP=.alpha, DESC="gone"
END
