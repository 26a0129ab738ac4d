#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Instructions of AArch64 are written as objdump writes them, and lead where it
# says: those of the C and C++ libraries, and those that came after Armv8.0.
. "$(dirname "$0")/../tap.sh"
need aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump

text=${TEXT:-${BUILT:-$TOP/build/selftests}/trcust/a64_text}
# Lines "ADDRESS WORD TEXT", each word once
disassemble() {
	aarch64-linux-gnu-objdump -d "$@" | awk -F '\t' '
		NF >= 3 && !seen[$2]++ {
			gsub(/[ :]/, "", $1); gsub(/ /, "", $2)
			text = $3
			for (i = 4; i <= NF; i++) text = text " " $i
			sub(/ *(\/\/|;).*/, "", text)
			sub(/ *<.*>$/, "", text)
			print $1, $2, text
		}'
}

# What objdump has of the instructions in $1, in the form of a64_text: of labels
# it has the address without 0x.
expected() {
	awk '{
		flow = "n"; to = ""; name = $3
		if (name ~ /^(bl|blr|blra.*)$/) flow = "c"
		else if (name ~ /^(b\.|cbn?z|tbn?z)/) flow = "b"
		else if (name == "b") flow = "j"
		else if ($3 == "br" && $4 == "x30") flow = "r"
		else if (name ~ /^(br|bra.*)$/) flow = "i"
		else if (name ~ /^reta?.?$/) flow = "r"
		else if (name ~ /^(eret|drps|udf)/) flow = "s"
		else if ($3 == "brk" && ($4 == "#0x3e8" || $4 == "#0x1"))
			flow = "s"
		if (flow == "b" || name == "b" || name == "bl") to = $NF " "
		if (name ~ /^(b|bl|cbn?z|tbn?z|adrp?)$/ || flow == "b" ||
		    (name ~ /^(ldr|ldrsw|prfm)$/ && $NF !~ /[]#]|^x/))
			$NF = "0x" $NF
		text = ""
		for (i = 3; i <= NF; i++) text = text (i > 3 ? " " : "") $i
		print $2, flow, to text
	}' "$1"
}

# Name, file with words, how many may be unknown
compare() {
	cut -d ' ' -f 1,2 "$2" | "$text" >"$TMP/got"
	expected "$2" >"$TMP/expected"
	awk -v unknown="$TMP/unknown" '
		NR == FNR { text[$1] = $0; next }
		text[$1] == $0 { next }
		text[$1] ~ / \.inst 0x/ { print >unknown; next }
		{ print "expected " $0 ", got " text[$1] }
	' "$TMP/got" "$TMP/expected" >"$TMP/wrong"
	touch "$TMP/unknown"
	is "$(wc -l <"$TMP/got")" "$(wc -l <"$2")" "$1: each word is there"
	is "$(cat "$TMP/wrong")" "" "$1: text and flow are objdump's"
	ok "$1: at most $3 of $(wc -l <"$2") words have no text" \
		test "$(wc -l <"$TMP/unknown")" -le "$3"
	rm -f "$TMP/unknown"
}

libc=$(aarch64-linux-gnu-gcc -print-file-name=libc.so.6)
cxx=$(aarch64-linux-gnu-gcc -print-file-name=libstdc++.so.6)
# system instructions that the library doesn't name are left out
for file in "$libc" "$cxx"; do
	[ -f "$file" ] || continue
	disassemble "$file" | grep -v -e ' dc gva' -e ' dc gzva' >"$TMP/words"
	compare "${file##*/}" "$TMP/words" 200
done

cat >"$TMP/later.s" <<'S'
	.arch armv8.5-a+memtag+rng
	.macro atomic op
	\op w1, w2, [x3]
	\op\()a w1, w2, [sp]
	\op\()al x1, x2, [x3]
	\op\()l x1, x2, [x3]
	\op\()b w1, w2, [x3]
	\op\()alh w1, w2, [x3]
	\op\()ab wzr, w2, [x3]
	.endm
	.irp op, ldadd, ldclr, ldeor, ldset, ldsmax, ldsmin, ldumax, ldumin
	atomic \op
	.endr
	atomic swp
	atomic cas
	.irp op, stadd, stclr, steor, stset, stsmax, stsmin, stumax, stumin
	\op w1, [x3]
	\op\()l x1, [sp]
	\op\()b w1, [x3]
	.endr
	ldadda x1, xzr, [x2]
	swp w1, wzr, [x2]
	casp x0, x1, x2, x3, [x4]
	caspal w4, w5, w6, w7, [sp]
	ldapr x0, [x1]
	ldaprb w0, [sp]
	.irp op, pacia, pacib, pacda, pacdb, autia, autib, autda, autdb
	\op x0, x1
	\op x0, sp
	.endr
	.irp op, paciza, pacizb, pacdza, pacdzb, autiza, autizb, xpaci, xpacd
	\op x0
	.endr
	.irp op, paciasp, autiasp, pacibsp, autibsp, paciaz, autiaz, pacibz
	\op
	.endr
	.irp op, autibz, pacia1716, pacib1716, autia1716, autib1716, xpaclri
	\op
	.endr
	pacga x0, x1, x2
	pacga x0, x1, sp
	retaa
	retab
	eretaa
	eretab
	braa x0, x1
	brab x2, sp
	braaz x3
	brabz x4
	blraa x0, x1
	blrab x2, sp
	blraaz x3
	blrabz x4
	ldraa x0, [x1]
	ldraa x0, [x1, #8]
	ldrab x0, [sp, #-4096]!
	ldrab xzr, [x2, #4088]
	bti
	bti c
	bti j
	bti jc
	nop
	yield
	wfe
	wfi
	sev
	sevl
	esb
	psb csync
	tsb csync
	csdb
	hint #0x6
	hint #0x2a
	udf #0
	udf #65535
	brk #0x3e8
	brk #0x1
	brk #0x800
	eret
	drps
S
ok "the assembler knows them" \
	aarch64-linux-gnu-gcc -c -o "$TMP/later.o" "$TMP/later.s"
disassemble "$TMP/later.o" >"$TMP/words"
compare "later instructions" "$TMP/words" 0
tap_done
