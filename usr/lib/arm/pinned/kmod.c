// SPDX-License-Identifier: GPL-2.0
#include "kmod.h"

#include <errno.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <bpf/bpf.h>
#include <rastrace/rasfile.h>
#include "lib/buffer/device.h"
#include "lib/buffer/pin.h"
#include "lib/outfile.h"

static const char *const part_names[RASTRACE_PARTS] = {
	[RASTRACE_CONTROL] = "control", [RASTRACE_BUFFER] = "buffer",
	[RASTRACE_NEST] = "nest", [RASTRACE_SESSIONS] = "sessions",
	[RASTRACE_TRIGGER] = "trigger", [RASTRACE_STATE] = "static/state",
	[RASTRACE_COUNT] = "static/count", [RASTRACE_WHY] = "static/why",
	[RASTRACE_MAJORS] = "static/majors", [RASTRACE_PIDS] = "static/pids",
};

/* The maps of a run directory, as the module takes them. */
struct kmod_parts {
	int fds[RASTRACE_PARTS];	/* -1: there is none */
	uint32_t ids[RASTRACE_PARTS];	/* 0: there is none */
};

static void kmod_parts_close(const struct kmod_parts *parts)
{
	for (int i = 0; i < RASTRACE_PARTS; i++)
		if (parts->fds[i] >= 0)
			close(parts->fds[i]);
}

static int kmod_part_open(struct kmod_parts *parts, const char *run, int part,
			  struct error *err)
{
	struct bpf_map_info info = { 0 };
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", run, part_names[part]);
	fd = part == RASTRACE_PIDS ?
		pin_hash_open(path, BPF_MAP_TYPE_HASH, sizeof(uint32_t),
			      sizeof(uint32_t), err) :
		pin_map_open(path, &info, err);
	if (fd < 0)
		return fd;
	if (part == RASTRACE_PIDS &&
	    bpf_obj_get_info_by_fd(fd, &info, &(uint32_t){ sizeof(info) }))
		info.id = 0;
	parts->fds[part] = fd;
	parts->ids[part] = info.id;
	return 0;
}

/* -ENOENT: there is no buffer. Static tracepoints are there as a whole or not,
 * processes may be. */
static int kmod_parts_open(struct kmod_parts *parts, const char *run,
			   struct error *err)
{
	int code = 0;

	memset(parts->ids, 0, sizeof(parts->ids));
	memset(parts->fds, -1, sizeof(parts->fds));
	for (int i = 0; i < RASTRACE_PARTS && !code; i++) {
		code = kmod_part_open(parts, run, i, err);
		if (code != -ENOENT || i < RASTRACE_STATE)
			continue;
		if (i == RASTRACE_STATE)
			return 0;
		if (i == RASTRACE_PIDS)
			code = 0;
	}
	if (code)
		kmod_parts_close(parts);
	return code;
}

static enum kmod_buffer buffer_compare(const struct rastrace_info *info,
				       const char *run)
{
	struct kmod_parts parts = { .fds = { -1 } };
	enum kmod_buffer buffer = KMOD_BUFFER_OTHER;

	if (info->adopted != RASTRACE_ADOPTED)
		return KMOD_BUFFER_NONE;
	if (kmod_part_open(&parts, run, RASTRACE_CONTROL, NULL))
		return buffer;
	if (parts.ids[RASTRACE_CONTROL] == info->parts[RASTRACE_CONTROL].id)
		buffer = KMOD_BUFFER_OURS;
	close(parts.fds[RASTRACE_CONTROL]);
	return buffer;
}

void kmod_read(struct kmod *kmod, const char *run)
{
	struct rastrace_info info;
	int fd = device_open(&info, NULL);

	*kmod = (struct kmod){ 0 };
	if (fd < 0)
		return;
	close(fd);
	*kmod = (struct kmod){
		.loaded = true,
		.layout = info.layout,
		.crash_bytes = (uint64_t)info.crash << 10,
		.buffer = buffer_compare(&info, run),
		.statics = info.parts[RASTRACE_STATE].id,
	};
}

static int other_refused(struct error *err)
{
	error_set(err, -EBUSY,
		  "the kernel module has the buffer of another run directory: kernel code isn't recorded here");
	error_hint(err, "'trace off --all' there gives it back, as does loading it anew: rmmod rastrace; modprobe rastrace");
	return -EBUSY;
}

