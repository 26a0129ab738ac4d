#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# TDF and TFF of fixed modules, as text, against backend/*.txt. To renew those
# after a change that is meant: UPDATE=1 test_backend_golden.sh
. "$(dirname "$0")/../tap.sh"
need cc
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# The linker decides where in the file things lie, TMP is always new, and how an
# instruction is written is Zydis's.
normal() {
	sed -E "s,$TMP/,/tmp/,g; s, offset 0x[0-9a-f]+ , ,
		s/( cost [a-z0-9]+) text \"[^\"]*\"/\1/"
}

# golden NAME FILE
golden() {
	expected=$here/backend/$1.txt
	trcust --dump "$2" | normal >got
	[ -z "${UPDATE:-}" ] || cp got "$expected"
	is "$(cat got)" "$(cat "$expected")" "$1"
}

# assemble NAME TSF REGISTER POINTER CC-ARGUMENT...
assemble() {
	name=$1 tsf=$2
	sed "s/%AX/%$3/; s/\.quad/$4/" "$here/backend/golden.s" >golden.s
	shift 4
	cc "$@" -nostdlib -no-pie -static -Wl,-e,entry -Wl,-Ttext=0x410000 \
		-Wl,-Tdata=0x420000 -Wl,--build-id=0x0123456789abcdef \
		-o "$tsf" golden.s 2>log || return 1
	cp "$here/backend/$tsf.tsf" .
	ok "$name: compiles" trcust -W1 "$tsf"
	golden "$name.tdf" "$tsf.tdf"
}

assemble golden-64 golden rax .quad
golden golden-64.tff TRC00C5.TFF
cp golden.tdf first.tdf
cp TRC00C5.TFF first.tff
ok "a second time" trcust -W1 golden
ok "the same TDF, byte by byte" cmp golden.tdf first.tdf
ok "the same TFF, byte by byte" cmp TRC00C5.TFF first.tff
assemble golden-wide golden64 rax .quad
rm golden TRC00C5.TFF
if assemble golden-32 golden eax .long -m32; then
	trcust --dump TRC00C5.TFF >tff32
	trcust --dump first.tff >tff64
	is "$(cat tff32)" "$(cat tff64)" "formatting doesn't depend on the class"
else
	skip "golden-32" "the compiler makes no 32-bit programs"
fi
tap_done
