// SPDX-License-Identifier: GPL-2.0
#include "pin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "sysbpf.h"

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

int pin_map_open(const char *path, struct bpf_map_info *info,
		 struct error *err)
{
	int fd, code = pin_check_owner(path, err);

	if (code)
		return code;
	fd = sysbpf_object_get(path);
	if (fd < 0)
		return pin_refused(err, fd, "cannot open '%s'", path);
	code = sysbpf_map_info(fd, info);
	if (code || info->type != BPF_MAP_TYPE_ARRAY ||
	    !(info->map_flags & BPF_F_MMAPABLE)) {
		close(fd);
		return error_set(err, -EINVAL,
				 "'%s' was not made by trace: not an array that can be mapped",
				 path);
	}
	return fd;
}

void *pin_map_view(int fd, const struct bpf_map_info *info, int write,
		   size_t *size, struct error *err)
{
	size_t stride = ((size_t)info->value_size + 7) & ~(size_t)7;
	void *view;
	int cause;

	*size = stride * info->max_entries;
	view = mmap(NULL, *size, write ? PROT_READ | PROT_WRITE : PROT_READ,
		    MAP_SHARED, fd, 0);
	if (view != MAP_FAILED)
		return view;
	cause = errno;
	error_set(err, -cause, "cannot map '%s': %s", info->name,
		  strerror(cause));
	errno = cause;
	return NULL;
}

static const char *refusal_hint(int code)
{
	switch (-code) {
	case EPERM:
	case EACCES:
		return geteuid() ?
			"run it as root (sudo)" :
			"refused even to root: a container without CAP_SYS_ADMIN, "
			"CAP_BPF and CAP_PERFMON, a seccomp filter, or lockdown "
			"(/sys/kernel/security/lockdown)";
	case ENOSYS:
		return "this kernel has no BPF (CONFIG_BPF_SYSCALL)";
	case ENODEV:
		return "this kernel has no bpffs (CONFIG_BPF_SYSCALL)";
	default:
		return NULL;
	}
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
