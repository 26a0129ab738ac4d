// SPDX-License-Identifier: GPL-2.0
/* How long things live: mappings after the buffer's release and after its maps
 * are gone, the module while it is used, and the buffer when the module goes.
 * The guest's modules are unloaded at the end. */
#include <sys/wait.h>
#include "handover.h"

#define EVENT "/sys/kernel/tracing/events/rastrace/rastrace_static/enable"

static const void *part_map(struct handover *h, int part, size_t size,
			    int flags)
{
	return mmap(NULL, size, PROT_READ, flags, h->device,
		    RASTRACE_OFFSET(part));
}

/* The errno of a mapping that must not be */
static int map_errno(struct handover *h, int protection, off_t offset,
		     size_t size)
{
	void *at = mmap(NULL, size, protection, MAP_SHARED, h->device, offset);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, size);
	return 0;
}

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

static void test_refused(struct handover *h)
{
	const off_t buffer = RASTRACE_OFFSET(RASTRACE_BUFFER);
	struct rastrace_info info = { .size = sizeof(info) };
	size_t size;
	void *at;

	tap_is(map_errno(h, PROT_READ, buffer, 4096), ENOENT, "no buffer");
	tap_is(handover_adopt(h), 0, "adopted");
	ioctl(h->device, RASTRACE_INFO, &info);
	size = info.parts[RASTRACE_BUFFER].bytes;
	tap_ok(info.adopted && size >= h->sizes[RASTRACE_BUFFER],
	       "the module reports its size");
	tap_is(map_errno(h, PROT_READ | PROT_WRITE, buffer, size), EPERM,
	       "not for writing");
	tap_is(map_errno(h, PROT_READ | PROT_EXEC, buffer, size), EPERM,
	       "nor to be executed");
	tap_is(map_errno(h, PROT_READ, buffer, size + 4096), EINVAL,
	       "not more than there is");
	tap_is(map_errno(h, PROT_READ, buffer + size, 4096), EINVAL,
	       "nor after it");
	tap_is(map_errno(h, PROT_READ, RASTRACE_OFFSET(RASTRACE_PARTS), 4096),
	       EINVAL, "no part of that number");
	tap_is(map_errno(h, PROT_READ, RASTRACE_OFFSET(RASTRACE_PIDS), 4096),
	       ENOENT, "no set of processes");
	at = (void *)part_map(h, RASTRACE_BUFFER, size, MAP_SHARED);
	tap_ok(at != MAP_FAILED, "for reading");
	tap_ok(mprotect(at, size, PROT_READ | PROT_WRITE) && errno == EACCES,
	       "and it stays so");
	tap_ok(mprotect(at, size, PROT_READ | PROT_EXEC) && errno == EACCES,
	       "also not to be executed");
	tap_ok(mremap(at, size, size + 4096, MREMAP_MAYMOVE) == MAP_FAILED,
	       "and doesn't grow");
	munmap(at, size);
	at = (void *)part_map(h, RASTRACE_BUFFER, size, MAP_PRIVATE);
	tap_ok(at != MAP_FAILED &&
	       mprotect(at, size, PROT_READ | PROT_WRITE) && errno == EACCES,
	       "a private one neither");
	munmap(at, size);
}

static void test_processes(struct handover *h)
{
	handover_release(h);
	h->adopt.maps[RASTRACE_PIDS] = h->pids;
	tap_is(handover_adopt(h), 0, "adopted with a set of processes");
	tap_is(map_errno(h, PROT_READ, RASTRACE_OFFSET(RASTRACE_PIDS), 4096),
	       EINVAL, "which is not to be mapped");
	handover_release(h);
	h->adopt.maps[RASTRACE_PIDS] = -1;
	handover_adopt(h);
}

/* A child goes on reading when the maps are gone. */
static void test_outlives(struct handover *h)
{
	size_t size = h->sizes[RASTRACE_BUFFER];
	const uint8_t *at = part_map(h, RASTRACE_BUFFER, size, MAP_SHARED);
	static uint8_t before[4096];
	int status;
	pid_t child;

	handover_switch(h, 200, true);
	tap_is(sample_write("process"), 0, "a record");
	memcpy(before, h->views[RASTRACE_BUFFER], sizeof(before));
	tap_ok(((struct ras_slice *)before)->records ||
	       ((struct ras_slice *)(at + size / h->cpus))->records,
	       "is seen in the mapping");
	tap_is(handover_release(h), 0, "released while it is mapped");
	handover_drop(h);
	sleep(1);	/* the maps are freed after a grace period */
	child = fork();
	if (!child)
		_exit(!!memcmp(at, before, sizeof(before)));
	waitpid(child, &status, 0);
	tap_is(status, 0, "and read when the maps are gone");
	tap_is(unload("rastrace"), EWOULDBLOCK, "the sample needs the module");
	tap_is(unload("rastrace_sample") + unload("rastrace_storm"), 0,
	       "the sample goes");
	close(h->device);
	tap_is(unload("rastrace"), EWOULDBLOCK, "a mapping needs it, too");
	munmap((void *)at, size);
}

int main(void)
{
	struct handover h;
	int event;

	handover_make(&h);
	test_refused(&h);
	test_processes(&h);
	test_outlives(&h);
	handover_make(&h);
	tap_is(handover_adopt(&h), 0, "adopted again");
	handover_switch(&h, 200, true);
	event = open(EVENT, O_WRONLY);
	tap_ok(event >= 0 && write(event, "1", 1) == 1, "the event is on");
	close(event);
	close(h.device);
	tap_is(unload("rastrace"), 0, "the module goes, with buffer and event");
	tap_ok(access("/dev/rastrace", F_OK), "and its device");
	for (int i = 0; i < RASTRACE_PIDS; i++)
		memset(h.views[i], 0xff, h.sizes[i]);
	return tap_done();
}
