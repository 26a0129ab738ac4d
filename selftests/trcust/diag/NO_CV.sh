# SPDX-License-Identifier: GPL-2.0
# Lines and files are known by debug information only.
cp module.so d/plain.so
strip --strip-debug d/plain.so
cat <<'END'
MODNAME=d/plain.so
MAJOR=9
TRACE MINOR=1, TP=@^{NO_CV}module.c,9, DESC="gone"
TRACE MINOR=2, TP=.^{NO_CV}module.c:alpha, DESC="gone"
TRACE MINOR=3, TP=.alpha, DESC="kept"
END
