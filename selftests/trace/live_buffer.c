// SPDX-License-Identifier: GPL-2.0
/*
 * A buffer is opened when its control block is in order and its maps are as it
 * says, and not otherwise: each number in turn is another one, each map has
 * another size.
 */
#include <bpf/bpf.h>
#include <sched.h>
#include <time.h>
#include "self_picture.h"
#include "self_tdf.h"
#include "lib/buffer/buffer.h"

void hit(void);
__asm__(".text\n.globl hit\n.type hit, %function\n"
	"hit: " MACHINE_PUSH MACHINE_POP "ret\n");

#define POINTS	3

/* Points that pass over 0, 1, 2 hits */
static void arm(void)
{
	static struct self_tdf tdf;
	char line[256];

	self_begin(&tdf);
	for (int i = 0; i < POINTS; i++) {
		self_point(&tdf)->passcount = i;
		self_site(&tdf, hit, MACHINE_PUSH_BYTES);
	}
	self_write(&tdf);
	snprintf(line, sizeof(line), "on --max-cpu=off %s", self_path);
	if (self_trace(line))
		tap_bail("cannot arm");
}

/* `text` NULL: it can be opened. */
static void opened(const char *text, const char *name)
{
	struct buffer buffer;
	struct error err = { 0 };
	int code = buffer_open(&buffer, self_run, false, &err);
	bool right = text ? code && strstr(err.text, text) : !code;

	if (code == -EPROTO)
		right &= strstr(err.hint, "'trace off --all'") != NULL;
	if (!tap_ok(right, "%s", name))
		tap_diag("got %d: %s (%s)", code, err.text, err.hint);
	if (!code)
		buffer_close(&buffer);
	if (code && (buffer.control_view.fd != -1 || buffer.control))
		tap_ok(false, "what can't be opened is closed");
}

#define FIELD(name)	offsetof(struct ras_control, name), \
			sizeof(((struct ras_control *)NULL)->name)
#define DAMAGED		"control block in"
#define APART		"don't fit together"
#define VERSION		"was made by another version"
#define ITS_LAYOUT(n)	"(it has layout " n ", this version's is 5)"

static const struct control_row {
	size_t at, bytes;
	uint64_t value;
	const char *error;
} control_rows[] = {
	{ FIELD(magic), 0, ITS_LAYOUT("0") },
	{ FIELD(layout), 4, ITS_LAYOUT("4") },
	{ FIELD(layout), 6, ITS_LAYOUT("6") },
	{ FIELD(slice_bytes), 0, DAMAGED },
	{ FIELD(slice_bytes), RAS_SLICE_MIN / 2, DAMAGED },
	{ FIELD(slice_bytes), RAS_SLICE_MAX, APART },
	{ FIELD(slice_bytes), 2ULL * RAS_SLICE_MAX, DAMAGED },
	{ FIELD(slice_bytes), 3 << 16, DAMAGED },
	{ FIELD(nest_bytes), 0, DAMAGED },
	{ FIELD(nest_bytes), RAS_NEST_BYTES / 2, DAMAGED },
	{ FIELD(nest_bytes), RAS_NEST_BYTES * 2, DAMAGED },
	{ FIELD(cpus), 0, DAMAGED },
	{ FIELD(cpus), RAS_CPUS_MAX, APART },
	{ FIELD(cpus), RAS_CPUS_MAX + 1, DAMAGED },
	{ FIELD(nest_levels), 0, DAMAGED },
	{ FIELD(nest_levels), RAS_NEST_LEVELS - 1, DAMAGED },
	{ FIELD(nest_levels), RAS_NEST_LEVELS + 1, DAMAGED },
};

static void check_control(struct ras_control *control)
{
	const size_t rows = sizeof(control_rows) / sizeof(*control_rows);
	struct ras_control kept = *control;
	char name[64];

	for (size_t i = 0; i < rows; i++) {
		const struct control_row *row = &control_rows[i];

		memcpy((char *)control + row->at, &row->value, row->bytes);
		snprintf(name, sizeof(name), "%zu bytes at %zu are %llu",
			 row->bytes, row->at, (unsigned long long)row->value);
		opened(row->error, name);
		*control = kept;
	}
	opened(NULL, "as it was");
}

