// SPDX-License-Identifier: GPL-2.0
/*
 * Everything at once: the module is loaded and unloaded, and buffers are handed
 * over, switched, mapped, read and taken back, each by a thread of its own.
 * What can't be, as another is there or the module isn't, is refused and nothing
 * else.
 */
#include <pthread.h>
#include <sched.h>
#include "module.h"

#define SECONDS	4
#define PATIENCE	15	/* times as long, on a slow machine */

static struct rastrace_adopt adopt;
static atomic_bool stop;
static atomic_int unexpected;	/* the first errno without an explanation */

struct racer {
	const char *name;
	/* one go; 0 done, 1 can't be now, or -errno */
	int (*run)(void);
	pthread_t thread;
	atomic_long done, refused;
};

/* Is it one of those that mean "not now"? 0 ends the list. */
static int expect(int ret, const int *list)
{
	if (ret >= 0)
		return 0;
	for (; *list; list++)
		if (ret == -*list)
			return 1;
	return ret;
}

static int run_load(void)
{
	static const int loaded[] = { EEXIST, EBUSY, 0 };
	static const int busy[] = { EWOULDBLOCK, EBUSY, ENOENT, 0 };
	int ret = expect(module_load("rastrace"), loaded);

	if (ret < 0)
		return ret;
	sched_yield();
	return expect(module_unload("rastrace"), busy);
}

/* The ioctl on a device that is there only sometimes */
static int with_device(unsigned long command, void *argument, const int *list)
{
	static const int absent[] = { ENOENT, ENODEV, ENXIO, 0 };
	int device = module_open(), ret;

	if (device < 0)
		return expect(device, absent);
	ret = module_ioctl(device, command, argument);
	close(device);
	return expect(ret, list);
}

static int run_adopt(void)
{
	static const int busy[] = { EBUSY, 0 };

	return with_device(RASTRACE_ADOPT, &adopt, busy);
}

static int run_release(void)
{
	static const int none[] = { ENOENT, 0 };

	return with_device(RASTRACE_RELEASE, NULL, none);
}

static int run_switch(void)
{
	static const int none[] = { ENOENT, 0 };

	return with_device(RASTRACE_SWITCH, NULL, none);
}

static int run_info(void)
{
	static const int none[] = { 0 };
	struct rastrace_info info = { .size = sizeof(info) };

	return with_device(RASTRACE_INFO, &info, none);
}

/* Mapped, read, and read again after the device is closed. */
static int run_map(void)
{
	static const int absent[] = { ENOENT, ENODEV, ENXIO, 0 };
	int device = module_open();
	const struct ras_control *control;
	bool good;

	if (device < 0)
		return expect(device, absent);
	control = mmap(NULL, 4096, PROT_READ, MAP_SHARED, device,
		       RASTRACE_OFFSET(RASTRACE_CONTROL));
	if (control == MAP_FAILED) {
		int ret = -errno;

		close(device);
		return expect(ret, absent);
	}
	close(device);
	good = control->magic == RAS_CONTROL_MAGIC;
	munmap((void *)control, 4096);
	return good ? 0 : -EIO;
}

static struct racer racers[] = {
	{ "loaded and unloaded", run_load },
	{ "handed over", run_adopt },
	{ "taken back", run_release },
	{ "switched", run_switch },
	{ "asked", run_info },
	{ "mapped", run_map },
};
#define COUNT	((int)(sizeof(racers) / sizeof(racers[0])))

static void *race(void *argument)
{
	struct racer *racer = argument;

	while (!stop) {
		int ret = racer->run();
		int none = 0;

		if (ret < 0)
			atomic_compare_exchange_strong(&unexpected, &none, ret);
		else
			(*(ret ? &racer->refused : &racer->done))++;
	}
	return NULL;
}

static bool all_done(void)
{
	for (int i = 0; i < COUNT; i++)
		if (!racers[i].done)
			return false;
	return true;
}

int main(void)
{
	const int seconds = module_times(SECONDS);

	module_need("rastrace");
	adopt = module_buffer();
	for (int i = 0; i < COUNT; i++)
		if (pthread_create(&racers[i].thread, NULL, race, &racers[i]))
			tap_bail("cannot start a thread");
	for (int i = 0; i < seconds ||
	     (i < PATIENCE * seconds && !all_done()); i++)
		sleep(1);
	stop = true;
	for (int i = 0; i < COUNT; i++)
		pthread_join(racers[i].thread, NULL);
	module_unload("rastrace");
	tap_is(unexpected, 0, "no error that isn't explained");
	for (int i = 0; i < COUNT; i++) {
		tap_ok(racers[i].done, "%s", racers[i].name);
		tap_diag("%ld times, %ld times not possible",
			 (long)racers[i].done, (long)racers[i].refused);
	}
	tap_ok(access(MODULE_DEVICE, F_OK), "unloaded in the end");
	return tap_done();
}
