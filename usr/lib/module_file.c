// SPDX-License-Identifier: GPL-2.0
#include "module_file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "identity.h"

#define SECOND	1000000000LL

static uint64_t time_ns(const struct timespec *time)
{
	return time->tv_sec * SECOND + time->tv_nsec;
}

void module_file_note(struct ras_session *entry, const struct stat *st)
{
	entry->device = st->st_dev;
	entry->inode = st->st_ino;
	entry->bytes = st->st_size;
	entry->mtime = time_ns(&st->st_mtim);
	entry->ctime = time_ns(&st->st_ctim);
}

/* A new st_ctim may be that of a change of the file's mode or names, and a writer
 * may set st_mtim back: what is in the file decides. */
static bool identity_differs(const struct ras_session *entry)
{
	struct identity id = { 0 };
	int fd = open(entry->module, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool differs;

	if (fd < 0)
		return false;
	differs = identity_read(fd, entry->module, &id, NULL) ||
		  id.kind != entry->id_kind || id.length != entry->id_length ||
		  memcmp(id.id, entry->id, sizeof(id.id));
	close(fd);
	return differs;
}

/* Wall clock to CLOCK_BOOTTIME, not before the session. */
static uint64_t time_of_boot(uint64_t time, uint64_t armed)
{
	struct timespec boot, wall;
	int64_t now, at;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &wall);
	now = time_ns(&boot);
	at = (int64_t)time - (int64_t)(time_ns(&wall) - now);
	if (at > now)
		at = now;
	return at < (int64_t)armed ? armed : (uint64_t)at;
}

uint64_t module_file_changed(const struct ras_session *entry)
{
	uint64_t mtime, ctime;
	struct stat st;

	if (!entry->mtime || entry->module[0] != '/' ||
	    stat(entry->module, &st) || st.st_dev != entry->device ||
	    st.st_ino != entry->inode)
		return 0;
	mtime = time_ns(&st.st_mtim);
	ctime = time_ns(&st.st_ctim);
	if (mtime == entry->mtime && (uint64_t)st.st_size == entry->bytes &&
	    (ctime == entry->ctime || !identity_differs(entry)))
		return 0;
	/* a st_mtim that was set to the past isn't the time of the write */
	return time_of_boot(mtime > entry->ctime && mtime < ctime ? mtime :
			    ctime, entry->armed);
}
