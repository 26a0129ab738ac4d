// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a memory dump: refused, or made a .ras file that is in order. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/dump/vmcore_picture.h"
#include "lib/read/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Its chunks are whole, whatever the records are. */
static void file_check(struct chunk_memory *memory)
{
	struct trace_file file;
	struct error err;

	if (trace_file_open_memory(&file, memory->data, memory->size, "fuzz",
				   &err))
		abort();
	while (trace_file_more(&file) > 0)
		;
	for (size_t i = 0; i < file.slices.count; i++)
		while (slices_next(&file.slices, file.slices.items[i],
				   file.header.key))
			;
	for (size_t i = 0; i < file.damage.count && i < DAMAGE_LINES; i++)
		if (strstr(file.damage.lines[i], "chunk") ||
		    strstr(file.damage.lines[i], "checksum") ||
		    strstr(file.damage.lines[i], "cut short"))
			abort();
	trace_file_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chunk_memory memory = { 0 };
	struct vmcore_losses losses;
	int fd = memfd_create("fuzz.core", MFD_CLOEXEC);
	struct error err = { 0 };
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!vmcore_picture_take(path, &memory, &losses, &err)) {
		file_check(&memory);
	} else {
		if (!err.text[0])
			abort();
		free(memory.data);
	}
	close(fd);
	return 0;
}
