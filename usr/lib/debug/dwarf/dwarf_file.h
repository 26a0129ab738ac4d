/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The debug information of a module: its own, or that of a separate file
 * (build-id tree, .gnu_debuglink, --debug, debuginfod) that belongs to it.
 * Everything in it is taken for hostile.
 */
#ifndef TRCUST_DWARF_FILE_H
#define TRCUST_DWARF_FILE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/debug/lines/lines.h"
#include "lib/debug/module/module.h"
#include "lib/formats/bytes.h"

/* What is made of the file when it is first needed, by the address of an entry
 * or another key. */
enum dwarf_memo_kind {
	DWARF_UNITS, DWARF_BLOCKS, DWARF_CALLS, DWARF_FRAMES, DWARF_LINES,
	DWARF_SOURCES, DWARF_NAMES, DWARF_TYPES, DWARF_SPLITS, DWARF_MEMOS,
};

struct dwarf_file {
	struct module *module;
	int fd;			/* of a separate file, else -1 */
	Elf *elf;		/* of a separate file, else NULL */
	void *image;		/* of a kernel module: what elf is made of */
	char *path;		/* of the file that has the DWARF */
	struct timespec modified;	/* of a separate file */
	Dwarf *dwarf;
	int shared_fd;		/* of what dwz moved out of it, else -1 */
	Dwarf *shared;
	char *note;		/* what of it is missing, for hints; NULL */
	bool used;		/* a caller has found a name or type in it */
	struct unit_ranges ranges;	/* offsets of the units' entries */
	struct dwarf_memo {
		struct key_map map;
		void (*free)(void *value);
	} memos[DWARF_MEMOS];
	const void *typeless;	/* a unit that was found to have none */
};

struct dwarf_search {
	const char *file;	/* --debug: this one and no other; NULL */
	const char *sysroot;	/* or NULL */
};

/*
 * From where a name is looked up. Functions that were inlined into each other
 * may have code at the same address, which the line table has several lines
 * for: the address doesn't show which function is meant.
 */
struct dwarf_from {
	uint64_t pc;
	bool outermost;		/* in the function that was compiled for itself;
				 * else: */
	const void *function;	/* address of the entry of the function or copy
				 * around pc; NULL: in the innermost one */
	uint32_t line, file;	/* names declared after the line aren't
				 * meant; 0: not known */
};

/*
 * Open the debug information of the module, which `path` was read
 * from. 0; -ENOENT: there is none (err->text: why one that is there wasn't
 * taken, or ""); else a negative errno with err set: --debug names a file that
 * isn't there (-ENOENT as well) or belongs to another build (-ESTALE).
 */
int dwarf_file_open(struct dwarf_file **dwarf, struct module *module,
		    const char *path, const struct dwarf_search *search,
		    struct error *err);
/* The same for an ELF file in memory that describes the module and has no
 * code; the bytes of `image` are taken over. */
int dwarf_file_open_image(struct dwarf_file **dwarf, struct module *module,
			  struct bytes *image, struct error *err);
void dwarf_file_close(struct dwarf_file *dwarf);

/* The value; NULL: it isn't made yet. */
void *dwarf_memo_find(const struct dwarf_file *dwarf,
		      enum dwarf_memo_kind kind, const void *key);
/* Keep a value until the file is closed: returns it. NULL: no memory; it has
 * been freed. */
void *dwarf_memo_add(struct dwarf_file *dwarf, enum dwarf_memo_kind kind,
		     const void *key, void *value, void (*release)(void *));
void dwarf_memos_free(struct dwarf_file *dwarf);

/* Why expected debug information is missing: a file that belongs to another
 * build, a part that isn't there. NULL: it isn't. */
const char *dwarf_refusal(const struct module *module,
			  const struct dwarf_file *dwarf);

/* -EAGAIN when a separate file was written to since it was opened. */
int dwarf_check_unchanged(const struct dwarf_file *dwarf, struct error *err);

/* The address is one of code. A module without a file has any. */
bool dwarf_has_code(const struct dwarf_file *dwarf, uint64_t address,
		    size_t *available);
/* Pointers have 8 bytes. */
bool dwarf_is_wide(const struct dwarf_file *dwarf);
/* A section of the file that has the DWARF, decompressed; of size 0 if there is
 * none. */
void dwarf_section_read(struct dwarf_file *dwarf, const char *name,
			struct dwarf_bytes *bytes);

/* The unit around address; of split debug information the one that has the
 * entries (DWARF 5 section 3.1.2). */
bool dwarf_unit_find(struct dwarf_file *dwarf, uint64_t address,
		     Dwarf_Die *unit);
/* The same, but of split debug information the skeleton, which has the line
 * table. */
bool dwarf_skeleton_find(struct dwarf_file *dwarf, uint64_t address,
			 Dwarf_Die *unit);
/* From a skeleton to the unit that has the entries; false: it isn't there, and
 * dwarf_refusal() has the reason. Other units are left as they are. */
bool dwarf_split_enter(struct dwarf_file *dwarf, Dwarf_Die *unit);
/* Has the unit around address no debug information of variables? Then the text
 * is the reason. */
bool dwarf_unit_lacks(struct dwarf_file *dwarf, uint64_t address, char *text,
		      size_t size);

#endif
