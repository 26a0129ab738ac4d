// SPDX-License-Identifier: GPL-2.0
/* Formatting strings compile into the controls that manual 1.3.5.7 lists. */
#include <tap.h>
#include <usr/lib/format.h>

struct row {
	const char *string;
	const char *steps;	/* letters; text in quotes; count of %I */
	int unknown_at;
};

static const struct row rows[] = {
	{ "", "", -1 },
	{ "plain", "'plain'", -1 },
	{ "memory byte = %P%B", "'memory byte = 'PB", -1 },
	/* the manual's three spellings */
	{ "%P%W here", "PW' here'", -1 },
	{ "%p%w here", "PW' here'", -1 },
	{ "%P %W here", "PW' here'", -1 },
	{ "%R %W|", "RW'|'", -1 },
	{ "%P here", "P' here'", -1 },
	{ "%P\n%W", "P'\n'W", -1 },
	{ "%P%P%W", "PPW", -1 },
	{ "%P %X", "P' 'X", -1 },
	{ "%W %W", "W' 'W", -1 },
	{ "%b%w%d%f%q%a%s%u%x%y%l%c", "BWDFQASUXYLC", -1 },
	/* %Innn: the blank or end behind it is asked for and eaten */
	{ "ten %I10 here", "'ten 'I10'here'", -1 },
	{ "%I6", "I6", -1 },
	{ "%I6\n", "I6'\n'", -1 },
	{ "%i007 ", "I7", -1 },
	{ "%P %I2 x", "PI2'x'", -1 },
	{ "%I10here", "'%I10here'", 0 },
	{ "%I here", "'%I here'", 0 },
	{ "%I65535 ", "I65535", -1 },
	{ "%I65536 ", "'%I65536 '", 0 },
	{ "%I99999999999999999999 ", "'%I99999999999999999999 '", 0 },
	/* per cent signs */
	{ "100%%", "'100%'", -1 },
	{ "%%P%P", "'%P'P", -1 },
	{ "%%%W", "'%'W", -1 },
	/* what is no control is text */
	{ "a%Zb%W", "'a%Zb'W", 1 },
	{ "%W%Z%J", "W'%Z%J'", 2 },
	{ "end%", "'end%'", 3 },
	{ "% W", "'% W'", 0 },
	{ "\xff%\xff", "'\xff%\xff'", 1 },
	{ "%R", "'%R'", 0 },
	{ "%R text", "'%R text'", 0 },
	{ "%R%X", "'%R'X", 0 },
	{ "%R%R%W", "'%R'RW", 0 },
	{ "%{d32}", "'%{d32}'", 0 },
};

static void steps_show(const struct format *format, char *text)
{
	for (size_t i = 0; i < format->count; i++) {
		const struct format_step *step = &format->steps[i];

		if (step->kind == FORMAT_TEXT)
			text += sprintf(text, "'%.*s'", (int)step->length,
					step->text);
		else if (step->letter == 'I')
			text += sprintf(text, "I%u", step->count);
		else
			*text++ = step->letter;
	}
	*text = '\0';
}

static void name_show(const char *string, char *text)
{
	for (; *string; string++)
		*text++ = *string < ' ' ? '.' : *string;
	*text = '\0';
}

/* Each control remembers where it stood. */
static void test_places(void)
{
	struct format format;

	format_compile(&format, "ab%P %W%Q");
	tap_is(format.steps[1].at, 2, "place of %%P");
	tap_is(format.steps[2].at, 5, "place of %%W");
	tap_is(format.steps[3].at, 7, "place of %%Q");
	format_free(&format);
}

static void test_long(void)
{
	size_t n = 1 << 20;
	char *string = malloc(2 * n + 1);
	struct format format;

	for (size_t i = 0; i < n; i++)
		memcpy(string + 2 * i, "%P", 2);
	string[2 * n] = '\0';
	format_compile(&format, string);
	tap_is(format.count, n, "a million of prefixes");
	format_free(&format);
	for (size_t i = 0; i < n; i++)
		memcpy(string + 2 * i, i % 2 ? "%W" : "xx", 2);
	format_compile(&format, string);
	tap_is(format.count, n, "text and controls in turn");
	format_free(&format);
	free(string);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct format format;
		char steps[256], name[256];

		name_show(rows[i].string, name);
		if (format_compile(&format, rows[i].string))
			tap_bail("no memory");
		steps_show(&format, steps);
		tap_str(steps, rows[i].steps, "'%s'", name);
		tap_is((int)format.unknown_at, rows[i].unknown_at,
		       "'%s': first unknown control", name);
		format_free(&format);
	}
	test_places();
	test_long();
	return tap_done();
}
