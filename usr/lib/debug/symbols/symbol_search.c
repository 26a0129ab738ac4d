// SPDX-License-Identifier: GPL-2.0
#include "symbol_search.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/path.h"
#include "symbol_elf.h"

#define SYSTEM_DEBUG	"/usr/lib/debug"
#define BY_ID		"/.build-id/%.2s/%s"

struct symbol_search {
	const struct symbols_settings *settings;
	const uint8_t *id;
	size_t length;
	char hex[2 * 30 + 1];		/* of the id */
	char *path;			/* of the file that was tried last */
	struct symbol_elf *elf;		/* its contents */
};

const char *symbols_useless(const struct symbols_settings *settings,
			    size_t *at)
{
	while (settings->use && *at < settings->dir_count)
		if (settings->use[(*at)++] == SYMBOLS_LOOKED)
			return settings->dirs[*at - 1];
	return NULL;
}

/* The file as a descriptor if it has the build-id, else -1. */
__attribute__((format(printf, 2, 3)))
static int symbol_try(const struct symbol_search *search, const char *format,
		      ...)
{
	va_list args;
	int length, fd;

	va_start(args, format);
	length = vsnprintf(search->path, PATH_MAX, format, args);
	va_end(args);
	if (length < 0 || length >= PATH_MAX)
		return -1;
	fd = symbol_elf_open(search->path);
	if (fd < 0)
		return -1;
	if (symbol_elf_read(fd, search->elf) &&
	    search->elf->id_length == search->length &&
	    !memcmp(search->elf->id, search->id, search->length))
		return fd;
	close(fd);
	return -1;
}

static void use_note(const struct symbols_settings *settings, size_t dir,
		     int fd)
{
	if (settings->use)
		settings->use[dir] |= SYMBOLS_LOOKED |
				      (fd >= 0 ? SYMBOLS_HAD : 0);
}

/* --symbols names a file itself: a debug file, or one with code. */
static int given_open(const struct symbol_search *search, bool debug)
{
	const struct symbols_settings *settings = search->settings;

	for (size_t i = 0; i < settings->dir_count; i++) {
		int fd = symbol_try(search, "%s", settings->dirs[i]);

		use_note(settings, i, fd);
		if (fd >= 0 && search->elf->stripped == debug)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static int code_open(const struct symbol_search *search, const char *name)
{
	const struct symbols_settings *settings = search->settings;
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < settings->dir_count; i++) {
		const char *dir = settings->dirs[i];

		if (name[0] == '/')
			fd = symbol_try(search, "%s%s", dir, name);
		if (fd < 0)
			fd = symbol_try(search, "%s/%s", dir, path_base(name));
		if (fd < 0)
			fd = symbol_try(search, "%s" BY_ID, dir, search->hex,
					search->hex + 2);
		use_note(settings, i, fd);
	}
	if (fd < 0)
		fd = given_open(search, false);
	return fd < 0 && name[0] == '/' ? symbol_try(search, "%s", name) : fd;
}

/* A file without a debug link may have NAME.debug. */
static int debug_open(const struct symbol_search *search, const char *code,
			const char *link)
{
	const struct symbols_settings *settings = search->settings;
	const char *hex = search->hex, *suffix = "";
	const char *slash = strrchr(code, '/');
	int n = slash ? slash - code : 0, fd = -1;

	if (!link || strchr(link, '/')) {
		link = path_base(code);
		suffix = ".debug";
	}
	for (size_t i = 0; fd < 0 && i < settings->dir_count; i++) {
		const char *dir = settings->dirs[i];

		fd = symbol_try(search, "%s" BY_ID ".debug", dir, hex, hex + 2);
		if (fd < 0)
			fd = symbol_try(search, "%s" SYSTEM_DEBUG BY_ID
					".debug", dir, hex, hex + 2);
		if (fd < 0)
			fd = symbol_try(search, "%s/%s%s", dir, link, suffix);
		use_note(settings, i, fd);
	}
	if (fd < 0)
		fd = symbol_try(search, SYSTEM_DEBUG BY_ID ".debug", hex,
				hex + 2);
	if (fd < 0 && slash)
		fd = symbol_try(search, "%.*s/%s%s", n, code, link, suffix);
	if (fd < 0 && slash)
		fd = symbol_try(search, "%.*s/.debug/%s%s", n, code, link,
				suffix);
	if (fd < 0 && slash)
		fd = symbol_try(search, SYSTEM_DEBUG "%.*s/%s%s", n, code, link,
				suffix);
	return fd < 0 ? given_open(search, true) : fd;
}

/* False: the mapping's file has no build-id. */
static bool symbol_search_begin(struct symbol_search *search,
			 const struct symbols_settings *settings,
			 const uint8_t *id, size_t length, char path[PATH_MAX],
			 struct symbol_elf *elf)
{
	*search = (struct symbol_search){
		.settings = settings, .id = id, .length = length, .path = path,
		.elf = elf,
	};
	if (!length || length > 30)
		return false;
	for (size_t i = 0; i < length; i++)
		sprintf(search->hex + 2 * i, "%02x", id[i]);
	return true;
}

static bool symbol_search_mapping(struct symbol_search *search,
			   const struct symbols_settings *settings,
			   const struct ras_mapping *mapping,
			   char name[sizeof(mapping->path) + 1],
			   char path[PATH_MAX], struct symbol_elf *elf)
{
	memcpy(name, mapping->path, sizeof(mapping->path));
	name[sizeof(mapping->path)] = '\0';
	return mapping->id_kind == TDF_ID_BUILD &&
	       symbol_search_begin(search, settings, mapping->id, mapping->id_length,
			    path, elf);
}

int symbol_search_code(const struct symbols_settings *settings,
		       const struct ras_mapping *mapping, char path[PATH_MAX],
		       struct symbol_elf *elf)
{
	char name[sizeof(mapping->path) + 1];
	struct symbol_search search;

	return symbol_search_mapping(&search, settings, mapping, name, path, elf) ?
	       code_open(&search, name) : -1;
}

int symbol_search_debug(const struct symbols_settings *settings,
			const struct ras_mapping *mapping, char path[PATH_MAX],
			struct symbol_elf *elf)
{
	char name[sizeof(mapping->path) + 1];
	struct symbol_search search;

	return symbol_search_mapping(&search, settings, mapping, name, path, elf) ?
	       debug_open(&search, name, NULL) : -1;
}

int symbol_search_linked(const struct symbols_settings *settings,
			 const uint8_t *id, size_t length, const char *code,
			 const char *link, char path[PATH_MAX],
			 struct symbol_elf *elf)
{
	struct symbol_search search;

	return symbol_search_begin(&search, settings, id, length, path, elf) ?
	       debug_open(&search, code, link) : -1;
}
