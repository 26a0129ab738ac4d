// SPDX-License-Identifier: GPL-2.0
#include "dwarf_lookup.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dwarf_lines.h"

#define FOUND_MAX	16
#define NOMINATED_MAX	64	/* by using directives */
#define PARTS_MAX	32	/* of a::b::c */
#define NOWHERE		UINT32_MAX

struct lookup_part {
	const char *text;
	size_t length;
};

struct lookup_search {
	const struct dwarf_lookup *in;
	struct lookup_part parts[PARTS_MAX];	/* the last is the name */
	size_t part_count;
	const char *name;
	bool absolute;		/* "::x" */
	char *file;		/* "file.c:x"; NULL */
	char *home;		/* the scope that asks, "ns::cls" */
	Dwarf_Die function;	/* that asks; addr NULL: none */
	struct unit *source;	/* has the function's source; NULL */
	struct unit *unit;	/* looked into */
	struct dwarf_named found[FOUND_MAX];
	size_t count;
	size_t doubtful;	/* of these: perhaps not declared there */
	bool failed;		/* out of memory */
};

/* What is around the place where a name is used */
struct outwards {
	const struct lookup_search *search;
	uint32_t home;		/* the scope there */
	uint32_t alias;		/* what the first part of the name is another
				 * name of, in a block of the function */
	/* namespaces whose names a using directive shows as if `level` had
	 * them */
	struct nominated {
		uint32_t target, level;
	} list[NOMINATED_MAX];
	size_t count;
};

/* ---- what was found ---- */

static bool same_path(const Dwarf_Die *a, const Dwarf_Die *b)
{
	Dwarf_Die x = *a, y = *b;
	char *path, *other;
	bool same;

	x = dwarf_die_root(&x);
	y = dwarf_die_root(&y);
	path = dwarf_type_name(&x);
	other = dwarf_type_name(&y);
	same = path && other && !strcmp(path, other);
	free(path);
	free(other);
	return same;
}

static bool is_external(const struct dwarf_named *named)
{
	Dwarf_Die die = named->die;

	return named->kind == DWARF_NAMED_STATIC &&
	       dwarf_die_flag(&die, DW_AT_external);
}

/* The entries mean the same variable, enumerator or type. */
static bool named_same(const struct dwarf_named *a, const struct dwarf_named *b)
{
	Dwarf_Die x = a->die, y = b->die;
	uint64_t number = 0, other = 0;

	if (a->kind != b->kind)
		return false;
	if (dwarf_die_root(&x).addr == dwarf_die_root(&y).addr)
		return true;
	switch (a->kind) {
	case DWARF_NAMED_STATIC:
		return is_external(a) && is_external(b) && same_path(&x, &y);
	case DWARF_NAMED_ENUMERATOR:
		dwarf_die_number(&x, DW_AT_const_value, &number);
		dwarf_die_number(&y, DW_AT_const_value, &other);
		x = a->type;
		return number == other &&
		       (!dwarf_diename(&x) || same_path(&a->type, &b->type));
	case DWARF_NAMED_TYPE:
		return dwarf_type_same(&x, &y);
	default:
		return false;
	}
}

/* A definition before a declaration. */
static int named_rank(const struct dwarf_named *named)
{
	Dwarf_Die die = named->die;

	if (named->kind == DWARF_NAMED_TYPE)
		return !dwarf_type_is_declared_only(&die);
	return named->kind == DWARF_NAMED_STATIC ?
	       dwarf_variable_rank(&die, 0) > 0 : 1;
}

static void lookup_found(struct lookup_search *search,
			 const struct dwarf_named *named)
{
	for (size_t i = 0; i < search->count; i++) {
		if (!named_same(&search->found[i], named))
			continue;
		if (named_rank(named) > named_rank(&search->found[i]))
			search->found[i] = *named;
		return;
	}
	if (search->count < FOUND_MAX)
		search->found[search->count++] = *named;
}

/* ---- the names of a scope ---- */

static bool part_is(const struct lookup_part *part, const char *name)
{
	return !strncmp(part->text, name, part->length) && !name[part->length];
}

static const char *scope_path(const struct lookup_search *search,
			      uint32_t scope)
{
	return search->unit->scopes[scope].path;
}

static bool same_scope(const struct lookup_search *search, uint32_t a,
		       uint32_t b)
{
	return a == b || !strcmp(scope_path(search, a), scope_path(search, b));
}

/* Names of `inner` are those of `scope`: the same, or an inline namespace of
 * it. */
