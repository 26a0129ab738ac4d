#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# How trcust is called: options in both spellings, where files are looked for,
# what is used instead of a file (manual 1.2.2).
. "$(dirname "$0")/../tap.sh"
need cc mkfifo timeout
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1
echo 'int main(void) { return 0; } int f(void) { return 1; }' |
	cc -O1 -x c - -o app.exe || bail "the module of the tests does not compile"
strip -o bare.exe app.exe
nm app.exe >app.map
mkdir one two made
tsf() {
	printf 'MODNAME=%s\nMAJOR=6\n%s\n' "$1" "$2" >"$3"
}
point='TRACE TP=.main, DESC="main"'
tsf "$TMP/app.exe" "$point" two/found.tsf
tsf "$TMP/app.exe" "$point" one/UPPER.TSF

# Along TRCUST_PATH
status 1 "a TSF that is nowhere" trcust found
TRCUST_PATH=$TMP/one:$TMP/two
export TRCUST_PATH
status 0 "a TSF found along TRCUST_PATH" trcust found
ok "the TDF lies beside it" test -s two/found.tdf
status 0 "with its extension" trcust found.tsf -o made
ok "--output-dir" test -s made/found.tdf
status 0 "with the other one" trcust UPPER -o made
status 1 "a name with a directory is not looked for" trcust ./found
cp two/found.tsf found.tsf
status 0 "the current directory is first" trcust found
ok "the TDF lies here" test -s found.tdf
status 0 "empty parts" env "TRCUST_PATH=:/nowhere::$TMP/two:" \
	trcust found -o made
cp two/found.tsf plain
status 0 "a name as it is" trcust plain -o made
ok "without an extension" test -s made/plain.tdf

# A map
tsf bare.exe "$point" bare.tsf
status 1 "a stripped module" trcust bare
cp app.map one/long.map
for option in "/M=app.map" "-M app.map" "--map app.map" "/M=long.map"; do
	# shellcheck disable=SC2086
	status 0 "$option" trcust bare $option
done
status 1 "/M= and a map that is nowhere" trcust bare /M=nowhere.map
like "$(cat err)" TRCERR_NO_FILE "which is reported"
tsf bare.exe 'TRACE TP=@STATIC, DESC="s"' static.tsf
status 1 "even where it isn't needed" trcust static /M=nowhere.map
status 0 "/m=, a small letter" trcust bare /m=app.map
status 0 "/M= and a path" trcust bare "/M=$TMP/app.map"

# Debug information elsewhere
status 1 "--debug and a file that is not there" trcust --debug nothing found
like "$(cat err)" "TRCERR_.*" "which is reported"

# What begins as a switch isn't a path, also where it is the second operand
for word in /W3 /W /w /w12 /W= /W=1 /w:1 "/W1 " /m= /M /M:x /m1=x /C /c= /C:/x \
	/w1x /mapfile.map /Workload.tdf; do
	status 2 "'$word' is no switch" trcust "$word"
	like "$(cat err)" "^trcust: '$word' is not a switch" "it is named"
	like "$(cat err)" "^trcust: a file of that name is '/\.$word'" \
		"and what to do"
	status 2 "'$word' for a TDF" trcust found "$word"
	ok "is not written" test ! -e "$word.tdf" -a ! -e "$word"
done
# Other words are paths: of another letter, with a second slash, or of a file
for path in /x /x1 "$TMP/nothing" /wide/nothing /W1/nothing /Cases/x=y / \
	/./W3 //w1; do
	status 1 "'$path' is a path" trcust "$path"
	like "$(cat err)" "FILE.*" "of a TSF"
done
mkdir W
cp found.tsf W/w1.tsf
status 0 "a path that begins as a switch" trcust "$TMP/W/w1.tsf" "$TMP/W/m.tdf"
ok "is written" test -s W/m.tdf
if [ "$(id -u)" -eq 0 ] && [ ! -e /Wrastrace.tsf ] &&
   cp found.tsf /Wrastrace.tsf 2>/dev/null; then
	status 0 "a file in the root directory" \
		trcust -o made /Wrastrace.tsf
	rm -f /Wrastrace.tsf
