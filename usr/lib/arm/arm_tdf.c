// SPDX-License-Identifier: GPL-2.0
#include "arm_tdf.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "bpf/plan/needs.h"
#include "aggregate_maps.h"
#include "bpf/plan/plan.h"
#include "filters.h"
#include "stacks.h"
#include "threads.h"
#include "lib/arm/kernel/direct_probe.h"
#include "lib/arm/pinned/kmod.h"
#include "lib/arm/pinned/sessions.h"
#include "lib/arm/probe/patched.h"
#include "lib/arm/probe/program.h"
#include "lib/buffer/pin.h"
#include "lib/identity.h"
#include "lib/names.h"
#include "lib/path.h"
#include "lib/sysbpf.h"

int heap_maps_make(struct body_heap *heap, struct error *err)
{
	bool chosen = heap->min_size || heap->sample;

	if (heap->calls_fd < 0)
		heap->calls_fd = sysbpf_task_storage_create(
			"calls", sizeof(struct ras_call));
	if (heap->calls_fd < 0)
		return pin_refused(err, heap->calls_fd,
				   "cannot make the map 'calls'");
	if (!chosen || heap->blocks_fd >= 0)
		return 0;
	heap->blocks_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "blocks",
					 sizeof(struct ras_block),
					 sizeof(uint64_t), RAS_BLOCKS_MAX,
					 NULL);
	if (heap->blocks_fd < 0)
		return pin_refused(err, heap->blocks_fd,
				   "cannot make the map 'blocks' of %u entries",
				   RAS_BLOCKS_MAX);
	return 0;
}

static void heap_fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void heap_maps_close(struct body_heap *heap)
{
	heap_fd_close(&heap->calls_fd);
	heap_fd_close(&heap->blocks_fd);
	heap_fd_close(&heap->owners_fd);
}

#define NAME_LONGEST	48

enum {
	ARM_COUNT, ARM_WHY, ARM_STATE, ARM_SITES, ARM_LIMITS, ARM_OPEN,
	ARM_SLOTS, ARM_STACK_TABLE, ARM_MAPS
};

/* Whether code is patched where the probes will be is looked up in all processes,
 * while programs are generated and loaded; before the first link it is known. */
struct patched_lookup {
	const struct arm *arm;
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock;	/* of who waits for it */
	int code;
	struct error err;
};

struct arming {
	const struct arm *arm;		/* what was asked for */
	struct patched_lookup *patched;
	const struct tdf *tdf;
	struct ras_session *entry;	/* in the live log */
	char name[NAME_LONGEST + 16];
	char dir[PATH_MAX];		/* RUN/new/NAME */
	struct body_needs needs;	/* of any site */
	bool bring_in;
	bool layout_read;
	struct body_layout layout;
	int reads;			/* RAS_READS_* */
	struct body_direct direct;	/* of RAS_READS_DIRECT */
	struct body_filter filter;
	bool calls;			/* it has CALL or RELEASE points */
	bool stacks;			/* of user space, by tables that the keeper
					 * makes */
	uint32_t open_bytes;		/* of a whole call; 0: it has none */
	uint32_t stack_sets, stack_depth;	/* of `stack_table`; 0: no table */
	struct body_heap heap;
	struct aggregate_maps aggregates;
	int fds[ARM_MAPS];		/* -1: none */
	int threads_fd;			/* the same */
};

/* "/x/my app.v2.tdf" gives "my_app_v2": bpffs takes no dots. Another TDF may
 * have the same base name: app, app_2, app_3 ... */
static void session_name_choose(struct arming *a, const char *path)
{
	const char *file = path_base(path);
	char base[NAME_LONGEST + 1], taken[PATH_MAX];
	size_t length = strlen(file);
	struct stat st;

	if (length > 4 && !strcasecmp(file + length - 4, ".tdf"))
		length -= 4;
	if (length > NAME_LONGEST)
		length = NAME_LONGEST;
	for (size_t i = 0; i < length; i++)
		base[i] = isalnum((unsigned char)file[i]) || file[i] == '-' ?
			file[i] : '_';
	base[length] = '\0';
	strcpy(a->name, base);
	for (unsigned int n = 2;; n++) {
		snprintf(taken, sizeof(taken), "%s/armed/%s", a->arm->run->path,
			 a->name);
		if (lstat(taken, &st))
			break;
		snprintf(a->name, sizeof(a->name), "%s_%u", base, n);
	}
	snprintf(a->dir, sizeof(a->dir), "%s/new/%s", a->arm->run->path,
		 a->name);
}

