// SPDX-License-Identifier: GPL-2.0
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <rastrace/buffer.h>
#include "bpf/types.h"
#include "lib/arm/kernel/return_event.h"
#include "lib/buffer/pin.h"
#include "lib/hash.h"
#include "lib/sysbpf.h"

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

/* That of a site's link */
static uint64_t program_cookie(const struct tdf *tdf, uint32_t point,
			       uint32_t site)
{
	const struct tdf_point *p = &tdf->points[point];

	return RAS_COOKIE(p->minor, point, site) | RAS_COOKIE_LEVEL(p->level);
}

/* All sites with one link. */
static int multi_link(int program, const struct tdf *tdf, uint32_t index,
		      const uint32_t *sites, uint32_t count, bool session,
		      const struct target *target, uint32_t copy)
{
	uint64_t *offsets = calloc(3 * (size_t)count, sizeof(*offsets));
	struct sysbpf_multi multi = {
		.offsets = offsets, .cookies = offsets + count, .count = count,
		.returns = !session &&
			   tdf->sites[sites[0]].flags & TDF_SITE_RETURN,
		.session = session,
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
static int perf_event_make(int type, uint64_t config, const void *where,
			   uint64_t offset)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = type, .config = config,
		.config1 = (uintptr_t)where, .config2 = offset,
	};
	int event = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
			    PERF_FLAG_FD_CLOEXEC);

	return event < 0 ? -errno : event;
}

static int perf_link(int program, int type, uint64_t config, const void *where,
		     uint64_t offset, uint64_t cookie)
{
	int link, event = perf_event_make(type, config, where, offset);

	if (event < 0)
		return event;
	link = sysbpf_perf_link(program, event, cookie);
	close(event);
	return link;
}

/* Of a whole call: those in which tasks wait are many. */
static int call_return_link(int program, const char *symbol, uint64_t offset,
			    uint64_t cookie, const char *dir)
{
	struct stat st;
	int link, event = offset || stat(dir, &st) ? -EINVAL :
		return_event_make(symbol, st.st_ino);

	if (event < 0)
		return event;
	link = sysbpf_perf_link(program, event, cookie);
	close(event);
	return link;
}

static int site_link(int program, const struct tdf *tdf, uint32_t index,
		     uint32_t site_index, const struct target *target,
		     uint32_t copy, const struct features *features,
		     const char *dir)
{
	const struct tdf_site *site = &tdf->sites[site_index];
	uint64_t config = site->flags & TDF_SITE_RETURN ? CONFIG_RETPROBE : 0;
	uint64_t cookie = program_cookie(tdf, index, site_index);
	bool whole = tdf->points[index].flags & TDF_POINT_WHOLE && config;
	const char *symbol = tdf_string(tdf, site->symbol);
	char path[32], qualified[KERNEL_MODULE_NAME + 512];
	int link;

	if (target->file_count) {
		if (site->semaphore > UINT32_MAX)
			return -E2BIG;
		target_fd_path(&target->files[copy], path);
		return perf_link(program, features->uprobe_type, config |
				 site->semaphore << CONFIG_SEMAPHORE, path,
				 site->offset, cookie);
	}
	if (target->module[0]) {
		if (snprintf(qualified, sizeof(qualified), "%s:%s",
			     target->module, symbol) >= (int)sizeof(qualified))
			return -ENAMETOOLONG;
		symbol = qualified;
	}
	link = whole ? call_return_link(program, symbol, site->offset, cookie,
					dir) : -ENOENT;
	return link >= 0 ? link :
	       perf_link(program, features->kprobe_type, config, symbol,
			 site->offset, cookie);
}

void attach_announce(void)
{
	int file;

	if (fork())
		return;
	/* nothing waits for a lock or a pipe of ours */
	if (close_range(0, ~0U, 0))
		_exit(1);
	file = memfd_create("rastrace", MFD_CLOEXEC);
	if (file == 0 && !ftruncate(file, sysconf(_SC_PAGESIZE)))
		perf_event_make(features_uprobe_type(), 0, "/proc/self/fd/0",
				0);
	_exit(0);
}

bool attach_is_multi(const struct tdf_module *module,
		     const struct features *features)
{
	return module->kind == TDF_MODULE_USER && features->multi;
}

