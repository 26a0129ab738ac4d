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

commands=$("$BIN/trace" --help |
	sed -n '/^commands:/,/^$/s/^  *\([a-z][a-z-]*\).*/\1/p')
ok "trace has commands" test -n "$commands"
described=$(sed -n 's/^\.Ss \([a-z][a-z-]*\)$/\1/p' "$TOP/usr/man/trace.8")
is "$(echo "$described" | sort)" "$(echo "$commands" | sort)" \
	"trace.8 has the commands of trace --help"
for command in $commands; do
	is "$(page_options trace.8 "$command")" \
		"$(help_options trace "$command" | common)" \
		"trace.8 has the options of trace $command --help"
done
for option in -h --help -V --version; do
	like "$(page_options trace.8)" "^$option\$" "trace.8 has $option"
done

# "NAME text" of every message, in the table and in the page
tr -d '\n' <"$TOP/include/rastrace/diag.def" |
	grep -Eo 'DIAG\([A-Z]+, [A-Z_]+,[[:space:]]*"[^"]*"' |
	sed -E 's/DIAG\([A-Z]+, ([A-Z_]+),[[:space:]]*"(.*)"/\1 \2/' >"$TMP/table"
awk '/^\.It TRCERR_/ { name = substr($2, 8); getline; sub(/^\\&/, ""); print name, $0 }' \
	"$TOP/usr/man/trcust.1" >"$TMP/page"
ok "diag.def has messages" test -s "$TMP/table"
is "$(cat "$TMP/page")" "$(cat "$TMP/table")" \
	"trcust.1 lists the messages of diag.def"
tap_done
