#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RETEP stands before every exit of a function for AArch64, at the start of its
# epilogue: in libraries where objdump shows instructions that give the frame
# back, set the result and leave; by gcc and clang, with signed addresses, too.
. "$(dirname "$0")/../tap.sh"
need aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump aarch64-linux-gnu-nm
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# Straight through the disassembly of all functions: what a site begins is
# nothing but epilogue, no way leads into it, every return has one.
# shellcheck disable=SC2016
through='function hex(text) { sub(/^0x/, "", text); return text }
FNR == NR {			# objdump, for the targets
	n = split($0, part, /\t/)
	if (n < 3 || part[2] !~ /^(b|bl|b\..*|cbn?z|tbn?z)$/)
		next
	sub(/ *</, " <", part[3])
	m = split(part[3], word, /[ ,]+/)
	to = word[m] ~ /^</ ? hex(word[m - 1]) : hex(word[m])
	target[to] = 1
	gsub(/[ :]/, "", part[1])
	if (part[2] == "b")
		from[to] = from[to] " " part[1]
	else
		branch[to] = 1
	next
}
FILENAME == "sites" { site[$1] = 1; next }
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
	insn = part[2] " " part[3]
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
insn ~ /^(ret|reta[ab]|b|br) / {
	if (insn ~ /^ret/ && !inside)
		print "no site", name, $0
	inside = 0
	next
}
inside && insn !~ /^ldr [xd][0-9]+, \[(sp|x29)/ &&
insn !~ /^ldp [xdq][0-9]+, [xdq][0-9]+, \[(sp|x29)/ &&
insn !~ /^(add|sub|mov) sp, (sp|x29)/ &&
insn !~ /^(autiasp|autibsp|nop)/ &&
insn !~ /^[a-z]+ [xw]0, / {
	print "no epilogue", name, $0
}
inside && insn ~ /^ld.* [xw]0, .*\[sp\], #/ { print "loses the value", name, $0 }
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

# all_exits FILE OPTION: of its functions that nm -OPTION lists
all_exits() {
	aarch64-linux-gnu-nm "-S$2" --defined-only "$1" |
		awk 'toupper($3) == "T" && $4 !~ /[^@]@[^@]/ {
		sub(/@.*/, "", $4)
		if (!seen[$1]++ && !names[$4]++)
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
	aarch64-linux-gnu-objdump -d --wide --no-show-raw-insn "$1" >code
	awk "$through" code sites parts code >wrong
}

check() {
	all_exits "$2" "$3"
	is "$(head -n 20 wrong)" "" "$1: functions and sites $(cat count)"
	read -r functions sites <count
	ok "$1: most have one" test "$((2 * ${sites:-0}))" -ge "$functions" \
		-a "$functions" -ge "$4"
}

for library in libc.so.6 libstdc++.so.6; do
	file=$(aarch64-linux-gnu-gcc -print-file-name=$library)
	[ -e "$file" ] && check "$library" "$(readlink -f "$file")" D 500
done
cp "$here"/exits/shapes.* .
for options in -O0 -O1 -O2 -O3 '-O2 -mbranch-protection=standard'; do
	for compiler in aarch64-linux-gnu-gcc \
		'clang --target=aarch64-linux-gnu'; do
		# shellcheck disable=SC2086
		if $compiler $options -w -fPIC -c -o shapes.o shapes.c 2>log &&
		   aarch64-linux-gnu-gcc -shared -o shapes.so shapes.o 2>log; then
			check "$compiler $options" "$PWD/shapes.so" "" 3
		else
			skip "$compiler $options" "the compiler can't do it"
		fi
	done
done
tap_done
