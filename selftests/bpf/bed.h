/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A test bed for generated bodies: a TDF in memory, the buffer's maps with a
 * known geometry, loading, running in this process's context.
 */
#ifndef SELFTESTS_BPF_BED_H
#define SELFTESTS_BPF_BED_H

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "bpf/body.h"
#include "bpf/static.h"
#include "bpf/types.h"
#include "interpret.h"
#include "machine.h"
#include "tap.h"

#define BED_STMTS	TDF_STMTS_MAX
#define BED_POINTS	3
#define BED_SITES	4
#define BED_MAJOR	0xc5
#define BED_SESSION	7
#define BED_KEY		0x9d3f6a1be4c85127ULL

/* The thread pointer, in task_struct */
#ifdef __x86_64__
#define BED_THREAD	"thread.fsbase"
#else
#define BED_THREAD	"thread.uw.tp_value"
#endif

/* AArch64's struct user_pt_regs, after X0 to X30 */
enum { BED_SP = 31, BED_PC, BED_PSTATE, BED_X };

struct bed {
	struct tdf tdf;
	struct tdf_header header;
	struct tdf_module module;
	struct tdf_point point;
	struct tdf_site site;
	struct tdf_stmt stmts[BED_STMTS];
	uint8_t rpn[1 << 18];
	size_t rpn_used;

	struct body_target target;
	struct body_layout layout;	/* of target; empty without BTF */
	struct {
		uint64_t cookie;
		union {
			struct pt_regs regs;
			uint64_t x[BED_X];
		};
	} input;
	uint64_t sites[BED_SITES];
	uint64_t entry[6];		/* arguments where a call began */
	uint64_t thread_base[2];	/* our fs.base, gs.base */
	size_t slice_stride, nest_stride;
	uint8_t *buffer, *nest;		/* mapped */
	struct ras_count *counts;	/* mapped, as are those below */
	struct ras_why *whys;
	struct ras_limit *limits;
	struct ras_trigger *trigger;
	size_t context;			/* bytes of the records' context */
	int cpu;			/* where we run */
	char log[1 << 16];
};

static inline int bed_map(const char *name, size_t value_size,
			  unsigned int entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, value_size,
				entries, &opts);

	if (fd < 0)
		tap_bail("cannot create map '%s': %s", name, strerror(errno));
	return fd;
}

static inline int bed_hash(const char *name, enum bpf_map_type type,
			   size_t key_size, size_t value_size,
			   unsigned int entries)
{
	int fd = bpf_map_create(type, name, key_size, value_size, entries,
				NULL);

	if (fd < 0)
		tap_bail("cannot create map '%s': %s", name, strerror(errno));
	return fd;
}

