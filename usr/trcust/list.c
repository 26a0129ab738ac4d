// SPDX-License-Identifier: GPL-2.0
#include "list.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "functions.h"
#include "input.h"
#include "scope.h"
#include "lib/array.h"
#include "lib/guard.h"
#include "lib/json.h"
#include "trcust/compile/analysis.h"
#include "trcust/tsf/keyword.h"

/* ---- text in columns ---- */

#define LIST_COLUMNS	5
#define LIST_WIDTH_MAX	48	/* of a column: a longer word moves the others */

struct list_row {
	char *words[LIST_COLUMNS];
};

struct list_rows {
	struct list_row *rows;
	size_t count, room;
	bool failed;
};

/* Adds a row of at most LIST_COLUMNS words, "" for nothing. */
static void rows_add(struct list_rows *rows, const char *const *words,
		     size_t count)
{
	struct list_row *row;

	if (!array_grow(&rows->rows, rows->count, &rows->room, sizeof(*row))) {
		rows->failed = true;
		return;
	}
	row = &rows->rows[rows->count++];
	*row = (struct list_row) { 0 };
	for (size_t i = 0; i < count; i++) {
		row->words[i] = strdup(words[i]);
		rows->failed |= !row->words[i];
	}
}

static void rows_print(struct list_rows *rows, const char *indent)
{
	size_t width[LIST_COLUMNS] = { 0 }, length, last;

	for (size_t i = 0; i < rows->count; i++)
		for (size_t k = 0; k < LIST_COLUMNS; k++) {
			const char *word = rows->rows[i].words[k];

			length = word ? strlen(word) : 0;
			if (length > width[k] && length <= LIST_WIDTH_MAX)
				width[k] = length;
		}
	for (size_t i = 0; i < rows->count && !rows->failed; i++) {
		char **words = rows->rows[i].words;

		for (last = LIST_COLUMNS; last && (!words[last - 1] ||
						   !*words[last - 1]); last--)
			;
		fputs(indent, stdout);
		for (size_t k = 0; k < last; k++) {
			const char *word = words[k] ? words[k] : "";

			safe_text_print(stdout, word, false);
			length = strlen(word);
			if (k + 1 < last && width[k])
				printf("%*s", (int)(length < width[k] ?
						    width[k] - length : 0) + 2,
				       "");
		}
		putchar('\n');
	}
	for (size_t i = 0; i < rows->count; i++)
		for (size_t k = 0; k < LIST_COLUMNS; k++)
			free(rows->rows[i].words[k]);
	rows->count = 0;
}

/* ---- what is listed ---- */

struct listing {
	const struct settings *s;
	const char *module;
	struct compilation c;
	struct list_rows rows;
	struct text text;
	struct json json;	/* --json: in text */
};

static void list_hex(struct listing *l, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%#" PRIx64, value);
	json_string(&l->json, key, text);
}

static int list_no_memory(struct listing *l)
{
	return diag_no_memory(l->c.diag, (struct srcpos){ 0 });
}

/* Where a kernel without a file has its code is known when it runs. */
static bool has_addresses(const struct listing *l)
{
	return l->c.module->elf || l->c.map;
}

/* "app.c:12", or "" */
static const char *list_source(struct listing *l, const char *file, uint32_t line,
			       char *text, size_t size)
{
	if (l->s->json) {
		json_string(&l->json, "file", file);
		json_number(&l->json, "line", line);
	}
	snprintf(text, size, "%s:%u", source_path_base(file), line);
	return text;
}

static void list_function(struct listing *l, const struct named_function *f)
{
	uint64_t entry = f->symbol->address;
	char address[24], bytes[24], source[320] = "";
	const char *name = f->shown ? f->shown : f->name, *file;
	struct dwarf_file *dwarf = l->c.dwarf;
	char *type = dwarf ? function_signature(dwarf, entry) : NULL;
	uint32_t line;

	if (l->s->json) {
		json_open(&l->json, NULL, '{');
		json_string(&l->json, "name", name);
		json_string(&l->json, "linkage", f->name);
		json_string(&l->json, "tp", f->tp);
		if (has_addresses(l)) {
			list_hex(l, "address", entry);
			json_number(&l->json, "bytes", f->symbol->size);
			json_string(&l->json, "scope",
				    f->symbol->bind == STB_LOCAL ? "local" :
				    "global");
		}
		if (type)
			json_string(&l->json, "type", type);
	}
	if (dwarf && dwarf_line_of(dwarf, entry, &file, &line))
		list_source(l, file, line, source, sizeof(source));
	if (l->s->json) {
		json_close(&l->json, '}');
	} else {
		snprintf(address, sizeof(address), "%#" PRIx64, entry);
		snprintf(bytes, sizeof(bytes), "%" PRIu64, f->symbol->size);
		rows_add(&l->rows, (const char *const[]) {
			has_addresses(l) ? address : "-",
			has_addresses(l) ? bytes : "-",
			*f->tp == '.' ? f->tp + 1 : f->tp, source,
			type ? type : "",
		}, 5);
	}
	free(type);
}

