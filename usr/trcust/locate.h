/* SPDX-License-Identifier: GPL-2.0 */
/* From names in the TSF and on the command line to files. */
#ifndef TRCUST_LOCATE_H
#define TRCUST_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

struct locate_module {
	char *file;		/* to open; NULL: a kernel without a file */
	char *path;		/* to record: where it is on the target */
	uint8_t kind;		/* TDF_MODULE_* */
};

/*
 * The module that MODNAME means: `module` (--module) when given, else looked
 * for from the current directory, then from the TSF's, then with .so added.
 * An absolute name is taken below sysroot. 0, or -ENOENT, -ENAMETOOLONG
 * (at->file is then the name that was looked for), -ESPIPE (the file can't be
 * read from anywhere but its beginning) or -ENOMEM.
 */
int locate_module(struct locate_module *at, const char *modname,
		  const char *tsf, const char *module, const char *sysroot);
void locate_module_free(struct locate_module *at);

/*
 * Names without a directory are looked for in the current directory, then
 * along TRCUST_PATH (a list like PATH; the manual's DPATH). What is found
 * nowhere comes back as it was given. NULL: out of memory. The caller frees
 * these.
 */
char *locate_input(const char *name);
/* The TSF: without an extension with .tsf, then .TSF added, else as given. */
char *locate_tsf(const char *name);

/* The TDF: `given` (may be NULL; .tdf is added without an extension), else
 * named after the TSF; in `directory` when that is not NULL. *replaced (may be
 * NULL): `given` has another extension, .tdf is taken for it. */
char *locate_tdf(const char *tsf, const char *given, const char *directory,
		 bool *replaced);
/* The TFF of a major, beside the TDF. */
char *locate_tff(const char *tdf, unsigned int major);

/* Of a name as DOS has it: a drive letter is dropped, backslashes separate. */
char *locate_portable(const char *name);

#endif
