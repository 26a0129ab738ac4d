/* SPDX-License-Identifier: GPL-2.0 */
/* What both units of C++ see. */
#ifndef NAMES_H
#define NAMES_H

#include "print.h"

extern int shared;
namespace space { extern int declared; }

struct counted {
	static int number;
	enum { LIMIT = 61 };
};

int other(int p);

#endif
