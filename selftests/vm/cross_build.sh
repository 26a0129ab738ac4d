#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# cross_build.sh ARCH TARGET...: make these for another machine, and print the
# folder. Status 4: there is nothing to build with.
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
arch=$1
shift
build=$TOP/build/$arch
for part in compiler libraries; do
	"$TOP/scripts/foreign" "$part" "$arch" >/dev/null || exit
done
# several tests want the same tree
mkdir -p "$build" && exec 9>"$build/lock" && flock 9 || exit 1
make -s -C "$TOP" "-j$(nproc)" ARCH="$arch" "$@" >"$build/log" 2>&1 9>&- || {
	cat "$build/log" >&2
	exit 1
}
echo "$build"
