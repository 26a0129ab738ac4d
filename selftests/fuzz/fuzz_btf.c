// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as BTF, as the kernel's and as that of a module, whose types go on
 * after it: what is looked for is there, or isn't. The corpus has what
 * `wants` names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/arm/kernel/features.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t values[7] = { 0 };
	const struct btf_want wants[] = {
		{ "task", &values[0] }, { "task.mm", &values[1] },
		{ "task.thread.ds", &values[2] }, { "task.bits", &values[3] },
		{ "task.inner.", &values[4] }, { "work()", &values[5] },
		{ "", &values[6] },
	};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!btf_find(path, wants, sizeof(wants) / sizeof(wants[0])) &&
	    values[1] >= 1u << 29)
		abort();
	btf_find_split(path, path, "work");
	close(fd);
	return 0;
}
