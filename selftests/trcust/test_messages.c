// SPDX-License-Identifier: GPL-2.0
/* How messages look: place, source line, caret, hint, level. */
#include "tap.h"
#include <fcntl.h>
#include <unistd.h>
#include "trcust/tsf/diag.h"

#define BAD	": error: symbol not found: x [TRCERR_BADSYMBOL]\n"

static char *shown;
static size_t shown_size;

static struct diag *text_open(const char *text, int level, FILE **out)
{
	struct diag *diag;

	free(shown);
	shown = NULL;
	*out = open_memstream(&shown, &shown_size);
	if (!*out || diag_open_text(&diag, "a.tsf", text, strlen(text), level,
				    *out))
		tap_bail("no memory");
	return diag;
}

static void place_check(const char *text, struct srcpos pos,
			const char *expected, const char *name)
{
	FILE *out;
	struct diag *diag = text_open(text, 2, &out);

	diag_report(diag, pos, TRCERR_BADSYMBOL, "x");
	diag_close(diag);
	fclose(out);
	tap_str(shown, expected, "%s", name);
}

static void places_check(void)
{
	place_check("TP=.x,\n", (struct srcpos){ 1, 5, 1 },
		    "a.tsf:1:5" BAD "    1 | TP=.x,\n      |     ^\n",
		    "one character");
	place_check("a\r\n  .xyz,\r\n", (struct srcpos){ 2, 4, 3 },
		    "a.tsf:2:4" BAD "    2 |   .xyz,\n      |    ^~~\n",
		    "a word, carriage returns");
	place_check("\ta\t.xyz", (struct srcpos){ 1, 5, 3 },
		    "a.tsf:1:5" BAD "    1 | \ta\t.xyz\n"
		    "      | \t \t ^~~\n", "tabs stay");
	place_check("\"ü\" .xyz", (struct srcpos){ 1, 7, 99 },
		    "a.tsf:1:7" BAD "    1 | \"ü\" .xyz\n"
		    "      |      ^~~\n", "characters of several bytes");
	place_check("\x1b[2J\x80\xc2\x9b .x", (struct srcpos){ 1, 10, 1 },
		    "a.tsf:1:10" BAD "    1 | ?[2J??? .x\n"
		    "      |          ^\n", "nothing for the terminal");
	place_check("a\n", (struct srcpos){ 2, 1, 1 },
		    "a.tsf:2:1" BAD "    2 | \n      | ^\n", "the end");
	place_check("a\n", (struct srcpos){ 9, 1, 1 }, "a.tsf:9:1" BAD,
		    "after the end");
	place_check("a\n", (struct srcpos){ 0 }, "a.tsf" BAD, "no place");
}

/* A line of 1,000 characters, marked in its middle and at its ends. */
static void window_check(uint32_t column, bool cut_left, bool cut_right)
{
	char text[1001], *source, *caret;
	struct diag *diag;
	size_t length;
	FILE *out;

	for (int i = 0; i < 1000; i++)
		text[i] = 'a' + i % 26;
	text[1000] = 0;
	diag = text_open(text, 2, &out);
	diag_report(diag, (struct srcpos){ 1, column, 1 }, TRCERR_BADSYMBOL,
		    "x");
	diag_close(diag);
	fclose(out);
	source = strchr(shown, '\n') + 1;
	caret = strchr(source, '\n') + 1;
	length = caret - source;
	tap_ok(length <= 8 + 200 + 6 + 1 &&
	       source[strcspn(caret, "^")] == text[column - 1] &&
	       !strncmp(source + 8, "...", 3) == cut_left &&
	       !strncmp(caret - 4, "...", 3) == cut_right,
	       "column %u of a long line", column);
}

static void words_check(void)
{
	char name[301];
	struct diag *diag;
	FILE *out;

	diag = text_open("", 2, &out);
	diag_report(diag, (struct srcpos){ 0 }, TRCERR_DUP_TFFMINOR,
		    "5\n\x1b[1m", "f");
	diag_hint(diag, "hint %d\t\x9b", 7);
	fclose(out);
	tap_str(shown, "a.tsf: warning: duplicate minor code = 5\\x0a\\x1b[1m in "
		"file f, ignored [TRCERR_DUP_TFFMINOR]\n"
		"      | hint 7\\x09\\x9b\n", "two arguments, a hint, controls");
	diag_close(diag);

	memset(name, 'n', 300);
	name[300] = 0;
	diag = text_open("", 2, &out);
	diag_report(diag, (struct srcpos){ 0 }, TRCERR_BADSYMBOL, name);
	diag_close(diag);
	fclose(out);
	tap_ok(strlen(shown) < 250 && strstr(shown, "nnn... ["),
	       "a long argument is cut");
}

static void levels_check(void)
{
	static const char *const expected[] = {
		"[TRCERR_NO_MEM][TRCERR_NOMODNAME]",
		"[TRCERR_NO_MEM][TRCERR_NOMODNAME][TRCERR_NOMINOR]",
		"[TRCERR_NO_MEM][TRCERR_NOMODNAME][TRCERR_NOMINOR]"
		"[TRCERR_INVALIDMAJOR]",
	};
	struct srcpos nowhere = { 0 };

	for (int level = 0; level < 3; level++) {
		char names[256] = "";
		FILE *out;
		struct diag *diag = text_open("", level, &out);

		diag_report(diag, nowhere, TRCERR_NO_MEM);
		diag_report(diag, nowhere, TRCERR_NOMODNAME);
		diag_report(diag, nowhere, TRCERR_NOMINOR);
		diag_report(diag, nowhere, TRCERR_INVALIDMAJOR);
		diag_hint(diag, "of a warning");
		fclose(out);
		for (char *p = shown; (p = strchr(p, '[')); p++)
			strncat(names, p, strcspn(p, "]") + 1);
		tap_str(names, expected[level], "level %d", level);
		tap_ok(!strstr(shown, "of a warning") == (level < 2),
		       "hints of level %d", level);
		tap_ok(diag_count(diag, DIAG_FATAL) == 1 &&
		       diag_count(diag, DIAG_WARNING) == 1,
		       "level %d counts what it hides", level);
		diag_close(diag);
	}
}

/* Open a file that can't be read; the message goes to stderr. */
static void open_check(const char *path, const char *name)
{
	char got[512] = "";
	int saved = dup(STDERR_FILENO), pipes[2], status;
	struct diag *diag;

	if (saved < 0 || pipe2(pipes, O_CLOEXEC))
		tap_bail("no pipe");
	dup2(pipes[1], STDERR_FILENO);
	close(pipes[1]);
	status = diag_open(&diag, path, 2);
	dup2(saved, STDERR_FILENO);
	close(saved);
	if (read(pipes[0], got, sizeof(got) - 1) < 0)
		tap_bail("cannot read the message");
	close(pipes[0]);
	tap_ok(status == -1 && !diag && strstr(got, name), "%s", name);
}

int main(void)
{
	char deep[5000] = "/";

	places_check();
	window_check(1, false, true);
	window_check(100, false, true);
	window_check(500, true, true);
	window_check(1000, true, false);
	words_check();
	levels_check();
	open_check("/nowhere/a.tsf", "[TRCERR_NO_FILE]");
	open_check("/", "[TRCERR_FILE_READ]");
	memset(deep + 1, 'x', sizeof(deep) - 2);
	open_check(deep, "[TRCERR_FILENAME]");
	free(shown);
	return tap_done();
}
