#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Kernel functions: arguments and the kernel's memory where they begin, the
# return value by the return probe, places inside, two TDFs in one function,
# beside a program's tracepoints.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need busybox
[ -e /sys/bus/event_source/devices/kprobe ] || skip_all "no kprobes"
cd "$TMP" || exit 1

# do_sys_openat2(int dfd, const char __user *filename, struct open_how *how):
# how is on the kernel's stack, and begins with the flags, 64 bits
make_tdf enter.tsf <<TSF
MODNAME=vmlinux
MAJOR=20
TRACE MINOR=1, TP=.do_sys_openat2, DESC="open", FMT="flags %P%L",
	MEM64=(F$ARG3,DIRECT,8), REGS=($ARG1_32), FMT="directory %D"
TRACE MINOR=2, TP=.do_sys_openat2,RETEP=CALLER, DESC="opened",
	FMT="result %L", REGS=($RESULT)
TSF
make_tdf second.tsf <<TSF
MODNAME=vmlinux
MAJOR=21
TRACE MINOR=1, TP=.do_sys_openat2, DESC="second", REGS=($ARG1_32)
TSF

# opens N: as many files that are there, and one that isn't
opens() {
	# shellcheck disable=SC2046
	busybox cat $(yes /dev/null | head -n "$1") /none >/dev/null 2>&1
}

# no other one's
on() {
	trace on --comm busybox "$@"
}

# count DESC
count() {
	grep -c "^$1\$" out
}

status 0 "on" on enter.tdf
opens 5
status 0 "a second TDF in the same function" on second.tdf
opens 5
status 0 "off, the first" trace off enter.tdf
opens 5
status 0 "off, the second" trace off second.tdf
opens 5
tracefmt -q -t . >out
first=$(count open) second=$(count second) returned=$(count opened)
is "$first" 12 "hit by two of the three"
is "$second" 12 "so is the second"
is "$returned" "$first" "each has returned"
like "$(cat out)" "^result 0000 ?0000 ?0000 ?000[3-9A-F]$" "a descriptor"
like "$(cat out)" "^result FFFF ?FFFF ?FFFF ?FFFE$" "-ENOENT"
# numbers differ between machines
like "$(cat out)" "^flags 0000 ?0000 ?(0000 ?8000|0002 ?0000)$" \
	"O_RDONLY | O_LARGEFILE"
like "$(cat out)" "^directory FFFF FF9C$" "AT_FDCWD"
unlike "$(cat out)" "not readable|not traced" "everything could be read"
is "$(grep -c '^Event .* Process \[busybox\]' out)" \
	"$(grep -c '^Event ' out)" "each names its process"
unlike "$(cat out)" '^Comm ' "and has no other line for it"
tracefmt -q -t . --comm 'busy*' >named
is "$(grep -c '^Event ' named)" "$(grep -c '^Event ' out)" "it selects events"
is "$(tracefmt -q -t . --comm target | grep -c '^Event ')" 0 "  or none"
like "$(tracefmt -q -t . --format=json)" '"comm":"busybox"' "JSON has it"
trace clear

# Inside: an instruction must begin there. trcust knows where none can when all
# have the same length, the kernel knows the rest.
inside='' between=''
for offset in 4 5 7 8 9; do
	cat >"at$offset.tsf" <<-TSF
	MODNAME=vmlinux
	MAJOR=22
	TRACE MINOR=$offset, TP=.do_sys_openat2+$offset, DESC="inside"
	TSF
	if trcust "at$offset.tsf" 2>err && on "at$offset.tdf" 2>err; then
		inside="$inside $offset"
	elif grep -qE "no instruction that begins there|is inside an instruct" \
		err; then
		between="$between $offset"
	else
		diag "+$offset: $(cat err)"
	fi
done
diag "instructions begin at$inside"
ok "some places inside are armed" test -n "$inside"
ok "others are refused with the reason" test -n "$between"
opens 5
for offset in $inside; do
	trace off "at$offset.tdf" || break
