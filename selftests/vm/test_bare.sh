#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What is compiled here is armed on a board of another kind, which has busybox,
# the static trace and tracefmt, and nothing else; not even type information of
# its kernel. What needs that is refused, and the message says so. $BARE_KERNEL is
# the kernel.
# shellcheck disable=SC2086 # $vm is two words
. "$(dirname "$0")/../tap.sh"
need qemu-system-aarch64 busybox cpio python3 base64
vm="$TOP/scripts/vm --arch aarch64"
kernel=${BARE_KERNEL:-6.12}
image=$($vm -k "$kernel" -n 2>"$TMP/err") || skip_all "$(tail -n 1 "$TMP/err")"
build=$("${0%/*}/cross_build.sh" aarch64 static 2>"$TMP/err")
case $? in
0)	;;
4)	skip_all "$(tail -n 1 "$TMP/err")" ;;
*)	diag_file "$TMP/err"
	bail "the programs can't be built" ;;
esac

for program in trace tracefmt; do
	file=$build/static/$program
	unlike "$(readelf -ldW "$file")" 'interpreter|NEEDED' "$program: static"
	size=$(wc -c <"$file")
	ok "$program: under 1.5 MB: $size" test "$size" -lt 1500000
done

# A kernel in which the functions that give out its type information have none.
# They begin with two nops for ftrace.
names=' (_stext|bpf_get_btf_vmlinux|btf_vmlinux_init)$'
$vm -k "$kernel" -t 300 grep -E "$names" /proc/kallsyms >"$TMP/symbols" 2>"$TMP/err" ||
	bail "no symbols: $(tail -n 1 "$TMP/err")"
cat >"$TMP/patch.py" <<'END'
import struct, sys
source, symbols, target = sys.argv[1:]
image = bytearray(open(source, "rb").read())
address = {}
for line in open(symbols):
    words = line.split()
    address[words[2]] = int(words[0], 16)
nop, paciasp, mov_x0_0, ret = 0xd503201f, 0xd503233f, 0xd2800000, 0xd65f03c0
for name in "bpf_get_btf_vmlinux", "btf_vmlinux_init":
    at = address[name] - address["_stext"] + 0x10000
    if struct.unpack_from("<3I", image, at) != (nop, nop, paciasp):
        sys.exit("%s isn't at %#x" % (name, at))
    struct.pack_into("<2I", image, at + 8, mov_x0_0, ret)
open(target, "wb").write(image)
END
python3 "$TMP/patch.py" "$image" "$TMP/symbols" "$TMP/Image" 2>"$TMP/err" ||
	bail "no kernel without type information: $(tail -n 1 "$TMP/err")"

# Here: the sources, the TSFs, what is made of them
mkdir "$TMP/board"
cd "$TMP/board" || exit 1
cat >../gauge.c <<'END'
#include <stdio.h>

struct gauge {
	const char *name;
	long value;
};

__attribute__((noipa)) long gauge_read(struct gauge *gauge, int by)
{
	gauge->value += by;
	return gauge->value * 2;
}

int main(void)
{
	struct gauge gauge = { "boiler", 40 };

	printf("%ld\n", gauge_read(&gauge, 2));
	return 0;
}
END
PATH=$PATH:$("$TOP/scripts/foreign" compiler aarch64)
ok "here: a program for the board" aarch64-linux-gnu-gcc -O2 -g -static \
	-o gauge ../gauge.c
cat >gauge.tsf <<'END'
MODNAME=/board/gauge
MAJOR=0x31
TRACE MINOR=1, TP=.gauge_read, DESC="reads", FMT="by %D name %P%S value %P%D",
	REGS=(W1), ASCIIZ64=(FX0,INDIRECT,16), MEM64=(FX0+8,DIRECT,4)
TRACE MINOR=2, TP=.gauge_read,RETEP, DESC="has read", FMT="twice %D", REGS=(W0)
END
status 0 "  its TSF, compiled" trcust --module gauge gauge.tsf
cat >kernel.tsf <<'END'
MODNAME=vmlinux
MAJOR=0x32
TRACE MINOR=1, TP=.do_sys_openat2, DESC="opens", FMT="folder %D how %P%D %D",
	REGS=(W0), MEM64=(FX2,DIRECT,8)
END
status 0 "  one of the kernel" trcust --arch aarch64 kernel.tsf

cat >guest <<'END'
PATH=/bin:/tools
export PATH
say() {
	echo "== $*"
}
say btf
ls /sys/kernel/btf
say refused
trace on --context ppid /board/gauge.tdf
sleep 1000 &
trace on --pid $! --follow /board/gauge.tdf
say on
trace on --context stack,comm /board/gauge.tdf || exit 1
trace on /board/kernel.tdf || exit 1
/board/gauge || exit 1
cat /board/gauge.tsf >/dev/null
trace suspend
say records
tracefmt -q --tff /board
say file
trace get /tmp/board.ras || exit 1
base64 /tmp/board.ras
say end
trace off --all
END
cp "$build/static/trace" "$build/static/tracefmt" "$TMP"
status 0 "there: in a guest" $vm -t 300 -k "$TMP/Image" -f "$TMP/board:/board" \
	-f "$TMP/trace:/tools/trace" -f "$TMP/tracefmt:/tools/tracefmt" -- \
	sh -c 'exec 2>&1 && . /board/guest' || diag_file "$TMP/out" "$TMP/err"

# part NAME: what was printed after "== NAME"
part() {
	sed -n "/^== $1/,/^==/p" "$TMP/out" | sed '/^==/d'
}
like "$(part btf)" "No such file" "no type information"
like "$(part refused)" "parent's process id can't be recorded: .* no BTF" \
	"the parent's process id needs it"
like "$(part refused)" "--follow needs .*CONFIG_DEBUG_INFO_BTF" "  --follow, too"
is "$(part on)" 84 "the program runs"
records=$(part records)
for line in "by 0000 0002 name boiler value 0000 0028" "twice 0000 0054" \
	"folder FFFF FF9C how 0002 0000 0000 0000"; do
	like "$records" "$line" "  record: $line" || echo "$records" | diag_file
done
like "$records" "^Stack, innermost first" "  with stacks"
like "$records" " gauge\+0x" "  that lead to the program"

# and back
part file | base64 -d >"$TMP/board.ras"
tracefmt -q --tff "$TMP/board" "$TMP/board.ras" >"$TMP/here" 2>"$TMP/err" ||
	diag_file "$TMP/err"
# (others have opened files in between, and clocks are read once more; here the
# program is a file, whose functions have names)
both='Major \[49/|^(by|twice|Stack|  0)'
without='s/Time \[[^]]*]//
s/^\(  [0-9A-F]*  \).* (gauge)$/\1/
s/^\(  [0-9A-F]*  \)gauge+0x[0-9A-F]*$/\1/'
is "$(grep -E "$both" "$TMP/here" | sed "$without")" \
	"$(echo "$records" | grep -E "$both" | sed "$without")" \
	"the file of it prints the same here"
like "$(cat "$TMP/here")" "  main\+0x[0-9a-f]+ \(gauge\)" "with names"
tap_done
