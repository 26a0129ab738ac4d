# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Bash completion of trcust, trace, tracefmt and heapmon. Options, commands and the
# values of options come from the programs' own --help: nothing is kept in step here.

# _rastrace_section HEADING PROGRAM [COMMAND]: its lines of --help
_rastrace_section() {
	local heading=$1
	shift
	"$@" --help 2>/dev/null | sed -n "/^$heading:/,/^\$/{/^  /p}"
}

# One line per spelling: "-x VALUE" and "--long VALUE", VALUE "" without one
_rastrace_options() {
	_rastrace_section options "$@" | sed -nE \
		-e 's/^ +(-.), (--[a-z0-9-]+) ([A-Z]+).*/\1 \3\n\2 \3/p;t' \
		-e 's/^ +(-.), (--[a-z0-9-]+).*/\1\n\2/p;t' \
		-e 's/^ +(--[a-z0-9-]+) ([A-Z]+).*/\1 \2/p;t' \
		-e 's/^ +(--[a-z0-9-]+).*/\1/p'
}

_rastrace_commands() {
	_rastrace_section commands "$1" | sed -nE 's/^ +([a-z-]+).*/\1/p'
}

# _rastrace_files ENDINGS WORD: files that end so (a regular expression), and
# directories
_rastrace_files() {
	local name
	while IFS= read -r name; do
		if [[ -d $name || ${name,,} =~ ($1)$ ]]; then
			COMPREPLY+=("$name")
		fi
	done < <(compgen -f -- "$2")
	compopt -o filenames 2>/dev/null
}

_rastrace_words() {
	local word=$1
	shift
	mapfile -t COMPREPLY < <(compgen -W "$*" -- "$word")
}

# _rastrace_choice OPTION PROGRAM [COMMAND]: the values at the end of its
# line of --help, "a|b|c"
_rastrace_choice() {
	local option=$1
	shift
	_rastrace_section options "$@" | tr -s ',[=' ' ' | awk -v option="$option" '
		($1 == option || $2 == option) && $NF ~ /[|]/ {
			gsub(/[|]/, " ", $NF)
			print $NF
		}'
}

# _rastrace_value NAME WORD: of an option, by the name that --help gives its value
_rastrace_value() {
	case $1 in
	DIR)	mapfile -t COMPREPLY < <(compgen -d -- "$2")
		compopt -o filenames 2>/dev/null ;;
	FILE|PATH)
		_rastrace_files "" "$2" ;;
	PID)	_rastrace_words "$2" "$(cd /proc && echo [0-9]*)" ;;
	USER)	mapfile -t COMPREPLY < <(compgen -u -- "$2") ;;
	GROUP)	mapfile -t COMPREPLY < <(compgen -g -- "$2") ;;
	esac
}

# The command of a command line of trace or heapmon: its first word that is no option
_rastrace_command() {
	local word
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		if [[ $word != -* ]]; then
			echo "$word"
			return
		fi
	done
}

_rastrace_operand() {
	case $1 in
	trcust)	case " ${COMP_WORDS[*]} " in
		*" --from-"*|*" --list"*|*" --combine "*|*" -C "*)
			_rastrace_files "" "$2" ;;
		*)	_rastrace_files '\.tsf|\.tdf|\.tff' "$2" ;;
		esac ;;
	tracefmt|get)
		_rastrace_files '\.ras' "$2" ;;
	run|on|off|show)
		_rastrace_files '\.tdf' "$2" ;;
	record|report|convert)
		_rastrace_files "" "$2" ;;
	esac
}

_rastrace() {
	local program=$1 word=$2 before=$3 name=${1##*/}
	local command="" options value choice

	COMPREPLY=()
	if [[ $name == trace || $name == heapmon ]]; then
		command=$(_rastrace_command)
		if [[ -z $command && $word != -* ]]; then
			_rastrace_words "$word" "$(_rastrace_commands "$program")"
			return
		fi
	fi
	options=$(_rastrace_options "$program" ${command:+"$command"})
	# "--option=word" comes in three
	if [[ $word == "=" ]]; then
		word=""
	elif [[ $before == "=" ]]; then
		before=${COMP_WORDS[COMP_CWORD-2]}
	fi
	value=$(awk -v o="$before" '$1 == o { print $2 }' <<<"$options")
	choice=$(_rastrace_choice "$before" "$program" ${command:+"$command"})
	if [[ $before == -* && -n $choice ]]; then
		_rastrace_words "$word" "$choice"
	elif [[ $before == -* && -n $value ]]; then
		_rastrace_value "$value" "$word"
	elif [[ $word == -* ]]; then
		_rastrace_words "$word" "$(awk '{ print $1 }' <<<"$options")"
	else
		_rastrace_operand "${command:-$name}" "$word"
	fi
}

complete -F _rastrace trcust trace tracefmt heapmon
