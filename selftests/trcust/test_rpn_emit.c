// SPDX-License-Identifier: GPL-2.0
/* What is appended to an expression comes to what was meant. */
#include "place_read.h"
#include "tap.h"
#include "lib/formats/rpn.h"

static void check(struct bytes *rpn, uint64_t expected, size_t most,
		  const char *name)
{
	struct interpreter in = {0};
	uint64_t value = 0;
	char text[256] = "";
	bool good = place_compute(&in, rpn, &value, text, sizeof(text));

	if (!tap_ok(good && value == expected && rpn->size <= most, "%s", name))
		tap_diag("%#" PRIx64 " instead of %#" PRIx64 " in %zu bytes %s",
			 value, expected, rpn->size, text);
	bytes_free(rpn);
}

static void check_constants(void)
{
	static const struct {
		int64_t value;
		size_t bytes;
	} rows[] = {
		{ 0, 1 }, { 31, 1 }, { 32, 2 }, { 127, 2 }, { 128, 3 },
		{ 65535, 4 }, { -1, 2 }, { -64, 2 }, { -65, 3 },
		{ UINT32_MAX, 6 }, { (1LL << 56) - 1, 9 }, { 1LL << 56, 9 },
		{ INT64_MAX, 9 }, { -(1LL << 55), 9 }, { INT64_MIN, 9 },
	};
	struct bytes rpn = {0};
	char name[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(name, sizeof(name), "constant %" PRId64,
			 rows[i].value);
		rpn_emit_const(&rpn, rows[i].value);
		check(&rpn, rows[i].value, rows[i].bytes, name);
	}
}

static void check_extensions(void)
{
	uint64_t pattern = 0xf1f2f3f4f5f6f7f8;
	struct bytes rpn = {0};
	char name[64];

	for (int bytes = 1; bytes <= 8; bytes++) {
		int bits = 64 - 8 * bytes;

		for (int is_signed = 0; is_signed < 2; is_signed++) {
			snprintf(name, sizeof(name), "%d bytes, %ssigned",
				 bytes, is_signed ? "" : "un");
			rpn_emit_const(&rpn, pattern);
			rpn_emit_extend(&rpn, bytes, is_signed);
			check(&rpn, is_signed ?
			      (uint64_t)((int64_t)(pattern << bits) >> bits) :
			      pattern << bits >> bits, 20, name);
		}
	}
}

static void check_sums(void)
{
	struct bytes rpn = {0};

	rpn_emit_const(&rpn, 5);
	rpn_emit_add(&rpn, -7, true);
	check(&rpn, -2, 8, "5 - 7");
	rpn_emit_const(&rpn, 5);
	rpn_emit_add(&rpn, -7, false);
	check(&rpn, UINT32_MAX - 1, 16, "5 - 7 of 32 bits");
	rpn_emit_const(&rpn, 1);
	rpn_emit_add(&rpn, INT64_MIN, true);
	check(&rpn, (1ULL << 63) + 1, 20, "the least number");
	rpn_emit_const(&rpn, 1);
	rpn_emit_add(&rpn, 0, false);
	check(&rpn, 1, 1, "nothing added");
}

int main(void)
{
	check_constants();
	check_extensions();
	check_sums();
	return tap_done();
}
