#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Straight lines of code: programs that run instruction by instruction enter
# them at the first and leave them at the last, and all ways of computed jumps
# are known.
. "$(dirname "$0")/../tap.sh"
need cc
here=$(cd "$(dirname "$0")" && pwd)
steps=${BUILT:-$TOP/build/selftests}/trcust/block_steps
cd "$TMP" || exit 1

# walk NAME STEPS JUMPS SUSPECT PROGRAM [ARGUMENT...]: no differences, at least
# so many computed jumps inside functions, at most so many suspect instructions
walk() {
	name=$1 most=$2 jumps=$3 suspect=$4
	shift 4
	"$steps" "$most" "$@" >count
	is "$(grep -v ^steps count)" "" "$name: all ways are known"
	ok "$name: $(tail -n 1 count)" awk -v j="$jumps" -v s="$suspect" \
		'END { exit !($2 > 1000 && $4 > 100 && $6 >= j && $8 <= s) }' \
		count
}

# shared FILE: of blocks/FILE.s
shared() {
	cc -shared -nostdlib -o "$1.so" "$here/blocks/$1.s" 2>log
}

if shared edges; then
	is "$("$steps" blocks ./edges.so | awk '!seen[$0]++')" \
'edges+0 4: the function begins there; it ends with a jump
edges+0x7 1: a call or jump is before it; a jump leads to what follows it
edges+0x8 2: a jump leads to its start; it ends with a call
edges+0x10 3: a call or jump is before it; it ends with a jump
edges+0x17 4: a call or jump is before it; it ends with a jump
edges+0x27 1: a jump leads to its start; a jump leads to what follows it
edges+0x28 2: a jump leads to its start; it ends with a jump
edges+0x2b 1: a jump leads to its start; it ends with an instruction that does not go on
edges+0x2d 3: a jump leads to its start; it ends with a return
unknown+0 1: the function begins there; a jump leads to what follows it
unknown+0x1 1: a switch may lead to its start; a jump leads to what follows it
unknown+0x4 1: a switch may lead to its start; it ends with a jump
unknown+0x6 1: a switch may lead to its start; a jump leads to what follows it
unknown+0x7 3: a switch may lead to its start; it ends with a return
threaded+0 2: the function begins there; it ends with a jump
threaded+0x5 3: a call or jump is before it; it ends with a return
threaded+0x10 2: a jump leads to its start; it ends with a jump
threaded+0x15 1: a call or jump is before it; a jump leads to what follows it
threaded+0x16 2: a jump leads to its start; it ends with a return
landing+0 2: the function begins there; it ends with a call
landing+0x6 2: a call or jump is before it; a jump leads to what follows it
landing+0x9 3: a jump leads to its start; it ends with a return' "blocks"
else
	skip "blocks of assembly" "the assembler can't do it"
fi

# shared_a64 FILE: the same for AArch64
shared_a64() {
	aarch64-linux-gnu-gcc -shared -nostdlib -o "$1.so" \
		"$here/blocks/$1.s" 2>log
}

if shared_a64 edges_a64; then
	is "$("$steps" blocks ./edges_a64.so | awk '!seen[$0]++')" \
'edges+0 3: the function begins there; it ends with a jump
edges+0xc 1: a call or jump is before it; a jump leads to what follows it
edges+0x10 2: a jump leads to its start; it ends with a call
edges+0x18 3: a call or jump is before it; it ends with a jump
edges+0x24 6: a call or jump is before it; it ends with a jump
edges+0x3c 1: a jump leads to its start; a jump leads to what follows it
edges+0x40 2: a jump leads to its start; it ends with a jump
edges+0x48 1: a jump leads to its start; it ends with an instruction that does not go on
edges+0x4c 3: a jump leads to its start; it ends with a return
apart+0 4: the function begins there; it ends with a jump
apart+0x10 1: a call or jump is before it; it ends with a return
apart+0x14 2: a call or jump is before it; it ends with a return
apart+0x1c 5: a jump leads to its start; it ends with a jump
apart+0x30 2: a jump leads to its start; it ends with a return
apart+0x38 3: a jump leads to its start; it ends with a return
unknown+0 1: the function begins there; a jump leads to what follows it
unknown+0x4 1: a switch may lead to its start; a jump leads to what follows it
unknown+0x8 1: a switch may lead to its start; a jump leads to what follows it
unknown+0xc 1: a switch may lead to its start; it ends with a jump
unknown+0x10 1: a switch may lead to its start; a jump leads to what follows it
unknown+0x14 3: a switch may lead to its start; it ends with a return
threaded+0 1: the function begins there; it ends with a jump
threaded+0x4 3: a call or jump is before it; it ends with a return
threaded+0x10 2: a jump leads to its start; it ends with a jump
threaded+0x18 1: a call or jump is before it; a jump leads to what follows it
threaded+0x1c 2: a jump leads to its start; it ends with a return' "blocks of AArch64"
else
	skip "blocks of AArch64" "the assembler can't do it"
fi

# walk_a64 NAME JUMPS PROGRAM: as walk, by what qemu-aarch64 prints of each
# instruction; of a static program
walk_a64() {
	for one in -one-insn-per-tb -singlestep; do
		qemu-aarch64 $one -d nochain,exec -D trace "$3" >log 2>&1 &&
			break
	done
	sed -n 's,^Trace [^[]*\[[0-9a-f]*/0*\([0-9a-f]*\)/.*,\1,p' trace |
		"$steps" trace "$3" >count
	is "$(grep -v ^steps count)" "" "$1: all ways are known"
	ok "$1: $(tail -n 1 count)" awk -v j="$2" \
		'END { exit !($2 > 1000 && $4 > 100 && $6 >= j && !$8) }' count
}

link_a64() {
	case $1 in
	gcc) aarch64-linux-gnu-gcc -w $2 -static -o "$3" "$4" ;;
	clang)
		clang --target=aarch64-linux-gnu -ffreestanding -w $2 -c \
			-o part.o "$4" &&
			aarch64-linux-gnu-gcc -static -o "$3" part.o ;;
	esac 2>log
}

for source in switches tables; do
	for cc in gcc clang; do
		for options in -O0 "-O2 -mbranch-protection=standard" -Os; do
			name="AArch64, $cc $options, $source"
			if ! command -v qemu-aarch64 >/dev/null; then
				skip "$name" "no qemu-aarch64"
			elif link_a64 $cc "$options" program_a64 \
					"$here/blocks/$source.c"; then
				walk_a64 "$name" 40 ./program_a64
			else
				skip "$name" "the compiler can't do it"
			fi
		done
	done
done

"$steps" 100 /bin/true >/dev/null 2>err
if grep -q 'cannot start' err; then
	skip "the ways of programs" "cannot step through programs here"
	tap_done
fi

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	for options in "-O0 -fPIE -static-pie" "-O2 -fno-pie -static" \
		"-O2 -fcf-protection -fPIE -static-pie" \
		"-O2 -m32 -fPIE -static-pie"; do
		# shellcheck disable=SC2086
		if $cc -w $options -o program \
				"$here/blocks/switches.c" 2>log; then
			# the 32-bit C library has some of its own
			case $options in *-m32*) most=150 ;; *) most=0 ;; esac
			walk "$cc $options" 60000 60 $most ./program
		else
			skip "$cc $options" "the compiler can't do it"
		fi
	done
done
tap_done
