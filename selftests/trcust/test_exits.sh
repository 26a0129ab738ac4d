#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RETEP is before every exit of a function, at the start of its epilogue:
# where labels in assembly say so, and in the system's libraries where objdump
# shows instructions that give frame and registers back, set the result and
# leave.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/exits_judge.sh"
need cc nm objdump
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# exits_of TDF: per line the tracepoint's name, address, "exit" or "tail"
exits_of() {
	trcust --dump "$1" | awk '
		/^point / { split($5, part, /[",]/); name = part[2] }
		/^  site / {
			for (i = 1; i < NF; i++)
				if ($i == "address")
					address = substr($(i + 1), 3)
			print name, address, / tail-call/ ? "tail" : "exit"
		}' | sort
}

if cc -shared -nostdlib -o exits.so "$here/exits/exits.s" 2>log; then
	nm exits.so >names
	functions=$(sed -nE 's/.* T (.*)/\1/p' names)
	{
		echo "MODNAME=$PWD/exits.so"
		for name in $functions; do
			echo "TRACE TP=.$name,RETEP"
		done
	} >exits.tsf
	trcust --site=exact exits.tsf 2>err
	exits_of exits.tdf >got
	for name in $functions; do
		is "$(awk -v f="$name" '$1 == f { print $2, $3 }' got)" \
			"$(sed -nE "s/^0*([0-9a-f]+) . ${name}_(exit|tail)[0-9]*\$/\\1 \\2/p" names)" \
			"$name"
	done
	is "$(grep -o 'left out: .*' err)" \
		"left out: falling+0x2 [TRCERR_LEFTOUT]" \
		"only the conditional tail call is left out"
	# without symbols of cold code and without frame descriptions
	for how in "--strip-all" "--remove-section=.eh_frame"; do
		objcopy "$how" exits.so less.so
		sed 's/exits.so/less.so/' exits.tsf >less.tsf
		trcust --site=exact less.tsf 2>err
		exits_of less.tdf >less
		is "$(grep -v '^by_frame \|^split \|^again ' less)" \
			"$(grep -v '^by_frame \|^split \|^again ' got)" "objcopy $how"
	done
else
	skip "exits of assembly" "the assembler can't do it"
fi

# shellcheck disable=SC2034 # exits_judge.sh's
machine='
function target(line,   n, word) {
	if (!match(line, /\t(bnd )?(j[a-z]+|call) +[0-9a-f]+/))
		return ""
	n = split(substr(line, RSTART + 1, RLENGTH - 1), word, / +/)
	return word[n]
}
function plain(line) { return line ~ /\t(bnd )?jmp / }
function bare(insn) {
	sub(/^(bnd|repz|rep|notrack|data16) /, "", insn)
	sub(/ $/, "", insn)
	return insn
}
function leaves(insn) { return insn ~ /^(ret|jmp)/ }
function returns(insn) { return insn ~ /^ret/ }
function epilogue(insn) {
	return insn ~ /^(pop|leave|add +\$0x[0-9a-f]+,%.sp)/ ||
		insn ~ /^(lea .*,%.sp|mov +%.bp,%.sp)/ ||
		insn ~ /^mov +[^,]*\(%r[bs]p\),%r(bx|bp|1[2-5])$/ ||
		insn ~ /^sub +\$0xf+[0-9a-f]+,%.sp/ ||
		insn ~ /[ ,]%[er]ax( +#.*)?$/ ||
		insn ~ /^(cltq|nop|endbr|test|cmp|v?movap|pxor|xorps)/
}
function loses(insn) { return insn ~ /^pop +%.ax/ }'

for library in libc.so.6 libcrypto.so.3 libsqlite3.so.0 libstdc++.so.6; do
	file=$(ldconfig -p 2>/dev/null |
		awk -v l="$library" '$1 == l && /x86-64/ { print $NF; exit }')
	[ -e "$file" ] || continue
	exits_judge "$file" "nm -D" objdump
	is "$(head -n 20 wrong)" "" "$library: functions and sites $(cat count)"
done
tap_done
