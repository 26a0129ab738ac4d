#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Expressions of trace run --expr: the TSF of each, and bad ones.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
cp "$TARGET" "$TMP/target"

# tsf EXPR: its TSF in one line, without the header
tsf() {
	trace run --print-tsf -e "$1" -- "$TMP/target" 2>&1 |
		sed '1,/^MAJOR/d; s/^[[:space:]]*//' | tr '\n' ' ' |
		sed 's/  */ /g; s/^ //; s/ $//'
}

while IFS='|' read -r expr lines; do
	is "$(tsf "$expr")" "$lines" "$expr"
done <<'EOF'
work(n)|TRACE MINOR=1, TP=."work(*)", DESC="work", VARS=(n)
work()|TRACE MINOR=1, TP=."work(*)", DESC="work"
work n, s->a:4|TRACE MINOR=1, TP=."work(*)", DESC="work", VARS=(n, s->a:4)
work -> result|TRACE MINOR=0x8001, TP=."work(*)",RETEP, DESC="work", VARS=($result)
work -> p->result, result.result|TRACE MINOR=0x8001, TP=."work(*)",RETEP, DESC="work", VARS=(p->result, $result.result)
work -> result if result > 3|TRACE MINOR=0x8001, TP=."work(*)",RETEP, DESC="work", IF=($result > 3), VARS=($result)
work(n) if n > 3|TRACE MINOR=1, TP=."work(*)", DESC="work", IF=(n > 3), VARS=(n)
work(n) -> result|TYPELIST NAME=PRE,ID=4, NAME=POST,ID=8 TRACE MINOR=1, TP=."work(*)", TYPE=(PRE), DESC="work Pre-Invocation", VARS=(n) TRACE MINOR=0x8001, TP=."work(*)",RETEP, TYPE=(POST), DESC="work Post-Invocation", VARS=($result)
work(n) if elapsed > 1ms|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=(elapsed > 1ms)
work() if latency > 1ms && a.elapsed|TRACE MINOR=1, CALL=."work(*)", DESC="work", IF=(elapsed > 1ms && entry(a.elapsed))
work(s->a) -> result, s->a if result - s->b[1] == 1 && (s->a != ')' && n > 1)|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(s->a), RESULT=($result, s->a), IF=($result - entry(s->b[1]) == 1 && entry((s->a != ')' && n > 1)))
work(n) if cputime < 1ms && n|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=(cputime < 1ms && entry(n))
work(n) -> result, cputime|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), RESULT=($result, cputime)
work(n) if (result < 0 && s->f == "elapsed && x") == 0|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=(($result < 0 && entry(s->f == "elapsed && x")) == 0)
work(n) if (long)result < 0 && n|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=((long)$result < 0 && entry(n))
work(n) if *(int *)result + *s > (int)n - -(result)|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=(*(int *)$result + entry(*s) > entry((int)n) - -($result))
work(n) if entry(n) < result * (n + 1) && entry(result)|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=(entry(n) < $result * entry((n + 1)) && entry(result))
work(n) if m & 4 == result && m == n < result|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=(entry(m) & 4 == $result && entry(m) == entry(n) < $result)
work(n) if result ? m && n : k <= 1|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=($result ? entry(m) && entry(n) : entry(k) <= 1)
work(n) if s->elapsed.x < $result->n|TRACE MINOR=1, CALL=."work(*)", DESC="work", VARS=(n), IF=(entry(s->elapsed.x) < $result->n)
kernel:vfs_read(count) if elapsed > 1us|TRACE MINOR=1, CALL=."vfs_read(*)", DESC="vfs_read", VARS=(count), IF=(elapsed > 1us)
a::b<int, c(*)(d)>::e(x)|TRACE MINOR=1, TP=."a::b<int, c(*)(d)>::e(*)", DESC="a::b<int, c(*)(d)>::e", VARS=(x)
a::operator<<(x)|TRACE MINOR=1, TP=."a::operator<<(*)", DESC="a::operator<<", VARS=(x)
operator new[](n)|TRACE MINOR=1, TP=."operator new[](*)", DESC="operator new[]", VARS=(n)
a::operator b::c* -> result|TRACE MINOR=0x8001, TP=."a::operator b::c*(*)",RETEP, DESC="a::operator b::c*", VARS=($result)
do_operator_at(x)|TRACE MINOR=1, TP=."do_operator_at(*)", DESC="do_operator_at", VARS=(x)
pkg.(*Type).Fn(x)|TRACE MINOR=1, TP=."pkg.(*Type).Fn(*)", DESC="pkg.(*Type).Fn", VARS=(x)
"work(int)"(n)|TRACE MINOR=1, TP=."work(int)", DESC="\"work(int)\"", VARS=(n)
@target.c:46 x, y|TRACE MINOR=1, TP=@"target.c",46, DESC="target.c:46", VARS=(x, y)
@dir/target.c,46|TRACE MINOR=1, TP=@"dir/target.c",46, DESC="dir/target.c:46"
usdt:python:function__entry|TRACE MINOR=1, TP=@USDT,python,function__entry, DESC="python:function__entry"
usdt:a:b($arg1) if $arg1 == ')'|TRACE MINOR=1, TP=@USDT,a,b, DESC="a:b", IF=($arg1 == ')'), VARS=($arg1)
EOF

