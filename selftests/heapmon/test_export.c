// SPDX-License-Identifier: GPL-2.0
/*
 * The writers for pprof and heaptrack: places in modules, source lines, stacks
 * that stop, weights of a sample, loss.
 */
#include <unistd.h>
#include "heapmon/core/reading.h"
#include "tap.h"

struct bench {
	struct heap_trace trace;
	struct heap_model model;
	struct heap_profile profile;
	struct heap_output output;
	uint32_t work, stopped;		/* stacks */
	char path[64];
};

static void print_warning(void *context, const char *text)
{
	tap_diag("%s", text);
}

static uint32_t string(struct bench *bench, const char *text)
{
	return heap_strings_add(&bench->trace.strings, text);
}

static uint32_t call(struct bench *bench, uint32_t parent,
		     const struct heap_frame *frame)
{
	return heap_trace_stack(&bench->trace, parent,
				heap_trace_frame(&bench->trace, frame));
}

static void make_stacks(struct bench *bench)
{
	uint32_t app = string(bench, "/bin/app"), libc = string(bench, "/lib/libc.so");
	uint32_t file = string(bench, "app.c");
	const struct heap_frame frames[] = {
		{ .address = 0x7f0000021234, .module_offset = 0x21234,
		  .module = libc },
		{ .address = 0x400100, .module_offset = 0x100, .module = app,
		  .symbol = string(bench, "main"), .file = file, .line = 40 },
		{ .address = 0x400200, .module_offset = 0x200, .module = app,
		  .symbol = string(bench, "work"), .file = file, .line = 7 },
		{ .address = 0x400210, .module_offset = 0x210, .module = app,
		  .symbol = string(bench, "work"), .file = file, .line = 8 },
		{ .symbol = string(bench, "(stopped: no frame pointer)"),
		  .stopped = true },
	};
	uint32_t main = call(bench, call(bench, 0, &frames[0]), &frames[1]);

	bench->work = call(bench, main, &frames[2]);
	bench->stopped = call(bench, call(bench, 0, &frames[4]), &frames[3]);
}

static void bench_open(struct bench *bench, uint64_t sample)
{
	const struct heap_bounds bounds = HEAP_BOUNDS_DEFAULT;
	int fd;

	*bench = (struct bench){ .path = "/tmp/test_export-XXXXXX" };
	fd = mkstemp(bench->path);
	heap_trace_init(&bench->trace);
	bench->trace.sample = sample;
	bench->trace.command = string(bench, "app -x");
	heap_model_init(&bench->model, &bench->trace);
	heap_profile_init(&bench->profile, &bench->trace, &bounds);
	bench->output = (struct heap_output){
		.file = fdopen(fd, "w"), .trace = &bench->trace,
		.warn = print_warning,
	};
	make_stacks(bench);
}

static void bench_close(struct bench *bench)
{
	unlink(bench->path);
	heap_profile_free(&bench->profile);
	heap_model_free(&bench->model);
	heap_trace_free(&bench->trace);
}

static int step(struct bench *bench, const struct heap_event *event,
		void *state)
{
	struct heap_step step;
	struct error err;

	if (heap_model_apply(&bench->model, event, &step) ||
	    heap_profile_take(&bench->profile, &step))
		return -1;
	return state ? format_heaptrack.step(&bench->output, state,
					     &bench->model, &step, &err) : 0;
}

