# SPDX-License-Identifier: GPL-2.0
# The next line with code is taken, in either case of the file's name.
cat >d/lines.c <<'END'
int first(int a)
{
	return a + 1;
}

int second(int a)
{
	return a + 2;
}
END
cc -g -O0 -fPIC -shared -nostdlib -o d/lines.so d/lines.c
cat <<'END'
MODNAME=d/lines.so
MAJOR=9
TRACE MINOR=1, TP=@^{NEXTLINENUM}lines.c,5, DESC="kept: line 6, where a function begins"
TRACE MINOR=2, TP=@LINES.C,3, DESC="kept"
TRACE MINOR=3, TP=@^{DUP_SEGOFF}lines.c,3, DESC="gone: it has been taken"
TRACE MINOR=4, TP=@lines.c,8, OPCODE=^{OPCODEMISMTCH}0xcc, DESC="gone: another opcode is there"
TRACE MINOR=5, TP=.second+0, DESC="kept: that is in front of line 6"
END
