/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The traced module: an ELF file, its code and its symbols. Everything in the
 * file is taken for hostile. A kernel may have no file: then it has no code
 * and no symbols here, and every name is taken for good.
 */
#ifndef TRCUST_MODULE_H
#define TRCUST_MODULE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "lib/elf_symbols.h"
#include "lib/error.h"
#include "lib/identity.h"
#include "lib/key_map.h"

#define MODULE_SYMBOL_NAME_MAX	4096	/* longer symbol names are ignored */

struct module_segment {
	uint64_t address, offset, size;	/* as in the file */
	bool executable;
};

/* An executable section in an executable segment, or, without sections, an
 * executable segment. */
struct module_code {
	uint64_t start, end, offset;
	const uint8_t *data;
};

struct module_range {
	uint64_t start, end;
};

struct module_symbol {
	const char *name;	/* not zero-terminated when it has a version */
	size_t name_length;	/* without the version; 0: it can't be named */
	uint64_t address, size;
	uint64_t slot;		/* where the module itself finds the address of
				 * the symbol at run time; 0: nowhere */
	uint8_t type, bind;	/* STT_*, STB_* */
	bool defined, absolute;
	bool old_version;	/* foo@V, not foo@@V */
	uint32_t file;		/* of a local one: index + 1 of its STT_FILE */
};

struct arch;			/* lib/debug/arch/arch.h */
struct demangle_index;		/* demangle.h */
struct pointers;		/* pointers.h */
struct rseq;			/* rseq.h */

struct module {
	char *path;		/* as recorded in TDF and TFF */
	uint8_t kind;		/* TDF_MODULE_* */
	uint8_t elf_class;
	const struct arch *arch;
	uint16_t machine;
	struct identity identity;

	int fd;			/* -1: none */
	int packed_fd;		/* the file that has it compressed, else -1 */
	struct timespec modified;	/* of the file, as its size */
	int64_t source_size;
	int64_t file_size;	/* of what fd has */
	Elf *elf;		/* NULL: a kernel without a file */
	void *image;		/* what a kernel module was made of; else NULL */
	struct module_segment *segments;
	size_t segment_count;
	struct module_range *sections;	/* executable ones */
	size_t section_count;
	bool has_sections;
	struct module_code *codes;
	size_t code_count;

	struct module_symbol *symbols;
	size_t symbol_count;
	bool has_symtab;		/* not stripped, or a debug file is there */
	struct key_map symbol_names;	/* hash of a name: index + 1 */
	struct demangle_index *full_names;	/* of C++, filled when needed;
						 * of every module */
	unsigned int near_lookups;

	char *debug_refused;	/* why a debug file wasn't taken; NULL */
	struct module_range *functions;	/* sorted by start */
	size_t function_count;
	struct key_map decoded;		/* start: struct code_function */
	bool exhausted;			/* memory was: what isn't found, in its
					 * debug information too, may be there */
	struct pointers *pointers;	/* pointers.h; NULL: not yet looked for
					 */
	struct rseq *rseq;		/* rseq.h; NULL: the same */
};

/* The bytes of code at address, as loaded from the file; NULL when there is no
 * executable section. *offset (may be NULL): where in the file. */
const uint8_t *module_code(const struct module *module, uint64_t address,
			   size_t *available, uint64_t *offset);

/* The loader changes some of the `bytes` at the address, which a uprobe would
 * undo: the kernel runs a copy of what the file has. With 0 bytes: some of the
 * module's code. */
bool module_is_relocated(const struct module *module, uint64_t address,
			 size_t bytes);
/* Entry i of a section of relocations (SHT_REL or SHT_RELA); one of SHT_REL has
 * an addend of 0. False: there are no more. */
bool module_relocation(Elf_Data *data, const GElf_Shdr *sh, int i,
		       GElf_Rela *rela);
/* What it has the loader load, "libm.so.6, libc.so.6", as far as it goes into
 * text. */
void module_libraries(const struct module *module, char *text, size_t size);
bool module_has_section(const struct module *module, const char *name);
/* The address is in one of the ranges. */
bool module_ranges_have(const struct module_range *ranges, size_t count,
			uint64_t address);

/* The distance from one address of code to the other is that of the target:
 * the kernel places the sections of its modules each for itself. */
bool module_is_together(const struct module *module, uint64_t a, uint64_t b);

#define MODULE_BAD_SECTIONS	"its section headers are truncated or damaged"

/* Another one, called `what` in messages, in module->segments. *left: bytes of
 * code that the file may still have. */
int module_segment_add(struct module *module, struct module_segment segment,
		       const char *what, uint64_t *left, struct error *err);
/* The text "what" and what is expected instead; -ENOEXEC. */
int module_refuse(struct error *err, const char *what);
/* A section of debug information that is compressed becomes what it was; one
 * that isn't stays so. */
void module_section_decompress(Elf_Scn *scn, const GElf_Shdr *sh,
			       const char *name);

/*
 * What a program's run time does to stacks that a return probe, which puts an
 * address of the kernel's in the place of the one to return to, gets in the way
 * of.
 */
#define RUNTIME_GO		0x01	/* looks through stacks, and moves them */
#define RUNTIME_SPLITS		0x02	/* goes on on another stack in a call */
#define RUNTIME_SWITCHES	0x04	/* has stacks of its own: coroutines */
#define RUNTIME_SIGNAL_STACK	0x08	/* ... for signals */
#define RUNTIME_UNWINDS		0x10	/* exceptions, or frames are taken off
					 * one by one */
#define RUNTIME_PROGRAM		0x20	/* it is a program, not a library */
#define RUNTIME_MIGRATES	0x40	/* calls may go on in other threads */

/* By names in the module's file; what it loads isn't seen. */
unsigned int runtime_find(const struct module *module);

/*
 * Static probes of a module (SystemTap's sys/sdt.h): what .note.stapsdt says
 * of them. Addresses are as linked, corrected by .stapsdt.base for a module
 * that was moved afterwards.
 */
struct usdt_probe {
	const char *provider, *name;	/* as long as the module */
	const char *arguments;	/* "8@%rdi -4@$5"; may be "" */
	uint64_t address;
	uint64_t semaphore;	/* 0: none */
};

struct usdt_probes {
	struct usdt_probe *probes;	/* in the order of the notes */
	size_t count, room;
};

/* All of them; notes that are damaged are left out. 0 or -ENOMEM. */
int usdt_load(const struct module *module, struct usdt_probes *probes);
void usdt_free(struct usdt_probes *probes);

/* Words of the module's data that may be addresses of code: all tables of
 * labels are among them. */
struct pointer {
	uint64_t value;
	uint64_t at;		/* address of the word */
};

struct pointers {
	struct pointer *list;	/* ascending by value */
	size_t count, room;
	bool complete;		/* none is missing */
};

/* They are looked for once. NULL: no memory. */
const struct pointers *pointers_get(struct module *module);
void pointers_forget(struct module *module);

/* The bytes of the file that are loaded at address; NULL: none. */
const uint8_t *pointers_bytes(const struct module *module, uint64_t address,
			      size_t *available);

#endif
