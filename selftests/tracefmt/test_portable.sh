#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `make portable`: tracefmt for other architectures, built with a compiler and
# the C library, prints the same; of the other byte order it refuses.
. "$(dirname "$0")/../tap.sh"
need_tree
need make

make_trace=${BUILT:-$TOP/build/selftests}/tracefmt/make_trace
make_spool=${BUILT:-$TOP/build/selftests}/tracefmt/make_spool
[ -x "$make_trace" ] && [ -x "$make_spool" ] ||
	skip_all "needs $make_trace and $make_spool"
unset TRACEFMT_PATH
export TZ=Europe/Amsterdam
cd "$TMP" || exit 1
mkdir tff traces
"$make_trace" tff && "$make_spool" tff
mv tff/*.ras* traces
packed=
"$make_spool" traces zlib context.ras >/dev/null 2>&1 ||
	(cd traces && "$make_spool" . && "$make_spool" . zlib context.ras) \
		>/dev/null 2>&1
[ -s traces/zlib.context.ras ] && packed=traces/zlib.context.ras

# build NAME COMPILER [CFLAGS]: the program is
# $TOP/build/NAME/portable/tracefmt; fails after a test point that says why. A
# compiler for another machine that only lacks its libraries isn't one.
build() {
	printf '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n' |
		$2 -x c -o probe - 2>/dev/null || {
		skip "$1" "needs $2 and a C library"
		return 1
	}
	ok "$1: it builds" make -s -C "$TOP" portable CC="$2" B="build/$1" \
		CFLAGS="${3:--O1}"
}

# emulate NAME ARGUMENT...: run that program
emulate() {
	program=$TOP/build/$1/portable/tracefmt machine=$1
	shift
	case $machine in
	native)	"$program" "$@" ;;
	*)	"qemu-$machine" -L "/usr/$machine-linux-gnu" "$program" "$@" ;;
	esac
}

# tiles_expand FILE...: the data of pages, which only ours are compressed, and
# without their sizes
tiles_expand() {
	python3 - "$@" <<'PY'
import base64, re, sys, zlib

def part(text):
    data = base64.b64decode(text)
    try:
        return zlib.decompress(data).hex()
    except zlib.error:
        return data.hex()

for path in sys.argv[1:]:
    page = open(path, encoding="utf-8", errors="surrogateescape").read()
    page = re.sub(r'(class="tile">\d+) \d+ \d+\n(.*)\n(.*)\n',
                  lambda m: "%s\n%s\n%s\n" % (m[1], part(m[2]), part(m[3])),
                  page)
    open(path, "w", encoding="utf-8", errors="surrogateescape").write(page)
PY
}

# same NAME OPTION...: text and messages of every trace are those of our
# tracefmt
same() {
	name=$1
	shift
	for trace in traces/*.ras*; do
		[ "$trace" = "$packed" ] && continue
		tracefmt --tff tff "$@" "$trace" >ours 2>&1
		echo "status $?" >>ours
		emulate "$name" --tff tff "$@" "$trace" >theirs 2>&1
		echo "status $?" >>theirs
		# the page's own random number
		sed -i 's/nonce\(-\|="\)[0-9A-F]*//g' ours theirs
		case $* in
		--format=html) tiles_expand ours theirs ;;
		esac
		cmp -s ours theirs || diff -u ours theirs
	done >differences
	ok "$name: the same with '$*'" test ! -s differences ||
		diag_file differences
}

# ctf_bytes STREAM: without the UUID, which is in each packet's header after
# the magic number
ctf_bytes() {
	od -An -v -tx1 -w1 "$1" | tr -d ' \n' |
		sed 's/c11ffcc1.\{32\}/c11ffcc1/g'
}

# reads NAME: it reads everything
reads() {
	same "$1" --verbose --hex
	same "$1" --summary
	for format in json csv perfetto html otlp; do
		same "$1" --format=$format
	done
	same "$1" --pair
	same "$1" --tree
	same "$1" --field 'length > 20 && cpu == 0' --newest-first
	tracefmt -q --format=ctf --output "ours.$1" --tff tff traces/typed.ras
	emulate "$1" -q --format=ctf --output "theirs.$1" --tff tff \
		traces/typed.ras
	sed -i '/uuid = "/d' "ours.$1/metadata" "theirs.$1/metadata"
	ok "$1: the same as CTF" diff "ours.$1/metadata" "theirs.$1/metadata"
	for stream in "ours.$1"/*; do
		is "$(ctf_bytes "theirs.$1/${stream##*/}")" \
			"$(ctf_bytes "$stream")" "$1: CTF's ${stream##*/}"
	done
	status 1 "$1: no live buffer" emulate "$1"
	like "$(cat err)" "reads no live buffer" "$1: is reported"
	status 1 "$1: nor one that goes on" emulate "$1" --follow
}

if build native cc; then
	reads native
	if command -v readelf >/dev/null; then
		is "$(readelf -d "$TOP/build/native/portable/tracefmt" |
			sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
			grep -vE '^(libc|libm|ld-linux.*|libdl|libpthread)\.so')" "" \
			"it needs no library but C's"
	else
		skip "what it needs" "needs readelf"
	fi
fi

if ! command -v qemu-aarch64 >/dev/null; then
	skip "aarch64" "needs qemu-aarch64"
elif build aarch64 'clang --target=aarch64-linux-gnu'; then
	reads aarch64
	if [ -z "$packed" ]; then
		skip "a packed trace" "zlib isn't here"
	elif [ -e /usr/aarch64-linux-gnu/lib/libz.so.1 ]; then
		skip "a packed trace without zlib" "zlib is there"
	else
		status 1 "aarch64: a packed trace without zlib" \
			emulate aarch64 --tff tff "$packed"
		like "$(cat err)" "unpacking it needs libz.so.1" \
			"the message names the library"
	fi
fi

if ! command -v qemu-s390x >/dev/null; then
	skip "s390x" "needs qemu-s390x"
elif build s390x 'clang --target=s390x-linux-gnu' -O0; then
	for trace in traces/*.ras*; do
		status 1 "s390x: ${trace##*/} is refused" \
			emulate s390x --tff tff "$trace"
		is "$(cat out)" "" "nothing is printed of it"
		like "$(cat err)" "written by a machine of the other byte order" \
			"and it says why"
	done
fi
tap_done
