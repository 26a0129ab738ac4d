// SPDX-License-Identifier: GPL-2.0
#include "arm.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "../lib/pin.h"
#include "../lib/sysbpf.h"
#include "attach.h"
#include "func_ip.h"
#include "pins.h"
#include "program.h"
#include "retire.h"
#include "sesslog.h"

#define NAME_LONGEST	48

struct arming {
	const struct run_dir *run;
	struct buffer *buffer;
	const struct features *features;
	const struct tdf *tdf;
	const struct target *targets;
	struct ras_session *entry;	/* in the live log */
	char name[NAME_LONGEST + 16];
	char dir[PATH_MAX];		/* RUN/new/NAME */
	struct body_needs needs;	/* of any site */
	int count_fd, state_fd, sites_fd, limits_fd;
};

/* "/x/my app.v2.tdf" gives "my_app_v2": bpffs takes no dots. */
static void name_from_path(const char *path, char *name)
{
	const char *base = strrchr(path, '/');
	size_t length;

	base = base ? base + 1 : path;
	length = strlen(base);
	if (length > 4 && !strcasecmp(base + length - 4, ".tdf"))
		length -= 4;
	if (length > NAME_LONGEST)
		length = NAME_LONGEST;
	for (size_t i = 0; i < length; i++)
		name[i] = isalnum((unsigned char)base[i]) || base[i] == '-' ?
			base[i] : '_';
	name[length] = '\0';
}

/* Another TDF may have the same base name: app, app_2, app_3 ... */
static void name_choose(struct arming *a, const char *path)
{
	char base[NAME_LONGEST + 1], taken[PATH_MAX];
	struct stat st;

	name_from_path(path, base);
	strcpy(a->name, base);
	for (unsigned int n = 2;; n++) {
		snprintf(taken, sizeof(taken), "%s/armed/%s", a->run->path,
			 a->name);
		if (lstat(taken, &st))
			break;
		snprintf(a->name, sizeof(a->name), "%s_%u", base, n);
	}
	snprintf(a->dir, sizeof(a->dir), "%s/new/%s", a->run->path, a->name);
}

static int dirs_make(const struct arming *a, struct error *err)
{
	char name[NAME_MAX];
	int code = run_dir_make(a->run, "new", err);

	if (!code)
		code = run_dir_make(a->run, "armed", err);
	snprintf(name, sizeof(name), "new/%s", a->name);
	return code ? code : run_dir_make(a->run, name, err);
}

static int map_make(const struct arming *a, const char *name,
		    uint32_t value_size, uint32_t entries, int *fd,
		    struct error *err)
{
	char path[PATH_MAX + 16];
	int code;

	*fd = sysbpf_array_create(name, value_size, entries);
	if (*fd < 0)
		return pin_refused(err, *fd,
				   "cannot make the map '%s' of %u times %u bytes",
				   name, entries, value_size);
	snprintf(path, sizeof(path), "%s/%s", a->dir, name);
	code = sysbpf_object_pin(*fd, path);
	return code ? pin_refused(err, code, "cannot pin '%s'", path) : 0;
}

/* The addresses as linked, or for the kernel's sites the bias. */
static int sites_fill(const struct arming *a, struct error *err)
{
	size_t size = a->tdf->header->sites.count * sizeof(uint64_t);
	uint64_t *sites = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       a->sites_fd, 0);

	if (sites == MAP_FAILED)
		return error_set(err, -errno, "cannot map 'sites': %s",
				 strerror(errno));
	for (uint32_t i = 0; i < a->tdf->header->points.count; i++) {
		const struct tdf_point *point = &a->tdf->points[i];
		const struct target *target = &a->targets[point->module];

		for (uint32_t k = 0; k < point->sites; k++) {
			uint32_t site = point->first_site + k;

			sites[site] = target->biases ? target->biases[site] :
				target->fd < 0 ? target->bias :
				a->tdf->sites[site].address;
		}
	}
	munmap(sites, size);
	return 0;
}

static int maps_make(struct arming *a, struct error *err)
{
	const struct tdf_header *header = a->tdf->header;
	struct ras_state state = {
		.state = RAS_STATE_OFF, .session = a->entry->index,
	};
	uint32_t rows;
	int code;

	if (__builtin_mul_overflow(header->points.count, a->buffer->slices,
				   &rows))
		return error_set(err, -E2BIG,
				 "%u tracepoints are too many for %u CPUs",
				 header->points.count,
				 a->buffer->control->cpus);
	code = map_make(a, "count", sizeof(struct ras_count),
			rows, &a->count_fd, err);
	if (!code)
		code = map_make(a, "state", sizeof(state), 1, &a->state_fd,
				err);
	if (!code)
		code = map_make(a, "sites", sizeof(uint64_t),
				header->sites.count, &a->sites_fd, err);
	if (!code && a->needs.limits)
		code = map_make(a, "limits", sizeof(struct ras_limit),
				header->points.count, &a->limits_fd, err);
	if (!code) {
		code = sysbpf_map_update(a->state_fd, 0, &state);
		if (code)
			pin_refused(err, code, "cannot fill the map 'state'");
	}
	return code ? code : sites_fill(a, err);
}

static void fd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* From *site on, a program's sites that are of the same point; *site becomes
 * the one behind them. */
