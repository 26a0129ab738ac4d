/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_SITE_EXIT_H
#define TRCUST_SITE_EXIT_H

#include "site_place.h"

/* The places of TP=.name,RETEP; 0, 1, -1 as in compile.h. */
int site_exit_places(struct site_search *s);

#endif
