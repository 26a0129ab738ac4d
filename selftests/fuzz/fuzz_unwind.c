// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as an ELF file whose call frame information becomes rows: they
 * ascend, and the index leads from every address to its row and nowhere else. And
 * whether it has OpenTelemetry's variable.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "lib/arm/otel.h"
#include "lib/debug/cfi/cfi_module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rows_check(const struct cfi_module *module)
{
	const struct cfi_rows *rows = &module->rows;

	if (rows->items[0].pc)
		abort();
	for (size_t i = 1; i < rows->count; i++)
		if (rows->items[i].pc <= rows->items[i - 1].pc ||
		    rows->items[i].kind > UNWIND_FRAME ||
		    rows->items[i].pc > module->bytes)
			abort();
}

static void block_check(const struct cfi_rows *rows, uint32_t entry, uint64_t begin)
{
	uint64_t end = begin + (1 << UNWIND_BLOCK_SHIFT);
	uint32_t first = entry >> 8, last = first + (entry & 0xff);

	if (last >= rows->count || rows->items[first].pc > begin ||
	    (first < last && rows->items[first + 1].pc <= begin) ||
	    (first < last && rows->items[last].pc >= end) ||
	    (last + 1 < rows->count && rows->items[last + 1].pc < end))
		abort();
}

static void index_check(const struct cfi_module *module)
{
	uint32_t count = cfi_rows_blocks(module->bytes);
	struct unwind_blocks *blocks = calloc(count, sizeof(*blocks));

	if (!blocks)
		abort();
	cfi_rows_index(&module->rows, blocks, count);
	for (uint32_t i = 0; i < 4 * count; i++)
		block_check(&module->rows, blocks[i / 4].entries[i % 4],
			    (uint64_t)i << UNWIND_BLOCK_SHIFT);
	free(blocks);
}

static void variable_look(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz_unwind", MFD_CLOEXEC);
	struct otel_variable variable;

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		otel_variable_read(&variable, fd);
	if (fd >= 0)
		close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_module module;
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (!cfi_module_read_image(&module, copy, size)) {
		if (module.rows.count) {
			rows_check(&module);
			if (module.bytes < 1 << 24)
				index_check(&module);
		}
		cfi_module_free(&module);
	}
	free(copy);
	variable_look(data, size);
	return 0;
}
