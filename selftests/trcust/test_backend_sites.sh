#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Sites are where objdump too sees instructions, and after the prologue where
# debug information has where that ends.
. "$(dirname "$0")/../tap.sh"
need cc objdump nm
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# sites_of TDF: "address bytes" of each, in ascending order
sites_of() {
	trcust --dump "$1" | sed -nE \
		's/^  site .* address 0x([0-9a-f]+) .* insn (.*)/\1 \2/p' | sort
}

# insns_of FILE FUNCTION [OBJDUMP-ARGUMENT...]: the same from objdump
insns_of() {
	file=$1 function=$2
	shift 2
	objdump -d --wide --insn-width=16 "$@" --disassemble="$function" \
		"$file" | awk -F'\t' -v f="<$function>:" \
		'$0 ~ /^[0-9a-f]+ </ { inside = index($0, f) }
		inside && NF > 1 {
			gsub(/[: ]/, "", $1)
			sub(/ +$/, "", $2)
			print $1, $2
		}' | sort
}

# A tracepoint at every byte of a function, every.tdf
trace_bytes() {
	{
		echo "MODNAME=$PWD/$1"
		i=0
		while [ $i -lt "$3" ]; do
			echo "TRACE TP=.$2+$i"
			i=$((i + 1))
		done
	} >every.tsf
	rm -f every.tdf
	trcust --site=exact every.tsf 2>every.err
}

# Those that are taken are just the instructions that objdump shows, less
# those that can't be probed.
every_byte() {
	file=$1 function=$2 size=$3
	trace_bytes "$@"
	sites_of every.tdf >got
	insns_of "$file" "$function" >all
	objdump -d --wide --insn-width=16 --disassemble="$function" "$file" |
		awk -F'\t' '$3 ~ /^(v[a-z]|lock|notrack|[c-g]s |syscall|pushf|int3|ud2)/ {
			gsub(/[: ]/, "", $1); print $1 }' | sort >refused
	join -v 1 all refused >expected
	ok "$file: objdump shows $function" test -s expected
	is "$(cat got)" "$(cat expected)" \
		"$file: every byte of $function ($(wc -l <got) sites)"
	is "$(grep -c 'TRCERR_BADOPCODE' every.err)" \
		"$((size - $(wc -l <got)))" "$file: the others are refused"
}

size_of() {
	nm -S "$1" | awk -v f="$2" '$4 == f { print "0x" $2 }'
}

build() {
	name=$1
	shift
	cc -w "$@" -o "$name" "$here/backend/sites.c" 2>log
}

# site_of NAME: where TP=.work is
site_of() {
	printf 'MODNAME=%s\nTRACE TP=.work\n' "$PWD/$1" >one.tsf
	trcust --site=exact one.tsf && sites_of one.tdf | cut -d' ' -f1
}

for variant in "o0 -O0" "o2 -O2" "pie -O1 -fPIE -pie" "nopie -O1 -no-pie" \
	"lib.so -O2 -shared -fPIC" "cet -O2 -fcf-protection" "m32 -O2 -m32"; do
	# shellcheck disable=SC2086
	if ! build $variant; then
		skip "${variant%% *}" "the compiler can't do it"
		continue
	fi
	name=${variant%% *}
	every_byte "$name" work "$(($(size_of "$name" work)))"
done

# An offset in the file is where the bytes are.
trace_bytes o2 work "$(($(size_of o2 work)))"
trcust --dump every.tdf | sed -nE \
	's/^  site .* offset (0x[0-9a-f]+) .* insn (.*)/\1 \2/p' |
while read -r offset bytes; do
	found=$(od -An -v -tx1 -j "$((offset))" -N "$(echo "$bytes" | wc -w)" o2)
	[ "${found# }" = "$bytes" ] || echo "$offset: $found, not $bytes"
done >wrong
is "$(cat wrong)" "" "file offsets"
ok "there are some" test "$(sites_of every.tdf | wc -l)" -gt 10

# Without debug information the site is the symbol's address.
for name in o0g o0; do
	[ $name = o0 ] && flag=-g0 || flag=-g
	build $name -O0 $flag
	entry=$(nm $name | awk '$3 == "work" { print $1 }' | sed 's/^0*//')
	site=$(site_of $name)
	if [ $name = o0 ]; then
		is "$site" "$entry" "without debug information: the entry"
		continue
	fi
	ok "with debug information: after the entry" \
		test $((0x$site)) -gt $((0x$entry))
	if command -v gdb >/dev/null; then
		is "$(gdb -batch -nx -ex 'info scope work' \
			-ex 'break work' $name 2>/dev/null |
			sed -nE 's/^Breakpoint 1 at 0x([0-9a-f]+):.*/\1/p')" \
			"$site" "where gdb has its breakpoint"
	fi
	printf 'MODNAME=%s\nTRACE TP=.work+0\n' "$PWD/$name" >one.tsf
	trcust --site=exact one.tsf
	is "$(sites_of one.tdf | cut -d' ' -f1)" "$entry" "+0 is the entry"
done

# A separate debug file has as much, and names what was stripped.
build whole -O0 -g
objcopy --only-keep-debug whole whole.debug
objcopy --strip-all --add-gnu-debuglink=whole.debug whole apart
is "$(site_of apart)" "$(site_of whole)" "debug information in a file beside"
mkdir root
cp apart root/app
mkdir -p root/usr/lib/debug
cp whole.debug root/usr/lib/debug/whole.debug
printf 'MODNAME=/app\nTRACE TP=.work\n' >sysroot.tsf
mv whole.debug hidden
ok "sysroot" trcust --site=exact --sysroot "$TMP/root" sysroot.tsf
is "$(sites_of sysroot.tdf | cut -d' ' -f1)" "$(site_of whole)" \
	"debug information below the sysroot"
like "$(trcust --dump sysroot.tdf)" 'path "/app"' "the path on the target"
cc -w -O0 -g -o other -DOTHER=1 -x c - <<'END'
int work(void) { return 0; }
int main(void) { return work(); }
END
objcopy --only-keep-debug other whole.debug
status 1 "a debug file of another build isn't used" trcust one.tsf \
	--module apart
like "$(cat err)" "stripped" "the module is stripped then"

# A local variable is known as one, with its debug information in another file
# too.
for flag in -g -gsplit-dwarf; do
	build local -O0 -g $flag
	printf 'MODNAME=local\nTRACE TP=.work, MEM32=(.count,DIRECT,4)\n' >one.tsf
	ok "a local variable, $flag" trcust one.tsf
	like "$(trcust --dump one.tdf)" 'mem length 4 address \[breg' "is known"
done

# C++
if c++ -w -O1 -o class "$here/backend/class.cc" 2>log; then
	cat >class.tsf <<'END'
MODNAME=class
TRACE TP=._ZN4shop6basket3addEi, MEM32=(._ZN4shop6basket5countE,DIRECT,4)
TRACE TP=._ZN4shop6basket3addEPKc
TRACE TP=.add
END
	status 1 "mangled names" trcust class.tsf
	like "$(cat err)" 'TRCERR_AMBIGUOUS' "the plain name means either"
	like "$(cat err)" 'TRCERR_DUP_SEGOFF' "and is one that is taken"
	is "$(sites_of class.tdf | wc -l)" 2 "both overloads"
else
	skip "mangled names" "no C++ compiler"
fi
tap_done
