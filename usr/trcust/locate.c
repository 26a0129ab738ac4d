// SPDX-License-Identifier: GPL-2.0
#include "locate.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/formats/tff.h"
#include "lib/path.h"
#include "lib/debug/module/module.h"

static char *format(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static char *format(const char *fmt, ...)
{
	va_list args;
	char *text;
	int size;

	va_start(args, fmt);
	size = vasprintf(&text, fmt, args);
	va_end(args);
	return size < 0 ? NULL : text;
}

/* Of the directory before the base name, "" for the current one. */
static int directory_length(const char *path)
{
	return path_base(path) - path;
}

/* Where the extension of the base name begins; NULL: it has none. */
static const char *extension(const char *path)
{
	const char *base = path_base(path);
	const char *dot = strrchr(base, '.');

	return dot && dot != base ? dot : NULL;
}

char *locate_portable(const char *name)
{
	bool drive = name[0] && name[1] == ':';
	char *portable = strdup(name + (drive ? 2 : 0));

	for (char *p = portable; p && *p; p++)
		if (*p == '\\')
			*p = '/';
	return portable;
}

static uint8_t module_kind(const char *name)
{
	const char *base = path_base(name);
	size_t length = strlen(base);

	if (!strcmp(base, "vmlinux") || !strncmp(base, "vmlinux-", 8) ||
	    !strcasecmp(base, "OS2KRNL"))
		return TDF_MODULE_KERNEL;
	for (size_t i = 0; unpack_suffixes[i]; i++) {
		size_t suffix = strlen(unpack_suffixes[i]);

		if (length > suffix &&
		    !strcmp(base + length - suffix, unpack_suffixes[i])) {
			length -= suffix;
			break;
		}
	}
	return length > 3 && !strncmp(base + length - 3, ".ko", 3) ?
	       TDF_MODULE_KMOD : TDF_MODULE_USER;
}

/* The file; NULL: it isn't there, or (errno) no memory. */
static char *module_look(const char *name, const char *tsf, const char *sysroot,
			 const char *suffix)
{
	char *file;

	if (name[0] == '/') {
		file = format("%s%s%s", sysroot ? sysroot : "", name, suffix);
	} else {
		file = format("%s%s", name, suffix);
		if (file && access(file, F_OK) && directory_length(tsf)) {
			free(file);
			file = format("%.*s%s%s", directory_length(tsf), tsf,
				      name, suffix);
		}
	}
	if (file && !access(file, F_OK))
		return file;
	errno = file ? ENOENT : ENOMEM;
	free(file);
	return NULL;
}

/* The same with what may be left out added. */
static char *locate_module_find(const char *name, const char *tsf,
				const char *sysroot, uint8_t kind)
{
	static const char *const extensions[] = { ".so", ".dll", ".DLL", NULL };
	char *file = module_look(name, tsf, sysroot, "");

	for (size_t i = 0; !file && errno != ENOMEM && kind == TDF_MODULE_USER &&
			   !extension(name) && extensions[i]; i++)
		file = module_look(name, tsf, sysroot, extensions[i]);
	for (size_t i = 0; !file && errno != ENOMEM && kind == TDF_MODULE_KMOD &&
			   unpack_suffixes[i]; i++)
		file = module_look(name, tsf, sysroot, unpack_suffixes[i]);
	return file;
}

int locate_module(struct locate_module *at, const char *modname,
		  const char *tsf, const char *module, const char *sysroot)
{
	char *name = locate_portable(modname);
	struct stat st;

	memset(at, 0, sizeof(*at));
	if (!name)
		return -ENOMEM;
	at->kind = module_kind(name);
	at->file = module ? strdup(module) :
			    locate_module_find(name, tsf, sysroot, at->kind);
	if (!at->file && errno == ENOMEM) {
		free(name);
		return -ENOMEM;
	}
	if (!at->file && (at->kind != TDF_MODULE_KERNEL || strchr(name, '/'))) {
		at->file = name;
		return strlen(path_base(name)) > NAME_MAX ? -ENAMETOOLONG :
							    -ENOENT;
	}

	/* where the module is on the target, as far as it is known here */
	if (at->kind == TDF_MODULE_KERNEL) {
		at->path = strdup("vmlinux");
	} else if (name[0] == '/') {
		at->path = strdup(module ? name : at->file +
				  (sysroot ? strlen(sysroot) : 0));
	} else {
		at->path = realpath(at->file, NULL);
		if (!at->path && errno != ENOMEM)
			at->path = strdup(at->file);
	}
	free(name);
	if (!at->path || (module && !at->file))
		return -ENOMEM;
	if (at->file && !stat(at->file, &st) && !S_ISREG(st.st_mode) &&
	    !S_ISBLK(st.st_mode) && !S_ISDIR(st.st_mode))
		return -ESPIPE;
	return 0;
}

void locate_module_free(struct locate_module *at)
{
	free(at->file);
	free(at->path);
}

/* In the directory, with each of the extensions; NULL: none is there. */
static char *input_look(const char *directory, int length, const char *name,
			const char *const *extensions)
{
	for (; *extensions; extensions++) {
		char *path = format("%.*s%s%s%s", length, directory,
				    length ? "/" : "", name, *extensions);

		if (!path || !access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

static char *input_find(const char *name, const char *const *extensions)
{
	const char *directory = getenv("TRCUST_PATH");
	char *path = input_look("", 0, name, extensions);

	while (!path && directory && *directory && !strchr(name, '/')) {
		int length = strcspn(directory, ":");

		if (length)
			path = input_look(directory, length, name, extensions);
		directory += length + (directory[length] == ':');
	}
	return path ? path : strdup(name);
}

char *locate_input(const char *name)
{
	static const char *const as_given[] = { "", NULL };

	return input_find(name, as_given);
}

char *locate_tsf(const char *name)
{
	static const char *const extensions[] = { ".tsf", ".TSF", NULL };
	char *path;

	if (extension(name))
		return locate_input(name);
	path = input_find(name, extensions);
	if (!path || strcmp(path, name))
		return path;
	free(path);
	return locate_input(name);
}

char *locate_tdf(const char *tsf, const char *given, const char *directory,
		 bool *replaced)
{
	const char *name = given ? given : tsf;
	const char *dot = extension(name);
	bool keep = given && dot && !strcasecmp(dot, ".tdf");
	int length = dot && !keep ? dot - name : (int)strlen(name);
	const char *end = keep ? "" : ".tdf";

	if (replaced)
		*replaced = given && dot && !keep;
	if (!directory)
		return format("%.*s%s", length, name, end);
	length -= directory_length(name);
	return format("%s/%.*s%s", directory, length, path_base(name), end);
}

char *locate_tff(const char *tdf, unsigned int major)
{
	char name[16];

	tff_file_name(name, major);
	return format("%.*s%s", directory_length(tdf), tdf, name);
}
