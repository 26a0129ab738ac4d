// SPDX-License-Identifier: GPL-2.0
#include "place_print.h"

#include "bpf/code/code_print.h"

void place_print(const struct placed *placed, FILE *out)
{
	size_t function = 0;
	int stmt = INT32_MIN;
	char text[128];

	for (size_t i = 0; i < placed->count; i++) {
		const struct code_op *op = &placed->ops[i];

		if (function < placed->function_count &&
		    placed->functions[function].first == i) {
			fprintf(out, "function %zu, frame %u:\n", function,
				placed->functions[function].frame);
			function++;
		}
		if (op->stmt != stmt)
			fprintf(out, "\t; %d\n", stmt = op->stmt);
		code_op_print(op, true, text, sizeof(text));
		fprintf(out, "%6zu\t%s\n", i, text);
	}
}
