// SPDX-License-Identifier: GPL-2.0
/* Lines of the TSF that a TDF was compiled from, if it is there. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include "bpf/disasm.h"
#include "commands.h"
#include "lib/arm/arm.h"
#include "lib/names.h"
#include "lib/formats/rpn.h"
#include "lib/formats/table.h"
#include "lib/identity.h"
#include "lib/path.h"
#include "lib/text.h"

struct tsf_source {
	char *text;		/* NULL: not there */
	size_t size;
};

/* At the path in the TDF, or in the TDF's directory. */
static void source_lines_open(struct tsf_source *source, const struct tdf *tdf)
{
	const char *tsf = tdf_string(tdf, tdf->header->tsf);
	const char *slash = strrchr(tdf->path, '/');
	char beside[PATH_MAX];
	void *text = NULL;

	snprintf(beside, sizeof(beside), "%.*s%s",
		 slash ? (int)(slash - tdf->path + 1) : 0, tdf->path,
		 path_base(tsf));
	*source = (struct tsf_source){ 0 };
	if (table_file_read(tsf, &text, &source->size, NULL) &&
	    table_file_read(beside, &text, &source->size, NULL))
		return;
	source->text = text;
}

/* A line, counted from 1, into text, without control characters; false:
 * unknown. */
static bool source_line(const struct tsf_source *source, uint32_t line,
			char *text, size_t size)
{
	const char *p = source->text, *end = p + source->size, *stop;
	size_t n = 0;

	while (p && line > 1) {
		p = memchr(p, '\n', end - p);
		p = p ? p + 1 : NULL;
		line--;
	}
	if (!p || p == end || !line)
		return false;
	stop = memchr(p, '\n', end - p);
	while (p < (stop ? stop : end) && n + 1 < size) {
		text[n++] = iscntrl((unsigned char)*p) ? ' ' : *p;
		p++;
	}
	text[n] = '\0';
	return true;
}

struct listing_settings {
	bool resident_only;
	enum body_stage stage;
};

static int stage_take(void *context, const char *value)
{
	static const char *const names[] = {
		[BODY_STAGE_PLAN] = "plan", [BODY_STAGE_CODE] = "code",
		[BODY_STAGE_PLACED] = "placed",
	};
	struct listing_settings *settings = context;

	for (int i = BODY_STAGE_PLAN; i <= BODY_STAGE_PLACED; i++) {
		if (strcmp(value, names[i]))
			continue;
		settings->stage = i;
		return 0;
	}
	return options_value_wrong("stage", value, "plan, code or placed");
}

static const struct option_def options[] = {
	{ "resident-only", 0, NULL,
	  "omit the instructions that bring absent memory in",
	  OPTION_PLACE(struct listing_settings, resident_only) },
	{ "stage", 0, "STAGE",
	  "print what the generator has before the instructions: plan|code|placed",
	  stage_take, 0 },
	{ NULL }
};

#define LEFT_COLUMNS	36
#define RPN_TEXT	(128u << 10)

/* The column left of a statement's instructions: lines ended by '\n'. */
struct left {
	FILE *file;
	char *text;
	size_t size;
	const char *next;
};

static void rpn_lines(FILE *file, const struct tdf *tdf, uint32_t offset,
		      uint32_t length)
{
	static char text[RPN_TEXT];
	char *rest = text, *op;

	rpn_print(tdf->rpn + offset, length, text, RPN_TEXT);
	while ((op = strsep(&rest, ";")))
		fprintf(file, "    %s\n", op + strspn(op, " "));
}