static inline void *bed_mmap(int fd, size_t size)
{
	void *p = mmap(NULL, (size + 4095) & ~4095UL, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		tap_bail("cannot map a map: %s", strerror(errno));
	return p;
}

static inline unsigned int bed_slices(const struct bed *bed)
{
	return bed->target.cpus * (1 + RAS_NEST_LEVELS);
}

/* New, empty maps of this slice size. */
static inline void bed_maps(struct bed *bed, size_t slice_bytes,
			    size_t nest_bytes)
{
	struct body_target *t = &bed->target;
	size_t rows;

	t->cpus = libbpf_num_possible_cpus();
	t->slice_bytes = slice_bytes;
	t->nest_bytes = nest_bytes;
	bed->slice_stride = RAS_SLICE_HEADER + slice_bytes + RAS_RECORD_MAX;
	bed->nest_stride = RAS_SLICE_HEADER + nest_bytes + RAS_RECORD_MAX;
	rows = BED_POINTS * bed_slices(bed);
	t->buffer_fd = bed_map("buffer", bed->slice_stride, t->cpus);
	t->nest_fd = bed_map("nest", bed->nest_stride,
			     t->cpus * RAS_NEST_LEVELS);
	t->count_fd = bed_map("count", sizeof(struct ras_count), rows);
	t->why_fd = bed_map("why", sizeof(struct ras_why),
			    BED_POINTS * t->cpus);
	t->trigger_fd = bed_map("trigger", sizeof(struct ras_trigger), 1);
	t->processes_fd = bed_hash("processes", BPF_MAP_TYPE_LRU_HASH,
				   sizeof(struct ras_process_key),
				   sizeof(struct ras_process),
				   RAS_PROCESSES_MAX);
	t->state_fd = bed_map("state", sizeof(struct ras_state), 1);
	t->sites_fd = bed_map("sites", 8, BED_SITES);
	t->limits_fd = bed_map("limits", sizeof(struct ras_limit), BED_POINTS);
	t->test_fd = bed_map("test", sizeof(bed->input), 1);
	bed->buffer = bed_mmap(t->buffer_fd, bed->slice_stride * t->cpus);
	bed->nest = bed_mmap(t->nest_fd, bed->nest_stride * t->cpus *
			     RAS_NEST_LEVELS);
	bed->counts = bed_mmap(t->count_fd, rows * sizeof(*bed->counts));
	bed->limits = bed_mmap(t->limits_fd,
			       BED_POINTS * sizeof(*bed->limits));
	bed->whys = bed_mmap(t->why_fd, BED_POINTS * t->cpus *
			     sizeof(*bed->whys));
	bed->trigger = bed_mmap(t->trigger_fd, sizeof(*bed->trigger));
}

static inline void bed_state(struct bed *bed, __u32 value)
{
	struct ras_state state = { .state = value };
	__u32 zero = 0;

	if (bpf_map_update_elem(bed->target.state_fd, &zero, &state, 0))
		tap_bail("cannot set the state: %s", strerror(errno));
}

static inline void bed_site(struct bed *bed, __u32 site, uint64_t value)
{
	bed->sites[site] = value;
	if (bpf_map_update_elem(bed->target.sites_fd, &site, &value, 0))
		tap_bail("cannot set a site: %s", strerror(errno));
}

/* Offset of `path` (member.member) in the type; -1: there is none. */
static inline int bed_offset(const struct btf *btf, int id, const char *path)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	size_t name = strcspn(path, ".");

	while (btf_is_mod(type) || btf_is_typedef(type))
		type = btf__type_by_id(btf, type->type);
	for (int i = 0; btf_is_composite(type) && i < btf_vlen(type); i++) {
		const struct btf_member *m = btf_members(type) + i;
		const char *member = btf__name_by_offset(btf, m->name_off);
		int offset = btf_member_bit_offset(type, i) / 8, rest;

		if (!*member)
			rest = bed_offset(btf, m->type, path);
		else if (strncmp(member, path, name) || member[name])
			continue;
		else
			rest = path[name] ? bed_offset(btf, m->type,
						       path + name + 1) : 0;
		if (rest >= 0)
			return offset + rest;
	}
	return -1;
}

static inline __u32 bed_member(const struct btf *btf, const char *type,
			       const char *path)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);
	int offset = id < 0 ? 0 : bed_offset(btf, id, path);

	return offset < 0 ? 0 : offset;
}

/* What segments, thread-local memory and the parent need. */
static inline void bed_layout(struct body_layout *l, const struct btf *btf)
{
	l->thread_base[0] = bed_member(btf, "task_struct", BED_THREAD);
	l->thread_base[1] = bed_member(btf, "task_struct", "thread.gsbase");
	l->thread_ds = bed_member(btf, "task_struct", "thread.ds");
	l->thread_es = bed_member(btf, "task_struct", "thread.es");
	l->thread_fsindex = bed_member(btf, "task_struct", "thread.fsindex");
	l->thread_gsindex = bed_member(btf, "task_struct", "thread.gsindex");
	l->tls_array = bed_member(btf, "task_struct", "thread.tls_array");
	l->task_mm = bed_member(btf, "task_struct", "mm");
	l->mm_ldt = bed_member(btf, "mm_struct", "context.ldt");
	l->ldt_entries = bed_member(btf, "ldt_struct", "entries");
	l->ldt_count = bed_member(btf, "ldt_struct", "nr_entries");
	l->task_parent = bed_member(btf, "task_struct", "real_parent");
	l->task_tgid = bed_member(btf, "task_struct", "tgid");
	l->task_waits = bed_member(btf, "task_struct", "nvcsw");
	l->task_yields = bed_member(btf, "task_struct", "nivcsw");
	l->mm_xol = bed_member(btf, "mm_struct", "uprobes_state.xol_area");
	l->xol_vaddr = bed_member(btf, "xol_area", "vaddr");
	l->task_utask = bed_member(btf, "task_struct", "utask");
	l->utask_returns = bed_member(btf, "uprobe_task", "return_instances");
	l->return_func = bed_member(btf, "return_instance", "func");
	l->return_stack = bed_member(btf, "return_instance", "stack");
	l->return_chained = bed_member(btf, "return_instance", "chained");
}

