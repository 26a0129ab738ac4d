#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Code that the loader changes (DT_TEXTREL): the kernel runs a copy of what the
# file has under a uprobe, so none is on such an instruction, and none is
# moved, because numbers in the code aren't those that will run.
. "$(dirname "$0")/../tap.sh"
need cc readelf objdump
cd "$TMP" || exit 1
cat >code.c <<'C'
int counter;

__attribute__((noinline)) int count(int n)
{
	counter = n;
	return n + counter;
}

int main(int argc, char **argv)
{
	return count(argc) > 100;
}
C
if ! cc -m32 -fno-pic -pie -O2 -fno-omit-frame-pointer -o code code.c 2>log ||
   ! readelf -d code | grep -q TEXTREL; then
	skip "text relocations" "the compiler can't do it"
	tap_done
fi

# points LINE...
points() {
	printf 'MODNAME=%s\nMAJOR=1\n' "$PWD/code"
	printf 'TRACE %s\n' "$@"
}
objdump -d code | sed -n '/<count>:$/,/^$/p' >listing
first=$(sed -n 's/^0*\([0-9a-f]*\) <.*/\1/p' listing)
changed=$(sed -n 's/^ *\([0-9a-f]*\):.*mov *%eax,0x.*/\1/p' listing)
at=$(printf '%#x' $((0x$changed - 0x$first)))
points "TP=.count+$at, REGS=(EAX)" >one.tsf
status 1 "an instruction that is changed" trcust one.tsf
like "$(cat err)" "at count\+$at is changed by the loader" "is refused"
points "TP=.count+1, REGS=(EAX)" "TP=.count,RETEP, REGS=(EAX)" >two.tsf
status 0 "others" trcust --site=fast --explain two.tsf
is "$(grep -c 'because *the loader changes the code' out)" 2 "stay"
like "$(cat out)" "no return probe: the loader changes the code" \
	"and no return probe is taken"
tap_done
