/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parser's state and its view of the tokens, for the parse_*.c files.
 *
 * A parse_ function that returns false has lost its place: its caller returns
 * false too, and parse_point.c goes on at the next TRACE. One that reported an
 * error but knows where it is returns true; the point is discarded all the
 * same, because parser_report() noted the error. After a fatal or severe one
 * there are no more tokens.
 */
#ifndef TRCUST_PARSER_H
#define TRCUST_PARSER_H

#include "lexer.h"
#include "lib/debug/arch/arch.h"
#include "tsf.h"

enum parser_minors {
	MINORS_UNKNOWN,		/* no point was met */
	MINORS_GIVEN,
	MINORS_COUNTED,
};

struct parser;

/* Of a tracepoint. parse() is called after the keyword and, but for RETEP,
 * COUNT and STACK, the '='. */
struct clause {
	const char *word;
	bool (*parse)(struct parser *p);
	bool dynamic;		/* ignored in a static tracepoint */
	bool takes_len;		/* may follow LEN */
	/* given once: where in struct parser its keyword is; 0: any number of
	 * times. The message about a second one; 0: TRCERR_SPURIOUS */
	size_t once;
	enum diag_id multiple;
	size_t count;		/* where in struct tsf_point a number goes */
	unsigned int least;	/* of it */
	enum tsf_stmt_kind kind;	/* of memory */
	uint8_t aggregate;		/* TDF_AGGREGATE_* */
	bool segmented;
	bool at_exit;		/* of VARS: it's RESULT */
};

struct parser {
	struct diag *diag;
	struct lexer lexer;
	struct token token;	/* the next one */
	struct srcpos last;	/* of the one before it */
	bool last_names;	/* that one was '.' or '@' */
	struct srcpos keyword;	/* of the clause that is parsed */
	const struct clause *clause;	/* that one, of a tracepoint */
	struct tsf *tsf;
	const struct arch *arch; /* of the registers' names */
	bool arch_unknown;	/* the first register decides which it is */
	bool aborted;		/* after a fatal or severe diagnostic */
	bool failed;		/* after an error: the point is discarded */

	bool major_given, maxdata_given, types_given, groups_given;
	enum parser_minors minors;

	struct tsf_point *point;	/* being parsed; NULL in the header */
	struct {			/* of that point; line 0: not met */
		/* keywords of clauses that are given once */
		struct srcpos minor, tp, opcode, type, group, desc;
		struct srcpos condition, maxhits, passcount, onfault;
		struct srcpos len;	/* of LEN, until its statement */
		struct tsf_stmt len_stmt;	/* what it gave */
		size_t fmt_bytes;
		size_t data_bytes;	/* at most, prefixes counted */
		struct srcpos exceeding;	/* statement beyond MAXDATALENGTH */
		bool clamped;		/* a length was cut, with a message */
		bool after_tp;		/* the clause before was TP */
		bool minor_skipped;	/* while resynchronising */
		bool is_static;		/* TP=@STATIC: only MINOR, DESC and
					 * FMT are used */
	} now;
};

/* diag_report(), and what follows from the severity: after an error the point
 * is discarded, after a fatal or severe message the text ends, silently. */
void parser_report(struct parser *p, struct srcpos pos, enum diag_id id, ...);
/* tsf_append(); NULL: no memory, which was reported. */
void *parser_append(struct parser *p, void *array, size_t *count, size_t size);
void parser_next(struct parser *p);
/* The next token where nothing is expected: a character constant is one. */
void parser_skip(struct parser *p);
bool parser_take_mark(struct parser *p, char mark);
/* The next token is the word; keywords are taken in either case. */
bool parser_at(const struct parser *p, const char *word);
bool parser_at_mark(const struct parser *p, char mark);
/* The next token is the keyword that begins a tracepoint, and not a name. */
bool parser_at_trace(const struct parser *p);
/* Report that `what` is missing before the next token; returns false. */
bool parser_missing(struct parser *p, const char *what);
bool parser_expect(struct parser *p, char mark);
/* A comma between two items; a missing one is assumed. */
void parser_expect_comma(struct parser *p);
/* After an item of a list in parentheses: another one follows. */
bool parser_list_continues(struct parser *p);
/* A number; false: TRCERR_NOTANUMBER or the end of the file was reported. */
bool parser_number(struct parser *p, uint64_t *value, struct srcpos *pos);
/* A number of at most `max`; a higher one is cut off with TRCERR_INDEXTRUNC. */
bool parser_index(struct parser *p, uint32_t max, int64_t *value);
/* A name, cut to TDF_NAME_MAX with a warning. */
bool parser_name(struct parser *p, char *name, struct srcpos *pos);
/* The register of that name, of the module's processor; NULL: it has none. */
const struct arch_register *parser_register_find(struct parser *p,
						 const char *name);
/* A copy of the token's text; "" after TRCERR_NO_MEM. */
const char *parser_text(struct parser *p, const struct token *token);
const char *parser_format(struct parser *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The next token follows a '.' or '@' on the same line. */
bool parser_at_name(const struct parser *p);
/* Where a symbol or a file name is expected: read the next token as one. */
void parser_reread_symbol(struct parser *p);
void parser_reread_function(struct parser *p);
void parser_reread_path(struct parser *p);
/* From `first` to the token taken last, when that is on the same line. */
struct srcpos parser_span(const struct parser *p, struct srcpos first);

/* Literals: the escapes of C, the controls of FMT. */

bool parse_string(struct parser *p, struct tsf_string *string);
/*
 * The escape whose backslash is at p, before end: how many bytes it takes, 0
 * when it is none of C or GNU. There is a character after the backslash.
 */
size_t parse_escape(const char *p, const char *end, char *c);
/* Warn of a control of a FMT that doesn't exist. */
void parse_string_controls(struct parser *p, const struct tsf_string *string);
/* Where the bytes of the text from `index` on are in the TSF. */
struct srcpos parse_string_place(const struct tsf_string *string, size_t index,
				 size_t length);

#endif
