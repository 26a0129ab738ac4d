#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The callers that STACK records by tables are those that gdb finds: in programs at
# -O2 without frame pointers, of a library's function, stop by stop. With LONG=1
# these are 10,000, redis and Rust among them.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need gdb setarch python3
here=$TOP/selftests/trace

# compare NAME MODULE FUNCTION MOST COMMAND...: in the order of the hits; $beside is
# run beside the command, and ends before the next one begins
compare() {
	name=$1 module=$2 function=$3 most=$4
	shift 4
	make_tdf "$TMP/$name.tsf" <<TSF
MODNAME=$module
MAJOR=9
TRACE MINOR=1, TP=.$function+0, DESC="sample", STACK
TSF
	library=
	case $module in
	*.so*)	library=$module ;;
	esac
	$beside &
	CALLERS_FUNCTION=$function CALLERS_LIBRARY=$library CALLERS_MOST=$most \
		CALLERS_OUT=$TMP/$name.gdb gdb -batch -nx -x "$here/callers.py" \
		--args "$@" <"$TMP/input" >"$TMP/gdb.out" 2>&1
	wait
	$beside &
	status 0 "$name: traced" trace run --buffer=16M -o "$TMP/$name.ras" \
		"$TMP/$name.tdf" -- setarch -R "$@" <"$TMP/input"
	wait
	tracefmt --tff "$TMP" --format=json "$TMP/$name.ras" \
		>"$TMP/$name.json" 2>/dev/null
	judge "$name" "$most"
}

# judge NAME MOST: 99 % of gdb's stops have the same callers, and what isn't the
# same says that it ended before
judge() {
	python3 - "$TMP/$1.json" "$TMP/$1.gdb" "$2" >"$TMP/judged" 2>&1 <<'PYTHON'
import json, sys

ours = []
for line in open(sys.argv[1]):
    stack = json.loads(line).get("fields", {}).get("stack")
    if stack:
        ours.append(([int(f["address"], 16) for f in stack["frames"]],
                     stack["end"]))
theirs = [[int(a, 16) for a in line.split()] for line in open(sys.argv[2])]
same = wrong = 0
for (found, end), expected in zip(ours[:int(sys.argv[3])], theirs):
    if found == expected:
        same += 1
    elif found != expected[:len(found)] or end == "outermost":
        wrong += 1
        if wrong <= 3:
            print("ours", " ".join(map(hex, found)), end)
            print("gdb ", " ".join(map(hex, expected)))
print(len(theirs), same, wrong, int(same * 100 >= len(theirs) * 99))
PYTHON
	tail -n 1 "$TMP/judged" >"$TMP/verdict"
	stops=0 same=0 wrong=0 enough=0
	read -r stops same wrong enough <"$TMP/verdict"
	if ! ok "$1: of $stops stops $same have gdb's callers, $wrong others" \
		test "$stops" -ge "$2" -a "$wrong" -le $(($2 / 500)) \
		-a "$enough" = 1; then
		diag_file <"$TMP/judged"
		tail -n 3 "$TMP/gdb.out" | diag_file
	fi
}

# client: the commands for redis. One whose server ends goes on with the next server.
client() {
	tries=0
	until redis-cli -s "$TMP/socket" PING >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return
		sleep 0.1
	done
	redis-cli -s "$TMP/socket" GET first >/dev/null 2>&1
	sleep 1
	redis-cli -s "$TMP/socket" <"$TMP/commands" >/dev/null 2>&1
	rm -f "$TMP/socket"
}

stops=${LONG:+2500}
stops=${stops:-200}
beside=:
: >"$TMP/input"
if command -v c++ >/dev/null; then
	c++ -O2 -g -o "$TMP/callers_cc" "$here/callers.cc" || bail "c++ fails"
	compare cc "$TMP/callers_cc" sample "$stops" "$TMP/callers_cc" "$stops"
else
	skip "C++" "no c++"
fi

