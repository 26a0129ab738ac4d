#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Input and circumstances that trace must refuse: with a clear message, the
# right exit status, and nothing armed or half written.
. "$(dirname "$0")/../tap.sh"
. "$TOP/selftests/trace/target.sh"
need_root
need setpriv
make_app
DENY=$TOP/build/selftests/trace/deny
mkdir -p "$TMP/bad"

# refused NAME REGEX COMMAND...: status 1, the message, nothing armed
refused() {
	refused_name=$1 refused_text=$2
	shift 2
	status 1 "$refused_name" "$@"
	like "$(cat "$TMP/err")" "^trace: .*$refused_text" "  message"
	is "$(cat "$TMP/out")" "" "  nothing on stdout"
	like "$(trace query)" "^nothing is armed" "  nothing is armed"
}

# misuse NAME REGEX COMMAND...: status 2 and the message
misuse() {
	misuse_name=$1 misuse_text=$2
	shift 2
	status 2 "$misuse_name" "$@"
	like "$(cat "$TMP/err")" "$misuse_text" "  message"
}

# --- the command line
misuse "no operand" "operand" trace on
misuse "off without a name" "name TDFs" trace off
misuse "off --all with a name" "name TDFs" trace off --all "$TDF"
misuse "off --all of some" "name TDFs" trace off --all --minor 5
misuse "too many operands" "too many" trace get a b
misuse "unknown option" "no-such" trace query --no-such
misuse "missing value" "^trace: .*requires an argument" trace on --buffer
misuse "no run directory" "--pin-dir: ''" trace --pin-dir "" query
misuse "unknown command" "'nonsense'" trace nonsense
misuse "buffer of 12 bytes" "out of range" trace on --buffer 12 "$TDF"
misuse "buffer of 2G" "out of range" trace on --buffer 2G "$TDF"
misuse "buffer of nonsense" "no buffer size" trace on --buffer 1X "$TDF"
misuse "buffer of -1" "no buffer size" trace on --buffer -1 "$TDF"
cp "$TDF" "$TMP/bad/second.tdf"
refused "--module and two TDFs" "there are 2" \
	trace on --module "$TMP/target" "$TDF" "$TMP/bad/second.tdf"
misuse "unknown kind of links" "no kind of link" trace on --attach x "$TDF"
misuse "unknown way of reading" "no way to read memory" \
	trace on --reads x "$TDF"
# shellcheck disable=SC2046
misuse "65 processes" "^trace: --pid can be given 64 times at most" \
	trace on $(seq -f '--pid=%g' 65) "$TDF"
trace on "$TDF"
status 1 "a major that isn't on" trace off 5
is "$(cat "$TMP/err")" "trace: no major is on
trace: 'trace query' shows what is" "  message"
trace off --all

# --- the TDF
refused "missing TDF" "bad/none.tdf" trace on "$TMP/bad/none.tdf"
refused "TDF is a directory" "bad" trace on "$TMP/bad"
mkfifo "$TMP/bad/fifo.tdf"
refused "TDF is a FIFO" "bad/fifo.tdf' is no regular file" \
	timeout 60 trace on "$TMP/bad/fifo.tdf"
refused "TDF is a device" "'/dev/zero' is no regular file" \
	timeout 60 trace on /dev/zero
refused "--module is a FIFO" "bad/fifo.tdf' is no regular file" \
	timeout 60 trace on --module "$TMP/bad/fifo.tdf" "$TDF"
: >"$TMP/bad/empty.tdf"
refused "empty TDF" "empty.tdf" trace on "$TMP/bad/empty.tdf"
size=$(wc -c <"$TDF")
head -c $((size - 1)) "$TDF" >"$TMP/bad/short.tdf"
refused "TDF cut by a byte" "short.tdf" trace on "$TMP/bad/short.tdf"
head -c 40 "$TDF" >"$TMP/bad/head.tdf"
refused "TDF cut in its header" "head.tdf" trace on "$TMP/bad/head.tdf"