/* Functions of which only inlined copies are left. */
struct inlined_function {
	Dwarf_Die root;
	size_t copies;
	bool has_code;		/* of its own */
};

struct inlined_list {
	struct inlined_function *list;
	size_t count, room;
	struct key_map index;	/* by the root's address: index + 1 */
};

static int inlined_take(struct dwarf_walk *walk, Dwarf_Die *die, int tag)
{
	struct inlined_list *all = walk->context;
	Dwarf_Die root = dwarf_die_root(die);
	uint64_t key = key_map_key(root.addr);
	uint64_t number = key_map_number(&all->index, key);

	if (tag == DW_TAG_subprogram && !dwarf_die_has_code(die))
		return 0;
	if (!number) {
		number = all->count + 1;
		if (!array_grow(&all->list, all->count, &all->room,
				sizeof(*all->list)) ||
		    key_map_add_number(&all->index, key, number))
			return -ENOMEM;
		all->list[all->count++] = (struct inlined_function) {
			.root = root,
		};
	}
	all->list[number - 1].has_code |= tag == DW_TAG_subprogram;
	all->list[number - 1].copies += tag == DW_TAG_inlined_subroutine;
	return 0;
}

static bool list_wants(struct listing *l, char *name)
{
	struct named_function f = { .name = name };
	const struct run_globs *include = &l->s->include;
	const struct run_globs *exclude = &l->s->exclude;
	bool wanted = !include->count;

	for (size_t i = 0; i < include->count && !wanted; i++)
		wanted = function_matches(include->globs[i], &f);
	for (size_t i = 0; i < exclude->count && wanted; i++)
		wanted = !function_matches(exclude->globs[i], &f);
	return wanted;
}

/* False: the patterns leave it out, or it can't be named. */
static bool list_inlined(struct listing *l, struct inlined_function *function)
{
	Dwarf_Die *root = &function->root;
	char *name = dwarf_function_name(root), copies[32], source[320] = "";
	char *tp = name && list_wants(l, name) ?
		   function_name_write(l->c.module, name) : NULL;
	char *type = tp ? function_signature_of(l->c.dwarf, root) : NULL;
	const char *file = dwarf_line_decl_file(root);
	bool wanted = type;
	uint64_t line;

	if (!wanted)
		goto out;
	if (l->s->json) {
		json_open(&l->json, NULL, '{');
		json_string(&l->json, "name", name);
		json_string(&l->json, "tp", tp);
		json_number(&l->json, "inlined", function->copies);
		json_string(&l->json, "type", type);
	}
	if (file && dwarf_die_number(root, DW_AT_decl_line, &line))
		list_source(l, file, line, source, sizeof(source));
	if (l->s->json) {
		json_close(&l->json, '}');
	} else {
		snprintf(copies, sizeof(copies), "x%zu", function->copies);
		rows_add(&l->rows, (const char *const[]) {
			"inlined", copies, *tp == '.' ? tp + 1 : tp, source,
			type,
		}, 5);
	}
out:
	free(type);
	free(tp);
	free(name);
	return wanted;
}

/* Functions without a name, by what unwinding knows of them. */
static size_t list_nameless(struct listing *l, const struct named_functions *all)
{
	const struct module *module = l->c.module;
	size_t shown = 0, next = 0;
	char address[24], bytes[24], tp[32];

	for (size_t i = 0; i < module->function_count; i++) {
		const struct module_range *range = &module->functions[i];

		while (next < all->count &&
		       all->list[next].symbol->address < range->start)
			next++;
		if (next < all->count &&
		    all->list[next].symbol->address == range->start)
			continue;
		shown++;
		snprintf(address, sizeof(address), "%#" PRIx64, range->start);
		snprintf(bytes, sizeof(bytes), "%" PRIu64,
			 range->end - range->start);
		snprintf(tp, sizeof(tp), "@ADDR,%s", address);
		if (!l->s->json) {
			rows_add(&l->rows, (const char *const[]) {
				address, bytes, tp,
			}, 3);
			continue;
		}
		json_open(&l->json, NULL, '{');
		json_string(&l->json, "tp", tp);
		list_hex(l, "address", range->start);
		json_number(&l->json, "bytes", range->end - range->start);
		json_close(&l->json, '}');
	}
	return shown;
}

