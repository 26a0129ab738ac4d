// SPDX-License-Identifier: GPL-2.0
#include "attach.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <rastrace/buffer.h>
#include "lib/buffer/pin.h"
#include "lib/sysbpf.h"
#include "program.h"

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
	code = bpf_obj_pin(link, path);
	close(link);
	return code ? pin_refused(err, code, "cannot pin '%s'", path) : 0;
}


static int attach_refused(int code, const struct tdf *tdf,
			  const struct tdf_point *point,
			  const struct tdf_site *site, struct error *err)
{
	const struct tdf_module *module = &tdf->modules[point->module];
	bool kernel = module->kind != TDF_MODULE_USER;
	bool inside;

	inside = code == -EILSEQ ||
		 (code == -EINVAL && module->machine == EM_AARCH64 &&
		  site->symbol_offset % 4);
	pin_refused(err, code,
		    "tracepoint %u ('%s'): cannot probe %s+%u", point->minor,
		    tdf_string(tdf, point->name),
		    tdf_string(tdf, site->symbol), site->symbol_offset);
	if (kernel)
		pin_perf_hint(err, code);
	if (inside)
		error_hint(err, "there is no instruction that begins there");
	else if (code == -ENOENT)
		error_hint(err, kernel ? "the kernel has no such symbol" :
			   "is /proc mounted?");
	else if (code == -EACCES && !kernel)
		error_hint(err, "run it as root: without CAP_SYS_ADMIN programs are traced where the kernel has uprobe_multi links (from 6.6 on), and without --attach perf");
	else if (code == -EINVAL && !kernel)
		error_hint(err, "is there a probe with another semaphore, or "
			   "with none, or was there one just now?");
	if (kernel && !inside)
		kernel_refusal_explain(tdf_string(tdf, site->symbol), code,
				       err);
	return code;
}

/* The path of what was verified, whatever has its name now. */
static void file_path(const struct target_file *file, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", file->fd);
}

/* `copy`: of the module; the first has no number. */
static int link_keep(int link, const struct tdf *tdf, uint32_t index,
		     uint32_t site, uint32_t copy, const char *dir,
		     struct error *err)
{
	char name[48];

	if (link < 0)
		return attach_refused(link, tdf, &tdf->points[index],
				      &tdf->sites[site], err);
	snprintf(name, sizeof(name), copy ? "%u_%u_%u" : "%u_%u", index, site,
		 copy);
	return link_pin(link, dir, name, err);
}

/* All sites with one link. */
static int attach_multi(int program, const struct tdf *tdf, uint32_t index,
			const uint32_t *sites, uint32_t count,
			const struct target *target, uint32_t copy,
			const char *dir, struct error *err)
{
	uint64_t *offsets = calloc(3 * (size_t)count, sizeof(*offsets));
	struct sysbpf_multi multi = {
		.offsets = offsets, .cookies = offsets + count, .count = count,
		.returns = tdf->sites[sites[0]].flags & TDF_SITE_RETURN,
		.pid = target->pid,
	};
	char path[32];
	int link;

	if (!offsets)
		return error_no_memory(err);
	for (uint32_t i = 0; i < count; i++) {
		const struct tdf_site *site = &tdf->sites[sites[i]];

		offsets[i] = site->offset;
		offsets[count + i] = program_cookie(tdf, index, sites[i]);
		offsets[2 * count + i] = site->semaphore;
		if (site->semaphore)
			multi.semaphores = offsets + 2 * count;
	}
	file_path(&target->files[copy], path, sizeof(path));
	link = sysbpf_multi_link(program, path, &multi);
	free(offsets);
	return link_keep(link, tdf, index, sites[0], copy, dir, err);
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
		      const struct target *target, uint32_t copy,
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
	if (!target->file_count)
		return perf_open(features->kprobe_type, config, symbol,
				 site->offset);
	if (site->semaphore > UINT32_MAX)
		return -E2BIG;
	file_path(&target->files[copy], path, sizeof(path));
	return perf_open(features->uprobe_type,
			 config | site->semaphore << CONFIG_SEMAPHORE, path,
			 site->offset);
}

