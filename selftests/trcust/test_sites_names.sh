#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The functions, copies and labels that names and source lines mean.
. "$(dirname "$0")/../tap.sh"
need cc c++ nm
here=$(cd "$(dirname "$0")" && pwd)
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

# sites_of CLAUSE: where TRACE TP=CLAUSE in the module is, "SYMBOL+OFFSET"
sites_of() {
	printf 'MODNAME=%s\nTRACE TP=%s\n' "$module" "$1" >one.tsf
	rm -f one.tdf
	trcust --site=exact $options one.tsf 2>err
	[ -e one.tdf ] && trcust --dump one.tdf | sed -nE \
		's/^  site "(.*)"\+([0-9]+) offset .*/\1+\2/p'
}

# addresses_of CLAUSE: the same as addresses
addresses_of() {
	sites_of "$1" >sites
	[ -e one.tdf ] && trcust --dump one.tdf |
		sed -nE 's/^  site .* address (0x[0-9a-f]+) .*/\1/p'
}

# entry FILE PATTERN: addresses of the symbols
entry() {
	nm "$1" | awk -v p="$2" '$3 ~ p { print "0x" $1 }' | sed 's/0x0*/0x/' |
		sort
}
options=

if c++ -w -O0 -g -o names "$here/exits/names.cc" 2>log; then
	module=names
	is "$(addresses_of .shop::total+0)" "$(entry names '^_ZN4shop5total')" \
		"ns::fn"
	is "$(addresses_of .depot::total+0)" "$(entry names '^_ZN5depot5total')" \
		"the same in another namespace"
	is "$(addresses_of '.add(int)+0')" "$(entry names 'basket3addEi')" \
		"fn(int)"
	is "$(addresses_of '."shop::basket::add(char const*)"+0')" \
		"$(entry names 'basket3addEPKc')" "ns::cls::fn(const char *)"
	is "$(addresses_of '._ZN4shop6basket3addEi+0')" \
		"$(entry names 'basket3addEi')" "a mangled name"
	is "$(addresses_of .shop::basket::add+0 | wc -l)" 1 \
		"one of two overloads"
	like "$(cat err)" 'warning: .*TRCERR_AMBIGUOUS' "with a warning"
	like "$(cat err)" \
		'there are: .*add[(].*[(]_ZN.*[)] at 0x.*add[(].*[(]_ZN.*[)] at 0x' \
		"that names both, as the linker does, too"
	like "$(cat err)" 'TP=shop::basket::add[(][*][)] means all' \
		"and how to have both"
	is "$(addresses_of 'shop::basket::add(*)+0')" \
		"$(entry names 'basket3add')" "which has a site at each"
	is "$(addresses_of 'add(int)+0')" "$(entry names 'basket3addEi')" \
		"a name without the dot"
	is "$(addresses_of '.small(*)')" "$(addresses_of .small)" \
		"all of what was only inlined"
	is "$(addresses_of '.nosuch(*)')" "" "all of nothing"
	like "$(cat err)" 'BADSYMBOL' "isn't found"
	is "$(addresses_of '.nosuch::total')" "" "another scope"
	like "$(cat err)" BADSYMBOL "isn't found"

	# Every copy of what was only inlined
	sites_of .small >got
	is "$(wc -l <got)" 2 "sites of a function that was only inlined"
	like "$(cat got)" '^first\+' "one where it was inlined"
	like "$(cat got)" '^second\+' "one where it was inlined again"

	# Every instance of a template has its lines
	line=$(grep -n 'sink = sink + 1' "$here/exits/names.cc" | cut -d: -f1)
	sites_of "@names.cc,$line" >got
	like "$(cat got)" '^twice<int>\+' "a line of a template of int"
	like "$(cat got)" '^twice<double>\+' "a line of a template of double"
	line=$(grep -n 'sink \* 3' "$here/exits/names.cc" | cut -d: -f1)
	sites_of "@NAMES.CC,$line" >got
	like "$(cat got)" '^first\+' "a line of an inlined function"
	like "$(cat got)" '^second\+' "and of its other copy"
else
	skip "names of C++" "the compiler can't do it"
fi

# A copy whose code gcc counts as that of the function around it has no bytes
cat >joined.c <<'END'
static inline int helper(int x, int *n) { return x * 3 + *n; }
__attribute__((noinline)) int work(int *n, long v)
{
	int r = helper(v, n);
	if (r & 1)
		r += helper(r, n);
	return r;
}
int main(int argc, char **argv) { return work(&argc, argc) & 1; }
END
for split in '' -gsplit-dwarf; do
	# shellcheck disable=SC2086
	if ! gcc -O2 -g $split -o joined joined.c 2>log; then
		skip "a copy without bytes" "no gcc"
		continue
	fi
	module=joined
	sites_of @joined.c,1 >lines
	is "$(sites_of .helper)" "$(cat lines)" \
		"each copy of an inlined function $split"
	is "$(sort -u lines | wc -l)" 2 "  there are two"
done

