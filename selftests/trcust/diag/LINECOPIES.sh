# SPDX-License-Identifier: GPL-2.0
# gcc marks each copy of a statement. Of two where no code is left between one
# is seen.
cat >d/copies.c <<'END'
int first(int a)
{
	__asm__("nop");
	__asm__("nop");
	__asm__("nop");
	return a;
}
END
cc -g -O2 -S -o d/copies.s d/copies.c
sed 's/ view .*//; s/clang version/GNU C/' d/copies.s | awk '
	$1 == ".loc" && $3 == 3 { $0 = $0 "\n.loc 1 3 7 is_stmt 0\nje 9f" }
	$1 == ".loc" && $3 == 4 { print ".loc 1 3 2 is_stmt 1\n9:nop" }
	$1 == ".loc" && $3 == 5 {
		$0 = ".loc 1 5 2 is_stmt 1\n.loc 1 5 2 is_stmt 1"
	}
	{ print }' >d/marked.s
cc -fPIC -shared -nostdlib -o d/marked.so d/marked.s
cat <<'END'
MODNAME=d/marked.so
MAJOR=9
TRACE MINOR=1, TP=@copies.c,3, DESC="kept: two copies"
TRACE MINOR=2, TP=@copies.c,4, DESC="kept"
TRACE MINOR=3, TP=@^{LINECOPIES}copies.c,5, DESC="kept"
END
