#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# scripts/debug_kernel takes what is kept when it is whole and of this
# configuration, and else builds again. No kernel is built here.
. "$(dirname "$0")/../tap.sh"
need flock
export RASTRACE_CACHE="$TMP/cache"
kept=$TMP/cache/debug
headers=usr/src/linux-headers-6.12.0

# Programs that building needs, without a package to be had
mkdir "$TMP/stubs"
for program in make gcc flex bison bc pahole xz; do
	ln -s /bin/true "$TMP/stubs/$program"
done
for program in apt-get apt-cache; do
	ln -s /bin/false "$TMP/stubs/$program"
done
debug_kernel() {
	PATH=$TMP/stubs:$PATH "$TOP/scripts/debug_kernel"
}

for part in boot/vmlinuz-6.12.0 lib/modules/6.12.0/modules.dep \
	$headers/vmlinux $headers/Module.symvers $headers/scripts/mod/modpost \
	tools/testing/selftests/lib.mk; do
	mkdir -p "$kept/${part%/*}"
	echo part >"$kept/$part"
done
cp "$TOP/scripts/debug_kernel.config" "$kept/config"

status 0 "what is kept" debug_kernel
is "$(cat "$TMP/out")" "$kept/$headers" "  is where it says"
for part in boot/vmlinuz-6.12.0 $headers/Module.symvers; do
	mv "$kept/$part" "$TMP/part"
	status 4 "without ${part##*/} it isn't taken" debug_kernel
	like "$(cat "$TMP/err")" "cannot fetch linux-source" "  but built"
	: >"$kept/$part"
	status 4 "nor with an empty one" debug_kernel
	mv "$TMP/part" "$kept/$part"
done
echo "# another" >>"$kept/config"
mkdir "$TMP/cache/debug.killed"
status 4 "of another configuration" debug_kernel
is "$(ls "$TMP/cache")" "debug
debug.lock" "what builds left that were killed is removed"
tap_done
