// SPDX-License-Identifier: GPL-2.0
/* otel_threads without a library, a static program. */
#define OTEL_OWN
#include "otel_threads.c"