/* Another map in the place of a pin: of other values, or of more entries. */
static void map_replaced(const char *name, size_t more_bytes,
			 uint32_t more_entries, const char *error)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	struct bpf_map_info info = { 0 };
	uint32_t length = sizeof(info);
	char path[128], what[64];
	int old, other;

	snprintf(path, sizeof(path), "%s/%s", self_run, name);
	old = bpf_obj_get(path);
	if (old < 0 || bpf_obj_get_info_by_fd(old, &info, &length))
		tap_bail("cannot open '%s'", path);
	opts.map_flags = info.map_flags & BPF_F_MMAPABLE;
	other = bpf_map_create(info.type, "other", info.key_size,
			       info.value_size + more_bytes,
			       info.max_entries + more_entries, &opts);
	if (other < 0 || unlink(path) || bpf_obj_pin(other, path))
		tap_bail("cannot replace '%s'", path);
	snprintf(what, sizeof(what), "'%s' with %zu bytes, %u entries more",
		 name, more_bytes, more_entries);
	opened(error, what);
	if (unlink(path))
		tap_bail("cannot remove '%s'", path);
	snprintf(what, sizeof(what), "without '%s'", name);
	opened(strcmp(name, "control") ? "cannot open" :
	       "there is no trace buffer", what);
	if (bpf_obj_pin(old, path))
		tap_bail("cannot put '%s' back", path);
	close(other);
	close(old);
}

static void check_maps(void)
{
	static const char *const arrays[] = {
		"sessions", "trigger", "buffer", "nest",
	};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		map_replaced(arrays[i], 8, 0, APART);
		map_replaced(arrays[i], 0, 1, APART);
	}
	map_replaced("control", 8, 0, VERSION);
	map_replaced("processes", 8, 0, "another kind of map");
	opened(NULL, "with its own maps again");
}

/* Slices lie one after the other, main ones and then nesting ones. */
static void check_slices(const struct buffer *buffer)
{
	const struct ras_control *c = buffer->control;
	uint32_t last = c->cpus * (1 + RAS_NEST_LEVELS) - 1;
	const char *main = buffer->main_view.base, *nest;
	uint64_t size;

	nest = buffer->nest_view.base;
	tap_is(buffer->slices, last + 1, "slices");
	tap_ok(buffer_slice(buffer, 0, &size) == (void *)main &&
	       size == c->slice_bytes, "the first one");
	tap_ok(buffer_slice(buffer, c->cpus - 1, &size) ==
	       (void *)(main + (c->cpus - 1) *
		(RAS_SLICE_HEADER + c->slice_bytes + RAS_RECORD_MAX)) &&
	       size == c->slice_bytes, "the last main one");
	tap_ok(buffer_slice(buffer, c->cpus, &size) == (void *)nest &&
	       size == c->nest_bytes, "the first nesting one");
	tap_ok(buffer_slice(buffer, last, &size) ==
	       (void *)(nest + (last - c->cpus) *
		(RAS_SLICE_HEADER + c->nest_bytes + RAS_RECORD_MAX)) &&
	       size == c->nest_bytes, "the last one");
	for (uint32_t i = 0; i <= last; i++)
		buffer->control->tail[i] = 1000 + i;
	tap_is(buffer_tail(buffer, 0), 1000, "its tail mark");
	tap_is(buffer_tail(buffer, last), 1000 + last, "the last one's");
	memset(buffer->control->tail, 0, 8 * buffer->slices);
}

