// SPDX-License-Identifier: GPL-2.0
#include "cost.h"

#include <stdio.h>
#include <rastrace/tdf.h>

#define RETURN_NS	100	/* of the return, above the entry's */

static const unsigned int costs[] = {
	[TDF_COST_NOP5] = 100,
	[TDF_COST_EMULATED] = 200,
	[TDF_COST_STEPPED] = 2500,
};

unsigned int cost_expect(uint8_t cost, uint8_t flags)
{
	if (cost >= sizeof(costs) / sizeof(costs[0]))
		return 0;
	return costs[cost] + (flags & TDF_SITE_RETURN ? RETURN_NS : 0);
}

bool cost_print(char *text, uint8_t cost, uint8_t flags)
{
	unsigned int ns = cost_expect(cost, flags);

	text[0] = '\0';
	if (ns >= 1000)
		snprintf(text, COST_TEXT, "some %.1f us", ns / 1000.0);
	else if (ns)
		snprintf(text, COST_TEXT, "some %u ns", ns);
	return ns;
}