/* Why there are no more names, and what would help. */
static void list_hint_names(struct listing *l)
{
	const struct module *module = l->c.module;
	const char *why = dwarf_refusal(module, l->c.dwarf);

	if (module->elf && !module->has_symtab)
		fprintf(stderr, "trcust: '%s' is stripped: only what it exports "
			"has a name\n", l->module);
	if (!l->c.dwarf && !module->elf)
		fputs("trcust: the kernel's file is not at hand: give it with "
		      "--module vmlinux\n", stderr);
	else if (!l->c.dwarf)
		fprintf(stderr, "trcust: no debug information: types, source "
			"lines and local variables are not known\n"
			"trcust: %s\n", why ? why : "--debug FILE names a debug "
			"file; a package, or DEBUGINFOD_URLS, may have it");
	else if (why)
		fprintf(stderr, "trcust: %s\n", why);
}

static int list_functions(struct listing *l)
{
	struct inlined_list inlined = { 0 };
	struct dwarf_walk walk = { .take = inlined_take, .context = &inlined };
	struct named_functions all;
	size_t shown = 0;
	int code = functions_find(&all, l->c.module, l->c.dwarf,
				  &l->s->include, &l->s->exclude);

	if (!code && l->c.dwarf)
		code = dwarf_walk_all(&walk, l->c.dwarf);
	if (l->s->json)
		json_open(&l->json, "functions", '[');
	for (size_t i = 0; i < all.count && !code; i++, shown++) {
		guard_step();
		list_function(l, &all.list[i]);
	}
	for (size_t i = 0; i < inlined.count && !code; i++)
		if (!inlined.list[i].has_code || !l->c.module->elf)
			shown += list_inlined(l, &inlined.list[i]);
	if (!code && !l->c.module->has_symtab && !l->s->include.count)
		shown += list_nameless(l, &all);
	if (l->s->json)
		json_close(&l->json, ']');
	free(inlined.list);
	key_map_free(&inlined.index);
	functions_free(&all);
	if (code || l->c.module->exhausted || l->rows.failed)
		return list_no_memory(l);
	rows_print(&l->rows, "");
	list_hint_names(l);
	if (shown)
		return 0;
	if (l->s->include.count)
		fprintf(stderr, "trcust: no function of '%s' matches --include "
			"'%s'\n", l->module, l->s->include.globs[0]);
	else
		fprintf(stderr, "trcust: '%s' has no names of functions\n",
			l->module);
	return -1;
}

/* ---- variables ---- */

static int list_variable(void *context, const struct scope_variable *variable)
{
	struct listing *l = context;
	char missing[640];

	guard_step();
	if (l->s->json) {
		json_open(&l->json, NULL, '{');
		json_string(&l->json, "name", variable->name);
		json_string(&l->json, "kind", variable->kind);
		if (*variable->type)
			json_string(&l->json, "type", variable->type);
		if (variable->bytes)
			json_number(&l->json, "bytes", variable->bytes);
		json_string(&l->json, *variable->where ? "where" : "missing",
			    *variable->where ? variable->where : variable->why);
		json_close(&l->json, '}');
		return 0;
	}
	snprintf(missing, sizeof(missing), "- %s", variable->why);
	rows_add(&l->rows, (const char *const[]) {
		variable->kind, variable->name, variable->type,
		*variable->where ? variable->where : missing,
	}, 4);
	return l->rows.failed ? -ENOMEM : 0;
}

/* Registers of arguments, where nothing else is known. */
static void list_registers(struct listing *l, const struct compile_site *site)
{
	const char *next = site->exit || site->flags & TDF_SITE_RETURN ?
			   l->c.module->arch->result :
			   site->arguments ? NULL :
			   function_registers(l->c.module);
	struct scope_variable variable = {
		.kind = "register", .type = "",
		.where = site->exit || site->flags & TDF_SITE_RETURN ?
			 "returned value, if the function returns one" :
			 "argument, where a function begins",
	};
	char name[16];

	while (next && *next) {
		size_t length = strcspn(next, ",");

		snprintf(name, sizeof(name), "$%.*s", (int)length, next);
		for (char *p = name; *p; p++)
			*p |= *p >= 'A' && *p <= 'Z' ? 0x20 : 0;
		variable.name = name;
		list_variable(l, &variable);
		next += length + (next[length] == ',');
	}
}

