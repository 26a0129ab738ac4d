// SPDX-License-Identifier: GPL-2.0
#include "hit_cost.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <asm/ptrace.h>
#include "program.h"
#include "lib/buffer/buffer.h"
#include "lib/buffer/pin.h"
#include "lib/names.h"
#include "lib/sysbpf.h"

struct self_place {
	uintptr_t address;
	uint64_t offset;	/* in its file */
};

static int self_place_find(struct dl_phdr_info *info, size_t size,
			   void *context)
{
	struct self_place *place = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && place->address >= start &&
		    place->address - start < ph->p_filesz) {
			place->offset = place->address - start + ph->p_offset;
			return 1;
		}
	}
	return 0;
}

/*
 * Link a program to the beginning of a function, or to its return. A
 * descriptor, or a negative errno. Loads the program, and closes it: the link
 * keeps it.
 */
static int self_probe_link(const struct bpf_insn *insns, size_t count,
			   const void *function, bool returns,
			   const struct features *features)
{
	struct self_place place = { .address = (uintptr_t)function };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type =
		    features->multi ? SYSBPF_UPROBE_MULTI : 0);
	int link, program;

	if (!dl_iterate_phdr(self_place_find, &place))
		return -ENOENT;
	program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "rastrace", "GPL", insns,
				count, &opts);
	if (program < 0)
		return program;
	link = attach_probe(program, "/proc/self/exe", place.offset, returns,
			    features);
	close(program);
	return link;
}

static __attribute__((noinline, noclone)) void self_probed(void)
{
	__asm__ volatile("");
}

bool self_probe_has_func_ip(const struct features *features)
{
	int link, map = sysbpf_array_create("func_ip", sizeof(uint64_t), 1);
	const struct bpf_insn insns[] = {
		/* map[0] = bpf_get_func_ip(ctx) */
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_func_ip },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map },
		{ 0 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	uint64_t ip = 0;

	if (map < 0)
		return false;
	link = self_probe_link(insns, sizeof(insns) / sizeof(insns[0]),
			       self_probed, true, features);
	if (link >= 0) {
		self_probed();
		bpf_map_lookup_elem(map, &(uint32_t){ 0 }, &ip);
		close(link);
	}
	close(map);
	return ip == (uintptr_t)self_probed;
}

#define BATCHES		15	/* the fastest counts */
#define WARM_UP		16	/* calls; the kernel may patch its probe */
#define READS		32	/* in the program that does something */

/* Functions that begin with an instruction of each class that there is; in front
 * of it is what they may have to be entered at. */
#if defined(__x86_64__)
#define STACK_POINTER	offsetof(struct pt_regs, rsp)
#define BEGIN_NOP5	".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\tret"
#define BEGIN_EMULATED	"push %rbp\n\tpop %rbp\n\tret"
#define BEGIN_STEPPED	"mov %rdi, %rax\n\tret"
#elif defined(__aarch64__)
#define STACK_POINTER	offsetof(struct user_pt_regs, sp)
#define LANDING		"hint #34\n\t"	/* bti c */
#define LANDING_BYTES	4
#define BEGIN_EMULATED	"b . + 4\n\tret"
#define BEGIN_STEPPED	"mov x0, x1\n\tret"
#else
#define STACK_POINTER	0
#endif
#ifndef LANDING
#define LANDING		""
#define LANDING_BYTES	0
#endif

