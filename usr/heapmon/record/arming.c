// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "lib/buffer/pin.h"
#include "lib/buffer/session.h"
#include "lib/path.h"
#include "lib/formats/tdf.h"
#include "lib/arm/arm.h"
#include "recording.h"

/* What was found to be the module is it: nothing is looked for again. */
static int target_make(struct target **targets,
		       const struct allocator_file *file, uint32_t link_pid,
		       struct error *err)
{
	struct target *target = calloc(1, sizeof(*target));
	struct target_file *files = calloc(1, sizeof(*files));
	int fd = target && files ? dup(file->fd) : -1;

	if (fd < 0) {
		free(target);
		free(files);
		return error_no_memory(err);
	}
	*files = (struct target_file){
		.fd = fd, .device = file->device, .inode = file->inode,
	};
	strcpy(files->path, file->path);
	strcpy(target->path, file->path);
	target->files = files;
	target->file_count = 1;
	target->pid = link_pid;
	*targets = target;
	return 0;
}

static int tdf_arm(struct recording *r, const struct tdf *tdf,
		   const struct target *targets, struct error *err)
{
	uint32_t points = tdf->header->points.count;
	bool *flags = calloc(2 * (size_t)points, sizeof(*flags));
	struct arm arm = {
		.run = &r->private, .buffer = &r->buffer,
		.features = &r->features, .settings = &r->settings->job,
		.tdf = tdf, .path = tdf->path, .targets = targets,
		.link_pid = r->link_pid, .picked = flags,
		.triggers = flags + points, .heap = &r->heap,
	};
	int code;

	if (!flags)
		return error_no_memory(err);
	memset(flags, true, points);
	code = arm_tdf(&arm, err);
	free(flags);
	return code;
}

static int file_arm(struct recording *r, const struct allocator_file *file,
		    struct error *err)
{
	struct target *targets = NULL;
	struct tdf *tdf;
	int code;
	struct error warning;
	char path[PATH_MAX + 16];
	size_t size;
	void *data;

	code = points_make_tdf(file, &r->settings->points, &data, &size, err);
	if (code)
		return code;
	snprintf(path, sizeof(path), "/heapmon/%s.tdf",
		 path_base(file->path));
	code = tdf_parse(&tdf, data, size, path, err);
	free(data);
	if (code)
		return code;
	code = target_make(&targets, file, r->link_pid, err);
	if (!code) {
		code = tdf_arm(r, tdf, targets, err);
		target_close(targets, tdf);
	}
	tdf_close(tdf);
	if (code)
		error_prefix(err, "cannot probe '%s': ", file->path);
	else if (allocator_file_throws(file)) {
		/* A return probe's address has no entry in .eh_frame. */
		error_set(
			&warning, 0,
			"operator new of '%s' is probed where it returns: a std::bad_alloc that it throws ends the program",
			file->path);
		error_hint(
			&warning,
			"--no-new leaves it alone, and the blocks that it gives are missing");
		error_print("heapmon", &warning);
	}
	return code;
}

int arming_more(struct recording *r, struct error *err)
{
	int code = 0;

	for (; !code && r->armed < r->allocator.count; r->armed++)
		code = file_arm(r, &r->allocator.files[r->armed], err);
	return code;
}

/* ---- processes ---- */

static void pid_add(const char *path, const char *name, void *context)
{
	const uint32_t *pid = context;
	char pin[PATH_MAX + 8];
	uint32_t value = 1;
	int fd;

	snprintf(pin, sizeof(pin), "%s/pids", path);
	fd = bpf_obj_get(pin);
	if (fd < 0)
		return;
	bpf_map_update_elem(fd, pid, &value, BPF_ANY);
	close(fd);
}

void arming_add_pid(struct recording *r, uint32_t pid)
{
	char armed[PATH_MAX];

	snprintf(armed, sizeof(armed), "%s/armed", r->private.path);
	pins_each(armed, pid_add, &pid);
}

int arming_off(struct recording *r, struct error *err)
{
	struct session_list list;
	int code = session_list_read(&list, &r->buffer, r->private.path, err);

	if (code)
		return code;
	for (size_t i = 0; i < list.count && !code; i++)
		if (list.items[i].armed)
			code = retire_session(&r->private, &r->buffer,
					      &list.items[i], err);
	session_list_free(&list);
	return code;
}