# the only hit of a program that is started, and in a program without a loader
cat >"$TMP/once.c" <<'C'
__attribute__((noipa)) int sample(int n) { return n + 1; }
__attribute__((noipa)) int caller(int n) { return sample(n) * 2; }
int main(int argc, char **argv) { return caller(argc) - 4; }
C
for how in "" -static -m32; do
	# shellcheck disable=SC2086
	cc -O2 -g $how -o "$TMP/once" "$TMP/once.c" 2>"$TMP/log" || {
		skip "one hit, $how" "it cannot be compiled"
		continue
	}
	make_tdf "$TMP/once.tsf" <<TSF
MODNAME=$TMP/once
MAJOR=9
TRACE MINOR=1, TP=.sample, DESC="sample", STACK
TSF
	trace run "$TMP/once.tdf" -- "$TMP/once" >"$TMP/printed" 2>&1
	is "$(sed -n 's/^  [0-9A-F]* *\([a-z]*\)+.*/\1/p; s/^  (\(.*\))$/\1/p' \
		"$TMP/printed" | grep -Ex 'caller|main|outermost|stopped.*' |
		tr '\n' ' ')" "caller main outermost " "one hit${how:+, $how}"
done

# what the program sees of it: nothing
cat >"$TMP/seen.c" <<'C'
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
__attribute__((noipa)) int sample(int n) { return n + 1; }
int main(void)
{
	struct sigaction trap;

	sigaction(SIGTRAP, NULL, &trap);
	printf("%d %ld\n", trap.sa_handler == SIG_IGN,
	       ptrace(PTRACE_TRACEME, 0, 0, 0));
	return sample(1) - 2;
}
C
cc -O2 -g -o "$TMP/seen" "$TMP/seen.c" || bail "seen.c fails"
is "$(trace run --context=stack -e 'sample(n)' -- "$TMP/seen" 2>&1 |
	head -n 1)" "0 0" "nothing traces the program any more"
is "$(trap '' TRAP; trace run --context=stack -e 'sample(n)' -- "$TMP/seen" \
	2>&1 | head -n 1)" "1 0" "it still ignores SIGTRAP"
loader=$(sed -n '/ld-linux.*so/s/.* //p' /proc/self/maps | head -n 1)
is "$(timeout 60 trace run --context=stack -e "$loader:_dl_debug_state()" -- \
	"$TMP/seen" 2>&1 | head -n 1)" "0 0" "a tracepoint where it would stop"
if [ -z "${LONG-}" ]; then
	skip "Rust, sqlite, redis" "LONG=1 tries them"
	tap_done
	exit
fi
if command -v rustc >/dev/null &&
		rustc -O -g -o "$TMP/callers_rs" "$here/callers.rs" 2>"$TMP/log"; then
	compare rs "$TMP/callers_rs" sample "$stops" "$TMP/callers_rs" "$stops"
else
	skip "Rust" "no rustc"
fi
library=$(ldd "$(command -v sqlite3)" 2>/dev/null |
	sed -n 's/.*libsqlite3.* => \(.*\) (.*/\1/p')
if [ "$library" ]; then
	# The tables are made at the first hit.
	cat >"$TMP/input" <<SQL
select typeof(1);
.shell sleep 1
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000)
	insert into t select x, 'name' || x from c;
select count(*), max(length(b)) from t where b like '%7%';
select upper(b), typeof(a) from t where a % 5 = 0 order by b desc;
SQL
	compare sqlite "$(realpath "$library")" sqlite3_value_type "$stops" \
		"$(command -v sqlite3)" :memory:
	: >"$TMP/input"
else
	skip "sqlite" "no sqlite3 with a library"
fi
if command -v redis-server >/dev/null; then
	redis=$(command -v redis-server)
	{
		for i in $(seq 1 500); do
			echo "SET key:$i value$i"
			echo "LPUSH list $i"
			echo "HSET hash f$i $i"
			echo "EVAL 'return redis.call(\"GET\", KEYS[1])' 1 key:$i"
			echo "LTRIM list 0 4"
			echo "SORT list BY key:*"
		done
		echo "SHUTDOWN NOSAVE"
	} >"$TMP/commands"
	beside=client
	compare redis "$(realpath "$redis")" lookupKey "$stops" "$redis" --port 0 \
		--unixsocket "$TMP/socket" --save '' --appendonly no
else
	skip "redis" "no redis-server"
fi
tap_done
