#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The figures that benchmarks leave are one table: ratios, who is better, what
# was expected.
. "$(dirname "$0")/../tap.sh"
need_tree
table=$TOP/scripts/bench_table
BENCH_TABLE=$TMP/figures
export BENCH_TABLE

# The table without the machine
printed() {
	"$table" "$BENCH_TABLE" | sed 1,2d
}

"$table" --add Cost "the record" ns 45.5 ftrace 130 'x <= 0.38'
"$table" --add Cost "the record" ns 45.5 perf 40 '<= 50'
"$table" --add Cost "a second one" ns 45.5 ftrace "needs ftrace"
"$table" --add Cost alone ns 51 - - '<= 50'
"$table" --add Speed text M/s 2.0 "perf script" 0.5
"$table" --add Speed memory MiB 3.1 "perf script" 57.7
"$table" --add Speed JSON M/s 2 other 4 'x >= 0.6'
"$table" --add Speed found %right 99.5 other 100 '>= 99'
is "$(printed)" "\
  what         unit   ours peer        theirs ratio    expected
Cost
  the record   ns     45.5 ftrace         130  0.35    x <= 0.38
                           perf            40  1.14 *  <= 50
  a second one ns     45.5 ftrace      needs ftrace
  alone        ns       51 -                -     -  ! <= 50
Speed
  text         M/s     2.0 perf script    0.5  4.00
  memory       MiB     3.1 perf script   57.7 0.054
  JSON         M/s       2 other            4  0.50 *! x >= 0.6
  found        %right 99.5 other          100  0.99 *  >= 99
*: the peer is better   !: not as expected" "rows in, table out"
like "$("$table" "$BENCH_TABLE" | head -n 1)" \
	"^machine: .*[0-9] CPUs, Linux $(uname -r)" "the machine comes first"
status 0 "no figures are no table" "$table" /dev/null
is "$(sed 1,2d "$TMP/out")" "" "nor a heading"
status 2 "a figure that lacks something" "$table" --add Cost what ns 1
is "$(wc -l <"$BENCH_TABLE")" 8 "and it isn't kept"
unset BENCH_TABLE
status 0 "without \$BENCH_TABLE" "$table" --add Cost what ns 1 peer 2
is "$(cat "$TMP/out")" "" "nothing is kept or said"
tap_done
