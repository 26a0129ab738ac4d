// SPDX-License-Identifier: GPL-2.0
#include "opaque.h"

struct inner {
	long value;
};

struct opaque {
	int before;
	struct inner inner;
	struct inner row[2];
};

static struct opaque only = { 3, { 0x1122334455667788 }, { { 5 }, { 6 } } };
int hidden = 43;

struct opaque *opaque_make(void)
{
	return &only;
}
