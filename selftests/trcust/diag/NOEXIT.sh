# SPDX-License-Identifier: GPL-2.0
# What never returns, and what was inlined everywhere.
cat >d/exits.c <<'END'
__attribute__((noreturn)) void stop(int a)
{
	for (;;)
		__asm__ volatile("pause" : : "r"(a));
}
static inline __attribute__((always_inline)) int inlined(int a)
{
	return a * 3 + 1;
}
int outer(int a)
{
	return inlined(a) ^ inlined(a + 9);
}
END
cc -g -O2 -fPIC -shared -nostdlib -o d/exits.so d/exits.c
cat <<'END'
MODNAME=d/exits.so
MAJOR=9
TRACE MINOR=1, TP=.^{NOEXIT}stop,RETEP, DESC="gone"
TRACE MINOR=2, TP=.^{NOEXIT}inlined,RETEP, DESC="gone"
TRACE MINOR=3, TP=.^{NOEXIT}inlined,RETEP=CALLER, DESC="gone"
TRACE MINOR=4, TP=.outer,RETEP, DESC="kept"
TRACE MINOR=5, TP=.outer,RETEP=CALLER, DESC="kept: another place"
TRACE MINOR=6, TP=.outer+0, DESC="kept: the entry is no return"
TRACE MINOR=7, TP=.^{DUP_SEGOFF}outer,RETEP=EXIT, DESC="gone: the same exits"
TRACE MINOR=8, TP=.outer,RETEP, OPCODE=^{OPCODEMISMTCH}0xcc, DESC="gone"
END
