/* SPDX-License-Identifier: GPL-2.0 */
/* The text output with --prefix or --fields. */
#ifndef TRACEFMT_PREFIXED_H
#define TRACEFMT_PREFIXED_H

#include "output.h"

extern const struct output_ops output_prefixed;

#endif