static bool scope_shows(const struct lookup_search *search, uint32_t scope,
			uint32_t inner)
{
	while (!same_scope(search, scope, inner)) {
		if (!search->unit->scopes[inner].is_inline)
			return false;
		inner = search->unit->scopes[inner].parent;
	}
	return true;
}

static bool file_fits(const struct lookup_search *search, Dwarf_Die *die)
{
	const char *name = dwarf_diename(&search->unit->die);
	Dwarf_Die root = dwarf_die_root(die);
	uint64_t number;

	if (!search->file || (name && source_path_matches(name, search->file,
							  false)))
		return true;
	return dwarf_die_number(&root, DW_AT_decl_file, &number) &&
	       dwarf_line_unit_file_matches(search->in->dwarf, root.cu, number,
					    search->file);
}

static void take_name(struct lookup_search *search,
		      const struct unit_name *name)
{
	struct dwarf_named named = {
		.kind = DWARF_NAMED_STATIC, .die = name->die,
	};
	struct dwarf_variable found;
	size_t before = search->count;
	Dwarf_Die die = name->die;

	if ((name->name && strcmp(name->name, search->name)) ||
	    (name->kind == UNIT_TYPE) != search->in->types ||
	    !file_fits(search, &die))
		return;
	switch (name->kind) {
	case UNIT_VARIABLE:
		named.type = dwarf_type_declared(&die);
		break;
	case UNIT_UNION:
		if (!dwarf_union_find(&die, search->name, &found))
			return;
		named.type = found.type;
		break;
	case UNIT_ENUMERATION:
		if (!dwarf_enumerator_find(&die, search->name, &found))
			return;
		named.kind = DWARF_NAMED_ENUMERATOR;
		named.die = found.die;
		named.type = found.type;
		break;
	case UNIT_TYPE:
		if (!dwarf_type_tag_fits(search->in->tag, &die))
			return;
		named.kind = DWARF_NAMED_TYPE;
		break;
	}
	lookup_found(search, &named);
	search->doubtful += name->kind == UNIT_ENUMERATION &&
			    name->is_doubtful && search->count > before;
}

static void search_names(struct lookup_search *search, uint32_t scope)
{
	const struct unit_name *name;
	uint32_t position = 0;

	while ((name = dwarf_unit_name_next(search->unit, search->name,
					    &position)))
		if (scope_shows(search, scope, name->scope))
			take_name(search, name);
	search->failed |= search->unit->failed;
}

/* The definition of the class; a unit may have declarations as well. */
static bool class_of(const struct lookup_search *search, uint32_t scope,
		     Dwarf_Die *class)
{
	const struct unit *unit = search->unit;

	for (size_t i = 0; i < unit->scope_count; i++) {
		if (unit->scopes[i].kind != UNIT_CLASS ||
		    !same_scope(search, i, scope))
			continue;
		dwarf_type_peel(&unit->scopes[i].die, class, NULL);
		if (!dwarf_type_is_declared_only(class))
			return true;
	}
	return false;
}

static void search_class(struct lookup_search *search, uint32_t scope)
{
	struct dwarf_named found[2];
	Dwarf_Die class;
	int code;

	if (!class_of(search, scope, &class))
		return;
	code = dwarf_member_find(search->in->dwarf, &class, search->name,
				 search->in->types, found);
	if (code == -ENOENT)
		return;
	for (int i = 0; i <= (code == -ENOTUNIQ); i++)
		if (file_fits(search, &found[i].die))
			lookup_found(search, &found[i]);
}

/* ---- using directives ---- */

/* The using directives in `scope`, as if they were in `origin` (C++17 section
 * 10.3.4). */
static void nominate_all(struct outwards *o, uint32_t scope, uint32_t origin);

static void nominate(struct outwards *o, uint32_t target, uint32_t origin)
{
	const struct unit_scope *scopes = o->search->unit->scopes;
	struct nominated one = { target, 0 };

	/* the innermost scope that both are in */
	for (uint32_t a = origin; a && !one.level; a = scopes[a].parent)
		for (uint32_t b = target; b; b = scopes[b].parent)
			if (same_scope(o->search, a, b)) {
				one.level = a;
				break;
			}
	for (size_t i = 0; i < o->count; i++)
		if (o->list[i].target == target &&
		    o->list[i].level == one.level)
			return;
	if (o->count == NOMINATED_MAX)
		return;
	o->list[o->count++] = one;
	nominate_all(o, target, origin);
}

static void nominate_all(struct outwards *o, uint32_t scope, uint32_t origin)
{
	const struct unit *unit = o->search->unit;

	for (size_t i = 0; i < unit->using_count; i++)
		if (!unit->usings[i].alias &&
		    scope_shows(o->search, scope, unit->usings[i].scope))
			nominate(o, unit->usings[i].target, origin);
}