static int list_site(struct listing *l, const struct compilation *c,
		     const struct compile_site *site)
{
	char name[320], source[320] = "";
	Dwarf_Die function;
	const char *file;
	uint32_t line;
	bool inlined;
	char *full;
	int code;

	message_site_name(site, name, sizeof(name));
	full = c->dwarf && dwarf_scopes_choose(c->dwarf, &site->from,
					       &function) ?
	       dwarf_function_name(&function) : NULL;
	inlined = full && dwarf_tag(&function) == DW_TAG_inlined_subroutine;
	if (l->s->json) {
		json_open(&l->json, NULL, '{');
		json_string(&l->json, "name", name);
		if (has_addresses(l))
			list_hex(l, "address", site->nominal);
		if (full)
			json_string(&l->json, "function", full);
		json_boolean(&l->json, "inlined", inlined);
	}
	if (c->dwarf && dwarf_line_from(c->dwarf, &site->from, &file, &line))
		list_source(l, file, line, source, sizeof(source));
	if (l->s->json) {
		json_open(&l->json, "variables", '[');
	} else {
		safe_text_print(stdout, name, false);
		if (has_addresses(l))
			printf(" at %#" PRIx64, site->nominal);
		fputs(*source ? ", " : "", stdout);
		safe_text_print(stdout, source, false);
		if (full) {
			fputs(", in ", stdout);
			safe_text_print(stdout, full, false);
			fputs(inlined ? "(), inlined" : "()", stdout);
		}
		putchar('\n');
	}
	free(full);
	code = scope_each(c, site, list_variable, l);
	if (!scope_is_known(c, site))
		list_registers(l, site);
	if (l->s->json) {
		json_close(&l->json, ']');
		json_close(&l->json, '}');
	} else {
		rows_print(&l->rows, "  ");
	}
	return code;
}

static void list_print_note(void *context, const struct diag_note *note)
{
	if (!note->name) {
		fprintf(stderr, "      | %s\n", note->text);
		return;
	}
	fprintf(stderr, "trcust: %s: %s [%s]\n",
		diag_severity_name(note->severity), note->text, note->name);
}

static int list_variables(struct listing *l, const char *place)
{
	const struct compile_point *point;
	struct scope_place p;
	char why[512];
	int code = scope_open(&p, &l->c, place, strlen(place), l->s->level,
			      list_print_note, NULL);

	if (code == 2)
		fprintf(stderr, "trcust: '%s' is more, or something else, than "
			"a place: a symbol, symbol+offset, symbol,RETEP, "
			"@file,line or @USDT,provider,name\n", place);
	point = code ? NULL : p.out.points;
	if (l->s->json && point) {
		json_string(&l->json, "place", place);
		json_open(&l->json, "sites", '[');
	}
	for (size_t i = 0; !code && i < point->site_count; i++)
		code = list_site(l, &p.c, &point->sites[i]);
	if (l->s->json && !code)
		json_close(&l->json, ']');
	if (!code && !scope_is_known(&p.c, point->sites))
		list_hint_names(l);
	else if (!code && dwarf_unit_lacks(l->c.dwarf, point->sites->nominal,
					   why, sizeof(why)))
		fprintf(stderr, "trcust: %s\n", why);
	scope_close(&p);
	return code == -ENOMEM || l->c.module->exhausted ? list_no_memory(l) :
							   code;
}

/* ---- USDT points ---- */

