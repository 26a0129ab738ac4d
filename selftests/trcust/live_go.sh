#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Calls of Go functions are counted once each, although a function comes back
# to its entry when its stack has grown; parameters have their values there.
. "$(dirname "$0")/../tap.sh"
need_root
need go
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
HOME=$TMP
GOCACHE=$TMP/cache
GOFLAGS=-mod=mod
GO111MODULE=off
export HOME GOCACHE GOFLAGS GO111MODULE

cat >grow.go <<'END'
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

var calls, sum int64

//go:noinline
func grow(n int, pad [64]int) int {
	atomic.AddInt64(&calls, 1)
	atomic.AddInt64(&sum, int64(n))
	if n == 0 {
		return pad[3]
	}
	pad[n%64] += n
	return grow(n-1, pad) + pad[n%64]
}

//go:noinline
func huge(n int) int {
	var pad [20000]int
	atomic.AddInt64(&calls, 1)
	atomic.AddInt64(&sum, int64(n))
	for i := range pad {
		pad[i] = n + i
	}
	return pad[n]
}

func main() {
	var wg sync.WaitGroup
	for i := 0; i < 30; i++ {
		wg.Add(1)
		go func(i int) {
			grow(i*10, [64]int{})
			huge(i)
			wg.Done()
		}(i)
	}
	wg.Wait()
	fmt.Println(calls, sum)
}
END
go build -o grow grow.go 2>log || skip_all "go: $(cat log)"
cat >grow.tsf <<'END'
MODNAME=./grow
MAJOR=80
TRACE MINOR=1, TP=.main.grow, VARS=(n)
TRACE MINOR=2, TP=.main.huge, VARS=(n)
END
ok "compiled" trcust grow.tsf || diag_file err
ok "and what --from-module makes" sh -c 'trcust --from-module --args \
	--include "main.grow" --include "main.huge" -o module.tsf ./grow &&
	trcust module.tsf'

# as "hits sum" of the parameter
traced() {
	trace run -o "$1.ras" "$1.tdf" -- ./grow >program 2>err || {
		grep -q 'cannot arm\|not permitted' err &&
			skip_all "cannot arm here: $(cat err)"
		diag_file err
	}
	tracefmt -q --tff . --format=json "$1.ras" |
		sed -n 's/.*"n":\([0-9]*\)[,}].*/\1/p' >values
	awk '{ sum += $1 } END { print NR, sum + 0 }' values
}
for tdf in grow module; do
	is "$(traced $tdf)" "$(cat program)" "$tdf: each call, its parameter"
done
tap_done