static void stmt_head(FILE *file, const struct tdf_stmt *stmt)
{
	const char *more = stmt->flags & TDF_STMT_MORE ? "more " : "";
	const char *raw = stmt->flags & TDF_STMT_RAW ? " without a prefix" : "";
	const char *far = stmt->flags & TDF_STMT_SEGMENT ? " far" : "";

	switch (stmt->kind) {
	case TDF_STMT_REG:
		fprintf(file, "REG register %u, %u bytes\n", stmt->reg,
			stmt->reg_bytes);
		break;
	case TDF_STMT_MEM:
		fprintf(file, "MEM %s%s%u bytes%s at%s\n", more,
			stmt->flags & TDF_STMT_LEN ? "up to " : "",
			stmt->length, raw, far);
		break;
	case TDF_STMT_ASCIIZ:
		fprintf(file, "ASCIIZ up to %u bytes at%s\n", stmt->length,
			far);
		break;
	case TDF_STMT_VALUE:
		fprintf(file, "VALUE %s%u bytes%s", more, stmt->length, raw);
		if (stmt->reg)
			fprintf(file, " kept as %u", stmt->reg);
		fputs(" of\n", file);
		break;
	case TDF_STMT_ABSENT:
		fputs("ABSENT at this site\n", file);
		break;
	case TDF_STMT_IF:
		fputs("IF\n", file);
		break;
	case TDF_STMT_KEY:
		fputs("KEY of the call\n", file);
		break;
	case TDF_STMT_BY:
		fprintf(file, "BY %s of\n", names_by[stmt->reg]);
		break;
	case TDF_STMT_AGGREGATE:
		fprintf(file, "AGGREGATE %s\n", names_aggregate[stmt->reg]);
		break;
	default:
		fprintf(file, "STACK up to %u frames\n", stmt->length);
	}
}

static void stmt_lines(FILE *file, const struct tdf *tdf,
		       const struct tdf_stmt *stmt)
{
	stmt_head(file, stmt);
	if (stmt->kind != TDF_STMT_REG && stmt->rpn_length)
		rpn_lines(file, tdf, stmt->rpn, stmt->rpn_length);
	if (stmt->flags & TDF_STMT_LEN) {
		if (stmt->flags & TDF_STMT_LEN_VALUE)
			fputs("  length:\n", file);
		else
			fprintf(file, "  length: %u bytes at%s\n",
				stmt->len_bytes,
				stmt->flags & TDF_STMT_LEN_SEGMENT ?
				" far" : "");
		rpn_lines(file, tdf, stmt->len_rpn, stmt->len_rpn_length);
	}
}

static int left_open(struct left *left, const struct tdf *tdf, int stmt,
		     bool again)
{
	*left = (struct left){ 0 };
	left->file = open_memstream(&left->text, &left->size);
	if (!left->file)
		return -ENOMEM;
	if (stmt == -1)
		fputs(again ? "(prologue)\n" : "prologue\n", left->file);
	else if (stmt < 0)
		fputs(again ? "(epilogue)\n" : "epilogue\n", left->file);
	else if (again)
		fprintf(left->file, "(statement %d)\n", stmt);
	else
		stmt_lines(left->file, tdf, &tdf->stmts[stmt]);
	if (fclose(left->file))
		return -ENOMEM;
	left->next = left->text;
	return 0;
}

/* One row's left side; a line that is too long has a row of its own. */
static void left_print(struct left *left)
{
	size_t length = strcspn(left->next, "\n");

	printf("  %-*.*s", LEFT_COLUMNS, (int)length, left->next);
	if (length > LEFT_COLUMNS)
		printf("\n  %-*s", LEFT_COLUMNS, "");
	if (left->next[length])
		left->next += length + 1;
}

/* One note: its statement left, its instructions [at, end) right. */
static int show_part(const struct tdf *tdf, const struct body *body, int stmt,
		     bool again, size_t at, size_t end)
{
	struct left left;
	char text[128];

	if (left_open(&left, tdf, stmt, again)) {
		free(left.text);
		return -ENOMEM;
	}
	while (at < end) {
		int taken = disasm_print(&body->insns[at], text, sizeof(text));

		left_print(&left);
		printf(" | %4zu: %s\n", at, text);
		at += taken > 0 ? taken : 1;
	}
	while (*left.next) {
		left_print(&left);
		puts(" |");
	}
	free(left.text);
	return 0;
}

