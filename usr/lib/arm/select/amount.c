// SPDX-License-Identifier: GPL-2.0
#include "amount.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define SECOND	1000000000ULL

void amount_print_bytes(char text[AMOUNT_TEXT], uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double amount = bytes / 1024.0;
	int unit = 0;

	if (bytes < 1024) {
		snprintf(text, AMOUNT_TEXT, "%" PRIu64 " bytes", bytes);
		return;
	}
	while (amount >= 1024 && units[unit + 1]) {
		amount /= 1024;
		unit++;
	}
	/* whole ones as such: sizes are powers of two */
	snprintf(text, AMOUNT_TEXT, "%.*f %ciB",
		 amount == (uint64_t)amount || amount >= 100 ? 0 : 1, amount,
		 units[unit]);
}

/* "0.4 s", "12 min", "3 h", "5 days"; of nanoseconds */
static void span_print(char text[AMOUNT_TEXT], uint64_t ns)
{
	uint64_t s = ns / SECOND;

	if (s < 100)
		snprintf(text, AMOUNT_TEXT, "%.*f s", s < 10,
			 (double)ns / SECOND);
	else if (s < 100 * 60)
		snprintf(text, AMOUNT_TEXT, "%" PRIu64 " min", s / 60);
	else if (s < 48 * 3600)
		snprintf(text, AMOUNT_TEXT, "%" PRIu64 " h", s / 3600);
	else
		snprintf(text, AMOUNT_TEXT, "%" PRIu64 " days", s / 86400);
}

void amount_print_moment(char text[AMOUNT_MOMENT], uint64_t time, uint64_t now,
			 int64_t wall_offset)
{
	uint64_t wall = time + wall_offset;
	time_t seconds = wall / SECOND;
	char date[AMOUNT_TEXT], span[AMOUNT_TEXT];
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	span_print(span, now > time ? now - time : 0);
	snprintf(text, AMOUNT_MOMENT, "%s.%03u (%s ago)", date,
		 (unsigned int)(wall % SECOND / 1000000), span);
}
