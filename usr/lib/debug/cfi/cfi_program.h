/* SPDX-License-Identifier: GPL-2.0 */
/* The instructions of one function's call frame information. */
#ifndef HEAPMON_UNWIND_CFI_PROGRAM_H
#define HEAPMON_UNWIND_CFI_PROGRAM_H

#include <stdbool.h>
#include "cfi.h"

/* Bytes that are taken one after the other; too few: failed, and zeros. */
struct cfi_bytes {
	const uint8_t *at, *end;
	uint64_t address;	/* of `at` in front of what is taken */
	bool failed;
};

uint64_t cfi_take(struct cfi_bytes *bytes, int count);
uint64_t cfi_take_uleb(struct cfi_bytes *bytes);
int64_t cfi_take_sleb(struct cfi_bytes *bytes);
void cfi_skip(struct cfi_bytes *bytes, uint64_t count);
/* A pointer in one of the encodings DW_EH_PE_* */
uint64_t cfi_take_pointer(struct cfi_bytes *bytes, uint8_t encoding, int word);

struct cfi_function {
	const struct cfi *cfi;
	uint64_t begin, end;	/* addresses, as linked */
	uint64_t code_align;
	uint64_t data_align;
	uint64_t return_register;
	uint8_t encoding;
	bool signal;		/* the frame of a signal */
	struct cfi_bytes initial, program;
};

void cfi_program_run(const struct cfi_function *function, struct rows *rows);

#endif
