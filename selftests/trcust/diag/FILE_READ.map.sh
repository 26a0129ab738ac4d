# SPDX-License-Identifier: GPL-2.0
echo 'this is no map' >d/x.map
echo 'trcust input.tsf -M d/x.map' >run
cat <<'END'
^{:FILE_READ}MODNAME=module.so
TRACE TP=.alpha, DESC="gone"
END
