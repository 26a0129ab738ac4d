#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The worked example of README: its TSF is the demo's, its commands print what
# stands there (but for numbers).
. "$(dirname "$0")/../tap.sh"

# The section's indented lines; the TSF comes first, commands begin with "# "
sed -n '/^A worked example/,/^Where it stands/p' "$TOP/README" |
	awk '/^    / { print substr($0, 5) } /^$/ { print }' >"$TMP/indented"
awk '/^# / { exit } { print }' "$TMP/indented" | sed '/./,$!d' >"$TMP/tsf"
awk '/^# / { found = 1 } found' "$TMP/indented" >"$TMP/expected"
grep '^# ' "$TMP/expected" | cut -c 3- >"$TMP/commands"

is "$(cat "$TMP/tsf")" "$(cat "$TOP/demo/bash.tsf")" \
	"the TSF of README is demo/bash.tsf"
ok "README has commands" test -s "$TMP/commands"

if [ "$(id -u)" -ne 0 ]; then
	skip "the commands of README" "needs root"
	tap_done
fi

# Each command is printed, then run, all in one shell, in the tree.
while read -r line; do
	printf "echo '# %s'\n%s || exit\n" \
		"$(echo "$line" | sed "s/'/'\\\\''/g")" \
		"$(echo "$line" | sed "s,/tmp\\>,$TMP,g")"
done <"$TMP/commands" >"$TMP/script"
cd "$TOP" || exit 1
status 0 "the commands of README succeed" sh "$TMP/script"
cp "$TMP/out" "$TMP/transcript"
is "$(cat "$TMP/err")" "" "and print nothing on stderr"

# Numbers differ from run to run, the kind of links with the kernel, and other
# shells on the machine have records of their own.
same() {
	sed "s,$TMP/,/tmp/,g" "$1" | grep -v ' links, preemption ' |
		awk '/^\(bash\)/ || /^Event/ { held = held $0 "\n"; next }
		     /^  line / && !/ (echo hello|ls -l)$/ { held = ""; next }
		     NF { printf "%s%s\n", held, $0; held = "" }' |
		sed -E -e 's/0x[0-9A-Fa-f]+/N/g' -e 's/\b([0-9]+|unknown)\b/N/g' \
		       -e 's/ +/ /g'
}
is "$(same "$TMP/transcript")" "$(same "$TMP/expected")" \
	"the output is that of README"
like "$(cat "$TMP/transcript")" '^  line +echo hello$' "the line is there"
tap_done
