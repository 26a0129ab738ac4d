/* SPDX-License-Identifier: GPL-2.0 */
/* Maps pinned in the rastrace bpffs: opened only when they are what they
 * should be. */
#ifndef LIB_PIN_H
#define LIB_PIN_H

#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>
#include "lib/error.h"

#define PIN_RUN_DEFAULT		"/run/rastrace"
#define PIN_RUN_VARIABLE	"RASTRACE_RUN"

/* The bpffs directory: the variable's value, else the default. */
const char *pin_run(void);

/*
 * Open the array map pinned at path: a file of the caller or of root that
 * no other user can write, for reading only where more isn't allowed. Returns
 * the descriptor with info filled in, or a negative errno with err set.
 */
int pin_map_open(const char *path, struct bpf_map_info *info,
		 struct error *err);

/* The same of a hash, of this type and these sizes; 0: any size of keys. */
int pin_hash_open(const char *path, uint32_t type, uint32_t key_size,
		  uint32_t value_size, struct error *err);

/*
 * Map all of an array map, or where it may only be read, a copy. munmap()
 * ends it. NULL with err and errno set.
 */
void *pin_map_view(int fd, const struct bpf_map_info *info, int write,
		   size_t *size, struct error *err);
/* Take a copy again; nothing where the map itself is mapped. */
int pin_map_refresh(int fd, void *view, size_t size, struct error *err);

/* err for a refused bpf(2), perf_event_open(2) or mount(2): says what was
 * tried and what to do. Returns code. */
int pin_refused(struct error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* After perf_event_open(2) was refused: is a setting the reason? */
void pin_perf_hint(struct error *err, int code);

#endif
