// SPDX-License-Identifier: GPL-2.0
#include "pin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "lib/sysbpf.h"

const char *pin_run(void)
{
	const char *run = getenv(PIN_RUN_VARIABLE);

	return run && *run ? run : PIN_RUN_DEFAULT;
}

static int pin_check_owner(const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st))
		return pin_refused(err, -errno, "cannot open '%s'", path);
	if (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()) ||
	    st.st_mode & S_IWOTH)
		return error_set(err, -EPERM,
				 "'%s' was not made by trace: wrong owner, mode or kind",
				 path);
	return 0;
}

/* A group's member may only read what isn't frozen. */
static int pin_open(const char *path, struct bpf_map_info *info,
		    struct error *err)
{
	uint32_t size = sizeof(*info);
	int fd, code = pin_check_owner(path, err);

	if (code)
		return code;
	fd = sysbpf_map_get(path);
	if (fd < 0)
		return pin_refused(err, fd, "cannot open '%s'", path);
	*info = (struct bpf_map_info){ 0 };
	code = bpf_obj_get_info_by_fd(fd, info, &size);
	if (!code)
		return fd;
	close(fd);
	return error_set(err, -EINVAL, "'%s' was not made by trace: no map",
			 path);
}

int pin_map_open(const char *path, struct bpf_map_info *info,
		 struct error *err)
{
	int fd = pin_open(path, info, err);

	if (fd < 0 || (info->type == BPF_MAP_TYPE_ARRAY &&
		       info->map_flags & BPF_F_MMAPABLE))
		return fd;
	close(fd);
	return error_set(err, -EINVAL,
			 "'%s' was not made by trace: not an array that can be mapped",
			 path);
}

int pin_hash_open(const char *path, uint32_t type, uint32_t key_size,
		  uint32_t value_size, struct error *err)
{
	struct bpf_map_info info;
	int fd = pin_open(path, &info, err);

	if (fd < 0 || (info.type == type && info.value_size == value_size &&
		       (!key_size || info.key_size == key_size)))
		return fd;
	close(fd);
	return error_set(err, -EINVAL,
			 "'%s' was not made by trace: another kind of map",
			 path);
}

static bool can_write(int fd)
{
	return (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
}

static int entries_read(int fd, const struct bpf_map_info *info, void *values)
{
	return info->max_entries == 1 ? bpf_map_lookup_elem(fd,
							    &(uint32_t){ 0 },
							    values) :
		sysbpf_array_read(fd, info, values);
}

/* What can't be written can't be mapped: the kernel wants VM_SHARED. */
static void *copy_make(int fd, const struct bpf_map_info *info, size_t size)
{
	void *view = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int code;

	if (view == MAP_FAILED)
		return view;
	code = entries_read(fd, info, view);
	if (!code)
		return view;
	munmap(view, size);
	errno = -code;
	return MAP_FAILED;
}

void *pin_map_view(int fd, const struct bpf_map_info *info, int write,
		   size_t *size, struct error *err)
{
	size_t stride = ((size_t)info->value_size + 7) & ~(size_t)7;
	void *view;
	int cause;

	*size = stride * info->max_entries;
	if (write || can_write(fd))
		view = mmap(NULL, *size,
			    write ? PROT_READ | PROT_WRITE : PROT_READ,
			    MAP_SHARED, fd, 0);
	else
		view = copy_make(fd, info, *size);
	if (view != MAP_FAILED)
		return view;
	cause = errno;
	pin_refused(err, -cause, "cannot map '%s'", info->name);
	errno = cause;
	return NULL;
}

int pin_map_refresh(int fd, void *view, size_t size, struct error *err)
{
	struct bpf_map_info info = { 0 };
	uint32_t info_size = sizeof(info);
	int code;

	if (can_write(fd))
		return 0;
	code = bpf_obj_get_info_by_fd(fd, &info, &info_size);
	if (!code && ((info.value_size + 7ULL) & ~7ULL) * info.max_entries ==
	    size)
		code = entries_read(fd, &info, view);
	return code ? pin_refused(err, code, "cannot read '%s'", info.name) : 0;
}

static const char *refusal_hint(int code)
{
	switch (-code) {
	case EPERM:
	case EACCES:
		return geteuid() ?
			"run it as root (sudo), or with CAP_BPF and CAP_PERFMON "
			"and a bpffs directory of yours (RASTRACE_RUN)" :
			"refused even to root: in a user namespace, a container "
			"without CAP_SYS_ADMIN, CAP_BPF and CAP_PERFMON, by a "
			"seccomp filter, or lockdown "
			"(/sys/kernel/security/lockdown)";
	case ENOSYS:
		return "this kernel has no BPF (CONFIG_BPF_SYSCALL)";
	case ENODEV:
		return "this kernel has no bpffs (CONFIG_BPF_SYSCALL)";
	default:
		return NULL;
	}
}

/* Debian's kernels begin with 3. */
static bool perf_for_root_only(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = 0;

	if (!file)
		return false;
	if (fscanf(file, "%d", &level) != 1)
		level = 0;
	fclose(file);
	return level > 2;
}

void pin_perf_hint(struct error *err, int code)
{
	if (code == -EACCES && perf_for_root_only())
		error_hint(err, "without CAP_SYS_ADMIN the kernel has no perf events while kernel.perf_event_paranoid is above 2: sysctl kernel.perf_event_paranoid=2, or run it as root");
}

int pin_refused(struct error *err, int code, const char *fmt, ...)
{
	const char *hint = refusal_hint(code);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	error_set(err, code, "%s: %s", text, strerror(-code));
	if (hint)
		error_hint(err, "%s", hint);
	return code;
}
