// SPDX-License-Identifier: GPL-2.0
#include "dwarf_lookup.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/module/module.h"
#include "dwarf_line.h"

#define FOUND_MAX	16
#define NOMINATED_MAX	64	/* by using directives */
#define PARTS_MAX	32	/* of a::b::c */
#define NOWHERE		UINT32_MAX

struct part {
	const char *text;
	size_t length;
};

struct search {
	const struct dwarf_lookup *in;
	struct part parts[PARTS_MAX];	/* the last is the name */
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

/* A namespace whose names a using directive shows as if `level` had them. */
struct nominated {
	uint32_t target, level;
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

static uint64_t enumerator_number(const struct dwarf_named *named)
{
	Dwarf_Die die = named->die;
	Dwarf_Attribute attr;
	Dwarf_Word word = 0;

	dwarf_formudata(dwarf_attr(&die, DW_AT_const_value, &attr), &word);
	return word;
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

	if (a->kind != b->kind)
		return false;
	if (dwarf_die_root(&x).addr == dwarf_die_root(&y).addr)
		return true;
	switch (a->kind) {
	case DWARF_NAMED_STATIC:
		return is_external(a) && is_external(b) && same_path(&x, &y);
	case DWARF_NAMED_ENUMERATOR:
		x = a->type;
		return enumerator_number(a) == enumerator_number(b) &&
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

static void search_take(struct search *search, const struct dwarf_named *named)
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

static bool search_is_done(const struct search *search)
{
	return search->count > search->doubtful;
}

/* ---- the names of a scope ---- */

static bool part_is(const struct part *part, const char *name)
{
	return !strncmp(part->text, name, part->length) && !name[part->length];
}

static const char *scope_path(const struct search *search, uint32_t scope)
{
	return search->unit->scopes[scope].path;
}

static bool same_scope(const struct search *search, uint32_t a, uint32_t b)
{
	return a == b || !strcmp(scope_path(search, a), scope_path(search, b));
}

/* Names of `inner` are those of `scope`: the same, or an inline namespace of
 * it. */
static bool scope_shows(const struct search *search, uint32_t scope,
			uint32_t inner)
{
	while (!same_scope(search, scope, inner)) {
		if (!search->unit->scopes[inner].is_inline)
			return false;
		inner = search->unit->scopes[inner].parent;
	}
	return true;
}

static bool file_fits(const struct search *search, Dwarf_Die *die)
{
	const char *name = dwarf_diename(&search->unit->die);
	Dwarf_Die root = dwarf_die_root(die);
	Dwarf_Attribute attr;
	Dwarf_Word number;

	if (!search->file || (name && source_path_matches(name, search->file,
							  false)))
		return true;
	return !dwarf_formudata(dwarf_attr(&root, DW_AT_decl_file, &attr),
				&number) &&
	       dwarf_line_unit_file_matches(search->in->dwarf, root.cu, number,
					    search->file);
}

static void take_constant(struct search *search, Dwarf_Die *die,
			  bool doubtful)
{
	struct dwarf_named named = { .kind = DWARF_NAMED_ENUMERATOR };
	struct dwarf_variable found;
	size_t before = search->count;

	if (!dwarf_enumerator_find(die, search->name, &found))
		return;
	named.die = found.die;
	named.type = found.type;
	search_take(search, &named);
	search->doubtful += doubtful && search->count > before;
}

static void take_variable(struct search *search, Dwarf_Die *die, bool is_union)
{
	struct dwarf_named named = { .kind = DWARF_NAMED_STATIC, .die = *die };
	struct dwarf_variable found;

	if (is_union && !dwarf_union_find(die, search->name, &found))
		return;
	if (!is_union)
		dwarf_variable_fill(&found, die, false);
	named.type = found.type;
	search_take(search, &named);
}

static void take_type(struct search *search, Dwarf_Die *die)
{
	struct dwarf_named named = { .kind = DWARF_NAMED_TYPE, .die = *die };

	if (dwarf_type_tag_fits(search->in->tag, die))
		search_take(search, &named);
}

static void take_name(struct search *search, const struct unit_name *name)
{
	Dwarf_Die die = name->die;

	if ((name->name && strcmp(name->name, search->name)) ||
	    (name->kind == UNIT_TYPE) != search->in->types ||
	    !file_fits(search, &die))
		return;
	switch (name->kind) {
	case UNIT_VARIABLE:
	case UNIT_UNION:
		take_variable(search, &die, name->kind == UNIT_UNION);
		break;
	case UNIT_ENUMERATION:
		take_constant(search, &die, name->is_doubtful);
		break;
	case UNIT_TYPE:
		take_type(search, &die);
		break;
	}
}

static void search_names(struct search *search, uint32_t scope)
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
static bool class_of(const struct search *search, uint32_t scope,
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

static void search_class(struct search *search, uint32_t scope)
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
			search_take(search, &found[i]);
}

/* ---- using directives ---- */

static uint32_t common_scope(const struct search *search, uint32_t a,
			     uint32_t b)
{
	const struct unit_scope *scopes = search->unit->scopes;

	for (; a; a = scopes[a].parent)
		for (uint32_t i = b; i; i = scopes[i].parent)
			if (same_scope(search, a, i))
				return a;
	return 0;
}

/* The using directives in `scope`, as if they were in `origin` (C++17 section
 * 10.3.4). */
static void nominate_all(const struct search *search, uint32_t scope,
			 uint32_t origin, struct nominated *list,
			 size_t *count);

static void nominate(const struct search *search, uint32_t target,
		     uint32_t origin, struct nominated *list, size_t *count)
{
	struct nominated one = { target, common_scope(search, origin, target) };

	for (size_t i = 0; i < *count; i++)
		if (list[i].target == target && list[i].level == one.level)
			return;
	if (*count == NOMINATED_MAX)
		return;
	list[(*count)++] = one;
	nominate_all(search, target, origin, list, count);
}

static void nominate_all(const struct search *search, uint32_t scope,
			 uint32_t origin, struct nominated *list, size_t *count)
{
	const struct unit *unit = search->unit;

	for (size_t i = 0; i < unit->using_count; i++)
		if (!unit->usings[i].alias &&
		    scope_shows(search, scope, unit->usings[i].scope))
			nominate(search, unit->usings[i].target, origin, list,
				 count);
}

/* What the blocks of the function bring in. */
struct imports {
	const struct search *search;
	uint32_t home;
	struct nominated *list;	/* of using directives; or NULL, for the */
	size_t *count;
	const struct part *alias;	/* scope of this name */
	uint32_t scope;
};

static int import_take(void *context, Dwarf_Die *die)
{
	struct imports *in = context;
	const char *name = dwarf_diename(die);
	Dwarf_Attribute attr;
	Dwarf_Die import;
	uint32_t target;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_import, &attr), &import) ||
	    !dwarf_unit_scope(in->search->unit, &import, &target))
		return 0;
	if (in->list && dwarf_tag(die) == DW_TAG_imported_module)
		nominate(in->search, target, in->home, in->list, in->count);
	if (!name)
		name = dwarf_diename(&import);
	if (in->alias && dwarf_tag(die) == DW_TAG_imported_declaration &&
	    in->scope == NOWHERE && name && part_is(in->alias, name))
		in->scope = target;
	return 0;
}

static void each_import(struct imports *in)
{
	const struct dwarf_scopes *scopes = in->search->in->scopes;

	for (size_t i = in->search->function.addr ? scopes->count : 0; i--; ) {
		dwarf_scope_each(scopes, i, import_take, in);
		if (dwarf_scope_is_function(scopes, i))
			return;
	}
}

static size_t nominate_from(const struct search *search, uint32_t home,
			    struct nominated list[NOMINATED_MAX])
{
	size_t count = 0;
	struct imports in = {
		.search = search, .home = home, .list = list, .count = &count,
	};

