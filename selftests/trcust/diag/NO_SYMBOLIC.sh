# SPDX-License-Identifier: GPL-2.0
cc -s -nostdlib -static -Wl,-e,main -Wl,--build-id=none -o d/app -x c - <<'END'
int main(void) { for (;;); }
END
cat <<'END'
MODNAME=d/app
TRACE TP=.^{NO_SYMBOLIC}main, DESC="gone"
END