/* In one file, or the kernel. */
static int attach_copy(int program, const struct tdf *tdf, uint32_t index,
		       const uint32_t *sites, uint32_t count, bool session,
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
			multi_link(program, tdf, index, sites, count, session,
				   target, copy) :
			site_link(program, tdf, index, sites[i], target, copy,
				  features, dir);

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
		 const uint32_t *sites, uint32_t count, bool session,
		 const struct target *target, const struct features *features,
		 const char *dir, struct error *err)
{
	uint32_t copy = 0;
	int code;

	do {
		code = attach_copy(program, tdf, point, sites, count, session,
				   target, copy, features, dir, err);
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

#define LOG_SIZE	(1u << 20)

/* So many tracepoints of a TDF that are alike have programs of their own, whose
 * hits ask for nothing. More of them would be arming for long, and evict each
 * other from the processor's caches. */
#define PROGRAMS_OWN	32

static bool program_equal(const struct program *a, const struct program *b)
{
	return a->hash == b->hash && a->count == b->count &&
	       a->context == b->context && a->returns == b->returns &&
	       a->session == b->session &&
	       a->sleepable == b->sleepable &&
	       !memcmp(a->insns, b->insns, a->count * sizeof(*a->insns));
}

static int program_make(struct program *program, const struct tdf *tdf,
			const struct tdf_point *point, uint32_t index,
			const struct body_target *base, struct error *err)
{
	const struct tdf_site *site = &tdf->sites[index];
	struct body_target target = *base;
	struct body body;
	int code;

	target.context = tdf->modules[point->module].kind == TDF_MODULE_USER ?
		BODY_UPROBE : BODY_KPROBE;
	code = body_generate(&body, tdf, point, site, &target, err);
	if (code) {
		error_prefix(err, "tracepoint %u ('%s'): ", point->minor,
			     tdf_string(tdf, point->name));
		return code;
	}
	*program = (struct program){
		.insns = body.insns,
		.count = body.count,
		.sleepable = body.sleepable,
		.context = target.context,
		.returns = site->flags & TDF_SITE_RETURN,
		.session = body_is_session(tdf, point, &target),
		.module_fd = target.module_fd,
		.hash = hash_fnv(HASH_FNV_START, body.insns,
				 body.count * sizeof(*body.insns)),
		.first_site = index, .last_site = index,
	};
	memcpy(program->subprograms, body.subprograms,
	       sizeof(program->subprograms));
	body.insns = NULL;
	body_free(&body);
	return 0;
}

static void set_site_join(struct program_set *set, size_t number, uint32_t site)
{
	struct program *program = &set->items[number];

	set->next_site[program->last_site] = site;
	program->last_site = site;
}

/* *number becomes the index of the site's program, which may be there. */
static int set_add_site(struct program_set *set, const struct tdf *tdf,
			const struct tdf_point *point, uint32_t site,
			const struct body_target *base, size_t *number,
			struct error *err)
{
	struct program made, *program;
	size_t step = 0;
	int code = program_make(&made, tdf, point, site, base, err);

	if (code)
		return code;
	while ((program = key_map_each(&set->by_hash, made.hash, &step)))
		if (program_equal(program, &made)) {
			free(made.insns);
			*number = program - set->items;
			set_site_join(set, *number, site);
			return 0;
		}
	*number = set->count++;
	set->items[*number] = made;
	return key_map_add(&set->by_hash, made.hash, &set->items[*number]) ?
		error_no_memory(err) : 0;
}

/* The program of a site that has a group of others that are alike */
static int set_add_alike(struct program_set *set, const struct tdf *tdf,
			 uint32_t index, uint32_t site,
			 const struct body_target *base, struct error *err)
{
	struct alike_group *group =
		&set->alike.groups[set->alike.sites[site].group];
	const struct tdf_point *point = &tdf->points[index];
	struct body_target target = *base;
	int code;

	if (group->program != ALIKE_NONE) {
		set_site_join(set, group->program, site);
		return 0;
	}
	target.offsets_fd = set->offsets_fd;
	target.offsets = group->offsets;
	target.offset_count = group->offset_count;
	target.lengths = group->lengths;
	target.length_count = group->length_count;
	target.registers = group->registers;
	target.register_count = group->register_count;
	target.single = group->sites == 1;
	target.cookie = program_cookie(tdf, index, site);
	code = program_make(&set->items[set->count], tdf, point, site, &target,
			    err);
	if (!code)
		group->program = set->count++;
	return code;
}

static int set_add_point(struct program_set *set, const struct tdf *tdf,
			 uint32_t index, const struct body_target *target,
			 struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	const struct tdf_site *sites = tdf->sites;
	bool session = body_is_session(tdf, point, target);
	size_t number = 0;
	int code = 0;

	for (uint32_t i = 0; i < point->sites && !code; i++) {
		uint32_t site = point->first_site + i;

		set->points[site] = index;
		set->next_site[site] = PROGRAM_NO_SITE;
		if (session && sites[site].flags & TDF_SITE_CALL)
			continue;
		if (set->alike.sites[site].group != ALIKE_NONE)
			code = set_add_alike(set, tdf, index, site, target,
					     err);
		else if (i && set->alike.sites[site - 1].group == ALIKE_NONE &&
			 tdf_site_same(&sites[site - 1], &sites[site]))
			set_site_join(set, number, site);
		else
			code = set_add_site(set, tdf, point, site, target,
					    &number, err);
	}
	return code;
}

/* A program that is of one site has its cookie in it: a hit need not ask for
 * it. */
static int set_single(struct program_set *set, const struct tdf *tdf,
		      const uint8_t *picks, const struct body_target *base,
		      struct error *err)
{
	struct body_target target = *base;
	int code = 0;

	target.single = true;
	for (size_t i = 0; i < set->count && !code; i++) {
		struct program *old = &set->items[i], program;
		uint32_t site = old->first_site, index = set->points[site];

		if (site != old->last_site ||
		    set->alike.sites[site].group != ALIKE_NONE)
			continue;
		target.trigger = picks[index] & PROGRAM_TRIGGER;
		target.cookie = program_cookie(tdf, index, site);
		code = program_make(&program, tdf, &tdf->points[index], site,
				    &target, err);
		if (code)
			break;
		free(old->insns);
		*old = program;
	}
	return code;
}

/* What the alike have in a map */
static int set_offsets_make(struct program_set *set, const struct tdf *tdf,
			    struct error *err)
{
	uint32_t sites = tdf->header->sites.count;
	size_t row = alike_row_bytes(&set->alike), size = sites * row;
	char *rows;

	if (!row)
		return 0;
	set->offsets_fd = sysbpf_array_create("offsets", row, sites);
	if (set->offsets_fd < 0)
		return pin_refused(err, set->offsets_fd,
				   "cannot make the map 'offsets' of %u times %zu bytes",
				   sites, row);
	rows = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    set->offsets_fd, 0);
	if (rows == MAP_FAILED)
		return error_set(err, -errno, "cannot map 'offsets': %s",
				 strerror(errno));
	for (uint32_t i = 0; i < sites; i++)
		memcpy(rows + i * row, set->alike.rows + i * ALIKE_WORDS, row);
	munmap(rows, size);
	return 0;
}

int program_set_make(struct program_set *set, const struct tdf *tdf,
		     const uint8_t *picks, const struct body_target *base,
		     struct error *err)
{
	uint32_t points = tdf->header->points.count;
	uint32_t sites = tdf->header->sites.count;
	const struct body_layout *layout = base->layout;
	const struct alike_limits limits = {
		.own = PROGRAMS_OWN,
		.registers = layout && layout->cast_kfunc && layout->cast_type,
	};
	struct body_target target = *base;
	int code = 0;

	*set = (struct program_set){
		.items = calloc(sites + 1, sizeof(*set->items)),
		.next_site = calloc(sites + 1, sizeof(*set->next_site)),
		.points = calloc(sites + 1, sizeof(*set->points)),
		.offsets_fd = -1,
	};
	if (!set->items || !set->next_site || !set->points ||
	    alike_find(&set->alike, tdf, picks, &limits))
		code = error_no_memory(err);
	if (!code)
		code = set_offsets_make(set, tdf, err);
	for (uint32_t i = 0; i < points && !code; i++) {
		target.trigger = picks[i] & PROGRAM_TRIGGER;
		if (picks[i] & PROGRAM_PICKED)
			code = set_add_point(set, tdf, i, &target, err);
	}
	if (!code)
		code = set_single(set, tdf, picks, base, err);
	if (code)
		program_set_free(set);
	return code;
}

void program_set_free(struct program_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->items[i].insns);
	free(set->items);
	free(set->next_site);
	free(set->points);
	alike_free(&set->alike);
	if (set->offsets_fd >= 0)
		close(set->offsets_fd);
	key_map_free(&set->by_hash);
	*set = (struct program_set){ .offsets_fd = -1 };
}

