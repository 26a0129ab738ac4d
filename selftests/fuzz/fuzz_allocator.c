// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a file that is mapped in a process: it has no allocator, or its
 * tracepoints make a TDF that is valid.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "heapmon/record/allocator.h"
#include "heapmon/record/points.h"
#include "lib/formats/tdf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void points_check(const struct allocator_file *file)
{
	const struct points_want want = { .depth = 16, .types = true };
	struct tdf *tdf;
	size_t size;
	void *data;

	if (!file->count || points_make_tdf(file, &want, &data, &size, NULL))
		return;
	if (tdf_parse(&tdf, data, size, "fuzz", NULL) ||
	    tdf->header->points.count != file->count)
		abort();
	tdf_close(tdf);
	free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct allocator_want want = { .maps = true };
	static struct allocator_file file;

	memset(&file, 0, sizeof(file));
	strcpy(file.path, "/fuzz");
	file.fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (write(file.fd, data, size) == (ssize_t)size &&
	    !allocator_file_read(&file, &want))
		points_check(&file);
	free(file.places);
	close(file.fd);
	return 0;
}