/* What absent memory needs. */
static inline void bed_layout_vma(struct body_layout *l, const struct btf *btf)
{
	int task = btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT);

	l->vma_flags = bed_member(btf, "vm_area_struct", "vm_flags");
	l->vma_file = bed_member(btf, "vm_area_struct", "vm_file");
	l->vma_ops = bed_member(btf, "vm_area_struct", "vm_ops");
	l->vma_uffd = bed_member(btf, "vm_area_struct",
				 "vm_userfaultfd_ctx.ctx");
	l->file_inode = bed_member(btf, "file", "f_inode");
	l->inode_mode = bed_member(btf, "inode", "i_mode");
	l->inode_sb = bed_member(btf, "inode", "i_sb");
	l->sb_magic = bed_member(btf, "super_block", "s_magic");
	l->sb_bdev = bed_member(btf, "super_block", "s_bdev");
	l->task_btf = task > 0 ? task : 0;
	l->vma = task > 0 && l->vma_flags && l->vma_file;
}

static inline void bed_kernel(struct bed *bed)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int off, on;

	bed->target.layout = &bed->layout;
	if (!btf)
		return;
	off = btf__find_by_name_kind(btf, "bpf_preempt_disable",
				     BTF_KIND_FUNC);
	on = btf__find_by_name_kind(btf, "bpf_preempt_enable", BTF_KIND_FUNC);
	bed->target.preempt_disable = off > 0 ? off : 0;
	bed->target.preempt_enable = on > 0 ? on : 0;
	bed_layout(&bed->layout, btf);
	bed_layout_vma(&bed->layout, btf);
	btf__free(btf);
}