static int body_print(const struct tdf *tdf, const struct body *body)
{
	int code = 0;

	for (size_t i = 0; i < body->note_count && !code; i++) {
		bool again = false;

		for (size_t k = 0; k < i && !again; k++)
			again = body->notes[k].stmt == body->notes[i].stmt;
		code = show_part(tdf, body, body->notes[i].stmt, again,
				 body->notes[i].insn,
				 i + 1 < body->note_count ?
				 body->notes[i + 1].insn : body->count);
	}
	return code;
}

static void string_print(const struct tdf *tdf, uint32_t string)
{
	safe_text_print(stdout, tdf_string(tdf, string), false);
}

static void insn_print(const struct tdf *tdf, const struct tdf_site *site)
{
	printf(", address %#llx", site->address);
	if (site->nominal != site->address)
		printf(", values as at %#llx", site->nominal);
	printf(", file offset %#llx, bytes", site->offset);
	for (unsigned int i = 0; i < site->insn_length; i++)
		printf(" %02x", site->insn[i]);
	if (!site->text)
		return;
	fputs(" (", stdout);
	string_print(tdf, site->text);
	putchar(')');
}

static void show_site(const struct tdf *tdf, const struct tdf_site *site,
		      uint32_t index)
{
	static const char *const costs[] = {
		[TDF_COST_NOP5] = "nop of 5 bytes",
		[TDF_COST_EMULATED] = "emulated",
		[TDF_COST_STEPPED] = "single-stepped",
		[TDF_COST_UNKNOWN] = "unknown cost",
	};
	char text[COST_TEXT];

	printf("  site %u: ", index);
	string_print(tdf, site->symbol);
	printf("+%u", site->symbol_offset);
	if (site->insn_length)
		insn_print(tdf, site);
	printf(", %s", costs[site->cost]);
	if (cost_print(text, site->cost, site->flags))
		printf(", %s", text);
	if (site->flags & TDF_SITE_RETURN)
		printf(", return probe");
	if (site->flags & TDF_SITE_TAIL_CALL)
		printf(", calls instead of returning");
	if (site->semaphore)
		printf(", semaphore at file offset %#llx", site->semaphore);
	putchar('\n');
}

static int site_show(const struct tdf *tdf, const struct tdf_point *point,
		     const struct tdf_site *site,
		     const struct body_target *base, enum body_stage stage,
		     struct error *err)
{
	struct body_target target = *base;
	struct body body = { 0 };
	int code;

	target.context = tdf->modules[point->module].kind == TDF_MODULE_USER ?
		BODY_UPROBE : BODY_KPROBE;
	if (stage == BODY_STAGE_NONE)
		code = body_generate(&body, tdf, point, site, &target, err);
	else
		code = body_stage_print(stdout, stage, tdf, point, site,
					&target, err);
	if (code == -EOPNOTSUPP) {
		/* Without instructions: why, and the statements. */
		printf("  can't be armed here: %s\n", err->text);
		for (uint32_t i = 0; i < site->stmts; i++)
			show_part(tdf, NULL, site->first_stmt + i, false, 0,
				  0);

		return 0;
	}
	if (code || stage != BODY_STAGE_NONE)
		return code;
	printf("  %zu instructions\n", body.count);
	if (body_print(tdf, &body))
		code = error_no_memory(err);
	body_free(&body);
	return code;
}

/* Sites that have their body in common precede it. */
static int point_show(const struct tdf *tdf, const struct tdf_point *point,
		      const struct body_target *target, enum body_stage stage,
		      struct tsf_source *source, struct error *err)
{
	int code = 0;
	char line[256];

