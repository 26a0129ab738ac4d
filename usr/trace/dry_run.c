// SPDX-License-Identifier: GPL-2.0
#include "dry_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/names.h"
#include "lib/text.h"
#include "lib/arm/arm.h"

/* Where the probe is, on which instruction, and the address whose values it
 * logs. */
static void dry_run_place(const struct tdf *tdf, const struct tdf_site *site)
{
	fputs("    ", stdout);
	safe_text_print(stdout, tdf_string(tdf, site->symbol), false);
	printf("+%u", site->symbol_offset);
	if (site->nominal != site->address)
		printf(" (%#llx) with the values of %#llx", site->address,
		       site->nominal);
	fputs(", ", stdout);
	if (!site->text)
		return;
	safe_text_print(stdout, tdf_string(tdf, site->text), false);
	fputs(", ", stdout);
}

static void dry_run_site(const struct job *job, const struct tdf_point *point,
			 uint32_t index, const struct features *features,
			 const struct hit_cost *cost)
{
	const struct tdf *tdf = job->tdf;
	const struct tdf_site *site = &tdf->sites[index];
	const struct target *target = &job->targets[point->module];
	unsigned int body = hit_cost_estimate(cost,
					      &job->cost.bodies[index]);
	const char *kind = !target->file_count ? "kprobe" :
		attach_is_multi(&tdf->modules[point->module], features) ?
		"uprobe_multi" : "uprobe";

	dry_run_place(tdf, site);
	printf("%s%s, %s, ", kind,
	       site->flags & TDF_SITE_RETURN ? " at the return" : "",
	       names_cost[site->cost]);
	if (site->cost < TDF_COST_UNKNOWN && cost->ns[site->cost] &&
	    !(site->flags & TDF_SITE_RETURN))
		printf("about %u ns\n", cost->ns[site->cost] + body);
	else if (body)
		printf("about %u ns more than the probe\n", body);
	else
		puts("unknown cost");
}

static void dry_run_point(const struct job *job, const struct tdf_point *point,
			  const struct features *features,
			  const struct hit_cost *cost)
{
	printf("  tracepoint %u (0x%04x) '", point->minor, point->minor);
	safe_text_print(stdout, tdf_string(job->tdf, point->name), false);
	puts("'");
	for (uint32_t i = 0; i < point->sites; i++)
		dry_run_site(job, point, point->first_site + i, features, cost);
}

static void dry_run_job(const struct job *job, const struct features *features,
			const struct hit_cost *cost)
{
	const struct tdf_header *header = job->tdf->header;
	uint32_t points = 0;
	char maps[AMOUNT_TEXT], programs[AMOUNT_TEXT];

	for (uint32_t i = 0; i < header->points.count; i++)
		points += job->picked[i];
	amount_print_bytes(maps, job->cost.map_bytes);
	amount_print_bytes(programs, job->cost.program_bytes);
	safe_text_print(stdout, job->path, false);
	printf(": %u of %u tracepoints would be armed\n", points,
	       header->points.count);
	for (uint32_t i = 0; i < job->tdf->header->modules.count; i++) {
		const struct target *target = &job->targets[i];

		for (uint32_t k = 0; k < target->file_count; k++) {
			fputs("  in '", stdout);
			safe_text_print(stdout, target->files[k].path, false);
			puts("'");
		}
		if (!target->file_count && target->path[0]) {
			fputs("  in the kernel ('", stdout);
			safe_text_print(stdout, target->path, false);
			puts("')");
		}
	}
	for (uint32_t i = 0; i < header->points.count; i++)
		if (job->picked[i])
			dry_run_point(job, &job->tdf->points[i], features,
				      cost);
	printf("  %u programs in %s, maps of %s\n", job->cost.programs,
	       programs, maps);
}

/* Describes the buffer, and leaves out what is armed already. */
static int dry_run_buffer(struct job_list *jobs, const struct run_dir *run,
			  struct error *err)
{
	uint64_t bytes = jobs->settings->bytes;
	char text[AMOUNT_TEXT], memory[AMOUNT_TEXT];
	int cpus = bufmaps_cpus_possible();
	struct buffer buffer;
	int code;

	if (cpus < 0)
		return error_set(err, cpus, "cannot find the number of CPUs: %s",
				 strerror(-cpus));
	code = buffer_open(&buffer, run->path, true, err);
	if (code && code != -ENOENT)
		return code;
	if (code) {
		*err = (struct error){ 0 };
		bytes = bytes ? bytes : RAS_SLICE_DEFAULT;
		amount_print_bytes(text, bytes);
		amount_print_bytes(memory,
				   buffer_memory(bytes, cpus > 0 ? cpus : 1));
		printf("buffer: %s for each of %d CPUs would be made, %s\n",
		       text, cpus, memory);
		return 0;
	}
	amount_print_bytes(text, buffer.control->slice_bytes);
	amount_print_bytes(memory, buffer_memory(buffer.control->slice_bytes,
						 buffer.control->cpus));
	printf("buffer: %s for each of %u CPUs is there, %s\n", text,
	       buffer.control->cpus, memory);
	if (bytes && bytes != buffer.control->slice_bytes)
		puts("  its size can change while nothing is armed and it holds no records");
	code = job_list_check_armed(jobs, &buffer, run, err);
	buffer_close(&buffer);
	return code;
}

/* In a small buffer of its own: the verifier's verdict doesn't depend on its
 * size. */
static int jobs_load(struct job_list *jobs, const struct run_dir *private,
		     struct features *features, struct error *err)
{
	struct job_settings settings = *jobs->settings;
	struct buffer buffer;
	int code;

	settings.bytes = RAS_SLICE_MIN;
	settings.group_read = NULL;
	settings.max_cpu = 0;
	code = job_buffer_open(&buffer, features, private, &settings, err);
	if (code)
		return code;
	job_list_arm(jobs, private, &buffer, features, true);
	buffer_close(&buffer);
	return 0;
}

int dry_run(struct job_list *jobs, struct error *err)
{
	struct run_dir run, private;
	struct features features;
	int code = run_dir_open(&run, true, err);
	struct hit_cost cost;

	if (code)
		return code;
	code = dry_run_buffer(jobs, &run, err);
	if (!code)
		code = run_dir_open_private(&private, &run, err);
	if (!code) {
		code = jobs_load(jobs, &private, &features, err);
		retire_everything(&private);
		pins_remove(run.path, private.path);
	}
	run_dir_close(&run);
	if (!code) {
		hit_cost_measure(&cost, &features);
		for (size_t i = 0; i < jobs->count; i++) {
			const struct job *job = &jobs->items[i];

			if (job->waits[0] && !job->failed)
				printf("%s: waits for the kernel module '%s'\n",
				       job->path, job->waits);
			else if (!job->failed)
				dry_run_job(job, &features, &cost);
		}
	}
	return code;
}
