// SPDX-License-Identifier: GPL-2.0
// Names that others have, too, and one that only this one has.
#include "../print.h"

static int count = 31;
static int only_third = 32;

NI int third(int p)
{
	P(count);
	P(only_third);
	return p + count++ + only_third++;
}
