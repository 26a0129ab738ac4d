#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What places of variables come to is what gdb prints at the same stops, in
# programs of gcc and clang; where only gdb has a value, it is one that a probe
# can't read. With $LONG, at more levels of optimisation.
. "$(dirname "$0")/../tap.sh"
need gdb gcc
HERE=$(cd "$(dirname "$0")" && pwd)
PLACE_EVAL=${BUILT:-$TOP/build/selftests}/trcust/place_eval
export PLACE_EVAL
cd "$TMP" || exit 1

# Registers of vectors, floating point, pointers to what isn't in memory, and
# (DW_OP_GNU_uninit) what has no value.
unreadable='held in (xmm|st)|floating point|points to what|operation that isn'

# values NAME LEAST PROGRAM: no differences, and at least so many the same
values() {
	values_name=$1
	values_least=$2
	if ! timeout 120 gdb -nx -batch -x "$HERE/place_gdb.py" "$3" \
			>log 2>&1 || ! grep -q '^end$' log; then
		ok "$values_name: gdb came to its end" false
		tail -n 3 log | diag_file
		return
	fi
	grep -E '^(differ|none|gdb) ' log | grep -vE "$unreadable" >wrong
	values_count=$(sed -nE 's/^(param|local|global) .*same=([0-9]+).*/\2/p' \
		log | awk '{ sum += $1 } END { print sum + 0 }')
	if ! ok "$values_name: $values_count values" \
		test ! -s wrong -a "$values_count" -ge "$values_least"; then
		head -n 20 wrong | diag_file
	fi
}

# build LEAST COMPILER OPTION...
build() {
	least=$1
	shift
	if "$@" -o program 2>log; then
		values "$*" "$least" ./program
	else
		skip "$*" "the compiler can't do it"
	fi
}

PLACE_STOPS=60
PLACE_NAMES='counter total table'
export PLACE_STOPS PLACE_NAMES
cp "$HERE"/places/* .
for cc in gcc clang; do
	for options in '-g -O0' '-g -O2' '-gdwarf-4 -O2' \
		${LONG:+'-g -O1' '-g -O3' '-m32 -g -O0' '-m32 -g -O2'}; do
		# shellcheck disable=SC2086
		build 200 $cc $options values.c
	done
	build 200 $cc -m32 -g -O2 -fno-pic -no-pie -fomit-frame-pointer \
		values.c
done
build 200 gcc -g -O2 -gsplit-dwarf values.c
build 200 gcc -gdwarf-4 -O2 -gsplit-dwarf values.c
build 200 gcc -g -O2 -fno-asynchronous-unwind-tables values.c
build 200 gcc -g -O2 -no-pie -fno-pic values.c
build 200 gcc -g -O2 -flto values.c
PLACE_NAMES='ns::global ns::cls::count'
for cc in g++ clang++; do
	build 200 $cc -g -O0 values.cc
	build 200 $cc -g -O2 values.cc
done

# symbols of other modules, copy relocations, thread-local variables
for options in '' '-no-pie -fno-pic'; do
	gcc -g -O1 -fPIC -shared -o liblibrary.so library.c || tap_done
	# shellcheck disable=SC2086
	gcc -g -O1 $options -o program program.c ./liblibrary.so || tap_done
	PLACE_NAMES='in_program copied shared thread_shared local both
		thread_local_long thread_text'
	values "program $options" 100 ./program
	PLACE_NAMES='in_program copied shared hidden thread_shared optarg
		thread_hidden'
	PLACE_MODULE=$PWD/liblibrary.so
	export PLACE_MODULE
	values "library of program $options" 100 ./program
	unset PLACE_MODULE
done
tap_done