static int session_map_make(struct arming *a, int map, const char *name,
			    uint32_t value_size, uint32_t entries,
			    struct error *err)
{
	char path[PATH_MAX + 16];
	int fd = map == ARM_OPEN ?
		bpf_map_create(BPF_MAP_TYPE_HASH, name,
			       sizeof(struct ras_open_key), value_size, entries,
			       NULL) :
		sysbpf_array_create(name, value_size, entries);

	if (fd < 0)
		return pin_refused(err, fd,
				   "cannot make the map '%s' of %u times %u bytes",
				   name, entries, value_size);
	a->fds[map] = fd;
	if (a->arm->dry)
		a->arm->dry->map_bytes += (uint64_t)value_size * entries;
	snprintf(path, sizeof(path), "%s/%s", a->dir, name);
	return run_dir_pin(a->arm->run, path, fd, RUN_PIN_SHOWN, err);
}

/* The addresses as linked, or for the kernel's sites the bias. */
static int session_sites_fill(const struct arming *a, struct error *err)
{
	size_t size = a->tdf->header->sites.count * sizeof(uint64_t);
	uint64_t *sites = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       a->fds[ARM_SITES], 0);

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

static int session_maps_make(struct arming *a, struct error *err)
{
	const struct tdf_header *header = a->tdf->header;
	const struct buffer *buffer = a->arm->buffer;
	uint32_t cpus = buffer->control->cpus, points = header->points.count;
	struct ras_state state = {
		.state = RAS_STATE_OFF, .session = a->entry->index,
	};
	uint32_t count_rows, why_rows;
	bool slots = false;	/* none in the kernel (plan.c) */
	int code;

	for (uint32_t i = 0; i < header->modules.count; i++)
		slots |= a->open_bytes && a->arm->targets[i].file_count;
	if (__builtin_mul_overflow(points, buffer->slices, &count_rows) ||
	    __builtin_mul_overflow(points, cpus, &why_rows))
		return error_set(err, -E2BIG,
				 "%u tracepoints are too many for %u CPUs",
				 points, cpus);
	code = session_map_make(a, ARM_COUNT, "count", sizeof(struct ras_count),
				count_rows, err);
	if (!code)
		code = session_map_make(a, ARM_WHY, "why", sizeof(struct ras_why),
					why_rows, err);
	if (!code)
		code = session_map_make(a, ARM_STATE, "state", sizeof(state), 1,
					err);
	if (!code)
		code = session_map_make(a, ARM_SITES, "sites", sizeof(uint64_t),
					header->sites.count, err);
	if (!code && (a->needs.limits || a->arm->settings->max_rate ||
		      a->arm->settings->max_hits))
		code = session_map_make(a, ARM_LIMITS, "limits",
					sizeof(struct ras_limit), points, err);
	if (!code && a->open_bytes)
		code = session_map_make(a, ARM_OPEN, "open", a->open_bytes,
					RAS_OPEN_MAX, err);
	if (!code && slots)
		code = session_map_make(a, ARM_SLOTS, "slots",
					RAS_OPEN_SLOT_BYTES(a->open_bytes),
					RAS_OPEN_SLOTS, err);
	if (!code && a->stack_sets)
		code = session_map_make(a, ARM_STACK_TABLE, "stack_table",
					RAS_STACK_SET_BYTES(a->stack_depth),
					a->stack_sets, err);
	if (code)
		return code;
	code = bpf_map_update_elem(a->fds[ARM_STATE], &(uint32_t){ 0 }, &state,
				   BPF_ANY);
	return code ? pin_refused(err, code, "cannot fill the map 'state'") :
		session_sites_fill(a, err);
}

