// SPDX-License-Identifier: GPL-2.0
/*
 * Writers in all contexts on all CPUs, while the buffer under them is taken
 * away and handed over again, suspended and switched: each hit has exactly one
 * outcome, and each record that was written is in the buffer's count.
 */
#include <pthread.h>
#include "module.h"

#define STORM	"/sys/module/rastrace_storm/parameters/"
#define RECORDS	40000	/* of each CPU's thread */
#define STORMS	100	/* at most */

static struct rastrace_adopt adopt;
static struct ras_state *state;
static uint8_t *majors;
static atomic_bool stop;
static int device;

/* What somebody may do to a buffer under the writers; most of the time it is as
 * it should be. */
static void change(unsigned int step)
{
	switch (step % 8) {
	case 1:
		state->state = RAS_STATE_SUSPENDED;
		break;
	case 2:
		state->state = RAS_STATE_ON;
		break;
	case 4:
		majors[MODULE_SAMPLE] ^= 1;
		module_ioctl(device, RASTRACE_SWITCH, NULL);
		break;
	case 6:
		module_ioctl(device, RASTRACE_RELEASE, NULL);
		module_ioctl(device, RASTRACE_ADOPT, &adopt);
		break;
	}
}

static void *toggle(void *unused)
{
	const struct timespec pause = { .tv_nsec = 500000 };

	for (unsigned int i = 0; !stop; i++) {
		nanosleep(&pause, NULL);
		change(i);
	}
	return NULL;
}

struct results {
	long hits, written, dropped, stopped, others, off;
};

static void storm_run(int records)
{
	int fd = open(STORM "run", O_WRONLY);

	if (fd < 0 || dprintf(fd, "%d\n", records) < 0)
		tap_bail("cannot start the storm");
	close(fd);
}

static struct results storm_results(void)
{
	FILE *file = fopen(STORM "results", "r");
	struct results r;

	if (!file || fscanf(file, "hits %ld written %ld dropped %ld "
			    "stopped %ld others %ld off %ld", &r.hits,
			    &r.written, &r.dropped, &r.stopped, &r.others,
			    &r.off) != 6)
		tap_bail("cannot read the storm's results");
	fclose(file);
	return r;
}

/* What comes of all storms. A short one may be over before anything has changed
 * under it. */
static struct results storms_run(int records)
{
	struct results r = {0};

	for (int i = 0; i < STORMS && !(r.written && r.stopped && r.off); i++) {
		storm_run(records);
		r = storm_results();
	}
	return r;
}

/* Records that the slices of a part count. */
static long part_records(int part, size_t data_bytes, unsigned int slices)
{
	size_t stride = RAS_SLICE_HEADER + data_bytes + RAS_RECORD_MAX;
	const uint8_t *base = module_map_view(adopt.maps[part],
					      slices * stride);
	long records = 0;

	for (unsigned int i = 0; i < slices; i++)
		records += ((const struct ras_slice *)
			    (base + i * stride))->records;
	return records;
}

static void check(const struct results *r)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF);

	tap_diag("hits %ld: written %ld, dropped %ld, stopped %ld, off %ld",
		 r->hits, r->written, r->dropped, r->stopped, r->off);
	tap_is(r->written + r->dropped + r->stopped + r->others + r->off,
	       r->hits, "each hit has one outcome");
	tap_ok(r->written, "some were written");
	tap_ok(r->stopped && r->off, "some met no buffer, or a suspended one");
	tap_is(part_records(RASTRACE_BUFFER, MODULE_SLICE, cpus) +
	       part_records(RASTRACE_NEST, RAS_NEST_BYTES,
			    cpus * RAS_NEST_LEVELS),
	       r->written, "the buffer has as many as were written");
}

int main(void)
{
	struct results results;
	pthread_t toggler;

	module_need("rastrace_storm");
	adopt = module_buffer();
	state = module_map_view(adopt.maps[RASTRACE_STATE], sizeof(*state));
	majors = module_map_view(adopt.maps[RASTRACE_MAJORS],
				 RAS_STATIC_MAJORS);
	if (module_load("rastrace") || module_load("rastrace_storm"))
		tap_bail("cannot load the modules: %s", strerror(errno));
	device = module_open();
	tap_is(module_unload("rastrace"), -EWOULDBLOCK,
	       "the module stays while somebody uses it");
	if (module_ioctl(device, RASTRACE_ADOPT, &adopt))
		tap_bail("cannot hand over the buffer: %s", strerror(errno));
	if (pthread_create(&toggler, NULL, toggle, NULL))
		tap_bail("cannot start a thread");
	results = storms_run(module_times(RECORDS));
	stop = true;
	pthread_join(toggler, NULL);
	check(&results);
	close(device);
	tap_is(module_unload("rastrace_storm"), 0, "the storm is unloaded");
	tap_is(module_unload("rastrace"), 0, "and the module, with its buffer");
	return tap_done();
}
