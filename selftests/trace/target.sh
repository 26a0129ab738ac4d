# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What the shell tests of trace share: a program to trace and its TDF.
. "$TOP/selftests/registers.sh"
TARGET=$TOP/build/selftests/trace/target
export TDF="$TMP/app.tdf"
# The first instruction of many_0 and so on: how it is written, where the second
# one is
case $(uname -m) in
aarch64) MANY='adr x9, [^,]*' MANY_SECOND=4 ;;
*) MANY='push %rbp' MANY_SECOND=1 ;;
esac
export MANY MANY_SECOND

# Links may go in the background for a while: don't wait for them.
cleanup() {
	trace off --all
	umount -l "$RASTRACE_RUN" 2>/dev/null
}

# make_tdf TSF: compile; the lines of the TSF come from stdin
make_tdf() {
	cat >"$1"
	trcust "$1" >"$TMP/trcust.out" 2>&1 || bail "trcust: $(cat "$TMP/trcust.out")"
}

# make_app: a point in work() with a register, a structure and a string
make_app() {
	cp "$TARGET" "$TMP/target"
	make_tdf "$TMP/app.tsf" <<TSF
MODNAME=$TMP/target
MAJOR=197
TRACE MINOR=1, TP=.work, DESC="work", FMT="n=%D", FMT="inner %P%D",
	FMT="text %P%S", REGS=($ARG1_32), MEM32=(F$ARG2+8,INDIRECT,4),
	ASCIIZ32=(F$ARG3,DIRECT,20)
TSF
}

# make_many COUNT: as many points, with the same body
make_many() {
	cp "$TARGET" "$TMP/target"
	i=0
	{
		echo "MODNAME=$TMP/target"
		echo "MAJOR=198"
		while [ $i -lt "$1" ]; do
			echo "TRACE TP=.many_$i, DESC=\"many $i\", REGS=($ARG1_32)"
			i=$((i + 1))
		done
	} | make_tdf "$TMP/many.tsf"
}

# figure NAME [N]: value of a tracepoint's figure in `trace query --json`, of
# the first point or the Nth
figure() {
	trace query --json | sed -n '/"tracepoints"/,$s/^ *"'"$1"'": \([^,]*\),*$/\1/p' |
		sed -n "${2:-1}p"
}

# figures MINOR: what is counted of it, "recorded filtered dropped never_returned
# open no_entry aggregated"
figures() {
	trace query --json | tr ',{' '\n\n' | awk -F: -v minor="$1" '
		{ gsub(/[" ]/, "") }
		$1 == "minor" { on = $2 == minor }
		on && !($1 in value) { value[$1] = $2 }
		END { print value["recorded"], value["filtered"],
		      value["dropped"], value["never_returned"], value["open"],
		      value["no_entry"], value["aggregated"] }'
}

# keeper: its process, or nothing
keeper() {
	trace query --json | sed -n '/"keeper"/,/}/s/^ *"pid": \([0-9]*\),*$/\1/p'
}

keeper_runs() {
	[ "$(keeper)" ]
}

# until_true SECONDS COMMAND...
until_true() {
	tries=$(($1 * 20))
	shift
	while ! "$@" >/dev/null 2>&1 && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.05
	done
	"$@" >/dev/null 2>&1
}

# pins: names in the run directory; kernels put their own *.debug there
pins() {
	for pin in "$RASTRACE_RUN"/*; do
		case $pin in
		*.debug | *'/*') ;;
		*) echo "${pin##*/}" ;;
		esac
	done
}

# milliseconds since boot
clock_ms() {
	read -r up _ </proc/uptime
	echo "$up" | sed 's/\.\(..\)$/\10/; s/^0*\(.\)/\1/'
}
