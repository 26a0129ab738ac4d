// SPDX-License-Identifier: GPL-2.0
#include "damage.h"

#include <stdarg.h>
#include <stdio.h>

void damage_add(struct damage *damage, const char *fmt, ...)
{
	va_list args;

	if (damage->count++ >= DAMAGE_LINES)
		return;
	va_start(args, fmt);
	vsnprintf(damage->lines[damage->count - 1], sizeof(damage->lines[0]),
		  fmt, args);
	va_end(args);
}
