// SPDX-License-Identifier: GPL-2.0
#include "parse_aggregate.h"

#include <string.h>
#include "parse_expr.h"

static struct tsf_aggregate *aggregate_new(struct parser *p, bool by)
{
	struct tsf_point *point = p->point;
	size_t most = by ? TDF_BY_MAX : TDF_AGGREGATES_MAX;
	struct tsf_aggregate *aggregate =
		by ? parser_append(p, &point->by, &point->by_count,
				   sizeof(*aggregate)) :
		     parser_append(p, &point->aggregates,
				   &point->aggregate_count, sizeof(*aggregate));

	if (!aggregate)
		return NULL;
	aggregate->pos = p->keyword;
	aggregate->text = "";
	if ((by ? point->by_count : point->aggregate_count) == most + 1)
		parser_report(p, p->keyword, TRCERR_TPRTOOBIG, by ?
			      "4 values of BY" : "16 aggregates");
	return aggregate;
}

bool parse_hits(struct parser *p)
{
	struct tsf_aggregate *aggregate = aggregate_new(p, false);

	if (aggregate)
		aggregate->kind = TDF_AGGREGATE_COUNT;
	return aggregate;
}

static bool parse_aggregate_expr(struct parser *p,
				 struct tsf_aggregate *aggregate)
{
	aggregate->pos = p->token.pos;
	if (!parse_expr(p, &aggregate->expr, &aggregate->text))
		return false;
	aggregate->pos = parser_span(p, aggregate->pos);
	return true;
}

bool parse_aggregate(struct parser *p)
{
	struct tsf_aggregate *aggregate;

	if (!parser_expect(p, '('))
		return false;
	do {
		aggregate = aggregate_new(p, false);
		if (!aggregate || !parse_aggregate_expr(p, aggregate))
			return false;
		aggregate->kind = p->clause->aggregate;
	} while (parser_list_continues(p));
	return parser_expect(p, ')');
}

/* :n, the characters of a text or the frames of a stack */
static bool parse_by_length(struct parser *p, struct tsf_aggregate *by)
{
	unsigned int most = by->expr ? TDF_BY_TEXT_MAX : TDF_STACK_MAX;
	const char *text = parser_text(p, &p->token);
	struct srcpos pos;
	uint64_t length;

	if (!parser_number(p, &length, &pos))
		return false;
	if (!length || length > most) {
		parser_report(p, pos, TRCERR_BADPARM, text);
		diag_hint(p->diag, "1 to %u %s", most,
			  by->expr ? "characters" : "frames");
		length = 1;
	}
	by->length = length;
	return true;
}

/* The word STACK, in capitals; (STACK) is a variable of that name. */
static bool by_stack_take(struct parser *p, struct tsf_aggregate *by)
{
	size_t earlier = p->point->by_count - 1;
	struct srcpos pos = p->token.pos;

	if (!parser_at(p, "STACK") || memcmp(p->token.text, "STACK", 5))
		return false;
	parser_next(p);
	by->pos = pos;
	by->text = "STACK";
	by->length = TDF_STACK_MAX;
	while (earlier--)
		if (!p->point->by[earlier].expr)
			parser_report(p, pos, TRCERR_TPRTOOBIG,
				      "one STACK of BY");
	return true;
}

bool parse_by(struct parser *p)
{
	struct tsf_aggregate *by;

	if (!parser_expect(p, '('))
		return false;
	do {
		by = aggregate_new(p, true);
		if (!by || !(by_stack_take(p, by) ||
			     parse_aggregate_expr(p, by)))
			return false;
		if (parser_take_mark(p, ':') && !parse_by_length(p, by))
			return false;
	} while (parser_list_continues(p));
	return parser_expect(p, ')');
}
