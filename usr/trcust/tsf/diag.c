// SPDX-License-Identifier: GPL-2.0
#include "diag.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/text.h"

#define DIAG_WRITER_MS	1000	/* a pipe's writer has to begin */
#define DIAG_TEXT_MAX	(256u << 20)	/* bytes of a TSF */
#define DIAG_WINDOW	200		/* bytes shown of a long line */
#define DIAG_WRONG_MAX	24		/* characters of it that are none */
#define DIAG_WORD_MAX	160		/* bytes shown of an argument */
#define DIAG_NAME_MAX	4096		/* bytes shown of a path or a hint */

struct diag {
	char *path;
	char *text;		/* ends with a zero */
	size_t size;
	size_t *lines;		/* offsets of the line starts, made when needed */
	size_t line_count;
	FILE *out;
	void (*take)(void *context, const struct diag_note *note);
	void *context;		/* of take */
	int level;
	bool shown;		/* the last message */
	bool exhausted;
	unsigned int count[DIAG_WARNING + 1];
};

static const struct {
	enum diag_severity severity;
	const char *name;
	const char *text;
} table[TRCERR_COUNT] = {
#define DIAG(level, id, words, meaning)					\
	[TRCERR_##id] = { DIAG_##level, "TRCERR_" #id, words },
#include <rastrace/diag.def>
#undef DIAG
};

static const char *const severity_names[] = {
	[DIAG_FATAL] = "fatal",
	[DIAG_SEVERE] = "severe",
	[DIAG_ERROR] = "error",
	[DIAG_WARNING] = "warning",
};

/* Bytes of the UTF-8 character at p; 0: nothing to send to a terminal. */
static size_t glyph_size(const char *p, size_t left)
{
	unsigned char c = *p;

	return c < 0x80 ? c >= 0x20 && c != 0x7f : safe_text_utf8(p, left);
}

/* Bytes to go on by, at least 1. */
static size_t glyph_step(const char *p, const char *end)
{
	size_t n = glyph_size(p, end - p);

	return n ? n : 1;
}

/* Control characters are shown as \xHH. */
static void word_print(FILE *out, const char *word, size_t max)
{
	size_t left = strlen(word), n, shown = 0;

	for (; left && shown < max; word += n, left -= n) {
		n = glyph_size(word, left);
		if (n) {
			fwrite(word, 1, n, out);
		} else {
			n = 1;
			fprintf(out, "\\x%02x", (unsigned char)*word);
		}
		shown += n;
	}
	if (left)
		fputs("...", out);
}

static bool lines_index(struct diag *diag)
{
	size_t count = 1, i = 0;

	if (diag->lines)
		return true;
	for (size_t at = 0; at < diag->size; at++)
		count += diag->text[at] == '\n';
	diag->lines = malloc(count * sizeof(*diag->lines));
	if (!diag->lines)
		return false;
	diag->lines[i++] = 0;
	for (size_t at = 0; at < diag->size; at++)
		if (diag->text[at] == '\n')
			diag->lines[i++] = at + 1;
	diag->line_count = count;
	return true;
}

/* The line, or the part of a long one around the mark, with a caret below. */
static void diag_source_print(struct diag *diag, FILE *out, struct srcpos pos)
{
	const char *start, *end = diag->text + diag->size, *mark, *p, *last;
	bool cut_left = false, cut_right = false;
	size_t wrong = 0, n;

	if (!lines_index(diag) || pos.line > diag->line_count)
		return;
	start = diag->text + diag->lines[pos.line - 1];
	if (pos.line < diag->line_count)
		end = diag->text + diag->lines[pos.line] - 1;
	end -= end > start && end[-1] == '\r';
	mark = pos.column - 1 < (size_t)(end - start) ? start + pos.column - 1 :
							end;
	if (end - start > DIAG_WINDOW && mark - start > DIAG_WINDOW / 2) {
		start = mark - DIAG_WINDOW / 2;
		cut_left = true;
		while (start < mark && (*start & 0xc0) == 0x80)
			start++;
	}
	if (end - start > DIAG_WINDOW) {
		end = start + DIAG_WINDOW;
		cut_right = true;
	}

	/* A text may have a few characters that are wrong. */
	for (p = start; p < end; p += glyph_step(p, end))
		wrong += !glyph_size(p, end - p) && *p != '\t';
	if (wrong > DIAG_WRONG_MAX)
		return;
	fprintf(out, "%5u | %s", pos.line, cut_left ? "..." : "");
	for (p = start; p < end; p += glyph_step(p, end)) {
		n = glyph_size(p, end - p);
		if (n)
			fwrite(p, 1, n, out);
		else
			fputc(*p == '\t' ? '\t' : '?', out);
	}
	fputs(cut_right ? "...\n" : "\n", out);

	/* Tabs are kept, so that the caret is below its character. */
	fprintf(out, "      | %s", cut_left ? "   " : "");
	for (p = start; p < mark; p += glyph_step(p, end))
		fputc(*p == '\t' ? '\t' : ' ', out);
	fputc('^', out);
	last = pos.length < (size_t)(end - mark) ? mark + pos.length : end;
	for (p += p < end ? glyph_step(p, end) : 0; p < last;
	     p += glyph_step(p, end))
		fputc(*p == '\t' ? '\t' : '~', out);
	fputc('\n', out);
}

static void message_text_print(FILE *out, enum diag_id id, va_list args)
{
	const char *text = table[id].text, *mark;

	for (; (mark = strstr(text, "%s")); text = mark + 2) {
		fwrite(text, 1, mark - text, out);
		word_print(out, va_arg(args, const char *), DIAG_WORD_MAX);
	}
	fputs(text, out);
}

static void message_print(struct diag *diag, FILE *out, struct srcpos pos,
			  enum diag_id id, va_list args)
{
	word_print(out, diag->path ? diag->path : "trcust", DIAG_NAME_MAX);
	if (pos.line)
		fprintf(out, ":%u:%u", pos.line, pos.column);
	fprintf(out, ": %s: ", severity_names[table[id].severity]);
	message_text_print(out, id, args);
	fprintf(out, " [%s]\n", table[id].name);
	if (pos.line && diag->text)
		diag_source_print(diag, out, pos);
}

enum diag_severity diag_vreport(struct diag *diag, struct srcpos pos,
				enum diag_id id, va_list args)
{
	enum diag_severity severity = table[id].severity;
	char *message = NULL;
	size_t size;
	FILE *out;

	diag->count[severity]++;
	diag->exhausted |= id == TRCERR_NO_MEM;
	diag->shown = (diag->out || diag->take) &&
		      (int)severity <= diag->level + DIAG_SEVERE;
	if (!diag->shown)
		return severity;
	/* stderr is not buffered: a message is one write */
	out = open_memstream(&message, &size);
	if (diag->take && out)
		message_text_print(out, id, args);
	else if (!diag->take)
		message_print(diag, out ? out : diag->out, pos, id, args);
	if (out)
		fclose(out);
	if (diag->take)
		diag->take(diag->context, &(struct diag_note) {
			severity, table[id].name, pos,
			out && message ? message : table[id].text,
		});
	else if (out)
		fwrite(message, 1, message ? size : 0, diag->out);
	free(message);
	return severity;
}

void diag_report(struct diag *diag, struct srcpos pos, enum diag_id id, ...)
{
	va_list args;

	va_start(args, id);
	diag_vreport(diag, pos, id, args);
	va_end(args);
}

int diag_no_memory(struct diag *diag, struct srcpos pos)
{
	diag_report(diag, pos, TRCERR_NO_MEM);
	return -1;
}

void diag_hint(struct diag *diag, const char *fmt, ...)
{
	char *line;
	va_list args;
	int length;

	if (!diag->shown)
		return;
	va_start(args, fmt);
	length = vasprintf(&line, fmt, args);
	va_end(args);
	if (length < 0)
		return;
	if (diag->take) {
		diag->take(diag->context, &(struct diag_note) { .text = line });
		free(line);
		return;
	}
	fputs("      | ", diag->out);
	word_print(diag->out, line, DIAG_NAME_MAX);
	fputc('\n', diag->out);
	free(line);
}

void diag_hint_discarded(struct diag *diag, enum diag_id id)
{
	if (strstr(table[id].text, ", ignored"))
		diag_hint(diag, "the whole tracepoint is ignored");
}

void diag_divert(struct diag *diag,
		 void (*take)(void *context, const struct diag_note *note),
		 void *context)
{
	diag->take = take;
	diag->context = context;
}

const char *diag_severity_name(enum diag_severity severity)
{
	return severity_names[severity];
}

unsigned int diag_count(const struct diag *diag, enum diag_severity severity)
{
	return diag->count[severity];
}

bool diag_exhausted(const struct diag *diag)
{
	return diag->exhausted;
}

const char *diag_path(const struct diag *diag)
{
	return diag->path;
}

const char *diag_text(const struct diag *diag, size_t *size)
{
	*size = diag->size;
	return diag->text;
}

static enum diag_id file_failure(int code)
{
	switch (code) {
	case -ENOENT:
	case -ENOTDIR:
	case -EACCES:
	case -EPERM:
	case -ELOOP:
		return TRCERR_NO_FILE;
	case -ENAMETOOLONG:
		return TRCERR_FILENAME;
	case -EMFILE:
	case -ENFILE:
	case -ENXIO:
	case -ENODEV:
		return TRCERR_FILE_OPEN;
	case -ENOMEM:
		return TRCERR_NO_MEM;
	case -ESPIPE:
		return TRCERR_FILE_MOVE;
	case -ENOEXEC:
		return TRCERR_BAD_EXEH;
	case -EAGAIN:		/* it changed meanwhile */
		return TRCERR_FILE_ACCESS;
	default:
		return TRCERR_FILE_READ;
	}
}

void diag_report_error(struct diag *diag, struct srcpos pos, const char *path,
		       int code, const struct error *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", -code);
	diag_report(diag, pos, file_failure(code), path, text);
	if (err && err->text[0])
		diag_hint(diag, "%s", err->text);
	else if (code != -ENOMEM)
		diag_hint(diag, "%s", strerror(-code));
	if (err && err->hint[0])
		diag_hint(diag, "%s", err->hint);
}

/*
 * Up to the end of the file, which may be a pipe. One without a writer has
 * ended after a while: the open doesn't wait for a writer.
 */
static int diag_file_read(struct diag *diag, int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	size_t room = 0;
	ssize_t got;
	char *grown;

	poll(&ready, 1, DIAG_WRITER_MS);
	do {
		if (diag->size + 1 >= room) {
			room = room ? room * 2 : 64 << 10;
			grown = realloc(diag->text, room);
			if (!grown)
				return -ENOMEM;
			diag->text = grown;
		}
		got = read(fd, diag->text + diag->size, room - diag->size - 1);
		if (got < 0 && errno == EAGAIN)
			poll(&ready, 1, -1);
		else if (got < 0 && errno != EINTR)
			return -errno;
		diag->size += got > 0 ? got : 0;
		if (diag->size > DIAG_TEXT_MAX)
			return -EFBIG;
	} while (got);
	diag->text[diag->size] = 0;
	return 0;
}

/* Move what was set up into memory of its own; the path is copied. */
static int diag_settle(struct diag **diag, struct diag *made, const char *path)
{
	struct srcpos nowhere = { 0 };

	*diag = malloc(sizeof(**diag));
	made->path = path ? strdup(path) : NULL;
	if (!*diag || (path && !made->path)) {
		free(*diag);
		*diag = NULL;
		diag_report(made, nowhere, TRCERR_NO_MEM);
		free(made->path);
		free(made->text);
		return -1;
	}
	**diag = *made;
	return 0;
}

int diag_open(struct diag **diag, const char *path, int level)
{
	struct diag made = { .out = stderr, .level = level };
	int fd, code = 0;

	*diag = NULL;
	if (path) {
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		code = fd < 0 ? -errno : diag_file_read(&made, fd);
		if (fd >= 0)
			close(fd);
	}
	if (code) {
		diag_report_error(&made, (struct srcpos){0}, path, code, NULL);
		free(made.text);
		return -1;
	}
	return diag_settle(diag, &made, path);
}

int diag_open_text(struct diag **diag, const char *name, const char *text,
		   size_t size, int level, void *out_file)
{
	struct diag made = { .out = out_file, .level = level, .size = size };

	*diag = NULL;
	made.text = malloc(size + 1);
	if (!made.text) {
		return diag_no_memory(&made, (struct srcpos){ 0 });
	}
	memcpy(made.text, text, size);
	made.text[size] = 0;
	return diag_settle(diag, &made, name);
}

void diag_close(struct diag *diag)
{
	if (!diag)
		return;
	free(diag->path);
	free(diag->text);
	free(diag->lines);
	free(diag);
}
