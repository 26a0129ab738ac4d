// SPDX-License-Identifier: GPL-2.0
#include "arm_tdf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "lib/buffer/pin.h"
#include "lib/module_file.h"
#include "lib/path.h"
#include "lib/sysbpf.h"
#include "lib/arm/probe/attach.h"
#include "filters.h"
#include "lib/arm/probe/self_probe.h"
#include "lib/arm/probe/patched.h"
#include "heap_maps.h"
#include "lib/arm/pinned/pins.h"
#include "lib/arm/probe/program.h"
#include "lib/arm/pinned/retire.h"
#include "lib/arm/pinned/sesslog.h"

#define NAME_LONGEST	48

struct arming {
	const struct arm *arm;		/* what was asked for */
	const struct tdf *tdf;
	struct ras_session *entry;	/* in the live log */
	char name[NAME_LONGEST + 16];
	char dir[PATH_MAX];		/* RUN/new/NAME */
	struct body_needs needs;	/* of any site */
	bool bring_in;
	struct body_filter filter;
	bool calls;			/* it has CALL or RELEASE points */
	struct body_heap heap;
	int count_fd, why_fd, state_fd, sites_fd, limits_fd;
};

/* "/x/my app.v2.tdf" gives "my_app_v2": bpffs takes no dots. */
static void name_from_path(const char *path, char *name)
{
	const char *base = path_base(path);
	size_t length = strlen(base);

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
		snprintf(taken, sizeof(taken), "%s/armed/%s", a->arm->run->path,
			 a->name);
		if (lstat(taken, &st))
			break;
		snprintf(a->name, sizeof(a->name), "%s_%u", base, n);
	}
	snprintf(a->dir, sizeof(a->dir), "%s/new/%s", a->arm->run->path, a->name);
}

static int dirs_make(const struct arming *a, struct error *err)
{
	char name[NAME_MAX];
	int code = run_dir_make(a->arm->run, "new", err);

	if (!code)
		code = run_dir_make(a->arm->run, "armed", err);
	snprintf(name, sizeof(name), "new/%s", a->name);
	return code ? code : run_dir_make(a->arm->run, name, err);
}

static int map_make(const struct arming *a, const char *name,
		    enum run_pin kind, uint32_t value_size, uint32_t entries,
		    int *fd, struct error *err)
{
	char path[PATH_MAX + 16];

	*fd = sysbpf_array_create(name, value_size, entries);
	if (*fd < 0)
		return pin_refused(err, *fd,
				   "cannot make the map '%s' of %u times %u bytes",
				   name, entries, value_size);
	if (a->arm->dry)
		a->arm->dry->map_bytes += (uint64_t)value_size * entries;
	snprintf(path, sizeof(path), "%s/%s", a->dir, name);
	return run_dir_pin(a->arm->run, path, *fd, kind, err);
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
		const struct target *target = &a->arm->targets[point->module];

		for (uint32_t k = 0; k < point->sites; k++) {
			uint32_t site = point->first_site + k;

			sites[site] = target->biases ? target->biases[site] :
				target->file_count ?
				a->tdf->sites[site].address : target->bias;
		}
	}
	munmap(sites, size);
	return 0;
}

/* A row per point and slice, or per point and CPU. */
static int rows_make(const struct arming *a, const char *name, uint32_t size,
		     uint32_t rows, int *fd, struct error *err)
{
	uint32_t points = a->tdf->header->points.count, entries;

	if (__builtin_mul_overflow(points, rows, &entries))
		return error_set(err, -E2BIG,
				 "%u tracepoints are too many for %u CPUs",
				 points, a->arm->buffer->control->cpus);
	return map_make(a, name, RUN_PIN_SHOWN, size, entries, fd, err);
}

