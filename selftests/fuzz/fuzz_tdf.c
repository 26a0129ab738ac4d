// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a TDF: refused, or everything that the tables lead to can be
 * read and every tracepoint becomes a body. Size and checksum are put right,
 * or nothing would get past them.
 */
#include <stdlib.h>
#include <string.h>
#include "bpf/body.h"
#include "bpf/plan/needs.h"
#include "lib/hash.h"
#include "lib/formats/tdf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define POINTS_MAX	16	/* enough for one input */

static void string_check(const struct tdf *tdf, uint32_t offset)
{
	if (strlen(tdf_string(tdf, offset)) >= tdf->header->file_size)
		abort();
}

static const struct body_layout layout = {
	.thread_base = { 4000, 4008 }, .thread_ds = 4016, .thread_es = 4018,
	.thread_fsindex = 4020, .thread_gsindex = 4022, .tls_array = 4024,
	.task_mm = 1000, .mm_ldt = 1008, .ldt_entries = 8, .ldt_count = 16,
	.vma = true,
};

static struct body_section sections[TDF_SECTIONS_MAX];

static void sections_fill(const struct tdf *tdf)
{
	for (uint32_t i = 0; i < tdf->header->sections.count; i++) {
		const struct tdf_section *section = &tdf->sections[i];

		string_check(tdf, section->name);
		sections[i] = (struct body_section){
			.address = section->address, .size = section->size,
			.run = 0xffffffffc0000000,
			.percpu = section->flags & TDF_SECTION_PERCPU,
		};
	}
}

static void site_generate(const struct tdf *tdf, const struct tdf_point *point,
			  const struct tdf_site *site)
{
	struct body_target target = {
		.context = tdf->modules[point->module].kind == TDF_MODULE_USER ?
			   BODY_UPROBE : BODY_KPROBE,
		.slice_bytes = 65536, .nest_bytes = 16384, .cpus = 2,
		.major = tdf->header->major, .func_ip = true,
		.processes_fd = 8, .layout = &layout, .sections = sections,
		.bring_in = true,
		.section_count = tdf->header->sections.count,
	};
	struct body body;
	struct error err;

	body_needs_find(tdf, point, site);
	body_generate(&body, tdf, point, site, &target, &err);
	body_free(&body);
}

static void tdf_walk(const struct tdf *tdf)
{
	const struct tdf_header *h = tdf->header;

	string_check(tdf, h->tsf);
	sections_fill(tdf);
	for (uint32_t i = 0; i < h->modules.count; i++) {
		string_check(tdf, tdf->modules[i].path);
		string_check(tdf, tdf->modules[i].name);
	}
	for (uint32_t i = 0; i < h->types.count; i++)
		string_check(tdf, tdf->types[i].name);
	for (uint32_t i = 0; i < h->groups.count; i++)
		string_check(tdf, tdf->groups[i].name);
	for (uint32_t i = 0; i < h->points.count && i < POINTS_MAX; i++) {
		const struct tdf_point *point = &tdf->points[i];

		string_check(tdf, point->name);
		for (uint32_t k = 0; k < point->sites && k < POINTS_MAX; k++) {
			const struct tdf_site *site =
				&tdf->sites[point->first_site + k];

			string_check(tdf, site->symbol);
			string_check(tdf, site->text);
			site_generate(tdf, point, site);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct error err;
	struct tdf *tdf;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	if (size >= sizeof(struct tdf_header)) {
		struct tdf_header *h = (void *)copy;

		h->file_size = size;
		h->crc = 0;
		h->crc = hash_crc32(0, copy, size);
	}
	if (!tdf_parse(&tdf, copy, size, "fuzz.tdf", &err)) {
		tdf_walk(tdf);
		tdf_close(tdf);
	}
	free(copy);
	return 0;
}
