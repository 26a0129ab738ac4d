/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What trcust was asked to do. A run_ function prints its messages and returns
 * the exit status.
 */
#ifndef TRCUST_RUN_H
#define TRCUST_RUN_H

#include "lib/error.h"
#include "trcust/compile/move.h"

#define RUN_GLOBS_MAX	64

struct run_globs {
	const char *globs[RUN_GLOBS_MAX];
	size_t count;
};

enum run_mode {
	RUN_COMPILE, RUN_COMBINE, RUN_DUMP, RUN_FROM_SOURCE, RUN_FROM_MODULE,
	RUN_LIST, RUN_LSP,
};

struct settings {
	enum run_mode mode;
	int level;		/* messages: 0, 1, 2 */
	bool exit_zero;
	const char *output;	/* COMPILE: a directory; FROM_: a file */
	const char *module, *sysroot, *map, *debug, *btf; /* NULL: not given */
	const char *combine;	/* the TFF to make */
	bool explain;
	const char *list;	/* LIST: what; NULL: not given */
	bool json;
	const struct arch *arch; /* of a kernel without a file */
	enum move_mode site;
	struct run_globs shapes;	/* --shapes: files, directories */
	const char *modname;	/* FROM_ */
	unsigned int major;	/* FROM_; 0: not given */
	struct run_globs include, exclude;	/* FROM_MODULE */
	bool retep, args;
	const char *call;	/* --call; NULL */
};

/* run_compile.c: a TSF, and the name for the TDF (NULL: not given) */
int run_compile(const struct settings *s, const char *tsf, const char *tdf);
/* the same file: what has been understood of a TSF */
int run_dump_tsf(const struct settings *s, const char *path);
/* dump.c: print a TDF or TFF as text, one line per item. 0 or a negative
 * errno. */
int dump_file(const char *path, struct error *err);
/* from_module.c */
int run_from_module(const struct settings *s, const char *module);
/* from_source.c */
int run_from_source(const struct settings *s, int count, char **sources);
/* combine.c: a list of names of TFFs */
int run_combine(const struct settings *s, const char *list);

#endif