# Overloads with different variables
cat >several.cc <<'END'
#include <string>
int volatile sink;
__attribute__((noinline)) int greet(int n) { sink = n; return n; }
__attribute__((noinline)) int greet(int n, char c) { sink = c; return n; }
__attribute__((noinline)) int greet(const std::string &who)
{
	sink = who.size();
	return 1;
}
int main(int argc, char **argv)
{
	return greet(argc) + greet(argc, 'c') + greet(argv[0]);
}
END
if c++ -w -O0 -g -o several several.cc 2>log; then
	module=several
	is "$(addresses_of 'greet(*)+0')" "$(entry several '5greet')" \
		"all overloads"
	is "$(addresses_of 'greet(*),VARS=(n)' | wc -l)" 2 \
		"those that have the variable"
	like "$(cat err)" "warning: .*LEFTOUT" "with a warning of others"
	like "$(cat err)" "'n' is not in scope there" "which names it"
	is "$(addresses_of 'greet(*),RETEP' | wc -l)" 3 "the exits of all"
	is "$(addresses_of 'greet(const std::string &)+0')" \
		"$(entry several '5greetRKNSt')" "a parameter std::string"
	strip -g -o bare several
	module=bare
	is "$(addresses_of 'greet(*)')" "$(entry several '5greet')" \
		"all without debug information"
	module=several
else
	skip "overloads" "the compiler can't do it"
fi

# Names of Go and Rust
{
	echo 'int main(void) { return 0; }'
	for name in 'main.(*Cache).Get' 'example.com/a-b/store.(*Store).Add' \
		'main.Twice[go.shape.int_0]' 'main.Twice[go.shape.float64_0]' \
		_RNvMNtNtCs6GmmlP4bgsG_1r4shop5storeNtB2_5Store3add \
		_RNvXs_NtNtCs6GmmlP4bgsG_1r4shop5storeNtB4_5StoreNtB4_4Show4show \
		_RNvXs0_NtNtCs6GmmlP4bgsG_1r4shop5storemNtB5_4Show4show \
		_ZN1r4shop5store5Store3old17hb991cbef06262ba8E; do
		printf '__asm__(".globl \\"%s\\"\\n.type \\"%s\\", %%function\\n' \
			"$name" "$name"
		printf '\\"%s\\": nop\\nret\\n.size \\"%s\\", .-\\"%s\\"");\n' \
			"$name" "$name" "$name"
	done
} >foreign.c
if cc -o foreign foreign.c 2>log; then
	module=foreign
	while IFS='|' read -r name pattern; do
		is "$(addresses_of "$name")" "$(entry foreign "$pattern")" \
			"$name"
	done <<-'END'
	main.(*Cache).Get|Cache.*Get$
	.main.(*Cache).Get|Cache.*Get$
	example.com/a-b/store.(*Store).Add|Store.*Add$
	store.(*Store).Add|Store.*Add$
	main.Twice[go.shape.int_0]|int_0
	main.Twice(*)|Twice
	main.Twice[...](*)|Twice
	<r::shop::store::Store>::add|Store3add
	<shop::store::Store>::add|Store3add
	shop::store::Store::add|Store3add
	Store::add|Store3add
	<shop::store::Store>::old|Store3old
	<Store as Show>::show|StoreNtB4_4Show
	<u32 as r::shop::store::Show>::show|storemNtB5_4Show
	Store::show|StoreNtB4_4Show
	show(*)|4show$
	END
	is "$(addresses_of main.Twice | wc -l)" 1 "one of two instances"
	like "$(cat err)" 'warning: .*TRCERR_AMBIGUOUS' "with a warning"
	is "$(addresses_of '(*Store).Add')" "" "no package"
else
	skip "names of Go and Rust" "the assembler can't do it"
fi

# Local functions of the same name
for name in one two; do
	printf 'volatile int %s_sink;\nstatic __attribute__((noinline)) int twin(int a)\n{
	%s_sink = a;\n	return a + 1;\n}
int %s(int a) { return twin(a) * 2; }\n' $name $name $name >$name.c
done
echo 'int one(int), two(int); int main(void) { return one(1) + two(2); }' >main.c
cc -O0 -g -o twins main.c one.c two.c
module=twins
is "$(addresses_of .one.c:twin+0; addresses_of .two.c:twin+0)" \
	"$(entry twins '^twin$')" "file.c:name"
is "$(sites_of .three.c:twin)" "" "in another file"
like "$(cat err)" 'BADSYMBOL' "it isn't found"
after=$(addresses_of .one.c:twin)
ok "it is after the prologue" test "$((after))" -gt \
	"$(($(entry twins '^twin$' | head -n 1)))"

# A line where a function begins is where the function's name is.
is "$(addresses_of @one.c,4)" "$after" "the line where a function begins"

# An address as linked
is "$(addresses_of "@ADDR,$after")" "$after" "@ADDR"
is "$(cat sites)" "twin+$((after - $(entry twins '^twin$' | head -n 1)))" \
	"its symbol"
is "$(addresses_of "@ADDR,$((after + 1))")" "" "inside an instruction"
like "$(cat err)" 'is inside an instruction' "is refused"

# A map's symbols are labels; they are used where the module has none.
cc -O0 -o stripped main.c one.c two.c -Wl,-Map=stripped.map
nm stripped >nm.map
strip --strip-all stripped
module=stripped
options=/M=nm.map
is "$(addresses_of .one)" "$(sed -nE 's/^0*([0-9a-f]+) T one$/0x\1/p' nm.map)" \
	"a label of a map"
is "$(addresses_of .one,RETEP | wc -l)" 1 \
	"its exit: a frame description has where it ends"
options=
is "$(addresses_of .one)" "" "without the map"
like "$(cat err)" 'BADSYMBOL' "it isn't known"
tap_done
