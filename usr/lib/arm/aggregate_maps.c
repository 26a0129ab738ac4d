// SPDX-License-Identifier: GPL-2.0
#include "aggregate_maps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/plan/plan.h"
#include "lib/buffer/pin.h"
#include "lib/sysbpf.h"

/* The aggregates of the points that are picked: their first sites have all, of whole
 * calls the first exits. */
struct legend_list {
	struct ras_legend *items;
	size_t count;
	uint32_t key_bytes;
};

static void legend_fill(struct ras_legend *legend, const struct tdf *tdf,
			uint32_t point, const struct tdf_stmt *by,
			unsigned int by_count, const struct tdf_stmt *stmt)
{
	const struct tdf_point *p = &tdf->points[point];

	legend->point = point;
	legend->minor = p->minor;
	legend->kind = stmt->reg;
	legend->by_count = by_count;
	for (unsigned int i = 0; i < by_count; i++) {
		legend->by[i].kind = by[i].reg;
		legend->by[i].bytes = plan_by_bytes(&by[i]);
		snprintf(legend->by[i].text, sizeof(legend->by[i].text), "%s",
			 tdf_string(tdf, by[i].len_rpn));
	}
	snprintf(legend->text, sizeof(legend->text), "%s",
		 tdf_string(tdf, stmt->len_rpn));
	snprintf(legend->name, sizeof(legend->name), "%s",
		 tdf_string(tdf, p->name));
}

static void legends_add(struct legend_list *list, const struct tdf *tdf,
			uint32_t point)
{
	const struct tdf_site *site = &tdf->sites[tdf->points[point].first_site];
	unsigned int by_count = 0, statement = 0;
	const struct tdf_stmt *stmt, *by = NULL;
	uint32_t bytes;

	while (site->flags & TDF_SITE_ENTRY)
		site++;
	stmt = tdf->stmts + site->first_stmt;
	bytes = plan_aggregate_key(tdf, site);
	for (uint32_t i = 0; i < site->stmts; i++, stmt++) {
		if (stmt->kind == TDF_STMT_BY && !by_count++)
			by = stmt;
		if (stmt->kind != TDF_STMT_AGGREGATE)
			continue;
		legend_fill(&list->items[list->count], tdf, point, by,
			    by_count, stmt);
		list->items[list->count++].statement = statement++;
	}
	if (statement && bytes > list->key_bytes)
		list->key_bytes = bytes;
}

static int legends_make(struct legend_list *list, const struct arm *arm,
			struct error *err)
{
	const struct tdf *tdf = arm->tdf;

	list->items = calloc(tdf->header->stmts.count + 1,
			     sizeof(*list->items));
	if (!list->items)
		return error_no_memory(err);
	for (uint32_t i = 0; i < tdf->header->points.count; i++)
		if (arm->picked[i])
			legends_add(list, tdf, i);
	return 0;
}

static int aggregate_pin(const struct arm *arm, const char *dir,
			 const char *name, int fd, struct error *err)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return run_dir_pin(arm->run, path, fd, RUN_PIN_SHOWN, err);
}

static int legend_pin(const struct arm *arm, const char *dir,
		      const struct legend_list *list, struct error *err)
{
	int fd = sysbpf_array_create("legend", list->count *
				     sizeof(*list->items), 1), code;

	if (fd < 0)
		return pin_refused(err, fd, "cannot make the map 'legend'");
	code = bpf_map_update_elem(fd, &(uint32_t){ 0 }, list->items, BPF_ANY);
	code = code ? pin_refused(err, code, "cannot fill the map 'legend'") :
		      aggregate_pin(arm, dir, "legend", fd, err);
	close(fd);
	return code;
}

static int hash_make(struct aggregate_maps *maps, const struct arm *arm,
		     const char *dir, struct error *err)
{
	uint32_t room = arm->settings->aggregates ?
			arm->settings->aggregates : RAS_AGGREGATES_DEFAULT;
	const uint32_t value = sizeof(struct ras_aggregate);

	maps->aggregates_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_HASH,
					     "aggregates", maps->key_bytes,
					     value, room, NULL);
	if (maps->aggregates_fd < 0) {
		pin_refused(err, maps->aggregates_fd,
			    "cannot make the map 'aggregates' of %u keys for %u CPUs",
			    room, arm->buffer->control->cpus);
		if (maps->aggregates_fd == -ENOMEM ||
		    maps->aggregates_fd == -E2BIG)
			error_hint(err, "take fewer keys: --aggregates N");
		return maps->aggregates_fd;
	}
	if (arm->dry)
		arm->dry->map_bytes += (uint64_t)room *
			(maps->key_bytes +
			 value * arm->buffer->control->cpus);
	return aggregate_pin(arm, dir, "aggregates", maps->aggregates_fd, err);
}

int aggregate_maps_make(struct aggregate_maps *maps, const struct arm *arm,
			const char *dir, bool by_stack, struct error *err)
{
	uint32_t rows = arm->tdf->header->points.count *
			arm->buffer->control->cpus;
	struct legend_list list = { 0 };
	int code = legends_make(&list, arm, err);

	maps->key_bytes = list.key_bytes;
	if (!code && maps->key_bytes > RAS_AGGREGATE_KEY_MAX)
		code = error_set(err, -E2BIG, "BY of %u bytes, %u at most",
				 maps->key_bytes, RAS_AGGREGATE_KEY_MAX);
	if (!code)
		code = legend_pin(arm, dir, &list, err);
	free(list.items);
	if (!code)
		code = hash_make(maps, arm, dir, err);
	if (!code && by_stack) {
		maps->by_stack_fd = bpf_map_create(
			BPF_MAP_TYPE_PERCPU_ARRAY, "by_stack", 4,
			BODY_BY_STACK_BYTES + maps->key_bytes, 1, NULL);
		if (maps->by_stack_fd < 0)
			code = pin_refused(err, maps->by_stack_fd,
					   "cannot make the map 'by_stack'");
	}
	if (code)
		return code;
	maps->aggregated_fd = sysbpf_array_create(
		"aggregated", sizeof(struct ras_aggregated), rows);
	if (maps->aggregated_fd < 0)
		return pin_refused(err, maps->aggregated_fd,
				   "cannot make the map 'aggregated'");
	return aggregate_pin(arm, dir, "aggregated", maps->aggregated_fd, err);
}