	printf("\ntracepoint %u (0x%04x) '", point->minor, point->minor);
	string_print(tdf, point->name);
	fputs("', module '", stdout);
	string_print(tdf, tdf->modules[point->module].name);
	printf("', hash %016llx\n  ", point->hash);
	string_print(tdf, tdf->header->tsf);
	printf(":%u", point->line);
	if (source_line(source, point->line, line, sizeof(line))) {
		fputs(": ", stdout);
		safe_text_print(stdout, line, true);
	}
	putchar('\n');
	if (point->passcount)
		printf("  passes over %u hits first\n", point->passcount);
	if (point->maxhits)
		printf("  records %u hits, then no more\n", point->maxhits);
	if (point->flags & TDF_POINT_CONTINUE)
		puts("  goes on after what can't be read");
	for (uint32_t i = 0; i < point->sites && !code; i++) {
		uint32_t index = point->first_site + i;
		const struct tdf_site *site = &tdf->sites[index];

		show_site(tdf, site, index);
		if (i + 1 == point->sites || !tdf_site_same(site, site + 1))
			code = site_show(tdf, point, site, target, stage,
					 err);
	}
	return code;
}

/* The code as it would be here; maps, session and key are not known yet. 0 or
 * -ENOMEM. */
static int target_fill(struct body_target *target, struct body_layout *layout,
			const struct tdf *tdf, bool resident_only)
{
	struct features features = { 0 };

	if (features_read_btf(&features) ||
	    features_read_layout(layout) == -ENOMEM)
		return -ENOMEM;
	*target = (struct body_target){
		.buffer_fd = 1, .nest_fd = 2, .count_fd = 3, .state_fd = 4,
		.sites_fd = 5, .limits_fd = 6, .why_fd = 7, .trigger_fd = 8,
		.aggregates_fd = 10, .aggregated_fd = 11, .by_stack_fd = 12,
		.open_fd = 13, .slots_fd = 14, .slots = RAS_OPEN_SLOTS,
		.threads_fd = 15, .processes_fd = 9, .test_fd = -1, .session = 1, .cpus = 1,
		.func_ip = true, .bring_in = layout->vma && !resident_only,
		.slice_bytes = RAS_SLICE_DEFAULT, .nest_bytes = RAS_NEST_BYTES,
		.preempt_disable = features.preempt_disable,
		.preempt_enable = features.preempt_enable,
		.layout = layout, .major = tdf->header->major,
	};
	return 0;
}

static int show(const char *path, const struct listing_settings *settings,
		struct error *err)
{
	struct body_layout layout;
	struct body_target target;
	struct tsf_source source;
	struct tdf *tdf;
	int code = tdf_open(&tdf, path, err);
	char id[64];

	if (code)
		return code;
	if (target_fill(&target, &layout, tdf, settings->resident_only)) {
		tdf_close(tdf);
		return error_no_memory(err);
	}
	safe_text_print(stdout, tdf->path, false);
	printf(": major %u (0x%04x), at most %u bytes of data, %u tracepoints\n",
	       tdf->header->major, tdf->header->major, tdf->header->maxdata,
	       tdf->header->points.count);
	for (uint32_t i = 0; i < tdf->header->modules.count; i++) {
		const struct tdf_module *module = &tdf->modules[i];

		identity_print(module->id_kind, module->id, module->id_length,
			       id);
		fputs("module '", stdout);
		string_print(tdf, module->path);
		printf("', id %s\n", id);
	}
	puts("maps: 1 buffer, 2 nest, 3 count, 4 state, 5 sites, 6 limits, 7 why, 8 trigger, 9 processes, 10 aggregates, 11 aggregated");
	source_lines_open(&source, tdf);
	for (uint32_t i = 0; i < tdf->header->points.count && !code; i++)
		code = point_show(tdf, &tdf->points[i], &target, settings->stage,
				  &source, err);
	free(source.text);
	tdf_close(tdf);
	return code;
}

static int show_run(int argc, char **argv)
{
	struct error err = { 0 };
	struct listing_settings settings = { 0 };
	int status, first = command_parse(&command_show, argc, argv, 1, 1,
					  &settings, &status);

	return first < 0 ? status :
	       command_end(show(argv[first], &settings, &err),
			   &err);
}

const struct command command_show = {
	.def = {
		.program = "trace", .name = "show", .operands = "APP.tdf",
		.help = "list the expressions and eBPF instructions of a TDF side by side",
		.options = options,
	},
	.run = show_run,
};
