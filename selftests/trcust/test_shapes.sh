#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Shape files: their syntax, which shape a type has, and the messages about files
# and shapes that are wrong, with file and line.
. "$(dirname "$0")/../tap.sh"
need cc
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

cat >app.c <<'C'
typedef struct { char *str; unsigned long len, room; } Text;
typedef struct { Text name; int n; } Item;
typedef struct { Item *items; long count; } List;
union either { Text text; long number; };
int work(Text *t, List *l, union either *e) { return t->len + l->count; }
int main(void) { return 0; }
C
cc -g -O0 -o app app.c 2>log || bail "the program can't be built"
cat >app.tsf <<'T'
MODNAME="./app"
MAJOR=9
TRACE MINOR=1,TP=.work,DESC="w",VARS=(*t,*l,*e)
T
cat >app.shapes <<'S'
# two shapes
language c
type Text
	text str
	length len

type L*st as list of items
	sequence items
	count count
S

# The types with shapes as the TFF has them
shown() {
	trcust --dump TRC0009.TFF |
		sed -n 's/^  ctype [0-9]*: name "\(.*\)" kind \(text\|sequence\|one\|variant\) bytes.*/\1: \2/p'
}

status 0 "a TSF compiles with a shape file" \
	trcust -W1 --shapes app.shapes app.tsf
is "$(shown)" "Text: text
list of items: sequence" "its types have their shapes"
like "$(trcust --dump TRC0009.TFF)" 'kind sequence bytes 16 count 8 of' \
	"elements with parts of their own are at most 8"
is "$(trcust --dump app.tdf | grep -c 'mem at most 64 address')" 8 \
	"each has a text"
like "$(trcust --dump app.tdf)" '^point 1 .* continue$' \
	"the record continues after a part that can't be read"
sed 's/DESC/ONFAULT=STOP,DESC/' app.tsf >stop.tsf
trcust -W1 --shapes app.shapes stop.tsf
unlike "$(trcust --dump stop.tdf)" ' continue$' "unless it is to stop"
like "$(trcust --dump TRC0009.TFF)" 'name "union either" kind union' \
	"a union is what its members are"
sed 's/\*l,/*l:3,/' app.tsf >limit.tsf
status 0 "a limit is accepted" trcust -W1 --shapes app.shapes limit.tsf
like "$(trcust --dump TRC0009.TFF)" 'kind sequence bytes 16 count 3 of' \
	"and is in the type"
mkdir dir
cp app.shapes dir/a.shapes
echo "this is not read" >dir/README
status 0 "the files of a directory are read" trcust -W1 --shapes dir app.tsf
is "$(shown | wc -l)" 2 "and count"
printf 'type Text as first\n\ttext str\n\tlength room\n' >first.shapes
trcust -W1 --shapes first.shapes --shapes app.shapes app.tsf
like "$(shown)" '^first: text$' "the first file that has a shape counts"
printf 'type Text\n\ttext nothing\n\tlength len\n' >other.shapes
trcust -W1 --shapes other.shapes --shapes app.shapes app.tsf
like "$(shown)" '^Text: text$' "if it fits the members"
printf 'language rust\ntype Text\n\ttext str\n\tlength len\n' >rust.shapes
trcust -W1 --shapes rust.shapes app.tsf
is "$(shown)" "" "a shape for another language is not used"
trcust -W1 --explain --shapes app.shapes app.tsf >out
like "$(cat out)" ' \*t +up to 139 bytes +Text, ' "--explain has the type"

printf 'type *\n\tmembers\n' >last.shapes
status 0 "a shape may be that of the members" \
	trcust -W1 --shapes other.shapes --shapes last.shapes app.tsf
is "$(shown)" "" "then there are no others"

status 1 "a shape that doesn't fit is an error" \
	trcust --shapes other.shapes app.tsf
like "$(cat err)" '^other.shapes:2:7: error: .* has no member nothing' \
	"  with the file and line of the expression"
like "$(cat err)" "^app.tsf:3:39: error: 'shape' cannot be applied to Text" \
	"  and that of the variable"

cat >tree.c <<'C'
typedef struct Tree { struct Tree *kids; long n; struct Tree *up; } Tree;
int work(Tree *t) { return t->n; }
int main(void) { return 0; }
C
cc -g -O0 -o tree tree.c 2>log || bail "the program can't be built"
printf 'type Tree\n\tsequence kids\n\tcount n\n' >tree.shapes
sed 's/app/tree/;s/VARS.*/VARS=(*t)/' app.tsf >tree.tsf
status 0 "a type that contains itself ends" \
	trcust -W1 --shapes tree.shapes tree.tsf
is "$(shown | grep -c 'Tree.*: sequence')" 3 "after three"
printf 'type Tree\n\tone up\n' >tree.shapes
status 0 "so do pointers" trcust -W1 --shapes tree.shapes tree.tsf
rm TRC0009.TFF

man_blocks shapes.5
mv block.1 page.shapes
status 0 "the example of shapes(5) is a shape file" \
	trcust -W1 --shapes page.shapes app.tsf
