#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The packages in a Debian system that has what they depend on and nothing else:
# they are installed, the programs run, a program is built with the library, DKMS
# builds the module for the kernel whose headers are there; they are upgraded,
# and after purging nothing of them is left.
. "$(dirname "$0")/../tap.sh"
need_root
need debootstrap dpkg-deb
packages=adduser,dkms,gcc,libbpf1,libc6-dev,libcapstone4,libdw1,libelf1
packages=$packages,libzydis4.0,make,pkgconf,linux-headers-amd64
cache=${RASTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rastrace}
archive=$cache/system-$(echo $packages | cksum | cut -d ' ' -f 1).tar
system=$TMP/system

cleanup() {
	umount "$system/proc" 2>/dev/null
}

# The system's archive, made once
make_system() {
	mkdir -p "$cache" && exec 9>"$cache/system.lock" && flock 9 || return 1
	[ -s "$archive" ] || {
		debootstrap --variant=minbase --include="$packages" \
			bookworm "$TMP/new" &&
			rm -rf "$TMP"/new/var/cache/apt/* "$cache"/system*.tar &&
			tar -C "$TMP/new" -cf "$archive.new" . &&
			mv "$archive.new" "$archive"
	} || return 1
	rm -rf "$TMP/new"
	exec 9>&-
}

in_system() {
	chroot "$system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

# Every file but what dpkg and apt write about packages
list_files() {
	(cd "$system" && find . -path ./proc -prune -o -path ./run -prune -o \
		-path ./var/lib/dpkg -prune -o -path ./var/lib/apt -prune -o \
		-path ./var/cache -prune -o -path ./var/log -prune -o \
		-path ./tmp -prune -o -path './debs*' -prune -o -print) | sort
}

# The unit's link, as the package's scripts make and ask it
unit() {
	in_system env DPKG_MAINTSCRIPT_PACKAGE=rastrace deb-systemd-helper "$1" \
		rastrace.service
}

# module VERSION STATE NAME: what DKMS says of it for that kernel
module() {
	like "$(in_system dkms status)" "^rastrace/$1.*: $2" "$3"
}

make_system >"$TMP/log" 2>&1 ||
	skip_all "no Debian system to be had: $(tail -n 1 "$TMP/log")"
mkdir "$system" && tar -C "$system" -xf "$archive"
mount -t proc proc "$system/proc"
kernel=$(ls "$system/lib/modules")
in_system depmod "$kernel" 2>/dev/null
for version in 0.0.1 0.0.2; do
	ok "made: $version" \
		"$TOP/packaging/deb" -o "$system/debs-$version" $version
done
list_files >"$TMP/before"

ok "installed" in_system sh -c 'dpkg -i /debs-0.0.1/*.deb'
for program in trcust trace tracefmt; do
	ok "$program runs" in_system $program --version
done
like "$(in_system getent group rastrace)" '^rastrace:' "the group is there"
cat >"$system/debs-0.0.1/app.c" <<'APP'
#include <rastrace.h>

int main(void)
{
	rastrace_write(5, 1, "x", 1);
	return 0;
}
APP
ok "a program is built with the library" in_system sh -c \
	'cd /debs-0.0.1 && cc -o app app.c $(pkg-config --cflags --libs librastrace)'
ok "  and runs" in_system /debs-0.0.1/app
cat >"$system/debs-0.0.1/a.tsf" <<'TSF'
MODNAME=vmlinux
MAJOR=5
TRACE MINOR=1, TP=@STATIC, DESC="d", FMT="%S"
TSF
ok "a TSF is compiled" in_system sh -c \
	'cd /debs-0.0.1 && trcust a.tsf && test -s TRC0005.TFF'
module 0.0.1 installed "DKMS has built and installed the module"
like "$(in_system modinfo -k "$kernel" rastrace)" "^vermagic: *$kernel " \
	"  for the kernel whose headers are there"

ok "somebody joins the group" in_system adduser --quiet games rastrace
ok "the unit is enabled" unit enable
ok "upgraded" in_system sh -c 'dpkg -i /debs-0.0.2/*.deb'
is "$(in_system dkms status | wc -l)" 1 "DKMS has one version"
module 0.0.2 installed "  the new one"
like "$(in_system getent group rastrace)" ':games$' "the group has its members"
ok "the unit is enabled still" unit was-enabled
ok "configured once more" \
	in_system /var/lib/dpkg/info/rastrace.postinst configure 0.0.2

mv "$system/lib/modules/$kernel/build" "$TMP/build"
ok "installed where no headers are" in_system sh -c \
	'dpkg -P rastrace-dkms && dpkg -i /debs-0.0.1/rastrace-dkms_*.deb'
is "$(in_system dkms status)" "rastrace/0.0.1: added" "  DKMS knows the module"
mv "$TMP/build" "$system/lib/modules/$kernel/build"
ok "the headers come" in_system /etc/kernel/header_postinst.d/dkms "$kernel"
module 0.0.1 installed "  and with them the module"

in_system deluser --quiet games rastrace
ok "purged" in_system dpkg --purge rastrace rastrace-dkms librastrace-dev \
	librastrace0
list_files >"$TMP/after"
# the accounts' files have a backup
is "$(comm -13 "$TMP/before" "$TMP/after" | grep -v '^\./etc/[a-z]*-$')" "" \
	"nothing is left"
is "$(in_system getent group rastrace)" "" "the group neither"
tap_done
