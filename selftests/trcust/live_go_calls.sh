#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CALL in Go: of a program that keeps its own account of the calls of 10,000
# goroutines, each record is right and each call is accounted for, though their
# stacks are moved, they go on in other threads, and panics leave calls.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need go
goroutines=500
[ "${LONG-}" ] && goroutines=10000
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
HOME=$TMP
GOCACHE=$TMP/cache
GO111MODULE=off
export HOME GOCACHE GO111MODULE

cat >calls.go <<'END'
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

var next, returned, left int64
var lock sync.Mutex
var out = bufio.NewWriter(os.Stdout)

// Its stack grows; others run meanwhile; a panic leaves all of it.
//
//go:noinline
func work(id int64, depth int, fails bool) int64 {
	var pad [64]int64
	pad[id&63] = id
	if depth > 0 {
		called(id+1, depth-1, fails)
	} else if fails {
		panic("left")
	}
	if id%4 == 0 {
		runtime.Gosched()
	}
	return pad[id&63] * 3
}

//go:noinline
func called(id int64, depth int, fails bool) {
	result := work(id, depth, fails)
	atomic.AddInt64(&returned, 1)
	lock.Lock()
	fmt.Fprintln(out, id, result)
	lock.Unlock()
}

func try(depth int, fails bool) {
	defer func() {
		if recover() != nil {
			atomic.AddInt64(&left, int64(depth+1))
		}
	}()
	called(atomic.AddInt64(&next, int64(depth+1))-int64(depth), depth, fails)
}

func main() {
	var wg sync.WaitGroup
	count, _ := strconv.Atoi(os.Args[1])
	for i := 0; i < count; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			for n := 0; n < 8; n++ {
				depth := 0
				if i%16 == 0 {
					depth = (i/16 + n) % 9
				}
				try(depth, (i+n)%5 == 3)
				runtime.Gosched()
			}
		}(i)
	}
	wg.Wait()
	out.Flush()
	fmt.Println("returned", returned, "left", left)
}
END
status 0 "go build" go build -o calls calls.go

# accounted MINOR: its figures, calls that never returned and open ones as one
accounted() {
	figures "$1" | awk '{ print $1, $2, $3, $4 + $5, $6, $7 }'
}

cat >calls.tsf <<END
MODNAME=calls
MAJOR=194
TRACE MINOR=1, CALL=main.work, DESC="work", FMT="%{u64} %P%{u64} %P%{u64}",
	VARS=(id), RESULT=(\$result), IF=(\$result % 7 == 0)
END
# less are open at a time than a TDF may have
cat >sums.tsf <<END
MODNAME=calls
MAJOR=193
TRACE MINOR=2, CALL=main.work, COUNT, HIST=(elapsed)
END
status 0 "trcust" trcust calls.tsf
status 0 "trcust" trcust sums.tsf
status 0 "arm" trace on --max-cpu=off --buffer 64K calls.tdf sums.tdf
status 0 "the program runs" sh -c "./calls $goroutines >said"
trace get calls.ras
returned=$(tail -n 1 said | cut -d ' ' -f 2)
left=$(tail -n 1 said | cut -d ' ' -f 4)
kept=$(awk 'NF == 2 && $2 % 7 == 0' said | wc -l | tr -d ' ')
is "$(accounted 1)" "$kept $((returned - kept)) 0 $left 0 0" \
	"calls are recorded, filtered, or never return"
is "$(accounted 2)" "0 0 0 $left 0 $returned" "  or added up"
tracefmt --tff . calls.ras 2>/dev/null |
	awk 'NF == 3 && /^[0-9 ]+$/ { print $2, $3 }' >records
ok "there are records" test -s records
awk 'NF == 2' said | sort >sorted
is "$(grep -vxFf sorted records | head -n 3)" "" "each is that of a call"
is "$(sort records | uniq -d | head -n 3)" "" "  and none is there twice"
trace off --all

printf 'MODNAME=calls\nMAJOR=192\nTRACE CALL=runtime.memmove, COUNT\n' >bad.tsf
trcust bad.tsf >log 2>&1
like "$(cat log)" "or of assembler" "assembler has no goroutine in a register"
tap_done
