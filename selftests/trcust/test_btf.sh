#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A kernel's types and parameters from BTF: the same statements as from DWARF,
# parameters only at the entry, whose kernel the TDF is for, damaged files.
. "$(dirname "$0")/../tap.sh"
need gcc readelf objcopy pahole
cd "$TMP" || exit 1

cat >kernel.c <<'C'
typedef unsigned char u8;
typedef unsigned long long u64;
enum color { RED, GREEN = 5, BLUE = -2 };
enum wide { WIDE = 1ull << 40 };
struct item {
	const char *name;
	int count;
	unsigned int flag : 3, kind : 7;
	signed int below : 5;
	u8 data[4];
	union {
		int number;
		struct { short low, high; };
	};
	struct item *next;
	int (*show)(struct item *item, int how);
	enum color color;
	enum wide wide;
	_Bool valid;
	u8 rest[];
};
struct pair { long a, b; };
struct big { long a, b, c; };
struct small { char c; short s; };

int work(struct item *item, unsigned int n, struct pair pair, u8 flag,
	 const volatile char *text, long seventh, struct big big,
	 struct small small)
{
	asm volatile("" :: "r"(item), "r"(n));
	return item->count + n + pair.a + pair.b + flag + big.c + text[0] +
	       seventh + small.s;
}
_Bool check(enum color color, struct item **items, u64 mask)
{
	return color == GREEN && items[1] && mask;
}
int lost(__int128 value, int after) { return value + after; }
int late(int first, int second) { return first + second; }
C
if ! gcc -O2 -g -static -nostdlib -Wl,-e,work -o kernel kernel.c 2>log ||
   ! cp kernel types || ! pahole -J types; then
	diag_file log
	bail "the kernel can't be built"
fi

# statements COMMAND...: what it compiles the TSF to
statements() {
	"$@" same.tsf 2>err || cat err
	trcust --dump same.tdf | grep -E '^  (if|mem|value|asciiz|absent)'
}
cat >same.tsf <<'TSF'
MODNAME=vmlinux
MAJOR=30
TRACE MINOR=1, TP=.work, VARS=(item->name, item->count, item->flag,
	item->kind, item->below, item->data[1], item->number, item->high,
	item->next->next->low, item->show, item->color, item->wide,
	item->valid, item->rest[3], *item, n, pair.b, flag, *text, seventh,
	big.c, small.s)
TRACE MINOR=2, TP=.check, VARS=(color, items[2]->name, mask,
	((struct pair *)items)->b, (u8)mask, sizeof(struct item)),
	IF=(color == GREEN && items[0]->color != BLUE)
TRACE MINOR=3, TP=.late, VARS=(first, second, (enum color)first)
TSF
is "$(statements trcust --btf types)" "$(statements trcust --module kernel)" \
	"the same statements as from DWARF"
is "$(statements trcust --btf types | wc -l)" 32 "all of them"
id=$(readelf -n kernel | sed -n 's/.*Build ID: //p')
like "$(trcust --dump same.tdf)" "^module 0:.* id build-id $id\$" \
	"the TDF is for the kernel of the BTF"
unlike "$(trcust --btf types --explain same.tsf)" "ffffffff" \
	"--explain prints no address that it made up"
objcopy --dump-section .BTF=raw types /dev/null
trcust --btf raw same.tsf
like "$(trcust --dump same.tdf)" "^module 0:.* id content [0-9a-f]{16}\$" \
	"a file that is only BTF identifies the kernel"
cat >plain.tsf <<'TSF'
MODNAME=vmlinux
MAJOR=33
TRACE MINOR=1, TP=.work, REGS=(RDI), VARS=($RSI)
TSF
trcust --btf types plain.tsf
like "$(trcust --dump plain.tdf)" "^module 0:.* id none" \
	"without types it is for any kernel"

trcust --btf types --from-module --args --retep vmlinux >all.tsf
like "$(cat all.tsf)" "VARS=\(item, n, pair, flag, text, seventh" \
	"--from-module: parameters"
like "$(cat all.tsf)" "TP=.check,RETEP=CALLER" "  return points"
like "$(cat all.tsf)" 'VARS=\(\$result\)' "  results by type"
status 0 "  it compiles" trcust --btf types all.tsf

