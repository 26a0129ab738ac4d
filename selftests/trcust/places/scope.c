// SPDX-License-Identifier: GPL-2.0
#include "scope.h"

static char stat[11];
char glob[12];
extern char other[13];
static char same[14];
enum number { ONE = 1, TWO = 2 };

static ALWAYS_INLINE void inlined(void)
{
	char x[23];
	static char in_static[24];

	USE(x);
	USE(in_static);
	MARK(in_inlined);
}

NEVER_INLINE void nested(char *parameter)
{
	char x[21];
	static char stat_of_nested[27];

	USE(x);
	USE(parameter);
	USE(stat_of_nested);
	{
		char x[22], glob[28];

		USE(x);
		USE(glob);
		MARK(in_block);
	}
	MARK(after_block);
	USE(x);
}

NEVER_INLINE void calls_inlined(void)
{
	char x[25], outer[26];

	USE(x);
	USE(outer);
	inlined();
	MARK(after_inlined);
	USE(x);
	USE(outer);
}

NEVER_INLINE void unions(int seed)
{
	enum { THREE = 3 } local = THREE;
	extern char elsewhere[17];

	USE(local);
	USE(elsewhere);
	USE(seed);
	MARK(in_unions);
}

void second(void);

int main(void)
{
	USE(stat);
	USE(glob);
	USE(other);
	USE(same);
	nested(0);
	calls_inlined();
	unions(TWO);
	second();
	return ONE - 1;
}
