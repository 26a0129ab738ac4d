#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# VARS=(pointer[:count, n]): as many objects as an expression says at the hit, as the
# program prints them.
. "$(dirname "$0")/../tap.sh"
need_root
need cc
cd "$TMP" || exit 1
cat >counted.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

struct item { short id; char mark; };
struct message { unsigned char length; char data[]; };
union { struct message message; char room[40]; } sent = { { 6 } };

__attribute__((noipa)) long put(int fd, const void *buf, size_t count)
{
	return fd + count;
}
__attribute__((noipa)) long text(const char *text, int n) { return n; }
__attribute__((noipa)) long wide(const unsigned int *list, ssize_t n)
{
	return n;
}
__attribute__((noipa)) long items(const struct item *list, unsigned int n)
{
	return n;
}
__attribute__((noipa)) long send(const struct message *m) { return m->length; }
__attribute__((noipa)) long fill(char *buf, size_t size)
{
	return snprintf(buf, size, "filled %zu", size);
}

int main(void)
{
	static const unsigned int numbers[20] = { 1, 0xffffffff, 3, 4, 5 };
	static const struct item list[] = { { 1, 'a' }, { -2, 'b' }, { 3, 'c' } };
	static char much[300];
	char buf[40];

	memcpy(sent.message.data, "a data", 6);
	memset(much, 'x', sizeof(much));
	put(1, "hello, world", 5);
	put(1, "a\0b\nc", 5);
	put(1, NULL, 0);
	put(1, (void *)8, 4);
	put(1, much, sizeof(much));
	put(1, much, (size_t)1 << 60);
	text("negative", -1);
	text("some text", 4);
	wide(numbers, 3);
	wide(numbers, 20);
	wide(numbers, -3);
	items(list, 3);
	items(list, 0);
	send(&sent.message);
	fill(buf, sizeof(buf));
	return 0;
}
C

# values EXPRESSION [OPTION...]: of its records, as text
values() {
	trace run -e "$@" -- ./counted >log 2>&1 || diag_file log
	grep -E '^[^ ]* = ' log | sed 's, = $, = (empty),'
}

cc -O2 -g -o counted counted.c
what="64 bits"
is "$(values 'put(buf[:count])' | sed 's/x\{128\}/X/')" "\
buf = hello
buf = a\\x00b\\nc
buf = (empty)
buf = <not readable: 0000000000000008>
buf = X<cut: 128 of 300 bytes>
buf = X<cut: 128 of 1152921504606846976 bytes>" "$what: void is text"
is "$(values 'put(buf[:count - 2, 200])' | tail -n 2 | head -n 1 |
	tr -d x)" "buf = <cut: 200 of 298 bytes>" "$what: 200 at most"
is "$(values 'text(text[:n])')" "text = (empty)
text = some" "$what: a negative count is 0"
is "$(values 'wide(list[:n])')" "\
list = {1, 4294967295, 3}
list = {1, 4294967295, 3, 4, 5, 0 <repeats 11 times>, <cut: 16 of 20>}
list = {}" "$what: numbers"
is "$(values 'items(list[:n, 2])')" "\
list = {{id = 1, mark = 'a'}, {id = -2, mark = 'b'}, <cut: 2 of 3>}
list = {}" "$what: structures"
is "$(values 'send(m->data[:m->length])')" "m->data = a data" \
	"$what: the array at the end of a structure"
is "$(trace run -e 'put(fd, buf[:count], count)' --format=json -- ./counted \
	2>log | grep -o '"fields":.*' | head -n 2)" '"fields":{"fd":1,"buf":"hello","count":5}}
"fields":{"fd":1,"buf":"a\u0000b\nc","count":5}}' "JSON"
is "$(values 'fill(size) -> result, entry(buf)[:result] if elapsed > 1ns')" "\
size = 40
\$result = 9
entry(buf) = filled 40" "what a function has filled, at its exit"
trace run --print-tsf -e 'put(buf[:count,  9], fd)' -- ./counted >counted.tsf
is "$(trcust --dump counted.tsf | grep 'var ')" "	var buf [:count] :9
	var fd" "the TSF has it"
if cc -m32 -O2 -g -o counted counted.c 2>log; then
	what="32 bits"
	is "$(values 'put(buf[:count])' | head -n 4)" "\
buf = hello
buf = a\\x00b\\nc
buf = (empty)
buf = <not readable: 0000000000000008>" "$what: void is text"
	is "$(values 'text(text[:n])')" "text = (empty)
text = some" "$what: a negative count is 0"
	is "$(values 'items(list[:n, 2])' | tail -n 1)" "list = {}" \
		"$what: structures"
else
	skip "32 bits" "the compiler makes no such programs"
fi
tap_done