static int maps_make(struct arming *a, struct error *err)
{
	const struct tdf_header *header = a->tdf->header;
	const struct buffer *buffer = a->arm->buffer;
	struct ras_state state = {
		.state = RAS_STATE_OFF, .session = a->entry->index,
	};
	int code;

	code = rows_make(a, "count", sizeof(struct ras_count), buffer->slices,
			 &a->count_fd, err);
	if (!code)
		code = rows_make(a, "why", sizeof(struct ras_why),
				 buffer->control->cpus, &a->why_fd, err);
	if (!code)
		code = map_make(a, "state", RUN_PIN_SHOWN, sizeof(state), 1,
				&a->state_fd, err);
	if (!code)
		code = map_make(a, "sites", RUN_PIN_SHOWN, sizeof(uint64_t),
				header->sites.count, &a->sites_fd, err);
	if (!code && (a->needs.limits || a->arm->settings->max_rate))
		code = map_make(a, "limits", RUN_PIN_SHOWN,
				sizeof(struct ras_limit),
				header->points.count, &a->limits_fd, err);
	if (!code) {
		code = bpf_map_update_elem(a->state_fd, &(uint32_t){ 0 },
					   &state, BPF_ANY);
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

/* The body of a site where all memory is there. */
static struct hit_body body_measure(const struct arming *a,
				    const struct body_target *base,
				    uint32_t point, uint32_t site)
{
	const struct tdf_point *p = &a->tdf->points[point];
	struct body_target target = *base;
	struct hit_body measured = { 0 };
	struct body body;

	target.bring_in = false;
	target.trigger = a->arm->triggers[point];
	target.context = a->arm->targets[p->module].file_count ? BODY_UPROBE :
								 BODY_KPROBE;
	if (!body_generate(&body, a->tdf, p, &a->tdf->sites[site], &target,
			   NULL)) {
		hit_body_count(&measured, body.insns, body.count);
		body_free(&body);
	}
	return measured;
}

/* What a dry run tells of a program that was loaded; in several threads. */
static void program_state(const struct arming *a, const struct program_set *set,
			  const struct program *program,
			  const struct body_target *target, int fd)
{
	struct arm_cost *cost = a->arm->dry;
	uint32_t site = program->first_site;
	struct hit_body body = body_measure(a, target, set->points[site], site);
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		__atomic_fetch_add(&cost->program_bytes,
				   (uint64_t)info.jited_prog_len +
				   info.xlated_prog_len, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cost->programs, 1, __ATOMIC_RELAXED);
	for (; site != PROGRAM_NO_SITE; site = set->next_site[site])
		cost->bodies[site] = body;
}

static int program_attach(const struct arming *a, const struct program_set *set,
			  const struct program *program, int fd,
			  struct error *err)
{
	uint32_t site = program->first_site;
	uint32_t *sites = calloc(TDF_SITES_MAX, sizeof(*sites));
	int code = 0;

	if (!sites)
		return error_no_memory(err);
	while (site != PROGRAM_NO_SITE && !code) {
		uint32_t point = set->points[site];
		uint32_t count = sites_take(set, &site, sites);
		uint16_t module = a->tdf->points[point].module;

		code = attach_sites(fd, a->tdf, point, sites, count,
				    &a->arm->targets[module], a->arm->features,
				    a->dir, err);
	}
	free(sites);
	return code;
}

struct taking {
	const struct arming *arming;
	const struct program_set *set;
	const struct body_target *target;
};

static int program_take(void *context, const struct program *program,
			struct error *err)
{
	const struct taking *taking = context;
	const struct program_set *set = taking->set;
	const struct arming *a = taking->arming;
	uint16_t module =
		a->tdf->points[set->points[program->first_site]].module;
	uint32_t type = attach_is_multi(&a->tdf->modules[module],
					a->arm->features) ?
		SYSBPF_UPROBE_MULTI : 0;
	int code = 0, fd = program_load(program, type, err);

	if (fd < 0)
		return fd;
	if (a->arm->dry)
		program_state(a, set, program, taking->target, fd);
	else
		code = program_attach(a, set, program, fd, err);
	close(fd);
	return code;
}

static void target_fill(const struct arming *a, struct body_target *target)
{
	const struct job_settings *settings = a->arm->settings;
	const struct buffer *buffer = a->arm->buffer;
	const struct features *features = a->arm->features;

	*target = (struct body_target){
		.buffer_fd = buffer->main_view.fd,
		.nest_fd = buffer->nest_view.fd,
		.trigger_fd = buffer->trigger_view.fd,
		.processes_fd = buffer->processes_fd,
		.count_fd = a->count_fd,
		.why_fd = a->why_fd,
		.state_fd = a->state_fd,
		.sites_fd = a->sites_fd,
		.limits_fd = a->limits_fd,
		.test_fd = -1,
		.key = buffer->control->key,
		.slice_bytes = buffer->control->slice_bytes,
		.nest_bytes = buffer->control->nest_bytes,
		.cpus = buffer->control->cpus,
		.session = a->entry->index,
		.major = a->tdf->header->major,
		.preempt_disable = features->preempt_disable,
		.preempt_enable = features->preempt_enable,
		.address_bits = features->address_bits,
		.func_ip = a->needs.func_ip && self_probe_has_func_ip(features),
		.bring_in = a->bring_in,
		.filter = filters_given(settings) ? &a->filter : NULL,
		.heap = a->calls || a->arm->heap ? &a->heap : NULL,
		.context_mask = settings->context,
		.context_depth = settings->context_depth,
		.max_rate = settings->max_rate,
		.trigger_after = a->arm->stop_after,
	};
}

static int programs_take(const struct arming *a, struct error *err)
{
	struct body_layout layout;
	struct body_target target;
	struct program_set set = { 0 };
	uint8_t *picks;
	int code = 0;
	uint32_t count;

	/* Per point: PROGRAM_*; NULL: no memory. */
	count = a->tdf->header->points.count;
	picks = calloc(count, 1);
	for (uint32_t i = 0; picks && i < count; i++)
		picks[i] = (a->arm->picked[i] ? PROGRAM_PICKED : 0) |
			   (a->arm->triggers[i] ? PROGRAM_TRIGGER : 0);

	if (!picks)
		return error_no_memory(err);
	target_fill(a, &target);

	/* The kernel's sections; a TDF is of the kernel, or of one of its
	 * modules. */
	for (uint32_t i = 0; i < a->tdf->header->modules.count; i++) {
		const struct kernel_sections *sections =
			&a->arm->targets[i].sections;

		if (!sections->count)
			continue;
		target.sections = sections->list;
		target.section_count = sections->count;
		target.percpu_offsets = sections->percpu_offsets;
	}

	if (a->needs.layout || a->bring_in ||
	    target.context_mask & RAS_CONTEXT_PPID) {
		code = features_read_layout(&layout);
		target.layout = &layout;
	}
	if (code == -ENOMEM) {
		free(picks);
		return error_no_memory(err);
	}
	target.module_fd = a->needs.segments ?
		features_read_segments(&target.segments_save) : -1;
	code = program_set_make(&set, a->tdf, picks, &target, err);
	if (!code)
		code = program_set_each(&set, program_take,
					&(struct taking){ a, &set, &target },
					err);
	if (target.module_fd >= 0)
		close(target.module_fd);
	program_set_free(&set);
	free(picks);
	return code;
}

/* All is attached and records nothing yet: make it visible, then enable. */
static int session_enable(const struct arming *a, struct error *err)
{
	char armed[PATH_MAX];
	int code;

	snprintf(armed, sizeof(armed), "%s/armed/%s", a->arm->run->path, a->name);
	if (rename(a->dir, armed))
		return pin_refused(err, -errno, "cannot rename '%s' to '%s'",
				   a->dir, armed);
	__atomic_store_n(&a->entry->disarmed, 0, __ATOMIC_RELEASE);
	code = retire_state_set(armed, RAS_STATE_ON, err);
	if (code)
		pins_remove(a->arm->run->path, armed);
	return code;
}

static uint32_t session_flags(const struct arming *a)
{
	const struct features *features = a->arm->features;
	uint32_t flags = 0;

	for (uint32_t i = 0; i < a->tdf->header->modules.count; i++) {
		const struct tdf_module *module = &a->tdf->modules[i];

		if (module->kind != TDF_MODULE_USER)
			flags |= RAS_SESSION_KERNEL;
		if (attach_is_multi(module, features))
			flags |= RAS_SESSION_MULTI;
	}
	if (features->preempt_disable)
		flags |= RAS_SESSION_PREEMPT;
	if (a->bring_in)
		flags |= RAS_SESSION_BRINGS_IN;
	if (filters_given(a->arm->settings))
		flags |= RAS_SESSION_FILTERED;
	return flags;
}

static struct body_needs needs_find(const struct tdf *tdf, const bool *picked)
{
	struct body_needs all = { 0 };

	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];

		for (uint32_t k = 0; picked[i] && k < point->sites; k++) {
			struct body_needs needs = body_needs_find(
				tdf, point, &tdf->sites[point->first_site + k]);

			all.limits |= needs.limits;
			all.func_ip |= needs.func_ip;
			all.layout |= needs.layout;
			all.segments |= needs.segments;
		}
	}
	return all;
}

