/* SPDX-License-Identifier: GPL-2.0 */
/* From a file to struct module, and its end. */
#ifndef TRCUST_MODULE_OPEN_H
#define TRCUST_MODULE_OPEN_H

#include "module_elf.h"

/*
 * Open the file; path is what TDF and TFF record. 0, or a negative errno with
 * err set: -ENOEXEC when it is not a module of this machine (err->text says
 * what it is, err->hint what is expected).
 */
int module_open(struct module **module, const char *file, const char *path,
		uint8_t kind, struct error *err);
/* The processor of a file, which may be compressed; NULL: not known. */
const struct arch *module_arch(const char *file);
/* As module_open() for bytes in memory, which must outlive the module and may be
 * written to; without an identity. An object file is taken for a kernel
 * module. */
int module_parse(struct module **module, void *data, size_t size,
		 struct error *err);
/* A kernel of which no file is at hand. */
int module_open_kernel(struct module **module, const struct arch *arch,
		       struct error *err);
/* -EAGAIN when the file was written to since module_open(). */
int module_check_unchanged(const struct module *module, struct error *err);
void module_close(struct module *module);

#endif
