/* SPDX-License-Identifier: GPL-2.0 */
/* The running kernel, or one of its modules, as the module of a TDF. */
#ifndef TRACE_KERNEL_H
#define TRACE_KERNEL_H

#include <stdint.h>
#include "bpf/body.h"

/*
 * Is the running kernel the one that the TDF was made for, and has it what the
 * picked points are to probe? *bias becomes its run-time address less the linked
 * one (0 when no site's is known, or it hides them and nothing needs it). Its
 * text isn't compared: the kernel patches it. 0, or a negative errno with err
 * set.
 */
int kernel_check(const struct tdf *tdf, const struct tdf_module *module,
		 const bool *picked, uint64_t *bias, struct error *err);

#define KERNEL_MODULE_NAME	64

/* The name of a kernel module, as the kernel has it, by its file's. 0, or
 * -EINVAL with err (or NULL) set. */
int kernel_module_name(const char *path, char name[KERNEL_MODULE_NAME],
		       struct error *err);

/*
 * The same for a kernel module; `name` becomes its name, as the kernel has it.
 * *biases, to be freed, has the bias of each site of the TDF that is in
 * the module: its sections lie each for itself.
 */
int kernel_module_check(const struct tdf *tdf, const struct tdf_module *module,
			const bool *picked, char name[KERNEL_MODULE_NAME],
			uint64_t **biases, struct error *err);

/*
 * Where the sections lie that the TDF has of this module, for struct
 * body_target: `name` is the kernel module's, "" for the kernel itself. The
 * list is to be freed; there is none where the TDF has none. Call it after the
 * check.
 */
struct kernel_sections {
	struct body_section *list;
	uint32_t count;
	__u64 percpu_offsets;	/* of body_target */
};

int kernel_sections_read(const struct tdf *tdf, const struct tdf_module *module,
			 const char *name, struct kernel_sections *sections,
			 struct error *err);

/* Why the kernel refused a probe in the function with `code`, as err's hint; it
 * is left alone when that isn't known. */
void kernel_refusal_explain(const char *symbol, int code, struct error *err);

#endif
