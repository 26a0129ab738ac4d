// SPDX-License-Identifier: GPL-2.0
/*
 * The module is loaded and unloaded again and again, with a buffer that is never
 * taken back, and without one: it leaves nothing.
 */
#include "module.h"

#define LOADS	40	/* by $STRESS: 1000 and more on the debug kernel */

/* KiB of a line of /proc/meminfo */
static long meminfo(const char *name)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	if (!file)
		tap_bail("cannot open /proc/meminfo");
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) &&
		    line[strlen(name)] == ':')
			kib = atol(line + strlen(name) + 1);
	fclose(file);
	if (kib < 0)
		tap_bail("/proc/meminfo has no %s", name);
	return kib;
}

/* What the kernel has for itself; a load takes some 100 KiB of each. */
static long kernel_memory(void)
{
	return meminfo("VmallocUsed") + meminfo("SUnreclaim");
}

static int load_once(struct rastrace_adopt *adopt)
{
	int device, ret = module_load("rastrace");

	if (ret)
		return ret;
	device = module_open();
	if (device < 0)
		return device;
	if (adopt)
		ret = module_ioctl(device, RASTRACE_ADOPT, adopt);
	close(device);
	return ret ?: module_unload("rastrace");
}

/* One load in ten may cost what the kernel keeps for later. KASAN keeps all that
 * is freed for a while, and kmemleak is there in its stead. */
static void check_memory(long before, long after, int loads)
{
	if (!access("/sys/kernel/debug/kmemleak", F_OK)) {
		tap_skip("memory is given back", "kmemleak looks for it");
		return;
	}
	if (!tap_ok(after - before < loads * 10, "memory is given back"))
		tap_diag("%ld KiB before, %ld KiB after", before, after);
}

int main(void)
{
	struct rastrace_adopt adopt;
	int loads, ret = 0;
	long before = 0;

	module_need("rastrace");
	loads = module_times(LOADS);
	adopt = module_buffer();
	for (int i = 0; i < loads && !ret; i++) {
		if (i == loads / 4)
			before = kernel_memory();
		ret = load_once(i & 1 ? &adopt : NULL);
	}
	tap_is(ret, 0, "%d times loaded and unloaded", loads);
	tap_ok(access(MODULE_DEVICE, F_OK) && errno == ENOENT,
	       "the device is gone");
	check_memory(before, kernel_memory(), loads * 3 / 4);
	return tap_done();
}