	each_import(&in);
	for (uint32_t at = home; ; at = search->unit->scopes[at].parent) {
		nominate_all(search, at, at, list, &count);
		if (!at)
			return count;
	}
}

/* ---- names without a qualifier ---- */

/* The scope of the unit that has the path, or the longest part of it. */
static uint32_t scope_of_path(const struct unit *unit, const char *path)
{
	uint32_t best = 0;
	size_t most = 0;

	for (size_t i = 1; i < unit->scope_count; i++) {
		size_t length = strlen(unit->scopes[i].path);

		if (length > most && !strncmp(unit->scopes[i].path, path,
					      length) &&
		    (!path[length] || path[length] == ':')) {
			most = length;
			best = i;
		}
	}
	return best;
}

static void search_outwards(struct search *search)
{
	uint32_t home = scope_of_path(search->unit, search->home);
	struct nominated list[NOMINATED_MAX];
	size_t count = nominate_from(search, home, list);

	for (uint32_t at = home; ; at = search->unit->scopes[at].parent) {
		if (search->unit->scopes[at].kind == UNIT_CLASS)
			search_class(search, at);
		else
			search_names(search, at);
		for (size_t i = 0; i < count; i++)
			if (same_scope(search, list[i].level, at))
				search_names(search, list[i].target);
		if (search_is_done(search) || !at)
			return;
	}
}

/* ---- names with a qualifier ---- */

static const char *scope_name(const struct search *search, uint32_t scope)
{
	const char *path = scope_path(search, scope);
	size_t outer = strlen(scope_path(search,
					 search->unit->scopes[scope].parent));

	return path + (outer ? outer + 2 : 0);
}

/* A base class, or one that a base class declares. */
static uint32_t class_in_class(const struct search *search, uint32_t scope,
			       const struct part *part)
{
	struct dwarf_named found[2];
	char *name = strndup(part->text, part->length);
	uint32_t inner = NOWHERE;
	Dwarf_Die class;

	if (name && class_of(search, scope, &class) &&
	    !dwarf_member_find(search->in->dwarf, &class, name, true, found))
		dwarf_unit_scope(search->unit, &found[0].die, &inner);
	free(name);
	return inner;
}

static uint32_t scope_inside(const struct search *search, uint32_t scope,
			     const struct part *part)
{
	const struct unit *unit = search->unit;

	for (size_t i = 1; i < unit->scope_count; i++)
		if (part_is(part, scope_name(search, i)) &&
		    scope_shows(search, scope, unit->scopes[i].parent))
			return i;
	for (size_t i = 0; i < unit->using_count; i++)
		if (unit->usings[i].alias &&
		    part_is(part, unit->usings[i].alias) &&
		    scope_shows(search, scope, unit->usings[i].scope))
			return unit->usings[i].target;
	return unit->scopes[scope].kind == UNIT_CLASS ?
	       class_in_class(search, scope, part) : NOWHERE;
}

/* In the scope, or else where its using directives lead. */
static uint32_t scope_below(const struct search *search, uint32_t scope,
			    const struct part *part)
{
	struct nominated list[NOMINATED_MAX];
	uint32_t found = scope_inside(search, scope, part);
	size_t count = 0;

	if (found == NOWHERE)
		nominate_all(search, scope, scope, list, &count);
	for (size_t i = 0; i < count && found == NOWHERE; i++)
		found = scope_inside(search, list[i].target, part);
	return found;
}

/* A class has its own name in itself, without template arguments, too. */
static bool is_injected(const struct search *search, uint32_t scope,
			const struct part *part)
{
	const char *name = scope_name(search, scope);

	return search->unit->scopes[scope].kind == UNIT_CLASS &&
	       !strncmp(name, part->text, part->length) &&
	       (!name[part->length] || name[part->length] == '<');
}

static uint32_t scope_outwards(const struct search *search,
			       const struct part *part)
{
	uint32_t home = scope_of_path(search->unit, search->home);
	struct nominated list[NOMINATED_MAX];
	size_t count = nominate_from(search, home, list);
	struct imports in = {
		.search = search, .alias = part, .scope = NOWHERE,
	};
	uint32_t found;

	each_import(&in);
	found = in.scope;
	for (uint32_t at = home; found == NOWHERE;
	     at = search->unit->scopes[at].parent) {
		found = at && is_injected(search, at, part) ?
			at : scope_inside(search, at, part);
		for (size_t i = 0; i < count && found == NOWHERE; i++)
			if (same_scope(search, list[i].level, at))
				found = scope_inside(search, list[i].target,
						     part);
		if (!at)
			break;
	}
	return found;
}

static void search_qualified(struct search *search)
{
	uint32_t scope = search->absolute || search->file ?
				 0 : scope_outwards(search, &search->parts[0]);
	struct nominated list[NOMINATED_MAX];
	size_t first = search->absolute || search->file ? 0 : 1, count = 0;

	for (size_t i = first; i + 1 < search->part_count; i++)
		if (scope != NOWHERE)
			scope = scope_below(search, scope, &search->parts[i]);
	if (scope == NOWHERE)
		return;
	if (search->unit->scopes[scope].kind == UNIT_CLASS)
		search_class(search, scope);
	else
		search_names(search, scope);
	if (search->count || search->unit->scopes[scope].kind != UNIT_NAMESPACE)
		return;
	nominate_all(search, scope, scope, list, &count);
	for (size_t i = 0; i < count; i++)
		search_names(search, list[i].target);
}

/* The scopes before the first one of the name were left out. */
static void search_suffix(struct search *search)
{
	const struct part *first = &search->parts[0];
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

static void search_unit(struct search *search, struct unit *unit)
{
	search->unit = unit;
	if (search->part_count > 1 || search->absolute || search->file)
		search_qualified(search);
	else
		search_outwards(search);
}

static int each_unit(struct search *search,
		     void (*look)(struct search *search))
{
	Dwarf_CU *position = NULL;
	struct unit *unit;
	bool failed;

	search->function.addr = NULL;
	while ((unit = dwarf_unit_next(search->in->dwarf, &position,
				       &failed))) {
		search->unit = unit;
		look(search);
	}
	return failed || search->failed ? -ENOMEM : 0;
}

static void look_as_usual(struct search *search)
{
	search_unit(search, search->unit);
}

/* A declaration elsewhere would mean the one that all units can name. */
static void prefer_external(struct search *search)
{
	size_t kept = 0;

	for (size_t i = 0; i < search->count; i++)
		if (is_external(&search->found[i]))
			search->found[kept++] = search->found[i];
	if (kept)
		search->count = kept;
}

static int search_program(struct search *search)
{
	int code = each_unit(search, look_as_usual);

	if (!code && !search->count && search->part_count > 1 &&
	    !search->absolute)
		code = each_unit(search, search_suffix);
	if (!search->file)
		prefer_external(search);
	return code;
}

/* In front of other units: in those of the function and of its source, of which
 * the linker's optimization makes two. */
static void search_own(struct search *search)
{
	const struct dwarf_scopes *scopes = search->in->scopes;
	struct unit *own = scopes ? scopes->unit : NULL;

	if (search->source)
		search_unit(search, search->source);
	if (!search->count && own && own != search->source)
		search_unit(search, own);
	if (search->count || search->part_count == 1 || search->absolute)
		return;
	for (int i = 0; i < 2; i++) {
		search->unit = i ? own : search->source;
		if (search->unit && !search->count)
			search_suffix(search);
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

static bool has_symbol(struct dwarf_file *dwarf, Dwarf_Die *die)
{
	const char *name = dwarf_die_linkage(die);
	bool others;

	return name && module_symbol_find(dwarf->module, name, MODULE_DATA,
					  &others);
}

/* A variable of one unit that has no place is nowhere; other units can't have
 * it, unless the linker's optimization put code of this one there. */
int dwarf_lookup_define(struct dwarf_file *dwarf,
			const struct dwarf_scopes *scopes,
			struct dwarf_named *named)
{
	Dwarf_Die root = dwarf_die_root(&named->die), whole;
	Dwarf_CU *position = NULL;
	struct unit *unit = NULL;
	bool failed = false;

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
	    has_symbol(dwarf, &named->die))
		return 0;
	while ((unit = dwarf_unit_next(dwarf, &position, &failed)))
		if (define_in(unit, named))
			return 0;
	return failed ? -ENOMEM : 0;
}

/* ---- the name ---- */

/* "file.c:name": the first single colon. */
static const char *file_colon(const char *name)
{
	for (const char *p = strchr(name, ':'); p; p = strchr(p, ':')) {
		if (p[1] != ':')
			return p > name ? p : NULL;
		p += 2;
	}
	return NULL;
}

static int parts_read(struct search *search, const char *name)
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
			(struct part){ start, p - start };
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

static int search_begin(struct search *search)
{
	const struct dwarf_scopes *scopes = search->in->scopes;
	const char *name = search->in->name, *colon = file_colon(name);

	if (colon) {
		search->file = strndup(name, colon - name);
		if (!search->file)
			return -ENOMEM;
		name = colon + 1;
	}
	search->absolute = !strncmp(name, "::", 2);
	if (scopes && scopes->count) {
		search->function = scopes->dies[dwarf_scopes_function(scopes)];
		search->home = home_of(search->in->dwarf, &search->source,
				       &search->function);
	} else {
		search->home = strdup("");
		search->source = scopes ? scopes->unit : NULL;
	}
	if (!search->home)
		return -ENOMEM;
	return parts_read(search, name + (search->absolute ? 2 : 0));
}

static int search_finish(struct search *search, struct dwarf_named found[2])
{
	int code = 0;

	if (search->failed)
		return -ENOMEM;
	if (!search->count)
		return -ENOENT;
	for (size_t i = 0; i < 2 && i < search->count && !code; i++) {
		code = dwarf_lookup_define(search->in->dwarf,
					   search->in->scopes,
					   &search->found[i]);
		found[i] = search->found[i];
	}
	if (code || search->count == 1)
		return code;
	return -ENOTUNIQ;
}

int dwarf_lookup_find(const struct dwarf_lookup *lookup,
		      struct dwarf_named found[2])
{
	struct search search = { .in = lookup };
	int code = search_begin(&search);

	if (!code)
		search_own(&search);
	if (!code && !search.count)
		code = search_program(&search);
	if (!code)
		code = search_finish(&search, found);
	free(search.file);
	free(search.home);
	return code;
}
