# SPDX-License-Identifier: GPL-2.0
mkdir d/folder.tdf
echo 'trcust input.tsf d/folder.tdf' >run
cat <<'END'
^{:FILE_WRITE}MODNAME=module.so
TRACE TP=.alpha, DESC="gone"
END
