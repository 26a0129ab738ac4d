// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation of the module's init and of each request to it, also those
 * that the kernel makes for it meanwhile, fails once: the request fails with
 * -ENOMEM or does without, leaves nothing half done, and the next one succeeds.
 * Needs a kernel with failslab.
 */
#include "module.h"

#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define LIMIT		2000	/* allocations of one request */
/* Where modules are on x86-64, without KASLR */
#define MODULES_BEGIN	"0xffffffffa0000000"
#define MODULES_END	"0xffffffffff000000"

static int device = -1;
static struct rastrace_adopt adopt;

static void setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		tap_bail("cannot write %s to %s: %s", value, path,
			 strerror(errno));
	close(fd);
}

/* Each injected failure would be reported with a stack, as splats are. What fails
 * where no module has asked for it is the kernel's own business. */
static void failslab_setup(void)
{
	if (access("/proc/self/fail-nth", W_OK) ||
	    access(FAILSLAB "require-start", W_OK))
		tap_skip_all("needs failslab: the debug kernel");
	setting(FAILSLAB "verbose", "0");
	setting(FAILSLAB "require-start", MODULES_BEGIN);
	setting(FAILSLAB "require-end", MODULES_END);
	setting(FAILSLAB "ignore-gfp-wait", "N");
}

static void fail_nth_set(int fd, int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", nth);
	if (pwrite(fd, text, strlen(text), 0) < 0)
		tap_bail("fail-nth: %s", strerror(errno));
}

/* What is left of it: 0 when the failure has happened */
static int fail_nth_get(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		tap_bail("fail-nth: %s", strerror(errno));
	return atoi(text);
}

struct request {
	const char *name;
	int (*run)(void);
	/* undoes what succeeded; for what failed checks that nothing is left */
	void (*undo)(int ret);
};

static int run_load(void)
{
	return module_load("rastrace");
}

static void undo_load(int ret)
{
	if (!ret)
		ret = module_unload("rastrace");
	else
		ret = access(MODULE_DEVICE, F_OK) ? 0 : -EEXIST;
	if (ret)
		tap_bail("the module or its device stays: %s", strerror(-ret));
}

static int run_open(void)
{
	return device = module_open();
}

static void undo_open(int ret)
{
	if (ret >= 0)
		close(ret);
}

static int run_adopt(void)
{
	return module_ioctl(device, RASTRACE_ADOPT, &adopt);
}

static void undo_adopt(int ret)
{
	if (module_adopted(device) != !ret)
		tap_bail("a buffer half handed over, after %d", ret);
	if (!ret && module_ioctl(device, RASTRACE_RELEASE, NULL))
		tap_bail("cannot take the buffer back: %s", strerror(errno));
}

static int run_switch(void)
{
	return module_ioctl(device, RASTRACE_SWITCH, NULL);
}

static int run_info(void)
{
	struct rastrace_info info = { .size = sizeof(info) };

	return module_ioctl(device, RASTRACE_INFO, &info);
}

static void undo_nothing(int ret)
{
	if (!module_adopted(device))
		tap_bail("the buffer is gone, after %d", ret);
}

static void *mapped;

static int run_map(void)
{
	mapped = mmap(NULL, MODULE_SLICE, PROT_READ, MAP_SHARED, device,
		      RASTRACE_OFFSET(RASTRACE_BUFFER));
	return mapped == MAP_FAILED ? -errno : 0;
}

static void undo_map(int ret)
{
	if (!ret)
		munmap(mapped, MODULE_SLICE);
}

static int run_release(void)
{
	return module_ioctl(device, RASTRACE_RELEASE, NULL);
}

static void undo_release(int ret)
{
	if (ret || module_adopted(device))
		tap_bail("a release failed: %d", ret);
	if (module_ioctl(device, RASTRACE_ADOPT, &adopt))
		tap_bail("cannot hand the buffer over: %s", strerror(errno));
}

static void request_test(const struct request *request)
{
	int fd = open("/proc/self/fail-nth", O_RDWR), nth, left, ret;
	int failures = 0, others = 0;

	for (nth = 1; nth < LIMIT; nth++) {
		fail_nth_set(fd, nth);
		ret = request->run();
		left = fail_nth_get(fd);
		fail_nth_set(fd, 0);
		request->undo(ret);
		failures += ret == -ENOMEM;
		others += ret < 0 && ret != -ENOMEM;
		if (left)
			break;
	}
	close(fd);
	tap_ok(nth < LIMIT && ret >= 0, "%s, with no failure", request->name);
	tap_is(others, 0, "%s: -ENOMEM or success", request->name);
	tap_diag("%d allocations, %d can't be done without", nth - 1, failures);
}

static const struct request load = { "load", run_load, undo_load };

static const struct request requests[] = {
	{ "open", run_open, undo_open },
	{ "hand over", run_adopt, undo_adopt },
};

static const struct request adopted[] = {
	{ "switch", run_switch, undo_nothing },
	{ "ask", run_info, undo_nothing },
	{ "map", run_map, undo_map },
	{ "take back", run_release, undo_release },
};

int main(void)
{
	module_need("rastrace");
	failslab_setup();
	adopt = module_buffer();
	request_test(&load);
	if (module_load("rastrace"))
		tap_bail("cannot load the module: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (i)
			device = module_open();
		request_test(&requests[i]);
	}
	if (run_adopt())
		tap_bail("cannot hand over the buffer: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(adopted) / sizeof(adopted[0]); i++)
		request_test(&adopted[i]);
	close(device);
	tap_is(module_unload("rastrace"), 0, "unloaded");
	return tap_done();
}
