# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# A traced program that does what the test says (caller.c); include it after target.sh.
CALLER=$TOP/build/selftests/trace/caller

# make_caller: the program and its TDF, app(1) at work()
make_caller() {
	cp "$CALLER" "$TMP/caller"
	make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/caller
MAJOR=196
TRACE MINOR=1, TP=.work, DESC="work", FMT="n=%D", REGS=($ARG1_32)
TSF
}

# start_caller [COMMAND...]: sets CALLER_PID; the program is running when this
# returns, and waits for call
start_caller() {
	rm -f "$TMP/to" "$TMP/from"
	mkfifo "$TMP/to" "$TMP/from"
	"$@" "$TMP/caller" <"$TMP/to" >"$TMP/from" &
	CALLER_PID=$!
	exec 7>"$TMP/to" 8<"$TMP/from"
	call .	# does nothing, but is answered
}

# call LETTERS: each is done when this returns
call() {
	for letter in $(echo "$1" | sed 's/./& /g'); do
		echo "$letter" >&7
		read -r _ <&8
	done
}

stop_caller() {
	exec 7>&- 8<&-
	wait "$CALLER_PID"
}