static uint32_t sites_take(const struct program_set *set, uint32_t *site,
			   uint32_t *sites)
{
	uint32_t point = set->points[*site], count = 0;

	while (*site != PROGRAM_NO_SITE && set->points[*site] == point) {
		sites[count++] = *site;
		*site = set->next_site[*site];
	}
	return count;
}

static int program_attach(const struct arming *a, const struct program_set *set,
			  const struct program *program, struct error *err)
{
	uint32_t site = program->first_site;
	uint16_t module = a->tdf->points[set->points[site]].module;
	uint32_t type = attach_is_multi(&a->tdf->modules[module],
					a->features) ? SYSBPF_UPROBE_MULTI : 0;
	uint32_t *sites = calloc(TDF_SITES_MAX, sizeof(*sites));
	int code = 0, fd;

	if (!sites)
		return error_set(err, -ENOMEM, "out of memory");
	fd = program_load(program, type, err);
	if (fd < 0)
		code = fd;
	while (site != PROGRAM_NO_SITE && !code) {
		uint32_t point = set->points[site];
		uint32_t count = sites_take(set, &site, sites);

		module = a->tdf->points[point].module;
		code = attach_sites(fd, a->tdf, point, sites, count,
				    &a->targets[module], a->features, a->dir,
				    err);
	}
	fd_close(fd);
	free(sites);
	return code;
}

static int programs_attach(const struct arming *a, struct error *err)
{
	const struct ras_control *control = a->buffer->control;
	struct body_target target = {
		.buffer_fd = a->buffer->main_view.fd,
		.nest_fd = a->buffer->nest_view.fd,
		.count_fd = a->count_fd,
		.state_fd = a->state_fd,
		.sites_fd = a->sites_fd,
		.limits_fd = a->limits_fd,
		.test_fd = -1,
		.key = control->key,
		.slice_bytes = control->slice_bytes,
		.nest_bytes = control->nest_bytes,
		.cpus = control->cpus,
		.session = a->entry->index,
		.major = a->tdf->header->major,
		.preempt_disable = a->features->preempt_disable,
		.preempt_enable = a->features->preempt_enable,
		.func_ip = a->needs.func_ip && func_ip_works(a->features),
#if !defined(__x86_64__)
		.strong = true,
#endif
	};
	struct program_set set;
	int code;

	if (a->needs.thread_base)
		features_read_thread(target.thread_base);
	code = program_set_make(&set, a->tdf, &target, err);
	for (size_t i = 0; i < set.count && !code; i++)
		code = program_attach(a, &set, &set.items[i], err);
	program_set_free(&set);
	return code;
}

/* All is attached and records nothing yet: make it visible, then enable. */
static int session_enable(const struct arming *a, struct error *err)
{
	char armed[PATH_MAX];
	int code;

	snprintf(armed, sizeof(armed), "%s/armed/%s", a->run->path, a->name);
	if (rename(a->dir, armed))
		return pin_refused(err, -errno, "cannot rename '%s' to '%s'",
				   a->dir, armed);
	__atomic_store_n(&a->entry->disarmed, 0, __ATOMIC_RELEASE);
	code = retire_state_set(armed, RAS_STATE_ON, err);
	if (code)
		pins_remove(a->run->path, armed);
	return code;
}

static uint32_t session_flags(const struct arming *a)
{
	uint32_t flags = 0;

	for (uint32_t i = 0; i < a->tdf->header->modules.count; i++) {
		const struct tdf_module *module = &a->tdf->modules[i];

		if (module->kind != TDF_MODULE_USER)
			flags |= RAS_SESSION_KERNEL;
		if (attach_is_multi(module, a->features))
			flags |= RAS_SESSION_MULTI;
	}
	if (a->features->preempt_disable)
		flags |= RAS_SESSION_PREEMPT;
	return flags;
}

static struct body_needs needs_find(const struct tdf *tdf)
{
	struct body_needs all = { 0 };

	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];

		for (uint32_t k = 0; k < point->sites; k++) {
			struct body_needs needs = body_needs_find(
				tdf, point, &tdf->sites[point->first_site + k]);

			all.limits |= needs.limits;
			all.func_ip |= needs.func_ip;
			all.thread_base |= needs.thread_base;
		}
	}
	return all;
}

int arm_tdf(const struct run_dir *run, struct buffer *buffer,
	    const struct features *features, const struct tdf *tdf,
	    const char *path, const struct target *targets, struct error *err)
{
	struct arming a = {
		.run = run, .buffer = buffer, .features = features,
		.tdf = tdf, .targets = targets,
		.needs = needs_find(tdf),
		.count_fd = -1, .state_fd = -1, .sites_fd = -1,
		.limits_fd = -1,
	};
	int code;

	if (!tdf->header->points.count)
		return error_set(err, -EINVAL, "the TDF has no tracepoints");
	a.entry = sesslog_add(buffer, tdf, path, targets[0].path,
			      session_flags(&a), err);
	if (!a.entry)
		return -ENOSPC;
	name_choose(&a, path);
	code = dirs_make(&a, err);
	if (!code)
		code = maps_make(&a, err);
	if (!code)
		code = programs_attach(&a, err);
	if (!code)
		code = session_enable(&a, err);
	fd_close(a.count_fd);
	fd_close(a.state_fd);
	fd_close(a.sites_fd);
	fd_close(a.limits_fd);
	if (code) {
		pins_remove(run->path, a.dir);
		sesslog_drop_last(buffer, a.entry);
	}
	return code;
}
