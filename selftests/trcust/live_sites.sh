#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tracepoints with several sites count every pass, at the copies of inlined
# functions, the instances of templates, the places of static probes.
. "$(dirname "$0")/../tap.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
command -v c++ >/dev/null || skip_all "needs c++"

# A semaphore guards one of the probes.
cat >probes.s <<'END'
.macro probe name, place, semaphore
.pushsection .note.stapsdt,"","note"
.balign 4
.4byte 8, 2f - 1f, 3
.asciz "stapsdt"
1: .8byte \place, 0, \semaphore
.asciz "app"
.asciz "\name"
.asciz ""
2: .balign 4
.popsection
.endm
.globl probes
.type probes,@function
probes:
11:	nop
12:	nop
	cmpw $0, semaphore(%rip)
	je 1f
13:	nop
1:	ret
.size probes, . - probes
probe twice, 11b, 0
probe twice, 12b, 0
probe guarded, 13b, semaphore
.section .probes,"aw","progbits"
semaphore: .2byte 0
.section .note.GNU-stack,"",@progbits
END
sed 's/^int main/extern "C" void probes(void);\nint main/
	s/^\t\tb.add(i);/&\n\t\tprobes();/' "$here/exits/names.cc" >names.cc
c++ -w -O1 -g -o names names.cc probes.s 2>log ||
	skip_all "the compiler can't do it"

cat >names.tsf <<END
MODNAME=$PWD/names
MAJOR=79
TRACE MINOR=1, TP=.small
TRACE MINOR=3, TP=.first,RETEP
TRACE MINOR=4, TP=.first,RETEP=CALLER
TRACE MINOR=5, TP=@names.cc,$(grep -n '^template' names.cc | cut -d: -f1)
TRACE MINOR=6, TP=@USDT,app,twice
TRACE MINOR=7, TP=@USDT,app,guarded
TRACE MINOR=8, TP=.shop::total
TRACE MINOR=9, TP=.'shop::basket::add(int)'
END
sed -i "s/\.'\(.*\)'/.\"\1\"/" names.tsf
ok "compiled" trcust /W1 names.tsf || diag_file names.tsf
if ! trace on names.tdf 2>on.log; then
	grep -q 'cannot arm\|not permitted' on.log &&
		skip_all "cannot arm here: $(cat on.log)"
	diag_file on.log
fi
./names
status=$?
trace query --json >query.json
trace off names.tdf
is "$status" 0 "the program does the same"
is "$(awk '/"minor": [0-9]/ { minor = $2 }
	/"hits"/ && minor { print minor $2; minor = "" }' query.json |
	tr -d '"' | sed 's/,$//' | sort -n | tr '\n' ' ')" \
	"1,10 3,5 4,5 5,10 6,10 7,5 8,5 9,5 " "hits of each"
tap_done
