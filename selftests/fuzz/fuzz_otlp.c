// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as what an OTLP server answers. The first byte chooses the message.
 */
#include <stdlib.h>
#include <string.h>
#include "tracefmt/otlp/otlp_response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct otlp_response response;
	size_t n;

	if (!size)
		return 0;
	if (data[0] & 1)
		otlp_response_read(&response, data + 1, size - 1);
	else
		otlp_status_read(&response, data + 1, size - 1);
	n = strnlen(response.reason, OTLP_REASON_MAX);
	if (response.rejected < 0 || n == OTLP_REASON_MAX)
		abort();
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)response.reason[i] < 0x20)
			abort();
	return 0;
}
