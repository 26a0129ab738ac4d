#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The example of tsf(5), two pointers, a variable length and a string, compiles
# and prints what the program had; those of rastrace(4) compile.
. "$(dirname "$0")/../tap.sh"
need cc
cd "$TMP" || exit 1

# a driver's static tracepoint, and its formats
man_blocks rastrace.4
{
	cat <<'C'
typedef unsigned int u32;
struct queue { u32 number, depth; };
C
	cat block.2
	echo 'void (*used)(struct queue *) = queue_full;'
} >driver.c
mkdir -p headers/rastrace
echo 'int rastrace_write(u32, u32, const void *, unsigned long);' \
	>headers/rastrace/kernel.h
ok "the driver of rastrace(4) compiles" \
	cc -Wall -Werror -Iheaders -c driver.c
cp block.3 driver.tsf
status 0 "its formats, too" "$BIN/trcust" driver.tsf
is "$(cat err)" "" "without a message"
ok "for the major that is switched on" test -e TRC00C8.TFF
like "$(cat block.4)" "^# trace on 200$" "which is that one"

# the C, then the TSF
man_blocks tsf.5
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
is "$(grep -v '^ ' err | grep -v SLOWSITE)" "" \
	"without a message except that the probe is slow"

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
