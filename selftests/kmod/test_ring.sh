#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Writers and readers of one CPU's slices as threads (ring.c), under gcc's
# sanitizers of threads and of addresses. That the first would see a lock that
# doesn't order is shown with one.
. "$(dirname "$0")/../tap.sh"
need "${CC:-gcc}"

# build NAME FLAG...: $TMP/NAME
build() {
	name=$1
	shift
	"${CC:-gcc}" -D_GNU_SOURCE -O2 -g -I"$TOP/include" -I"$TOP" \
		-iquote "$TOP/usr" -I"$TOP/selftests" "$@" -pthread -o "$TMP/$name" \
		"$TOP/selftests/kmod/ring.c"
}

# sanitized NAME FLAG...
sanitized() {
	name=$1
	shift
	build "$name" "$@" 2>"$TMP/err" || {
		skip "$name" "$(head -n 1 "$TMP/err")"
		return
	}
	status 0 "$name: nothing to complain about" "$TMP/$name" 3000 &&
		unlike "$(cat "$TMP/out")" '^not ok' "$name: all points"
}

status 0 "as it is" "${BUILT:-$TOP/build/selftests}/kmod/ring"
sanitized address -fsanitize=address,undefined -fno-sanitize-recover=all
sanitized thread -fsanitize=thread
if build unordered -fsanitize=thread '-DRAS_RELEASE=__ATOMIC_RELAXED' \
	2>/dev/null; then
	status 66 "a lock that doesn't order is seen" "$TMP/unordered" 2000
	like "$(cat "$TMP/err")" 'data race' "as a race"
else
	skip "a lock that doesn't order is seen" "no thread sanitizer"
fi
tap_done
