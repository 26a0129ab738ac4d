#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The man pages are clean mdoc, and program and page know the same options.
. "$(dirname "$0")/../tap.sh"
need mandoc

for page in "$TOP"/usr/man/*.[1-8]; do
	is "$(mandoc -Tlint -W warning "$page" 2>&1)" "" \
		"${page##*/} has no warnings"
done

# help_options PROGRAM [COMMAND]: "-x" and "--long" of --help, one a line
help_options() {
	"$BIN/$1" ${2:+"$2"} --help | sed -n '/^options:/,/^$/p' |
		grep -Eo '^ +(-[a-zA-Z], )?--[a-z0-9-]+' |
		tr -s ' ,' '\n' | grep . | sort
}

# page_options PAGE [COMMAND]: those the page has a `.It Fl` for, of the whole
# page or of the subsection of the command
page_options() {
	awk -v want="$2" '
		/^\.S[hs] / { here = ($1 == ".Ss" && $2 == want) }
		(here || !want) && /^\.It Fl / {
			for (i = 2; i < NF; i++)
				if ($i == "Fl")
					print "-" $(i + 1)
		}' "$TOP/usr/man/$1" | sort
}

# common to all commands, described once for the page
common() {
	grep -vxE -e '-h|--help|-V|--version'
}

for program in trcust tracefmt; do
	is "$(page_options $program.1)" "$(help_options $program)" \
		"$program.1 has the options of $program --help"
done

# page_commands PROGRAM PAGE
page_commands() {
	commands=$("$BIN/$1" --help |
		sed -n '/^commands:/,/^$/s/^  *\([a-z][a-z-]*\).*/\1/p')
	ok "$1 has commands" test -n "$commands"
	described=$(sed -n 's/^\.Ss \([a-z][a-z-]*\)$/\1/p' "$TOP/usr/man/$2")
	is "$(echo "$described" | sort)" "$(echo "$commands" | sort)" \
		"$2 has the commands of $1 --help"
	for command in $commands; do
		is "$(page_options "$2" "$command")" \
			"$(help_options "$1" "$command" | common)" \
			"$2 has the options of $1 $command --help"
	done
}

page_commands trace trace.8
page_commands heapmon heapmon.1
for option in -h --help -V --version; do
	for page in trace.8 heapmon.1; do
		like "$(page_options $page)" "^$option\$" "$page has $option"
	done
done

# values PROGRAM PAGE [COMMAND]: those of --help's options, "a|b|c", that the page
# doesn't have
values() {
	"$BIN/$1" ${3:+"$3"} --help |
		sed -nE 's/^ .* ([a-z0-9_|-]+\|[a-z0-9_|-]+)$/\1/p' |
		tr '|' '\n' | while read -r value; do
			grep -Eq "(^|[^a-z0-9_])$value([^a-z0-9_]|\$)" \
				"$TOP/usr/man/$2" || echo "$value"
		done
}

for program in trcust tracefmt; do
	is "$(values $program $program.1)" "" "$program.1 has the values of options"
done
for command in on get spool run; do
	is "$(values trace trace.8 $command)" "" \
		"trace.8 has the values of options of $command"
done
for command in record report convert top; do
	is "$(values heapmon heapmon.1 $command)" "" \
		"heapmon.1 has the values of options of $command"
done

# synopsis PAGE: the options in there
synopsis() {
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$TOP/usr/man/$1" |
		grep -oE 'Fl -?[A-Za-z-]*[A-Za-z]' | sed 's/Fl /-/' | sort -u
}

for page in trcust.1 trace.8 heapmon.1; do
	synopsis $page >"$TMP/synopsis"
	ok "$page has options in its synopsis" test -s "$TMP/synopsis"
	is "$(page_options $page | sort -u | comm -23 "$TMP/synopsis" -)" "" \
		"  and describes them"
done
# trcust's has them all: the short name, else the long one
is "$("$BIN/trcust" --help | sed -nE 's/^ +(-.), --.*/\1/p; s/^ +(--[a-z-]+).*/\1/p' |
	common | sort)" "$(synopsis trcust.1)" "trcust.1 has all in its synopsis"

# "NAME text" of every message, in the table and in the page
tr -d '\n' <"$TOP/include/rastrace/diag.def" |
	grep -Eo 'DIAG\([A-Z]+, [A-Z0-9_]+,[[:space:]]*"[^"]*"' |
	sed -E 's/DIAG\([A-Z]+, ([A-Z0-9_]+),[[:space:]]*"(.*)"/\1 \2/' >"$TMP/table"
awk '/^\.It TRCERR_/ { name = substr($2, 8); getline; sub(/^\\&/, ""); print name, $0 }' \
	"$TOP/usr/man/trcust.1" >"$TMP/page"
ok "diag.def has messages" test -s "$TMP/table"
is "$(cat "$TMP/page")" "$(cat "$TMP/table")" \
	"trcust.1 lists the messages of diag.def"
tap_done
