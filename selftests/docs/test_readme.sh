#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The examples of README and docs: their commands print the output that is shown
# (except for numbers), the TSF is the demo's, and all files and targets named exist.
. "$(dirname "$0")/../tap.sh"
need make cc

# section FILE FROM TO NAME: its indented lines; commands begin with "# "
section() {
	file=$1
	shift
	sed -n "/^$1/,/^$2/p" "$TOP/$file" |
		awk '/^    / { print substr($0, 5) } /^$/ { print }' >"$TMP/$3"
	awk '/^# / { found = 1 } found' "$TMP/$3" >"$TMP/$3.expected"
	# each command is printed, then run, all in one shell, in the tree
	grep '^# ' "$TMP/$3" | cut -c 3- | while read -r line; do
		printf "echo '# %s'\n%s || exit\n" \
			"$(echo "$line" | sed "s/'/'\\\\''/g")" \
			"$(echo "$line" | sed "s,/tmp\\>,$TMP,g")"
	done >"$TMP/$3.commands"
	ok "$file has commands: $3" test -s "$TMP/$3.commands"
}

# Numbers differ from run to run, so do histograms and the units of times, the
# kind of links with the kernel, and other shells on the machine have records of
# their own.
same() {
	sed "s,$TMP/,/tmp/,g" "$1" | expand |
		grep -vE -e ' links, preemption |^ +[0-9.]+ [num]?s +[0-9]+ *#*$' \
			-e '^ +[0-9.]+ [num]?s +[0-9.]+ [num]?s +[0-9]+ \|#*$' |
		awk '/^\(bash\)/ || /^Event/ { held = held $0 "\n"; next }
		     /^  line / && !/ (echo hello|ls -l)$/ { held = ""; next }
		     NF { printf "%s%s\n", held, $0; held = "" }' |
		sed -E -e 's/[0-9.]+ [num]?s\b/T/g' \
		       -e 's/0x[0-9A-Fa-f]+/N/g' -e 's/\b([0-9]+|unknown)\b/N/g' \
		       -e 's/ +/ /g'
}

# follow NAME: what a reader does
follow() {
	status 0 "the commands succeed: $1" sh "$TMP/$1.commands"
	cp "$TMP/out" "$TMP/$1.transcript"
	is "$(cat "$TMP/err")" "" "and print nothing on stderr: $1"
	is "$(same "$TMP/$1.transcript")" "$(same "$TMP/$1.expected")" \
		"the output is that of the text: $1"
}

is "$(awk 'END { print (NR <= 150) }' "$TOP/README")" 1 \
	"README has at most 150 lines"

# The first screen: one command for any program, and three for another machine.
sed '/^How it works$/,$d' "$TOP/README" | sed -n 's/^    # //p' >"$TMP/first"
is "$(wc -l <"$TMP/first")" 4 "README begins with four commands"
cat >"$TMP/app.c" <<'C'
#include <stdio.h>
#include <string.h>

static int weigh(const char *name, int count)
{
	return printf("%s\n", name) * count;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < argc; i++)
		sum += weigh(argv[i], i + 3);
	return sum < 0;
}
C
ok "a program" cc -g -o "$TMP/app" "$TMP/app.c"
if [ "$(id -u)" -eq 0 ]; then
	status 0 "the four commands succeed" \
		sh -ec "cd '$TMP'; . ./first"
	like "$(cat "$TMP/out")" '^count = 3$' "and print what it was given"
fi

section docs/guide.md "# Tracing" "## Output" begin
section docs/guide.md "## Programs of Rust" "## End" languages
section README "A worked example" "Requirements" worked
section docs/heap.md "# The heap" "Stacks do not" heap
awk '/^# / { exit } { print }' "$TMP/worked" | sed '/./,$!d' >"$TMP/tsf"
is "$(cat "$TMP/tsf")" "$(cat "$TOP/demo/shop.tsf")" \
	"the TSF of README is demo/shop.tsf"

# targets of make, and names of files
grep -ohE '(^    (sudo )?|`)make [a-z][a-z-]*( |`|$)' "$TOP/README" "$TOP"/docs/* |
	sed 's/.*make \([a-z-]*\).*/make \1/' | sort -u >"$TMP/targets"
ok "README names targets" test -s "$TMP/targets"
while read -r target; do
	ok "$target is there" grep -Eq "^${target#make }( .*)?:" "$TOP/Makefile"
done <"$TMP/targets"
sed '1,/^Documentation$/d' "$TOP/README" |
	sed -nE 's,^    ([A-Za-z/.-]+) .*,\1,p' >"$TMP/named"
for page in "$TOP"/docs/*; do
	like "$(cat "$TMP/named")" "^docs/${page##*/}\$" \
		"README names docs/${page##*/}"
done
while read -r name; do
	ok "$name exists" test -e "$TOP/$name"
done <"$TMP/named"

if [ "$(id -u)" -ne 0 ]; then
	skip "the commands of README" "needs root"
	tap_done
fi
cd "$TOP" || exit 1
ok "the small programs build" make -s build/demo/app build/demo/shop
follow begin
like "$(cat "$TMP/begin.transcript")" \
	'^order->account->owner->city = Zwolle$' "the customer is there"
like "$(cat "$TMP/begin.transcript")" '^ +3 +[0-9.]+ [num]?s .*order_book$' \
	"three calls are paired"
like "$(cat "$TMP/begin.transcript")" \
	'us . order_book\(order->item = "tea, loose"\) = 1497$' \
	"a whole call is shown as a call"
like "$(cat "$TMP/begin.transcript")" '^  line +echo hello$' \
	"the line is there"
"$BIN/trace" clear
follow worked
like "$(cat "$TMP/worked.transcript")" '^items = .*name = "tea, loose"' \
	"the vector is there"
if command -v rustc >"$TMP/which" && command -v go >"$TMP/which"; then
	follow languages
	like "$(cat "$TMP/languages.transcript")" \
		'how = pay::Card \{number = "4000 1234", limit = 500\}, wait = Some\(1.5s\)' \
		"the trait object has its type"
	like "$(cat "$TMP/languages.transcript")" \
		'returns = 0, \*errors.errorString\("too much for Bob"\)' \
		"Go's results are there"
else
	skip "the programs of Rust and Go" "needs rustc and go"
fi
follow heap
like "$(cat "$TMP/heap.transcript")" \
	'^  freed +2 blocks +23 bytes$' "both notes are freed"
tap_done
