#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What functions return is what the program itself prints of it, or marked: in
# registers and in memory, of C, C++ and Rust, also in 32-bit programs.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/values_judge.sh"
need_root
need gcc
here=$(cd "$(dirname "$0")" && pwd)/results
LC_ALL=C.UTF-8
export LC_ALL
cd "$TMP" || exit 1
rounds=12

# trace_results NAME INCLUDE: the program has been built
trace_results() {
	name=$1
	shift
	trcust --from-module --retep --args --exclude main --exclude 'print*' \
		"$@" ./values >v.tsf 2>log && trcust -W1 v.tsf >log 2>&1 || {
		not_ok "$name: compiles"
		diag_file log
		return
	}
	trace run -o t.ras v.tdf -- ./values "$rounds" >printed 2>log
	tracefmt -q t.ras 2>log2 | grep -a '^returns' >traced
	judge_values "$name" 2
}

for row in "gcc -O0" "gcc -O2" "clang -O0" "clang -O2" "gcc -m32 -O2"; do
	# shellcheck disable=SC2086
	if ${row} -g -o values "$here/values.c" 2>log; then
		trace_results "$row" --exclude '_*' --exclude '*_*'
	else
		skip "$row" "it does not build"
	fi
done
for row in "g++ -O0" "g++ -O2" "clang++ -O0" "clang++ -O2"; do
	# shellcheck disable=SC2086
	if ${row} -std=c++17 -g -o values "$here/values.cc" 2>log; then
		trace_results "$row" --include text --include view \
			--include list --include 'maybe*' --include owned \
			--include shared --include reference --include pointer --include hue \
			--include 'by_*' --include bases --include inner
	else
		skip "$row" "it does not build"
	fi
done
for opt in -Copt-level=0 -O; do
	# shellcheck disable=SC2086
	if rustc $opt -g -o values "$here/values.rs" 2>log; then
		trace_results "rustc $opt" --include 'r_*'
	else
		skip "rustc $opt" "it does not build"
	fi
done

# No caller uses what it returns: the compiler may leave it out.
cat >ignored.c <<'C'
#include <stdio.h>

static volatile int done;

static __attribute__((noinline)) int work(int a)
{
	int sum = 77;

	if (a > 5)
		puts("many");
	sum += printf("%d\n", a);
	done = a;
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	work(argc);
	work(argc + 9);
	return 0;
}
C
cat >ignored.tsf <<'TSF'
MODNAME = ignored
MAJOR = 3
TRACE MINOR=1, TP=work, RETEP, VARS=($result)
TSF
for row in "gcc -O0" "gcc -O1" "gcc -O2" "clang -O0" "clang -O1" "clang -O2" \
	   "clang -O2 -gdwarf-4"; do
	# shellcheck disable=SC2086
	${row} -g -o ignored ignored.c 2>log || {
		skip "$row, ignored" "it does not build"
		continue
	}
	rm -f ignored.tdf
	trcust -W1 ignored.tsf 2>log
	if [ -e ignored.tdf ]; then
		trace run -o t.ras ignored.tdf -- ./ignored >printed 2>log
		tracefmt -q t.ras 2>log2 | sed -n 's/^.result = //p' >traced
		is "$(grep -Evc '^(<.*>|79|80)$' traced)" 0 \
			"$row: an ignored result is right or marked"
		diag_file traced
	else
		like "$(tr -d '\n' <log)" "may have (removed|changed)" \
			"$row: an ignored result is refused"
	fi
done

# Floating-point arguments that are stored in the frame, without the module
cat >args.c <<'END'
#include <stdio.h>
__attribute__((noinline)) double add(int n, double x, float y, double *out)
{
	*out = x;
	return x + y + n;
}
int main(void)
{
	double d;

	for (int n = 0; n < 12; n++) {
		printf("x = %g\ny = %g\n", n * 0.5, n * 1.25);
		printf("returns %g\n", add(n, n * 0.5, n * 1.25f, &d));
	}
	return 0;
}
END
for row in "gcc -O0" "clang -O0"; do
	# shellcheck disable=SC2086
	$row -g -o values args.c 2>log || continue
	printf 'MODNAME=./values\nMAJOR=1\n%s\n%s\n' \
		'TRACE MINOR=1,TP=.add+0,VARS=(x,y)' \
		'TRACE MINOR=2,TP=.add,RETEP,DESC="r",FMT="returns %P%{auto}",VARS=($result)' \
		>v.tsf
	trcust -W1 v.tsf >log 2>&1 || diag_file log
	trace run -o t.ras v.tdf -- ./values >printed 2>log
	tracefmt -q t.ras 2>log2 | sed -n 's/^ *\([xy] = \)/\1/p;/^returns/p' >traced
	wrong=none same=0
	compare_values
	is "$wrong" 0 "$row: no floating-point value is wrong"
	diag_file wrong
	ok "$row: arguments are read where they are stored: $same" \
		[ "$same" -ge 24 ]
done

# C++ passes these by address; clang describes those on the stack as if they were
# there.
cat >stack.cc <<'END'
#include <cstdio>
#include <memory>
#include <string>
#define SIX int a, int b, int c, int d, int e, int f
__attribute__((noinline)) int take(SIX, std::unique_ptr<int> p, std::string s)
{
	asm volatile("" : : : "memory");
	printf("p = %d\ns = %s\n", *p, s.c_str());
	return a + b + c + d + e + f + *p;
}
int main(void)
{
	for (int n = 1; n < 5; n++)
		take(1, 2, 3, 4, 5, 6, std::make_unique<int>(n), "by address");
	return 0;
}
END
printf 'MODNAME=./values\nMAJOR=1\nTRACE TP=take,VARS=(p,s)\n' >v.tsf
for row in "clang++ -O0" "clang++ -O1" "clang++ -O2" "g++ -O0" "g++ -O2"; do
	# shellcheck disable=SC2086
	$row -std=c++17 -g -o values stack.cc 2>log || continue
	trcust -W1 v.tsf >log 2>&1 || diag_file log
	trace run -o t.ras v.tdf -- ./values >printed 2>log
	tracefmt -q t.ras 2>log2 | sed -n 's/^ *\([ps] = \)/\1/p' >traced
	is "$(cat traced)" "$(cat printed)" \
		"$row: arguments that are passed by address, on the stack"
done
tap_done
