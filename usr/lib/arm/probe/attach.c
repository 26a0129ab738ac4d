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

/* Of config of a perf event for probes, as its PMU's `format` has it */
#define CONFIG_RETPROBE		1u
#define CONFIG_SEMAPHORE	32	/* the shift of 32 bits */

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
	/* Some machines have an errno of their own for it; on AArch64 all
	 * instructions begin at multiples of four. */
	bool inside = code == -EILSEQ ||
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
static void target_fd_path(const struct target_file *file, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", file->fd);
}

/* All sites with one link. */
static int multi_link(int program, const struct tdf *tdf, uint32_t index,
		      const uint32_t *sites, uint32_t count,
		      const struct target *target, uint32_t copy)
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
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct tdf_site *site = &tdf->sites[sites[i]];

		offsets[i] = site->offset;
		offsets[count + i] = program_cookie(tdf, index, sites[i]);
		offsets[2 * count + i] = site->semaphore;
		if (site->semaphore)
			multi.semaphores = offsets + 2 * count;
	}
	target_fd_path(&target->files[copy], path);
	link = sysbpf_multi_link(program, path, &multi);
	free(offsets);
	return link;
}

/* where: a path or a symbol */
static int perf_link(int program, int type, uint64_t config, const void *where,
		     uint64_t offset, uint64_t cookie)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = type, .config = config,
		.config1 = (uintptr_t)where, .config2 = offset,
	};
	int link, event = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
				  PERF_FLAG_FD_CLOEXEC);

	if (event < 0)
		return -errno;
	link = sysbpf_perf_link(program, event, cookie);
	close(event);
	return link;
}

static int site_link(int program, const struct tdf *tdf, uint32_t index,
		     uint32_t site_index, const struct target *target,
		     uint32_t copy, const struct features *features)
{
	const struct tdf_site *site = &tdf->sites[site_index];
	uint64_t config = site->flags & TDF_SITE_RETURN ? CONFIG_RETPROBE : 0;
	uint64_t cookie = program_cookie(tdf, index, site_index);
	const char *symbol = tdf_string(tdf, site->symbol);
	char path[32], qualified[KERNEL_MODULE_NAME + 512];

	if (target->file_count) {
		if (site->semaphore > UINT32_MAX)
			return -E2BIG;
		target_fd_path(&target->files[copy], path);
		return perf_link(program, features->uprobe_type, config |
				 site->semaphore << CONFIG_SEMAPHORE, path,
				 site->offset, cookie);
	}
	if (target->module[0]) {
		snprintf(qualified, sizeof(qualified), "%s:%s", target->module,
			 symbol);
		symbol = qualified;
	}
	return perf_link(program, features->kprobe_type, config, symbol,
			 site->offset, cookie);
}

bool attach_is_multi(const struct tdf_module *module,
		     const struct features *features)
{
	return module->kind == TDF_MODULE_USER && features->multi;
}

/* In one file, or the kernel. */
static int attach_copy(int program, const struct tdf *tdf, uint32_t index,
		       const uint32_t *sites, uint32_t count,
		       const struct target *target, uint32_t copy,
		       const struct features *features, const char *dir,
		       struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	bool multi = attach_is_multi(&tdf->modules[point->module], features);
	char name[48];
	int code = 0;

	if (!multi && !target->file_count && features->kprobe_type < 0)
		return error_set(err, -EOPNOTSUPP,
				 "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
	if (!multi && target->file_count && features->uprobe_type < 0)
		return error_set(err, -EOPNOTSUPP,
				 "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	for (uint32_t i = 0; i < (multi ? 1 : count) && !code; i++) {
		int link = multi ?
			multi_link(program, tdf, index, sites, count, target,
				   copy) :
			site_link(program, tdf, index, sites[i], target, copy,
				  features);

		if (link < 0)
			return attach_refused(link, tdf, point,
					      &tdf->sites[sites[i]], err);
		/* the first file of the module has no number */
		snprintf(name, sizeof(name), copy ? "%u_%u_%u" : "%u_%u",
			 index, sites[i], copy);
		code = link_pin(link, dir, name, err);
	}
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

int attach_probe(int program, const char *path, uint64_t offset, bool returns,
		 const struct features *features)
{
	uint64_t cookie = 0;

	if (!features->multi)
		return perf_link(program, features->uprobe_type,
				 returns ? CONFIG_RETPROBE : 0, path, offset,
				 cookie);
	return sysbpf_multi_link(program, path, &(struct sysbpf_multi){
		.offsets = &offset, .cookies = &cookie, .count = 1,
		.returns = returns,
	});
}

int attach_file(int program, const char *path, const uint64_t *offsets,
		uint32_t count, const struct features *features,
		const char *dir)
{
	uint64_t *cookies = calloc(count, sizeof(*cookies));
	struct sysbpf_multi multi = {
		.offsets = offsets, .cookies = cookies, .count = count,
	};
	int code = cookies ? 0 : -ENOMEM;
	char name[16];

	for (uint32_t i = 0; i < (features->multi ? 1 : count) && !code; i++) {
		int link = features->multi ?
			sysbpf_multi_link(program, path, &multi) :
			perf_link(program, features->uprobe_type, 0, path,
				  offsets[i], 0);

		snprintf(name, sizeof(name), "%u", i);
		code = link < 0 ? link : link_pin(link, dir, name, NULL);
	}
	free(cookies);
	return code;
}
