#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trace run: signals, and an output that can't be written.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
make_app

# --- a signal to trace ends the program, and no record is lost
for signal in TERM HUP; do
	"$BIN/trace" run "$TDF" -- sh -c \
		"$TMP/target 3; : >$TMP/passed.$signal; exec sleep 60" \
		>"$TMP/out.$signal" 2>"$TMP/err.$signal" &
	run=$!
	until [ -e "$TMP/passed.$signal" ]; do
		kill -0 $run 2>/dev/null || break
		sleep 0.05
	done
	sleep 0.1
	kill -$signal $run
	wait $run
	is $? 0 "SIG$signal: trace goes on"
	like "$(cat "$TMP/err.$signal")" "'sh' was ended by signal" \
		"  when it has ended the program"
	is "$(grep -c '^Event' "$TMP/out.$signal")" 3 "  and prints the records"
	is "$(ls -d "$RASTRACE_RUN"/run_* 2>/dev/null)" "" \
		"  nothing is left armed"
done

# --- the output is opened before the program runs
rm -f "$TMP/ran"
status 1 "output where there is no directory" \
	trace run -o "$TMP/none/x.ras" "$TDF" -- touch "$TMP/ran"
like "$(cat "$TMP/err")" "cannot write '.*none/x.ras'" "  message"
ok "  the program has not run" test ! -e "$TMP/ran"
mkdir "$TMP/out.d"
status 1 "a program that isn't there" \
	trace run -o "$TMP/out.d/x.ras" "$TDF" -- "$TMP/no-such-program"
is "$(ls "$TMP/out.d")" "" "  leaves no output"
status 0 "an output" trace run -o "$TMP/out.d/x.ras" "$TDF" -- "$TMP/target" 3
is "$(ls "$TMP/out.d")" "x.ras" "  is there, and nothing else"
is "$(tracefmt "$TMP/out.d/x.ras" 2>/dev/null | grep -c '^Event')" 3 \
	"  with the records"

# --- records that can't be printed
mkdir "$TMP/alone"
cp "$BIN/trace" "$TMP/alone/trace"
status 1 "without tracefmt" env PATH=/usr/bin:/bin \
	"$TMP/alone/trace" run "$TDF" -- "$TMP/target" 3
like "$(cat "$TMP/err")" "there is no tracefmt beside trace, nor in PATH" \
	"  is reported"
status 1 "into a device that is full" \
	sh -c 'trace run "$1" -- "$2" 3 >/dev/full' sh "$TDF" "$TMP/target"
like "$(cat "$TMP/err")" "tracefmt could not print all records" "  is reported"

# --- why nothing was hit
mkdir "$TMP/copy"
cp "$TARGET" "$TMP/copy/target"
status 0 "a copy of the traced file" \
	trace run "$TDF" -- "$TMP/copy/target" 3
is "$(grep -A 1 'no tracepoint was hit' "$TMP/err")" \
	"trace: no tracepoint was hit: '$TMP/copy/target' isn't the file that is traced, '$TMP/target'
trace: it is the same build, so name it: --module '$TMP/copy/target'" \
	"  is reported, and what to do"
status 0 "  which" \
	trace run -m "$TMP/copy/target" "$TDF" -- "$TMP/copy/target" 3
is "$(grep -c '^Event' "$TMP/out") $(grep -c 'was hit' "$TMP/err")" "3 0" \
	"  helps"
strip --remove-section=.note.gnu.build-id -o "$TMP/copy/target" "$TARGET"
PATH=$TMP/copy:$PATH status 0 "another build of it, in PATH" \
	trace run "$TDF" -- target 3
is "$(grep -A 1 'no tracepoint was hit' "$TMP/err")" \
	"trace: no tracepoint was hit: '$TMP/copy/target' isn't the file that is traced, '$TMP/target'
trace: it is another build: compile the TSF for it (trcust)" \
	"  is another file, too"
status 0 "the traced file, not passing the point" \
	trace run "$TDF" -- "$TMP/target" 0
is "$(grep -c 'was hit' "$TMP/err")" 0 "  is the right one"

# --- the program and what it starts, not others, unless asked for
if [ -e /sys/kernel/btf/vmlinux ]; then
	(
		until [ -e "$TMP/hit" ]; do sleep 0.05; done
		"$TMP/target" 5
		touch "$TMP/done"
	) &
	status 0 "a program that starts others" trace run "$TDF" -- \
		sh -c "'$TMP/target' 2; touch '$TMP/hit'
			until [ -e '$TMP/done' ]; do sleep 0.05; done"
	is "$(grep -c '^Event' "$TMP/out")" 2 "  is recorded with these"
	wait
	rm "$TMP/hit" "$TMP/done"
	others() {
		until [ -e "$TMP/hit" ]; do sleep 0.05; done
		"$TMP/target" 5
		touch "$TMP/done"
	}
	others &
	set -- sh -c "touch '$TMP/hit'
		until [ -e '$TMP/done' ]; do sleep 0.05; done"
	status 0 "one whose points only others hit" trace run "$TDF" -- "$@"
	like "$(cat "$TMP/err")" \
		"all 5 hits were of other processes: record those with --all" \
		"  is reported"
	wait
	rm "$TMP/hit" "$TMP/done"
	make_tdf "$TMP/sums.tsf" <<-TSF
	MODNAME=$TMP/target
	MAJOR=195
	TRACE MINOR=1, TP=.work, COUNT
	TSF
	others &
	status 0 "one that is only counted" trace run "$TMP/sums.tdf" -- \
		sh -c "'$TMP/target' 2; touch '$TMP/hit'
			until [ -e '$TMP/done' ]; do sleep 0.05; done"
	unlike "$(cat "$TMP/err")" "other processes" "  was hit"
	wait
	rm "$TMP/hit" "$TMP/done"
	others &
	status 0 "  --all" trace run --all "$TDF" -- "$@"
	is "$(grep -c '^Event' "$TMP/out")" 5 "  records them"
	wait
else
	skip "a program that starts others" "the kernel has no type information"
fi

# --- what is left when it is killed
trace run "$TDF" -- sh -c "'$TMP/target' 3; : >'$TMP/passed'; exec sleep 30" \
	>/dev/null 2>&1 &
run=$!
until [ -e "$TMP/passed" ] || ! kill -0 $run 2>/dev/null; do sleep 0.05; done
trace query >"$TMP/out" 2>"$TMP/err"
unlike "$(cat "$TMP/err")" "is left" "while it runs nothing is"
kill -KILL $run
wait $run 2>/dev/null
status 0 "query, when it was killed" trace query
like "$(cat "$TMP/err")" "'$RASTRACE_RUN/run_.*' is left of what was killed" \
	"  names its directory"
directory=$(sed -n "s/^trace: its records: trace -d \([^ ]*\) get .*/\1/p" "$TMP/err")
status 0 "  get" trace -d "$directory" get "$TMP/left.ras"
is "$(tracefmt -q "$TMP/left.ras" 2>/dev/null | grep -c '^Event')" 3 \
	"  saves the records"
status 0 "off --all" trace off --all
trace query >"$TMP/out" 2>"$TMP/err"
unlike "$(cat "$TMP/err")" "is left" "  removes it"
tap_done
