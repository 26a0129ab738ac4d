#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trcust --list: functions where nm has them, variables in scope at a place, of which
# VARS takes those that are there and no others, USDT points, keywords; of C, C++,
# Rust and Go, of stripped modules, with debug files; as JSON, too; what is refused.
. "$(dirname "$0")/../tap.sh"
need cc nm python3
LC_ALL=C
export LC_ALL
cd "$TMP" || exit 1

cp "$TOP/selftests/trcust/lsp/app.c" .
cat >member.py <<'END'
import json, sys
data = json.load(open(sys.argv[1]))
print(eval(sys.argv[2], {"d": data}))
END

# list WHAT OPTION...: into list.out and list.err
list() {
	what=$1
	shift
	trcust --list="$what" "$@" >list.out 2>list.err
}

# shows WHAT MODULE REGEX NAME: a line of the list matches
shows() {
	list "$1" "$2"
	like "$(tr -s ' ' <list.out)" "$3" "$4" || diag_file list.err
}

# judge PLACE MODULE NAME: what the list has is what VARS takes
judge() {
	list "variables:$1" --json "$2"
	python3 - "$1" "$2" <<'END' >judged 2>&1
import json, subprocess, sys
place, module = sys.argv[1:3]
sites = json.load(open("list.out"))["sites"]
assert len(sites) == 1, "%d sites" % len(sites)
seen = 0
for v in sites[0]["variables"]:
    tsf = "MODNAME=%s TRACE TP=%s, VARS=(%s)\n" % (module, place, v["name"])
    open("judge.tsf", "w").write(tsf)
    run = subprocess.run(["trcust", "--explain", "-W1", "judge.tsf"],
                         capture_output=True, text=True)
    there = run.returncode == 0 and "not available" not in run.stdout
    if there != ("where" in v):
        print(v, run.stdout, run.stderr)
    elif there and v["kind"] != "result" and \
         v["where"].split(" at ")[0] not in run.stdout and \
         not v["type"].endswith("*") and v["where"] != "constant":
        print("elsewhere:", v, run.stdout)
    seen += 1
if not seen:
    print("nothing was listed")
END
	is "$(cat judged)" "" "$3"
}

for options in "-O2" "-O0"; do
	cc $options -g -o app app.c || bail "no program"
	list functions app
	is "$(awk '$3 == "greet" || $3 == "main" { print $1, $3 }' list.out | sort -k2)" \
		"$(nm app | awk '$3 == "greet" || $3 == "main" {
			sub(/^0*/, "0x", $1); print $1, $3 }' | sort -k2)" \
		"$options: functions are where nm has them"
	like "$(tr -s ' ' <list.out)" \
		'^0x[0-9a-f]+ [0-9]+ greet app\.c:1[78] int \(char \*who, int v\)$' \
		"$options: with source and type"
	like "$(tr -s ' ' <list.out)" '^inlined x1 twice app\.c:9 int \(int x\)$' \
		"$options: and those that are only inlined"
	list functions --include 'gr*' --include main --exclude m? --exclude main app
	is "$(awk '{ print $3 }' list.out)" greet "$options: patterns choose"

	shows variables:greet app '^ parameter who char \* ' \
		"$options: a parameter and its type"
	like "$(tr -s ' ' <list.out)" '^ global counter int global at 0x[0-9a-f]+$' \
		"$options: a global variable"
	like "$(head -1 list.out)" '^greet\+.* at 0x[0-9a-f]+, app\.c:1?[0-9]' \
		"$options: the site"
	judge greet app "$options: what is listed at an entry is what VARS takes"
	judge greet,RETEP=EXIT app "$options: at an exit"
	like "$(cat list.out)" '"name": "\$result"' "$options: and the result"
	judge @app.c,22 app "$options: at a line"
	shows variables:@app.c:22 app '^ local n int [^-]' \
		"$options: a line as other tools write it"
	shows variables:greet+0 app '^greet\+0 at' "$options: at an offset"
	shows variables:twice app 'in twice\(\), inlined$' \
		"$options: in an inlined function"
	like "$(tr -s ' ' <list.out)" '^ parameter x int ' \
		"$options: its parameter"
	like "$(tr -s ' ' <list.out)" '^ parameter who char \* ' \
		"$options: and those around it"
