// SPDX-License-Identifier: GPL-2.0
#include "boot.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/arm/arm.h"
#include "commands.h"

#define WORDS_MAX	256
#define BLANKS		" \t\r\n"

struct boot_word {
	char *text;
	unsigned int column;
};

struct boot {
	const char *path;
	char *directory;	/* what names in it are relative to */
	unsigned int line;
	struct boot_word words[WORDS_MAX];
	unsigned int count;
	char *buffer, *group;	/* as the last such line said; or NULL */
	bool failed;
};

static void boot_report(struct boot *boot, unsigned int column,
			const char *kind, const char *text)
{
	fprintf(stderr, "%s:%u:%u: %s: %s\n", boot->path, boot->line, column,
		kind, text);
	boot->failed |= !strcmp(kind, "error");
}

static void boot_report_word(struct boot *boot, const struct boot_word *word,
			     const char *what)
{
	char text[512];

	snprintf(text, sizeof(text), "'%s' %s", word->text, what);
	boot_report(boot, word->column, "error", text);
}

/* The word at *p, in place; false: its quote doesn't end. */
static bool boot_word_take(char **p, struct boot_word *word)
{
	char *from = *p, *to = *p, quote = '\0';

	word->text = to;
	while (*from && (quote || !strchr(BLANKS, *from))) {
		if (*from == quote)
			quote = '\0';
		else if (!quote && (*from == '"' || *from == '\''))
			quote = *from;
		else
			*to++ = *from;
		from++;
	}
	*p = *from ? from + 1 : from;
	*to = '\0';
	return !quote;
}

static int words_split(struct boot *boot, char *line)
{
	char *p = line;

	boot->count = 0;
	for (;;) {
		struct boot_word *word = &boot->words[boot->count];

		p += strspn(p, BLANKS);
		if (!*p || *p == '#')
			return 0;
		if (boot->count + 1 == WORDS_MAX) {
			boot_report(boot, p - line + 1, "error",
				  "too many words");
			return -1;
		}
		word->column = p - line + 1;
		if (!boot_word_take(&p, word)) {
			boot_report(boot, word->column, "error",
				  "the quote doesn't end on its line");
			return -1;
		}
		boot->count++;
	}
}

/* Run `trace on`; what it writes belongs to the line. */
static void boot_arm(struct boot *boot)
{
	static const char name[] = "trace: ";
	unsigned int column = boot->words[0].column, count = 0;
	char *argv[WORDS_MAX + 8], *line = NULL;
	bool said = false;
	size_t size = 0;
	FILE *output;
	int status;

	argv[count++] = "trace";
	argv[count++] = "on";
	if (boot->buffer) {
		argv[count++] = "--buffer";
		argv[count++] = boot->buffer;
	}
	if (boot->group) {
		argv[count++] = "--group-read";
		argv[count++] = boot->group;
	}
	for (unsigned int i = 1; i < boot->count; i++)
		argv[count++] = boot->words[i].text;
	argv[count] = NULL;
	status = self_run(argv, boot->directory, false, &output);
	if (!output) {
		boot_report(boot, column, "error", strerror(errno));
		return;
	}
	while (getline(&line, &size, output) > 0) {
		said = true;
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, name, strlen(name)))
			fprintf(stderr, "%s\n", line);
		else
			boot_report(boot, column, status ? "error" : "note",
				    line + strlen(name));
	}
	free(line);
	fclose(output);
	if (!said && status)
		boot_report(boot, column, "error",
			    "'trace on' could not be run");
	boot->failed |= status != 0;
}

static void boot_line(struct boot *boot)
{
	struct boot_word *words = boot->words;
	const char *name = words[0].text;
	bool buffer = !strcmp(name, "buffer"), on = !strcmp(name, "on");
	char **text = buffer ? &boot->buffer : &boot->group;
	struct error err = { 0 };
	uint64_t bytes;

	if (!on && !buffer && strcmp(name, "group-read")) {
		boot_report_word(boot, &words[0],
				 "is no statement: on, buffer or group-read");
	} else if (boot->count < 2) {
		boot_report_word(boot, &words[0], on ?
				 "needs the name of a TDF" : "needs a value");
	} else if (on) {
		boot_arm(boot);
	} else if (boot->count > 2) {
		boot_report_word(boot, &words[2], "is one word too many");
	} else if (buffer && bufmaps_size_parse(words[1].text, &bytes,
						&err) < 0) {
		boot_report(boot, words[1].column, "error", err.text);
	} else {
		/* it replaces an earlier one */
		free(*text);
		*text = strdup(words[1].text);
		if (!*text)
			boot_report(boot, words[1].column, "error",
				    "out of memory");
	}
}

/* The file decides what root arms. */
static int boot_file_check(FILE *file, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fileno(file), &st))
		return error_set(err, -errno, "cannot read '%s': %s", path,
				 strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(err, -EISDIR, "cannot read '%s': %s", path,
				 strerror(EISDIR));
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "'%s' is no regular file", path);
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & S_IWOTH)
		return error_set(err, -EPERM,
				 "'%s' belongs to user %u or is writable by everybody: not used",
				 path, st.st_uid);
	return 0;
}

static int lines_run(struct boot *boot, FILE *file, struct error *err)
{
	size_t size = 0;
	char *line = NULL;
	int cause;

	while (errno = 0, getline(&line, &size, file) > 0) {
		boot->line++;
		if (!words_split(boot, line) && boot->count)
			boot_line(boot);
	}
	cause = errno;
	free(line);
	if (feof(file))
		return 0;
	return error_set(err, -cause, "cannot read '%s': %s", boot->path,
			 strerror(cause));
}

int boot_run(const char *conf)
{
	struct boot boot = { .path = conf ? conf : BOOT_CONF };
	int fd = open(boot.path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *copy = strdup(boot.path);
	struct error err = { 0 };
	int code;

	if (!file || !copy)
		code = error_set(&err, -errno, "cannot open '%s': %s",
				 boot.path, strerror(errno));
	else
		code = boot_file_check(file, boot.path, &err);
	if (!code) {
		boot.directory = dirname(copy);
		code = lines_run(&boot, file, &err);
	}
	if (file)
		fclose(file);
	free(copy);
	free(boot.buffer);
	free(boot.group);
	return code ? command_end(code, &err) :
	       boot.failed ? COMMAND_FAILED : COMMAND_DONE;
}
