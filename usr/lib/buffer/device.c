// SPDX-License-Identifier: GPL-2.0
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <rastrace/buffer.h>

int device_ask(int fd, struct rastrace_info *info, struct error *err)
{
	*info = (struct rastrace_info){ .size = sizeof(*info) };
	if (!ioctl(fd, RASTRACE_INFO, info))
		return 0;
	return error_set(err, -errno, "'" DEVICE_PATH "' doesn't answer: %s",
			 strerror(errno));
}

int device_open(struct rastrace_info *info, struct error *err)
{
	int fd = open(DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	int code;

	if (fd < 0) {
		code = -errno;
		if (code == -ENOENT || code == -ENXIO || code == -ENODEV) {
			error_set(err, -ENOENT,
				  "the kernel module isn't loaded");
			error_hint(err, "load it: modprobe rastrace");
			return -ENOENT;
		}
		error_set(err, code, "cannot open '" DEVICE_PATH "': %s",
			  strerror(-code));
		if (code == -EACCES)
			error_hint(
				err,
				"members of its group may read the buffer there (see rastrace(4)), root may do all");
		return code;
	}
	code = fstat(fd, &st) || !S_ISCHR(st.st_mode) ?
		error_set(err, -EINVAL, "'" DEVICE_PATH "' is no device") :
		device_ask(fd, info, err);
	if (!code)
		return fd;
	close(fd);
	return code;
}

int device_check_layout(const struct rastrace_info *info, struct error *err)
{
	if (info->layout == RAS_LAYOUT)
		return 0;
	error_set(err, -EPROTO,
		  "the kernel module is of another version (it has layout %u, this version's is %u) and isn't used",
		  info->layout, RAS_LAYOUT);
	error_hint(err, "install the module of this version, then load it anew: rmmod rastrace; modprobe rastrace");
	return -EPROTO;
}

void *device_map(int fd, int part, size_t size, struct error *err)
{
	void *view = mmap(NULL, size, PROT_READ, MAP_SHARED, fd,
			  RASTRACE_OFFSET(part));
	int cause = errno;

	if (view != MAP_FAILED)
		return view;
	error_set(err, -cause, "cannot map part %d of '" DEVICE_PATH "': %s",
		  part, strerror(cause));
	errno = cause;
	return NULL;
}