static bool is_same_point(const struct usdt_probe *a,
			  const struct usdt_probe *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

static void list_usdt_site(struct listing *l, const struct usdt_probe *probe,
			   const char *tp)
{
	char address[24];

	if (l->s->json) {
		json_open(&l->json, NULL, '{');
		list_hex(l, "address", probe->address);
		json_string(&l->json, "arguments", probe->arguments);
		if (probe->semaphore)
			list_hex(l, "semaphore", probe->semaphore);
		json_close(&l->json, '}');
		return;
	}
	snprintf(address, sizeof(address), "%#" PRIx64, probe->address);
	rows_add(&l->rows, (const char *const[]) {
		address, tp, probe->arguments,
		probe->semaphore ? "with a semaphore" : "",
	}, 4);
}

static int list_usdt(struct listing *l)
{
	struct usdt_probes all = { 0 };
	int code = usdt_load(l->c.module, &all);
	size_t first;

	if (l->s->json)
		json_open(&l->json, "usdt", '[');
	for (size_t i = 0; i < all.count && !code; i++) {
		const struct usdt_probe *probe = &all.probes[i];
		char *tp;

		for (first = 0; !is_same_point(&all.probes[first], probe);)
			first++;
		if (first != i)
			continue;
		tp = text_format("@USDT,%s,%s", probe->provider, probe->name);
		if (!tp) {
			code = -ENOMEM;
			break;
		}
		if (l->s->json) {
			json_open(&l->json, NULL, '{');
			json_string(&l->json, "provider", probe->provider);
			json_string(&l->json, "name", probe->name);
			json_string(&l->json, "tp", tp);
			json_open(&l->json, "sites", '[');
		}
		for (size_t k = i; k < all.count; k++)
			if (is_same_point(probe, &all.probes[k]))
				list_usdt_site(l, &all.probes[k], tp);
		if (l->s->json) {
			json_close(&l->json, ']');
			json_close(&l->json, '}');
		}
		free(tp);
	}
	if (l->s->json)
		json_close(&l->json, ']');
	if (!code && !all.count)
		fprintf(stderr, "trcust: '%s' has no USDT points; libraries that "
			"it loads may have some\n", l->module);
	usdt_free(&all);
	if (code || l->rows.failed)
		return list_no_memory(l);
	rows_print(&l->rows, "");
	return 0;
}

/* ---- keywords ---- */

static int list_keywords(struct listing *l)
{
	const struct keyword *keyword;
	size_t at = 0;

	if (l->s->json)
		json_open(&l->json, "keywords", '[');
	while ((keyword = keyword_next(&at))) {
		const char *clause = *keyword->clause ? keyword->clause :
							"header";

		if (l->s->json) {
			json_open(&l->json, NULL, '{');
			json_string(&l->json, "word", keyword->word);
			json_string(&l->json, "clause", clause);
			json_string(&l->json, "help", keyword->help);
			json_close(&l->json, '}');
			continue;
		}
		rows_add(&l->rows, (const char *const[]) {
			keyword->word, clause, keyword->help,
		}, 3);
	}
	if (l->s->json)
		json_close(&l->json, ']');
	if (l->rows.failed)
		return list_no_memory(l);
	rows_print(&l->rows, "");
	return 0;
}

static int list_open(struct listing *l)
{
	static const char variables[] = "variables:";
	struct input input = { 0 };
	const char *what = l->s->list;
	int code;

	if (!l->module)
		return list_keywords(l);
	code = input_open(&l->c, l->s, &input, l->module, "", true);
	if (!code) {
		if (l->s->json)
			json_string(&l->json, "module", l->module);
		if (!strcmp(what, "functions"))
			code = list_functions(l);
		else if (!strcmp(what, "usdt"))
			code = list_usdt(l);
		else
			code = list_variables(l, what + strlen(variables));
	}
	if (!code)
		code = input_check(&l->c, &input);
	input_close(&l->c, &input);
	return code;
}

struct list_run {
	const struct settings *s;
	const char *module;
};

static int list_work(void *context)
{
	const struct list_run *run = context;
	struct listing l = { .s = run->s, .module = run->module };
	int code;

	l.json = (struct json) { .text = &l.text, .style = JSON_INDENTED };
	if (diag_open(&l.c.diag, NULL, l.s->level))
		return 1;
	if (l.s->json)
		json_open(&l.json, NULL, '{');
	code = list_open(&l);
	if (l.s->json)
		json_close(&l.json, '}');
	if (!code && l.text.error)
		code = list_no_memory(&l);
	if (!code && l.text.used)
		fwrite(l.text.data, 1, l.text.used, stdout);
	free(l.text.data);
	free(l.rows.rows);
	diag_close(l.c.diag);
	return error_check_stdout("trcust", "cannot write") || code ? 1 : 0;
}

int run_list(const struct settings *s, const char *module)
{
	struct list_run run = { s, module };
	struct error err = { 0 };
	struct diag *diag;
	char *file = NULL;
	int code = guard_run(list_work, &run, &file, &err);

	if (code < 0) {
		code = 1;
		if (!diag_open(&diag, NULL, s->level)) {
			input_report_damaged(diag, file, &err);
			diag_close(diag);
		}
	}
	free(file);
	return code;
}