/* A block of 5000 from the one stack, one of 10 from the other, freed. */
static void events(struct bench *bench, void *state)
{
	const struct heap_event all[] = {
		{ .kind = HEAP_ALLOC, .address = 0x1000, .size = 5000,
		  .stack = bench->work, .time = HEAP_NO_TIME },
		{ .kind = HEAP_ALLOC, .address = 0x9000, .size = 10,
		  .stack = bench->stopped, .time = HEAP_NO_TIME },
		{ .kind = HEAP_FREE, .address = 0x9000,
		  .time = HEAP_NO_TIME },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (step(bench, &all[i], state))
			tap_ok(false, "event %zu", i);
}

/* What a command prints of the file. */
static void read_back(const char *command, const struct bench *bench,
		      char *text, size_t size)
{
	char line[512];
	FILE *pipe;
	size_t n;

	snprintf(line, sizeof(line), "%s %s", command, bench->path);
	pipe = popen(line, "r");
	n = pipe ? fread(text, 1, size - 1, pipe) : 0;
	text[n] = '\0';
	tap_ok(pipe && !pclose(pipe), "%s", command);
}

static void is(const char *got, const char *expected, const char *name)
{
	if (!tap_ok(!strcmp(got, expected), "%s", name))
		tap_diag("got:\n%s", got);
}

static void write_pprof(struct bench *bench, char *text, size_t size)
{
	char command[256];
	const char *top = getenv("TOP");
	struct error err;

	events(bench, NULL);
	tap_ok(!format_pprof.write_profile(&bench->output, &bench->profile,
					   &bench->model, &err), "pprof");
	fclose(bench->output.file);
	snprintf(command, sizeof(command), "PYTHONDONTWRITEBYTECODE=1 python3 "
		 "%s/selftests/heapmon/profile_proto.py", top ? top : ".");
	read_back(command, bench, text, size);
}

static void test_pprof(void)
{
	struct bench bench;
	char text[4096];

	bench_open(&bench, 0);
	bench.trace.lost = 17;
	bench.trace.min_size = 8;
	write_pprof(&bench, text, sizeof(text));
	is(text, "types alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes\n"
	   "default inuse_space\n"
	   "period space bytes 1\n"
	   "time 0 0\n"
	   "comment app -x\n"
	   "comment 17 events are missing\n"
	   "comment blocks below 8 bytes were not recorded\n"
	   "mapping 0x7f0000000000 0x7f0000021235 /lib/libc.so\n"
	   "mapping 0x400000 0x400211 /bin/app\n"
	   "sample 1 5000 1 5000 work app.c:7 [/bin/app]|main app.c:40 [/bin/app]|0x7f0000021233 [/lib/libc.so]\n"
	   "sample 1 10 0 0 work app.c:8 [/bin/app]|(stopped: no frame pointer)\n",
	   "places, lines, what is missing");
	bench_close(&bench);
}

/* A block of n bytes represents 1 / (1 - exp(-n / 5000)). */
static void test_pprof_weights(void)
{
	struct bench bench;
	char text[4096], *samples;

	bench_open(&bench, 5000);
	bench.trace.lost = HEAP_LOST_UNKNOWN;
	write_pprof(&bench, text, sizeof(text));
	tap_ok(strstr(text, "\nperiod space bytes 5000\n"), "the mean");
	tap_ok(strstr(text, "\ncomment events are missing\n"), "the loss");
	samples = strstr(text, "\nsample");
	is(samples ? samples : text,
	   "\nsample 2 7910 2 7910 work app.c:7 [/bin/app]|main app.c:40 [/bin/app]|0x7f0000021233 [/lib/libc.so]\n"
	   "sample 501 5005 0 0 work app.c:8 [/bin/app]|(stopped: no frame pointer)\n",
	   "sums of a sample are weighted");
	bench_close(&bench);
}

static void test_heaptrack(void)
{
	struct bench bench;
	struct error err;
	char text[4096];
	void *state = calloc(1, format_heaptrack.state_size);

	bench_open(&bench, 0);
	bench.trace.lost = 17;
	bench.trace.page = 4096;
	bench.trace.command = string(&bench, "app\n-x");
	tap_ok(state && !format_heaptrack.begin(&bench.output, state, &err),
	       "heaptrack");
	events(&bench, state);
	tap_ok(!format_heaptrack.end(&bench.output, state, &bench.model, false,
				     &err), "its end");
	free(state);
	fclose(bench.output.file);
	read_back("cat", &bench, text, sizeof(text));
	is(text, "v 10400 3\na 0 0\nX app -x\n"
	   "s c /lib/libc.so\ni 7f0000021234 1\nt 1 0\n"
	   "s 8 /bin/app\ns 4 main\ns 5 app.c\ni 400100 2 3 4 28\nt 2 1\n"
	   "s 4 work\ni 400200 2 5 4 7\nt 3 2\n"
	   "a 1388 3\n+ 1\n"
	   "s 1b (stopped: no frame pointer)\ni 0 0 6 0 0\nt 4 0\n"
	   "i 400210 2 5 4 8\nt 5 4\n"
	   "a a 5\n+ 2\n- 2\n"
	   "I 1000 0\n# 17 events are missing\n", "its lines");
	bench_close(&bench);
}

int main(void)
{
	if (system("python3 -c 0 2>/dev/null"))
		tap_skip_all("needs python3");
	test_pprof();
	test_pprof_weights();
	test_heaptrack();
	return tap_done();
}