/* Each CPU's hits are in the points' figures once. */
static void check_counts(void)
{
	struct ras_count_total totals[POINTS] = { 0 };
	cpu_set_t before, one;
	uint64_t hits = 0;
	bool right = true;

	sched_getaffinity(0, sizeof(before), &before);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (!CPU_ISSET(cpu, &before) ||
		    sched_setaffinity(0, sizeof(one), &one))
			continue;
		for (int i = 0; i < 2 + cpu % 3; i++, hits++)
			hit();
	}
	sched_setaffinity(0, sizeof(before), &before);
	if (!self_counts(self_run, 1, totals, POINTS))
		tap_bail("no figures");
	for (uint64_t i = 0; i < POINTS; i++) {
		struct ras_count_total expected = { .recorded = hits - i };

		expected.why.filtered[RAS_FILTERED_PASSED] = i;
		expected.missed = totals[i].missed == RAS_MISSED_UNKNOWN ?
				  RAS_MISSED_UNKNOWN : 0;
		right &= !memcmp(&expected, &totals[i], sizeof(expected));
	}
	if (!tap_ok(right, "%llu hits in the figures of %d points",
		    (unsigned long long)hits, POINTS))
		tap_diag("%llu %llu %llu", totals[0].recorded,
			 totals[1].recorded, totals[2].recorded);
}

static int64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Wall time by the offset is between two looks at the clock. */
static void check_clocks(void)
{
	int64_t first = now(CLOCK_REALTIME), boot = now(CLOCK_BOOTTIME);
	int64_t time = buffer_time(), after = now(CLOCK_BOOTTIME);
	int64_t offset = buffer_wall_offset();
	const int64_t most = 50000000;

	tap_ok(boot <= time && time <= after, "time in the records' clock");
	tap_ok(boot + offset > first - most && after + offset <
	       now(CLOCK_REALTIME) + most, "and the way to wall time");
}

/* The memory that a buffer is reported to take, compared with the kernel's. */
static void check_memory(const struct buffer *buffer)
{
	const int maps[] = {
		buffer->control_view.fd, buffer->sessions_view.fd,
		buffer->trigger_view.fd, buffer->main_view.fd,
		buffer->nest_view.fd, buffer->processes_fd,
	};
	uint64_t reported = buffer_memory(buffer->control->slice_bytes,
				      buffer->control->cpus);
	const uint64_t more = RAS_SLICE_HEADER + RAS_RECORD_MAX;
	uint64_t cpu = 8 * (1 + RAS_NEST_LEVELS) + RAS_SLICE_MIN + more +
		       RAS_NEST_LEVELS * (RAS_NEST_BYTES + more);
	int64_t other = buffer_memory(RAS_SLICE_MIN, 128) -
			buffer_memory(RAS_SLICE_MIN, 64) - 64 * cpu;
	unsigned long long memory = 0, bytes;
	char path[64], line[128];

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", maps[i]);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "memlock: %llu", &bytes) == 1)
				memory += bytes;
		if (file)
			fclose(file);
	}
	tap_diag("%llu bytes by the kernel, %llu are reported", memory,
		 (unsigned long long)reported);
	tap_ok(reported > memory - memory / 5 && reported < memory + memory / 5,
	       "its memory");
	tap_ok(other > -65536 * 4 && other < 65536 * 4,
	       "64 CPUs more take no more than their slices");
}

/* Maps that this program has open or mapped */
static int maps_held(void)
{
	static const char command[] =
		"ls -l /proc/%1$d/fd | grep -c bpf-map;"
		"grep -c bpf-map /proc/%1$d/maps";
	char line[128];
	int held = 0, n;
	FILE *file;

	snprintf(line, sizeof(line), command, getpid());
	file = popen(line, "r");
	while (file && fscanf(file, "%d", &n) == 1)
		held += n;
	if (file)
		pclose(file);
	return held;
}

int main(void)
{
	struct error err = { 0 };
	struct buffer buffer;

	self_open();
	opened("there is no trace buffer", "none");
	arm();
	opened(NULL, "one");
	tap_is(maps_held(), 0, "nothing of it is kept");
	if (buffer_open(&buffer, self_run, true, &err))
		tap_bail("cannot open it: %s", err.text);
	check_control(buffer.control);
	check_maps();
	check_slices(&buffer);
	check_counts();
	check_memory(&buffer);
	check_clocks();
	tap_is(maps_held(), 6 + 5, "it has six maps, five of them mapped");
	buffer_close(&buffer);
	tap_is(maps_held(), 0, "and none when it is closed");
	self_close();
	return tap_done();
}