/* What a dry run reports of a program that was loaded; in several threads. */
static void program_measure(const struct arming *a,
			    const struct program_set *set,
			    const struct program *program,
			    const struct body_target *base, int fd)
{
	struct arm_cost *cost = a->arm->dry;
	uint32_t site = program->first_site, point = set->points[site];
	const struct tdf_point *p = &a->tdf->points[point];
	struct body_target target = *base;
	struct bpf_prog_info info = { 0 };
	struct hit_body measured = { 0 };
	uint32_t size = sizeof(info);
	struct body body;

	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		__atomic_fetch_add(&cost->program_bytes,
				   (uint64_t)info.jited_prog_len +
				   info.xlated_prog_len, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cost->programs, 1, __ATOMIC_RELAXED);
	/* The body of a site where all memory is there. */
	target.bring_in = false;
	target.trigger = a->arm->triggers[point];
	target.context = a->arm->targets[p->module].file_count ? BODY_UPROBE :
								 BODY_KPROBE;
	if (!body_generate(&body, a->tdf, p, &a->tdf->sites[site], &target,
			   NULL)) {
		hit_body_count(&measured, body.insns, body.count);
		body_free(&body);
	}
	for (; site != PROGRAM_NO_SITE; site = set->next_site[site])
		cost->bodies[site] = measured;
}

static void *patched_lookup_run(void *context)
{
	struct patched_lookup *lookup = context;
	const struct arm *arm = lookup->arm;

	for (uint32_t i = 0; i < arm->tdf->header->modules.count &&
	     !lookup->code; i++)
		lookup->code = patched_check(arm->tdf, i, &arm->targets[i],
					     arm->picked, arm->link_pid,
					     &lookup->err);
	return NULL;
}

static void patched_lookup_begin(struct patched_lookup *lookup)
{
	lookup->runs = !pthread_create(&lookup->thread, NULL,
				       patched_lookup_run, lookup);
	if (!lookup->runs)
		patched_lookup_run(lookup);
}

/* Its result, from several threads */
static int patched_lookup_end(struct patched_lookup *lookup, struct error *err)
{
	pthread_mutex_lock(&lookup->lock);
	if (lookup->runs)
		pthread_join(lookup->thread, NULL);
	lookup->runs = false;
	pthread_mutex_unlock(&lookup->lock);
	if (lookup->code && err)
		*err = lookup->err;
	return lookup->code;
}

static int program_attach(const struct arming *a, const struct program_set *set,
			  const struct program *program, int fd,
			  struct error *err)
{
	uint32_t site = program->first_site, count;
	uint32_t *sites;
	int code = patched_lookup_end(a->patched, err);

	if (code)
		return code;
	sites = calloc(TDF_SITES_MAX, sizeof(*sites));
	if (!sites)
		return error_no_memory(err);
	while (site != PROGRAM_NO_SITE && !code) {
		uint32_t point = set->points[site];
		uint16_t module = a->tdf->points[point].module;

		/* the next sites that are of the same point */
		for (count = 0; site != PROGRAM_NO_SITE &&
		     set->points[site] == point; site = set->next_site[site])
			sites[count++] = site;
		code = attach_sites(fd, a->tdf, point, sites, count,
				    program->session,
				    &a->arm->targets[module], a->arm->features,
				    a->dir, err);
	}
	free(sites);
	return code;
}

struct program_taking {
	const struct arming *arming;
	const struct program_set *set;
	const struct body_target *target;
};

static int program_take(void *context, const struct program *program,
			struct error *err)
{
	const struct program_taking *taking = context;
	const struct program_set *set = taking->set;
	const struct arming *a = taking->arming;
	uint16_t module =
		a->tdf->points[set->points[program->first_site]].module;
	uint32_t type = program->session ? SYSBPF_UPROBE_SESSION :
		attach_is_multi(&a->tdf->modules[module], a->arm->features) ?
		SYSBPF_UPROBE_MULTI : 0;
	int code = 0, fd = program_load(program, type, err);

	if (fd < 0)
		return fd;
	if (a->arm->dry)
		program_measure(a, set, program, taking->target, fd);
	else
		code = program_attach(a, set, program, fd, err);
	close(fd);
	return code;
}

/* Programs in kernel code must not put names into `processes`: a probe may be
 * where its lock is held. The names are in the records then. */
static uint32_t session_context(const struct arming *a)
{
	uint32_t mask = a->arm->settings->context;

	for (uint32_t i = 0; i < a->tdf->header->modules.count; i++)
		if (a->tdf->modules[i].kind != TDF_MODULE_USER)
			mask |= RAS_CONTEXT_NAME;
	return mask;
}

