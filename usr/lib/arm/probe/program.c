// SPDX-License-Identifier: GPL-2.0
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include <bpf/bpf.h>
#include "bpf/types.h"
#include "lib/hash.h"
#include "lib/buffer/pin.h"

#define LOG_SIZE	(1u << 20)

static bool program_equal(const struct program *a, const struct program *b)
{
	return a->hash == b->hash && a->count == b->count &&
	       a->context == b->context && a->returns == b->returns &&
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
			set->next_site[program->last_site] = site;
			program->last_site = site;
			*number = program - set->items;
			return 0;
		}
	*number = set->count++;
	set->items[*number] = made;
	return key_map_add(&set->by_hash, made.hash, &set->items[*number]) ?
		error_no_memory(err) : 0;
}

static int set_add_point(struct program_set *set, const struct tdf *tdf,
			 uint32_t index, const struct body_target *target,
			 struct error *err)
{
	const struct tdf_point *point = &tdf->points[index];
	const struct tdf_site *sites = tdf->sites;
	size_t number = 0;
	int code = 0;

	for (uint32_t i = 0; i < point->sites && !code; i++) {
		uint32_t site = point->first_site + i;

		set->points[site] = index;
		set->next_site[site] = PROGRAM_NO_SITE;
		if (i && tdf_site_same(&sites[site - 1], &sites[site])) {
			struct program *program = &set->items[number];

			set->next_site[program->last_site] = site;
			program->last_site = site;
		} else {
			code = set_add_site(set, tdf, point, site, target,
					    &number, err);
		}
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

		if (site != old->last_site)
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

uint64_t program_cookie(const struct tdf *tdf, uint32_t point, uint32_t site)
{
	const struct tdf_point *p = &tdf->points[point];

	return RAS_COOKIE(p->minor, point, site) | RAS_COOKIE_LEVEL(p->level);
}

int program_set_make(struct program_set *set, const struct tdf *tdf,
		     const uint8_t *picks, const struct body_target *base,
		     struct error *err)
{
	uint32_t points = tdf->header->points.count;
	uint32_t sites = tdf->header->sites.count;
	struct body_target target = *base;
	int code = 0;

	*set = (struct program_set){
		.items = calloc(sites + 1, sizeof(*set->items)),
		.next_site = calloc(sites + 1, sizeof(*set->next_site)),
		.points = calloc(sites + 1, sizeof(*set->points)),
	};
	if (!set->items || !set->next_site || !set->points)
		code = error_no_memory(err);
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
	key_map_free(&set->by_hash);
	*set = (struct program_set){ 0 };
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
