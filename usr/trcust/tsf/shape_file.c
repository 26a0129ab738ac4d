// SPDX-License-Identifier: GPL-2.0
#include "shape_file.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/array.h"
#include "lib/debug/arch/arch.h"
#include "parse_expr.h"
#include "parser.h"

/* ---- patterns ---- */

/* * is any text; nothing else is special, because names have [] and ?. */
static bool glob_fits(const char *pattern, const char *name)
{
	const char *star = NULL, *resume = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			resume = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static const struct shape_pattern *pattern_find(const struct shape *shape,
						const char *name)
{
	for (size_t i = 0; i < shape->pattern_count; i++)
		if (glob_fits(shape->patterns[i].text, name))
			return &shape->patterns[i];
	return NULL;
}

const struct shape *shapes_find(const struct shapes *shapes,
				const struct shape *shape,
				enum shape_language language, const char *name,
				const struct shape_pattern **pattern)
{
	const struct shape_file *file = shape ? shape->file : shapes->first;
	const struct shape *at = shape ? shape + 1 : NULL;

	for (; file; file = file->next, at = NULL) {
		for (at = at ? at : file->shapes;
		     at < file->shapes + file->count; at++) {
			if (at->language && at->language != language)
				continue;
			*pattern = pattern_find(at, name);
			if (*pattern)
				return at;
		}
	}
	return NULL;
}

/* ---- files ---- */

/* The line that is read: [at, end) are its characters from a keyword on. */
struct shape_line {
	struct parser *p;
	const char *start, *at, *end;
	uint32_t number;
};

static struct srcpos line_pos(const struct shape_line *l, const char *at)
{
	size_t length = l->end - at;

	return (struct srcpos){
		.line = l->number, .column = at - l->start + 1,
		.length = length ? length : 1,
	};
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Goes past the keyword and the blanks after it. */
static bool line_takes(struct shape_line *l, const char *keyword)
{
	size_t length = strlen(keyword);

	if ((size_t)(l->end - l->at) < length ||
	    memcmp(l->at, keyword, length) ||
	    (l->at + length < l->end && !is_blank(l->at[length])))
		return false;
	l->at += length;
	while (l->at < l->end && is_blank(*l->at))
		l->at++;
	return true;
}

static bool line_wrong(struct shape_line *l, const char *expected)
{
	const char *end = l->at;

	while (end < l->end && !is_blank(*end))
		end++;
	parser_report(l->p, line_pos(l, l->at), TRCERR_SYNTAX_ABORT, expected,
		      parser_format(l->p, "%.*s", (int)(end - l->at), l->at));
	return false;
}

/* Expressions with commas between them, `most` at most. */
static bool line_expressions(struct shape_line *l, const struct expr **exprs,
			     unsigned int most, unsigned int *count)
{
	struct parser *p = l->p;

	lexer_init_part(&p->lexer, p->diag, l->at, l->end,
			line_pos(l, l->at));
	p->token = (struct token){ 0 };
	p->failed = false;
	parser_next(p);
	*count = 0;
	do {
		if (!parse_expr(p, &exprs[*count], NULL))
			return false;
	} while (++*count < most && parser_take_mark(p, ','));
	return p->token.kind == TOKEN_END ||
	       parser_missing(p, "the end of the line");
}

static bool line_expression(struct shape_line *l, const struct expr **expr)
{
	unsigned int count;

	return line_expressions(l, expr, 1, &count);
}

static bool line_type(struct shape_line *l, struct shape *shape)
{
	struct shape_pattern pattern = { .pos = line_pos(l, l->at) };
	struct tsf *memory = l->p->tsf;
	struct shape_pattern *added;
	const char *end = l->end, *as = NULL;
	for (const char *p = l->at; p + 4 < end; p++)
		if (!memcmp(p, " as ", 4))
			as = p;
	if (l->at == end)
		return line_wrong(l, "the name of a type");
	pattern.text = parser_format(l->p, "%.*s",
				     (int)((as ? as : end) - l->at), l->at);
	if (as)
		pattern.name = parser_format(l->p, "%.*s",
					     (int)(end - as - 4), as + 4);
	added = tsf_append(memory, &shape->patterns, &shape->pattern_count,
			   sizeof(pattern));
	if (!added || l->p->aborted) {
		parser_report(l->p, pattern.pos, TRCERR_NO_MEM);
		return false;
	}
	*added = pattern;
	return true;
}

static const struct {
	const char *keyword, *more;	/* more NULL: there is none */
	enum shape_kind kind;
} shape_kinds[] = {
	{ "text", "length", SHAPE_TEXT },
	{ "sequence", "count", SHAPE_SEQUENCE },
	{ "one", NULL, SHAPE_ONE },
	{ "time", "nanoseconds", SHAPE_TIME },
	{ "address", "length", SHAPE_ADDRESS },
	{ "list", "value", SHAPE_LIST },
	{ "tree", "value", SHAPE_TREE },
	{ "each", "count", SHAPE_EACH },
	{ "variant", "value", SHAPE_VARIANT },
	{ "count", NULL, SHAPE_COUNT },
	{ "dynamic", "value", SHAPE_DYNAMIC },
	{ "optional", "value", SHAPE_OPTIONAL },
	{ "value", NULL, SHAPE_VALUE },
};

#define KINDS_TEXT	"text, sequence, list, tree, each, one, time, " \
			"address, count, dynamic, variant, optional, value, " \
			"tuple, leaves or members"
#define SHAPE_KINDS	(sizeof(shape_kinds) / sizeof(*shape_kinds))

static const char *shape_more(const struct shape *shape)
{
	for (size_t i = 0; i < SHAPE_KINDS; i++)
		if (shape_kinds[i].kind == shape->kind)
			return shape_kinds[i].more;
	return NULL;
}

/* Of some kinds only. */
static const struct {
	const char *keyword;
	size_t at;		/* in struct shape */
	enum shape_kind kind, other;	/* that have it */
	bool may;		/* it may be missing */
} shape_lines[] = {
#define LINE(name, ...)	{ #name, offsetof(struct shape, name), __VA_ARGS__ }
	LINE(next, SHAPE_LIST),
	LINE(left, SHAPE_TREE),
	LINE(right, SHAPE_TREE),
	LINE(parent, SHAPE_TREE),
	LINE(count, SHAPE_LIST, SHAPE_TREE, true),
	LINE(end, SHAPE_LIST, SHAPE_TREE, true),
	LINE(cases, SHAPE_VARIANT),
	LINE(head, SHAPE_VARIANT),
	LINE(tail, SHAPE_VARIANT),
#undef LINE
};

#define SHAPE_LINES	(sizeof(shape_lines) / sizeof(*shape_lines))

static bool shape_has_nodes(const struct shape *shape)
{
	return shape->kind == SHAPE_LIST || shape->kind == SHAPE_TREE;
}

static bool line_belongs(size_t i, const struct shape *shape)
{
	return shape->kind && (shape->kind == shape_lines[i].kind ||
			       shape->kind == shape_lines[i].other);
}

static const struct expr **line_place(size_t i, const struct shape *shape)
{
	return (const struct expr **)((char *)shape + shape_lines[i].at);
}

/* Where the expression of the line goes; NULL: it is none of these. */
static const struct expr **line_of_kind(struct shape_line *l,
					struct shape *shape)
{
	for (size_t i = 0; i < SHAPE_LINES; i++) {
		const struct expr **place = line_place(i, shape);

		if (line_belongs(i, shape) && !*place &&
		    line_takes(l, shape_lines[i].keyword))
			return place;
	}
	return NULL;
}

/* The first line that it still must have; NULL: it has all. */
static const char *shape_lacks(const struct shape *shape)
{
	const char *more = shape_more(shape);

	if (more && !shape->more)
		return more;
	for (size_t i = 0; i < SHAPE_LINES; i++)
		if (line_belongs(i, shape) && !shape_lines[i].may &&
		    !*line_place(i, shape))
			return shape_lines[i].keyword;
	return NULL;
}

/* "NAME of EXPRESSION" */
static bool line_leaves(struct shape_line *l, struct shape *shape)
{
	const char *end = l->at;

	while (end < l->end && !is_blank(*end))
		end++;
	if (l->at == end)
		return line_wrong(l, "the name of a member");
	shape->leaf = parser_format(l->p, "%.*s", (int)(end - l->at), l->at);
	for (l->at = end; l->at < l->end && is_blank(*l->at); l->at++)
		;
	return line_takes(l, "of") ? line_expression(l, &shape->what) :
				     line_wrong(l, "of");
}

/* The line with the kind, if there is no other expression in it. */
static bool line_kind(struct shape_line *l, struct shape *shape, bool *good)
{
	*good = true;
	if (line_takes(l, "members") && l->at == l->end) {
		shape->kind = SHAPE_MEMBERS;
	} else if (line_takes(l, "tuple")) {
		shape->kind = SHAPE_TUPLE;
		*good = line_expressions(l, shape->values, SHAPE_TUPLE_MAX,
					 &shape->value_count);
	} else if (line_takes(l, "leaves")) {
		shape->kind = SHAPE_LEAVES;
		*good = line_leaves(l, shape);
	} else {
		return false;
	}
	return true;
}

/* Lines of a shape after those with its types. */
static bool line_part(struct shape_line *l, struct shape *shape)
{
	const char *more = shape ? shape_more(shape) : NULL;
	const struct expr **place;
	bool good;

	if (shape && !shape->kind && line_kind(l, shape, &good))
		return good;
	place = shape ? line_of_kind(l, shape) : NULL;
	if (place)
		return line_expression(l, place);
	if (shape && shape_has_nodes(shape)) {
		if (shape->kind == SHAPE_LIST && !shape->path &&
		    line_takes(l, "path") && l->at == l->end) {
			shape->path = true;
			return true;
		}
		if (!shape->entries && line_takes(l, "entries") &&
		    l->at == l->end) {
			shape->entries = true;
			return true;
		}
	}
	if (shape && more && !shape->more && line_takes(l, more))
		return line_expression(l, &shape->more);
	for (size_t i = 0; shape && !shape->kind && i < SHAPE_KINDS; i++) {
		if (!line_takes(l, shape_kinds[i].keyword))
			continue;
		shape->kind = shape_kinds[i].kind;
		return line_expression(l, &shape->what);
	}
	return line_wrong(l, !shape ? "type" : !shape->kind ? KINDS_TEXT :
			     shape_lacks(shape) ? : "type");
}

/* The shape has all that its kind wants. */
static bool shape_check(struct parser *p, const struct shape *shape)
{
	const char *lacks = shape_lacks(shape);

	if (shape->kind && !lacks)
		return true;
	parser_report(p, shape->patterns[0].pos, TRCERR_SYNTAX_ABORT,
		      shape->kind ? lacks : KINDS_TEXT,
		      "the end of the shape");
	return false;
}

static struct shape *shape_begin(struct parser *p, struct shape_file *file)
{
	struct shape *shape = tsf_append(file->memory, &file->shapes,
					 &file->count, sizeof(*shape));

	if (!shape) {
		parser_report(p, (struct srcpos){ 0 }, TRCERR_NO_MEM);
		return NULL;
	}
	*shape = (struct shape){ .file = file, .language = file->language };
	return shape;
}

static bool line_language(struct shape_line *l, struct shape_file *file)
{
	static const char *const names[] = {
		[SHAPE_C] = "c", [SHAPE_CC] = "c++", [SHAPE_RUST] = "rust",
		[SHAPE_GO] = "go",
	};
	size_t length = l->end - l->at;

	for (int i = SHAPE_C; i <= SHAPE_GO; i++)
		if (strlen(names[i]) == length &&
		    !memcmp(names[i], l->at, length)) {
			file->language = i;
			return true;
		}
	return line_wrong(l, "c, c++, rust or go");
}

static bool shape_line_parse(struct shape_line *l, struct shape_file *file)
{
	struct shape *shape = file->count ? &file->shapes[file->count - 1] :
					    NULL;

	bool is_type;

	while (l->end > l->at && is_blank(l->end[-1]))
		l->end--;
	while (l->at < l->end && is_blank(*l->at))
		l->at++;
	if (l->at == l->end || *l->at == '#')
		return true;
	is_type = line_takes(l, "type");
	if (!is_type && !line_takes(l, "language"))
		return line_part(l, shape);
	if (shape && (shape->kind || !is_type)) {
		if (!shape_check(l->p, shape))
			return false;
		shape = NULL;
	}
	if (!is_type)
		return line_language(l, file);
	if (!shape)
		shape = shape_begin(l->p, file);
	return shape && line_type(l, shape);
}

static int shape_file_parse(struct shape_file *file)
{
	struct parser p = { .diag = file->diag, .arch = arch_own() };
	size_t size;
	const char *at = diag_text(file->diag, &size), *end = at + size;
	struct shape_line l = { .p = &p };
	bool good = true;

	p.tsf = file->memory;
	while (good && at < end) {
		const char *line_end = memchr(at, '\n', end - at);

		line_end = line_end ? line_end : end;
		l.start = l.at = at;
		l.end = line_end;
		l.number++;
		good = shape_line_parse(&l, file);
		at = line_end + (line_end < end);
	}
	if (good && file->count)
		good = shape_check(&p, &file->shapes[file->count - 1]);
	return good && !p.aborted ? 0 : -1;
}

static void shape_file_free(struct shape_file *file)
{
	if (file->memory)
		tsf_free(file->memory);
	if (file->diag)
		diag_close(file->diag);
	free(file->name);
	free(file);
}

/* Takes over diag. */
static int shape_file_add(struct shapes *shapes, const char *name,
			  struct diag *diag)
{
	struct shape_file *file = calloc(1, sizeof(*file));

	if (file) {
		file->diag = diag;
		file->name = strdup(name);
		file->memory = tsf_make();
	}
	if (!file || !file->name || !file->memory) {
		diag_no_memory(diag, (struct srcpos){ 0 });
		if (file)
			shape_file_free(file);
		else
			diag_close(diag);
		return -1;
	}
	if (shape_file_parse(file)) {
		shape_file_free(file);
		return -1;
	}
	if (!shapes->last)
		shapes->last = &shapes->first;
	*shapes->last = file;
	shapes->last = &file->next;
	return 0;
}

int shapes_add_text(struct shapes *shapes, const char *name, const char *text,
		    size_t size, void *out)
{
	struct diag *diag;

	return diag_open_text(&diag, name, text, size, shapes->level, out) ?
		       -1 : shape_file_add(shapes, name, diag);
}

static int is_shapes_file(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && dot > entry->d_name && !strcmp(dot, ".shapes");
}

static int shapes_add_directory(struct shapes *shapes, const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_shapes_file, alphasort);
	int code = 0;

	for (int i = 0; i < count; i++) {
		char *file;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			file = NULL;
		if (!code)
			code = file ? shapes_add(shapes, file) : -1;
		free(file);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return code;
}

int shapes_add(struct shapes *shapes, const char *path)
{
	struct diag *diag;
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return shapes_add_directory(shapes, path);
	return diag_open(&diag, path, shapes->level) ?
		       -1 : shape_file_add(shapes, path, diag);
}

void shapes_free(struct shapes *shapes)
{
	while (shapes->first) {
		struct shape_file *file = shapes->first;

		shapes->first = file->next;
		shape_file_free(file);
	}
	shapes->last = NULL;
}

/* ---- those of trcust ---- */

#define EMBED(name, file)						\
	asm(".pushsection .rodata\n"					\
	    ".global shapes_" #name ", shapes_" #name "_end\n"		\
	    "shapes_" #name ":\n"					\
	    ".incbin \"usr/trcust/tsf/shapes/" file "\"\n"		\
	    "shapes_" #name "_end:\n"					\
	    ".popsection\n");						\
	extern const char shapes_##name[], shapes_##name##_end[]

EMBED(libstdcxx, "libstdcxx.shapes");
EMBED(libcxx, "libcxx.shapes");
EMBED(cxx, "cxx.shapes");
EMBED(rust, "rust.shapes");
EMBED(go, "go.shapes");
EMBED(c, "c.shapes");
EMBED(kernel, "kernel.shapes");

int shapes_add_own(struct shapes *shapes)
{
	static const struct {
		const char *name, *start, *end;
	} files[] = {
		{ "libstdcxx.shapes", shapes_libstdcxx, shapes_libstdcxx_end },
		{ "libcxx.shapes", shapes_libcxx, shapes_libcxx_end },
		{ "cxx.shapes", shapes_cxx, shapes_cxx_end },
		{ "rust.shapes", shapes_rust, shapes_rust_end },
		{ "go.shapes", shapes_go, shapes_go_end },
		{ "c.shapes", shapes_c, shapes_c_end },
		{ "kernel.shapes", shapes_kernel, shapes_kernel_end },
	};
	int code = 0;

	for (size_t i = 0; !code && i < sizeof(files) / sizeof(*files); i++)
		code = shapes_add_text(shapes, files[i].name, files[i].start,
				       files[i].end - files[i].start, stderr);
	return code;
}
