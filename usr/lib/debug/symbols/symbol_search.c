// SPDX-License-Identifier: GPL-2.0
#include "symbol_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/debug/debug_search.h"
#include "lib/path.h"
#include "symbol_elf.h"

struct symbol_search {
	const struct symbols_settings *settings;
	const uint8_t *id;
	size_t length;
	char hex[2 * 30 + 1];		/* of the id */
	char *path;			/* of the file that was found */
	int fd;
	struct symbol_elf *elf;		/* its contents */
	struct debug_search files;
};

const char *symbols_useless(const struct symbols_settings *settings,
			    size_t *at)
{
	while (settings->use && *at < settings->dir_count)
		if (settings->use[(*at)++] == SYMBOLS_LOOKED)
			return settings->dirs[*at - 1];
	return NULL;
}

/* Only a file with the build-id is taken. */
static bool symbol_file_take(void *context, int fd, const char *path)
{
	struct symbol_search *search = context;

	if (!symbol_elf_read(fd, search->elf) ||
	    search->elf->id_length != search->length ||
	    memcmp(search->elf->id, search->id, search->length))
		return false;
	search->fd = fd;
	strcpy(search->path, path);
	return true;
}

static void use_note(const struct symbols_settings *settings, size_t dir,
		     bool found)
{
	if (settings->use)
		settings->use[dir] |= SYMBOLS_LOOKED |
				      (found ? SYMBOLS_HAD : 0);
}

/* --symbols names a file itself: a debug file, or one with code. */
static bool symbol_given_find(const struct symbol_search *search, bool debug)
{
	const struct symbols_settings *settings = search->settings;

	for (size_t i = 0; i < settings->dir_count; i++) {
		bool found = debug_search_try(&search->files, "%s",
					      settings->dirs[i]);

		use_note(settings, i, found);
		if (found && search->elf->stripped == debug)
			return true;
		if (found)
			close(search->fd);
	}
	return false;
}

/* False: the mapping's file has no build-id. */
static bool symbol_search_begin(struct symbol_search *search,
				const struct symbols_settings *settings,
				const uint8_t *id, size_t length,
				char path[PATH_MAX], struct symbol_elf *elf)
{
	*search = (struct symbol_search){
		.settings = settings,
		.id = id,
		.length = length,
		.path = path,
		.elf = elf,
		.files = {"", search->hex, NULL, NULL, symbol_file_take,
			  search},
	};
	for (size_t i = 0; i < length && length <= 30; i++)
		sprintf(search->hex + 2 * i, "%02x", id[i]);
	return length && length <= 30;
}

int symbol_search_code(const struct symbols_settings *settings,
		       const struct ras_mapping *mapping, char path[PATH_MAX],
		       struct symbol_elf *elf)
{
	char name[sizeof(mapping->path) + 1] = "";
	struct symbol_search search;
	const struct debug_search *files = &search.files;
	bool found = false;

	memcpy(name, mapping->path, sizeof(mapping->path));
	if (mapping->id_kind != TDF_ID_BUILD ||
	    !symbol_search_begin(&search, settings, mapping->id,
				 mapping->id_length, path, elf))
		return -1;
	for (size_t i = 0; !found && i < settings->dir_count; i++) {
		const char *dir = settings->dirs[i];

		found = (*name == '/' &&
			 debug_search_try(files, "%s%s", dir, name)) ||
			debug_search_try(files, "%s/%s", dir,
					 path_base(name)) ||
			debug_search_try(files, "%s" DEBUG_BY_ID, dir,
					 search.hex, search.hex + 2);
		use_note(settings, i, found);
	}
	if (!found)
		found = symbol_given_find(&search, false) ||
			(*name == '/' && debug_search_try(files, "%s", name));
	return found ? search.fd : -1;
}

/* A file without a debug link may have NAME.debug. */
int symbol_search_linked(const struct symbols_settings *settings,
			 const uint8_t *id, size_t length, const char *code,
			 const char *link, char path[PATH_MAX],
			 struct symbol_elf *elf)
{
	char directory[PATH_MAX], name[PATH_MAX];
	const char *slash = strrchr(code, '/');
	struct symbol_search search;
	const struct debug_search *files = &search.files;
	bool found = false;

	if (!symbol_search_begin(&search, settings, id, length, path, elf))
		return -1;
	if (!link || strchr(link, '/')) {
		snprintf(name, sizeof(name), "%s.debug", path_base(code));
		link = name;
	}
	for (size_t i = 0; !found && i < settings->dir_count; i++) {
		const char *dir = settings->dirs[i], *hex = search.hex;

		found = debug_search_try(files, "%s" DEBUG_BY_ID ".debug", dir,
					 hex, hex + 2) ||
			debug_search_try(files, "%s" DEBUG_TREE DEBUG_BY_ID
					 ".debug", dir, hex, hex + 2) ||
			debug_search_try(files, "%s/%s", dir, link);
		use_note(settings, i, found);
	}
	if (slash) {
		snprintf(directory, sizeof(directory), "%.*s",
			 (int)(slash - code), code);
		search.files.directory = directory;
	}
	search.files.link = link;
	if (!found)
		found = debug_search_all(files) ||
			symbol_given_find(&search, true);
	return found ? search.fd : -1;
}

int symbol_search_debug(const struct symbols_settings *settings,
			const struct ras_mapping *mapping, char path[PATH_MAX],
			struct symbol_elf *elf)
{
	char name[sizeof(mapping->path) + 1] = "";

	memcpy(name, mapping->path, sizeof(mapping->path));
	return mapping->id_kind == TDF_ID_BUILD ?
	       symbol_search_linked(settings, mapping->id, mapping->id_length,
				    name, NULL, path, elf) : -1;
}