done
tracefmt -q -t . >out
for offset in $inside; do
	is "$(grep -c "Minor \[$offset/" out)" 6 "+$offset is hit"
done
trace clear

# Beside a program's, one of them wrong
make_app
status 1 "the kernel's and a program's, and one that isn't there" \
	on --comm target enter.tdf "$TDF" none.tdf
"$TMP/target" 3
opens 1
tracefmt -q -t . >out
is "$(grep -c '^work' out)" 3 "the program's are recorded"
# the program has opened its libraries
ok "and the kernel's" test "$(count open)" -ge 2

# Types and parameters from the BTF of this kernel, which has no other file
if [ -r /sys/kernel/btf/vmlinux ]; then
	cat >types.tsf <<-'TSF'
	MODNAME=vmlinux
	MAJOR=24
	TRACE MINOR=1, TP=.vfs_open, DESC="typed",
		VARS=(path->dentry->d_name.name, file->f_flags & 3,
		path->dentry->d_name.len), IF=(path->dentry->d_name.len == 11)
	TRACE MINOR=2, TP=.vfs_read, DESC="read",
		VARS=(file->f_path.dentry->d_name.name, count),
		IF=(count == 777)
	TRACE MINOR=3, TP=.vfs_read,RETEP=CALLER, DESC="done",
		VARS=((long)$RESULT), IF=((long)$RESULT == 11)
	TSF
	case $(uname -m) in
	aarch64) sed -i 's/$RESULT/$X0/g' types.tsf ;;
	*) sed -i 's/$RESULT/$RAX/g' types.tsf ;;
	esac
	status 0 "types of BTF" trcust types.tsf
	status 0 "  on" on types.tdf
	printf 'some bytes\n' >hello_world
	busybox dd if=hello_world of=/dev/null bs=777 count=1 2>/dev/null
	tracefmt -q -t . >out
	like "$(cat out)" "^path->dentry->d_name.name = hello_world\$" \
		"  a string through three pointers"
	like "$(cat out)" "^file->f_flags & 3 = 0\$" "  a member"
	like "$(cat out)" "^path->dentry->d_name.len = 11\$" \
		"  one of an anonymous union"
	like "$(cat out)" "^count = 777\$" "  a parameter"
	is "$(grep -c '^done' out)" 1 "  the result"
	trace off types.tdf
	trace clear
	sed -i 's/MAJOR=24/MAJOR=25/' types.tsf
	dd if=/sys/kernel/btf/vmlinux of=other.btf bs=64k 2>/dev/null
	trcust --btf other.btf types.tsf
	status 0 "  a copy of it is of this kernel" on types.tdf
	trace off types.tdf
	cat >paths.tsf <<-'TSF'
	MODNAME=vmlinux
	MAJOR=26
	TRACE MINOR=1, TP=.vfs_open, DESC="open", FMT="path %P%{auto}",
		FMT="name %P%{auto}", FMT="dentry %P%{auto}",
		VARS=(*path, path->dentry->d_name, *path->dentry),
		IF=(path->dentry->d_name.name == "hello_world" ||
		    path->dentry->d_name.name == "short")
	TRACE MINOR=2, TP=.vfs_read, DESC="read", FMT="file %P%{auto}",
		VARS=(*file), IF=(count == 777)
	TRACE MINOR=3, TP=.inet_bind, DESC="bind", FMT="address %P%{auto}",
		VARS=(*uaddr)
	TRACE MINOR=4, TP=.vfs_read,RETEP=CALLER, DESC="result",
		FMT="result %P%{auto}", VARS=($result), IF=($result == 11)
	TSF
	status 0 "shapes of the kernel" trcust paths.tsf
	status 0 "  on" on paths.tdf
	mkdir -p a/bb/ccc
	cp hello_world a/bb/ccc
	cp hello_world /tmp/short
	busybox dd if=a/bb/ccc/hello_world of=/dev/null bs=777 count=1 2>log
	busybox cat /tmp/short >log
	tracefmt -q -t . >out
	like "$(cat out)" "^name hello_world$" "  a name"
	like "$(cat out)" "^path (<cut>|/).*/a/bb/ccc/hello_world$" "  a path"
	like "$(cat out)" "^dentry (<cut>|/).*/a/bb/ccc/hello_world$" "  a dentry"
	like "$(cat out)" "^file (<cut>|/).*/a/bb/ccc/hello_world$" "  a file"
	like "$(cat out)" "^path (/tmp)?/short$" "  a short path is whole"
	like "$(cat out)" "^result 11$" "  what a function returns"
	trace off paths.tdf
	rm -f /tmp/short
else
	skip "types of BTF" "this kernel has no BTF"
fi

make_tdf absent.tsf <<'TSF'
MODNAME=vmlinux
MAJOR=23
TRACE MINOR=1, TP=.no_such_function_here, DESC="none"
TSF
status 1 "a function that there isn't" trace on absent.tdf
like "$(cat err)" "no_such_function_here" "  is named"
tap_done