#define FUNCTION(name, insns) \
	__attribute__((visibility("hidden"))) void name(void); \
	__asm__(".text\n\t.p2align 4\n\t.globl " #name "\n\t" \
		".type " #name ", %function\n" \
		#name ":\n\t" LANDING insns "\n\t.size " #name ", . - " #name)

#ifdef BEGIN_NOP5
FUNCTION(hit_cost_nop5, BEGIN_NOP5);
#endif
#ifdef BEGIN_STEPPED
FUNCTION(hit_cost_emulated, BEGIN_EMULATED);
FUNCTION(hit_cost_stepped, BEGIN_STEPPED);
#endif

static void (*const functions[TDF_COST_UNKNOWN])(void) = {
#ifdef BEGIN_NOP5
	[TDF_COST_NOP5] = hit_cost_nop5,
#endif
#ifdef BEGIN_STEPPED
	[TDF_COST_EMULATED] = hit_cost_emulated,
	[TDF_COST_STEPPED] = hit_cost_stepped,
#endif
};

static const unsigned int calls[TDF_COST_UNKNOWN] = {
	[TDF_COST_NOP5] = 200, [TDF_COST_EMULATED] = 200,
	[TDF_COST_STEPPED] = 20,
};

static void repeat(void (*function)(void), unsigned int count)
{
	while (count--)
		function();
}

static unsigned int call_time(void (*function)(void), unsigned int count)
{
	uint64_t best = UINT64_MAX;

	repeat(function, WARM_UP);
	for (int i = 0; i < BATCHES; i++) {
		uint64_t start = buffer_time(), took;

		repeat(function, count);
		took = buffer_time() - start;
		best = took < best ? took : best;
	}
	return best / count;
}

/* ns of a call of functions[kind] with a program at its beginning that reads
 * memory at its stack pointer `reads` times; 0: can't be measured */
static unsigned int hit_time(int kind, unsigned int reads,
			     const struct features *features)
{
	static const struct bpf_insn begin = {
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6,
		.src_reg = BPF_REG_1,
	}, read[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1,
		  .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2,
		  .imm = 8 },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_3,
		  .src_reg = BPF_REG_6, .off = STACK_POINTER },
		{ .code = BPF_JMP | BPF_CALL,
		  .imm = BPF_FUNC_probe_read_user },
	}, end[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_insn insns[1 + 5 * READS + 2] = { begin };
	unsigned int ns;
	size_t count = 1;
	int link;

	for (unsigned int i = 0; i < reads; i++, count += 5)
		memcpy(insns + count, read, sizeof(read));
	memcpy(insns + count, end, sizeof(end));
	link = self_probe_link(insns, count + 2,
			       (const char *)functions[kind] + LANDING_BYTES,
			       false, features);
	if (link < 0)
		return 0;
	ns = call_time(functions[kind], calls[kind]);
	close(link);
	return ns;
}

void hit_cost_measure(struct hit_cost *cost, const struct features *features)
{
	unsigned int with_reads;

	*cost = (struct hit_cost){ 0 };
	for (int i = 0; i < TDF_COST_UNKNOWN; i++)
		if (functions[i])
			cost->ns[i] = hit_time(i, 0, features);
	if (!cost->ns[TDF_COST_EMULATED])
		return;
	with_reads = hit_time(TDF_COST_EMULATED, READS, features);
	if (with_reads > cost->ns[TDF_COST_EMULATED])
		cost->read_ns = (with_reads - cost->ns[TDF_COST_EMULATED]) /
				READS;
}

void hit_cost_recall(struct hit_cost *cost, const char *run)
{
	struct bpf_map_info info;
	struct features features;
	char path[PATH_MAX];
	int map;

	*cost = (struct hit_cost){ 0 };
	snprintf(path, sizeof(path), "%s/cost", run);
	map = pin_map_open(path, &info, NULL);
	if (map >= 0 && info.value_size == sizeof(*cost)) {
		bpf_map_lookup_elem(map, &(uint32_t){ 0 }, cost);
	} else if (map < 0 && !features_probe(&features, ATTACH_AUTO, NULL)) {
		hit_cost_measure(cost, &features);
		map = sysbpf_array_create("cost", sizeof(*cost), 1);
		if (map >= 0 && cost->read_ns) {
			bpf_map_update_elem(map, &(uint32_t){ 0 }, cost, 0);
			bpf_obj_pin(map, path);
		}
	}
	if (map >= 0)
		close(map);
}

bool hit_cost_print(char *text, const struct hit_cost *cost, uint8_t kind,
		    uint8_t flags)
{
	unsigned int ns = kind < TDF_COST_UNKNOWN ? cost->ns[kind] : 0;

	if (!ns || flags & TDF_SITE_RETURN)
		return cost_print(text, kind, flags);
	if (ns >= 10000)
		snprintf(text, COST_TEXT, "%.1f us", ns / 1000.0);
	else
		snprintf(text, COST_TEXT, "%u ns", ns);
	return true;
}

static bool is_read(const struct bpf_insn *insn)
{
	switch (insn->imm) {
	case BPF_FUNC_probe_read_user:
	case BPF_FUNC_probe_read_user_str:
	case BPF_FUNC_probe_read_kernel:
	case BPF_FUNC_probe_read_kernel_str:
		return !insn->src_reg;
	default:
		return false;
	}
}

void hit_body_count(struct hit_body *body, const struct bpf_insn *insns,
		    size_t count)
{
	*body = (struct hit_body){ .insns = count };
	for (size_t i = 0; i < count; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL))
			continue;
		if (is_read(&insns[i]))
			body->reads++;
		else
			body->calls++;
	}
}

/* Fitted to bodies of one register to eight reads: the other calls take an
 * eighth of a read, and eight instructions a nanosecond. */
unsigned int hit_cost_estimate(const struct hit_cost *cost,
			       const struct hit_body *body)
{
	return cost->read_ns * (8 * body->reads + body->calls) / 8 +
	       body->insns / 8;
}