static void session_target_fill(const struct arming *a,
				struct body_target *target)
{
	const struct job_settings *settings = a->arm->settings;
	const struct buffer *buffer = a->arm->buffer;
	const struct features *features = a->arm->features;

	*target = (struct body_target){
		.buffer_fd = buffer->main_view.fd,
		.nest_fd = buffer->nest_view.fd,
		.trigger_fd = buffer->trigger_view.fd,
		.processes_fd = buffer->processes_fd,
		.count_fd = a->fds[ARM_COUNT],
		.why_fd = a->fds[ARM_WHY],
		.state_fd = a->fds[ARM_STATE],
		.sites_fd = a->fds[ARM_SITES],
		.limits_fd = a->fds[ARM_LIMITS],
		.aggregates_fd = a->aggregates.aggregates_fd,
		.aggregated_fd = a->aggregates.aggregated_fd,
		.by_stack_fd = a->aggregates.by_stack_fd,
		.aggregate_key = a->aggregates.key_bytes,
		.open_fd = a->fds[ARM_OPEN],
		.open_bytes = a->open_bytes,
		.slots_fd = a->fds[ARM_SLOTS],
		.slots = a->fds[ARM_SLOTS] < 0 ? 0 : RAS_OPEN_SLOTS,
		.threads_fd = a->threads_fd,
		.stack_table_fd = a->fds[ARM_STACK_TABLE],
		.stack_sets = a->stack_sets, .stack_depth = a->stack_depth,
		.test_fd = -1,
		.key = buffer->control->key,
		.slice_bytes = buffer->control->slice_bytes,
		.nest_bytes = buffer->control->nest_bytes,
		.cpus = buffer->control->cpus,
		.session = a->entry->index,
		.major = a->tdf->header->major,
		.preempt_disable = features->preempt_disable,
		.preempt_enable = features->preempt_enable,
		.is_return = a->calls ? features_session(features) : 0,
		.address_bits = features->address_bits,
		.func_ip = a->needs.func_ip && self_probe_has_func_ip(features),
		.bring_in = a->bring_in,
		.layout = a->layout_read ? &a->layout : NULL,
		.direct = a->reads == RAS_READS_DIRECT ? &a->direct : NULL,
		.filter = filters_given(settings) ? &a->filter : NULL,
		.heap = a->calls || a->stacks || a->arm->heap ? &a->heap : NULL,
		.context_mask = session_context(a),
		.context_depth = settings->context_depth,
		.max_rate = settings->max_rate,
		.max_hits = settings->max_hits,
		.trigger_after = a->arm->stop_after,
	};
	/* A TDF is of the kernel, or of one of its modules. */
	for (uint32_t i = 0; i < a->tdf->header->modules.count; i++) {
		const struct kernel_sections *sections =
			&a->arm->targets[i].sections;

		if (!sections->count)
			continue;
		target->sections = sections->list;
		target->section_count = sections->count;
		target->percpu_offsets = sections->percpu_offsets;
	}
}

static int session_programs_take(const struct arming *a, struct error *err)
{
	uint32_t points = a->tdf->header->points.count;
	struct program_set set = { 0 };
	struct body_target target;
	uint8_t *picks;
	int code;

	session_target_fill(a, &target);
	picks = calloc(points, 1);
	if (!picks)
		return error_no_memory(err);
	for (uint32_t i = 0; i < points; i++)
		picks[i] = (a->arm->picked[i] ? PROGRAM_PICKED : 0) |
			   (a->arm->triggers[i] ? PROGRAM_TRIGGER : 0);
	target.module_fd = -1;
	if (a->needs.segments || a->needs.vectors)
		target.module_fd = features_read_kfuncs(&target.segments_save,
							&target.vector_read);
	code = program_set_make(&set, a->tdf, picks, &target, err);
	if (!code && a->arm->dry)
		a->arm->dry->map_bytes += a->tdf->header->sites.count *
					  alike_row_bytes(&set.alike);
	if (!code)
		code = program_set_each(&set, program_take,
					&(struct program_taking){ a, &set,
								  &target },
					err);
	if (target.module_fd >= 0)
		close(target.module_fd);
	program_set_free(&set);
	free(picks);
	return code;
}

/* A table of stacks, unless heapmon reads the records, or the kernel module may:
 * what it keeps of a panic, and memory dumps, have no such tables. */
