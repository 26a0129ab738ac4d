// SPDX-License-Identifier: GPL-2.0
/* Members of structs, unions and classes. */
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX	32	/* of classes and members without a name */
#define STRUCTS_MAX	10000	/* looked into for one name */
#define NAMES_TEXT	240	/* of members, for a hint */

struct member_search {
	struct compilation *c;
	const char *name;	/* wanted: "x" */
	const char *class;	/* "B" of "B::x"; NULL: any */
	int depth;
	unsigned int *left;	/* structs still looked into: damaged ones may
				 * contain themselves */
	uint64_t bit_offset;	/* of what is searched */
	struct dwarf_member found;
};

static int member_take(void *context, const struct dwarf_member *member);

static bool member_search(const struct member_search *search,
			  const struct dwarf_member *in, const char *class,
			  struct dwarf_member *found)
{
	struct value_type type = value_type_of(&in->type);
	struct member_search inner = *search;
	Dwarf_Die bare;

	inner.class = class;
	inner.bit_offset += in->bit_offset;
	if (++inner.depth > DEPTH_MAX || !*inner.left || !--*inner.left ||
	    !value_type_composed(search->c, &type, &bare) ||
	    !dwarf_type_members(&bare, member_take, &inner))
		return false;
	*found = inner.found;
	return true;
}

/* Members of a base class and of a member without a name are the struct's. */
static int member_take(void *context, const struct dwarf_member *member)
{
	struct member_search *search = context;
	const char *class = search->class;

	if (member->is_base && class && !strcmp(member->name, class))
		return member_search(search, member, NULL, &search->found);
	if (!class && !strcmp(member->name, search->name) && *search->name) {
		search->found = *member;
		search->found.bit_offset += search->bit_offset;
		return 1;
	}
	return (member->is_base || !*member->name) &&
	       member_search(search, member, class, &search->found);
}

/* "B::x" is the x of a class called B; what stands before B is left out. */
bool evaluate_member_find(struct compilation *c, Dwarf_Die *composed,
			const char *name, struct dwarf_member *member)
{
	unsigned int left = STRUCTS_MAX;
	struct member_search search = { .c = c, .name = name, .left = &left };
	const char *split = NULL, *at;
	char *class = NULL;
	bool found;

	for (at = name; (at = strstr(at, "::")); at += 2)
		split = at;
	if (split) {
		for (at = split; at > name && at[-1] != ':';)
			at--;
		class = strndup(at, split - at);
		search.name = split + 2;
		search.class = class;
	}
	found = (!split || class) &&
		dwarf_type_members(composed, member_take, &search);
	if (found)
		*member = search.found;
	if (!found && class) {	/* the class's own name */
		const char *own = dwarf_diename(composed);

		if (own && !strcmp(own, class))
			found = evaluate_member_find(c, composed, split + 2,
						     member);
	}
	free(class);
	return found;
}

struct member_names {
	char text[NAMES_TEXT];
	size_t used;
};

static int member_name_add(void *context, const struct dwarf_member *member)
{
	struct member_names *names = context;
	size_t left = sizeof(names->text) - names->used;

	if (strlen(member->name) + 6 > left)
		return snprintf(names->text + names->used, left, " ...");
	if (*member->name)
		names->used += snprintf(names->text + names->used, left,
					"%s%s", names->used ? ", " : "",
					member->name);
	return 0;
}

static bool tell_no_member(struct evaluation *e, const struct expr *expr,
			   const struct value *value, Dwarf_Die *composed)
{
	struct member_names names = {0};
	char *text = value_type_spell(&value->type);

	if (!text)
		return value_tell_memory(e, expr->pos);
	e->code = 1;
	diag_tell(e->c->diag, expr->pos, TRCERR_BADMEMBER, text, expr->name);
	free(text);
	if (!composed) {
		if (value_type_kind(&value->type) == DWARF_TYPE_POINTER)
			diag_hint(e->c->diag, "it is a pointer: '->'");
		return false;
	}
	if (dwarf_type_is_declared_only(composed))
		diag_hint(e->c->diag, "the type is only declared, no unit with "
				      "debug information defines it");
	dwarf_type_members(composed, member_name_add, &names);
	if (names.used)
		diag_hint(e->c->diag, "it has: %s", names.text);
	return false;
}

bool evaluate_member_enter(struct evaluation *e, struct value *value,
			   const struct dwarf_member *member)
{
	struct value_type type = value_type_of(&member->type), element = type;

	value_narrow(value, &type, member->bit_offset, member->bits);
	while (value_type_kind(&element) == DWARF_TYPE_ARRAY)
		element = value_type_target(&element);
	/* an enumeration's own type doesn't say so */
	value->reversed = member->is_reversed &&
			  !value_type_is_reversed(&element);
	return value_refer(e, value);
}

/* A static member is a variable of its own. */
static bool evaluate_static(struct evaluation *e, const struct expr *expr,
			    Dwarf_Die *composed, struct value *value)
{
	char *class = dwarf_type_name(composed), *name = NULL;
	struct expr variable = *expr;
	bool done = false;

	if (class && asprintf(&name, "%s::%s", class, expr->name) < 0)
		name = NULL;
	if (name && evaluate_is_variable(e, name)) {
		variable.name = name;
		value_free(value);
		done = evaluate_variable(e, &variable, value);
		value->name = expr->name;
	}
	free(name);
	free(class);
	return done;
}

bool evaluate_member(struct evaluation *e, const struct expr *expr,
		     struct value *value)
{
	struct dwarf_member member;
	Dwarf_Die composed;

	if (!evaluate(e, expr->a, value))
		return false;
	if (!value_type_composed(e->c, &value->type, &composed))
		return tell_no_member(e, expr, value, NULL);
	if (evaluate_member_find(e->c, &composed, expr->name, &member))
		return evaluate_member_enter(e, value, &member);
	if (evaluate_static(e, expr, &composed, value))
		return true;
	return !e->code && tell_no_member(e, expr, value, &composed);
}
