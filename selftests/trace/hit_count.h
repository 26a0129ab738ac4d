/* SPDX-License-Identifier: GPL-2.0 */
/* Uprobes in a file that count their hits, by index. */
#ifndef SELFTESTS_TRACE_HIT_COUNT_H
#define SELFTESTS_TRACE_HIT_COUNT_H

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tap.h"
#include "lib/sysbpf.h"

struct hit_count {
	const char *file;
	int map, program, perf_type;
	bool multi;
};

/* A link, or a negative errno. */
static inline int hit_count_multi(const struct hit_count *h, uint64_t offset,
				  uint64_t index)
{
	struct sysbpf_multi multi = {
		.offsets = &offset, .cookies = &index, .count = 1,
	};

	return sysbpf_multi_link(h->program, h->file, &multi);
}

static inline int hit_count_perf(const struct hit_count *h, uint64_t offset,
				 uint64_t index)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = h->perf_type,
		.config1 = (uintptr_t)h->file, .config2 = offset,
	};
	int link, event = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
				  PERF_FLAG_FD_CLOEXEC);

	if (event < 0)
		return -errno;
	link = sysbpf_perf_link(h->program, event, index);
	close(event);
	return link;
}

static inline int hit_count_attach(const struct hit_count *h, uint64_t offset,
				   uint64_t index)
{
	return h->multi ? hit_count_multi(h, offset, index) :
			  hit_count_perf(h, offset, index);
}

static inline int hit_count_perf_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	int type = -1;

	if (!file || fscanf(file, "%d", &type) != 1)
		type = -1;
	if (file)
		fclose(file);
	return type;
}

#define HIT_INSN(c, d, s, o, i) \
	{ .code = c, .dst_reg = d, .src_reg = s, .off = o, .imm = i }

/* counts[cookie]++; offset: where a probe may be, for a try. */
static inline void hit_count_open(struct hit_count *h, const char *file,
				  uint32_t count, uint64_t offset)
{
	struct bpf_insn insns[] = {
		HIT_INSN(BPF_JMP | BPF_CALL, 0, 0, 0,
			 BPF_FUNC_get_attach_cookie),
		HIT_INSN(BPF_STX | BPF_MEM | BPF_W, 10, 0, -4, 0),
		HIT_INSN(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, 0),
		HIT_INSN(0, 0, 0, 0, 0),
		HIT_INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		HIT_INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		HIT_INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		HIT_INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 0),
		HIT_INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		HIT_INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD),
		HIT_INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		HIT_INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	const size_t length = sizeof(insns) / sizeof(insns[0]);
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = SYSBPF_UPROBE_MULTI);
	static char log[8192];
	int link;

	h->file = file;
	h->perf_type = hit_count_perf_type();
	h->map = sysbpf_array_create("hits", 8, count);
	insns[2].imm = h->map;
	h->program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "hits", "GPL", insns,
				   length, &opts);
	link = hit_count_multi(h, offset, 0);
	close(link);
	h->multi = link >= 0;
	if (!h->multi) {	/* before 6.6 */
		close(h->program);
		opts.expected_attach_type = 0;
		opts.log_level = 1;
		opts.log_buf = log;
		opts.log_size = sizeof(log);
		h->program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "hits", "GPL",
					   insns, length, &opts);
	}
	if (h->map < 0 || h->program < 0)
		tap_bail("program: %s\n%s", strerror(-h->program), log);
}

static inline uint64_t hit_count_read(const struct hit_count *h,
				      uint32_t index)
{
	uint64_t hits = 0;

	bpf_map_lookup_elem(h->map, &(uint32_t){ index }, &hits);
	return hits;
}

static inline void hit_count_close(struct hit_count *h)
{
	close(h->program);
	close(h->map);
}

#endif
