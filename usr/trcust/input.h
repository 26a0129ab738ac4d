/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files of a run: from names in the TSF and on the command line to files;
 * the module of a compilation with its debug information and its map, found and
 * opened, or a message about why not; what is written.
 */
#ifndef TRCUST_INPUT_H
#define TRCUST_INPUT_H

#include "run.h"
#include "trcust/compile/compile.h"
#include "trcust/tsf/shape_file.h"

/*
 * Names without a directory are looked for in the current directory, then along
 * TRCUST_PATH (a list like PATH; the manual's DPATH). What is found nowhere
 * comes back as it was given. NULL: out of memory. The caller frees these.
 */
char *locate_input(const char *name);
/* The TSF: without an extension with .tsf, then .TSF added, else as given. */
char *locate_tsf(const char *name);

/* The TDF: `given` (may be NULL; .tdf is added without an extension), else
 * named after the TSF; in `directory` when that is not NULL. *replaced (may be
 * NULL): `given` has another extension, .tdf is taken for it. */
char *locate_tdf(const char *tsf, const char *given, const char *directory,
		 bool *replaced);

/* Of a name as DOS has it: a drive letter is dropped, backslashes separate. */
char *locate_portable(const char *name);

struct input {
	char *file;		/* to open; NULL: a kernel without a file */
	char *path;		/* to record: where it is on the target */
	uint8_t kind;		/* TDF_MODULE_* */
	struct srcpos pos;	/* of MODNAME */
	struct identity btf;	/* of the kernel whose BTF was opened */
	struct shapes shapes;
};

/* The map that /M= names; 0, or -1 after a message. */
int input_open_map(struct compilation *c, const struct settings *s);
/* The processor of the module that `modname` means to the TSF at `tsf`; of a
 * kernel that has no file here, that of the settings. NULL: it can't be read. */
const struct arch *input_arch(const struct settings *s, const char *modname,
			      const char *tsf);
/* The module that `modname` means to the TSF at `tsf`; when it isn't `needed`
 * only its path, as far as it can be found. 0, or -1 after a message. */
int input_open(struct compilation *c, const struct settings *s,
		struct input *input, const char *modname, const char *tsf,
		bool needed);
/* The module is as it was when it was opened; else -1 after a message. */
int input_check(const struct compilation *c, const struct input *input);
/* The process that read the file has died of it: err, as guard_run() sets it;
 * a hint is added. */
void input_report_damaged(struct diag *diag, const char *file,
			  struct error *err);
void input_close(struct compilation *c, struct input *input);

/* What was compiled, put in place, both or none: the TDF, and the TFF beside
 * it. `module`: its path. 0, or a negative errno after a message. */
int output_write(const struct compilation *c, const struct compiled *compiled,
		 const char *tdf, const char *module);
/* Of a TSF that can't be compiled: a TDF made of it before goes away. */
int output_remove(struct diag *diag, const char *tdf);
/* Report that a file could not be written: the messages of diag_report_error()
 * for outputs. */
void output_report(struct diag *diag, const char *path, int code,
		   const struct error *err);

/* Print the text of a TSF that was made; takes the memory. */
int output_print(const struct settings *s, char *text, size_t size);

#endif
