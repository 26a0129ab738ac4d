/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ELF file of a mapping and its debug file. A file is looked for in the
 * --symbols directories (the mapping's path below them, its base name,
 * .build-id/xx/yyyy) and at its path; a debug file also in /usr/lib/debug, where
 * the debug link points, and at a debuginfod server. Only a file with the mapping's
 * build-id is taken.
 */
#ifndef DEBUG_SYMBOL_SEARCH_H
#define DEBUG_SYMBOL_SEARCH_H

#include <limits.h>
#include <rastrace/rasfile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/debug/debuginfod.h"

struct symbols_settings {
	bool off;		/* --no-symbols */
	char **dirs;		/* --symbols DIR: like a root directory of the
				 * other machine, or debug files by build-id; or
				 * one such file */
	size_t dir_count;
	unsigned char *use;	/* per directory SYMBOLS_*, filled in; or NULL */
	struct debuginfod *server;	/* asked for debug files that are not
					 * found; NULL: none is */
};

/* Results of a directory */
#define SYMBOLS_LOOKED	1	/* a file was looked for */
#define SYMBOLS_HAD	2	/* it had one */

/* The first directory from *at on that was of no use; *at is then past it. NULL:
 * there are no more. */
const char *symbols_useless(const struct symbols_settings *settings,
			    size_t *at);

#define SYMBOL_SEGMENTS	16	/* executable ones that are looked at */

/* What of an ELF file of this machine's byte order is needed to know which one
 * it is, and where its code is linked to. */
struct symbol_elf {
	uint8_t id[30];		/* build-id; cut as rasfile.h has it */
	uint8_t id_length;	/* 0: it has none */
	bool stripped;		/* of its code: a debug file */
	struct symbol_segment {
		uint64_t address, offset, bytes;
	} segments[SYMBOL_SEGMENTS];	/* executable */
	size_t segment_count;
};

/* false: it isn't such a file. */
bool symbol_elf_read(int fd, struct symbol_elf *elf);
/* The build-id among notes; its length, 0: there is none. */
uint8_t symbol_elf_note(const uint8_t *notes, size_t n, uint8_t id[30]);

/* The mapping's ELF file as a descriptor, its path in `path`; -1: there is
 * none. */
int symbol_search_code(const struct symbols_settings *settings,
		       const struct ras_mapping *mapping, char path[PATH_MAX],
		       struct symbol_elf *elf);
/* The mapping's debug file. */
int symbol_search_debug(const struct symbols_settings *settings,
			const struct ras_mapping *mapping, char path[PATH_MAX],
			struct symbol_elf *elf);
/* The debug file of `code`, a file with this build-id and debug link (NULL:
 * none). */
int symbol_search_linked(const struct symbols_settings *settings,
			 const uint8_t *id, size_t length, const char *code,
			 const char *link, char path[PATH_MAX],
			 struct symbol_elf *elf);

#endif