/* Stay on one CPU, find the kfuncs, set up. Skips the test without bpf. */
static inline void bed_open(struct bed *bed, enum body_context context)
{
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	cpu_set_t set;

	if (geteuid())
		tap_skip_all("needs root");
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	memset(bed, 0, sizeof(*bed));
	bed->cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET(bed->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	libbpf_set_print(NULL);
	bed_kernel(bed);
#ifdef __x86_64__
	syscall(SYS_arch_prctl, ARCH_GET_GS, &bed->thread_base[1]);
#endif
	bed->thread_base[0] = machine_thread();
	bed->target.context = context;
	bed->target.key = BED_KEY;
	bed->target.session = BED_SESSION;
	bed->target.major = BED_MAJOR;
	bed_maps(bed, RAS_SLICE_MIN, RAS_NEST_BYTES);
	bed_state(bed, RAS_STATE_ON);

	bed->header.maxdata = TDF_DATA_MAX;
	bed->module.machine = EM_X86_64;
	bed->module.elf_class = ELFCLASS64;
	bed->tdf = (struct tdf){
		.header = &bed->header, .modules = &bed->module,
		.points = &bed->point, .sites = &bed->site,
		.stmts = bed->stmts, .rpn = bed->rpn, .strings = "",
	};
}

/* No statements, nothing special. */
static inline void bed_clear(struct bed *bed)
{
	bed->point = (struct tdf_point){ .sites = 1 };
	bed->site = (struct tdf_site){ 0 };
	bed->rpn_used = 0;
}

static inline uint32_t bed_rpn(struct bed *bed, const void *rpn, size_t size)
{
	uint32_t at = bed->rpn_used;

	if (size)
		memcpy(bed->rpn + at, rpn, size);
	bed->rpn_used += size;
	return at;
}

static inline struct tdf_stmt *bed_reg(struct bed *bed, int reg, int bytes)
{
	struct tdf_stmt *s = &bed->stmts[bed->site.stmts++];

	*s = (struct tdf_stmt){
		.kind = TDF_STMT_REG, .reg = reg, .reg_bytes = bytes,
	};
	return s;
}

static inline struct tdf_stmt *bed_memory(struct bed *bed, int kind, int length,
				   const void *rpn, size_t size)
{
	struct tdf_stmt *s = &bed->stmts[bed->site.stmts++];

	*s = (struct tdf_stmt){
		.kind = kind, .length = length,
		.rpn = bed_rpn(bed, rpn, size), .rpn_length = size,
	};
	return s;
}

/* TDF_STMT_VALUE, TDF_STMT_IF and pieces, with flags */
static inline struct tdf_stmt *bed_stmt(struct bed *bed, int kind, int flags,
					int length, const void *rpn,
					size_t size)
{
	struct tdf_stmt *s = bed_memory(bed, kind, length, rpn, size);

	s->flags = flags;
	return s;
}

static inline void bed_absent(struct bed *bed)
{
	bed->stmts[bed->site.stmts++] = (struct tdf_stmt){
		.kind = TDF_STMT_ABSENT,
	};
}

static inline void bed_len(struct bed *bed, struct tdf_stmt *s, int bytes,
		    const void *rpn, size_t size)
{
	s->flags = TDF_STMT_LEN;
	s->len_bytes = bytes;
	s->len_rpn = bed_rpn(bed, rpn, size);
	s->len_rpn_length = size;
}

#define RPN(...)	(uint8_t[]){ __VA_ARGS__ }, \
			sizeof((uint8_t[]){ __VA_ARGS__ })

/* What the entry of a whole call has, on x86-64: its key, for the exit the first
 * argument or, when it reads memory, what that points to, and the second one */
static inline void bed_entry(struct bed *bed, bool reads)
{
	const uint8_t first[] = { OP_breg + 5, 0, OP_deref };

	bed->point.entry_values = 1;
	bed->point.sites = 2;
	bed->header.points.count = 1;
	bed->site.flags = TDF_SITE_ENTRY;
	bed_stmt(bed, TDF_STMT_KEY, 0, 0, RPN(OP_breg + 7, 0));
	bed_stmt(bed, TDF_STMT_VALUE, TDF_STMT_RAW, 8, first, 2 + reads);
	bed_stmt(bed, TDF_STMT_VALUE, 0, 8, RPN(OP_breg + 4, 0));
}

/* Load it as it wants to be; the descriptor, or a negative errno. */
static inline int bed_program(const struct bed *bed, const struct body *body,
			      struct bpf_prog_load_opts *opts)
{
	enum bpf_prog_type type = bed->target.context == BODY_TEST ?
		BPF_PROG_TYPE_RAW_TRACEPOINT : BPF_PROG_TYPE_KPROBE;
	struct bpf_func_info functions[BODY_FUNCTIONS];
	size_t count = body_functions(body->subprograms, functions), size;
	int fd, btf = -1;

	if (body->sleepable)
		opts->prog_flags = BPF_F_SLEEPABLE;
	if (count) {
		const void *types = body_types(&size);

		btf = bpf_btf_load(types, size, NULL);
		if (btf < 0)
			return -errno;
		opts->prog_btf_fd = btf;
		opts->func_info = functions;
		opts->func_info_cnt = count;
		opts->func_info_rec_size = sizeof(functions[0]);
	}
	fd = bpf_prog_load(type, "body", "GPL", body->insns, body->count,
			   opts);
	fd = fd < 0 ? -errno : fd;
	if (btf >= 0)
		close(btf);
	return fd;
}

/* Load; the descriptor, or a negative errno with bed->log. */
static inline int bed_load_body(struct bed *bed, struct body *body)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts);
	int ret = bed_program(bed, body, &opts);

	if (ret < 0) {
		char *log = malloc(1 << 24);

		opts.log_level = 1;
		opts.log_buf = log;
		opts.log_size = 1 << 24;
		log[0] = '\0';
		close(bed_program(bed, body, &opts));
		snprintf(bed->log, sizeof(bed->log), "%s: ...%.2000s",
			 strerror(-ret), strlen(log) > 2000 ?
			 log + strlen(log) - 2000 : log);
		free(log);
	}
	body_free(body);
	return ret;
}

