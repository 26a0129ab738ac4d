#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The example of tsf(5), two pointers, a variable length and a string, compiles
# and prints what the program had.
. "$(dirname "$0")/../tap.sh"
need cc
cd "$TMP" || exit 1

# The literal blocks under EXAMPLES: the C, then the TSF
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE ALSO/p' "$TOP/usr/man/tsf.5" |
	awk '/^\.Bd -literal/ { n++; inside = 1; next }
	     /^\.Ed/ { inside = 0 }
	     inside { print > ("block." n) }'
sed 's/\\e/\\/g' block.2 >srv.tsf
{
	echo '#include <stdint.h>'
	cat block.1
	cat <<'C'
__attribute__((noipa)) void srv_tick(struct srv *s)
{
	s->port++;
}

int main(void)
{
	static struct { struct msg head; char bytes[3]; } m =
		{ { 3, 1 }, "abc" };
	char name[] = "localhost";	/* on the stack: resident */
	struct conn conn = { name, &m.head };
	struct srv srv = { 0x1f90, &conn };

	srv_tick(&srv);
	return 0;
}
C
} >srv.c
ok "the C compiles" cc -O1 -g -o srv srv.c ||
	bail "nothing to trace"
status 0 "the TSF compiles" "$BIN/trcust" srv.tsf
is "$(cat err)" "" "without a message"

if [ "$(id -u)" -ne 0 ]; then
	skip "the record" "needs root"
	tap_done
fi
status 0 "it can be traced" "$BIN/trace" run srv.tdf -- ./srv
is "$(grep '^  ' out | sed '1s/= .*/=/')" "  s     =
  port  = 0000 1F90
  name  = localhost
  last  = 61 62 63" "and the record has what the program had"
tap_done
