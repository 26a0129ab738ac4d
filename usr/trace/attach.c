// SPDX-License-Identifier: GPL-2.0
#include "attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <rastrace/buffer.h>
#include "../lib/pin.h"
#include "../lib/sysbpf.h"

bool attach_is_multi(const struct tdf_module *module,
		     const struct features *features)
{
	return module->kind == TDF_MODULE_USER && features->multi;
}

static int link_pin(int link, const char *dir, const char *name,
		    struct error *err)
{
	char path[PATH_MAX];
	int code;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	code = sysbpf_object_pin(link, path);
	close(link);
	return code ? pin_refused(err, code, "cannot pin '%s'", path) : 0;
}

static int attach_refused(int code, const struct tdf *tdf,
			  const struct tdf_point *point,
			  const struct tdf_site *site, struct error *err)
{
	bool kernel = tdf->modules[point->module].kind != TDF_MODULE_USER;

	pin_refused(err, code,
		    "tracepoint %u ('%s'): cannot probe %s+%u", point->minor,
		    tdf_string(tdf, point->name),
		    tdf_string(tdf, site->symbol), site->symbol_offset);
	if (code == -EILSEQ)
		error_hint(err, "there is no instruction that begins there");
	else if (code == -ENOENT)
		error_hint(err, kernel ? "the kernel has no such symbol" :
			   "is /proc mounted?");
	return code;
}

/* The path of what was verified, whatever has its name now. */
static void target_path(const struct target *target, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", target->fd);
}

/* All sites of a point with one link. */
static int attach_multi(int program, const struct tdf *tdf, uint32_t index,
			const struct target *target, const char *dir,
			struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	uint64_t *offsets = calloc(2 * (size_t)point->sites, sizeof(*offsets));
	uint64_t *cookies = offsets + point->sites;
	char path[32], name[16];
	int link;

	if (!offsets)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < point->sites; i++) {
		uint32_t site = point->first_site + i;

		offsets[i] = tdf->sites[site].offset;
		cookies[i] = RAS_COOKIE(point->minor, index, site);
	}
	target_path(target, path, sizeof(path));
	link = sysbpf_multi_link(program, path, offsets, cookies,
				 point->sites);
	free(offsets);
	if (link < 0)
		return attach_refused(link, tdf, point,
				      &tdf->sites[point->first_site], err);
	snprintf(name, sizeof(name), "%u", index);
	return link_pin(link, dir, name, err);
}

static int perf_open(int type, const void *where, uint64_t offset)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config1 = (uintptr_t)where,	/* path or symbol */
		.config2 = offset,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int attach_perf(int program, const struct tdf *tdf, uint32_t index,
		       uint32_t site, int event, const char *dir,
		       struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	char name[32];
	int link;

	if (event < 0)
		return attach_refused(event, tdf, point, &tdf->sites[site],
				      err);
	link = sysbpf_perf_link(program, event,
				RAS_COOKIE(point->minor, index, site));
	close(event);
	if (link < 0)
		return attach_refused(link, tdf, point, &tdf->sites[site],
				      err);
	snprintf(name, sizeof(name), "%u_%u", index, site);
	return link_pin(link, dir, name, err);
}

static int event_open(const struct tdf *tdf, const struct tdf_site *site,
		      const struct target *target,
		      const struct features *features)
{
	char path[32];

	if (target->fd < 0)
		return perf_open(features->kprobe_type,
				 tdf_string(tdf, site->symbol), site->offset);
	target_path(target, path, sizeof(path));
	return perf_open(features->uprobe_type, path, site->offset);
}

static int type_check(const struct target *target,
		      const struct features *features, struct error *err)
{
	if (target->fd < 0 && features->kprobe_type < 0)
		return error_set(err, -EOPNOTSUPP,
				 "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	if (target->fd >= 0 && features->uprobe_type < 0)
		return error_set(err, -EOPNOTSUPP,
				 "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	return 0;
}

int attach_point(int program, const struct tdf *tdf, uint32_t index,
		 const struct target *target, const struct features *features,
		 const char *dir, struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	int code;

	if (attach_is_multi(&tdf->modules[point->module], features))
		return attach_multi(program, tdf, index, target, dir, err);
	code = type_check(target, features, err);
	for (uint32_t i = 0; i < point->sites && !code; i++) {
		uint32_t site = point->first_site + i;

		code = attach_perf(program, tdf, index, site,
				   event_open(tdf, &tdf->sites[site], target,
					      features),
				   dir, err);
	}
	return code;
}
