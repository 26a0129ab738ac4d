// SPDX-License-Identifier: GPL-2.0
#include "vmcore.h"

#include <stdlib.h>
#include "lib/dump/vmcore_picture.h"

int vmcore_trace_open(struct trace_file *file, const char *path,
		      struct error *err)
{
	struct chunk_memory memory = { 0 };
	struct vmcore_losses losses;
	int code = vmcore_picture_take(path, &memory, &losses, err);

	if (code) {
		free(memory.data);
		return code;
	}
	code = trace_file_open_memory(file, memory.data, memory.size, path,
				      err);
	if (!code && losses.cut)
		damage_add(&file->damage,
			   "the dump, which was cut short");
	if (!code && losses.damaged)
		damage_add(&file->damage,
			   "pages of the dump that can't be unpacked");
	if (!code && losses.slices)
		damage_add(&file->damage,
			   "%u slices of the buffer, whose control words are damaged",
			   losses.slices);
	return code;
}
