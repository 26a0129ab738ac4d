#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Which instruction a probe is on: the fastest of those where all that is logged
# is as at the nominal address; --site says how far that may go. live_choose.sh
# tests what the probe logs there.
. "$(dirname "$0")/../tap.sh"
need cc
here=$(cd "$(dirname "$0")" && pwd)/choose
cd "$TMP" || exit 1

case $(uname -m) in
x86_64) ;;
*) skip_all "the code is for x86-64" ;;
esac
cc -o code "$here/main.c" "$here/code.s" 2>log || {
	diag_file log
	bail "the program can't be built"
}

tsf() {
	printf 'MODNAME=%s\nMAJOR=1\n' "$PWD/code"
	for point; do
		printf 'TRACE TP=.%s\n' "$point"
	done
}

# sites MODE POINT...: how far from the symbol each probe is
sites() {
	mode=$1
	shift
	tsf "$@" >one.tsf
	trcust --site="$mode" one.tsf 2>err || cat err
	trcust --dump one.tdf | sed -nE 's/^  site "[^"]*"\+([0-9]+) .*/\1/p' |
		paste -sd ' '
}

# at MODE POINT SITE SAYING
at() {
	is "$(sites "$1" "$2")" "$3" "$1: $4"
}

at exact 'landing+0, REGS=(RDI)' 0 "at the nominal address"
at safe 'landing+0, REGS=(RDI)' 4 "after a landing pad"
at safe 'nothing+0, REGS=(RDI)' 0 "no fast site is there"
at safe 'cheap+0, REGS=(RDI)' 0 "a fast site stays"
at safe 'copied+0, REGS=(RDI)' 5 "a register that was copied"
at safe 'lost+0, REGS=(RDI)' 0 "a register that is overwritten"
at safe 'lost+0, REGS=(RDX)' 3 "a register that isn't"
at safe 'lost+0' 3 "no register at all"
at safe 'halved+0, REGS=(RDI)' 0 "half of a register was copied"
at safe 'halved+0, VARS=($edi)' 4 "half of it is enough"
at safe 'stack+0, REGS=(RSP)' 4 "the stack pointer is known"
at safe 'stack+0, REGS=(RIP)' 4 "the instruction pointer is a number"
at safe 'flags+0, REGS=(RFLAGS)' 3 "flags that nothing writes"
at safe 'stack+0, REGS=(RFLAGS)' 0 "flags that are written"
at safe 'reads+0, REGS=(RDI)' 0 "over a read that may fault"
at fast 'reads+0, REGS=(RDI)' 4 "over a read that may fault"
at safe 'global+0, REGS=(RDI)' 7 "over a read that can't"
at safe 'writes+0, REGS=(RDI)' 0 "over a write that may fault"
at fast 'writes+0, REGS=(RDI)' 4 "over a write that may fault"
at fast 'writes+0, MEM32=(FRDI+8,DIRECT,8)' 0 "over a write of what is logged"
at fast 'reads+0, MEM32=(FRDI+8,DIRECT,8)' 4 "memory that nothing writes"
at safe 'target+0, REGS=(RDI)' 0 "where a jump leads"
at fast 'calls+0, REGS=(RDX)' 0 "over a call"
at fast 'divides+0, REGS=(RDI)' 0 "over a division"
at safe 'frame+11, REGS=(RBP)' 0 "before the frame is there"
at safe 'frame+11, MEM32=(FRBP-4,DIRECT,4)' 0 "what is yet to be stored"
at safe 'frame+11, MEM32=(FRBP-5,DIRECT,4)' 11 "half of it"
at safe 'frame+11, MEM32=(FRBP-16,DIRECT,8), REGS=(RAX)' 0 "two of these"
at safe 'patch+0, REGS=(RDI)' 8 "not on a nop of 5 bytes"
at safe 'patch+3, REGS=(RDI)' 8 "nor where one is named"
is "$(cat err)" "" "which isn't spoken of then"
at exact 'patch+3, REGS=(RDI)' 3 "if it must be"
like "$(cat err)" 'patch\+0x3 is on a nop of 5 bytes.*NOP5SITE' "is reported"
at safe 'bare+0, REGS=(RFLAGS)' 5 "a slow site before a nop of 5 bytes"

# Tracepoints come in the order of their addresses.
is "$(sites safe 'shared+0, REGS=(RDI)' 'shared+4, REGS=(RDI)')" "3 7" \
	"each of two has its own"
is "$(sites safe 'shared+4, REGS=(RDI)' 'shared+0, REGS=(RDI)')" "3 0" \
	"the other way round"
is "$(sites fast 'frame+0, REGS=(RDI)' 'frame+11, REGS=(RBP)')" "0 11" \
	"none goes where another one is"
is "$(sites fast 'frame+0, REGS=(RDI)' 'frame,RETEP=EXIT, REGS=(RDI)')" \
	"0 14" "nor does an exit"

status 2 "a word that means nothing" trcust --site=quick one.tsf
like "$(cat err)" "a site is exact, safe or fast, not 'quick'" "is reported"
tap_done
