// SPDX-License-Identifier: GPL-2.0
/* A buffer replaces another one: the same one with other parts at any time, and
 * without a moment in which there is none; one that user space has no more makes
 * room, and of those that are gone nothing stays. Runs in a guest with rastrace
 * and its samples loaded. */
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include "handover.h"

#define MAJOR	200
#define TIMES	300
#define PATIENCE 500		/* times 10 ms */

static bool stop;

static struct rastrace_info info_get(const struct handover *h)
{
	struct rastrace_info info = { .size = sizeof(info) };

	if (ioctl(h->device, RASTRACE_INFO, &info))
		tap_bail("no information: %s", strerror(errno));
	return info;
}

/* How often there was no buffer, or the major was off */
static void *watch(void *context)
{
	const struct handover *h = context;
	size_t missing = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		missing += info_get(h).adopted != RASTRACE_ADOPTED;
		missing += storm_write(MAJOR, 1, 8) != 0;
	}
	return (void *)missing;
}

static void test_again(struct handover *h)
{
	struct handover other;
	int refused = 0;
	pthread_t thread;
	void *missing;

	tap_is(handover_adopt(h), EBUSY, "the same buffer is not taken twice");
	h->adopt.flags = RASTRACE_ADOPT_AGAIN;
	if (pthread_create(&thread, NULL, watch, h))
		tap_bail("no thread");
	for (int i = 0; i < TIMES; i++) {
		h->adopt.maps[RASTRACE_PIDS] = -1;
		refused += handover_adopt(h) != 0;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, &missing);
	tap_is(refused, 0, "but when it has changed");
	tap_is((long)missing, 0, "  there is one all the time, and records");
	handover_make(&other);
	other.adopt.flags = RASTRACE_ADOPT_AGAIN;
	tap_is(handover_adopt(&other), EBUSY, "another one is not taken so");
	close(other.device);
}

static void test_parts(struct handover *h)
{
	struct rastrace_adopt whole = h->adopt;

	for (int i = RASTRACE_STATE; i < RASTRACE_PARTS; i++)
		h->adopt.maps[i] = -1;
	tap_is(handover_adopt(h), 0, "without the static tracepoints");
	tap_is(info_get(h).parts[RASTRACE_STATE].id, 0, "  they are gone");
	tap_is(storm_write(MAJOR, 1, 8), -ENOENT, "  and not recorded");
	h->adopt = whole;
	tap_is(handover_adopt(h), 0, "with them");
	tap_is(storm_write(MAJOR, 1, 8), 0, "  they are recorded");
	tap_is(handover_release(h), 0, "given back");
}

static bool map_exists(uint32_t id)
{
	union bpf_attr attr = { .map_id = id };
	int fd = bpf_call(BPF_MAP_GET_FD_BY_ID, &attr);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Handed over, replaced, mapped, given back and closed: nothing refers to the
 * maps any more, but those of the kernel that wait for a grace period. */
static void test_gone(void)
{
	struct rastrace_info info;
	struct handover h;
	size_t left = 1;
	void *at;

	handover_make(&h);
	tap_is(handover_adopt(&h), 0, "another one");
	h.adopt.flags = RASTRACE_ADOPT_AGAIN;
	tap_is(handover_adopt(&h), 0, "  again");
	tap_is(handover_switch(&h, MAJOR, true), 0, "  and its major on");
	tap_ok(major_key(MAJOR), "  with its key");
	info = info_get(&h);
	for (int i = 0; i < RASTRACE_PIDS; i++)
		left &= map_info(h.adopt.maps[i]).id == info.parts[i].id;
	tap_ok(left, "  the module reports which maps it is");
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, h.device,
		  RASTRACE_OFFSET(RASTRACE_CONTROL));
	munmap(at, 4096);
	tap_is(handover_release(&h), 0, "  given back");
	tap_ok(!major_key(MAJOR), "  its key is off");
	handover_drop(&h);
	for (int i = 0; i < PATIENCE && left; i++) {
		usleep(10000);
		left = 0;
		for (int part = 0; part < RASTRACE_PIDS; part++)
			left += map_exists(info.parts[part].id);
	}
	tap_is(left, 0, "  no map is left");
	close(h.device);
}

/* All of it is closed when the process ends. */
static void test_orphan(struct handover *h)
{
	unsigned int state = RASTRACE_ADOPTED;
	struct handover child;
	int status;
	pid_t pid = fork();

	if (!pid) {
		handover_make(&child);
		_exit(handover_adopt(&child));
	}
	waitpid(pid, &status, 0);
	tap_is(status, 0, "a process hands a buffer over, and ends");
	for (int i = 0; i < PATIENCE && state == RASTRACE_ADOPTED; i++) {
		usleep(10000);
		state = info_get(h).adopted;
	}
	tap_is(state, RASTRACE_ORPHANED, "  it is an orphan then");
	h->adopt.flags = 0;
	tap_is(handover_adopt(h), 0, "  and makes room for another one");
	tap_is(info_get(h).adopted, RASTRACE_ADOPTED, "  which isn't one");
	tap_is(handover_release(h), 0, "given back");
}

int main(void)
{
	struct handover h;

	handover_make(&h);
	tap_is(handover_adopt(&h), 0, "adopted");
	tap_is(handover_switch(&h, MAJOR, true), 0, "a major is on");
	test_again(&h);
	test_parts(&h);
	test_orphan(&h);
	test_gone();
	return tap_done();
}
