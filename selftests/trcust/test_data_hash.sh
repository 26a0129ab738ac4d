#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The data hash is the same for all spellings of the same data statements, and
# another one as soon as something else is logged.
. "$(dirname "$0")/../tap.sh"
need cc
cd "$TMP" || exit 1

cat >module.c <<'END'
struct rec { short len; int size; struct rec *next; } rec, *rec_ptr = &rec;
char buffer[16];
int number;
int function(struct rec *r, int a, int b)
{
	return r->size + a + b + number;
}
END
sed 's/^int number/long number/' module.c >wide.c
for name in module wide; do
	cc -g -O2 -shared -fPIC -nostdlib -o $name.so $name.c 2>log ||
		bail "the module does not compile"
done

# hash CLAUSES [MODULE]: of a tracepoint with these
hash() {
	printf 'MODNAME=%s\nTRACE MINOR=1, TP=.function+0, %s\n' \
		"${2:-module.so}" "$1" >one.tsf
	trcust one.tsf 2>messages || diag_file messages >&2
	trcust --dump one.tdf | sed -n 's/.* hash \([0-9a-f]*\).*/\1/p'
	trcust --dump TRC0001.TFF | sed -n 's/.* hash \([0-9a-f]*\) .*/\1/p' |
		head -n 1 >tff
	rm -f one.tdf TRC*.TFF
}

# same CLAUSES CLAUSES, differ CLAUSES CLAUSES
same() {
	one=$(hash "$1")
	ok "a hash: $1" test ${#one} -eq 16
	is "$(hash "$2")" "$one" "same: $1 and $2"
	is "$(cat tff)" "$one" "in the TFF: $1"
}
differ() {
	one=$(hash "$1") two=$(hash "$2")
	ok "differ: $1 and $2" test -n "$one" -a -n "$two" -a "$one" != "$two"
}

same 'MEM32=(.buffer,DIRECT,4)' 'mem32 =(.buffer+0,d,0x4),'
same 'MEM32=(.buffer+8,D,4)' 'MEM64=(.buffer+0x10-8,D,4)'
same 'MEM32=(.rec_ptr,INDIRECT,4)' 'MEM32=(.rec_ptr,I*,4)'
same 'MEM32=(.rec_ptr,I*+8*+4,4)' 'MEM32=(.rec_ptr+(4),I*+8*,4)'
same 'MEM32=(FRAX+RDI+RSI+8,D,4)' 'MEM32=(FRAX+4+RSI+RDI+4,D,4)'
same 'MEM32=(FRAX+RDI-RSI,D,4)' 'MEM32=(FRDI-RSI+RAX,D,4)'
same 'MEM=(RDS+SI+DI,D,4)' 'MEM=(RDS+DI+SI,D,4)'
same 'ASCIIZ32=(.buffer,D,4)' 'ASCIIZ64=(.buffer,DIRECT,04)'
same 'LEN=(rec_ptr,I), MEM32=(.buffer,D,LEN)' \
	'LEN=(.rec_ptr+(0),I,2), MEM32=(.buffer,D,LEN)'
same 'REGS=(RAX,.a)' 'REGS=(rax),REGS=(.a)'
same 'STACK=(4)' 'STACK=(0x04)'
same 'VARS=(r->next->size + number)' 'VARS=( r -> next->size+number )'
same 'VARS=(key=(number + 1))' 'VARS=((number + 1))'
same 'VARS=(a, b)' 'VARS=(a), VARS=(b)'
same 'REGS=(RAX)' 'REGS=(RAX), DESC="d", FMT="%%L"'
same 'REGS=(RAX)' 'REGS=(RAX), /* nothing */ MAXHITS=3, PASSCOUNT=2'
same 'REGS=(RAX)' 'REGS=(RAX), ONFAULT=CONTINUE'
same 'REGS=(RAX)' 'REGS=(RAX), IF=(a > 0)'

differ 'MEM32=(.buffer,D,4)' 'MEM32=(.buffer,D,5)'
differ 'MEM32=(.buffer,D,4)' 'MEM32=(.buffer+1,D,4)'
differ 'MEM32=(.buffer,D,4)' 'MEM32=(.number,D,4)'
differ 'MEM32=(.buffer,D,4)' 'MEM=(.buffer,D,4)'
differ 'MEM32=(.buffer,D,4)' 'ASCIIZ32=(.buffer,D,4)'
differ 'MEM32=(.rec_ptr,D,4)' 'MEM32=(.rec_ptr,I,4)'
differ 'MEM32=(.rec_ptr,I,4)' 'MEM32=(.rec_ptr,I**,4)'
differ 'MEM32=(.rec_ptr,I,4)' 'MEM32=(.rec_ptr,IS,4)'
differ 'MEM=(.rec_ptr,I,4)' 'MEM=(.rec_ptr,IF,4)'
differ 'MEM32=(.rec_ptr,I*+4*,4)' 'MEM32=(.rec_ptr,I**+4,4)'
differ 'MEM32=(FRAX+RDI,D,4)' 'MEM32=(FRAX-RDI,D,4)'
differ 'MEM32=(FRAX+RDI-RSI,D,4)' 'MEM32=(FRAX-RDI+RSI,D,4)'
differ 'MEM=(RDS+SI,D,4)' 'MEM=(RES+SI,D,4)'
differ 'REGS=(RAX,RBX)' 'REGS=(RBX,RAX)'
differ 'REGS=(EAX)' 'REGS=(AX)'
differ 'REGS=(.a)' 'REGS=(.b)'
differ 'REGS=(.number)' 'MEM32=(.number,D,4)'
differ 'LEN=(.rec,D), MEM32=(.buffer,D,LEN)' \
	'LEN=(.rec+4,D), MEM32=(.buffer,D,LEN)'
differ 'LEN=(.rec,D,1), MEM32=(.buffer,D,LEN)' \
	'LEN=(.rec,D,4), MEM32=(.buffer,D,LEN)'
differ 'LEN=(.rec,D), MEM32=(.buffer,D,LEN)' 'MEM32=(.buffer,D,1024)'
differ 'STACK=(4)' 'STACK=(5)'
differ 'VARS=(a)' 'VARS=(b)'
differ 'VARS=(a)' 'REGS=(.a)'
differ 'VARS=(a + b)' 'VARS=(a - b)'
differ 'VARS=(a + b)' 'VARS=(a, b)'

# The sizes and types of a build are in it.
one=$(hash 'REGS=(.number)')
two=$(hash 'REGS=(.number)' wide.so)
ok "a variable of another size" test "$one" != "$two"
one=$(hash 'REGS=(RAX)')
is "$(hash 'REGS=(RAX)' wide.so)" "$one" "registers are those of any build"
tap_done
