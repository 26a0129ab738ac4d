// SPDX-License-Identifier: GPL-2.0
#include "scope.h"

char other[13], elsewhere[17];
static char only_here[15], same[16];
enum more { FOUR = 4 };

NEVER_INLINE void second(void)
{
	enum more more = FOUR;

	USE(only_here);
	USE(same);
	USE(more);
	MARK(in_second);
}
