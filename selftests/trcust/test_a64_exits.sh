#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RETEP is before every exit of a function for AArch64, at the start of its
# epilogue: in libraries where objdump shows instructions that give the frame
# back, set the result and leave; by gcc and clang, with signed addresses, too.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/exits_judge.sh"
need aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump aarch64-linux-gnu-nm
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# shellcheck disable=SC2034 # exits_judge.sh's
machine='
function target(line,   n, m, part, word) {
	n = split(line, part, /\t/)
	if (n < 3 || part[2] !~ /^(b|bl|b\..*|cbn?z|tbn?z)$/)
		return ""
	sub(/ *</, " <", part[3])
	m = split(part[3], word, /[ ,]+/)
	m = word[m] ~ /^</ ? m - 1 : m
	sub(/^0x/, "", word[m])
	return word[m]
}
function plain(line) { return line ~ /\tb\t/ }
function bare(insn) { return insn }
function leaves(insn) { return insn ~ /^(ret|reta[ab]|b|br) / }
function returns(insn) { return insn ~ /^ret/ }
function epilogue(insn) {
	return insn ~ /^ldr [xd][0-9]+, \[(sp|x29)/ ||
		insn ~ /^ldp [xdq][0-9]+, [xdq][0-9]+, \[(sp|x29)/ ||
		insn ~ /^(add|sub|mov) sp, (sp|x29)/ ||
		insn ~ /^(autiasp|autibsp|nop)/ || insn ~ /^[a-z]+ [xw]0, /
}
function loses(insn) { return insn ~ /^ld.* [xw]0, .*\[sp\], #/ }'

check() {
	exits_judge "$2" "aarch64-linux-gnu-nm $3" aarch64-linux-gnu-objdump
	is "$(head -n 20 wrong)" "" "$1: functions and sites $(cat count)"
	read -r functions sites <count
	ok "$1: most have one" test "$((2 * ${sites:-0}))" -ge "$functions" \
		-a "$functions" -ge "$4"
}

for library in libc.so.6 libstdc++.so.6; do
	file=$(aarch64-linux-gnu-gcc -print-file-name=$library)
	[ -e "$file" ] && check "$library" "$(readlink -f "$file")" -D 500
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
