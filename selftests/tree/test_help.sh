#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every program explains itself and refuses what it doesn't know.
. "$(dirname "$0")/../tap.sh"

for program in trcust trace tracefmt heapmon; do
	status 0 "$program --help" "$BIN/$program" --help
	like "$(cat "$TMP/out")" "^usage: $program" \
		"$program --help is on stdout"
	status 0 "$program --version" "$BIN/$program" --version
	like "$(cat "$TMP/out")" "^$program .*[0-9]" "$program prints its version"
	status 2 "$program --no-such-option is misuse" \
		"$BIN/$program" --no-such-option
	is "$(cat "$TMP/out")" "" "$program leaves stdout alone then"
	like "$(cat "$TMP/err")" no-such-option "$program names the option"
	status 1 "$program --help, disk full" \
		sh -c "exec '$BIN/$program' --help >/dev/full"
done
status 2 "trace without a command is misuse" "$BIN/trace"
status 2 "trace with an unknown command is misuse" "$BIN/trace" no-such
like "$(cat "$TMP/err")" no-such "and the command is named"
for command in on off query suspend resume get clear run show; do
	status 0 "trace $command --help" "$BIN/trace" "$command" --help
done
status 2 "heapmon without a command is misuse" "$BIN/heapmon"
status 2 "heapmon with an unknown command is misuse" "$BIN/heapmon" no-such
like "$(cat "$TMP/err")" no-such "and the command is named"
for command in record report convert top; do
	status 0 "heapmon $command --help" "$BIN/heapmon" "$command" --help
done
tap_done
