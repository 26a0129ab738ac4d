#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Where trcust moves a probe to, the values are those of the nominal address: at
# every hit of every function of a few programs, at their entries and exits. The
# long form, with more programs, is debug/test_pairs.sh.
. "$(dirname "$0")/../tap.sh"
need_root
need_tree
need gcc clang g++ setarch
. "$TOP/selftests/corpus/pairs.sh"
need_sources lua minigzip xmltest
MAXHITS=${MAXHITS:-300} BUFFER=${BUFFER:-32M}

program safe lua gcc -O2 -g
program fast lua clang -O2 -g
program safe minigzip clang -O0 -g
program safe xmltest gcc -O2 -g
enough 30000
corrupted 's/VARS=(L,/VARS=((long)L + 1,/' safe lua gcc -O2 -g
tap_done