/* The session's entry in the log, with the module that its first point has. */
static int entry_add(struct arming *a, struct error *err)
{
	const struct arm *arm = a->arm;
	struct ras_session begin = {
		.flags = session_flags(a),
		.context = arm->settings->context,
		.max_rate = arm->settings->max_rate,
	};
	uint32_t first = 0, count = a->tdf->header->points.count;
	const struct target *target;
	uint16_t module;

	while (first < count && !arm->picked[first])
		first++;
	if (first == count)
		return error_set(err, -EINVAL, "the TDF has no tracepoints");
	module = a->tdf->points[first].module;
	target = &arm->targets[module];
	if (target->file_count)
		module_file_note(&begin, &target->files[0].stat);
	a->entry = sesslog_add(arm->buffer, a->tdf, arm->picked, arm->path,
			       &a->tdf->modules[module], target->path, &begin,
			       err);
	return a->entry ? 0 : -ENOSPC;
}

/* What the caller hasn't given; there for other TDFs under its pin. */
static int heap_make(struct arming *a, struct error *err)
{
	const struct body_heap given = a->heap;
	int code = heap_maps_make(&a->heap, err);
	char path[PATH_MAX + 16];

	if (!code && given.calls_fd < 0) {
		snprintf(path, sizeof(path), "%s/calls", a->dir);
		code = run_dir_pin(a->arm->run, path, a->heap.calls_fd,
				   RUN_PIN_PRIVATE, err);
	}
	if (!code && given.blocks_fd < 0 && a->heap.blocks_fd >= 0) {
		snprintf(path, sizeof(path), "%s/blocks", a->dir);
		code = run_dir_pin(a->arm->run, path, a->heap.blocks_fd,
				   RUN_PIN_PRIVATE, err);
	}
	return code;
}

