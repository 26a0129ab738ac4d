/* SPDX-License-Identifier: GPL-2.0 */
/* The module of a compilation, with its debug information and its map: found
 * and opened, or a message about why not. */
#ifndef TRCUST_INPUT_H
#define TRCUST_INPUT_H

#include "lib/error.h"
#include "locate.h"
#include "run.h"
#include "trcust/compile/compile.h"

struct input {
	struct locate_module at;
	struct srcpos pos;	/* of MODNAME */
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

/* What was compiled, put in place, both or none: the TDF, and the TFF beside it. `module`: its path. 0, or
 * a negative errno after a message. */
int output_write(const struct compilation *c,
		 const struct compiled *compiled, const char *tdf,
		 const char *module);
/* Of a TSF that can't be compiled: a TDF made of it before goes away. */
int output_remove(struct diag *diag, const char *tdf);
/* Report that a file could not be written: the messages of diag_report_error()
 * for outputs. */
void output_report(struct diag *diag, const char *path, int code,
		   const struct error *err);

/* Print the text of a TSF that was made; takes the memory. */
int output_print(const struct settings *s, char *text, size_t size);
/* What was printed has arrived: 0; else 1, after a message. Each process has to
 * look for itself. */
int stdout_check(void);

#endif
