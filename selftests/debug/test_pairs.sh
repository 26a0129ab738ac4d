#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# corpus/live_pairs.sh with more programs, at their own tests: 10^6 pairs.
. "$(dirname "$0")/../tap.sh"
need_root
need gcc clang g++ setarch tclsh
. "$TOP/selftests/corpus/pairs.sh"
need_sources lua minigzip xmltest testfixture bash redis-server

for how in safe fast; do
	for compiler in gcc clang; do
		program $how testfixture $compiler -O2 -g
		program $how redis-server $compiler -O2 -g
		program $how bash $compiler -O2 -g
		for level in -O0 -O1 -O2 -O3; do
			program $how lua $compiler $level -g
			program $how minigzip $compiler $level -g
			program $how xmltest $compiler $level -g
		done
		program $how lua $compiler -O2 -fcf-protection -g
	done
done
enough 1000000
tap_done
