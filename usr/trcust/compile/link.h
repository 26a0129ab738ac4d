/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_LINK_H
#define TRCUST_LINK_H

#include "compile.h"

/*
 * Where calls leave the address to return to in a register, a frame pointer that
 * leads into the frame, or that register, tells the first address of STACK
 * (bpf/stack.c). False: neither of them has to be right at the site, because
 * the function keeps the address elsewhere and has no frame record.
 */
bool link_is_known(struct compilation *c, const struct compile_site *site);

#endif
