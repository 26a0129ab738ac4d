// SPDX-License-Identifier: GPL-2.0
#include "boot.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/arm/arm.h"
#include "commands.h"

#define WORDS_MAX	256
#define BLANKS		" \t\r\n"

struct word {
	char *text;
	unsigned int column;
};

struct boot {
	const char *path;
	char *directory;	/* what names in it are relative to */
	unsigned int line;
	struct word words[WORDS_MAX];
	unsigned int count;
	char *buffer, *group;	/* as the last such line said; or NULL */
	bool failed;
};

static void boot_tell(struct boot *boot, unsigned int column, const char *kind,
		      const char *text)
{
	fprintf(stderr, "%s:%u:%u: %s: %s\n", boot->path, boot->line, column,
		kind, text);
	boot->failed |= !strcmp(kind, "error");
}

static void boot_tell_word(struct boot *boot, const struct word *word,
			   const char *what)
{
	char text[512];

	snprintf(text, sizeof(text), "'%s' %s", word->text, what);
	boot_tell(boot, word->column, "error", text);
}

/* The word at *p, in place; false: its quote doesn't end. */
static bool word_take(char **p, struct word *word)
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
		struct word *word = &boot->words[boot->count];

		p += strspn(p, BLANKS);
		if (!*p || *p == '#')
			return 0;
		if (boot->count + 1 == WORDS_MAX) {
			boot_tell(boot, p - line + 1, "error",
				  "too many words");
			return -1;
		}
		word->column = p - line + 1;
		if (!word_take(&p, word)) {
			boot_tell(boot, word->column, "error",
				  "the quote doesn't end on its line");
			return -1;
		}
		boot->count++;
	}
}

/* What `trace on` says belongs to the line. Was there anything? */
static bool output_tell(struct boot *boot, FILE *output, bool failed)
{
	static const char name[] = "trace: ";
	const char *kind = failed ? "error" : "note";
	bool said = false;
	size_t size = 0;
	char *line = NULL;

	while (getline(&line, &size, output) > 0) {
		said = true;
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, name, strlen(name)))
			fprintf(stderr, "%s\n", line);
		else
			boot_tell(boot, boot->words[0].column, kind,
				  line + strlen(name));
	}
	free(line);
	return said;
}

static void on_exec(const struct boot *boot, int output)
{
	char *argv[WORDS_MAX + 8];
	unsigned int count = 0;

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
	if (chdir(boot->directory))
		_exit(COMMAND_FAILED);
	dup2(output, STDERR_FILENO);
	execv("/proc/self/exe", argv);
	_exit(COMMAND_FAILED);
}

/* Its exit status; what it said is told. */
static void on_run(struct boot *boot)
{
	int fd = memfd_create("output", MFD_CLOEXEC), status = -1;
	FILE *output = fdopen(fd, "w+");
	pid_t child;

	if (!output) {
		boot_tell(boot, boot->words[0].column, "error",
			  strerror(errno));
		return;
	}
	child = fork();
	if (!child)
		on_exec(boot, fd);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	rewind(output);
	if (!output_tell(boot, output, status != 0) && status)
		boot_tell(boot, boot->words[0].column, "error",
			  "'trace on' could not be run");
	boot->failed |= status != 0;
	fclose(output);
}

/* The one word behind the statement's name. */
static struct word *word_single(struct boot *boot)
{
	if (boot->count == 2)
		return &boot->words[1];
	if (boot->count < 2)
		boot_tell_word(boot, &boot->words[0], "needs a value");
	else
		boot_tell_word(boot, &boot->words[2], "is one word too many");
	return NULL;
}

/* In the place of an earlier one */
static void text_keep(struct boot *boot, char **text, const struct word *word)
{
	free(*text);
	*text = strdup(word->text);
	if (!*text)
		boot_tell(boot, word->column, "error", "out of memory");
}

static void buffer_take(struct boot *boot)
{
	struct word *word = word_single(boot);
	struct error err = { 0 };
	uint64_t bytes;
	int code;

	if (!word)
		return;
	code = bufmaps_size_parse(word->text, &bytes, &err);
	if (code < 0) {
		boot_tell(boot, word->column, "error", err.text);
		return;
	}
	text_keep(boot, &boot->buffer, word);
}

static void group_take(struct boot *boot)
{
	struct word *word = word_single(boot);

	if (!word)
		return;
	text_keep(boot, &boot->group, word);
}

static void on_take(struct boot *boot)
{
	if (boot->count < 2)
		boot_tell_word(boot, &boot->words[0],
			       "needs the name of a TDF");
	else
		on_run(boot);
}

static void line_run(struct boot *boot)
{
	static const struct {
		const char *name;
		void (*take)(struct boot *boot);
	} statements[] = {
		{ "on", on_take }, { "buffer", buffer_take },
		{ "group-read", group_take },
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (!strcmp(boot->words[0].text, statements[i].name)) {
			statements[i].take(boot);
			return;
		}
	boot_tell_word(boot, &boot->words[0],
		       "is no statement: on, buffer or group-read");
}

/* It says what root arms. */
static int file_check(FILE *file, const char *path, struct error *err)
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
			line_run(boot);
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
		code = file_check(file, boot.path, &err);
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
