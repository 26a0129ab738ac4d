#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel without a file: whatever a tracepoint there names is refused with a
# message, or needs no file; the same with a System.map alone, and with a file
# that has neither symbols nor debug information.
. "$(dirname "$0")/../tap.sh"
need cc strip
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
mkdir root
cat >System.map <<'END'
ffffffff81000000 T vfs_read
ffffffff81000400 T _ZN2ns4workEi
ffffffff82000000 D jiffies
ffffffff82000008 d _ZN2ns5totalE
END
cat >bare.c <<'END'
int jiffies;
int vfs_read(int file) { return file + jiffies; }
END
cc -O2 -nostdlib -shared -fPIC -o bare bare.c 2>log && strip bare 2>log ||
	bail "no file to trace"

# row STATUS MESSAGE CLAUSES: `how` has options
row() {
	printf 'MODNAME="vmlinux"\nMAJOR=1\nTRACE MINOR=1,%s\n' "$3" >k.tsf
	# shellcheck disable=SC2086
	status "$1" "$how: $3" trcust --arch x86-64 --sysroot root $how k.tsf
	if [ "$2" ]; then
		like "$(cat err)" "^k.tsf:3:[0-9]+: error: $2" \
			"$how: $3: its message"
	else
		unlike "$(cat err)" "error" "$how: $3: no message"
	fi
	# shellcheck disable=SC2086
	status "$1" "$how: $3: explained" \
		trcust --arch x86-64 --sysroot root $how --explain k.tsf
}

# shellcheck disable=SC2016
kernel_rows() {
	row 1 'symbol not found: file ' 'TP=.vfs_read,VARS=(file)'
	row 1 'symbol not found: count ' 'TP=.vfs_read,VARS=(count,pos)'
	row 1 'symbol not found: nothing ' 'TP=.vfs_read,IF=(nothing>3)'
	row 1 'symbol not found: a.c:x ' "TP=.vfs_read,VARS=('a.c'::x)"
	row 1 'symbol not found: ::x ' 'TP=.vfs_read,VARS=(::x)'
	row 1 'symbol not found: ns::x ' 'TP=.vfs_read,VARS=(ns::x)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,VARS=(sizeof x)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,VARS=(sizeof(x))'
	row 1 'symbol not found: x ' 'TP=.vfs_read,VARS=(&x)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,VARS=(*x)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,VARS=(x->y.z[2])'
	row 1 'symbol not found: x ' 'TP=.vfs_read,VARS=((long)x)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,VARS=($rdi+x)'
	row 1 'type not found: struct file ' \
		'TP=.vfs_read,VARS=((struct file *)$rdi)'
	row 1 'type not found: struct file ' \
		'TP=.vfs_read,VARS=(sizeof(struct file))'
	row 1 'type not found: ns::t ' 'TP=.vfs_read,VARS=((ns::t *)$rdi)'
	row 0 '' 'TP=.vfs_read,VARS=((int)$rdi)'
	row 0 '' 'TP=.vfs_read,VARS=(*(long *)$rdi, sizeof(int))'
	row 1 'tracepoint has no argument' 'TP=.vfs_read,VARS=($arg1)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,MEM64=(.x,DIRECT,8)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,MEM=(.x,DIRECT,8)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,ASCIIZ64=(.x,INDIRECT,80)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,ASCIIZ=(.x+4,DIRECT,80)'
	row 1 'symbol not found: x ' \
		'TP=.vfs_read,LEN=(.x,DIRECT),MEM64=(FRDI,DIRECT,LEN)'
	row 1 'Debug info does not exist' 'TP=.vfs_read,REGS=(.x)'
	row 1 "$line" 'TP=@read_write.c,20'
	row 1 '(not supported|symbol not found: x )' 'TP=.vfs_read,RETEP,VARS=(x)'
	row 1 'symbol not found: x ' 'TP=.vfs_read,RETEP=CALLER,VARS=(x)'
}

# What the file's symbols would show, but there is none.
how=
line="not supported: this without the kernel's file"
kernel_rows
row 1 'symbol not found: jiffies ' 'TP=.vfs_read,VARS=(jiffies)'
row 1 'symbol not found: jiffies ' 'TP=.vfs_read,MEM64=(.jiffies,DIRECT,8)'
row 0 '' 'TP=.vfs_read,REGS=(RDI)'

how='--map System.map'
kernel_rows
row 1 'size of jiffies is not known' 'TP=.vfs_read,VARS=(jiffies)'
row 0 '' 'TP=.vfs_read,VARS=(jiffies:8, *(int *)&jiffies)'
row 0 '' 'TP=.vfs_read,MEM64=(.jiffies,DIRECT,8)'
row 0 '' 'TP=.vfs_read,MEM64=(.ns::total,DIRECT,8)'

how='--module bare'
line='Debug info does not exist'
kernel_rows
tap_done
