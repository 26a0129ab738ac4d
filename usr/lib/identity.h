/* SPDX-License-Identifier: GPL-2.0 */
/* Which binary is this: the build-id, else a hash of its executable segments. */
#ifndef LIB_IDENTITY_H
#define LIB_IDENTITY_H

#include <rastrace/buffer.h>
#include <stdint.h>
#include <sys/stat.h>
#include "error.h"

struct identity {
	uint8_t kind;		/* TDF_ID_* */
	uint8_t length;
	uint8_t id[30];
};

/*
 * Of the open ELF file fd (its position is not used). A build-id longer than
 * 30 bytes is cut. 0, or a negative errno with err set (path names the file).
 */
int identity_read(int fd, const char *path, struct identity *id,
		  struct error *err);

#define BTF_VMLINUX	"/sys/kernel/btf/vmlinux"	/* the kernel's own */

/* Of content with this FNV-1a hash. */
void identity_set_hash(struct identity *id, uint64_t hash);
/* The build-id only; kind TDF_ID_NONE when it has none, or is no ELF file. */
void identity_read_build_id(int fd, struct identity *id);
/* Of /sys/kernel/notes and the like: notes of this machine. */
void identity_read_notes(const char *path, struct identity *id);

/* Hex digits and a zero into text (at least 61 bytes); "-" for none. */
void identity_print(uint8_t kind, const uint8_t *id, uint8_t length,
		    char *text);

/* Whether the file that a session has probes in is still what it was. */

/* Into a new session: what the file is like. */
void module_file_note(struct ras_session *entry, const struct stat *st);

/*
 * The CLOCK_BOOTTIME, by the file's times, of the last write to the file at the
 * module's path; 0: it was not written to since it was armed, another file is
 * there, or that can't be found out.
 */
uint64_t module_file_changed(const struct ras_session *entry);

#endif
