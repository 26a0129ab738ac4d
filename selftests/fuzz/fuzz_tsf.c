// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a TSF: parsed or refused, dumped, freed; and as a source that
 * may have trace comments. */
#include <stdio.h>
#include <stdlib.h>
#include "trcust/from_source.h"
#include "trcust/tsf/parse_point.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source_comments found = { 0 };
	struct diag *diag;
	struct tsf *tsf;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return 0;
	if (!diag_open_text(&diag, "fuzz.tsf", (const char *)data, size, 2,
			    out)) {
		if (!tsf_parse(&tsf, diag, NULL, NULL))
			tsf_dump(tsf, out);
		tsf_free(tsf);
		source_scan(diag, &found);
		free(found.comments);
		diag_close(diag);
	}
	fclose(out);
	free(text);
	return 0;
}
