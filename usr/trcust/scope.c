// SPDX-License-Identifier: GPL-2.0
#include "scope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "trcust/compile/analysis.h"
#include "trcust/compile/evaluate.h"
#include "trcust/tsf/parse_expr.h"
#include "trcust/tsf/parse_point.h"

#define SCOPE_RESULTS_MAX	16	/* of a function of Go */
#define SCOPE_BASES_MAX	8	/* base classes of base classes */
#define SCOPE_ARGUMENTS_MAX	16	/* of a USDT point */

static const struct arch *scope_find_arch(void *context, const char *modname)
{
	const struct compilation *c = context;

	return c->module->arch;
}

int scope_open(struct scope_place *p, const struct compilation *c,
	       const char *place, size_t length, int level,
	       void (*take)(void *context, const struct diag_note *note),
	       void *context)
{
	char *text = text_format("MODNAME=x TRACE TP=%.*s", (int)length, place);
	char *colon = text && *place == '@' && !memchr(place, ',', length) ?
		      strrchr(text, ':') : NULL;
	const struct tsf_point *point;
	int code = 1;

	*p = (struct scope_place) { .c = *c };
	p->c.tsf = NULL;
	p->c.diag = NULL;
	if (colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")])
		*colon = ',';
	if (text && !diag_open_text(&p->c.diag, NULL, text, strlen(text),
				    level, NULL)) {
		diag_divert(p->c.diag, take, context);
		code = tsf_parse(&p->c.tsf, p->c.diag, scope_find_arch, &p->c) ?
		       1 : 0;
	}
	free(text);
	if (!code) {
		point = p->c.tsf->points;
		if (p->c.tsf->point_count != 1 ||
		    point->tp.kind == TSF_TP_STATIC || point->stmt_count ||
		    point->condition || point->by_count ||
		    point->aggregate_count || point->desc || point->fmt_count)
			code = 2;
		else if (compile_points(&p->c, &p->out) ||
			 !p->out.point_count || !p->out.points->site_count)
			code = 1;
	}
	return !p->c.diag || diag_exhausted(p->c.diag) ? -ENOMEM : code;
}

void scope_close(struct scope_place *p)
{
	if (!p->c.diag)
		return;
	compile_free(&p->c, &p->out);
	tsf_free(p->c.tsf);
	diag_close(p->c.diag);
}

bool scope_is_known(const struct compilation *c,
		    const struct compile_site *site)
{
	Dwarf_Die unit;

	return c->dwarf && dwarf_unit_find(c->dwarf, site->nominal, &unit);
}

/* What is evaluated has messages of its own: the reason why a variable is not
 * there is made from them. */
struct scope {
	struct compilation c;
	const struct compile_site *site;
	scope_take *take;
	void *context;
	char why[512];
	int code;		/* that take() returned, or -ENOMEM */
};

static void scope_note(void *context, const struct diag_note *note)
{
	struct scope *s = context;
	size_t used = strlen(s->why);
	const char *text = note->text, *colon;

	if (note->name) {
		snprintf(s->why, sizeof(s->why), "%s", text);
		return;
	}
	/* "'x' at work+0x4: it is optimized out here" is the reason, what follows
	 * are hints */
	colon = *text == '\'' ? strstr(text, ": ") : NULL;
	if (colon)
		snprintf(s->why, sizeof(s->why), "%s", colon + 2);
	else
		snprintf(s->why + used, sizeof(s->why) - used, "; %s", text);
}

static bool scope_begin(struct scope *s, const struct compilation *c,
			const struct compile_site *site, scope_take *take,
			void *context)
{
	*s = (struct scope) {
		.c = *c, .site = site, .take = take, .context = context,
	};
	if (diag_open_text(&s->c.diag, NULL, "", 0, 1, NULL)) {
		s->code = -ENOMEM;
		return false;
	}
	diag_divert(s->c.diag, scope_note, s);
	return true;
}

static int scope_end(struct scope *s)
{
	if (s->c.diag && diag_exhausted(s->c.diag))
		s->code = -ENOMEM;
	diag_close(s->c.diag);
	return s->code;
}

/* Hand over a variable. */
static void scope_give(struct scope *s, const char *kind, const char *name,
		       const struct value_type *type, uint64_t bytes,
		       const char *where)
{
	char *spelled = type ? value_type_spell(type) : NULL;
	char *shown = spelled ? demangle_shorten(spelled) : NULL;

	if (type && !shown)
		s->code = -ENOMEM;
	else
		s->code = s->take(s->context, &(struct scope_variable) {
			kind, name, shown ? shown : "", bytes, where,
			*where ? "" : s->why,
		});
	free(spelled);
	free(shown);
}

/* What an expression is, and where its bytes are. `declared` is the type of the
 * variable that it names; NULL: not known. */
static bool scope_evaluate(struct scope *s, const char *kind, const char *name,
			   const struct expr *expr, const Dwarf_Die *declared)
{
	struct evaluation e = evaluation_begin(&s->c, s->site);
	struct value_type type = value_type_void();
	struct value value;
	uint64_t bytes = 0;
	const char *where, *why;
	bool known;

	s->why[0] = '\0';
	known = evaluate(&e, expr, &value);
	if (declared && declared->addr)
		type = value_type_of(declared);
	else if (known)
		type = value.type;
	if (!value_type_bytes(&s->c, &type, &bytes))
		bytes = 0;
	if (known && value.kind == VALUE_PLACE) {
		where = value.place.where;
		if (!place_is_known(&value.place, 0, bytes ? bytes : 1, &why)) {
			snprintf(s->why, sizeof(s->why), "%s", why);
			where = "";
		}
	} else {
		where = known ? value.where : "";
	}
	if (known && e.absent) {
		snprintf(s->why, sizeof(s->why), "%s", e.absent_why);
		where = "";
	}
	if (known || declared)
		scope_give(s, kind, name, known || declared->addr ? &type :
			   NULL, bytes, where);
	value_free(&value);
	return known;
}

static int scope_local(void *context, const char *name,
		       const struct dwarf_variable *variable)
{
	const struct expr expr = {
		.kind = EXPR_NAME, .name = name, .pos = { 1, 1, 1 },
	};
	struct scope *s = context;

	scope_evaluate(s, variable->parameter ? "parameter" : "local", name,
		       &expr, &variable->type);
	return s->code;
}

/* Variables of the source file that it has itself, by the names that mean
 * them. */
static void scope_globals(struct scope *s)
{
	struct dwarf_file *dwarf = s->c.dwarf;
	Dwarf_Die die;
	struct unit *unit = dwarf_unit_find(dwarf, s->site->nominal, &die) ?
			    dwarf_unit_get(dwarf, &die) : NULL;

	for (size_t i = 0; unit && i < unit->name_count && !s->code; i++) {
		const struct unit_name *name = &unit->names[i];
		const char *path = unit->scopes[name->scope].path;
		struct dwarf_variable found[2];
		Dwarf_Die own = name->die;
		struct expr expr = {
			.kind = EXPR_NAME, .pos = { 1, 1, 1 },
		};
		char *full;

		if (name->kind != UNIT_VARIABLE || !name->name ||
		    name->is_imported || !dwarf_variable_rank(&own, 0))
			continue;
		full = path && *path ? text_format("%s::%s", path, name->name) :
				       strdup(name->name);
		if (!full) {
			s->code = -ENOMEM;
			return;
		}
		expr.name = full;
		/* one that a local variable hides is not meant */
		if (!dwarf_variable_find(dwarf, &s->site->from, full, found) &&
		    found->die.addr == own.addr)
			scope_evaluate(s, "global", full, &expr, &found->type);
		free(full);
	}
}

int scope_each(const struct compilation *c, const struct compile_site *site,
	       scope_take *take, void *context)
{
	struct scope s;
	char name[16];
	int code;

	if (!scope_begin(&s, c, site, take, context))
		return s.code;
	for (unsigned int i = 1; !s.code && site->arguments &&
				 i <= SCOPE_ARGUMENTS_MAX; i++) {
		const struct expr expr = {
			.kind = EXPR_ARGUMENT, .number = i, .pos = { 1, 1, 1 },
		};

		snprintf(name, sizeof(name), "$arg%u", i);
		if (!scope_evaluate(&s, "argument", name, &expr, NULL))
			break;
	}
	for (unsigned int i = 1; !s.code && i <= SCOPE_RESULTS_MAX &&
				 (site->exit || site->flags & TDF_SITE_RETURN);
	     i++) {
		struct expr expr = {
			.kind = EXPR_REGISTER, .name = name + 1,
			.pos = { 1, 1, 1 },
		};

		snprintf(name, sizeof(name), i == 1 ? "$result" : "$result%u",
			 i);
		if (!scope_evaluate(&s, "result", name, &expr, NULL))
			break;
	}
	if (!s.code && c->dwarf) {
		code = dwarf_variable_each(c->dwarf, &site->from, scope_local,
					   &s);
		s.code = s.code ? s.code : code;
	}
	if (!s.code && c->dwarf)
		scope_globals(&s);
	return scope_end(&s);
}

/* The text as an expression, in the memory of c->tsf; NULL: it is none. */
static const struct expr *scope_parse(struct scope *s, const char *text,
				      size_t length)
{
	struct parser p = {
		.tsf = s->c.tsf, .arch = s->c.module->arch,
	};
	const struct expr *expr = NULL;

	if (diag_open_text(&p.diag, NULL, text, length, 0, NULL))
		return NULL;
	lexer_init(&p.lexer, p.diag);
	parser_next(&p);
	if (!parse_expr(&p, &expr, NULL) || p.failed ||
	    p.token.kind != TOKEN_END)
		expr = NULL;
	diag_close(p.diag);
	return expr;
}

bool scope_expression(const struct compilation *c,
		      const struct compile_site *site, const char *text,
		      size_t length, scope_take *take, void *context)
{
	struct dwarf_variable variable[2];
	const struct expr *expr;
	const char *kind = "expression";
	bool known = false, named;
	char *name;
	struct scope s;

	if (!scope_begin(&s, c, site, take, context))
		return false;
	expr = scope_parse(&s, text, length);
	name = strndup(text, length);
	named = expr && expr->kind == EXPR_NAME && c->dwarf &&
		!dwarf_variable_find(c->dwarf, &site->from, expr->name,
				     variable) && !variable->of_this;
	if (named)
		kind = variable->parameter ? "parameter" :
		       variable->local ? "local" : "global";
	if (expr && name)
		known = scope_evaluate(&s, kind, name, expr,
				       named ? &variable->type : NULL) || named;
	free(name);
	scope_end(&s);
	return known;
}

struct scope_class {
	struct scope *s;
	uint64_t bit_offset;	/* of the class in the object */
	unsigned int depth;	/* of base classes */
};

static int scope_member(void *context, const struct dwarf_member *member)
{
	const struct scope_class *class = context;
	struct scope *s = class->s;
	struct value_type type = value_type_of(&member->type);
	uint64_t bit_offset = class->bit_offset + member->bit_offset, bytes;
	char where[64], bits[32] = "";
	Dwarf_Die bare;

	/* those of a base class are the object's; of a structure without a
	 * name, too */
	if (member->is_base || !*member->name) {
		if (class->depth < SCOPE_BASES_MAX &&
		    value_type_composed(&s->c, &type, &bare))
			return dwarf_type_members(&bare, scope_member,
				&(struct scope_class) {
					s, bit_offset, class->depth + 1,
				});
		return 0;
	}
	if (strchr(member->name, '.'))	/* "_vptr.Base" can't be written */
		return 0;
	if (!value_type_bytes(&s->c, &type, &bytes))
		bytes = 0;
	if (member->bits)
		snprintf(bits, sizeof(bits), ", %u bits", member->bits);
	snprintf(where, sizeof(where), "offset %" PRIu64 "%s", bit_offset / 8,
		 bits);
	scope_give(s, "member", member->name, &type, bytes, where);
	return s->code;
}

bool scope_members(const struct compilation *c,
		   const struct compile_site *site, const char *text,
		   size_t length, scope_take *take, void *context)
{
	const struct expr *expr;
	struct evaluation e;
	struct value value;
	bool found = false;
	Dwarf_Die bare;
	struct scope s;

	if (!scope_begin(&s, c, site, take, context))
		return false;
	expr = scope_parse(&s, text, length);
	if (expr) {
		e = evaluation_begin(&s.c, site);
		/* the type is enough */
		e.unread = true;
		if (evaluate(&e, expr, &value)) {
			if (value_type_kind(&value.type) == DWARF_TYPE_POINTER)
				value.type = value_type_target(&value.type);
			found = value_type_composed(&s.c, &value.type, &bare);
		}
		value_free(&value);
	}
	if (found)
		dwarf_type_members(&bare, scope_member,
				   &(struct scope_class) { .s = &s });
	scope_end(&s);
	return found;
}
