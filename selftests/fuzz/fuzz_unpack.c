// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a compressed kernel module, whatever is in it: none of the forms,
 * refused, or unpacked, to the same bytes each time.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/debug/module/module_rel.h"

#define COMPARED_MAX	(1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static off_t length_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		abort();
	return st.st_size;
}

static void same_check(int a, int b)
{
	size_t size = length_of(a);
	void *from_a, *from_b;

	if (length_of(b) != (off_t)size)
		abort();
	if (!size || size > COMPARED_MAX)
		return;
	from_a = mmap(NULL, size, PROT_READ, MAP_SHARED, a, 0);
	from_b = mmap(NULL, size, PROT_READ, MAP_SHARED, b, 0);
	if (from_a == MAP_FAILED || from_b == MAP_FAILED ||
	    memcmp(from_a, from_b, size))
		abort();
	munmap(from_a, size);
	munmap(from_b, size);
}

/* *unpacked is -1 unless there is something. */
static int take(int fd, int *unpacked)
{
	struct error err = { 0 };
	int code = unpack_file(fd, unpacked, &err);

	if (code && (*unpacked >= 0 || !*err.text))
		abort();
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), first, again;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (!take(fd, &first) && first >= 0) {
		if (length_of(first) <= COMPARED_MAX) {
			if (take(fd, &again) || again < 0)
				abort();
			same_check(first, again);
			close(again);
		}
		close(first);
	}
	close(fd);
	return 0;
}
