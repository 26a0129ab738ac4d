// SPDX-License-Identifier: GPL-2.0
/* What operands of `trace on` and `trace off` select, and what is wrong. */
#include <unistd.h>
#include "tap.h"
#include "lib/arm/select/selection.h"

/* As trcust writes it: names in order of definition, points by minor. */
static const char strings[] =
	"\0PRE\0POST\0API\0LONGNAME\0MEM\0QUE\0EMPTY\0pre\0";
#define STRING(text)	((uint32_t)(strstr_at(text)))

static size_t strstr_at(const char *text)
{
	size_t at = 1;

	while (strcmp(strings + at, text))
		at += strlen(strings + at) + 1;
	return at;
}

static const struct tdf_point points[] = {
	{ .minor = 1, .type = 1 | 4, .group = 7 },
	{ .minor = 2, .type = 2, .group = 7 },
	{ .minor = 3, .type = 1, .group = 9 },
	{ .minor = 5 },
	{ .minor = 16, .type = 4 },
	{ .minor = 65535, .type = 0x8000, .group = 7 },
};

#define POINTS	(sizeof(points) / sizeof(points[0]))

static struct tdf tdf;

static void tdf_make(void)
{
	static struct tdf_name types[5], groups[3];
	static struct tdf_header header = {
		.types.count = 5, .groups.count = 3, .points.count = POINTS,
	};

	types[0] = (struct tdf_name){ STRING("PRE"), 1 };
	types[1] = (struct tdf_name){ STRING("POST"), 2 };
	types[2] = (struct tdf_name){ STRING("API"), 4 };
	types[3] = (struct tdf_name){ STRING("LONGNAME"), 0x8000 };
	types[4] = (struct tdf_name){ STRING("pre"), 0x10 };
	groups[0] = (struct tdf_name){ STRING("MEM"), 7 };
	groups[1] = (struct tdf_name){ STRING("QUE"), 9 };
	groups[2] = (struct tdf_name){ STRING("EMPTY"), 11 };
	tdf = (struct tdf){
		.header = &header, .types = types, .groups = groups,
		.points = points, .strings = strings,
	};
}

/* The minors that are picked, or "!" and the error with its hint. */
static char *operand_text(const char *operand, const struct tdf *names)
{
	static char text[2048];
	bool picked[POINTS] = { false };
	struct selection_point all[POINTS];
	struct selection selection;
	struct error err = { 0 };
	char *target;
	size_t used = 0;
	int code = selection_parse(&selection, operand, &target, &err);

	for (size_t i = 0; i < POINTS; i++)
		all[i] = (struct selection_point){
			points[i].minor, points[i].type, points[i].group,
		};
	if (!code) {
		code = selection_pick(&selection, names, all, POINTS, picked,
				      &err);
		selection_free(&selection);
		free(target);
	}
	text[0] = '\0';
	if (code)
		snprintf(text, sizeof(text), "!%s; %s", err.text, err.hint);
	for (size_t i = 0; i < POINTS; i++)
		if (picked[i])
			used += sprintf(text + used, "%s%u", used ? " " : "",
					points[i].minor);
	return text;
}

static const struct {
	const char *operand, *picked;
} rows[] = {
	{ "app", "1 2 3 5 16 65535" },
	{ "/x/app.tdf", "1 2 3 5 16 65535" },
	/* minors */
	{ "app(1)", "1" },
	{ "app(0x1)", "1" },
	{ "app(0X10)", "16" },
	{ "app(010)", "!there is no tracepoint 10; there are 1-3, 5, 16, 65535" },
	{ "app(005)", "5" },
	{ "app(2-5)", "2 3 5" },
	{ "app(0x1,5-9)", "1 5" },
	{ "app( 1 , 2 )", "1 2" },
	{ "app(0-65535)", "1 2 3 5 16 65535" },
	{ "app(1,1)", "1" },
	{ "app(4)", "!there is no tracepoint 4;" },
	{ "app(1,6-9)", "!there is no tracepoint 6-9;" },
	{ "app(65536)", "!'65536' is out of range: minors are 0 to 65535" },
	{ "app(99999999999999999999)", "!'99999999999999999999' is out of range" },
	{ "app(9-5)", "!the range '9-5' ends before it begins" },
	/* groups and types: a group binds stronger */
	{ "app(MEM)", "1 2 65535" },
	{ "app(MEM,PRE)", "1" },
	{ "app(PRE,MEM)", "1" },
	{ "app(MEM,PRE,POST)", "1 2" },
	{ "app(MEM,QUE)", "1 2 3 65535" },
	{ "app(MEM,QUE,PRE)", "1 3" },
	{ "app(API)", "1 16" },
	{ "app(API,POST)", "1 2 16" },
	{ "app(16,MEM,POST)", "2 16" },
	{ "app(QUE,POST)", "!no tracepoint is of the group and of the type as well" },
	{ "app(EMPTY)", "!no tracepoint is of that group" },
	/* names: as written, else in either case; cut at 8 characters */
	{ "app(mem)", "1 2 65535" },
	{ "app(PRE)", "1 3" },
	{ "app(pre)", "!no tracepoint is of that type" },
	{ "app(LONGNAMES)", "65535" },
	{ "app(NONE)", "!there is no group or type 'NONE'; groups: MEM, QUE, EMPTY; types: PRE" },
	{ "app(5x)", "!there is no group or type '5x'" },
	{ "app(5-)", "!there is no group or type '5-'" },
	{ "app(-5)", "!there is no group or type '-5'" },
	{ "app(0x)", "!there is no group or type '0x'" },
	/* form */
	{ "app()", "!something is missing between commas" },
	{ "app(1,)", "!something is missing between commas" },
	{ "app(,1)", "!something is missing between commas" },
	{ "app(1", "!it doesn't end with ')'" },
	{ "app(1)x", "!it doesn't end with ')'" },
	{ "(1)", "!there is no name before the '('" },
	{ "a(1)pp(2)", "2" },
};

