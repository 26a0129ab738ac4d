#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Majors are switched on and off while the module comes and goes: `trace` does
# with it what it can and without it the rest, and never fails.
. "$(dirname "$0")/../tap.sh"
need_root
ko=${RASTRACE_KO:-}
[ -r "$ko/rastrace.ko" ] ||
	skip_all "needs RASTRACE_KO, the folder of rastrace.ko"
rounds=$((5 * ${STRESS:-1}))

cleanup() {
	touch "$TMP/stop"
	[ -z "${loader-}" ] || wait "$loader"
	rmmod rastrace 2>/dev/null
}

# A loaded module is in use most of the time.
load_loop() {
	while [ ! -e "$TMP/stop" ]; do
		insmod "$ko/rastrace.ko" 2>/dev/null && echo load >>"$TMP/loads"
		rmmod rastrace 2>/dev/null && echo unload >>"$TMP/unloads"
	done
}

: >"$TMP/loads"
: >"$TMP/unloads"
load_loop &
loader=$!
for round in $(seq $rounds); do
	for words in "on 200,201" "query" "off 200" "suspend" "resume" \
			"off --all"; do
		# shellcheck disable=SC2086
		trace $words >"$TMP/out" 2>&1 || {
			echo "round $round: trace $words: status $?"
			cat "$TMP/out"
		}
	done
done >"$TMP/failed"
touch "$TMP/stop"
wait "$loader"
loader=
is "$(cat "$TMP/failed")" "" "$rounds rounds, and no command failed"
ok "the module was loaded meanwhile ($(wc -l <"$TMP/loads") times)" \
	test -s "$TMP/loads"
ok "and unloaded ($(wc -l <"$TMP/unloads") times)" test -s "$TMP/unloads"

ok "trace off --all leaves the module free" trace off --all
insmod "$ko/rastrace.ko" 2>/dev/null
ok "loaded once more" grep -q '^rastrace ' /proc/modules
ok "a major is switched on" trace on --max-cpu=off 200
ok "and off, with the buffer" trace off --all
ok "the module can be unloaded" rmmod rastrace
tap_done
