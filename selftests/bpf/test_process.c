// SPDX-License-Identifier: GPL-2.0
/*
 * Who hits is kept in `processes`, with the bias of the module and the name, and
 * again when the bias is another.
 */
#include <sys/prctl.h>
#include <sys/wait.h>
#include "bed.h"

#define MODULE	3

static bool find(const struct bed *bed, pid_t pid, struct ras_process *process)
{
	struct ras_process_key key = {
		.pid = pid, .session = bed->target.session, .module = MODULE,
	};

	return !bpf_map_lookup_elem(bed->target.processes_fd, &key, process);
}

static int entries(const struct bed *bed)
{
	struct ras_process_key key, *previous = NULL;
	int n = 0;

	while (!bpf_map_get_next_key(bed->target.processes_fd, previous,
				     &key)) {
		previous = &key;
		n++;
	}
	return n;
}

static int load(struct bed *bed)
{
	static struct tdf_module modules[MODULE + 1];
	int prog;

	modules[MODULE] = bed->module;
	bed->tdf.modules = modules;
	bed_clear(bed);
	bed->point.module = MODULE;
	bed_reg(bed, 0, 8);
	prog = bed_load(bed);
	if (prog < 0)
		tap_bail("%s", bed->log);
	return prog;
}

static uint64_t bias_set(struct bed *bed, uint64_t bias)
{
	bed_site(bed, 2, bed->input.regs.rip - bias);
	return bias;
}

static uint64_t last_time(const struct bed *bed, uint64_t position)
{
	return bed_record(bed, position)->time;
}

static void test_first(struct bed *bed)
{
	uint64_t bias = bias_set(bed, 0x7f0000001000);
	uint64_t position = bed_slice(bed)->head, time;
	struct ras_process process = { 0 };
	int prog = load(bed);

	prctl(PR_SET_NAME, "first");
	bed_run(prog);
	time = last_time(bed, position);
	tap_ok(find(bed, getpid(), &process) && process.bias == bias &&
	       process.seen == time &&
	       !memcmp(process.comm, "first\0\0\0\0\0\0\0\0\0\0", 16),
	       "who hits is put there, of the time of the record");
	prctl(PR_SET_NAME, "second");
	bed_run(prog);
	tap_ok(find(bed, getpid(), &process) && process.seen == time &&
	       !strcmp(process.comm, "first"), "the next hit leaves it");
	bed_slice(bed)->process = 0;
	bed_run(prog);
	tap_ok(find(bed, getpid(), &process) && process.seen == time,
	       "also after somebody else's");
	bias = bias_set(bed, 0xffff000);
	position = bed_slice(bed)->head;
	bed_run(prog);
	tap_ok(find(bed, getpid(), &process) && process.bias == bias &&
	       process.seen == last_time(bed, position) &&
	       !strcmp(process.comm, "second"), "with another bias it's new");
	tap_ok(bed_slice(bed)->process == ((uint64_t)getpid() << 32 |
					   BED_SESSION << 16 | MODULE) &&
	       bed_slice(bed)->bias == bias, "the slice has the last process");
	tap_is(entries(bed), 1, "it's one entry all the time");
	close(prog);
}

static void test_others(struct bed *bed)
{
	struct ras_process process;
	int prog = load(bed), before = entries(bed), status, missing = 0;

	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		if (!child) {
			bed_run(prog);
			bed_run(prog);
			_exit(0);
		}
		waitpid(child, &status, 0);
		missing += !find(bed, child, &process);
		bed_run(prog);
	}
	close(prog);
	tap_is(missing, 0, "other processes");
	tap_is(entries(bed), before + 5, "each is one entry");
}

/* Another session, another module: other entries. The numbers' highest bit
 * goes nowhere else. */
static void test_keys(struct bed *bed)
{
	uint64_t bias = bias_set(bed, 0x1000);
	struct ras_process process;
	int before = entries(bed), prog;

	bed->target.session = 0xfffe;
	prog = load(bed);
	bed_run(prog);
	bed_run(prog);
	close(prog);
	tap_ok(entries(bed) == before + 1 && find(bed, getpid(), &process) &&
	       process.bias == bias, "another session");
	tap_is(bed_slice(bed)->process, (uint64_t)getpid() << 32 |
	       0xfffe0000 | MODULE, "and in the slice");
	bed->target.session = BED_SESSION;
}

/* In a nesting slice as well; and where the map has no room for it, next
 * time again. */
static void test_nested(struct bed *bed)
{
	struct ras_process process;
	struct ras_process_key key = {
		.pid = getpid(), .session = BED_SESSION, .module = MODULE,
	};
	int prog = load(bed);

	bpf_map_delete_elem(bed->target.processes_fd, &key);
	bed_slice(bed)->lock = 1;
	bed_run(prog);
	bed_slice(bed)->lock = 0;
	tap_ok(find(bed, getpid(), &process) &&
	       bed_nest(bed, 1)->process >> 32 == (uint64_t)getpid(),
	       "in a nesting slice");
	close(prog);
}

static void test_none(struct bed *bed)
{
	int fd = bed->target.processes_fd, before = entries(bed), prog;

	bed->target.processes_fd = -1;
	bed_slice(bed)->process = 0;
	prog = load(bed);
	bed->target.processes_fd = fd;
	bias_set(bed, 0x5000);
	bed_run(prog);
	close(prog);
	tap_ok(entries(bed) == before && !bed_slice(bed)->process,
	       "not kept when there is no map");
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	bed.input.cookie = RAS_COOKIE(0x14, 1, 2);
	bed.input.regs.rip = 0x7f0000001234;
	bed_input(&bed);
	test_first(&bed);
	test_others(&bed);
	test_keys(&bed);
	test_nested(&bed);
	test_none(&bed);
	return tap_done();
}
