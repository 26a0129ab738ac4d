#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The examples of heapmon(1), in their order: each does what it is there for.
. "$(dirname "$0")/../tap.sh"
need_root
need cc
need_tree
cd "$TMP" || exit 1

# A program that leaks three blocks, and lives for a moment.
cat >app.c <<'C'
#include <stdlib.h>
#include <unistd.h>

void *volatile kept;

int main(void)
{
	for (int i = 0; i < 3; i++)
		kept = malloc(1000);
	for (int i = 0; i < 5; i++)
		free(malloc(10));
	usleep(1100000);
	return !kept;
}
C
ok "the program" cc -g -O0 -o app app.c || tap_done

# one a line: the text after .Dl, and the lines of literal blocks
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE ALSO/p' "$TOP/usr/man/heapmon.1" |
	awk '/^\.Bd -literal/ { inside = 1; next }
	     /^\.Ed/ { inside = 0 }
	     inside { print }
	     sub(/^\.Dl /, "") { print }' >examples
is "$(grep -vc '^heapmon \|^go ' examples)" 0 "they are commands"

mkdir bin
cat >bin/flamegraph.pl <<'SH'
#!/bin/sh
echo "<svg>"
cat
SH
chmod +x bin/flamegraph.pl
PATH=$PATH:$TMP/bin
"$TOP/build/selftests/heapmon/nfmt_stream" >app.nfmt

# present PROGRAM: what an example needs besides heapmon
present() {
	case $1 in
	*'go tool'*) command -v go ;;
	*ms_print*) command -v ms_print ;;
	*) true ;;
	esac >/dev/null
}

number=0
while read -r example; do
	number=$((number + 1))
	if ! present "$example"; then
		skip "$example" "its program isn't installed"
		continue
	fi
	status 0 "$example" sh -c "$example"
	cp out "out.$number"
	[ -e monday.ras ] || cp app.ras monday.ras
	[ -e friday.ras ] || cp app.ras friday.ras
done <examples

# of NAME: what the example that has it printed
of() {
	cat "out.$(grep -nFe "$1" examples | head -n 1 | cut -d : -f 1)"
}

like "$(of '-s live')" '^ +3 +3000 ' "the leaks are there"
like "$(of '--min-age')" '^ +3 +3000 ' "they are older than a second"
like "$(of '--diff')" '^  not freed +\+0 +\+0 ' "nothing has grown"
like "$(cat app.html)" '^<!DOCTYPE html>$' "the flame graph is a page"
! present 'go tool' ||
	like "$(of 'go tool')" ' main( |$)' "pprof names the function"
is "$(head -c 4 mpatrol.trace)" MTRC "mptrace's file"
is "$(head -c 4 mpatrol.out)" MPTL "mprof's file"
like "$(of '--style=mptrace')" '^allocated: 8 \(3050 bytes\)$' \
	"mptrace's table"
like "$(of '--style=mprof')" 'main' "mprof's table"
! present ms_print ||
	like "$(of 'ms_print')" 'app\.c' "ms_print names the source"
like "$(cat peak.svg)" '(^|;)main [0-9]+$' "collapsed stacks of the peak"
like "$(of 'app.nfmt')" 'a\.c:42$' "a memory tracker's stream"
tap_done
