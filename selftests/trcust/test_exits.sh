#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RETEP stands before every exit of a function, at the start of its epilogue:
# where labels in assembly say so, and in the system's libraries where objdump
# shows instructions that give the frame back, set the result and leave.
. "$(dirname "$0")/../tap.sh"
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
		is "$(grep -v '^by_frame \|^split ' less)" \
			"$(grep -v '^by_frame \|^split ' got)" "objcopy $how"
	done
else
	skip "exits of assembly" "the assembler can't do it"
fi

# Straight through the disassembly of all functions: what a site begins is
# nothing but epilogue, no way leads into it, every return has one.
# shellcheck disable=SC2016
through='FNR == NR {		# objdump, for the targets
	if (match($0, /\t(bnd )?(j[a-z]+|call) +[0-9a-f]+/)) {
		n = split(substr($0, RSTART + 1, RLENGTH - 1), word, / +/)
		target[word[n]] = 1
		sub(/^ */, "")
		if (word[n - 1] == "jmp")
			from[word[n]] = from[word[n]] " " \
				substr($0, 1, index($0, ":") - 1)
		else
			branch[word[n]] = 1
	}
	next
}
FILENAME == "sites" {
	site[$1] = 1
	next
}
FILENAME == "parts" {		# where functions begin and end
	if ($2 == "begin")
		begin[$1] = $3
	else
		end[$1] = 1
	next
}
/^Disassembly/ { name = "" }
!/^ *[0-9a-f]+:\t/ { next }
{
	split($0, part, /\t/)
	address = part[1]
	gsub(/[ :]/, "", address)
	insn = part[2]
	if (address in end)
		name = ""
	if (address in begin) {
		inside = 0
		name = begin[address]
		functions++
	}
	if (address in site)
		seen[address] = 1
	if (name == "")
		next
	sub(/^(bnd|repz|rep|notrack|data16) /, "", insn)
}
address in site {
	if (inside)
		print "a second site", name, $0
	inside = 1
	sites++
}
inside { covered[address] = 1 }
inside && address in target && !(address in site) {
	if (address in branch)
		print "a way leads behind the site", name, $0
	else
		joints[address] = name
}
insn ~ /^(ret|jmp)/ {
	if (insn ~ /^ret/ && !inside)
		print "no site", name, $0
	inside = 0
	next
}
inside && insn !~ /^(pop|add +\$0x[0-9a-f]+,%.sp|leave|lea .*,%.sp|mov +%.bp,%.sp|sub +\$0xf+[0-9a-f]+,%.sp)/ &&
insn !~ /[ ,]%[er]ax( +#.*)?$/ && insn !~ /^(cltq|nop|endbr|test|cmp|v?movap|pxor|xorps)/ {
	print "no epilogue", name, $0
}
inside && insn ~ /^pop +%.ax/ { print "loses the value", name, $0 }
END {
	for (address in site)
		if (!seen[address])
			print "no instruction", address
	for (address in joints) {
		n = split(from[address], jumps, / /)
		for (i = 1; i <= n; i++)
			if (jumps[i] != "" && !covered[jumps[i]])
				print "no site on the jump", jumps[i], "to",
					joints[address], address
	}
	print functions, sites >"count"
}'

# all_exits FILE: of what it exports; what asm() defines has no size
all_exits() {
	nm -DS --defined-only "$1" | awk '$3 == "T" && $4 !~ /[^@]@[^@]/ {
		sub(/@.*/, "", $4)
		if (!seen[$1]++)
			print $4, $1, $2
	}' >functions
	{
		echo "MODNAME=$1"
		awk '{ print "TRACE TP=." $1 ",RETEP" }' functions
	} >all.tsf
	rm -f all.tdf
	trcust --site=exact /W0 all.tsf
	trcust --dump all.tdf >dump
	awk '/^  site / { print substr($6, 3) }' dump >sites
	while read -r name begin size; do
		printf '%x begin %s\n' "0x$begin" "$name"
		printf '%x end %s\n' "$((0x$begin + 0x$size))" "$name"
	done <functions >parts
	objdump -d --wide --no-show-raw-insn "$1" >code
	awk "$through" code sites parts code >wrong
}

for library in libc.so.6 libcrypto.so.3 libsqlite3.so.0 libstdc++.so.6; do
	file=$(ldconfig -p 2>/dev/null |
		awk -v l="$library" '$1 == l && /x86-64/ { print $NF; exit }')
	[ -e "$file" ] || continue
	all_exits "$file"
	is "$(head -n 20 wrong)" "" "$library: functions and sites $(cat count)"
done
tap_done
