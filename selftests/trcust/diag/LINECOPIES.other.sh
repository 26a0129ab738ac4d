# SPDX-License-Identifier: GPL-2.0
# What other compilers than gcc have no marks for: a line that goes on where
# something else leads to, copies, and code that a jump leads into.
cat >d/copies.c <<'END'
int first(int a)
{
	__asm__("nop");
	__asm__("nop");
	__asm__("nop");
	__asm__("nop");
	__asm__("nop");
	return a;
}
END
cc -g -O2 -S -o d/copies.s d/copies.c
sed 's/ view .*//; s/"GNU C/"other C/' d/copies.s | awk '
	$1 == ".loc" && $3 == 3 { $0 = $0 "\n.loc 1 3 7 is_stmt 0\nje 9f" }
	$1 == ".loc" && $3 == 4 { $0 = $0 "\nje 8f" }
	$1 == ".loc" && $3 == 5 {
		print ".loc 1 3 7 is_stmt 1\n9:nop\n.loc 1 4 2 is_stmt 1\n8:nop"
	}
	$1 == ".loc" && $3 == 6 { $0 = $0 "\nnop\nje 7f\n7:nop" }
	{ print }' >d/other.s
cc -fPIC -shared -nostdlib -o d/other.so d/other.s
cat <<'END'
MODNAME=d/other.so
MAJOR=9
TRACE MINOR=1, TP=@^{LINECOPIES}copies.c,3, DESC="kept: it goes on"
TRACE MINOR=2, TP=@^{LINECOPIES}copies.c,4, DESC="kept: copies"
TRACE MINOR=3, TP=@copies.c,5, DESC="kept"
TRACE MINOR=4, TP=@^{LINECOPIES}copies.c,6, DESC="kept: jumped into"
TRACE MINOR=5, TP=@copies.c,7, DESC="kept"
END
