#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What compilers and linkers rarely leave in debug information: variables that
# were left out, later versions of C, bytes in another order.
. "$(dirname "$0")/../tap.sh"
need gcc
cd "$TMP" || exit 1

# compile MODULE CLAUSES: of a tracepoint at `work`
compile() {
	printf 'MODNAME=%s\nTRACE TP=.work, %s\n' "$1" "$2" >t.tsf
	trcust t.tsf 2>err
}

cat >left.c <<'END'
static int hidden = 5;
int dropped = 7;
int helper(void) { return hidden + dropped; }
int kept = 9;
int work(int a) { return a + kept; }
int main(int argc, char **argv) { return work(argc); }
END
for linker in bfd lld; do
	if ! gcc -g -ffunction-sections -fdata-sections -Wl,--gc-sections \
		-fuse-ld=$linker -o left left.c 2>log; then
		skip "left out by $linker" "no such linker"
		continue
	fi
	for name in hidden dropped; do
		compile left "VARS=($name)"
		like "$(cat err)" "'$name' at work.*: the linker left it out" \
			"$linker: '$name' isn't read from where nothing is"
	done
	compile left "VARS=(kept)"
	is "$?" 0 "$linker: one that is there"
done

cat >one.cc <<'END'
inline int shared = 3;
int other();
int work(int a) { return a + shared + other(); }
int main(int argc, char **argv) { return work(argc); }
END
cat >two.cc <<'END'
inline int shared = 3;
int other() { return shared; }
END
for linker in bfd lld; do
	if ! g++ -std=c++17 -g -fuse-ld=$linker -o both one.cc two.cc 2>log
	then
		skip "kept once by $linker" "no such compiler"
		continue
	fi
	for at in work other; do
		printf 'MODNAME=both\nTRACE TP=.%s, VARS=(shared)\n' $at >t.tsf
		trcust t.tsf 2>err
		is "$?" 0 "$linker: two units have it, one was kept ($at)"
	done
done

cat >c17.c <<'END'
struct box { int a; struct box *next; };
typedef struct box *boxes;
int work(struct box *b) { return b->a; }
int main(void) { struct box b = { 1, 0 }; return work(&b); }
END
gcc -g -gdwarf-5 -dA -S c17.c
for number in 0x1d 0x2c 0x3e; do
	sed "/\.byte.*DW_AT_language/s/0x1d/$number/" c17.s >later.s
	gcc -o later later.s || bail "the assembler"
	compile later "VARS=(b, ((struct box *)b)->a)"
	is "$?" 0 "C of language $number: types have tags"
	like "$(trcust --explain t.tsf)" "b .*struct box \*" \
		"C of language $number: and are spelled so"
done

cat >big.c <<'END'
#pragma scalar_storage_order big-endian
struct net { unsigned int length; };
#pragma scalar_storage_order default
int work(struct net *p) { return p->length; }
int main(void) { struct net n = { 1 }; return work(&n); }
END
gcc -g -o big big.c
if readelf --debug-dump=info big 2>/dev/null | grep -q DW_AT_endianity; then
	compile big "VARS=(p->length)"
	is "$?" 0 "a number in the other order is logged"
	compile big "IF=(p->length == 1)"
	is "$?" 0 "and computed with"
else
	skip "the other order" "the compiler doesn't record it"
fi
tap_done
