#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Debug information on which libdw crashes, never ends or is killed: a message
# names the file and what to do, nothing is written, and an older TDF is gone.
. "$(dirname "$0")/../tap.sh"
need cc prlimit
case $(ldd "$BIN/trcust") in
*libasan* | *libtsan*) skip_all "not with a sanitizer" ;;
*libdw*) ;;
*)	skip_all "not of static programs" ;;
esac
LC_ALL=C
export LC_ALL DAMAGED=1
cd "$TMP" || exit 1

# Instead of libdw's, which is asked where each variable is.
cat >crash.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int dwarf_getlocation_addr(void)
{
	const char *how = getenv("HOW");
	volatile unsigned int loop = 1;

	if (*how == 'l')
		while (loop++)
			loop |= 1;
	if (*how == 'p') {
		dprintf(STDERR_FILENO, "child %d\n", getpid());
		kill(getppid(), SIGTERM);
		sleep(10);
	}
	if (*how == 'e')
		exit(7);
	raise(atoi(how));
	return 0;
}
END
printf 'int f(int n) { return n + 1; }\n' >app.c
cc -shared -fPIC -o crash.so crash.c && cc -g -O1 -shared -nostdlib -fPIC \
	-o app app.c || bail "what is needed doesn't compile"
printf 'MODNAME=./app\nMAJOR=7\nTRACE MINOR=1,TP=.f,VARS=(n)\n' >app.tsf

crashing() (
	if [ "$how" = loop ]; then
		set -- prlimit --cpu=1:5 "$@"
	fi
	exec env HOW="$how" LD_PRELOAD=./crash.so "$@"
)

# dies HOW MESSAGE
dies() {
	how=$1
	trcust app.tsf 2>log || not_ok "the module without damage"
	status 1 "$how: compiled" crashing trcust app.tsf
	like "$(cat err)" "^app.tsf: fatal: error reading file: \./app, Rc = 74" \
		"$how: the file is named"
	like "$(cat err)" "$2" "$how: what happened"
	like "$(cat err)" "build it again" "$how: what to do"
	is "$(ls ./*.tdf 2>/dev/null)" "" "$how: no older TDF is left"
	status 1 "$how: explained" crashing trcust --explain app.tsf
	is "$(cat out)" "" "$how: without an explanation"
	status 1 "$how: a TSF" \
		crashing trcust --from-module --args --retep -o new.tsf app
	like "$(cat err)" "error reading file: app, Rc = 74" \
		"$how: names it as well"
	ok "$how: and isn't written" test ! -e new.tsf
}

dies 11 'ended with signal 11 \(Segmentation fault\)'
dies 6 'ended with signal 6 \(Aborted\)'
dies 8 'ended with signal 8 '
dies 9 'ended with signal 9 \(Killed\)'
dies loop 'takes too much CPU time'
# What the child prints doesn't arrive
for command in "--explain app.tsf" "--from-module app"; do
	# shellcheck disable=SC2016
	status 1 "$command to a full device" \
		sh -c "trcust $command >/dev/full"
	like "$(cat err)" "^trcust: cannot write: No space left on device$" \
		"is reported"
done
how=11
cc -g -O1 -shared -nostdlib -fPIC -o whole app.c
objcopy --only-keep-debug whole app.debug 2>log
status 1 "a debug file" crashing trcust --module whole --debug app.debug app.tsf
like "$(cat err)" "file: app.debug, Rc = 74" "is named"
how=e
status 7 "the child's status is that of trcust" crashing trcust app.tsf
status 7 "also where SIGCHLD is ignored" env --ignore-signal=CHLD \
	HOW=e LD_PRELOAD=./crash.so trcust app.tsf
how=15
status 143 "a signal that was sent to it ends trcust" crashing trcust app.tsf
how=p
status 143 "and the other way round" crashing trcust app.tsf
child=$(sed -n 's/^child //p' err)
sleep 0.5
is "$(grep '^State:.[^ZX]' "/proc/${child:-self}/status" 2>&1 |
	grep -v 'No such file')" "" "no process is left"
tap_done