static void rows_test(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = operand_text(rows[i].operand, &tdf);
		bool error = rows[i].picked[0] == '!';

		if (!tap_ok(error ? !strncmp(text, rows[i].picked,
					     strlen(rows[i].picked)) :
			    !strcmp(text, rows[i].picked), "%s",
			    rows[i].operand))
			tap_diag("got '%s', expected '%s'", text,
				 rows[i].picked);
	}
	tap_ok(!strcmp(operand_text("app(1,2)", NULL), "1 2"),
	       "minors without a TDF");
	tap_ok(strstr(operand_text("app(MEM)", NULL), "'MEM' means is not known"),
	       "a name without a TDF is refused");
}

static void options_test(void)
{
	struct selection all = { 0 }, copy = { 0 };
	bool picked[POINTS] = { false };
	struct error err = { 0 };

	tap_ok(!selection_add(&all, SELECTION_MINOR, "5,16", &err) &&
	       !selection_add(&all, SELECTION_GROUP, "MEM", &err) &&
	       !selection_add(&all, SELECTION_TYPE, "POST", &err) &&
	       !selection_append(&copy, &all, &err) &&
	       !selection_pick_tdf(&copy, &tdf, picked, &err),
	       "--minor, --group, --type");
	tap_ok(!picked[0] && picked[1] && !picked[2] && picked[3] &&
	       picked[4] && !picked[5], "select as in parentheses");
	tap_ok(selection_add(&all, SELECTION_MINOR, "MEM", &err),
	       "--minor takes no names");
	selection_free(&copy);
	tap_ok(!selection_add(&copy, SELECTION_GROUP, "PRE", &err) &&
	       selection_pick_tdf(&copy, &tdf, picked, &err),
	       "--group takes no types");
	selection_free(&copy);
	selection_free(&all);
}

static void file_test(void)
{
	char path[] = "/tmp/rastrace.XXXXXX(1)", *target = NULL;
	int fd = mkstemps(path, 3);
	struct selection selection;

	tap_ok(fd >= 0 && !selection_parse(&selection, path, &target, NULL) &&
	       !strcmp(target, path) && !selection.count,
	       "a file whose name has parentheses");
	free(target);
	close(fd);
	unlink(path);
}

/* Texts of the characters that matter: it ends, and what is wrong picks
 * nothing. */
static void random_test(void)
{
	static const char *const parts[] = {
		"app", "(", ")", ",", "-", "0x", "1", "16", "9", "MEM", "PRE",
		" ", "65535", "QUE", "x", "\xff",
	};
	unsigned int errors = 0, picks = 0, odd = 0;

	srandom(4);
	for (int i = 0; i < 20000; i++) {
		char operand[128] = "app(";
		const char *text;
		int length = random() % 12;

		while (length--)
			strcat(operand, parts[random() % 16]);
		if (random() % 4)
			strcat(operand, ")");
		text = operand_text(operand, &tdf);
		errors += text[0] == '!';
		picks += text[0] >= '1' && text[0] <= '9';
		odd += text[0] == '!' && strchr(text, ';') == NULL;
		odd += !text[0];
	}
	tap_ok(!odd && errors > 1000 && picks > 100,
	       "20000 random operands: %u select, %u are refused", picks,
	       errors);
}

int main(void)
{
	tdf_make();
	rows_test();
	options_test();
	file_test();
	random_test();
	return tap_done();
}
