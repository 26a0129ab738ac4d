// SPDX-License-Identifier: GPL-2.0
// Functions whose arguments have shapes; prints what tracefmt has to print.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
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

type pair struct{ x, y int }

type failure struct{ code int }

func (f *failure) Error() string { return "failure" }

func seconds(d time.Duration) string {
	if d > -time.Minute && d < time.Minute {
		return strings.Replace(d.String(), "µ", "u", 1)
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

func shown(x any) string {
	switch v := x.(type) {
	case nil:
		return "NULL"
	case string:
		return "string(" + quoted(v) + ")"
	case pair:
		return fmt.Sprintf("main.pair {x = %d, y = %d}", v.x, v.y)
	case *pair:
		if v == nil {
			return "*main.pair NULL"
		}
		return fmt.Sprintf("*main.pair {x = %d, y = %d}", v.x, v.y)
	case *failure:
		return fmt.Sprintf("*main.failure {code = %d}", v.code)
	case []int, map[string]int:
		return fmt.Sprintf("%T", x)
	case time.Duration:
		return "time.Duration(" + seconds(v) + ")"
	case error:
		return fmt.Sprintf("%T(%s)", x, quoted(v.Error()))
	}
	return fmt.Sprintf("%T(%v)", x, x)
}

func length(n int) string {
	if n == 0 {
		return "{}"
	}
	return "{" + cut(0, n, "") + "}"
}

//go:noinline
func dynamic(e error, a any, s fmt.Stringer, m map[string]int) int {
	fmt.Printf("e=%s\na=%s\ns=%s\nm=%s\n", shown(e), shown(a), shown(s),
		length(len(m)))
	return len(m)
}

//go:noinline
func scalars(a int8, b uint16, c bool, d time.Duration, r rune, p *pair,
	q pair, t [3]int16, u uint64) int8 {
	fmt.Printf("a=%d\nb=%d\nc=%t\nd=%s\nr=%d\np={x = %d, y = %d}\n"+
		"q={x = %d, y = %d}\nt={%d, %d, %d}\nu=%d\n", a, b, c,
		seconds(d), r, p.x, p.y, q.x, q.y, t[0], t[1], t[2], u)
	return a
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

func fault() error {
	switch draw(5) {
	case 0:
		return errors.New(word(90))
	case 1:
		return fmt.Errorf("%s: %w", word(90), os.ErrNotExist)
	case 2:
		return fmt.Errorf("plain %d", draw(9))
	case 3:
		return &failure{draw(99)}
	}
	return nil
}

func something() any {
	var null *pair

	list := []any{draw(99) - 50, word(80), draw(2) == 1, pair{draw(9), 2},
		&pair{3, draw(9)}, []int{1}, map[string]int{}, nil, null,
		uint8(draw(256)), int64(-draw(999)), float64(draw(99)) / 4,
		errors.New(word(9)), 'x', uint64(1) << 63, int16(draw(9))}
	return list[draw(uint32(len(list)))]
}

func several() {
	var s fmt.Stringer
	m := map[string]int{}

	if draw(3) > 0 {
		s = time.Duration(draw(30000)) * 1234567
	}
	for i := draw(30); i > 0; i-- {
		m[word(9)] = i
	}
	if draw(5) == 0 {
		m = nil
	}
	dynamic(fault(), something(), s, m)
	scalars(int8(draw(256)-128), uint16(draw(65536)), draw(2) == 1,
		time.Duration(draw(30000)-15000)*[]time.Duration{1, 1001,
			1000003, time.Second}[draw(4)], rune(draw(0x10ffff)),
		&pair{draw(9), draw(9)}, pair{draw(99), -draw(99)},
		[3]int16{int16(draw(9)), int16(-draw(999)), 3},
		uint64(draw(999))<<48)
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
		several()
	}
}
