// SPDX-License-Identifier: GPL-2.0
// Functions whose arguments have shapes; prints what tracefmt has to print.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

type Item struct {
	name string
	n    int
	tags []string
}

func cut(have, of int, unit string) string {
	return fmt.Sprintf("<cut: %d of %d%s>", have, of, unit)
}

func bare(s string) string {
	if len(s) <= 128 {
		return s
	}
	return s[:128] + cut(128, len(s), " bytes")
}

func quoted(s string) string {
	if len(s) <= 64 {
		return "\"" + s + "\""
	}
	return "\"" + s[:64] + "\" " + cut(64, len(s), " bytes")
}

func all(n, most int, show func(int) string) string {
	text := []string{}
	for i := 0; i < n && i < most; i++ {
		text = append(text, show(i))
	}
	if n > most {
		text = append(text, cut(most, n, ""))
	}
	return "{" + strings.Join(text, ", ") + "}"
}

//go:noinline
func texts(who string, v []int, w []string, p *Item) int {
	fmt.Printf("who=%s\nv=%s\nw=%s\np={name = %s, n = %d, tags = %s}\n",
		bare(who),
		all(len(v), 16, func(i int) string { return strconv.Itoa(v[i]) }),
		all(len(w), 8, func(i int) string { return quoted(w[i]) }),
		quoted(p.name), p.n,
		all(len(p.tags), 8, func(i int) string { return quoted(p.tags[i]) }))
	return len(who)
}

var seed uint32 = 1

func draw(n uint32) int {
	seed = seed*1103515245 + 12345
	return int((seed >> 16) % n)
}

func word(most uint32) string {
	s := make([]byte, draw(most+1))
	for i := range s {
		s[i] = byte('a' + draw(26))
	}
	return string(s)
}

func main() {
	rounds, _ := strconv.Atoi(os.Args[1])
	lengths := []uint32{1, 30, 140, 400}
	for ; rounds > 0; rounds-- {
		v := make([]int, draw(24))
		for i := range v {
			v[i] = draw(1000) - 500
		}
		w := make([]string, draw(6))
		for i := range w {
			w[i] = word(8)
		}
		p := &Item{word(30), draw(9), nil}
		for i := draw(3); i > 0; i-- {
			p.tags = append(p.tags, word(6))
		}
		texts(word(lengths[draw(4)]), v, w, p)
	}
}
