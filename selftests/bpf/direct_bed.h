/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that read the test's own memory by bpf/code/direct.c alone: what it
 * can't read is not read. They run in this process, as often as is wanted.
 */
#ifndef RASTRACE_DIRECT_BED_H
#define RASTRACE_DIRECT_BED_H

#include <errno.h>
#include <unistd.h>
#include <sys/mman.h>
#include <rastrace/buffer.h>
#include "bpf/assemble.h"
#include "bpf/code/gen.h"
#include "lib/arm/kernel/direct_probe.h"
#include "lib/arm/kernel/features.h"
#include "lib/names.h"
#include "lib/sysbpf.h"
#include "../tap.h"

struct direct_bed {
	struct body_layout layout;
	struct body_direct direct;
	struct body_target target;
	struct plan plan;
	int map_fd;
	size_t map_bytes;	/* what the programs and the test share */
	volatile uint64_t *map;
};

/* Skips the test where memory can't be read directly. */
static inline void direct_bed_open(struct direct_bed *bed, size_t map_bytes)
{
	int reads;

	if (geteuid())
		tap_skip_all("needs root");
	features_read_layout(&bed->layout);
	reads = direct_probe(&bed->direct, &bed->layout);
	if (reads != RAS_READS_DIRECT)
		tap_skip_all(names_reads[reads]);
	bed->target = (struct body_target){
		.layout = &bed->layout, .direct = &bed->direct,
	};
	bed->plan = (struct plan){ .target = &bed->target, .direct = true };
	bed->map_bytes = map_bytes;
	map_bytes += RAS_RECORD_MAX;
	bed->map_fd = sysbpf_array_create("direct", map_bytes, 1);
	if (bed->map_fd < 0)
		tap_bail("cannot make a map: %s", strerror(-bed->map_fd));
	bed->map = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			bed->map_fd, 0);
	if (bed->map == MAP_FAILED)
		tap_bail("cannot map a map: %s", strerror(errno));
}

/* The part of the map that is for the programs alone: RECORD is its address. */
static inline void direct_bed_begin(const struct direct_bed *bed,
				    struct gen *gen)
{
	code_map_value(gen->c, RECORD, bed->map_fd, bed->map_bytes);
	direct_begin(gen);
}

/* A program of a kind that test runs repeat, from what was written. */
static inline int direct_bed_load(struct code *c)
{
	static char log[1 << 20];
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log,
		    .log_size = sizeof(log), .log_level = 1);
	struct placed placed = { 0 };
	struct body body;
	int fd = code_finish(c);

	if (fd || place_code(&placed, c) || assemble_body(&body, &placed))
		tap_bail("the code of a program is wrong: %d", fd);
	fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "direct", "GPL", body.insns,
			   body.count, &opts);
	if (fd < 0)
		tap_bail("the verifier refuses: %s", log + (strlen(log) > 3000 ?
						strlen(log) - 3000 : 0));
	free(body.insns);
	free(body.notes);
	placed_free(&placed);
	code_free(c);
	return fd;
}

/* Returns what the last run did, or a negative errno. */
static inline int direct_bed_run(int program, int times)
{
	char packet[64] = "";
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
		    .data_size_in = sizeof(packet), .repeat = times);
	int code = bpf_prog_test_run_opts(program, &opts);

	return code ? code : (int)opts.retval;
}

#endif
