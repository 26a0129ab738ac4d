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
	else if (code == -EINVAL && !kernel)
		error_hint(err, "is there a probe with another semaphore, or "
			   "with none, or was there one just now?");
	return code;
}

/* The path of what was verified, whatever has its name now. */
static void target_path(const struct target *target, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", target->fd);
}

static int link_keep(int link, const struct tdf *tdf, uint32_t index,
		     uint32_t site, const char *dir, struct error *err)
{
	char name[32];

	if (link < 0)
		return attach_refused(link, tdf, &tdf->points[index],
				      &tdf->sites[site], err);
	snprintf(name, sizeof(name), "%u_%u", index, site);
	return link_pin(link, dir, name, err);
}

/* All sites with one link. */
static int attach_multi(int program, const struct tdf *tdf, uint32_t index,
			const uint32_t *sites, uint32_t count,
			const struct target *target, const char *dir,
			struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	uint64_t *offsets = calloc(3 * (size_t)count, sizeof(*offsets));
	struct sysbpf_multi multi = {
		.offsets = offsets, .cookies = offsets + count, .count = count,
		.returns = tdf->sites[sites[0]].flags & TDF_SITE_RETURN,
	};
	char path[32];
	int link;

	if (!offsets)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		const struct tdf_site *site = &tdf->sites[sites[i]];

		offsets[i] = site->offset;
		offsets[count + i] = RAS_COOKIE(point->minor, index, sites[i]);
		offsets[2 * count + i] = site->semaphore;
		if (site->semaphore)
			multi.semaphores = offsets + 2 * count;
	}
	target_path(target, path, sizeof(path));
	link = sysbpf_multi_link(program, path, &multi);
	free(offsets);
	return link_keep(link, tdf, index, sites[0], dir, err);
}

/* Of config of a perf event for probes, as its PMU's `format` has it */
#define CONFIG_RETPROBE		1u
#define CONFIG_SEMAPHORE	32	/* the shift of 32 bits */

static int perf_open(int type, uint64_t config, const void *where,
		     uint64_t offset)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.config1 = (uintptr_t)where,	/* path or symbol */
		.config2 = offset,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
			  PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int event_open(const struct tdf *tdf, const struct tdf_site *site,
		      const struct target *target,
		      const struct features *features)
{
	uint64_t config = site->flags & TDF_SITE_RETURN ? CONFIG_RETPROBE : 0;
	const char *symbol = tdf_string(tdf, site->symbol);
	char path[32], qualified[KERNEL_MODULE_NAME + 512];

	if (target->module[0]) {
		snprintf(qualified, sizeof(qualified), "%s:%s", target->module,
			 symbol);
		symbol = qualified;
	}
	if (target->fd < 0)
		return perf_open(features->kprobe_type, config, symbol,
				 site->offset);
	if (site->semaphore > UINT32_MAX)
		return -E2BIG;
	target_path(target, path, sizeof(path));
	return perf_open(features->uprobe_type,
			 config | site->semaphore << CONFIG_SEMAPHORE, path,
			 site->offset);
}

static int attach_perf(int program, const struct tdf *tdf, uint32_t index,
		       uint32_t site, const struct target *target,
		       const struct features *features, const char *dir,
		       struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	int link, event = event_open(tdf, &tdf->sites[site], target, features);

	if (event < 0)
		return attach_refused(event, tdf, point, &tdf->sites[site],
				      err);
	link = sysbpf_perf_link(program, event,
				RAS_COOKIE(point->minor, index, site));
	close(event);
	return link_keep(link, tdf, index, site, dir, err);
}

int attach_return_probe(int program, const char *path, uint64_t offset,
			const struct features *features)
{
	uint64_t cookie = 0;
	struct sysbpf_multi multi = {
		.offsets = &offset, .cookies = &cookie, .count = 1,
		.returns = true,
	};
	int event, link;

	if (features->multi)
		return sysbpf_multi_link(program, path, &multi);
	event = perf_open(features->uprobe_type, CONFIG_RETPROBE, path, offset);
	if (event < 0)
		return event;
	link = sysbpf_perf_link(program, event, cookie);
	close(event);
	return link;
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

int attach_sites(int program, const struct tdf *tdf, uint32_t point,
		 const uint32_t *sites, uint32_t count,
		 const struct target *target, const struct features *features,
		 const char *dir, struct error *err)
{
	const struct tdf_module *module =
		&tdf->modules[tdf->points[point].module];
	int code;

	if (attach_is_multi(module, features))
		return attach_multi(program, tdf, point, sites, count, target,
				    dir, err);
	code = type_check(target, features, err);
	for (uint32_t i = 0; i < count && !code; i++)
		code = attach_perf(program, tdf, point, sites[i], target,
				   features, dir, err);
	return code;
}