done

status 0 "JSON of functions" trcust --list=functions --json app
is "$(python3 member.py out '[f["type"] for f in d["functions"] if f["name"] == "greet"][0]')" \
	"int (char *who, int v)" "has their types"
is "$(python3 member.py out 'sorted([f for f in d["functions"] if f["name"] == "greet"][0])')" \
	"['address', 'bytes', 'file', 'line', 'linkage', 'name', 'scope', 'tp', 'type']" \
	"and these members"

# stripped, and with a debug file
cc -O2 -g -o app app.c
cp app whole
strip -o bare app
list functions bare
is "$?" 0 "of a stripped module the addresses are listed"
like "$(tr -s ' ' <list.out)" "^$(nm app | awk '$3 == "greet" {
	sub(/^0*/, "0x", $1); print $1 }') [0-9]+ @ADDR,0x" "as TP takes them"
like "$(cat list.err)" "'bare' is stripped" "what is missing is reported"
like "$(cat list.err)" '--debug FILE names' "and what helps"
shows "variables:@ADDR,$(nm app | awk '$3 == "greet" { print "0x" $1 }')" bare \
	'^ register \$rdi ' "registers of arguments"
list functions --debug whole bare
like "$(tr -s ' ' <list.out)" ' greet app\.c:1[78] int \(' \
	"a debug file has the names"
list variables:greet --debug whole bare
like "$(tr -s ' ' <list.out)" '^ parameter v int register rsi$' "and the variables"
cc -O2 -o nodebug app.c
list variables:greet nodebug
like "$(cat list.err)" 'no debug information: types' \
	"without debug information this is reported"

# USDT points
cat >usdt.S <<'END'
.text
.globl work
.type work,@function
work:
990:	nop
	ret
.size work, . - work
.section .note.GNU-stack,"",@progbits
.pushsection .note.stapsdt,"","note"
.balign 4
.4byte 8, 2f - 1f, 3
.asciz "stapsdt"
1: .8byte 990b, 0, 0
.asciz "shop"
.asciz "sold"
.asciz "8@$5 -4@$7"
2: .balign 4
.popsection
END
if cc -shared -nostdlib -o usdt.so usdt.S 2>/dev/null; then
	shows usdt usdt.so '^0x[0-9a-f]+ @USDT,shop,sold 8@\$5 -4@\$7$' "a USDT point"
	list usdt --json usdt.so
	is "$(python3 member.py list.out '[(u["provider"], u["name"], u["tp"], len(u["sites"])) for u in d["usdt"]]')" \
		"[('shop', 'sold', '@USDT,shop,sold', 1)]" "as JSON"
	shows variables:@USDT,shop,sold usdt.so '^ argument \$arg2 int constant$' \
		"its arguments"
else
	skip "USDT points" "no assembler for them"
fi
list usdt app
is "$?:$(cat list.out)" "0:" "no USDT points: an empty list"
like "$(cat list.err)" 'has no USDT points' "with a note"

# other languages
if command -v g++ >/dev/null; then
	cat >cc.cc <<'END'
#include <string>
namespace shop {
struct Store {
	int count = 0;
	static int opened;
	int add(const std::string &name, int n);
	int add(const char *name);
};
int Store::opened;
int Store::add(const std::string &name, int n) { count += n; return name.size() + n; }
int Store::add(const char *name) { opened++; return add(std::string(name), 1); }
}
int main(int argc, char **argv)
{
	shop::Store s;
	return s.add(argv[0]) + s.add(std::string(argv[0]), argc) == 3;
}
END
	g++ -O1 -g -o cxx cc.cc || bail "no C++ program"
	list functions --include 'shop::*' cxx
	like "$(tr -s ' ' <list.out)" \
		'shop::Store::add\(std::string const&, int\) cc\.cc:10 int \(shop::Store \*this, std::string &name, int n\)' \
		"C++: overloads with their parameters"
	shows 'variables:shop::Store::add(char const*)' cxx \
		'^ parameter this shop::Store \* register rdi$' "C++: this"
	like "$(tr -s ' ' <list.out)" '^ global shop::Store::opened int ' \
		"C++: a static member"
	judge 'shop::Store::add(std::string const&, int)' cxx "C++: as VARS takes it"
