// SPDX-License-Identifier: GPL-2.0
#include "keep_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

static struct keep_file *keep_file_find(const struct keep_files *files,
					uint16_t session)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].session == session)
			return &files->items[i];
	return NULL;
}

/* Closing it gives up the lease. */
static void keep_file_drop(struct keep_files *files, struct keep_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	*file = files->items[--files->count];
}

void keep_files_look(struct keep_files *files, const struct session_list *list)
{
	for (size_t i = 0; i < files->count; i++)
		files->items[i].seen = false;
	for (size_t i = 0; i < list->count; i++) {
		const struct ras_session *entry = list->items[i].entry;
		struct keep_file *file = keep_file_find(files, entry->index);
		struct stat st;

		if (!list->items[i].armed || !entry->inode)
			continue;
		if (!file) {
			struct keep_file *items =
				reallocarray(files->items, files->count + 1,
					     sizeof(*items));

			if (!items)
				continue;
			files->items = items;
			file = &items[files->count++];
			*file = (struct keep_file){
				.session = entry->index, .fd = -1,
			};
		}
		file->seen = true;
		if (!file->leased && file->fd < 0)
			file->fd = open(entry->module,
					O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		/* No lease as long as another process has the file open for
		 * writing. */
		if (!file->leased && file->fd >= 0 && !fstat(file->fd, &st) &&
		    st.st_dev == entry->device && st.st_ino == entry->inode)
			file->leased = !fcntl(file->fd, F_SETLEASE, F_RDLCK);
	}
	for (size_t i = files->count; i-- > 0;)
		if (!files->items[i].seen)
			keep_file_drop(files, &files->items[i]);
}

bool keep_files_changed(const struct keep_files *files,
			const struct session *session)
{
	const struct keep_file *file = keep_file_find(files, session->entry->index);

	return session->entry->changed ||
	       (file && file->leased &&
		fcntl(file->fd, F_GETLEASE) != F_RDLCK);
}

bool keep_files_blind(const struct keep_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (!files->items[i].leased)
			return true;
	return false;
}

void keep_files_forget(struct keep_files *files, int session)
{
	for (size_t i = files->count; i-- > 0;)
		if (session < 0 || files->items[i].session == session)
			keep_file_drop(files, &files->items[i]);
}