static void stack_table_plan(struct arming *a)
{
	const struct job_settings *settings = a->arm->settings;
	uint32_t context = settings->context & RAS_CONTEXT_STACK ?
			   settings->context_depth : 0;
	uint32_t stacks = settings->stack_ids ? settings->stack_ids :
						RAS_STACK_IDS_DEFAULT;
	struct kmod kmod;

	a->stack_depth = a->needs.depth > context ? a->needs.depth : context;
	if (!a->stack_depth || a->arm->heap || stacks == STACK_IDS_OFF)
		return;
	kmod_read(&kmod, a->arm->run->path);
	if (!kmod.loaded)
		a->stack_sets = (stacks + RAS_STACK_WAYS - 1) / RAS_STACK_WAYS;
}

/* What the points that are picked need. */
static void session_needs_find(struct arming *a)
{
	const struct job_settings *settings = a->arm->settings;
	const struct tdf *tdf = a->tdf;

	for (uint32_t i = 0; i < tdf->header->points.count; i++) {
		const struct tdf_point *point = &tdf->points[i];

		if (!a->arm->picked[i])
			continue;
		a->stacks |= settings->context & RAS_CONTEXT_STACK &&
			     tdf->modules[point->module].kind ==
			     TDF_MODULE_USER;
		a->calls |= (point->flags & (TDF_POINT_CALL |
					     TDF_POINT_RELEASE)) != 0;
		for (uint32_t k = 0; k < point->sites; k++) {
			struct body_needs needs = body_needs_find(
				tdf, point, &tdf->sites[point->first_site + k]);

			a->needs.limits |= needs.limits;
			a->needs.aggregates |= needs.aggregates;
			a->needs.by_stack |= needs.by_stack;
			if (needs.depth > a->needs.depth)
				a->needs.depth = needs.depth;
			a->needs.func_ip |= needs.func_ip;
			a->needs.layout |= needs.layout;
			a->needs.segments |= needs.segments;
			a->needs.vectors |= needs.vectors;
			a->needs.direct |= needs.direct;
			a->needs.cputime |= needs.cputime;
			a->stacks |= needs.stack;
		}
	}
	/* heapmon makes its own */
	a->stacks &= !a->arm->heap && settings->stacks != STACKS_FRAMES;
	/* the keeper looks for the variable when it makes them */
	a->stacks |= (settings->context & RAS_CONTEXT_OTEL) != 0;
	stack_table_plan(a);
}

/* What the kernel's structures look like, and how bodies read memory. */
static int session_layout_read(struct arming *a, struct error *err)
{
	enum reads_choice choice = a->arm->settings->reads;
	bool direct = a->needs.direct && choice != READS_HELPER;

	a->layout_read = direct || a->needs.layout || a->bring_in || a->stacks ||
			 session_context(a) & RAS_CONTEXT_PPID;
	if (a->layout_read && features_read_layout(&a->layout) == -ENOMEM)
		return error_no_memory(err);
	if (direct)
		a->reads = direct_probe(&a->direct, &a->layout);
	else if (a->needs.direct)
		a->reads = RAS_READS_ASKED;
	if (!direct || choice != READS_DIRECT || a->reads == RAS_READS_DIRECT)
		return 0;
	error_set(err, -EOPNOTSUPP, "memory cannot be read directly: %s",
		  names_reads[a->reads]);
	error_hint(err, "use --reads=auto");
	return -EOPNOTSUPP;
}

