#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# TP=@USDT: all places of a static probe, where readelf sees them too; their
# semaphore as an offset in the file; notes that are damaged.
. "$(dirname "$0")/../tap.sh"
need cc nm readelf
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# sites_of TDF: "NAME ADDRESS [SEMAPHORE]" of each
sites_of() {
	trcust --dump "$1" | awk '
		/^point / { split($5, part, /[",]/); name = part[4] }
		/^  site / {
			for (i = 1; i < NF; i++) {
				if ($i == "address")
					address = $(i + 1)
				if ($i == "semaphore")
					address = address " " $(i + 1)
			}
			print name, address
		}' | sort
}

# probe PROVIDER NAME PLACE SEMAPHORE ARGUMENTS [BASE]: a note of it
probe() {
	cat <<END
.pushsection .note.stapsdt,"","note"
.balign 4
.4byte 8, 2f - 1f, 3
.asciz "stapsdt"
1: $word $3, ${6:-_.stapsdt.base}, $4
.asciz "$1"
.asciz "$2"
.asciz "$5"
2: .balign 4
.popsection
END
}

# assembly: two places of one probe, one of another, with semaphores
assembly() {
	cat <<'END'
.globl work, place1, place2, place3
.type work,@function
work:
	push %rbp
place1: nop
place2: nop
place3: nop
	pop %rbp
	ret
.size work, . - work
.section .stapsdt.base,"aG","progbits",.stapsdt.base,comdat
.weak _.stapsdt.base
.hidden _.stapsdt.base
_.stapsdt.base: .space 1
.size _.stapsdt.base, 1
.section .probes,"aw","progbits"
.globl semaphore
.hidden semaphore
.balign 2
semaphore: .2byte 0xa55a
.text
END
	probe app request place1 semaphore '8@%rdi -4@$5'
	probe app reply place2 0 ''
	probe app request place3 semaphore '8@%rsi -4@$7'
	probe other request place2 0 ''
}

# named FILE SYMBOL
named() {
	echo "0x$(nm "$1" | awk -v s="$2" '$3 == s { print $1 }' | sed 's/^0*//')"
}

for bits in 64 32; do
	[ $bits = 64 ] && word=.8byte || word=.4byte
	assembly | sed "$([ $bits = 32 ] && echo 's/%rbp/%ebp/')" >probes.s
	if ! cc -m$bits -nostdlib -static -Wl,-e,work -o probes probes.s 2>log; then
		skip "$bits bits" "the compiler can't do it"
		continue
	fi
	cat >probes.tsf <<'END'
MODNAME=probes
TRACE TP=@USDT,app,request
TRACE TP=@USDT,app,reply
TRACE TP=@usdt,none,request
END
	status 1 "$bits bits: an unknown one" trcust probes.tsf
	like "$(cat err)" 'near ones: app,request; other,request' \
		"$bits bits: those that are there"
	sites_of probes.tdf >got
	semaphore=$(awk 'NF == 3 { print $3; exit }' got)
	is "$(cat got)" "reply $(named probes place2)
request $(named probes place1) $semaphore
request $(named probes place3) $semaphore" "$bits bits: places"
	is "$(od -An -tx2 -N2 -j"$((semaphore))" probes | tr -d ' ')" a55a \
		"$bits bits: where the semaphore is in the file"
done

# A module that was moved after it was linked (prelink): the notes weren't.
word=.8byte
assembly | sed 's/_.stapsdt.base, semaphore/_.stapsdt.base - 0x3000, semaphore - 0x3000/
	s/^1: .8byte \(place[0-9]\)/1: .8byte \1 - 0x3000/
	s/, _.stapsdt.base, 0/, _.stapsdt.base - 0x3000, 0/' >moved.s
cc -nostdlib -static -Wl,-e,work -o moved moved.s
sed 's/probes/moved/' probes.tsf >moved.tsf
trcust moved.tsf 2>err
semaphore=$(sites_of moved.tdf | awk 'NF == 3 { print $3; exit }')
is "$(sites_of moved.tdf)" "reply $(named moved place2)
request $(named moved place1) $semaphore
request $(named moved place3) $semaphore" "moved: places"
is "$(od -An -tx2 -N2 -j"$((semaphore))" moved | tr -d ' ')" a55a \
	"moved: the semaphore"

# Some of the system's libraries have them.
for libc in $(ldconfig -p 2>/dev/null | awk '/x86-64/ && /libstdc|libc\.so|libpython/ { print $NF }') ""; do
	readelf -SW "$libc" 2>/dev/null | grep -q stapsdt && break
done
readelf -nW "$libc" 2>/dev/null | awk '
	/Provider:/ { provider = $NF }
	/Name:/ { name = $2 }
	/Location:/ { print provider, name, $2 }' | sed 's/,//g' |
	sed 's/ 0x0*/ 0x/' | sort -u >notes
if [ -s notes ]; then
	{
		echo "MODNAME=$libc"
		awk '!seen[$1, $2]++ { print "TRACE TP=@USDT," $1 "," $2 }' notes
	} >libc.tsf
	status 0 "probes of a library" trcust libc.tsf
	is "$(sites_of libc.tdf)" "$(cut -d' ' -f2- notes | sort)" \
		"they are where readelf says ($(wc -l <notes))"
else
	skip "probes of a library" "none has them"
fi

# Damaged: too short, without zeros, in data. Nothing is found, nothing else
# happens.
damaged() {
	{
		assembly
		echo '.pushsection .note.stapsdt,"","note"'
		cat
		echo .popsection
	} >bad.s
	cc -nostdlib -static -Wl,-e,work -o bad bad.s || return 1
	printf 'MODNAME=bad\nTRACE TP=@USDT,app,bad\n' >bad.tsf
	trcust bad.tsf 2>err
	test $? -eq 1
}
ok "a short description" damaged <<'END'
.4byte 8, 16, 3
.asciz "stapsdt"
.8byte place1, 0
END
like "$(cat err)" BADSYMBOL "a short description: nothing is found"
ok "no zero at the end" damaged <<'END'
.4byte 8, 32, 3
.asciz "stapsdt"
.8byte place1, 0, 0
.ascii "app\0bad\0"
END
like "$(cat err)" BADSYMBOL "no zero at the end: nothing is found"
ok "longer than the section" damaged <<'END'
.4byte 8, 0x7ffffff0, 3
.asciz "stapsdt"
.8byte place1, 0, 0
.asciz "app"
.asciz "bad"
.asciz ""
END
like "$(cat err)" BADSYMBOL "longer than the section: nothing is found"
ok "in data" damaged <<'END'
.4byte 8, 33, 3
.asciz "stapsdt"
.8byte semaphore, 0, 0
.asciz "app"
.asciz "bad"
.asciz ""
.balign 4
END
like "$(cat err)" INVALIDADDRESS "in data: refused"
ok "inside an instruction" damaged <<'END'
.text
long: movabs $0x1122334455667788, %rax
ret
.type long,@function
.size long, . - long
.previous
.4byte 8, 33, 3
.asciz "stapsdt"
.8byte long + 3, 0, 0
.asciz "app"
.asciz "bad"
.asciz ""
.balign 4
END
like "$(cat err)" BADOPCODE "inside an instruction: refused"
ok "a semaphore that isn't in the file" damaged <<'END'
.4byte 8, 33, 3
.asciz "stapsdt"
.8byte place1, 0, 0x7fffffffffffffff
.asciz "app"
.asciz "bad"
.asciz ""
.balign 4
END
like "$(cat err)" 'INVALIDADDRESS' "a semaphore that isn't in the file: refused"
like "$(cat err)" 'its semaphore' "a semaphore that isn't in the file: said so"
tap_done