/* Generate and load. */
static inline int bed_load(struct bed *bed)
{
	struct error err;
	struct body body;
	int ret;

	ret = body_generate(&body, &bed->tdf, &bed->point, &bed->site,
			    &bed->target, &err);
	if (ret) {
		snprintf(bed->log, sizeof(bed->log), "%s", err.text);
		return ret;
	}
	return bed_load_body(bed, &body);
}

static inline int bed_load_static(struct bed *bed, int majors_fd)
{
	struct error err;
	struct body body;
	int ret;

	ret = body_generate_static(&body, bed->module.machine, majors_fd,
				   &bed->target, &err);
	if (ret) {
		snprintf(bed->log, sizeof(bed->log), "%s", err.text);
		return ret;
	}
	return bed_load_body(bed, &body);
}

static inline void bed_input(struct bed *bed)
{
	__u32 zero = 0;

	if (bpf_map_update_elem(bed->target.test_fd, &zero, &bed->input, 0))
		tap_bail("cannot set the registers: %s", strerror(errno));
}

static inline int bed_run(int prog)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	if (bpf_prog_test_run_opts(prog, &opts))
		return -errno;
	return opts.retval;
}

static inline struct ras_slice *bed_slice(const struct bed *bed)
{
	return (void *)(bed->buffer +
			((bed->slice_stride + 7) & ~7UL) * bed->cpu);
}

static inline struct ras_slice *bed_nest(const struct bed *bed, int level)
{
	return (void *)(bed->nest + ((bed->nest_stride + 7) & ~7UL) *
			(bed->cpu * RAS_NEST_LEVELS + level - 1));
}

static inline struct ras_count *bed_count(const struct bed *bed, int point,
					  int level)
{
	unsigned int slice = bed->cpu;

	if (level)
		slice = bed->target.cpus + bed->cpu * RAS_NEST_LEVELS +
			level - 1;
	return &bed->counts[point * bed_slices(bed) + slice];
}

static inline struct ras_why *bed_why(const struct bed *bed, int point)
{
	return &bed->whys[point * bed->target.cpus + bed->cpu];
}

static inline uint64_t bed_faults(const struct ras_why *why)
{
	uint64_t sum = 0;

	for (int i = 0; i < RAS_FAULT_KINDS; i++)
		sum += why->faults[i];
	return sum;
}

static inline uint64_t bed_filtered(const struct ras_why *why)
{
	uint64_t sum = 0;

	for (int i = 0; i < RAS_FILTERED_KINDS; i++)
		sum += why->filtered[i];
	return sum;
}

/* The record at this position of the main slice */
static inline const struct ras_record *bed_record(const struct bed *bed,
						  uint64_t position)
{
	return (const void *)(bed_slice(bed)->data +
			      (position & (bed->target.slice_bytes - 1)));
}

/* What is counted for a point on this CPU, in the main slice. */
struct bed_counts {
	struct ras_count count;
	struct ras_why why;
};

static inline struct bed_counts bed_counts(const struct bed *bed, int point)
{
	return (struct bed_counts){
		*bed_count(bed, point, 0), *bed_why(bed, point),
	};
}

/* The cookie as records have it: without the level */
static inline uint64_t bed_cookie(const struct bed *bed)
{
	return bed->input.cookie & (RAS_COOKIE_LEVEL(1) - 1);
}

static inline void bed_expect(struct bed *bed, struct expected *x)
{
	struct interpreter in = {
		.regs = &bed->input.regs, .entry = bed->entry,
		.is32 = bed->module.machine == EM_386,
		.bring_in = bed->target.bring_in,
	};

	if (bed->module.machine == EM_AARCH64)
		in.x = bed->input.x;
	in.bias = (in.x ? in.x[BED_PC] : bed->input.regs.rip) -
		  bed->sites[bed_cookie(bed) >> 32];
	memcpy(in.thread_base, bed->thread_base, sizeof(in.thread_base));
	interpret_record(x, &in, &bed->point, &bed->site, bed->stmts,
			 bed->rpn, bed->header.maxdata);
}