# poke FILE OFFSET OCTAL: one byte of a copy of the TDF
poke() {
	cp "$TDF" "$1"
	# shellcheck disable=SC2059
	printf "\\$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
poke "$TMP/bad/flip.tdf" $((size / 2)) 377
refused "TDF with a changed byte" "flip.tdf" trace on "$TMP/bad/flip.tdf"
poke "$TMP/bad/version.tdf" 8 144
refused "TDF of version 100" "version" trace on "$TMP/bad/version.tdf"
poke "$TMP/bad/version.tdf" 8 001
refused "TDF of version 1" "version 1, this program reads version 4" \
	trace on "$TMP/bad/version.tdf"
like "$(cat "$TMP/err")" "compile it with a trcust of the same release" \
	"  and what to do"
refused "show of a damaged TDF" "flip.tdf" trace show "$TMP/bad/flip.tdf"
status 1 "one damaged of two" trace on "$TMP/bad/flip.tdf" "$TDF"
like "$(cat "$TMP/err")" "flip.tdf" "  message"
is "$(figure state)" '"on"' "  the other is armed"
trace off --all

refused "a TSF" "'$TMP/app.tsf' is not a TDF" trace on "$TMP/app.tsf"
like "$(cat "$TMP/err")" "it is a TSF: 'trcust $TMP/app.tsf' makes a TDF" "  hint"
refused "a program" "'$TMP/target' is not a TDF" trace show "$TMP/target"
like "$(cat "$TMP/err")" "it is a program or library: 'trcust --from" "  hint"

# --- the module
mv "$TMP/target" "$TMP/hidden"
refused "module is gone" "not here.*" trace on "$TDF"
like "$(cat "$TMP/err")" "[-]-module PATH" "  hint"
status 0 "--module says where" trace on --module "$TMP/hidden" "$TDF"
trace off --all
refused "--module isn't there" "no-such" trace on --module "$TMP/no-such" "$TDF"
refused "--module is no ELF file" "app.tsf" trace on --module "$TMP/app.tsf" "$TDF"
refused "--module is another program" "build-id differs" \
	trace on --module /bin/sh "$TDF"
like "$(cat "$TMP/err")" "the TDF is for '$TMP/target': that is another" "  hint"
mkdir "$TMP/moved"
cp "$TDF" "$TMP/moved/app.tdf"
cp "$TMP/hidden" "$TMP/moved/target"
status 0 "the module is found beside the TDF" trace on "$TMP/moved/app.tdf"
trace off --all
mv "$TMP/hidden" "$TMP/target"

# the byte at the site, where trcust's dump and trace show agree it is
offset=$(trace show "$TDF" | sed -n 's/.*file offset \(0x[0-9a-f]*\).*/\1/p' |
	head -n 1)
cp "$TMP/target" "$TMP/good"
printf '\303' | dd of="$TMP/target" bs=1 seek=$((offset)) conv=notrunc 2>/dev/null
refused "instruction bytes differ" "instruction bytes differ at offset $offset" \
	trace on "$TDF"
cp "$TMP/good" "$TMP/target"
if command -v gcc >/dev/null; then
	echo 'int main(void) { return 0; }' >"$TMP/other.c"
	gcc -Wl,--build-id -o "$TMP/target" "$TMP/other.c"
	refused "module built anew" "build-id differs" trace on "$TDF"
	cp "$TMP/good" "$TMP/target"
else
	skip "module built anew" "no gcc"
fi

# --- privileges and what the kernel refuses
chmod -R a+rX "$TMP"
unprivileged="setpriv --reuid 65534 --regid 65534 --clear-groups"
# shellcheck disable=SC2086
refused "without privilege" "(ermission|permitted)" $unprivileged "$BIN/trace" on "$TDF"
like "$(cat "$TMP/err")" "root" "  hint"
refused "without CAP_BPF and CAP_SYS_ADMIN" "(ermission|permitted)" \
	setpriv --bounding-set -bpf,-sys_admin --inh-caps -bpf,-sys_admin \
	"$BIN/trace" on "$TDF"
# shellcheck disable=SC2086
status 0 "show needs no privilege" $unprivileged "$BIN/trace" show "$TDF"
case $(uname -m) in
x86_64)
	refused "kernel without BPF" "BPF program.*not implemented" \
		"$DENY" 321 38 "$BIN/trace" on "$TDF"
	refused "BPF refused to root" "not permitted" \
		"$DENY" 321 1 "$BIN/trace" on "$TDF"
	refused "no memory for BPF" "Cannot allocate" \
		"$DENY" 321 12 "$BIN/trace" on "$TDF"
	refused "perf events refused" "tracepoint 1 .*ermission" \
		"$DENY" 298 13 "$BIN/trace" on --attach perf "$TDF"
	;;
esac
trace off --all
mkdir "$TMP/tmpfs"
mount -t tmpfs -o size=64k none "$TMP/tmpfs"

# --- the run directory
mkdir "$TMP/file"
status 1 "run directory is in a place that isn't there" \
	env RASTRACE_RUN="$TMP/none/run" "$BIN/trace" on "$TDF"
: >"$TMP/plain"
status 1 "run directory is a file" \
	env RASTRACE_RUN="$TMP/plain" "$BIN/trace" on "$TDF"
trace on "$TDF"
(
	flock 9
	status 1 "another trace is at work" trace off "$TDF"
	like "$(cat "$TMP/err")" "another trace" "  message"
	is "$(figure state)" '"on"' "  query doesn't mind"
	[ "$tap_failures" -eq 0 ]
) 9>>"$RASTRACE_RUN.lock"
tap_failures=$((tap_failures + $?)) tap_count=$((tap_count + 3))