else
	skip "C++" "no g++"
fi
if command -v rustc >/dev/null; then
	cat >r.rs <<'END'
struct Cart { total: u64 }
impl Cart {
    #[inline(never)]
    fn add(&mut self, name: &str, price: u64) -> u64 {
        self.total += price;
        println!("{}", name);
        self.total
    }
}
fn main() {
    let mut c = Cart { total: 0 };
    for a in std::env::args() { println!("{}", c.add(&a, a.len() as u64)); }
}
END
	if rustc -g -O r.rs -o rs 2>rustc.err; then
		shows 'variables:Cart::add' rs '^ parameter price u64 register ' \
			"Rust: a parameter"
		list functions --include '*Cart*' rs
		like "$(tr -s ' ' <list.out)" ' r::Cart::add r\.rs:[45] u64 \(' \
			"Rust: a method"
	else
		skip "Rust" "rustc does not run"
	fi
else
	skip "Rust" "no rustc"
fi
if command -v go >/dev/null; then
	cat >g.go <<'END'
package main
type Cart struct{ Total int }
//go:noinline
func (c *Cart) Add(name string, price int) (int, error) {
	c.Total += price + len(name)
	return c.Total, nil
}
func main() { c := &Cart{}; n, _ := c.Add("x", 1); println(n) }
END
	if HOME=$TMP GOFLAGS=-mod=mod GO111MODULE=off go build -o gob g.go 2>go.err; then
		shows 'variables:main.(*Cart).Add' gob \
			'^ parameter price int register ' "Go: a parameter"
		shows 'variables:main.(*Cart).Add,RETEP' gob \
			'^ result \$result2 ' "Go: two results"
		list functions --include 'main.*' gob
		like "$(tr -s ' ' <list.out)" \
			' main\.\(\*Cart\)\.Add g\.go:4 func \(.*Cart \*?c' \
			"Go: a method"
	else
		skip "Go" "go does not build"
	fi
else
	skip "Go" "no go"
fi

# keywords: the parser's
cat >word.tsf <<'END'
MODNAME=./app
TRACE TP=greet, NOSUCH=1
END
trcust word.tsf 2>&1 | sed -n 's/.*| there are: //p' | tr -d ' ' | tr ',' '\n' |
	sort >parser
ok "the parser lists its clauses" test -s parser
list keywords
is "$(awk '$2 == "TRACE" { print $1 }' list.out | sort)" "$(cat parser)" \
	"--list=keywords has the parser's clauses"
awk '$2 == "header" && $1 != "TRACE" && $1 != "MODNAME" { print $1 }' list.out |
while read -r word; do
	printf '%s\nMODNAME=x TRACE TP=y\n' "$word" >word.tsf
	trcust word.tsf 2>&1 | grep -q "'MODNAME' expected" && echo "$word"
done >unknown
is "$(cat unknown)" "" "and words of the header that it knows"
status 0 "keywords as JSON" trcust --list=keywords --json
is "$(python3 member.py out '[k["clause"] for k in d["keywords"] if k["word"] == "EXIT"]')" \
	"['RETEP']" "with the clause that they belong to"

# what is refused
status 2 "another list" trcust --list=words app
like "$(cat err)" 'functions, variables:PLACE, usdt or keywords' "names those there are"
status 2 "no place" trcust --list=variables: app
status 2 "no module" trcust --list=functions
status 2 "--json without --list" trcust --json app.tsf
like "$(cat err)" '--json is an option of --list' "with the reason"
status 2 "keywords of a module" trcust --list=keywords app
status 1 "a module that is not there" trcust --list=functions none
status 1 "a symbol that is not there" trcust --list=variables:grete app
like "$(cat err)" 'near names: greet' "with near names"
is "$(cat out)" "" "and no output"
status 1 "more than a place" trcust '--list=variables:greet,VARS=(who)' app
status 1 "two places" trcust '--list=variables:greet TRACE TP=main' app
status 1 "no place at all" trcust '--list=variables:@STATIC' app
status 1 "no function matches" trcust --list=functions --include 'x*' app
like "$(cat err)" "matches --include 'x\*'" "and it is reported"
head -c 3000 app >short
DAMAGED=1 status 1 "a damaged module" trcust --list=functions short
tap_done
