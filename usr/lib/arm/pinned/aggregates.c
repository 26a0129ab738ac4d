// SPDX-License-Identifier: GPL-2.0
#include "aggregates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include "lib/buffer/pin.h"
#include "lib/sysbpf.h"

/* Reads the session's state, and with `next` begins another epoch. */
static int epoch_find(const struct session *session, bool next, uint16_t *epoch,
		      struct error *err)
{
	struct bpf_map_info info;
	struct ras_state state;
	int code, fd = session_map_open(session, "state", &info, err);

	if (fd < 0)
		return fd;
	code = info.value_size == sizeof(state) ?
	       bpf_map_lookup_elem(fd, &(uint32_t){ 0 }, &state) : -EINVAL;
	if (!code && next) {
		state.epoch++;
		code = bpf_map_update_elem(fd, &(uint32_t){ 0 }, &state,
					   BPF_ANY);
	}
	close(fd);
	*epoch = state.epoch;
	return code ? pin_refused(err, code, "cannot clear the aggregates of '%s'",
				  session->name) : 0;
}

static void keys_remove(int fd, uint32_t key_bytes, uint32_t room,
			uint16_t epoch)
{
	uint8_t *keys = calloc(room + 1, key_bytes);
	struct ras_aggregate_key head;
	uint32_t count = 0;

	while (keys && count < room &&
	       !bpf_map_get_next_key(fd, count ? keys + (count - 1) * key_bytes :
				     NULL, keys + count * key_bytes))
		count++;
	for (uint32_t i = 0; i < count; i++) {
		memcpy(&head, keys + i * key_bytes, sizeof(head));
		if (head.epoch != epoch)
			bpf_map_delete_elem(fd, keys + i * key_bytes);
	}
	free(keys);
}

/*
 * A hit that is under way may have found a value of the epoch before, whose
 * memory another key gets at once when it is removed: membarrier() waits until
 * all such hits are over. Where hits can be preempted, or there is none (with
 * nohz_full), a moment is added.
 */
static void sweep(const struct session *session, uint16_t epoch)
{
	uint32_t key_bytes, room;
	int fd = session_aggregates_open(session, &key_bytes, &room, NULL);

	if (fd < 0)
		return;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) ||
	    !(session->entry->flags & RAS_SESSION_PREEMPT))
		usleep(20000);
	keys_remove(fd, key_bytes, room, epoch);
	close(fd);
}

static bool has_aggregates(const struct session *session)
{
	uint32_t key_bytes, room;
	int fd = session->dir[0] ?
		 session_aggregates_open(session, &key_bytes, &room, NULL) : -1;

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int aggregates_clear(const struct session *session, struct error *err)
{
	uint16_t epoch;
	int code;

	if (!has_aggregates(session))
		return 0;
	code = epoch_find(session, true, &epoch, err);
	if (!code)
		sweep(session, epoch);
	return code;
}

void aggregates_sweep(const struct session *session)
{
	uint16_t epoch;

	if (has_aggregates(session) &&
	    !epoch_find(session, false, &epoch, NULL))
		sweep(session, epoch);
}
