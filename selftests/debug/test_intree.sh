#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# kmod/ and include/rastrace drop into a kernel tree, as kmod/Kconfig describes: there
# the module builds, also into the kernel, without a word of W=1, and asks for
# nothing that the kernel doesn't give to modules.
. "$(dirname "$0")/../tap.sh"
need make flex bison bc pahole xz nm
headers=	# by kernel.sh
. "$(dirname "$0")/kernel.sh"
config=$TOP/scripts/debug_kernel.config
symbols=$headers/Module.symvers
tree=$("$TOP/scripts/debug_kernel" -s "$TMP" 2>"$TMP/err") ||
	skip_all "$(tail -n 1 "$TMP/err")"
objects=$TMP/objects

drop_in() {
	cp -r "$TOP/include/rastrace" "$tree/include" &&
		cp -r "$TOP/kmod" "$tree/drivers/rastrace" &&
		sed -i 's|^endmenu|source "drivers/rastrace/Kconfig"\n&|' \
			"$tree/drivers/Kconfig" &&
		echo 'obj-$(CONFIG_RASTRACE) += rastrace/' \
			>>"$tree/drivers/Makefile"
}

# configured VALUE...: CONFIG_RASTRACE and CONFIG_RASTRACE_KUNIT_TEST
configured() {
	{
		cat "$config"
		echo "CONFIG_RASTRACE=$1"
		[ "$2" = n ] || echo "CONFIG_RASTRACE_KUNIT_TEST=$2"
	} >"$TMP/config"
	make -s -C "$tree" O="$objects" KCONFIG_ALLCONFIG="$TMP/config" \
		allnoconfig >/dev/null 2>&1
	grep -qx "CONFIG_RASTRACE=$1" "$objects/.config"
}

built() {
	make -s -C "$tree" O="$objects" -j2 W=1 drivers/rastrace/ \
		>"$TMP/out" 2>"$TMP/err"
}

# Names that the objects lack, and the kernel's modules don't have for them.
strange() {
	nm "$objects"/drivers/rastrace/*.o 2>/dev/null | awk '
		NF == 3 { has[$3] = 1 }
		$1 == "U" { lacks[$2] = 1 }
		END { for (name in lacks) if (!(name in has)) print name }' |
		sort >"$TMP/lacking"
	# which every module has of its own
	awk '{ print $2 } END { print "__this_module" }' "$symbols" | sort |
		comm -13 - "$TMP/lacking"
}

mkdir "$objects"
ok "the folders drop in" drop_in
ok "as a module: configured" configured m n
ok "as a module: builds" built || diag_file "$TMP/err"
is "$(cat "$TMP/err")" '' "as a module: W=1 has nothing to say"
is "$(strange)" '' "as a module: all that it needs is to be had"
ok "built in, with its KUnit tests: configured" configured y y
ok "built in: builds" built || diag_file "$TMP/err"
is "$(cat "$TMP/err")" '' "built in: W=1 has nothing to say"
like "$(nm "$objects/drivers/rastrace/built-in.a")" ' T rastrace_record$' \
	"built in: it is there"
tap_done