/* The session's entry in the log, with the module that its first point has. */
static int session_entry_add(struct arming *a, struct error *err)
{
	const struct arm *arm = a->arm;
	struct ras_session begin = {
		.context = session_context(a),
		.max_rate = arm->settings->max_rate,
		.flags = a->reads << RAS_SESSION_READS_SHIFT,
	};
	uint32_t first = 0, count = a->tdf->header->points.count;
	const struct target *target;
	uint16_t module;

	for (uint32_t i = 0; i < a->tdf->header->modules.count; i++) {
		const struct tdf_module *m = &a->tdf->modules[i];

		if (m->kind != TDF_MODULE_USER)
			begin.flags |= RAS_SESSION_KERNEL;
		if (attach_is_multi(m, arm->features))
			begin.flags |= RAS_SESSION_MULTI;
	}
	if (arm->features->preempt_disable)
		begin.flags |= RAS_SESSION_PREEMPT;
	if (a->bring_in)
		begin.flags |= RAS_SESSION_BRINGS_IN;
	if (filters_given(arm->settings))
		begin.flags |= RAS_SESSION_FILTERED;
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

/* What the caller hasn't given is made, and pinned for other TDFs. */
static int session_heap_make(struct arming *a, struct error *err)
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

static int arm_session_make(struct arming *a, struct error *err)
{
	struct patched_lookup patched = {
		.arm = a->arm, .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	const struct arm *arm = a->arm;
	char armed[PATH_MAX];
	int code;

	a->patched = &patched;
	patched_lookup_begin(&patched);
	code = run_dir_make(arm->run, "new", err);
	if (!code)
		code = run_dir_make(arm->run, "armed", err);
	if (!code)
		code = run_dir_make(arm->run,
				    a->dir + strlen(arm->run->path) + 1, err);
	if (!code)
		code = session_maps_make(a, err);
	if (!code && a->needs.aggregates)
		code = aggregate_maps_make(&a->aggregates, arm, a->dir,
					   a->needs.by_stack, err);
	if (!code && a->needs.cputime)
		code = threads_make(&a->threads_fd, arm->run, a->dir,
				    arm->dry, err);
	if (!code && a->calls)
		code = session_heap_make(a, err);
	if (!code && a->stacks)
		code = stacks_maps_make(&a->heap, arm->run, a->dir, err);
	if (!code && a->stacks && arm->settings->stacks == STACKS_FRAMES) {
		close(a->heap.rows_fd);
		a->heap.rows_fd = -1;
	}
	if (!code)
		code = filters_make(&a->filter, arm->settings, arm->link_pid,
				    arm->run, a->dir, arm->dry, err);
	if (!code)
		code = session_programs_take(a, err);
	if (patched_lookup_end(&patched, code ? NULL : err) && !code)
		code = patched.code;
	if (code || arm->dry)
		return code;

	if (arm->tasks)
		code = keep_tasks_write(arm->tasks, a->dir, err);
	if (code)
		return code;
	/* All is attached and records nothing yet: make it visible, then
	 * enable. */
	snprintf(armed, sizeof(armed), "%s/armed/%s", arm->run->path, a->name);
	if (rename(a->dir, armed))
		return pin_refused(err, -errno, "cannot rename '%s' to '%s'",
				   a->dir, armed);
	__atomic_store_n(&a->entry->disarmed, 0, __ATOMIC_RELEASE);
	code = retire_state_set(armed, RAS_STATE_ON, err);
	if (code)
		pins_remove(arm->run->path, armed);
	return code;
}

static void arm_fd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

int arm_tdf(const struct arm *arm, struct error *err)
{
	struct arming a = {
		.arm = arm, .tdf = arm->tdf,
		.bring_in = !arm->settings->resident_only &&
			    features_sleepable(arm->features),
		.filter.pids_fd = -1,
		.heap = arm->heap ? *arm->heap : HEAP_MAPS_NONE,
		.aggregates = { -1, -1, -1 },
		.fds = { [0 ... ARM_MAPS - 1] = -1 },
		.threads_fd = -1,
	};
	int code;

	session_needs_find(&a);
	a.open_bytes = plan_open_bytes(a.tdf, arm->picked);
	code = session_layout_read(&a, err);
	if (!code)
		code = session_entry_add(&a, err);
	if (code)
		return code;
	session_name_choose(&a, arm->path);
	code = arm_session_make(&a, err);
	for (int i = 0; i < ARM_MAPS; i++)
		arm_fd_close(a.fds[i]);
	arm_fd_close(a.aggregates.aggregates_fd);
	arm_fd_close(a.aggregates.aggregated_fd);
	arm_fd_close(a.aggregates.by_stack_fd);
	arm_fd_close(a.filter.pids_fd);
	arm_fd_close(a.threads_fd);
	if (a.stacks)
		stacks_maps_close(&a.heap);
	if (!arm->heap || arm->heap->calls_fd < 0)
		arm_fd_close(a.heap.calls_fd);
	if (!arm->heap || arm->heap->blocks_fd < 0)
		arm_fd_close(a.heap.blocks_fd);
	if (code || arm->dry) {
		pins_remove(arm->run->path, a.dir);
		sesslog_drop_last(arm->buffer, a.entry);
	}
	return code;
}
