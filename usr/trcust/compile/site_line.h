/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_SITE_LINE_H
#define TRCUST_SITE_LINE_H

#include "site_place.h"

/* The places of TP=@file,line; 0, 1, -1 as in compile.h. */
int site_line_places(struct site_search *s);

#endif