# --- output
"$TMP/target" 500
echo before >"$TMP/tmpfs/old.ras"
head -c 60000 /dev/zero >"$TMP/tmpfs/fill" 2>/dev/null
status 1 "get on a full disk" trace get "$TMP/tmpfs/old.ras"
like "$(cat "$TMP/err")" "No space" "  message"
is "$(ls "$TMP/tmpfs")" "fill
old.ras" "  nothing half written"
is "$(cat "$TMP/tmpfs/old.ras")" "before" "  the old file is whole"
umount "$TMP/tmpfs"
status 1 "query to a full device" sh -c "exec '$BIN/trace' query >/dev/full"
status 1 "get into a directory that isn't there" trace get "$TMP/none/x.ras"

# --- pins of another layout: off --all removes them
trace off --all
if command -v bpftool >/dev/null; then
	bpftool map create "$RASTRACE_RUN/control" type array key 4 value 256 \
		entries 1 name control flags 0x400
	status 1 "buffer of another layout" trace on "$TDF"
	like "$(cat "$TMP/err")" "layout" "  message"
	like "$(cat "$TMP/err")" "trace off --all" "  hint"
	status 1 "query says so, too" trace query
	bpftool map create "$RASTRACE_RUN/strange" type hash key 4 value 4 \
		entries 1 name strange
	status 0 "off --all removes it" trace off --all
	is "$(pins)" "" "  all of it"
	bpftool map create "$RASTRACE_RUN/control" type hash key 4 value 256 \
		entries 1 name control
	status 1 "a map that isn't ours" trace on "$TDF"
	like "$(cat "$TMP/err")" "not made by trace" "  message"
	trace off --all
	status 0 "then all is well" trace on "$TDF"
else
	skip "pins of another layout" "no bpftool"
fi

# --- names that a terminal would obey
escape=$(printf '\033')
mkdir "$TMP/${escape}[2J"
cp "$TDF" "$TMP/${escape}[2J/app.tdf"
status 0 "a TDF with an escape sequence in its name" \
	trace on "$TMP/${escape}[2J/app.tdf"
status 0 "query" trace query
like "$(cat "$TMP/out")" '\\x1B\[2J/app.tdf: session' "  is made readable"
unlike "$(cat "$TMP/out")" "$escape" "  has no escape"
status 0 "show" trace show "$TMP/${escape}[2J/app.tdf"
like "$(cat "$TMP/out")" '\\x1B\[2J/app.tdf: major' "  is made readable"
unlike "$(cat "$TMP/out")" "$escape" "  has no escape"
status 1 "a message" trace on "$TMP/${escape}[2J/none.tdf"
like "$(cat "$TMP/err")" '\\x1B\[2J/none.tdf' "  is made readable"
unlike "$(cat "$TMP/err")" "$escape" "  has no escape"
trace off --all

# --- an instruction that a terminal would obey: its text is replaced
python3 - "$TDF" "$TMP/obey.tdf" <<'PY' || bail "no TDF to test with"
import struct, sys, zlib
tdf = bytearray(open(sys.argv[1], "rb").read())
sites, strings = (struct.unpack_from("<I", tdf, at)[0] for at in (64, 88))
text = strings + struct.unpack_from("<I", tdf, sites + 52)[0]
assert text > strings and 0 not in tdf[text:text + 7]
tdf[text:text + 7] = b"\x1b[2J\xc2\x9b\n"
struct.pack_into("<I", tdf, 16, 0)
struct.pack_into("<I", tdf, 16, zlib.crc32(tdf))
open(sys.argv[2], "wb").write(tdf)
PY
for command in "trace on -n" "trace show" "trcust --dump" "trace on" \
	"trace query" "trace query --json"; do
	case $command in
	"trace query"*)	operand=obey ;;
	*)		operand=$TMP/obey.tdf ;;
	esac
	# shellcheck disable=SC2086
	status 0 "$command" $command "$operand"
	[ "$command" = "trace on" ] ||
		like "$(cat "$TMP/out")" '\\(x1[Bb]|u001[Bb])\[2J' \
			"  is made readable"
	is "$(LC_ALL=C grep -c "$escape\|$(printf '\302\233')" "$TMP/out")" 0 \
		"  has no escape, of one byte or two"
done
trace off --all

# --- names in JSON
mkdir "$TMP/q\"uo\\te"
cp "$TDF" "$TMP/q\"uo\\te/my app.v2.tdf"
status 0 "a path with quotes" trace on "$TMP/q\"uo\\te/my app.v2.tdf"
trace query --json >"$TMP/query.json"
if command -v python3 >/dev/null; then
	ok "is valid JSON" python3 -c "
import json, sys
q = json.load(open(sys.argv[1]))
assert q['tracepoints'][-1]['tdf'].endswith('q\"uo\\\\te/my app.v2.tdf')
assert q['sessions'][-1]['name'] == 'my_app_v2'" "$TMP/query.json"
else
	skip "is valid JSON" "no python3"
fi
tap_done