int kmod_check(const struct run_dir *run, struct error *err)
{
	struct rastrace_info info;
	int code, fd = device_open(&info, err);

	if (fd < 0)
		return fd;
	close(fd);
	code = device_check_layout(&info, err);
	if (!code && buffer_compare(&info, run->path) == KMOD_BUFFER_OTHER)
		code = other_refused(err);
	return code;
}

static int device_do(int fd, unsigned long request, void *argument,
		     struct error *err)
{
	if (!ioctl(fd, request, argument))
		return 0;
	return pin_refused(err, -errno,
			   "the kernel module refuses the buffer");
}

/* What the module has is this directory's, as it is now, or becomes it. */
static int parts_give(int fd, const struct rastrace_info *info,
		      const struct kmod_parts *parts, struct error *err)
{
	struct rastrace_adopt adopt = {
		.size = sizeof(adopt), .layout = RAS_LAYOUT,
		.flags = RASTRACE_ADOPT_AGAIN,
	};
	bool same = info->adopted;

	if (info->adopted == RASTRACE_ADOPTED &&
	    info->parts[RASTRACE_CONTROL].id != parts->ids[RASTRACE_CONTROL])
		return other_refused(err);
	for (int i = 0; i < RASTRACE_PARTS; i++)
		same &= info->parts[i].id == parts->ids[i];
	if (same)
		return device_do(fd, RASTRACE_SWITCH, NULL, err);
	memcpy(adopt.maps, parts->fds, sizeof(adopt.maps));
	return device_do(fd, RASTRACE_ADOPT, &adopt, err);
}

int kmod_hand_over(const struct run_dir *run, struct error *err)
{
	struct rastrace_info info;
	struct kmod_parts parts;
	int code, fd = device_open(&info, err);

	if (fd == -ENOENT || fd == -EACCES)
		return 0;
	if (fd < 0)
		return fd;
	code = kmod_parts_open(&parts, run->path, err);
	if (!code) {
		code = device_check_layout(&info, err);
		if (!code)
			code = parts_give(fd, &info, &parts, err);
		kmod_parts_close(&parts);
	} else if (code == -ENOENT) {
		code = 0;
	}
	close(fd);
	return code;
}

void kmod_release(const struct run_dir *run)
{
	struct rastrace_info info;
	int fd = device_open(&info, NULL);

	if (fd < 0)
		return;
	if (buffer_compare(&info, run->path) == KMOD_BUFFER_OURS)
		ioctl(fd, RASTRACE_RELEASE);
	close(fd);
}

#define PIECE		(64u << 10)

static ssize_t crash_read_piece(int fd, uint8_t piece[PIECE], struct error *err)
{
	ssize_t n;

	do
		n = read(fd, piece, PIECE);
	while (n < 0 && errno == EINTR);
	return n >= 0 ? n :
	       error_set(err, -errno, "cannot read '%s': %s", DEVICE_PATH,
			 strerror(errno));
}

static int device_save(int fd, const struct rastrace_info *info,
		       const char *path, struct error *err)
{
	uint8_t piece[PIECE];
	struct outfile *out;
	ssize_t size = crash_read_piece(fd, piece, err);
	int code;

	if (size < 0)
		return size;
	if (!size && !info->crash) {
		error_set(err, -ENODATA,
			  "the kernel module has no memory that outlives a panic");
		error_hint(err, "load it with crash_mem=, see rastrace(4)");
		return -ENODATA;
	}
	if (!size) {
		error_set(err, -ENODATA, "no panic has left a trace, or it is saved already");
		error_hint(err, "with kdump it is in the dump: tracefmt --vmcore FILE");
		return -ENODATA;
	}
	if (size < (ssize_t)sizeof(struct ras_file) ||
	    memcmp(piece, RAS_FILE_MAGIC, strlen(RAS_FILE_MAGIC)))
		return error_set(err, -EINVAL,
				 "what the kernel module has is no trace");
	code = outfile_open(&out, path, err);
	if (code)
		return code;
	while (size > 0) {
		outfile_write(out, piece, size);
		size = crash_read_piece(fd, piece, err);
	}
	if (!size)
		return outfile_commit(out, err);
	outfile_abort(out);
	return size;
}

int crash_save(const char *path, bool *kept, struct error *err)
{
	struct rastrace_info info;
	int fd = device_open(&info, err), code;

	if (fd < 0)
		return fd;
	code = device_save(fd, &info, path, err);
	*kept = !code && ioctl(fd, RASTRACE_FORGET);
	close(fd);
	return code;
}
