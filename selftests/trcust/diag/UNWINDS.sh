# SPDX-License-Identifier: GPL-2.0
# An exception that comes to a return probe ends the program. It can't leave
# functions that call nothing. A module without exceptions gets no report.
cat >d/unwinds.c <<'END'
void _Unwind_Resume(void *);
void other(void);
void resume(void *p)
{
	_Unwind_Resume(p);
}
void opens(void)
{
	other();
	other();
}
int closed(int n)
{
	return n * 2;
}
END
sed 's/_Unwind_Resume/another/' d/unwinds.c >d/calm.c
cc -O2 -fPIC -shared -nostdlib -o d/unwinds.so d/unwinds.c
cc -O2 -fPIC -shared -nostdlib -o d/calm.so d/calm.c
cat >run <<'END'
sed 's/unwinds/calm/' input.tsf >calm.tsf
trcust --site=exact calm.tsf 2>&1 | grep UNWINDS >&2
trcust input.tsf
END
cat <<'END'
MODNAME=d/unwinds.so
MAJOR=9
TRACE MINOR=1, TP=.^{UNWINDS}opens,RETEP=CALLER, DESC="kept"
TRACE MINOR=2, TP=.closed,RETEP=CALLER, DESC="kept: it calls nothing"
TRACE MINOR=3, TP=.opens,RETEP, DESC="kept: at its exits"
END
