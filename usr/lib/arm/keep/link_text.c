// SPDX-License-Identifier: GPL-2.0
#include "link_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lib/buffer/pin.h"

static void link_text_put(struct link_text *text, char c)
{
	if (text->length + 1 < sizeof(text->bytes))
		text->bytes[text->length++] = c;
	else
		text->full = true;
	text->bytes[text->length] = '\0';
}

void link_text_add(struct link_text *text, const char *part)
{
	for (; *part; part++) {
		if (*part == '\\' || *part == '\n')
			link_text_put(text, '\\');
		link_text_put(text, *part == '\n' ? 'n' : *part);
	}
	link_text_put(text, '\n');
}

size_t link_text_split(char *text, char **parts, size_t most)
{
	size_t count = 0;
	char *to = text, *begin = text;

	for (; *text && count < most; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			*to++ = *text == 'n' ? '\n' : *text;
		} else if (*text == '\n') {
			*to++ = '\0';
			parts[count++] = begin;
			begin = to;
		} else {
			*to++ = *text;
		}
	}
	return count;
}

char *link_text_read(const char *path)
{
	char text[LINK_TEXT_MAX];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n < 0)
		return NULL;
	text[n] = '\0';
	return strdup(text);
}

int link_text_write(const struct link_text *text, const char *path,
		    struct error *err)
{
	char new[PATH_MAX + 64];

	if (text->full)
		return error_set(err, -E2BIG,
				 "the text of '%s' has more than %d bytes",
				 path, LINK_TEXT_MAX - 1);
	snprintf(new, sizeof(new), "%s_new", path);
	unlink(new);
	if (symlink(text->bytes, new) || rename(new, path))
		return pin_refused(err, -errno, "cannot make '%s'", path);
	return 0;
}