#define THREADS_MOST		16
#define PROGRAMS_PER_THREAD	4	/* fewer aren't worth a thread */

struct crew {
	const struct program_set *set;
	int (*take)(void *context, const struct program *program,
		    struct error *err);
	void *context;
	size_t next;		/* program; atomic */
	pthread_mutex_t lock;	/* of the next two */
	int code;
	struct error *err;
};

static void *crew_work(void *context)
{
	struct crew *crew = context;
	struct error err = { 0 };
	size_t i;
	int code;

	while ((i = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED)) <
	       crew->set->count) {
		code = crew->take(crew->context, &crew->set->items[i], &err);
		if (!code)
			continue;
		/* the others find nothing more to do */
		__atomic_store_n(&crew->next, crew->set->count,
				 __ATOMIC_RELAXED);
		pthread_mutex_lock(&crew->lock);
		if (!crew->code && crew->err)
			*crew->err = err;
		crew->code = crew->code ? crew->code : code;
		pthread_mutex_unlock(&crew->lock);
	}
	return NULL;
}

int program_set_each(const struct program_set *set,
		     int (*take)(void *context, const struct program *program,
				 struct error *err),
		     void *context, struct error *err)
{
	struct crew crew = {
		.set = set, .take = take, .context = context, .err = err,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	size_t count = 0, size = set->count / PROGRAMS_PER_THREAD;
	pthread_t threads[THREADS_MOST];
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		size = 1;
	else if (size > (size_t)CPU_COUNT(&cpus))
		size = CPU_COUNT(&cpus);
	if (size > THREADS_MOST)
		size = THREADS_MOST;
	while (count + 1 < size &&
	       !pthread_create(&threads[count], NULL, crew_work, &crew))
		count++;
	crew_work(&crew);
	while (count)
		pthread_join(threads[--count], NULL);
	return crew.code;
}

/* The verifier's last line but one says why it refused. */
static const char *log_reason(char *log)
{
	size_t length = strlen(log);
	char *line;

	while (length && log[length - 1] == '\n')
		log[--length] = '\0';
	line = strrchr(log, '\n');
	if (line && !strncmp(line + 1, "processed ", 10)) {
		*line = '\0';
		line = strrchr(log, '\n');
	}
	return line ? line + 1 : log;
}

/* The types of all bodies; loaded once. */
static int types_fd;

static void types_load(void)
{
	size_t size;
	const void *types = body_types(&size);

	types_fd = bpf_btf_load(types, size, NULL);
}

int program_load(const struct program *program, uint32_t attach_type,
		 struct error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const int fds[] = { [BODY_MODULE_PLACE] = program->module_fd };
	struct bpf_func_info functions[BODY_FUNCTIONS];
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = attach_type, .fd_array = fds,
		    .prog_flags = program->sleepable ? BPF_F_SLEEPABLE : 0,
		    .func_info = functions,
		    .func_info_cnt = body_functions(program->subprograms,
						    functions),
		    .func_info_rec_size = sizeof(functions[0]));
	char *log;
	int fd;

	if (opts.func_info_cnt) {
		pthread_once(&once, types_load);
		if (types_fd < 0)
			return pin_refused(err, types_fd,
					   "cannot load the types of a program");
		opts.prog_btf_fd = types_fd;
	}
	fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL",
			   program->insns, program->count, &opts);
	if (fd >= 0)
		return fd;
	pin_refused(err, fd, "cannot load a program of %zu instructions",
		    program->count);
	if (fd == -EPERM || fd == -ENOMEM)
		return fd;
	log = malloc(LOG_SIZE);
	if (!log)
		return fd;
	opts.log_level = 1;
	opts.log_buf = log;
	opts.log_size = LOG_SIZE;
	*log = '\0';
	bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL", program->insns,
		      program->count, &opts);
	if (*log)
		error_hint(err, "verifier: %s", log_reason(log));
	free(log);
	return fd;
}
