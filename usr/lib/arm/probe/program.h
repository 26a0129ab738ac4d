/* SPDX-License-Identifier: GPL-2.0 */
/* The programs of a TDF: one per distinct body. */
#ifndef TRACE_PROGRAM_H
#define TRACE_PROGRAM_H

#include "lib/arm/kernel/features.h"
#include "lib/key_map.h"
#include "alike.h"
#include "target.h"

/* Links: from the sites of a tracepoint to a program. */

/*
 * Attach a loaded program to sites of a point, all of them return probes or
 * none (session: they are, and it is called where the function begins, too),
 * and pin the links into the directory `dir`, as POINT_SITE, and of further
 * files of the target as POINT_SITE_FILE. 0, or a negative errno with err set;
 * what was pinned till then stays.
 */
int attach_sites(int program, const struct tdf *tdf, uint32_t point,
		 const uint32_t *sites, uint32_t count, bool session,
		 const struct target *target, const struct features *features,
		 const char *dir, struct error *err);

/* A link to one offset of a file, or to the return of the function there,
 * without a cookie. A descriptor, or a negative errno. */
int attach_probe(int program, const char *path, uint64_t offset, bool returns,
		 const struct features *features);

/* Attach to these offsets of a file, without cookies, and pin the links as
 * `dir`/0, 1 ... 0 or a negative errno. */
int attach_file(int program, const char *path, const uint64_t *offsets,
		uint32_t count, const struct features *features,
		const char *dir);

/*
 * The kernel is slow to put in the first probe of user space after a while: it
 * waits until all CPUs know of it (an RCU grace period: 6 to 15 ms), and the next
 * ones don't. This starts a process that does the waiting, with a probe in a file
 * that nothing has mapped, and ends by itself; the caller goes on.
 */
void attach_announce(void);

/* Does this module's kind get uprobe_multi links? */
bool attach_is_multi(const struct tdf_module *module,
		     const struct features *features);

#define PROGRAM_NO_SITE	UINT32_MAX

/* Sites share a program when their bodies and their kind of link are equal. */
struct program {
	struct bpf_insn *insns;		/* these as in struct body */
	size_t count;
	bool sleepable;
	int module_fd;			/* its BTF, where body_target has
					 * kfuncs of the module */
	uint32_t subprograms[BODY_SUBPROGRAMS];
	enum body_context context;
	bool returns;			/* for return probes */
	bool session;			/* for the function's beginning, too */
	uint64_t hash;
	uint32_t first_site, last_site;	/* in the TDF; a point's sites follow
					 * each other */
};

struct program_set {
	struct program *items;
	size_t count;
	uint32_t *next_site;	/* the next site with the same program, or
				 * PROGRAM_NO_SITE; one per site */
	uint32_t *points;	/* per site: its point */
	struct key_map by_hash;	/* of items, that have no group in: */
	struct alike alike;
	int offsets_fd;		/* its map; -1: there is none */
};

#define PROGRAM_PICKED	0x01	/* the point is to be armed */
#define PROGRAM_TRIGGER	0x02	/* the point stops the recording */

/*
 * Generate the bodies of the points that picks[] names with PROGRAM_* and put
 * equal ones together. `target` is complete but for context and trigger. 0, or
 * a negative errno with err set.
 */
int program_set_make(struct program_set *set, const struct tdf *tdf,
		     const uint8_t *picks, const struct body_target *target,
		     struct error *err);
void program_set_free(struct program_set *set);

/*
 * Call `take` for each program, some at a time in threads of their own: the
 * kernel takes its time to verify them. 0, or what the first that failed
 * returned, with its err; then not all were taken.
 */
int program_set_each(const struct program_set *set,
		     int (*take)(void *context, const struct program *program,
				 struct error *err),
		     void *context, struct error *err);

/* Load one; a file descriptor, or a negative errno with err set. */
int program_load(const struct program *program, uint32_t attach_type,
		 struct error *err);

#endif
