/* SPDX-License-Identifier: GPL-2.0 */
/* The pass that finds the sites of a tracepoint. */
#ifndef TRCUST_SITE_H
#define TRCUST_SITE_H

#include "site_place.h"

/* The addresses of all good tracepoints so far: no other tracepoint can have
 * the same. */
struct site_taken {
	void *tree;
};

/* Fills out->sites; 0, 1, -1 as in compile.h. */
int site_resolve(struct compilation *c, const struct site_taken *taken,
		 const struct tsf_point *point, struct compile_point *out);
/* 0; -1: no memory. */
int site_remember(const struct compilation *c, struct site_taken *taken,
		  const struct compile_point *point);
void site_forget(struct site_taken *taken);

#endif