static inline void bed_dump(const char *what, const uint8_t *data,
			    size_t length)
{
	char line[3 * 64 + 1];

	for (size_t i = 0; i < length; i += 64) {
		size_t n = length - i < 64 ? length - i : 64;

		for (size_t k = 0; k < n; k++)
			sprintf(line + 3 * k, "%02x ", data[i + k]);
		tap_diag("%s +%zu: %s", what, i, line);
	}
}

/* Is the record at `position` the expected one? The caller checks seq. */
static inline bool bed_same(const struct bed *bed,
			    const struct ras_slice *slice, uint64_t bytes,
			    uint64_t position, const struct expected *x)
{
	const struct ras_record *r = (const void *)
		(slice->data + (position & (bytes - 1)));
	size_t header = RAS_RECORD_HEADER + bed->context;
	const uint8_t *data = (const uint8_t *)r + header;
	uint64_t cookie;

	memcpy(&cookie, &r->minor, 8);
	if (r->stamp == (position ^ BED_KEY) && r->major == BED_MAJOR &&
	    r->session == BED_SESSION && !r->stack && r->time &&
	    r->tid && r->pid && cookie == bed_cookie(bed) &&
	    r->length == header + x->length &&
	    r->flags == x->flags && !memcmp(data, x->data, x->length))
		return true;
	tap_diag("stamp %d flags %#x (%#x) length %u (%zu)",
		 r->stamp == (position ^ BED_KEY), r->flags, x->flags,
		 r->length, header + x->length);
	bed_dump("got", data, r->length < 600 && r->length > header ?
		 r->length - header : 0);
	bed_dump("expected", x->data, x->length);
	return false;
}

/* What a record that there isn't leaves. */
static inline int bed_check_filtered(const struct bed *bed,
				     const struct bed_counts *before,
				     const struct bed_counts *after,
				     const struct expected *x)
{
	const struct ras_why *why = &after->why, *was = &before->why;

	if (!bed_slice(bed)->lock &&
	    after->count.recorded == before->count.recorded &&
	    why->filtered[RAS_FILTERED_CONDITION] ==
	    was->filtered[RAS_FILTERED_CONDITION] + 1 &&
	    bed_filtered(why) == bed_filtered(was) + 1 &&
	    bed_faults(why) == bed_faults(was) + x->faults)
		return 0;
	tap_diag("recorded %llu filtered %lu faults %lu",
		 after->count.recorded - before->count.recorded,
		 bed_filtered(why) - bed_filtered(was),
		 bed_faults(why) - bed_faults(was));
	return -EPROTO;
}

static inline int bed_check_record(const struct bed *bed, uint64_t position,
				   const struct bed_counts *before,
				   const struct bed_counts *after,
				   const struct expected *x)
{
	const struct ras_slice *slice = bed_slice(bed);
	uint64_t bytes = bed->target.slice_bytes;
	const struct ras_record *r = (const void *)
		(slice->data + (position & (bytes - 1)));

	if (!bed_same(bed, slice, bytes, position, x))
		return -EILSEQ;
	if (!slice->lock && r->seq == (__u32)before->count.recorded &&
	    slice->head == position + ((r->length + 7) & ~7u) &&
	    after->count.recorded == before->count.recorded + 1 &&
	    bed_filtered(&after->why) == bed_filtered(&before->why) &&
	    bed_faults(&after->why) == bed_faults(&before->why) + x->faults)
		return 0;
	tap_diag("lock %llu seq %u head %llu", slice->lock, r->seq,
		 slice->head);
	return -EPROTO;
}

/* Load, run once, compare with what the interpreter says. 0: the same. */
static inline int bed_check(struct bed *bed)
{
	uint16_t point = bed->input.cookie >> 16;
	struct bed_counts before = bed_counts(bed, point), after;
	uint64_t position = bed_slice(bed)->head;
	struct expected x;
	int prog = bed_load(bed), ret;

	if (prog < 0) {
		tap_diag("%s", bed->log);
		return prog;
	}
	bed_input(bed);
	bed_expect(bed, &x);
	ret = bed_run(prog);
	close(prog);
	if (ret)
		return ret;
	after = bed_counts(bed, point);
	if (x.filtered)
		return bed_check_filtered(bed, &before, &after, &x);
	return bed_check_record(bed, position, &before, &after, &x);
}

#endif
