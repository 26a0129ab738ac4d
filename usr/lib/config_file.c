// SPDX-License-Identifier: GPL-2.0
#include "config_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool config_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Without blanks at both ends; zero bytes are no end. */
static char *word_trim(char *start, char *end)
{
	while (start < end && config_is_blank(*start))
		start++;
	while (end > start && config_is_blank(end[-1]))
		end--;
	*end = '\0';
	return start;
}

/* `end` is the line end, which is written to. */
static int config_line_read(char *line, char *end, config_take take, void *context,
		     struct error *err)
{
	char *sign, *name, *value;

	for (const char *p = line; p < end; p++)
		if (iscntrl((unsigned char)*p) && !config_is_blank(*p))
			return error_set(err, -EINVAL,
					 "the byte 0x%02x is no text",
					 (unsigned char)*p);
	name = word_trim(line, end);
	if (!*name || *name == '#')
		return 0;
	sign = strchr(name, '=');
	if (!sign) {
		error_set(err, -EINVAL, "'%s' has no value", name);
		error_hint(err, "a line is NAME = VALUE, or a comment after #");
		return -EINVAL;
	}
	value = word_trim(sign + 1, sign + strlen(sign));
	end = value + strlen(value);
	if (end - value >= 2 && *value == '"' && end[-1] == '"') {
		*--end = '\0';
		value++;
	}
	return take(context, word_trim(name, sign), value, err);
}

int config_parse(char *text, size_t n, const char *path, config_take take,
		 void *context, struct error *err)
{
	unsigned int number = 1;
	char *limit = text + n;

	for (char *line = text, *end; line < limit; line = end + 1, number++) {
		int code;

		end = memchr(line, '\n', limit - line);
		end = end ? end : limit;
		code = config_line_read(line, end, take, context, err);
		if (code) {
			error_prefix(err, "'%s', line %u: ", path, number);
			return code;
		}
	}
	return 0;
}

static int config_refuse(const char *path, struct error *err, int code)
{
	return error_set(err, code, "cannot read '%s': %s", path,
			 strerror(-code));
}

/* A fifo would be waited for. */
int config_read(char **text, const char *path, config_take take,
		void *context, struct error *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	size_t n = 0;
	ssize_t got;

	*text = NULL;
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 :
		       config_refuse(path, err, -errno);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(err, -EINVAL, "'%s' is not a regular file",
				 path);
	}
	*text = malloc(CONFIG_FILE_MAX + 1);
	if (!*text) {
		close(fd);
		return error_no_memory(err);
	}
	do {
		got = read(fd, *text + n, CONFIG_FILE_MAX + 1 - n);
		n += got > 0 ? got : 0;
	} while (got > 0 && n <= CONFIG_FILE_MAX);
	if (got < 0)
		got = -errno;
	close(fd);
	if (got < 0)
		return config_refuse(path, err, got);
	if (n > CONFIG_FILE_MAX)
		return error_set(err, -EFBIG, "'%s' has more than %u bytes",
				 path, CONFIG_FILE_MAX);
	return config_parse(*text, n, path, take, context, err);
}

char *config_path(const char *name)
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	bool own = base && *base == '/';
	char *path = NULL;

	if (!own && !(home && *home))
		return NULL;
	return asprintf(&path, "%s%s/rastrace/%s", own ? base : home,
			own ? "" : "/.config", name) < 0 ? NULL : path;
}
