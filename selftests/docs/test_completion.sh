#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Completion offers every command and every option of --help, the values that an
# option has there, which are those that it takes, and the files of a command.
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
is "$(complete_line tracefmt --colour = "" | tr '\n' ' ')" "always auto never " \
	"tracefmt --colour=: its values"
is "$(complete_line tracefmt --colour =)" "$(complete_line tracefmt --colour = "")" \
	"  right after the sign, too"
is "$(complete_line trace get --compress = z | tr '\n' ' ')" "zlib zstd " \
	"trace get --compress=z: those that begin so"
like "$(complete_line trace on --uid ro)" '^root$' "trace on --uid: users"
like "$(complete_line trace on --group-read ro)" '^root$' "  --group-read: groups"
like "$(complete_line heapmon record -p "")" "^$$\$" "heapmon record -p: processes"

# choices PROGRAM [COMMAND]: "OPTION VALUE..." of --help, and whether the value may
# be left out
choices() {
	"$@" --help | sed -n '/^options:/,/^$/p' | tr -s ',' ' ' |
		sed -nE 's/^ +(-. )?(--[a-z0-9-]+)(\[=)?.* ([a-z0-9_|-]+\|[a-z0-9_|-]+)$/\2 \3 \4/p' |
		tr '|' ' '
}

# takes VALUE: does the option take it? What follows it isn't looked at then.
takes() {
	"${line[@]}" "$option$between$1" --version >/dev/null 2>&1
}

# each of a command: completed, taken, and no other
check_choices() {
	local option between values value
	while read -r option between values; do
		if [[ $between == "[=" ]]; then
			between="="
			is "$(complete_line "${line[@]}" "$option" = "")" \
				"$(tr ' ' '\n' <<<"$values" | sort)" \
				"${line[*]} $option=: all values"
		else
			values="$between $values" between="="
			is "$(complete_line "${line[@]}" "$option" "")" \
				"$(tr ' ' '\n' <<<"${values# }" | sort)" \
				"${line[*]} $option: all values"
		fi
		for value in $values; do
			takes "$value" || not_ok "  $value isn't taken"
		done
		case "${line[*]} $option" in
		# who is given it says so, later
		"heapmon convert --value" | "heapmon top --allocator") continue ;;
		esac
		if takes nothing-like-it; then
			not_ok "${line[*]} $option takes anything"
		else
			pass "  and takes no other"
		fi
	done < <(choices "${line[@]}")
}

for program in trcust tracefmt; do
	line=("$program")
	check_choices
done
for program in trace heapmon; do
	for command in $($program --help |
		sed -n '/^commands:/,/^$/s/^  *\([a-z-]*\).*/\1/p'); do
		line=("$program" "$command")
		check_choices
	done
done
is "$(complete_line trcust --output-dir "")" "dir" \
	"trcust --output-dir: directories"
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
