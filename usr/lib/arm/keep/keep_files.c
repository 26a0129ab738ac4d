// SPDX-License-Identifier: GPL-2.0
#include "keep_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/stat.h>

static struct keep_file *file_find(const struct keep_files *files,
				   uint16_t session)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].session == session)
			return &files->items[i];
	return NULL;
}

/* Fails as long as another process has the file open for writing. */
static void file_lease(struct keep_file *file, const struct ras_session *entry)
{
	struct stat st;

	if (file->fd < 0)
		file->fd = open(entry->module,
				O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &st) ||
	    st.st_dev != entry->device || st.st_ino != entry->inode)
		return;
	file->leased = !fcntl(file->fd, F_SETLEASE, F_RDLCK);
}

static struct keep_file *file_add(struct keep_files *files, uint16_t session)
{
	struct keep_file *items = reallocarray(files->items, files->count + 1,
					       sizeof(*items));

	if (!items)
		return NULL;
	files->items = items;
	items[files->count] = (struct keep_file){
		.session = session, .fd = -1,
	};
	return &items[files->count++];
}

/* Closing it gives up the lease. */
static void file_drop(struct keep_files *files, struct keep_file *file)
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
		struct keep_file *file = file_find(files, entry->index);

		if (!list->items[i].armed || !entry->inode)
			continue;
		if (!file)
			file = file_add(files, entry->index);
		if (!file)
			continue;
		file->seen = true;
		if (!file->leased)
			file_lease(file, entry);
	}
	for (size_t i = files->count; i-- > 0;)
		if (!files->items[i].seen)
			file_drop(files, &files->items[i]);
}

bool keep_files_changed(const struct keep_files *files,
			const struct session *session)
{
	const struct keep_file *file = file_find(files, session->entry->index);

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
			file_drop(files, &files->items[i]);
}
