# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# For test_exits.sh and test_a64_exits.sh: RETEP's sites of all functions of a
# module, held against objdump. Straight through the disassembly: what a site
# begins is nothing but epilogue, no way leads into it, every return has one.
#
# The test sets `machine`, awk functions of an instruction:
#   target(line)    of a line of objdump that jumps or calls: the address in hex
#                   that it leads to, else ""
#   plain(line)     that jump isn't conditional, and no call
#   bare(insn)      without prefixes
#   leaves(insn), returns(insn)
#   epilogue(insn)  may follow a site
#   loses(insn)     the value that is returned
# shellcheck disable=SC2154

# shellcheck disable=SC2016
judge='FNR == NR {			# objdump, for the targets
	to = target($0)
	if (to == "")
		next
	leads[to] = 1
	sub(/^ */, "")
	if (plain($0))
		from[to] = from[to] " " substr($0, 1, index($0, ":") - 1)
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
	insn = bare(part[2] " " part[3])
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
inside && address in leads && !(address in site) {
	if (address in branch)
		print "a way leads after the site", name, $0
	else
		joints[address] = name
}
leaves(insn) {
	if (returns(insn) && !inside)
		print "no site", name, $0
	inside = 0
	next
}
inside && !epilogue(insn) { print "no epilogue", name, $0 }
inside && loses(insn) { print "loses the value", name, $0 }
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

# exits_judge MODULE NM OBJDUMP: what is wrong of the functions that NM (a
# command) lists, into the file "wrong"; functions and sites into "count". What
# asm() defines has no size.
exits_judge() {
	$2 -S --defined-only "$1" |
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
	sed -n "s/^  site .* address 0x\([0-9a-f]*\) .*/\1/p" dump >sites
	while read -r name begin size; do
		printf '%x begin %s\n' "0x$begin" "$name"
		printf '%x end %s\n' "$((0x$begin + 0x$size))" "$name"
	done <functions >parts
	"$3" -d --wide --no-show-raw-insn "$1" >code
	awk "$machine $judge" code sites parts code >wrong
}
