# SPDX-License-Identifier: GPL-2.0
cc -shared -fPIC -nostdlib -o d/ifunc.so -x c - <<'END'
static int impl(void) { return 1; }
static int (*resolve(void))(void) { return impl; }
int indirect(void) __attribute__((ifunc("resolve")));
END
cat <<'END'
MODNAME=d/ifunc.so
TRACE MINOR=1, TP=.^{IFUNC}indirect, DESC="kept"
END
