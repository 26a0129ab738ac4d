# SPDX-License-Identifier: GPL-2.0
# What is no TDF is not replaced by one.
echo 'a text' >d/text.tdf
cat >run <<'END'
status=0
trcust input.tsf d/text.tdf || status=$?
test "$(cat d/text.tdf)" = 'a text' && exit $status
END
cat <<'END'
^{:FILE_ACCESS}MODNAME=module.so
TRACE TP=.alpha, DESC="gone"
END
