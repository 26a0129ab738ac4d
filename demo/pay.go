// SPDX-License-Identifier: GPL-2.0
// Payments in Go: what docs/guide.md traces.
package main

import (
	"errors"
	"fmt"
	"time"
)

type Card struct {
	number string
	limit  int
}

type Cash struct{ note int }

//go:noinline
func charge(who string, cents []int, how any, wait time.Duration) (int, error) {
	sum := 0
	for _, x := range cents {
		sum += x
	}
	if wait == 0 && sum > 1000 {
		return 0, errors.New("too much for " + who)
	}
	return sum, nil
}

func main() {
	fmt.Println(charge("Alice", []int{250, 125}, &Card{"4000 1234", 500},
		1500*time.Millisecond))
	fmt.Println(charge("Bob", []int{99, 900, 5}, Cash{20}, 0))
}