fi
for level in /w1 /W1; do
	status 0 "$level" trcust found $level
done
tsf "$TMP/app.exe" 'TRACE TP=.nothing, DESC="gone"' gone.tsf
status 1 "/w0" trcust gone /w0
is "$(cat err)" "" "is silent"
status 2 "two lists" trcust a b /C=made/x.TFF
status 2 "three operands" trcust a b c
status 2 "a name that is empty" trcust ""
status 2 "an empty name of a TDF" trcust found ""
ok "nothing is written to it" test ! -e .tdf
status 2 "--from-module and nothing" trcust --from-module
status 2 "--from-source and nothing" trcust --from-source
status 2 "--dump and nothing" trcust --dump
printf 'MODNAME=gone\nMAJOR=7\nTRACE TP=.f, DESC="x", REGS=(EAX), MEM32=(FEBX+8,I,4)\n' \
	>dump.TSF
status 0 "--dump of a TSF, whose module isn't there" trcust --dump dump.TSF
like "$(cat out)" '^	regs EAX$' "what has been understood of it"
like "$(cat out)" 'flat EBX\+8' "  and of an address"
echo 'TRACE TP=' >dump.tsf
status 1 "--dump of what is no TSF" trcust --dump dump.tsf
like "$(cat err)" '\[TRCERR_' "  is reported as ever"
status 2 "a major that is none" trcust --major 256 --from-module app.exe
status 2 "a major in words" trcust --major one --from-module app.exe
status 2 "a processor that isn't known" trcust --arch z80 --from-module app.exe
like "$(cat err)" "^trcust: no processor 'z80'; those there are:.* x86-64" \
	"  those that are, are there"
# shellcheck disable=SC2046
status 2 "65 patterns" trcust --from-module $(seq -f '--include=%g' 65) app.exe
like "$(cat err)" "^trcust: '65' is one pattern too many: 64 at most" "  reported"
status 1 "a MODNAME that can't be written" trcust --from-module \
	--modname 'a"b' app.exe
like "$(cat err)" "^trcust: MODNAME can't be 'a\"b': a quotation mark" "  reported"
tsf /nowhere/app.exe "$point" gone.tsf
status 1 "a module that --sysroot hasn't" trcust --sysroot "$TMP/one" gone.tsf
like "$(cat err)" "looked for it below '$TMP/one'" "  says where it looked"
like "$(cat err)" "--module FILE names it" "  and what to do"
if [ -c /dev/full ]; then
	status 1 "a full disk" sh -c 'trcust --dump made/found.tdf >/dev/full'
	like "$(cat err)" "^trcust: cannot write: No space left" "  reported"
fi

# --exit-zero, whatever happens
for arguments in "" nowhere "--dump nowhere" "nowhere /C=x" "a b c"; do
	# shellcheck disable=SC2086
	status 0 "--exit-zero $arguments" trcust --exit-zero $arguments
done

# What is no file
mkfifo fifo.tsf
status 1 "a FIFO without a writer" timeout 60 trcust fifo.tsf
cat found.tsf >fifo.tsf &
status 0 "a FIFO" timeout 60 trcust fifo.tsf
wait
status 0 "a slow pipe" sh -c '(sleep 2; cat found.tsf) |
	timeout 60 trcust /dev/stdin made/stdin'
ok "its TDF" test -s made/stdin.tdf
tsf fifo.exe "$point" fifo2.tsf
mkfifo fifo.exe fifo.map
status 1 "a FIFO for the module" timeout 60 trcust fifo2.tsf
status 1 "a FIFO for the map" timeout 60 trcust bare.tsf -M fifo.map
status 1 "a FIFO in a list" sh -c \
	'echo fifo.exe >list; timeout 60 trcust list /C=made/x.TFF'
status 1 "a FIFO for the list" timeout 60 trcust fifo.exe /C=made/x.TFF
status 1 "a FIFO of C" timeout 60 trcust --from-source fifo.exe
tap_done
