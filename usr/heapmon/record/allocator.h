/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the allocators of processes are: the functions of heap.def in the files
 * that are mapped in them (by symbol: .dynsym, .symtab, .gnu_debugdata), each
 * place in a file once.
 */
#ifndef HEAPMON_ALLOCATOR_H
#define HEAPMON_ALLOCATOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "heapmon/core/trace.h"

enum allocator_name {		/* --allocator; whose functions a file has */
	ALLOCATOR_AUTO,		/* of all; of a file: of none that is known */
	ALLOCATOR_GLIBC, ALLOCATOR_MUSL, ALLOCATOR_JEMALLOC,
	ALLOCATOR_TCMALLOC, ALLOCATOR_MIMALLOC,
	ALLOCATOR_NAMES
};

extern const char *const allocator_names[ALLOCATOR_NAMES];

struct allocator_want {
	enum allocator_name name;
	const char *const *objects;	/* --object: paths or base names; none: the
					 * files mapped */
	unsigned int object_count;
	const char *prefix;		/* --prefix: "je_", in front of malloc ...;
					 * NULL: none */
	bool maps;			/* --mmap */
	bool no_new;			/* --no-new */
};

#define ALLOCATOR_INSN	8

struct allocator_place {
	enum heap_function function;	/* the lowest level one of aliases */
	uint64_t offset;		/* in the file, of the function */
	uint64_t address;		/* as linked */
	uint32_t skip;			/* bytes at the entry that the probe may
					 * be placed after: an endbr, and of a RELEASE
					 * a test for NULL; 0: none */
	uint8_t insn[ALLOCATOR_INSN];	/* bytes after the skip */
	uint8_t insn_length;		/* of them that are compared */
	bool fast;			/* the kernel emulates it (TDF_COST_*) */
	char symbol[64];
};

struct allocator_file {
	char path[PATH_MAX];		/* as this program can open it */
	int fd;				/* open for reading */
	uint64_t device, inode;
	uint16_t machine;
	uint8_t elf_class;
	enum allocator_name name;	/* by symbols that only it has */
	bool dlsym;			/* it has that, too */
	struct allocator_place *places;	/* ascending by function */
	size_t count, room;
};

struct allocator_seen {
	uint64_t device, inode;
};

struct allocator {
	struct allocator_file *files;	/* that have any of the functions */
	size_t count, room;
	struct allocator_seen *seen;	/* all files that were looked at */
	size_t seen_count, seen_room;
};

/*
 * Look at what is mapped in a process; files that weren't looked at before are
 * appended. 0, or a negative errno with err set: -ESRCH: it is
 * gone.
 */
int allocator_add_process(struct allocator *allocator, uint32_t pid,
			  const struct allocator_want *want,
			  struct error *err);
/* Is there a function that gives blocks? */
bool allocator_found(const struct allocator *allocator);
/* -ENOENT, with what was looked for and where in err. */
int allocator_missing(const struct allocator_want *want, const char *where,
		      struct error *err);
/* Has it functions that give blocks, beside operator new? */
bool allocator_file_gives(const struct allocator_file *file);
/* Does its operator new make blocks itself, not by malloc()? Then it needs a
 * return probe. */
static inline bool
allocator_file_makes_new(const struct allocator_file *file)
{
	return file->name >= ALLOCATOR_JEMALLOC;
}

/* Is malloc() known to call no other function of a heap, but mmap()? Those of
 * the C libraries are; glibc has had no hooks since 2.34, in which dlsym() moved
 * to where malloc() is. */
static inline bool
allocator_file_calls_none(const struct allocator_file *file)
{
	return file->dlsym && (file->name == ALLOCATOR_GLIBC ||
			       file->name == ALLOCATOR_MUSL);
}

/* Is there such a one that throws? What is thrown through a return probe ends
 * the program. */
bool allocator_file_throws(const struct allocator_file *file);
void allocator_free(struct allocator *allocator);

/* Find the functions in an open ELF file; 0: file->places, maybe none; or a
 * negative errno: it is none, or can't be read. */
int allocator_file_read(struct allocator_file *file,
			const struct allocator_want *want);

/* ---- entry.c: where a probe costs least, at a function's beginning ---- */

#define ENTRY_CODE	32	/* bytes of a function that are looked at */

/* Fill in skip, insn and fast; release: NULL need not be seen. false: no probe
 * can be there, or the code can't be read. */
bool allocator_entry_read(const struct allocator_file *file,
			  struct allocator_place *place, bool release);
/* The same of A64; code has ENTRY_CODE bytes. */
bool entry_read_a64(struct allocator_place *place, const uint8_t *code);

#endif