is "$(trace run --print-tsf -e 'libc.so.6:malloc($rdi)' 2>&1 |
	sed -n 's/^MODNAME=".*\/\(libc[^"]*\)"/\1/p')" libc.so.6 "a library"
is "$(trace run --print-tsf -e 'kernel:vfs_open()' 2>&1 |
	sed -n 's/^MODNAME=//p')" '"vmlinux"' "the kernel"
is "$(trace run --print-tsf -e 'wor?' -- "$TMP/target" 2>&1 |
	grep -c 'TP=.*work')" 2 "a pattern: entry and exits"
is "$(trace run --print-tsf -e 'work' -- "$TMP/target" 2>&1 |
	grep -c 'VARS=')" 2 "a function alone: parameters and result"

# --- a condition that only tracefmt can evaluate: what run takes, with a comment
trace run --print-tsf -e "work(n) if latency > 1ms && entry.n == 'a'" -- \
	"$TMP/target" >"$TMP/app.tsf" 2>"$TMP/err"
is "$(grep -c 'CALL=' "$TMP/app.tsf")" 0 "no CALL that is refused"
like "$(cat "$TMP/app.tsf")" '^; .*not found: entry' "  a comment says why"
like "$(cat "$TMP/app.tsf")" "^; tracefmt --field '.*entry.n == '.''a'.''\)\)'$" \
	"  and how to leave out calls"
is "$(cat "$TMP/err")" "" "  without a message"
status 0 "  trcust takes it" trcust -o "$TMP" --module "$TMP/target" \
	"$TMP/app.tsf"
like "$(trace run --print-tsf -e 'kernel:vfs_read() if latency > 1us && entry.count')" \
	"^; .*not found: entry" "  in the kernel, too"

# --- nor tracefmt
while read -r expr; do
	trace run --print-tsf -e "$expr" -- "$TMP/target" >"$TMP/app.tsf" 2>&1
	is "$(grep -c 'CALL=' "$TMP/app.tsf") $(grep -c tracefmt "$TMP/app.tsf")" \
		"1 0" "only a CALL has it: $expr"
done <<'EOF'
work(n) if cputime > 1ms && entry.n
work(n) -> cputime if latency > 1ms && entry.n
work(n) -> elapsed if result > 1 && entry.n
EOF
trace run --print-tsf -e 'wor? -> elapsed' -- "$TMP/target" >"$TMP/app.tsf" 2>&1
is "$(grep -c 'CALL=' "$TMP/app.tsf") $(grep -c 'IF=' "$TMP/app.tsf")" "1 0" \
	"a pattern with a time: CALL without IF"

# --- bad ones
while IFS='|' read -r expr message; do
	status 1 "bad: $expr" trace run --print-tsf -e "$expr" -- "$TMP/target"
	like "$(cat "$TMP/err")" "$message" "  $message"
done <<'EOF'
work(n|column 5: it does not end
work(n, a[1)|column 10: it does not end
pkg.(*Type|column 1: the name does not end
work(n, {1})]|column 13: '->' or 'if' is expected
work(n))|column 8: '->' or 'if' is expected
work(n) else|column 9: '->' or 'if' is expected
work ->|column 8: values are missing
work(n) if|column 11: a condition is missing
(n)|column 1: the name of a function is missing
:work|column 1: the name of a module is missing
@target.c|column 1: a line is written @FILE:LINE
usdt:a|column 1: a USDT probe is written usdt:PROVIDER:NAME
wor*(n)|column 5: a pattern logs the parameters
wor* if n > 3|column 5: the condition of a pattern
@target.c:4 -> x|column 12: only functions have results
@target.c:4 if elapsed > 3|column 12: only calls of functions
no_such_program:work()|there is no program or library 'no_such_program'
kernel:vfs_*|functions of the kernel need values
EOF
status 1 "without a program" trace run --print-tsf -e 'work()'
like "$(cat "$TMP/err")" "needs a program to run, --pid" "  the remedy"
status 2 "--print-tsf alone" trace run --print-tsf -- "$TMP/target"
mkdir "$TMP/alone"
cp "$BIN/trace" "$TMP/alone/trace"
status 1 "without trcust" env PATH=/usr/bin:/bin "$TMP/alone/trace" run \
	--print-tsf -e work -- "$TMP/target"
like "$(cat "$TMP/err")" "there is no trcust beside trace, nor in PATH" \
	"  is reported"
like "$(cat "$TMP/err")" "compile where it is, and bring the TDF" "  the remedy"
is "$("$TMP/alone/trace" run --print-tsf -e 'work(n) if elapsed > 1ms' -- \
	"$TMP/target" 2>&1 | grep -c 'CALL=')" 1 "  CALL is printed without it"
printf '#!/bin/sh\n' >"$TMP/alone/trcust"
chmod +x "$TMP/alone/trcust"
tap_done
