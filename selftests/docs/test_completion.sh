#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Completion offers every command and every option of --help, and the files
# that belong to a command.
. "$(dirname "$0")/../tap.sh"
. "$TOP/usr/completion/rastrace.bash"

# complete_line WORD...: what is offered for the last word, one a line
complete_line() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_rastrace "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

# help_options PROGRAM [COMMAND]
help_options() {
	"$@" --help | sed -n '/^options:/,/^$/p' |
		grep -Eo '^ +(-[a-zA-Z], )?--[a-z0-9-]+' |
		tr -s ' ,' '\n' | grep . | sort
}

for program in trcust tracefmt; do
	is "$(complete_line $program -)" "$(help_options $program)" \
		"$program: the options of --help"
done
for program in trace heapmon; do
	commands=$($program --help |
		sed -n '/^commands:/,/^$/s/^  *\([a-z-]*\).*/\1/p')
	ok "$program has commands" test -n "$commands"
	is "$(complete_line $program "")" "$(echo "$commands" | sort)" \
		"$program: the commands of --help"
	for command in $commands; do
		is "$(complete_line $program "$command" -)" \
			"$(help_options $program "$command")" \
			"$program $command: the options of --help"
	done
done

cd "$TMP" || exit 1
mkdir dir
touch a.tsf a.tdf a.ras a.c
is "$(complete_line trace on "")" "a.tdf
dir" "trace on: TDF files and directories"
is "$(complete_line tracefmt a)" "a.ras" "tracefmt: .ras files"
is "$(complete_line tracefmt --tff "")" "dir" "tracefmt --tff: directories"
is "$(complete_line tracefmt --format "")" "csv
ctf
html
json
perfetto
text" "tracefmt --format: the formats"
is "$(complete_line tracefmt --format "" | tr '\n' ' ')" \
	"$(for format in csv ctf html json perfetto text none; do
		tracefmt --format $format --version >/dev/null 2>&1 &&
			printf '%s ' $format
	done)" "and no others are known"
is "$(complete_line trcust --output-dir "")" "dir" \
	"trcust --output-dir: directories"
is "$(complete_line trcust --site "" | tr '\n' ' ')" \
	"$(for how in exact fast safe none; do
		trcust --site $how --version >/dev/null 2>&1 && printf '%s ' $how
	done)" "trcust --site: all that it takes"
is "$(complete_line trcust a)" "a.tdf
a.tsf" "trcust: its files"
is "$(complete_line trcust --from-source a.c)" "a.c" \
	"trcust --from-source: any file"
is "$(complete_line heapmon convert --to m)" "massif
monitor
mptl
mtrc" "heapmon convert --to: the formats that begin so"
is "$(complete_line trace on -m a.c)" "a.c" "trace on -m: any file"
is "$(complete_line trace o)" "off
on" "trace o: the commands that begin so"
tap_done
