#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Calls that may go on in another thread are not paired, and that is reported;
# those of a program that can't do so are.
. "$(dirname "$0")/../tap.sh"
need_root
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

cat >switch.c <<'END'
#include <stdio.h>
#ifdef SWITCH
#include <ucontext.h>
static ucontext_t outside, inside;
static char stack[65536];
#else
#define swapcontext(a, b)	0
#endif
static volatile int done;
__attribute__((noinline)) int work(int n)
{
	done += n;
	swapcontext(&inside, &outside);
	return done;
}
static void body(void)
{
	work(1);
	work(2);
}
int main(void)
{
#ifdef SWITCH
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, body, 0);
	for (int i = 0; i < 3; i++)
		swapcontext(&outside, &inside);
#else
	body();
#endif
	return 0;
}
END
check() {
	trcust --from-module --retep --include "$3" -o "$1.tsf" "./$1" &&
		trcust "$1.tsf" >log 2>&1 || diag_file log
	trace run -o "$1.ras" "$1.tdf" -- "./$1" >log 2>&1 || {
		grep -q 'cannot arm\|not permitted' log &&
			skip_all "cannot arm here: $(cat log)"
		diag_file log
	}
	for option in --pair --tree --format=perfetto --format=html; do
		tracefmt -q --tff . $option "$1.ras" >"out$option" 2>err
		is "$(grep -c 'may go on in another thread' err)" "$2" \
			"$1: $option: is it reported"
	done
	is "$(grep -c 'latency from' out--pair)" $((1 - $2)) \
		"$1: has it latencies"
	is "$(grep -c '"ph":"X"\|"ph":"B"' out--format=perfetto |
		sed 's/[1-9][0-9]*/1/')" $((1 - $2)) "$1: slices of Perfetto"
}
cc -O1 -g -w -o plain switch.c || skip_all "the compiler can't do it"
check plain 0 work
if cc -O1 -g -w -DSWITCH -o switch switch.c 2>log; then
	check switch 1 work
else
	skip "makecontext" "there is none"
fi
if command -v go >/dev/null; then
	cat >sleep.go <<-'END'
	package main

	import (
		"sync"
		"time"
	)

	//go:noinline
	func slow(i int) int { time.Sleep(time.Millisecond); return i }

	func main() {
		var w sync.WaitGroup
		for g := 0; g < 8; g++ {
			w.Add(1)
			go func(g int) {
				for i := 0; i < 10; i++ {
					slow(i)
				}
				w.Done()
			}(g)
		}
		w.Wait()
	}
	END
	HOME=$TMP GOCACHE=$TMP/cache GOFLAGS=-mod=mod GO111MODULE=off \
		go build -o sleep sleep.go
	check sleep 1 'main.slow*'
else
	skip "Go" "needs go"
fi
tap_done
