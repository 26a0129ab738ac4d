#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make deb`: all that `make install` installs is in one of the packages, once;
# they say what they need; DKMS builds, installs and removes the module from the
# source in its package, for each kernel of the tests.
. "$(dirname "$0")/../tap.sh"
need dpkg-deb dpkg-shlibdeps make
packages="rastrace rastrace-dkms librastrace0 librastrace-dev"

# With a given date, the same bytes come out each time.
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH
ok "made" make -s -C "$TOP" deb B=build
mkdir "$TMP/again"
ok "made again" "$TOP/packaging/deb" -o "$TMP/again" \
	"$(sed -n 's/^VERSION := //p' "$TOP/Makefile")"
for file in "$TMP"/again/*.deb; do
	ok "${file##*/} is the same" cmp "$file" "$TOP/build/deb/${file##*/}"
done

for package in $packages; do
	mkdir -p "$TMP/$package"
	ok "$package: unpacked" \
		dpkg-deb -x "$TMP/again/$package"_*.deb "$TMP/$package"
	dpkg-deb -e "$TMP/again/$package"_*.deb "$TMP/$package.control"
	ok "$package: its checksums" \
		sh -c "cd '$TMP/$package' && md5sum -c ../$package.control/md5sums"
	(cd "$TMP/$package" && find . ! -type d) | sort >"$TMP/$package.files"
done

make -s -C "$TOP" install DESTDIR="$TMP/all" PREFIX=/usr >/dev/null
(cd "$TMP/all" && find . ! -type d) | sed 's,.*/,,' | sort -u >"$TMP/wanted"
sed 's,.*/,,; s,\(\.[1-8]\)\.gz$,\1,' "$TMP"/*.files | sort -u >"$TMP/packed"
is "$(comm -23 "$TMP/wanted" "$TMP/packed")" "" \
	"all that is installed is packed"
is "$(cat "$TMP"/*.files | sort | uniq -d)" "" "no file is in two packages"
is "$(grep -hvE '^\./(usr|lib)/' "$TMP"/*.files)" "" "nor out of place"
is "$(cd "$TMP/rastrace-dkms/usr/src"/* && find kmod -type f | sort)" \
	"$(cd "$TOP" && find kmod -type f ! -name '*.ko' ! -name '*.o' \
		! -name '*.mod' ! -name '*.mod.c' ! -name '*.cmd' \
		! -name 'Module.symvers' ! -name modules.order | sort)" \
	"the module's source is all there, and nothing built"

field() {
	dpkg-deb -f "$TMP/again/$1"_*.deb "$2"
}
like "$(field rastrace Depends)" '(^|, )libbpf1 .*(^|, )libelf1 .*(^|, )adduser' \
	"rastrace depends on its libraries"
is "$(field rastrace-dkms Architecture)" all "the source is for all machines"
like "$(field librastrace-dev Depends)" '^librastrace0 \(= ' \
	"the library is that of its header"
for script in "$TMP"/*.control/p*; do
	sh -n "$script" || echo "$script"
done >"$TMP/bad" 2>&1
is "$(cat "$TMP/bad")" "" "the scripts are shell"
is "$(grep -l '@VERSION@' "$TMP"/*.control/* \
	"$TMP"/rastrace-dkms/usr/src/*/dkms.conf)" "" "and name their version"

if command -v lintian >/dev/null; then
	# who maintains them is for those to say who do
	ok "lintian has nothing to say" lintian --allow-root \
		--fail-on error,warning --suppress-tags \
		bogus-mail-host,bogus-mail-host-in-debian-changelog \
		"$TMP"/again/*.deb
else
	skip "lintian has nothing to say" "needs lintian"
fi

if ! command -v dkms >/dev/null; then
	skip "DKMS" "needs dkms"
	tap_done
fi
if [ "$(id -u)" -ne 0 ]; then
	skip "DKMS" "needs root"
	tap_done
fi
version=$(field rastrace-dkms Version)
mkdir "$TMP/dkms" "$TMP/modules"
run_dkms() {
	action=$1
	shift
	dkms "$action" -m rastrace -v "$version" --dkmstree "$TMP/dkms" \
		--sourcetree "$TMP/rastrace-dkms/usr/src" \
		--installtree "$TMP/modules" "$@"
}
ok "DKMS knows it" run_dkms add
for series in 6.1 6.12; do
	kdir=$("$TOP/scripts/kbuild" -n $series 2>"$TMP/err") || {
		skip "DKMS: $series" "$(cat "$TMP/err")"
		continue
	}
	release=${kdir##*/linux-headers-}
	mkdir -p "$TMP/modules/$release"
	ok "DKMS: $series: built" run_dkms build -k "$release" \
		--kernelsourcedir "$kdir" --no-depmod ||
		diag_file "$TMP"/dkms/rastrace/*/build/make.log
	ok "DKMS: $series: installed" run_dkms install -k "$release" \
		--kernelsourcedir "$kdir" --no-depmod
	find "$TMP/modules/$release" -name 'rastrace.ko*' >"$TMP/found"
	is "$(wc -l <"$TMP/found")" 1 "DKMS: $series: one module"
	vermagic=$(modinfo -F vermagic "$(cat "$TMP/found")")
	is "${vermagic%% *}" "$release" "DKMS: $series: for that kernel"
done
# Kernels that it isn't for are passed over, with DKMS's status for that.
mkdir "$TMP/modules/5.10.0-amd64"
status 77 "DKMS: a kernel that is too old" run_dkms build -k 5.10.0-amd64 \
	--kernelsourcedir "$kdir" --no-depmod
mkdir -p "$TMP/no-bpf/include" "$TMP/modules/6.2.0-amd64"
echo CONFIG_64BIT=y >"$TMP/no-bpf/.config"
status 77 "DKMS: a kernel without BPF" run_dkms build -k 6.2.0-amd64 \
	--kernelsourcedir "$TMP/no-bpf" --no-depmod
ok "DKMS: removed" run_dkms remove --all --no-depmod
is "$(find "$TMP/modules" -name 'rastrace*')" "" "DKMS: nothing is left"
tap_done
