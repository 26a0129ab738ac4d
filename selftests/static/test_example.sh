#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The example of rastrace_write(3) compiles and prints what the program had.
. "$(dirname "$0")/../tap.sh"
need_tree
need cc
cd "$TMP" || exit 1

man_blocks rastrace_write.3	# the C, the formats, the commands
{
	cat block.1
	cat <<'C'
int main(void)
{
	char name[] = "nightly";	/* on the stack: in memory */

	job(77, name);
	return 0;
}
C
} >jobs.c
cp block.2 jobs.tsf
export C_INCLUDE_PATH="$TOP/include" LIBRARY_PATH="$TOP/build/lib"
export LD_LIBRARY_PATH="$TOP/build/lib"

# The commands of the page, one after the other
sed -n 's/^[$#] //p' block.3 >commands
is "$(wc -l <commands)" 5 "the page has commands"
[ "$(id -u)" -eq 0 ] || sed -i '3,$d' commands
while read -r command; do
	# shellcheck disable=SC2086
	status 0 "$command" $command
	# tracefmt's figures come out there
	[ "$command" = tracefmt ] || is "$(cat err)" "" "  without a message"
done <commands
ok "the formats are in the file that it names" test -f TRC0064.TFF
if [ "$(id -u)" -ne 0 ]; then
	skip "the records" "needs root"
	tap_done
fi
tracefmt -q >out
is "$(grep -v -e '^Event' -e '^Date' -e '^$' out)" "job begun
  name   nightly
job done
  number 0000 004D
  status 0000 0000" "the records have what the program had"
tap_done
