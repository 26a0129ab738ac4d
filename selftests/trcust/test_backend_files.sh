#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Which files trcust reads and writes, and when it writes none.
. "$(dirname "$0")/../tap.sh"
need cc cmp
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
cc -O1 -g -shared -fPIC -nostdlib -o module.so "$here/diag/module.c" ||
	bail "the module of the tests does not compile"

cleanup() {
	umount small 2>/dev/null
}

# tsf FILE MODNAME MAJOR TRACEPOINTS
tsf() {
	printf 'MODNAME=%s\nMAJOR=%s\n%s\n' "$2" "$3" "$4" >"$1"
}

# written FILE... NAME: these files are there, and nothing else was made
written() {
	for last; do :; done
	while [ $# -gt 1 ]; do
		echo "$1"
		shift
	done | sort >expected
	find . -newer stamp -type f \( -name '*.tdf' -o -name '*.TDF' -o \
		-name '*.TFF' -o -name '*.out' \) | sed 's,^\./,,' | sort >got
	is "$(cat got)" "$(cat expected)" "$last"
	find . \( -name '*.tdf' -o -name '*.TDF' -o -name '*.TFF' \) \
		-exec rm -f {} +
	touch -d '1 minute ago' stamp
}
touch -d '1 minute ago' stamp
point='TRACE TP=.alpha, DESC="a"'

tsf app.tsf module.so 0xC5 "$point"
ok "the TSF by its name" trcust app.tsf
written app.tdf TRC00C5.TFF "TDF and TFF are named and placed"
ok "without an extension" trcust app
written app.tdf TRC00C5.TFF "the same files"
cp app.tsf UPPER.TSF
ok "upper case" trcust UPPER
written UPPER.tdf TRC00C5.TFF "named after it"
mkdir sub made
cp app.tsf sub/other.tsf
ok "in another folder" trcust sub/other
written sub/other.tdf sub/TRC00C5.TFF "beside the TSF"
ok "the TDF given" trcust app made/given
written made/given.tdf made/TRC00C5.TFF "the TFF lies beside it"
ok "with its extension" trcust app made/given.TDF
written made/given.TDF made/TRC00C5.TFF "it is kept"
ok "with another one" trcust app made/given.out
written made/given.tdf made/TRC00C5.TFF "it is replaced"
ok "--output-dir" trcust --output-dir made sub/other
written made/other.tdf made/TRC00C5.TFF "there they are"
ok "the module beside the TSF" sh -c 'cd sub && trcust ../app.tsf'
written app.tdf TRC00C5.TFF "from another directory"

tsf app.tsf module 9 "$point"
ok "MODNAME without .so" trcust app
like "$(trcust --dump app.tdf)" "name \"module\" path \"$TMP/module.so\"" \
	"is found with it, recorded absolutely"
for name in lower.dll UPPER.DLL; do
	cp module.so "$name"
	tsf app.tsf "${name%.*}" 9 "$point"
	ok "MODNAME without the extension of $name" trcust app
	like "$(trcust --dump app.tdf)" "path \"$TMP/$name\"" "is that file"
done
cp module.so lower.so
tsf app.tsf lower 9 "$point"
ok "MODNAME of a .so and a .dll" trcust app
like "$(trcust --dump app.tdf)" "path \"$TMP/lower.so\"" "is the .so"
tsf app.tsf 'C:sub\..\module.so' 9 "$point"
ok "backslashes and a drive" trcust app
tsf app.tsf /nowhere/module.so 9 "$point"
ok "--module" trcust --module module.so app
like "$(trcust --dump app.tdf)" 'path "/nowhere/module.so"' \
	"an absolute MODNAME stays the path on the target"
tsf app.tsf nowhere.so 9 "$point"
ok "--module for a relative one" trcust -m module.so app
like "$(trcust --dump app.tdf)" "path \"$TMP/module.so\"" "the file's path"
written app.tdf TRC0009.TFF "with the major's number"

# Levels and exit codes
tsf app.tsf module.so 9 'TRACE MINOR=1, TP=.alpha, DESC="a", REGS=(EAX)
TRACE MINOR=2, TP=.nothing, DESC="gone"'
for level in -W0 /W0 --level=0; do
	status 1 "$level" trcust app $level
	is "$(cat err)" "" "$level is silent about errors"
done
written app.tdf TRC0009.TFF "good tracepoints are written"
status 1 "/W1" trcust /W1 app
is "$(grep -c TRCERR_ err)" 1 "/W1 shows errors"
status 1 "/W2" trcust app /W2
is "$(grep TRCERR_ err | grep -vc SLOWSITE)" 2 "/W2 shows warnings"
status 0 "--exit-zero" trcust --exit-zero app
written app.tdf TRC0009.TFF "the same files then"
status 2 "an unknown level" trcust -W3 app
status 2 "an unknown option" trcust --nothing app
status 2 "no TSF" trcust
like "$(cat err)" TRCERR_NO_TSF "which is reported"
status 2 "too many operands" trcust app a b
status 2 "an unknown level as a switch" trcust /W3 app
status 0 "--version" trcust --version
status 0 "--help" trcust --help

# Nothing is written
tsf app.tsf module.so 9 'TRACE TP=.nothing, DESC="gone"'
status 1 "no tracepoint is good" trcust app
written "nothing is written"
tsf app.tsf module.so 9 'TRACE TP=.alpha, DESC="missing quote'
status 1 "missing quote" trcust app
written "nothing is written"
tsf app.tsf absent.so 9 'TRACE TP=@STATIC, DESC="s", FMT="%W"'
status 0 "static tracepoints need no module" trcust app
written TRC0009.TFF "and make no TDF"
tsf app.tsf module.so 9 "$point"
mkdir app.tdf
status 1 "the TDF can't be written" trcust app
like "$(cat err)" "fatal: error writing to file : app.tdf" "which is reported"
rmdir app.tdf
if [ -c /dev/full ] && [ "$(id -u)" -eq 0 ] && mkdir small &&
	mount -t tmpfs -o size=4k none small 2>log; then
	{
		echo 'MODNAME=module.so'
		i=0
		while [ $i -lt 400 ]; do
			echo "TRACE TP=@STATIC, DESC=\"number $i\", FMT=\"%W\""
			i=$((i + 1))
		done
	} >full.tsf
	status 1 "the disk is full" trcust --output-dir small full
	is "$(ls small)" "" "nothing is left"
else
	skip "the disk is full" "needs root"
fi

# The TFF: a section for each module
rm -f ./*.TFF
cp module.so second.so
tsf one.tsf module.so 7 'TRACE MINOR=1, TP=.alpha, DESC="first", FMT="%W"'
tsf two.tsf second.so 7 'TRACE MINOR=1, TP=.beta, DESC="second"'
ok "one module" trcust one
cp TRC0007.TFF alone
ok "another of the same major" trcust two
sections() {
	trcust --dump TRC0007.TFF | sed -nE \
		's/^section .* tsf "(.*)" .*/\1/p; s/^  entry.* desc "([^"]*)".*/\1/p' |
		xargs
}
is "$(sections)" "one.tsf first two.tsf second" "both are there"
tsf one.tsf module.so 7 'TRACE MINOR=1, TP=.alpha, DESC="renewed", FMT="%W"'
ok "the first again" trcust one
is "$(sections)" "one.tsf renewed two.tsf second" "it took its place"
cp TRC0007.TFF before
ok "once more" trcust one
ok "makes the same bytes" cmp TRC0007.TFF before
printf 'damage' | dd of=TRC0007.TFF bs=1 seek=100 conv=notrunc 2>log
cp TRC0007.TFF before
status 1 "a damaged TFF" trcust one
like "$(cat err)" "damaged" "is reported"
ok "and left as it is" cmp TRC0007.TFF before
mv alone TRC0008.TFF
tsf one.tsf module.so 8 "$point"
status 1 "a TFF of another major" trcust one
like "$(cat err)" TRCERR_DIF_MAJOR "is reported"
echo text >text
status 1 "--dump of something else" trcust --dump text module.so
is "$(grep -c 'neither a TDF nor a TFF' err)" 2 "each is reported"
status 2 "--dump of nothing" trcust --dump