/* What the blocks of the function bring in. */
static int import_take(void *context, Dwarf_Die *die)
{
	struct outwards *o = context;
	const char *name = dwarf_diename(die);
	Dwarf_Die import;
	uint32_t target;

	if (!dwarf_die_refer(die, DW_AT_import, &import) ||
	    !dwarf_unit_scope(o->search->unit, &import, &target))
		return 0;
	if (dwarf_tag(die) == DW_TAG_imported_module)
		nominate(o, target, o->home);
	if (!name)
		name = dwarf_diename(&import);
	if (dwarf_tag(die) == DW_TAG_imported_declaration &&
	    o->alias == NOWHERE && name && part_is(&o->search->parts[0], name))
		o->alias = target;
	return 0;
}

static void outwards_read(struct outwards *o,
			  const struct lookup_search *search)
{
	const struct dwarf_scopes *scopes = search->in->scopes;
	const struct unit *unit = search->unit;
	size_t most = 0;

	*o = (struct outwards){ .search = search, .alias = NOWHERE };
	/* home is the scope that has the path, or the longest part of it */
	for (size_t i = 1; i < unit->scope_count; i++) {
		const char *path = unit->scopes[i].path;
		size_t length = strlen(path);

		if (length > most && !strncmp(path, search->home, length) &&
		    (!search->home[length] || search->home[length] == ':')) {
			most = length;
			o->home = i;
		}
	}
	for (size_t i = search->function.addr ? scopes->count : 0; i--; ) {
		dwarf_scope_each(scopes, i, import_take, o);
		if (dwarf_scope_is_function(scopes, i))
			break;
	}
	for (uint32_t at = o->home; ; at = unit->scopes[at].parent) {
		nominate_all(o, at, at);
		if (!at)
			return;
	}
}

/* ---- names without a qualifier ---- */

static void search_outwards(struct lookup_search *search)
{
	struct outwards o;

	outwards_read(&o, search);
	for (uint32_t at = o.home; ; at = search->unit->scopes[at].parent) {
		if (search->unit->scopes[at].kind == UNIT_CLASS)
			search_class(search, at);
		else
			search_names(search, at);
		for (size_t i = 0; i < o.count; i++)
			if (same_scope(search, o.list[i].level, at))
				search_names(search, o.list[i].target);
		if (search->count > search->doubtful || !at)
			return;
	}
}

/* ---- names with a qualifier ---- */

static uint32_t scope_inside(const struct lookup_search *search,
			     uint32_t scope, const struct lookup_part *part)
{
	const struct unit *unit = search->unit;
	struct dwarf_named found[2];
	uint32_t inner = NOWHERE;
	Dwarf_Die class;
	char *name;

	for (size_t i = 1; i < unit->scope_count; i++)
		if (part_is(part, unit->scopes[i].name) &&
		    scope_shows(search, scope, unit->scopes[i].parent))
			return i;
	for (size_t i = 0; i < unit->using_count; i++)
		if (unit->usings[i].alias &&
		    part_is(part, unit->usings[i].alias) &&
		    scope_shows(search, scope, unit->usings[i].scope))
			return unit->usings[i].target;
	if (unit->scopes[scope].kind != UNIT_CLASS ||
	    !class_of(search, scope, &class))
		return NOWHERE;
	/* a base class, or one that a base class declares */
	name = strndup(part->text, part->length);
	if (name && !dwarf_member_find(search->in->dwarf, &class, name, true,
				       found))
		dwarf_unit_scope(unit, &found[0].die, &inner);
	free(name);
	return inner;
}

/* The scope that the first part of the name means */
static uint32_t scope_outwards(const struct lookup_search *search)
{
	const struct lookup_part *part = &search->parts[0];
	const struct unit_scope *scopes = search->unit->scopes;
	struct outwards o;
	uint32_t found;

	outwards_read(&o, search);
	found = o.alias;
	for (uint32_t at = o.home; found == NOWHERE; at = scopes[at].parent) {
		const char *name = scopes[at].name;

		/* a class has its own name in itself, without template
		 * arguments, too */
		if (at && scopes[at].kind == UNIT_CLASS &&
		    !strncmp(name, part->text, part->length) &&
		    (!name[part->length] || name[part->length] == '<'))
			found = at;
		else
			found = scope_inside(search, at, part);
		for (size_t i = 0; i < o.count && found == NOWHERE; i++)
			if (same_scope(search, o.list[i].level, at))
				found = scope_inside(search, o.list[i].target,
						     part);
		if (!at)
			break;
	}
	return found;
}

