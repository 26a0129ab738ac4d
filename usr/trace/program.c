// SPDX-License-Identifier: GPL-2.0
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../lib/hash.h"
#include "../lib/pin.h"
#include "../lib/sysbpf.h"

#define LOG_SIZE	(1u << 20)

static int set_allocate(struct program_set *set, uint32_t points)
{
	*set = (struct program_set){ .table_size = 64 };
	while (set->table_size < 2 * (size_t)points)
		set->table_size *= 2;
	set->items = calloc(points + 1, sizeof(*set->items));
	set->next_point = calloc(points + 1, sizeof(*set->next_point));
	set->table = calloc(set->table_size, sizeof(*set->table));
	return set->items && set->next_point && set->table ? 0 : -ENOMEM;
}

static bool program_equal(const struct program *a, const struct program *b)
{
	return a->hash == b->hash && a->count == b->count &&
	       a->context == b->context &&
	       !memcmp(a->insns, b->insns, a->count * sizeof(*a->insns));
}

/* Takes over candidate->insns. */
static void set_add(struct program_set *set, struct program *candidate,
		    uint32_t point)
{
	size_t slot = candidate->hash & (set->table_size - 1);
	struct program *program;

	while (set->table[slot]) {
		program = &set->items[set->table[slot] - 1];
		if (program_equal(program, candidate)) {
			free(candidate->insns);
			set->next_point[point] = program->first_point;
			program->first_point = point;
			return;
		}
		slot = (slot + 1) & (set->table_size - 1);
	}
	set->next_point[point] = PROGRAM_NO_POINT;
	candidate->first_point = point;
	set->items[set->count++] = *candidate;
	set->table[slot] = set->count;
}

static int set_add_point(struct program_set *set, const struct tdf *tdf,
			 uint32_t point, const struct body_target *base,
			 struct error *err)
{
	const struct tdf_point *p = &tdf->points[point];
	struct body_target target = *base;
	struct program program;
	struct body body;
	int code;

	target.context = tdf->modules[p->module].kind == TDF_MODULE_USER ?
		BODY_UPROBE : BODY_KPROBE;
	code = body_generate(&body, tdf, p, &target, err);
	if (code)
		return code;
	program = (struct program){
		.insns = body.insns,
		.count = body.count,
		.context = target.context,
		.hash = hash_fnv(HASH_FNV_START, body.insns,
				 body.count * sizeof(*body.insns)),
	};
	body.insns = NULL;
	body_free(&body);
	set_add(set, &program, point);
	return 0;
}

int program_set_make(struct program_set *set, const struct tdf *tdf,
		     const struct body_target *target, struct error *err)
{
	uint32_t points = tdf->header->points.count;
	int code = set_allocate(set, points);

	if (code)
		error_set(err, code, "out of memory");
	for (uint32_t i = 0; i < points && !code; i++)
		code = set_add_point(set, tdf, i, target, err);
	if (code)
		program_set_free(set);
	return code;
}

void program_set_free(struct program_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		free(set->items[i].insns);
	free(set->items);
	free(set->next_point);
	free(set->table);
	*set = (struct program_set){ 0 };
}

/* The verifier's last line but one says what it stumbled over. */
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

int program_load(const struct program *program, uint32_t attach_type,
		 struct error *err)
{
	char *log;
	int fd = sysbpf_program_load(program->insns, program->count,
				     attach_type, NULL, 0);

	if (fd >= 0)
		return fd;
	pin_refused(err, fd, "cannot load a program of %zu instructions",
		    program->count);
	if (fd == -EPERM || fd == -ENOMEM)
		return fd;
	log = malloc(LOG_SIZE);
	if (!log)
		return fd;
	sysbpf_program_load(program->insns, program->count, attach_type, log,
			    LOG_SIZE);
	if (*log)
		error_hint(err, "verifier: %s", log_reason(log));
	free(log);
	return fd;
}
