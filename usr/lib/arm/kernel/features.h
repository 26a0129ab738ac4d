/* SPDX-License-Identifier: GPL-2.0 */
/* What the running kernel offers: probed, never concluded from its version. */
#ifndef TRACE_FEATURES_H
#define TRACE_FEATURES_H

#include <stdint.h>
#include "bpf/body.h"
#include "lib/identity.h"

/* Finding ids and offsets in a BTF file without loading it. */

/*
 * What is looked for, by its name:
 *
 *	"task_struct"		the id of a structure
 *	"task_struct.thread.ds"	the offset in bytes of a member, in structures
 *				that lie in each other; it may be in anonymous
 *				structures and unions there
 *	"bpf_preempt_disable()"	the id of a function
 *	"__preempt_count:"	the id of a variable
 */
struct btf_want {
	const char *name;
	uint32_t *value;	/* stays when there is none */
};

/* All in one pass over the file. 0, or a negative errno: no such file, no
 * BTF. */
int btf_find(const char *path, const struct btf_want *wants, size_t count);

/* The id of a function in a module's BTF, whose types and strings go on where
 * those of the kernel's, `base`, end. 0: there is none. */
uint32_t btf_find_split(const char *path, const char *base, const char *name);

enum attach_choice { ATTACH_AUTO, ATTACH_MULTI, ATTACH_PERF };

struct features {
	bool multi;		/* take uprobe_multi links */
	int uprobe_type;	/* of the perf events; negative errno: none */
	int kprobe_type;
	/* BTF ids of the kfuncs, 0: programs can't disable preemption */
	uint32_t preempt_disable, preempt_enable;
	int address_bits;	/* of user space */
};

/* The type of perf events that are probes of user space; a negative errno: there
 * are none. */
int features_uprobe_type(void);

/* 0, or a negative errno with err set (no BPF, no privilege, the kernel
 * hasn't what `choice` asks for). */
int features_probe(struct features *features, enum attach_choice choice,
		   struct error *err);

/* The two ids alone; nothing is loaded, no privilege is needed. 0 or -ENOMEM. */
int features_read_btf(struct features *features);

/* May programs at user space's probes sleep? Loads one to see. */
bool features_sleepable(const struct features *features);

/* The BTF id of bpf_session_is_return, where uprobe_multi links can be of a
 * function's beginning and its return with one program; 0: they can't. */
uint32_t features_session(const struct features *features);

/* Can uprobe_multi links be of one process, all its threads? */
bool features_multi_pid(const struct features *features);

/* The BTF of the kernel module and in it the ids of the kfuncs that make
 * segment registers those of now, and that read vector registers; 0: programs
 * can't call it. -1: they can't call any, or the module isn't loaded. The
 * descriptor is the caller's. */
int features_read_kfuncs(uint32_t *segments_save, uint32_t *vector_read);

/* 0, or a negative errno: the kernel has no BTF and the layout is empty. What
 * isn't found in it stays 0. */
int features_read_layout(struct body_layout *layout);

#endif
