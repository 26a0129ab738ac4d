#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What places of variables come to in programs for AArch64 is what gdb prints at
# the same stops, by gcc and clang, with return addresses signed and not; of
# thread-local variables it is what is where the program itself has them.
. "$(dirname "$0")/../tap.sh"
need aarch64-linux-gnu-gcc gdb-multiarch qemu-aarch64 python3
HERE=$(cd "$(dirname "$0")" && pwd)
SYSROOT=$(aarch64-linux-gnu-gcc -print-file-name=libc.so.6)
SYSROOT=$(dirname "$(dirname "$SYSROOT")")
PLACE_EVAL=${BUILT:-$TOP/build/selftests}/trcust/place_eval
PLACE_REMOTE=$TMP/gdb
export PLACE_EVAL PLACE_REMOTE
cd "$TMP" || exit 1
emulator=

cleanup() {
	[ -z "$emulator" ] || kill -KILL "$emulator" 2>/dev/null
}

# What a probe can't read, or isn't there.
unreadable='held in v|floating point|points to what|operation that isn'

# look PROGRAM: log is what gdb and place_eval say at the stops
look() {
	rm -f "$PLACE_REMOTE"
	qemu-aarch64 -g "$PLACE_REMOTE" -L "$SYSROOT" -E LD_LIBRARY_PATH="$TMP" \
		"$1" >/dev/null 2>&1 &
	emulator=$!
	until [ -S "$PLACE_REMOTE" ] || ! kill -0 "$emulator"; do
		sleep 0.1
	done 2>/dev/null
	PLACE_PID=$emulator timeout 100 gdb-multiarch -nx -batch \
		-x "$HERE/place_gdb.py" "$1" >log 2>&1
	# by what it can't keep for the program
	kill -KILL "$emulator" 2>/dev/null
	wait "$emulator" 2>/dev/null
	emulator=
}

# finished NAME: gdb was
finished() {
	grep -q '^end$' log && return
	ok "$1: gdb came to its end" false
	tail -n 3 log | diag_file
	return 1
}

# values NAME LEAST PROGRAM: no differences, and at least so many the same
values() {
	look "$3"
	finished "$1" || return
	grep -E '^(differ|none|gdb) ' log | grep -vE "$unreadable" >wrong
	count=$(sed -nE 's/^(param|local|global) .*same=([0-9]+).*/\2/p' log |
		awk '{ sum += $1 } END { print sum + 0 }')
	if ! ok "$1: $count values" test ! -s wrong -a "$count" -ge "$2"; then
		head -n 20 wrong | diag_file
	fi
}

# build LEAST COMPILER OPTION...: of values.c or .cc
build() {
	least=$1
	shift
	if ! "$@" -o program 2>error; then
		skip "$*" "the compiler can't do it"
		return
	fi
	values "$*" "$least" ./program
}

PLACE_STOPS=40
PLACE_NAMES='counter total table'
export PLACE_STOPS PLACE_NAMES
cp "$HERE"/places/* "$HERE"/a64/* .
cc=aarch64-linux-gnu-gcc
for options in '-O0' '-O2' '-gdwarf-4 -O2' ${LONG:+'-O1' '-O3'} \
	'-O2 -mbranch-protection=standard' '-O2 -fomit-frame-pointer' \
	'-O2 -fno-asynchronous-unwind-tables -mbranch-protection=standard' \
	'-O2 -no-pie -fno-pic' '-O2 -static'; do
	# shellcheck disable=SC2086
	build 200 $cc -g $options values.c
done
for options in '-O0' '-O2' '-O2 -mbranch-protection=standard'; do
	# shellcheck disable=SC2086
	if clang --target=aarch64-linux-gnu -g $options -c values.c \
		-I"$SYSROOT/include" -o values.o 2>error; then
		build 200 $cc values.o
	else
		skip "clang $options" "there is none for AArch64"
	fi
done
PLACE_NAMES='ns::global ns::cls::count'
build 150 aarch64-linux-gnu-g++ -g -O0 values.cc
build 150 aarch64-linux-gnu-g++ -g -O2 -mbranch-protection=standard values.cc

# A function's arguments when only the caller still has them. gdb gets them
# from the program; in other functions there is no such name.
PLACE_NAMES='first=seen_first second=seen_second'
for options in '' '-mbranch-protection=standard' \
	'-mbranch-protection=pac-ret+leaf+b-key'; do
	# shellcheck disable=SC2086
	$cc -g -O2 $options -o program signed.c || tap_done
	look ./program
	finished "signed $options" || continue
	is "$(grep -E '^(differ|gdb) ' log)" "" "signed $options"
	count=$(sed -nE 's/^global .*same=([0-9]+).*/\1/p' log)
	ok "signed $options: $count values" test "${count:-0}" -ge 10
done

# Where gdb has its values of thread-local ones from: the program's pointers.
PLACE_STOPS=20
own=$unreadable
kept="$own|value at entry of the function, which isn't kept"
for options in '' '-no-pie -fno-pic' '-mbranch-protection=standard'; do
	# shellcheck disable=SC2086
	$cc -g -O1 -fPIC -shared -o libtls.so tls_library.c &&
		$cc -g -O1 $options -o program tls_program.c ./libtls.so ||
		tap_done
	PLACE_NAMES='align=*align_at own=*own_at both=*both_at
		lib_global=*lib_global_at2 counted'
	values "thread-local $options" 150 ./program
	PLACE_NAMES='lib_global=*lib_global_at lib_static=*lib_static_at
		lib_hidden=*lib_hidden_at both=*lib_both_at counted'
	PLACE_MODULE=$PWD/libtls.so
	export PLACE_MODULE
	# the program calls it: gdb knows with what
	unreadable=$kept
	values "thread-local in a library $options" 100 ./program
	unreadable=$own
	unset PLACE_MODULE
done
tap_done
