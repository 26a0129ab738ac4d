// SPDX-License-Identifier: GPL-2.0
#include "path.h"

#include <string.h>

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
