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
	sed -i "s/(n, pad)/(n)/" module.tsf && trcust module.tsf'

# as "hits sum" of the parameter
traced() {
	trace run --buffer 8M -o "$1.ras" "$1.tdf" -- ./grow >program 2>err || {
		grep -q 'cannot arm\|not permitted' err &&
			skip_all "cannot arm here: $(cat err)"
		diag_file err
	}
	tracefmt -q --tff . --format=json "$1.ras" |
		sed -n 's/.*"n":\([0-9]*\)[,}].*/\1/p' >values
	awk '{ sum += $1 } END { print NR, sum + 0 }' values
}
# ---- results ----

cat >results.go <<'END'
package main

import (
	"errors"
	"fmt"
)

type pair struct {
	x int
	y int8
}

//go:noinline
func one(n int) int { return n * 2 }

//go:noinline
func two(n int) (string, error) {
	if n%2 == 0 {
		return fmt.Sprint("s", n), nil
	}
	return "", errors.New("odd")
}

//go:noinline
func three(n int) (p pair, ok bool, list []int) {
	p.x, p.y, ok = n, int8(-n), n > 2
	list = append(list, n, n+1)
	return
}

//go:noinline
func wide(n int) ([3]int, uint8) { return [3]int{n}, uint8(n) }

func main() {
	for i := 0; i < 6; i++ {
		a := one(i)
		s, err := two(i)
		p, ok, list := three(i)
		_, u := wide(i)
		text := "NULL"
		if err != nil {
			text = "*errors.errorString(\"" + err.Error() + "\")"
		}
		fmt.Printf("%d|\"%s\"|%s|{x = %d, y = %d}|%t|{%d, %d}|%d\n",
			a, s, text, p.x, p.y, ok, list[0], list[1], u)
	}
}
END
for flags in "" "-N -l"; do
	go build -gcflags="all=$flags" -o results results.go
	cat >results.tsf <<'END'
MODNAME=./results
MAJOR=81
TRACE MINOR=1,TP=one,RETEP,DESC="r",FMT="|%P%{auto}",VARS=($result)
TRACE MINOR=2,TP=two,RETEP,DESC="r",FMT="|%P%{auto}",FMT="|%P%{auto}",
	VARS=(s=($result),e=($result2))
TRACE MINOR=3,TP=three,RETEP,DESC="r",FMT="|%P%{auto}",FMT="|%P%{auto}",FMT="|%P%{auto}",
	VARS=($result,$result2,$result3)
TRACE MINOR=4,TP=wide,RETEP,DESC="r",FMT="|%P%{auto}",VARS=($result2)
END
	ok "go $flags: results compile" trcust -W1 results.tsf
	trace run -o results.ras results.tdf -- ./results >program 2>err
	tracefmt -q --tff . results.ras 2>err | grep -a '^|' | cut -c2- |
		sed 's/^\(s[0-9]*\)$/"\1"/;s/^$/""/' | paste -sd '||||||\n' >values
	is "$(cat values)" "$(cat program)" "go $flags: several results"
done
for bad in one:result2 wide:result three:result9; do
	echo "MODNAME=./results
MAJOR=81
TRACE TP=${bad%:*},RETEP,VARS=(\$${bad#*:})" >bad.tsf
	status 1 "refused: \$${bad#*:} of ${bad%:*}" trcust bad.tsf
done
trcust --from-module --args --retep --include "main.t*" -o module2.tsf \
	./results
like "$(cat module2.tsf)" 'VARS=\(\$result, \$result2, \$result3\)' \
	"--retep has all of them"
unlike "$(cat module2.tsf)" "can't be logged" "no result is a parameter"

# ---- what is no value ----

cat >hostile.go <<'END'
package main

import "unsafe"

//go:noinline
func look(e error, a any, m map[string]int, s string) int { return 0 }

func main() {
	var e error
	var a any = "text"
	var m map[string]int
	s := "text"

	word := func(p unsafe.Pointer, i int) *uintptr {
		return (*uintptr)(unsafe.Add(p, 8*i))
	}
	*word(unsafe.Pointer(&a), 1) = 16
	*word(unsafe.Pointer(&s), 1) = 1 << 60
	look(e, a, m, s)
	*word(unsafe.Pointer(&a), 0) = 0x1234
	*word(unsafe.Pointer(&e), 0) = 16
	*word(unsafe.Pointer(&m), 0) = 24
	look(e, a, m, s)
}
END
go build -o hostile hostile.go 2>err || diag_file err
cat >hostile.tsf <<'END'
MODNAME=./hostile
MAJOR=82
TRACE TP=look,DESC="t",FMT="|%P%{auto}",FMT="|%P%{auto}",FMT="|%P%{auto}",
	FMT="|%P%{auto}",VARS=(e,a,m,s)
END
trcust -W1 hostile.tsf 2>err || diag_file err
trace run -o hostile.ras hostile.tdf -- ./hostile >program 2>err
is "$(tracefmt -q --tff . hostile.ras 2>err | grep -a '^|[^t]')" \
	"|NULL
|string(<not readable: 0000000000000018>)
|{}
|<not readable: 0000000000000018>
|<type at 0x1234: not known>
|<not readable: 0000000000000018>" "interfaces and maps that are none"
like "$(tracefmt -q --tff . hostile.ras 2>err | grep -a '^|t')" \
	'^\|text.*<cut: [0-9]+ of 1152921504606846976 bytes>$' \
	"a string of 2^60 bytes"

for tdf in grow module; do
	is "$(traced $tdf)" "$(cat program)" "$tdf: each call, its parameter"
done
tap_done
