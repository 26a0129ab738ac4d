/* SPDX-License-Identifier: GPL-2.0 */
/* The running kernel, or one of its modules, as the module of a TDF. */
#ifndef TRACE_KERNEL_H
#define TRACE_KERNEL_H

#include <stdint.h>
#include "../lib/tdf.h"

/*
 * Is the running kernel the one that the TDF was made for? *bias becomes its
 * run-time address less the linked one (0 when no site's is known). Its text
 * isn't compared: the kernel patches it. 0, or a negative errno with err set.
 */
int kernel_check(const struct tdf *tdf, const struct tdf_module *module,
		 uint64_t *bias, struct error *err);

#define KERNEL_MODULE_NAME	64

/*
 * The same for a kernel module, of which the name, as the kernel has it, is
 * told. *biases, to be freed, has the bias of each site of the TDF that is in
 * the module: its sections lie each for itself.
 */
int kernel_module_check(const struct tdf *tdf, const struct tdf_module *module,
			char name[KERNEL_MODULE_NAME], uint64_t **biases,
			struct error *err);

#endif
