#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# RETEP records every call that returns, once, with the value that it returns:
# functions of many shapes, by the compilers that are there, with options that make
# a difference, or all when $LONG is set.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/registers.sh"
need_root
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
command -v cc >/dev/null || skip_all "needs cc"

# Lines "NAME VALUE" of the program against the records of its functions, which
# are described by their name. Where a function leaves by a tail call, only the
# number is compared.
# shellcheck disable=SC2016
compare='FNR == NR {
	calls[$1]++
	value[$1, calls[$1]] = $2
	next
}
/^function / { name = $2 }
/^Event/ { records[name]++; tail = /tail call/; tails += tail }
/^value/ {
	hex = $2 $3
	wanted = value[name, records[name]]
	if (wanted == "-" || tail)
		next
	if (wanted < 0)
		wanted += 4294967296
	if (sprintf("%08X", wanted) != hex)
		print name, "returned", wanted, "recorded", hex
	compared++
}
END {
	for (name in calls)
		if (calls[name] != records[name])
			print name, calls[name], "calls", records[name] + 0,
				"records"
	if (compared < 20)
		print compared + 0, "values compared"
	print tails + 0 >"tails"
}'

# trace_all PROGRAM RETEP: arm all functions that the program names, run it
trace_all() {
	rm -f ./*.TFF ./*.tdf
	{
		printf 'MODNAME=%s\nMAJOR=77\n' "$PWD/$1"
		cut -d' ' -f1 log | sort -u | while read -r name; do
			echo "TRACE TP=.$name,$2, DESC=\"function $name\"," \
				"FMT=\"value %D\", REGS=($RESULT_32)"
		done
	} >all.tsf
	trcust /W0 all.tsf || return 1
	trace on -b 4M all.tdf || return 1
	"./$1" >traced.log
	trace off all.tdf
	tracefmt -q -t . >records || return 1
	trace clear
}

# shapes NAME SOURCE COMPILER OPTION...
shapes() {
	name=$1 source=$2
	shift 2
	if ! "$@" -w -o shapes "$here/exits/$source" 2>build.log; then
		skip "$name" "the compiler can't do it"
		return
	fi
	./shapes >log
	ok "$name: armed and run" trace_all shapes RETEP || return
	is "$(cat traced.log)" "$(cat log)" "$name: the program does the same"
	is "$(awk "$compare" log records)" "" "$name: records"
}

# Without the power to trace there is nothing to see.
cc -w -O0 -o shapes "$here/exits/shapes.c"
./shapes >log
if ! trace_all shapes RETEP >on.log 2>&1; then
	grep -q 'cannot arm\|not permitted' on.log &&
		skip_all "cannot arm here: $(tail -n 1 on.log)"
	diag_file on.log
fi

for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	for options in "-O0" "-O2 -g" "-O2 -fcf-protection" "-O2 -flto" \
		"-O2 -fno-pie -no-pie" "-O2 -m32" "-O2 -fstack-protector-all" \
		"-O2 -fno-asynchronous-unwind-tables" \
		${LONG:+"-O0 -g" "-Og -g" "-O1" "-O3" "-O0 -m32" \
		"-O2 -m32 -fPIC" "-O2 -fno-omit-frame-pointer"}; do
		# shellcheck disable=SC2086
		shapes "$cc $options" shapes.c $cc $options
	done
done
for cc in g++ clang++; do
	command -v $cc >/dev/null || continue
	for options in "-O0 -g" "-O2" "-O2 -m32"; do
		# shellcheck disable=SC2086
		shapes "$cc $options" shapes.cc $cc $options
	done
done

# The other way: the kernel's return probe has the value of tail calls, too.
cc -w -O2 -o shapes "$here/exits/shapes.c"
./shapes >log
ok "RETEP=CALLER" trace_all shapes RETEP=CALLER
is "$(cat traced.log)" "$(cat log)" "RETEP=CALLER: the program does the same"
is "$(awk "$compare" log records)" "" "RETEP=CALLER: records"
is "$(cat tails)" 0 "RETEP=CALLER: no tail calls"

# whole FILE COMMAND...: with all that the file exports armed the command
# prints what it printed before, and has hits
whole() {
	file=$1
	shift
	rm -f ./*.TFF ./*.tdf
	{
		printf 'MODNAME=%s\nMAJOR=78\n' "$PWD/$file"
		nm -D --defined-only "$file" | awk -v result="$RESULT" '$2 == "T" {
			sub(/@.*/, "", $3)
			if (!seen[$1]++)
				print "TRACE TP=." $3 ",RETEP, REGS=(" result ")"
		}'
	} >whole.tsf
	trcust /W0 whole.tsf
	"$@" >before 2>&1
	ok "$file: armed" trace on whole.tdf || return
	"$@" >after 2>&1
	trace query --json >whole.json
	trace off whole.tdf
	trace clear
	is "$(cat after)" "$(cat before)" "$file: does the same"
	ok "$file: is traced" grep -q '"recorded": [1-9]' whole.json
}

run_bash() {
	./bash.copy -c 'for i in {1..50}; do a[i]=$((i * i)); done
		f() { local x=$1; ((x)) && f $((x - 1)); echo $x; }; f 9
		case abc in a*) printf "%s %d\n" "${a[*]:3:5}" 5; esac
		[[ foo =~ f(o+) ]] && echo "${BASH_REMATCH[1]}" $(echo sub)
		declare -A m; m[k]=v; trap "echo bye" EXIT; (exit 3); echo $?'
}
run_crypto() {
	LD_LIBRARY_PATH=. openssl enc -aes-256-cbc -pbkdf2 -k pw \
		-S 0011223344556677 -in shapes | cksum
}
crypto=$(ldconfig -p 2>/dev/null |
	awk '/libcrypto\.so.*(x86-64|AArch64)/ { print $NF; exit }')
if cp "$(command -v bash)" bash.copy 2>/dev/null; then
	whole bash.copy run_bash
else
	skip "bash" "it isn't there"
fi
if command -v openssl >/dev/null && [ -e "$crypto" ]; then
	cp "$crypto" .
	whole "${crypto##*/}" run_crypto
else
	skip "libcrypto" "openssl isn't there"
fi
tap_done
