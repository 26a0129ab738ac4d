#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The kernel's own semantic patches find nothing in the module.
. "$(dirname "$0")/../tap.sh"
need spatch
headers=	# by kernel.sh
. "$(dirname "$0")/kernel.sh"
patches=${headers%/usr/src/*}/scripts/coccinelle

# report FOLDER: what they say of the sources there
report() {
	for part in free locks null iterators misc; do
		find "$patches/$part" -name '*.cocci'
	done | while read -r patch; do
		spatch -D report --no-show-diff --very-quiet \
			--cocci-file "$patch" --dir "$1" 2>/dev/null
	done
}

mkdir "$TMP/bad"
cat >"$TMP/bad/bad.c" <<'END'
void bad(void *memory)
{
	if (memory)
		kfree(memory);
}
END
like "$(report "$TMP/bad")" 'bad.c:4.*WARNING' "they find what is wrong"
is "$(report "$TOP/kmod")" '' "and nothing in the module"
tap_done