static int attach_perf(int program, const struct tdf *tdf, uint32_t index,
		       uint32_t site, const struct target *target,
		       uint32_t copy, const struct features *features,
		       const char *dir, struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	int link, event = event_open(tdf, &tdf->sites[site], target, copy,
				     features);

	if (event < 0)
		return attach_refused(event, tdf, point, &tdf->sites[site],
				      err);
	link = sysbpf_perf_link(program, event,
				program_cookie(tdf, index, site));
	close(event);
	return link_keep(link, tdf, index, site, copy, dir, err);
}

int attach_probe(int program, const char *path, uint64_t offset, bool returns,
		 uint32_t pid, const struct features *features)
{
	uint64_t cookie = 0;
	struct sysbpf_multi multi = {
		.offsets = &offset, .cookies = &cookie, .count = 1,
		.returns = returns, .pid = pid,
	};
	int event, link;

	if (features->multi)
		return sysbpf_multi_link(program, path, &multi);
	event = perf_open(features->uprobe_type, returns ? CONFIG_RETPROBE : 0,
			  path, offset);
	if (event < 0)
		return event;
	link = sysbpf_perf_link(program, event, cookie);
	close(event);
	return link;
}

static int type_check(const struct target *target,
		      const struct features *features, struct error *err)
{
	if (!target->file_count && features->kprobe_type < 0)
		return error_set(err, -EOPNOTSUPP,
				 "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	if (target->file_count && features->uprobe_type < 0)
		return error_set(err, -EOPNOTSUPP,
				 "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	return 0;
}

/* In one file, or the kernel. */
static int attach_copy(int program, const struct tdf *tdf, uint32_t point,
		       const uint32_t *sites, uint32_t count,
		       const struct target *target, uint32_t copy,
		       const struct features *features, const char *dir,
		       struct error *err)
{
	const struct tdf_module *module =
		&tdf->modules[tdf->points[point].module];
	int code;

	if (attach_is_multi(module, features))
		return attach_multi(program, tdf, point, sites, count, target,
				    copy, dir, err);
	code = type_check(target, features, err);
	for (uint32_t i = 0; i < count && !code; i++)
		code = attach_perf(program, tdf, point, sites[i], target, copy,
				   features, dir, err);
	return code;
}

int attach_sites(int program, const struct tdf *tdf, uint32_t point,
		 const uint32_t *sites, uint32_t count,
		 const struct target *target, const struct features *features,
		 const char *dir, struct error *err)
{
	uint32_t copy = 0;
	int code;

	do {
		code = attach_copy(program, tdf, point, sites, count, target,
				   copy, features, dir, err);
	} while (!code && ++copy < target->file_count);
	return code;
}

static int attach_file_perf(int program, const char *path,
			    const uint64_t *offsets, uint32_t count,
			    const struct features *features, const char *dir)
{
	char name[16];
	int code = 0;

	for (uint32_t i = 0; i < count && !code; i++) {
		int link, event = perf_open(features->uprobe_type, 0, path,
					    offsets[i]);

		if (event < 0)
			return event;
		link = sysbpf_perf_link(program, event, 0);
		close(event);
		snprintf(name, sizeof(name), "%u", i);
		code = link < 0 ? link : link_pin(link, dir, name, NULL);
	}
	return code;
}

int attach_file(int program, const char *path, const uint64_t *offsets,
		uint32_t count, const struct features *features,
		const char *dir)
{
	uint64_t *cookies;
	int link;

	if (!features->multi)
		return attach_file_perf(program, path, offsets, count,
					features, dir);
	cookies = calloc(count, sizeof(*cookies));
	if (!cookies)
		return -ENOMEM;
	link = sysbpf_multi_link(program, path, &(struct sysbpf_multi){
		.offsets = offsets, .cookies = cookies, .count = count,
	});
	free(cookies);
	return link < 0 ? link : link_pin(link, dir, "0", NULL);
}