static void search_qualified(struct lookup_search *search)
{
	bool absolute = search->absolute || search->file;
	uint32_t scope = absolute ? 0 : scope_outwards(search);
	struct outwards o = { .search = search };

	for (size_t i = !absolute; i + 1 < search->part_count &&
				   scope != NOWHERE; i++) {
		const struct lookup_part *part = &search->parts[i];
		uint32_t inner = scope_inside(search, scope, part);

		/* else in the namespaces of the scope's using directives */
		o.count = 0;
		if (inner == NOWHERE)
			nominate_all(&o, scope, scope);
		for (size_t k = 0; k < o.count && inner == NOWHERE; k++)
			inner = scope_inside(search, o.list[k].target, part);
		scope = inner;
	}
	if (scope == NOWHERE)
		return;
	if (search->unit->scopes[scope].kind == UNIT_CLASS)
		search_class(search, scope);
	else
		search_names(search, scope);
	if (search->count || search->unit->scopes[scope].kind != UNIT_NAMESPACE)
		return;
	o.count = 0;
	nominate_all(&o, scope, scope);
	for (size_t i = 0; i < o.count; i++)
		search_names(search, o.list[i].target);
}

/* The scopes before the first one of the name were left out. */
static void search_suffix(struct lookup_search *search)
{
	const struct lookup_part *first = &search->parts[0];
	size_t wanted = search->parts[search->part_count - 1].text - 2 -
			first->text;
	const struct unit_name *name;
	uint32_t position = 0;

	while ((name = dwarf_unit_name_next(search->unit, search->name,
					    &position))) {
		const char *path = scope_path(search, name->scope);
		size_t length = strlen(path);

		if (length >= wanted &&
		    !strncmp(path + length - wanted, first->text, wanted) &&
		    (length == wanted || path[length - wanted - 1] == ':'))
			take_name(search, name);
	}
	search->failed |= search->unit->failed;
}

/* ---- units ---- */

/* With `suffix`, scopes before the name may be left out. */
static void search_unit(struct lookup_search *search, bool suffix)
{
	if (suffix)
		search_suffix(search);
	else if (search->part_count > 1 || search->absolute || search->file)
		search_qualified(search);
	else
		search_outwards(search);
}

static int search_program(struct lookup_search *search, bool partly)
{
	bool failed = false;
	size_t kept = 0;

	search->function.addr = NULL;
	for (int suffix = 0; suffix <= partly && !search->count; suffix++) {
		Dwarf_CU *position = NULL;

		while ((search->unit = dwarf_unit_next(search->in->dwarf,
						       &position, &failed)))
			search_unit(search, suffix);
		if (failed || search->failed)
			return -ENOMEM;
	}
	/* a declaration elsewhere would mean the one that all units can name */
	for (size_t i = 0; i < search->count && !search->file; i++)
		if (is_external(&search->found[i]))
			search->found[kept++] = search->found[i];
	if (kept)
		search->count = kept;
	return 0;
}

/* Before other units: in those of the function and of its source, of which the
 * linker's optimization makes two. */
static void search_own(struct lookup_search *search, bool partly)
{
	const struct dwarf_scopes *scopes = search->in->scopes;
	struct unit *units[] = { search->source, scopes ? scopes->unit : NULL };

	for (int suffix = 0; suffix <= partly; suffix++)
		for (int i = 0; i < 2; i++) {
			search->unit = units[i];
			if (units[i] && !search->count &&
			    (!i || units[1] != units[0]))
				search_unit(search, suffix);
		}
}

/* ---- definitions ---- */

/* What completes the declaration in the unit. */
static bool define_in(struct unit *unit, struct dwarf_named *named)
{
	const char *name = dwarf_diename(&named->die);
	const struct unit_name *other;
	uint32_t position = 0;

	while (name && (other = dwarf_unit_name_next(unit, name, &position))) {
		struct dwarf_named candidate = {
			.kind = DWARF_NAMED_STATIC, .die = other->die,
		};

		if (other->kind == UNIT_VARIABLE && named_rank(&candidate) &&
		    named_same(named, &candidate)) {
			named->die = other->die;
			return true;
		}
	}
	return false;
}

/* A variable of one unit that has no place is nowhere; other units can't have
 * it, unless the linker's optimization put code of this one there. */