# A kernel module: its BTF continues the kernel's
cat >driver.c <<'C'
struct item {
	const char *name;
	int count;
};
struct device { struct item *items; unsigned int busy : 1, slot : 9; };
int attach(struct device *device, struct item *item, long how)
{
	asm volatile("" :: "r"(device), "r"(item));
	return device->slot + item->count + how;
}
C
gcc -O2 -g -c -fcf-protection=none -o whole.ko driver.c
cp whole.ko driver.ko
pahole -J --btf_base types driver.ko && strip -g driver.ko
cat >same.tsf <<'TSF'
MODNAME=driver.ko
MAJOR=34
TRACE MINOR=1, TP=.attach, VARS=(device->slot, device->busy,
	device->items->name, item->count, how, (struct device *)item, *device)
TSF
is "$(statements trcust --btf types)" \
	"$(statements trcust --module whole.ko)" \
	"a kernel module: the same statements as from DWARF"
is "$(statements trcust --btf types | wc -l)" 7 "  all of them"
cat >same.tsf <<'TSF'
MODNAME=driver.ko
MAJOR=34
TRACE MINOR=1, CALL=.attach, VARS=(how), RESULT=($result, entry(how)),
	IF=(elapsed > 1ms && $result < entry(item->count))
TRACE MINOR=2, TP=.attach,RETEP, VARS=($result)
TRACE MINOR=3, CALL=.attach,RETEP=CALLER, RESULT=($result), BY=(entry(how)),
	HIST=(elapsed)
TSF
is "$(statements trcust --btf types)" \
	"$(statements trcust --module whole.ko)" \
	"  whole calls, too, and exits that BTF does not know"
is "$(trcust --dump same.tdf | grep -c '^  key ')" 4 "  each site has a key"
sed 's/struct pair/struct a_pair/; s/seventh/seven/g' kernel.c >newer.c
gcc -O2 -g -static -nostdlib -Wl,-e,work -o newer newer.c && pahole -J newer
status 1 "  with the BTF of another kernel" trcust --btf newer same.tsf
like "$(cat err)" "was built for another kernel" "  is refused"

# wrong POINT TEXT: an error, with that text
wrong() {
	printf 'MODNAME=vmlinux\nMAJOR=31\nTRACE %s\n' "$1" >wrong.tsf
	status 1 "wrong: $1" trcust --btf types wrong.tsf
	like "$(cat err)" "$2" "  $2"
}
wrong 'TP=.late+4, VARS=(first)' "BTF has parameters only at the entry"
wrong 'TP=.lost, VARS=(after)' "BTF doesn't show where it is"
wrong 'TP=.nowhere, VARS=(first)' "no debug information for nowhere"
wrong 'TP=.late, VARS=(nonsense)' "in scope at late\+0: first, second"
wrong 'TP=.late,RETEP=CALLER, VARS=(first)' "the function has returned"

cat >same.tsf <<'TSF'
MODNAME=vmlinux
MAJOR=30
TRACE TP=.late, VARS=(first)
TSF
# file NAME TEXT
file() {
	status 1 "$1" trcust --btf "$1" same.tsf
	like "$(cat err)" "$2" "  $2"
}
head -c 300 types >cut_elf
head -c 700 raw >cut_raw
{ head -c 24 raw; head -c 1000 /dev/zero | tr '\0' '\377'; } >ones
# an int in a file of the other byte order
printf '\353\237\1\0\0\0\0\30\0\0\0\0\0\0\0\20\0\0\0\20\0\0\0\5' >big
printf '\0\0\0\1\1\0\0\0\0\0\0\4\1\0\0\40\0int\0' >>big
file big "its BTF is big-endian"
file cut_elf "its BTF is damaged"
file cut_raw "its BTF is damaged"
file ones "its BTF is damaged"
file kernel.c "its BTF is damaged"
file kernel "it has no BTF"
file nowhere "No such file or directory"
status 1 "--btf none" trcust --btf none same.tsf
like "$(cat err)" "not at hand.*--btf FILE" "  the remedy"

if [ -r /sys/kernel/btf/vmlinux ]; then
	printf 'MODNAME=vmlinux\nMAJOR=32\nTRACE TP=.vfs_open, VARS=(%s)\n' \
		'path->dentry->d_name.name, file->f_flags' >running.tsf
	status 0 "by default the running kernel's" trcust running.tsf
	like "$(trcust --dump running.tdf)" "id (build-id|content)" \
		"  the TDF is for it"
	if [ -e "$TOP/docs/kernel.md" ]; then
		awk "/<<'EOF'/ { on = ++n; next } /EOF\$/ { on = 0 }
			on { print substr(\$0, 5) >\"page\" on \".tsf\" }" \
			"$TOP/docs/kernel.md"
		for page in page*.tsf; do
			status 0 "  $page of docs/kernel.md" trcust "$page"
		done
	fi
else
	skip "the running kernel's" "it has no BTF"
fi
tap_done
