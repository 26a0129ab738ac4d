/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file system whose only file, "file", opens, says that it has two pages, and
 * is never read: the server doesn't answer that. Protocol: linux/fuse.h.
 */
#ifndef SELFTESTS_TRACE_SILENT_FUSE_H
#define SELFTESTS_TRACE_SILENT_FUSE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define SILENT_FILE	2	/* node of the file; the root is 1 */
#define SILENT_BYTES	8192

static inline void silent_attributes(struct fuse_attr *attr, uint64_t node)
{
	*attr = (struct fuse_attr){
		.ino = node, .nlink = 1, .size = SILENT_BYTES, .blksize = 4096,
		.mode = node == SILENT_FILE ? S_IFREG | 0600 : S_IFDIR | 0700,
	};
}

static inline void silent_answer(int fd, uint64_t unique, int error,
				 const void *data, size_t size)
{
	char answer[512];
	struct fuse_out_header out = {
		.len = sizeof(out) + size, .error = error, .unique = unique,
	};

	memcpy(answer, &out, sizeof(out));
	if (size)
		memcpy(answer + sizeof(out), data, size);
	if (write(fd, answer, out.len) < 0)
		perror("fuse");
}

static inline void silent_serve_one(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096,
	};
	struct fuse_entry_out entry = {
		.nodeid = SILENT_FILE, .entry_valid = 60, .attr_valid = 60,
	};
	struct fuse_attr_out attr = { .attr_valid = 60 };
	struct fuse_open_out opened = { .fh = 1 };

	silent_attributes(&entry.attr, SILENT_FILE);
	silent_attributes(&attr.attr, in->nodeid);
	switch (in->opcode) {
	case FUSE_INIT:
		silent_answer(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		silent_answer(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		silent_answer(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		silent_answer(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_FORGET:
		break;
	default:
		silent_answer(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

static inline void silent_serve(int fd)
{
	static char request[FUSE_MIN_READ_BUFFER + 4096];

	while (read(fd, request, sizeof(request)) > 0)
		silent_serve_one(fd, (void *)request);
	_exit(0);
}

/* Mounts it at `dir`, served by a child; its process id, or -1. */
static inline int silent_mount(const char *dir)
{
	int pid, fd = open("/dev/fuse", O_RDWR);
	char options[128];

	if (fd < 0)
		return -1;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("silent", dir, "fuse", MS_NOSUID | MS_NODEV, options)) {
		close(fd);
		return -1;
	}
	pid = fork();
	if (!pid)
		silent_serve(fd);
	close(fd);
	return pid;
}

#endif
