#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# scripts/mutate breaks one place at a time, prints which test noticed, and
# leaves the tree alone. The tree here is a small one.
. "$(dirname "$0")/../tap.sh"
need_tree
need python3 make cc objcopy
mutate=$TOP/scripts/mutate
tree=$TMP/tree
mkdir -p "$tree/usr/lib/formats" "$tree/selftests/lib" "$TMP/scratch"
cp "$TOP/selftests/run.sh" "$TOP/selftests/splats" "$tree/selftests/"

# What larger() and twice() do is tested, what least() does isn't.
cat >"$tree/usr/lib/formats/table.c" <<'END'
/* if (a == b) is no code here, nor is */
#define LEAST 3
static const char text[] = "a < b";

int larger(int a, int b)
{
	if (a > b)
		return a;
	return b;
}

int least(int a)
{
	return a < LEAST ? a : LEAST;
}

void twice(int *a)
{
	*a += larger(*a, text[0] == 'b');
}
END
cat >"$tree/selftests/lib/test_table.sh" <<'END'
#!/bin/sh
echo 1..1
"${0%/selftests/*}/build/check" && echo "ok 1 - it" || echo "not ok 1 - it"
END
cat >"$tree/check.c" <<'END'
int larger(int a, int b);
void twice(int *a);
int main(void)
{
	int n = 4;

	twice(&n);
	return larger(2, 1) != 2 || larger(-3, -2) != -2 || n != 8;
}
END
printf '%s\n' 'all: build/check' \
	'build/check: check.c build/obj/usr/lib/formats/table.o' \
	'	@cc -o $@ $^' \
	'build/obj/%.o: %.c' \
	'	@mkdir -p $(@D)' \
	'	@cc -O1 -MMD -c -o $@ $<' >"$tree/Makefile"
chmod +x "$tree/selftests/lib/test_table.sh"
make -s -C "$tree"

# run OPTION...: on that tree
run() {
	TMPDIR=$TMP/scratch "$mutate" --tree "$tree" "$@"
}

status 0 "--list" run --list
cp "$TMP/out" "$TMP/list"
like "$(cat "$TMP/list")" \
	'^[0-9a-f]{8} usr/lib/formats/table\.c:7: validation: operator$' "a comparison"
is "$(grep -c 'c:[1-3]: ' "$TMP/list")" 0 "no comment, macro or text"
is "$(sed -n '/c:14: .* operator/,/^[0-9a-f]/p' "$TMP/list" | sed -n 2,3p)" \
"    -	return a < LEAST ? a : LEAST;
    +	return a <= LEAST ? a : LEAST;" "what becomes of it"
is "$(cut -d ' ' -f 1 "$TMP/list" | grep . | sort | uniq -d)" "" \
	"no two of one ID"
run --list --subject ring >"$TMP/out" 2>&1
is "$(cat "$TMP/out")" "mutate: there is no such mutant" \
	"none of a subject without files"

# id LINE KIND [TEXT]: of a mutant
id() {
	grep -A 4 "c:$1: validation: $2\$" "$TMP/list" | grep -B 2 -- "${3-}" |
		sed -n '1s/ .*//p'
}
status 0 "two that are noticed" run --mutant "$(id 7 negate)" \
	--mutant "$(id 19 operator)"
like "$(cat "$TMP/out")" "c:7: negate: caught by lib/test_table.sh" \
	"by which test"
like "$(cat "$TMP/out")" '^validation  *2 .* 100\.0 %' "all of them"
status 0 "a comparison of what is equal then" \
	run --mutant "$(id 7 operator)"
like "$(cat "$TMP/out")" "c:7: operator: equivalent" "is no other code"
like "$(cat "$TMP/out")" '^validation  *0 ' "and isn't counted"
status 1 "one that isn't" run -j 2 --mutant "$(id 14 number)" \
	--mutant "$(id 13 return)"
like "$(cat "$TMP/out")" "c:13: return: survived" "is reported"
like "$(cat "$TMP/out")" "^    [+].*return 0;" "as a diff"
like "$(cat "$TMP/out")" '^validation  .* 0\.0 %' "the share"
is "$(ls "$TMP/scratch")" "" "the copies are removed"
is "$(grep -c 'a > b' "$tree/usr/lib/formats/table.c")" 1 "the tree is as it was"
status 2 "misuse" "$mutate" --no-such
status 1 "no such mutant" run --mutant 00000000
tap_done