# The data hash
hash_of() {
	tsf hash.tsf module.so "${2:-6}" "TRACE $1"
	trcust -W0 hash >log 2>&1
	trcust --dump hash.tdf | sed -n 's/.* hash //p'
}
same() {
	is "$(hash_of "$1")" "$(hash_of "$2")" "the same data: $2"
}
differs() {
	ok "other data: $2" test "$(hash_of "$1")" != "$(hash_of "$2")"
}
data='TP=.alpha, REGS=(AX,EBX), MEM32=(.text+4,INDIRECT*+8,10)'
ok "there is a hash" test "$(hash_of "$data" | wc -c)" -eq 17
same "$data" 'MINOR=7, TP=.beta+0, DESC="d", FMT="%W", REGS=(ax,Ebx), MEM64=(.text+2+2,I*+0x8,0xA)'
same "$data" 'TP=.alpha, REGS=(AX), REGS=(EBX) /* c */, MEM32=(.text+4+(8),INDIRECT,10)'
differs "$data" 'TP=.alpha, REGS=(AX,ECX), MEM32=(.text+4,INDIRECT*+8,10)'
differs "$data" 'TP=.alpha, REGS=(EBX,AX), MEM32=(.text+4,INDIRECT*+8,10)'
differs "$data" 'TP=.alpha, REGS=(AX,EBX), MEM32=(.text+4,INDIRECT*+8,11)'
differs "$data" 'TP=.alpha, REGS=(AX,EBX), MEM32=(.text+4,INDIRECT*-8,10)'
differs "$data" 'TP=.alpha, REGS=(AX,EBX), MEM32=(.text+4,INDIRECT*+8*,10)'
differs "$data" 'TP=.alpha, REGS=(AX,EBX), MEM32=(.text+4,DIRECT,10)'
differs "$data" 'TP=.alpha, REGS=(AX,EBX), MEM32=(.number+4,INDIRECT*+8,10)'
differs "$data" 'TP=.alpha, REGS=(AX,EBX), ASCIIZ32=(.text+4,INDIRECT*+8,10)'
len='TP=.alpha, LEN=(number,DIRECT), MEM32=(.text,DIRECT,LEN)'
same "$len" 'TP=.alpha, LEN=(.number,D,4), MEM32=(.text,DIRECT,LEN)'
differs "$len" 'TP=.alpha, LEN=(.number,D,2), MEM32=(.text,DIRECT,LEN)'
differs "$len" 'TP=.alpha, LEN=(.number,I,2), MEM32=(.text,DIRECT,LEN)'
tap_done