is "$(shown)" "Text: text
list of texts: sequence" "that has the types"

# wrong TEXT MESSAGE: what a file with the text is refused with
wrong() {
	printf "%b" "$1" >wrong.shapes
	status 1 "refused: $2" trcust --shapes wrong.shapes app.tsf
	like "$(cat err)" "$2" "  with a message"
}
wrong 'text str\n' "^wrong.shapes:1:1: severe: .* missing 'type' before 'text'"
wrong 'type\n' "^wrong.shapes:1:5: severe: .* missing 'the name of a type'"
wrong 'type A\n' "^wrong.shapes:1:6: severe: .* missing 'text, sequence, list"
wrong 'type A\n\ttext a\n' "^wrong.shapes:1:6: severe: .* missing 'length'"
wrong 'type A\n\ttext a\n\tcount b\n' "^wrong.shapes:3:2: .* missing 'length'"
wrong 'type A\n\tone a\n\tlength b\n' "^wrong.shapes:3:2: .* missing 'type'"
wrong 'type A\n\ttime a\n' "^wrong.shapes:1:6: .* missing 'nanoseconds'"
wrong 'type A\n\tdynamic a\n' "^wrong.shapes:1:6: .* missing 'value'"
wrong 'type A\n\tcount a\n\tvalue a\n' "^wrong.shapes:3:2: .* missing 'type'"
wrong 'type A\n\tone a b\n' "^wrong.shapes:2:8: .*missing 'the end of the line'"
wrong 'type A\n\tone (a\n' "^wrong.shapes:2:8: "
wrong 'type A\n\tlist a\n' "^wrong.shapes:1:6: .* missing 'value'"
wrong 'type A\n\tlist a\n\tvalue b\n' "^wrong.shapes:1:6: .* missing 'next'"
wrong 'type A\n\tlist a\n\tvalue b\n\tleft c\n' \
	"^wrong.shapes:4:2: .* missing 'next' before 'left'"
wrong 'type A\n\ttree a\n\tvalue b\n\tleft c\n\tparent d\n' \
	"^wrong.shapes:1:6: .* missing 'right'"
wrong 'type A\n\tone a\n\tentries\n' "^wrong.shapes:3:2: .* missing 'type'"
wrong 'type A\n\teach a\n' "^wrong.shapes:1:6: .* missing 'count'"
wrong 'type A\n\ttuple a,\n' "^wrong.shapes:2:"
wrong 'type A\n\tleaves\n' "^wrong.shapes:2:8: .* missing 'the name of a member'"
wrong 'type A\n\tleaves a\n' "^wrong.shapes:2:10: .* missing 'of'"
wrong 'type A\n\tvariant a\n\tvalue b\n' "^wrong.shapes:1:6: .* missing 'cases'"
wrong 'language cobol\n' "^wrong.shapes:1:10: .* missing 'c, c\+\+, rust or go'"
status 1 "a file that isn't there is an error" \
	trcust --shapes none.shapes app.tsf
like "$(cat err)" "none.shapes" "  that names it"

# fmt FMT MESSAGE
fmt() {
	sed "s/DESC=\"w\"/&,FMT=\"$1\"/" app.tsf >fmt.tsf
	trcust --shapes app.shapes fmt.tsf >out 2>err
	if [ "$2" ]; then
		like "$(cat err)" "$2" "FMT $1 is reported"
	else
		unlike "$(cat err)" "FORMAT|CONTROL" "FMT $1 is fine"
	fi
}
fmt '%P%S %P%{auto} %P%{auto}'
fmt '%P%{Text} %P%{list of items}'
fmt '%P%W' "'%W' prints a string|%W.*what is logged is none"
fmt '%P%{auto} %P%D' 'written|printed with %P%\{auto\}'
fmt 'x=%{auto}' 'it is written %P%\{auto\}'
fmt '%P%{auto} %P%{auto} %P%{auto} %P%{auto}' 'nothing is logged for'
# misfit LINES: of a shape for List
misfit() {
	printf 'type List\n%b' "$1" >misfit.shapes
	status 1 "refused: $1" trcust --shapes misfit.shapes \
		--shapes text.shapes lists.tsf
	like "$(cat err)" "misfit.shapes, line 1" "  with file and line"
}
sed 's/\*t,\*l,\*e/*l/' app.tsf >lists.tsf
sed '/^type L/,$d' app.shapes >text.shapes
misfit '\tlist items\n\tnext nothing\n\tvalue name\n'
misfit '\tlist items\n\tnext &self\n\tvalue nothing\n'
misfit '\tlist nothing\n\tnext &self\n\tvalue name\n'
misfit '\ttree items\n\tleft name\n\tright name\n\tparent no\n\tvalue n\n'
misfit '\ttuple count, nothing\n'
misfit '\ttuple items->n\n'
misfit '\tleaves nothing of nothing\n'
misfit '\teach items[index].nothing\n\tcount count\n'
misfit '\tvariant count\n\tcases items\n\thead a\n\ttail b\n\tvalue c\n'

tap_done