static bool has_calls(const struct tdf *tdf, const bool *picked)
{
	for (uint32_t i = 0; i < tdf->header->points.count; i++)
		if (picked[i] && tdf->points[i].flags &
		    (TDF_POINT_CALL | TDF_POINT_RELEASE))
			return true;
	return false;
}

static int processes_check(const struct arming *a, struct error *err)
{
	const struct arm *arm = a->arm;
	int code = 0;

	for (uint32_t i = 0; i < a->tdf->header->modules.count && !code; i++)
		code = patched_check(a->tdf, i, &arm->targets[i], arm->picked,
				     arm->link_pid, err);
	return code;
}

int arm_tdf(const struct arm *arm, struct error *err)
{
	struct arming a = {
		.arm = arm, .tdf = arm->tdf,
		.needs = needs_find(arm->tdf, arm->picked),
		.bring_in = !arm->settings->resident_only &&
			    features_sleepable(arm->features),
		.filter.pids_fd = -1,
		.calls = has_calls(arm->tdf, arm->picked),
		.heap = arm->heap ? *arm->heap : HEAP_MAPS_NONE,
		.count_fd = -1, .why_fd = -1, .state_fd = -1, .sites_fd = -1,
		.limits_fd = -1,
	};
	int code = entry_add(&a, err);

	if (code)
		return code;
	name_choose(&a, arm->path);
	code = processes_check(&a, err);
	if (!code)
		code = dirs_make(&a, err);
	if (!code)
		code = maps_make(&a, err);
	if (!code && a.calls)
		code = heap_make(&a, err);
	if (!code)
		code = filters_make(&a.filter, a.arm->settings,
				    a.arm->link_pid, a.arm->run, a.dir,
				    a.arm->dry, err);
	if (!code)
		code = programs_take(&a, err);
	if (!code && !a.arm->dry)
		code = session_enable(&a, err);
	fd_close(a.count_fd);
	fd_close(a.why_fd);
	fd_close(a.state_fd);
	fd_close(a.sites_fd);
	fd_close(a.limits_fd);
	fd_close(a.filter.pids_fd);
	if (!arm->heap || arm->heap->calls_fd < 0)
		fd_close(a.heap.calls_fd);
	if (!arm->heap || arm->heap->blocks_fd < 0)
		fd_close(a.heap.blocks_fd);
	if (code || arm->dry) {
		pins_remove(arm->run->path, a.dir);
		sesslog_drop_last(arm->buffer, a.entry);
	}
	return code;
}
