#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The C types in a TFF: those that the formats name, with what they consist of,
# and those of other modules' sections are kept.
. "$(dirname "$0")/../tap.sh"
need cc
cd "$TMP" || exit 1

cat >a.c <<'END'
enum color { RED, GREEN = 7, NONE = -1 };
struct point { int x; unsigned low : 3; signed high : 5; };
struct line { struct point ends[2]; enum color color; struct line *next; };
struct unused { long x; };
struct line line;
struct point *point;
struct unused unused;
enum color color;
int work(int n) { return n + line.color + color; }
END
cat >b.c <<'END'
struct other { short s; float f; };
struct other other;
int work(int n) { return n + other.s; }
END
for name in a b; do
	cc -O0 -g -shared -fPIC -nostdlib -o $name.so $name.c ||
		bail "$name.c does not compile"
done
cat >a.tsf <<'END'
MODNAME=./a.so
MAJOR=0x33
TRACE MINOR=1, TP=.work,
      MEM64=(.line,DIRECT,32), REGS=(RAX)
TRACE MINOR=2, TP=.work+0, DESC="by name",
      FMT="%P%{struct point}",
      MEM64=(.point,INDIRECT,8)
TRACE MINOR=3, TP=.work+1, DESC="in hexadecimal",
      FMT="%P%{hex}",
      MEM64=(.unused,DIRECT,8)
END
cat >b.tsf <<'END'
MODNAME=./b.so
MAJOR=0x33
TRACE MINOR=9, TP=.work, MEM64=(.other,DIRECT,8)
END

# dumped MODULE: its section of the TFF, without name and hash lines
dumped() {
	trcust --dump TRC0033.TFF |
		awk -v name="\"./$1.so\"" '/^section/ { on = index($0, name) }
			on && !/^section/' | sed 's/ hash [0-9a-f]*//'
}

ok "a TSF is compiled" trcust a.tsf
dumped a >a.types
is "$(cat a.types)" '  ctype 0: name "int" kind int bytes 4 signed
  ctype 1: name "unsigned int" kind uint bytes 4
  ctype 2: name "struct point" kind struct bytes 8
    member "x" ctype 0 bit 0 bits 0
    member "low" ctype 1 bit 32 bits 3
    member "high" ctype 0 bit 35 bits 5
  ctype 3: name "struct point[2]" kind array bytes 16 count 2 of 2
  ctype 4: name "enum color" kind enum bytes 4 signed
    member "RED" value 0
    member "GREEN" value 7
    member "NONE" value -1
  ctype 5: name "struct line *" kind pointer bytes 8
  ctype 6: name "struct line" kind struct bytes 32
    member "ends" ctype 3 bit 0 bits 0
    member "color" ctype 4 bit 128 bits 0
    member "next" ctype 5 bit 192 bits 0
  entry 1 (0x0001): type 0x0000 group 0 desc "work" fmt ".line = %P%{struct line}\nRAX=%{x64}\n"
  entry 2 (0x0002): type 0x0000 group 0 desc "by name" fmt "%P%{struct point}\n"
  entry 3 (0x0003): type 0x0000 group 0 desc "in hexadecimal" fmt "%P%{hex}\n"' \
	"its types"

ok "another module of the major" trcust b.tsf
is "$(dumped a)" "$(cat a.types)" "the types of the first are kept"
like "$(dumped b)" 'ctype 2: name "struct other" kind struct bytes 8$' \
	"beside its own, counted from 0"
cp TRC0033.TFF before
unlike "$(strings before)" unused "no name of an unused type is in it"
ok "the first module again" trcust a.tsf
is "$(dumped a)" "$(cat a.types)" "makes the same"
ok "without a change to the file" cmp before TRC0033.TFF
tap_done
