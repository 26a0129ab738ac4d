#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Where RETEP has the kernel's return probe (--site=fast) it records what probes at
# the exits do, and the program does what it did before: C, C++ and Go. Without
# that option it does so, too, where only other modules show what a return probe
# would do to it.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/registers.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
command -v cc >/dev/null || skip_all "needs cc"

# make_tsf NAME PROGRAM MAJOR RETEP FUNCTION...; $number: an int to be logged;
# $site: the option
make_tsf() {
	name=$1
	printf 'MODNAME=%s\nMAJOR=%s\n' "$PWD/$2" "$3" >"$name.tsf"
	retep=$4
	shift 4
	for function; do
		echo "TRACE TP=.$function,$retep, DESC=\"$function\"," \
			"FMT=\"value %D %D${number:+ %P%{x32\}}\"," \
			"REGS=($SP_32,$RESULT_32)${number:+, MEM32=(.$number,DIRECT,4)}"
	done >>"$name.tsf"
	trcust ${site:+"--site=$site"} /W0 "$name.tsf"
}

# by_function MAJOR: "TID FUNCTION VALUE", in order for each
by_function() {
	tracefmt -q -t . trace.ras | awk -v major="[$1/" '
		/^Event/ {
			mine = index($0, "Major " major)
			match($0, /TID \[[0-9]+/)
			tid = substr($0, RSTART + 5, RLENGTH - 5)
			next
		}
		/^value/ { if (mine) print tid, name, $2, $3, $4, $5, $6; next }
		NF == 1 { name = $1 }' | sort -s -k1,2
}

values() {
	build=$1
	functions="sign clamp find sum both length apply deep even odd kind
		leap local split"
	shift
	if ! "$@" -w -pthread -o values "$here/return/values.c" 2>build.log
	then
		skip "$build" "the compiler can't do it"
		return
	fi
	before=$(./values)
	rm -f ./*.TFF ./*.tdf
	# shellcheck disable=SC2086
	make_tsf any values 77 RETEP $functions
	# shellcheck disable=SC2086
	make_tsf exit values 78 RETEP=EXIT $functions
	returns=$(trcust --dump any.tdf | grep -c '^  site .* return')
	chosen=$((chosen + returns))
	ok "$build: armed" trace on -b 4M any.tdf exit.tdf || return
	is "$(./values)" "$before" "$build: does the same"
	trace get trace.ras >/dev/null
	trace off --all
	by_function 77 >any.txt
	by_function 78 >exit.txt
	is "$(diff -y --suppress-common-lines exit.txt any.txt | head -n 5)" "" \
		"$build: $returns return probes"
	ok "$build: records" test "$(wc -l <any.txt)" -gt 800
}

chosen=0 number=total site=fast
cc -w -pthread -o values "$here/return/values.c" || skip_all "cannot build"
make_tsf any values 77 RETEP sign
if ! trace on any.tdf >on.log 2>&1; then
	grep -q 'cannot arm\|not permitted' on.log &&
		skip_all "cannot arm here: $(tail -n 1 on.log)"
	diag_file on.log
fi
trace off any.tdf

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	for options in "-O0" "-O1" "-O2" "-O3 -fcf-protection" "-O2 -m32" \
		"-O2 -no-pie"; do
		# shellcheck disable=SC2086
		values "$cc $options" $cc $options
	done
done
ok "there were return probes: $chosen" test "$chosen" -gt 10

number=
rm -f ./*.TFF ./*.tdf
make_tsf caller values 77 RETEP=CALLER sign
trace run -o trace.ras caller.tdf -- ./values >/dev/null 2>&1
is "$(tracefmt -q -t . trace.ras | awk '
	/^Event/ { print /Process \[values\]/ ? "named" : "nameless" }' |
	sort -u)" named "who is only seen when a function returns"

# harmless PROGRAM NAME: armed is all that it has
harmless() {
	"./$1" >before 2>&1
	was=$?
	ok "$2: armed" trace on ./*.tdf
	timeout 60 "./$1" >after 2>&1
	is "$? $(cat after)" "$was $(cat before)" "$2: does the same"
	trace off --all
}

for part in THROW LEAVE SWITCH SIGNAL CALLER; do
	for cxx in g++ clang++; do
		command -v $cxx >/dev/null || continue
		$cxx -w -O2 -D$part -pthread -o harm "$here/return/harm.cc" \
			2>build.log || continue
		for site in safe fast; do
			rm -f ./*.TFF ./*.tdf
			# shellcheck disable=SC2046
			make_tsf harm harm 79 RETEP $(nm harm |
				sed -n 's/.* T \(harm_.*\)/\1/p')
			harmless harm "$cxx $part, $site"
		done
	done
done

# What the traced module doesn't show: by default there is no return probe.
site=
for part in ALTSTACK FAULT CANCEL WALK PARENT TOSS SWITCH; do
	for cxx in g++ clang++; do
		command -v $cxx >/dev/null || continue
		options="-w -O2 -fno-omit-frame-pointer -fnon-call-exceptions"
		[ $cxx = g++ ] || options=${options% *}
		# shellcheck disable=SC2086
		$cxx $options -shared -fPIC -o libunseen.so \
			"$here/return/unseen_library.cc" 2>build.log &&
			$cxx $options -D$part -pthread -o harm \
			"$here/return/unseen.cc" -L. -lunseen \
			-Wl,-rpath,"$PWD" 2>build.log || {
			skip "$cxx $part" "the compiler can't do it"
			continue
		}
		rm -f ./*.TFF ./*.tdf
		make_tsf library libunseen.so 79 RETEP unseen_leaf unseen_divide
		# shellcheck disable=SC2046
		make_tsf harm harm 78 RETEP $(nm harm |
			sed -n 's/.* T \(unseen_.*\)/\1/p')
		harmless harm "$cxx $part"
	done
done

if command -v go >/dev/null; then
	cat >main.go <<-'GO'
	package main

	//go:noinline
	func leaf(n int) int {
		if n > 3 {
			return n + 1
		}
		return 7
	}

	//go:noinline
	func grow(n int) int {
		var big [512]int
		if n == 0 {
			return leaf(n)
		}
		big[n] = n
		return grow(n-1) + big[n]
	}

	func main() {
		done := make(chan int)
		for i := 0; i < 20; i++ {
			go func(n int) {
				done <- grow(100+n) + leaf(n)
			}(i)
		}
		all := 0
		for i := 0; i < 20; i++ {
			all += <-done
		}
		println(all)
	}
	GO
	if GOCACHE=$TMP/cache GOFLAGS=-mod=mod GO111MODULE=off \
		go build -o gone main.go 2>build.log; then
		printf 'MODNAME=%s\nMAJOR=80\n%s\n%s\n' "$PWD/gone" \
			"TRACE TP=.\"main.leaf\",RETEP, REGS=($RESULT)" \
			"TRACE TP=.\"main.grow\",RETEP, REGS=($RESULT)" >harm.tsf
		trcust /W0 harm.tsf
		harmless gone go
	else
		skip "go" "it can't build"
	fi
fi
# A parameter that is found through the caller, which a return probe hides
cat >hidden.c <<'END'
volatile int sink;
__attribute__((noinline)) void use(int x) { sink += x; }
__attribute__((noinline)) int hidden(int a)
{
	use(a * 3);
	use(2);
	use(4);
	return sink;
}
int main(void)
{
	int sum = 0;
	for (int i = 0; i < 2; i++)
		sum += hidden(i + 40);
	return sum == 1;
}
END
# parameter LINE...: what is recorded of it; lines of the TSF
parameter() {
	printf 'MODNAME=%s\nMAJOR=79\n' "$PWD/hidden" >hidden.tsf
	printf '%s\n' 'TRACE TP=@hidden.c,7, VARS=(a)' "$@" >>hidden.tsf
	trcust /W0 hidden.tsf 2>log &&
		trace run -o hidden.ras hidden.tdf -- ./hidden 2>log &&
		tracefmt -q -t . hidden.ras | sed -n 's/^a = //p'
}
if cc -g -O2 -o hidden hidden.c 2>log && [ "$(parameter)" = '40
41' ]; then
	is "$(parameter 'TRACE TP=.hidden, RETEP=CALLER' |
		sed 's/: [0-9A-F]*//')" \
		'<caller unknown>
<caller unknown>' "a return probe hides the caller"
else
	skip "a return probe hides the caller" "the caller isn't needed"
fi
tap_done