int dwarf_lookup_define(struct dwarf_file *dwarf,
			const struct dwarf_scopes *scopes,
			struct dwarf_named *named)
{
	Dwarf_Die root = dwarf_die_root(&named->die), whole;
	const char *linkage = dwarf_die_linkage(&named->die);
	Dwarf_CU *position = NULL;
	struct unit *unit = NULL;
	bool failed = false, others;

	if (named->kind != DWARF_NAMED_STATIC || named_rank(named))
		return 0;
	if (dwarf_diecu(&root, &whole, NULL, NULL)) {
		unit = dwarf_unit_get(dwarf, &whole);
		if (!unit)
			return -ENOMEM;
	}
	if ((unit && define_in(unit, named)) ||
	    (scopes && scopes->unit && define_in(scopes->unit, named)) ||
	    (!is_external(named) && (!scopes || scopes->unit == unit)) ||
	    (linkage && module_symbol_find(dwarf->module, linkage, MODULE_DATA,
					   &others)))
		return 0;
	while ((unit = dwarf_unit_next(dwarf, &position, &failed)))
		if (define_in(unit, named))
			return 0;
	return failed ? -ENOMEM : 0;
}

/* ---- the name ---- */

/* "a::b<c::d>::x" */
static int lookup_parts_read(struct lookup_search *search, const char *name)
{
	const char *start = name;
	int depth = 0;

	for (const char *p = name; ; p++) {
		bool colons = !depth && p[0] == ':' && p[1] == ':';

		depth += *p == '<' ? 1 : *p == '>' ? -1 : 0;
		if (*p && !colons)
			continue;
		if (search->part_count == PARTS_MAX)
			return -ENOENT;
		search->parts[search->part_count++] =
			(struct lookup_part){ start, p - start };
		if (!*p)
			break;
		start = p + 2;
		p++;
	}
	search->name = start;
	return *start ? 0 : -ENOENT;
}

/* The scope around a function; of one in another function, as of a lambda, the
 * one around that. */
static char *home_of(struct dwarf_file *dwarf, struct unit **source,
		     Dwarf_Die *function)
{
	Dwarf_Die root = dwarf_die_root(function), whole, at;
	uint32_t scope;

	*source = dwarf_diecu(&root, &whole, NULL, NULL) ?
			  dwarf_unit_get(dwarf, &whole) : NULL;
	if (!*source || dwarf_die_is_c(&whole))
		return strdup("");
	if (dwarf_unit_scope(*source, &root, &scope))
		return strdup((*source)->scopes[scope].path);
	for (at = whole; dwarf_die_enter(&at, root.addr) &&
			 at.addr != root.addr; ) {
		Dwarf_Die outer = dwarf_die_root(&at);

		if (dwarf_tag(&at) == DW_TAG_subprogram &&
		    dwarf_unit_scope(*source, &outer, &scope))
			return strdup((*source)->scopes[scope].path);
	}
	return strdup("");
}

int dwarf_lookup_find(const struct dwarf_lookup *lookup,
		      struct dwarf_named found[2])
{
	struct lookup_search search = { .in = lookup };
	const struct dwarf_scopes *scopes = lookup->scopes;
	const char *name = lookup->name, *colon = strchr(name, ':');
	bool partly;
	int code = 0;

	/* "file.c:name": the first single colon */
	while (colon && colon[1] == ':')
		colon = strchr(colon + 2, ':');
	if (colon && colon > name) {
		search.file = strndup(name, colon - name);
		code = search.file ? 0 : -ENOMEM;
		name = colon + 1;
	}
	search.absolute = !strncmp(name, "::", 2);
	if (scopes && scopes->count) {
		search.function = scopes->dies[dwarf_scopes_function(scopes)];
		search.home = home_of(lookup->dwarf, &search.source,
				      &search.function);
	} else {
		search.home = strdup("");
		search.source = scopes ? scopes->unit : NULL;
	}
	if (!code)
		code = search.home ? lookup_parts_read(
					     &search,
					     name + (search.absolute ? 2 : 0))
				   : -ENOMEM;
	partly = search.part_count > 1 && !search.absolute;
	if (!code)
		search_own(&search, partly);
	if (!code && !search.count)
		code = search_program(&search, partly);
	if (!code && search.failed)
		code = -ENOMEM;
	if (!code && !search.count)
		code = -ENOENT;
	for (size_t i = 0; i < 2 && i < search.count && !code; i++) {
		code = dwarf_lookup_define(lookup->dwarf, scopes,
					   &search.found[i]);
		found[i] = search.found[i];
	}
	if (!code && search.count > 1)
		code = -ENOTUNIQ;
	free(search.file);
	free(search.home);
	return code;
}
