/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the parser: parser.c (tokens, resynchronising),
 * parse_header.c, parse_point.c, parse_tp.c, parse_data.c,
 * parse_address.c, parse_expr.c, parse_string.c.
 *
 * A parse_ function that returns false has lost its place: its caller returns
 * false too, and parse_points() goes on at the next TRACE. One that told an
 * error but knows where it is returns true; the point is discarded all the
 * same, because parser_report() noted the error. After a fatal or severe one
 * there are no more tokens.
 */
#ifndef TRCUST_PARSER_H
#define TRCUST_PARSER_H

#include "lib/debug/arch/arch.h"
#include "lexer.h"
#include "tsf.h"

enum parser_minors {
	MINORS_UNKNOWN,		/* no point was met */
	MINORS_GIVEN,
	MINORS_COUNTED,
};

struct parser {
	struct diag *diag;
	struct lexer lexer;
	struct token token;	/* the next one */
	struct srcpos last;	/* of the one before it */
	bool last_names;	/* that one was '.' or '@' */
	struct tsf *tsf;
	const struct arch *arch; /* of the registers' names */
	bool arch_unknown;	/* whose a register is, that it is */
	bool aborted;		/* after a fatal or severe diagnostic */
	bool failed;		/* after an error: the point leaves nothing */

	bool major_given, maxdata_given, types_given, groups_given;
	enum parser_minors minors;

	struct tsf_point *point;	/* being parsed; NULL in the header */
	struct {			/* of that point; line 0: not met */
		struct srcpos minor, tp, type, group, desc;	/* keywords */
		struct srcpos maxhits, passcount, onfault;
		struct srcpos len;	/* of LEN, until its statement */
		struct tsf_stmt len_stmt;	/* what it gave */
		size_t fmt_bytes;
		size_t data_bytes;	/* at most, prefixes counted */
		struct srcpos exceeding;	/* statement beyond MAXDATALENGTH */
		bool clamped;		/* a length was cut, that was told */
		bool behind_tp;		/* the clause before was TP */
		bool minor_skipped;	/* while resynchronising */
		bool is_static;		/* TP=@STATIC: only MINOR, DESC and
					 * FMT are used */
	} now;
};

/* tsf.c: zeroed memory that lives as long as the tree, NULL without */
struct tsf *tsf_make(void);
void *tsf_alloc(struct tsf *tsf, size_t size);
/* Add a zeroed element to the array that `array` points at; NULL: no memory. */
void *tsf_append(struct tsf *tsf, void *array, size_t *count, size_t size);

/* parser.c */
void parser_report(struct parser *p, struct srcpos pos, enum diag_id id, ...);
void *parser_append(struct parser *p, void *array, size_t *count, size_t size);
void parser_next(struct parser *p);
/* ... where nothing is expected: a character constant is one token. */
void parser_skip(struct parser *p);
bool parser_take_mark(struct parser *p, char mark);
/* The next token is the word; keywords are taken in either case. */
bool parser_at(const struct parser *p, const char *word);
bool parser_at_mark(const struct parser *p, char mark);
/* ... is the keyword that begins a tracepoint and not a name "trace". */
bool parser_at_trace(const struct parser *p);
/* Tell that `what` is missing before the next token; returns false. */
bool parser_missing(struct parser *p, const char *what);
bool parser_expect(struct parser *p, char mark);
/* A comma between two items; a missing one is assumed. */
void parser_expect_comma(struct parser *p);
/* Behind an item of a list in parentheses: another one follows. */
bool parser_list_continues(struct parser *p);
/* A number; false: TRCERR_NOTANUMBER or the end of the file was told. */
bool parser_number(struct parser *p, uint64_t *value, struct srcpos *pos);
/* ... of at most `max`: what is above is cut off with TRCERR_INDEXTRUNC. */
bool parser_index(struct parser *p, uint32_t max, int64_t *value);
/* The register of that name, of the module's processor; NULL: it has none. */
const struct arch_register *parser_register_find(struct parser *p,
						 const char *name);
/* A copy of the token's text; "" when there is no memory, which was told. */
const char *parser_text(struct parser *p, const struct token *token);
const char *parser_format(struct parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The next token stands behind a '.' or '@' on the same line. */
bool parser_at_name(const struct parser *p);
/* Where a symbol or a file name is expected: read the next token as one. */
void parser_reread_symbol(struct parser *p);
void parser_reread_path(struct parser *p);
/* From `first` to the token taken last, when that is on the same line. */
struct srcpos parser_span(const struct parser *p, struct srcpos first);

/* parse_header.c: up to the first TRACE */
bool parse_header(struct parser *p);
/* Name of a type or group, cut to TDF_NAME_MAX with a warning. */
bool parse_name(struct parser *p, char *name, struct srcpos *pos);

/* parse_tp.c: the TP clause and what belongs to it */
bool parse_tp(struct parser *p, struct srcpos keyword);
bool parse_retep(struct parser *p, struct srcpos keyword);
bool parse_opcode(struct parser *p, struct srcpos keyword);

/* parse_point.c */
void parse_points(struct parser *p);

/* parse_data.c: the clauses behind their keyword, which is given */
bool parse_regs(struct parser *p, struct srcpos keyword);
bool parse_mem(struct parser *p, struct srcpos keyword);
bool parse_mem_segmented(struct parser *p, struct srcpos keyword);
bool parse_asciiz(struct parser *p, struct srcpos keyword);
bool parse_asciiz_segmented(struct parser *p, struct srcpos keyword);
bool parse_len(struct parser *p, struct srcpos keyword);
bool parse_vars(struct parser *p, struct srcpos keyword);
bool parse_stack(struct parser *p, struct srcpos keyword);

/* parse_address.c */
enum parse_address_rule { ADDRESS_FLAT, ADDRESS_SEGMENTED, ADDRESS_LEN };
bool parse_address(struct parser *p, struct tsf_address *address,
		   enum parse_address_rule rule);
bool parse_chain(struct parser *p, struct tsf_chain *chain,
		 enum parse_address_rule rule);
bool parse_symbol(struct parser *p, const char **name, struct srcpos *pos);

/* parse_expr.c: a C expression, up to a ',', ':' or ')' that isn't its own.
 * *text (may be NULL): as written. */
bool parse_expr(struct parser *p, const struct expr **expr, const char **text);

/* parse_string.c */
struct parse_string {
	struct token token;
	char *text;
	size_t length;
};
bool parse_string(struct parser *p, struct parse_string *string);
/*
 * The escape whose backslash stands at p, in front of end: how many bytes it
 * takes, 0 when it is none of C or GNU. There is a character behind the
 * backslash.
 */
size_t parse_escape(const char *p, const char *end, char *c);
/* Warn of a control of a FMT that doesn't exist. */
void parse_string_controls(struct parser *p, const struct parse_string *string);
/* Where the bytes of fmt->text from `index` on stand in the TSF. */
struct srcpos parse_string_place(const struct tsf_fmt *fmt, size_t index,
				 size_t length);

#endif
