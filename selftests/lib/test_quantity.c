// SPDX-License-Identifier: GPL-2.0
/* Numbers with units are what they say, and nothing else is one. */
#include "tap.h"
#include "lib/number.h"

#define SECOND	1000000000ULL

static bool number_rate(const char *text, uint64_t *number)
{
	return quantity_number_unit(text, "/s", number);
}

static const struct {
	const char *text;
	bool (*read)(const char *text, uint64_t *number);
	bool good;
	uint64_t number;
} rows[] = {
	{ "0", quantity_number, true, 0 },
	{ "18446744073709551615", quantity_number, true, UINT64_MAX },
	{ "18446744073709551616", quantity_number },
	{ "1K", quantity_number },
	{ "", quantity_number },
	{ "-1", quantity_number },
	{ "+1", quantity_number },
	{ " 1", quantity_number },
	{ "12", number_rate, true, 12 },
	{ "12/s", number_rate, true, 12 },
	{ "12/", number_rate },
	{ "12/sec", number_rate },
	{ "/s", number_rate },
	{ "18446744073709551616/s", number_rate },
	{ "100", quantity_bytes, true, 100 },
	{ "64K", quantity_bytes, true, 64 << 10 },
	{ "64k", quantity_bytes, true, 64 << 10 },
	{ "16M", quantity_bytes, true, 16 << 20 },
	{ "3G", quantity_bytes, true, 3ULL << 30 },
	{ "17179869183G", quantity_bytes, true, UINT64_MAX << 30 },
	{ "17179869184G", quantity_bytes },
	{ "1T", quantity_bytes },
	{ "1KB", quantity_bytes },
	{ "1 K", quantity_bytes },
	{ "K", quantity_bytes },
	{ "0x10", quantity_bytes },
	{ "90", quantity_time, true, 90 * SECOND },
	{ "90s", quantity_time, true, 90 * SECOND },
	{ "5m", quantity_time, true, 300 * SECOND },
	{ "2H", quantity_time, true, 7200 * SECOND },
	{ "0", quantity_time },
	{ "1d", quantity_time },
	{ "18446744074", quantity_time },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t number = 0;
		bool good = rows[i].read(rows[i].text, &number);

		tap_ok(good == rows[i].good &&
		       (!good || number == rows[i].number),
		       "'%s': %d, %llu", rows[i].text, good,
		       (unsigned long long)number);
	}
	return tap_done();
}
