// SPDX-License-Identifier: GPL-2.0
#include "lsp_job.h"

#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lsp_cursor.h"
#include "scope.h"
#include "lib/debug/arch/arch.h"
#include "lib/hash.h"
#include "trcust/compile/analysis.h"
#include "trcust/compile/review.h"
#include "trcust/tsf/keyword.h"
#include "trcust/tsf/lexer.h"
#include "trcust/tsf/parse_point.h"

#define LSP_ITEMS_MAX	500	/* of a completion */
#define LSP_TYPED_ITEMS	100	/* functions that are shown with their types */
#define LSP_SITES_MAX	4	/* of a tracepoint that a hover shows */

/* SymbolKind and CompletionItemKind of the protocol */
enum {
	ITEM_FUNCTION = 3, ITEM_FIELD = 5, ITEM_VARIABLE = 6, ITEM_VALUE = 12,
	ITEM_KEYWORD = 14, ITEM_FILE = 17, ITEM_EVENT = 23,
};

/* ---- the module ---- */

void lsp_jobs_close(struct lsp_jobs *jobs)
{
	if (jobs->functions_known)
		functions_free(&jobs->functions);
	if (jobs->key)
		input_close(&jobs->c, &jobs->input);
	free(jobs->key);
	jobs->key = NULL;
	jobs->functions_known = false;
	jobs->c = (struct compilation) { 0 };
	jobs->input = (struct input) { 0 };
}

/* What the paths of the module and its debug file name now. */
static void lsp_module_stat(const struct lsp_jobs *jobs, struct stat files[2])
{
	const struct dwarf_file *dwarf = jobs->c.dwarf;
	const char *const paths[] = {
		jobs->input.file, dwarf ? dwarf->path : NULL,
	};

	for (int i = 0; i < 2; i++)
		if (!paths[i] || stat(paths[i], &files[i]))
			files[i] = (struct stat) { 0 };
}

/* The files are those that were opened, and were not written to. */
static bool lsp_module_same(struct lsp_jobs *jobs)
{
	struct stat now[2];

	lsp_module_stat(jobs, now);
	for (int i = 0; i < 2; i++)
		if (now[i].st_dev != jobs->files[i].st_dev ||
		    now[i].st_ino != jobs->files[i].st_ino ||
		    now[i].st_size != jobs->files[i].st_size ||
		    now[i].st_mtim.tv_sec != jobs->files[i].st_mtim.tv_sec ||
		    now[i].st_mtim.tv_nsec != jobs->files[i].st_mtim.tv_nsec)
			return false;
	return true;
}

/* Open the module that the TSF names; messages go to diag. 0, or -1. */
static int lsp_module_open(struct lsp_jobs *jobs, const struct lsp_job *job,
			   const struct tsf *tsf, struct diag *diag)
{
	char *key = text_format("%s\n%s", tsf->modname, job->path);
	int code;

	if (!key)
		return diag_no_memory(diag, tsf->modname_pos);
	if (jobs->blind) {
		free(key);
		return -1;
	}
	if (jobs->key && !strcmp(jobs->key, key) &&
	    !jobs->c.module->exhausted && lsp_module_same(jobs)) {
		jobs->c.diag = diag;
		free(key);
		return 0;
	}
	lsp_jobs_close(jobs);
	jobs->key = key;
	jobs->c = (struct compilation) {
		.diag = diag, .mode = jobs->s->site,
	};
	jobs->input.pos = tsf->modname_pos;
	code = input_open_map(&jobs->c, jobs->s);
	if (!code)
		code = input_open(&jobs->c, jobs->s, &jobs->input,
				  tsf->modname, job->path, true);
	if (code)
		lsp_jobs_close(jobs);
	else
		lsp_module_stat(jobs, jobs->files);
	return code;
}

struct lsp_arch {
	struct lsp_jobs *jobs;
	const struct lsp_job *job;
};

static const struct arch *lsp_find_arch(void *context, const char *modname)
{
	const struct lsp_arch *a = context;

	return a->jobs->blind ? NULL :
	       input_arch(a->jobs->s, modname, a->job->path);
}

/* ---- diagnostics ---- */

struct lsp_notes {
	const struct lsp_job *job;
	struct json json;
	struct text message;	/* with the lines below it */
	struct diag_note note;	/* the last message; name NULL: none yet */
};

static void notes_end(struct lsp_notes *n)
{
	const struct lsp_job *job = n->job;
	struct lsp_range range;
	size_t start, end;

	if (!n->note.name)
		return;
	lsp_text_marked(job->text, job->size, n->note.pos, &start, &end);
	range = lsp_text_range(job->text, job->size, start, end,
			       job->encoding);
	json_open(&n->json, NULL, '{');
	lsp_text_json(&n->json, "range", &range);
	json_number(&n->json, "severity",
		    n->note.severity == DIAG_WARNING ? 2 : 1);
	json_string(&n->json, "code", n->note.name);
	json_string(&n->json, "source", "trcust");
	text_add_char(&n->message, '\0');
	json_string(&n->json, "message",
		    n->message.error ? "" : n->message.data);
	json_close(&n->json, '}');
	n->message.used = 0;
}

static void notes_take(void *context, const struct diag_note *note)
{
	struct lsp_notes *n = context;

	if (note->name) {
		notes_end(n);
		n->note = *note;
	} else {
		text_add_char(&n->message, '\n');
	}
	text_add_string(&n->message, note->text);
}

static void lsp_diagnose(struct lsp_jobs *jobs, const struct lsp_job *job,
			 struct text *answer)
{
	struct lsp_arch arch = { jobs, job };
	struct compiled out = { 0 };
	struct lsp_notes notes = {
		.job = job, .json = { .text = answer },
	};
	struct compilation c = { 0 };
	struct tsf *tsf = NULL;
	bool needed = false;

	json_open(&notes.json, NULL, '[');
	if (diag_open_text(&c.diag, job->path, job->text, job->size,
			   jobs->s->level, NULL)) {
		answer->error = ENOMEM;
		return;
	}
	diag_divert(c.diag, notes_take, &notes);
	if (!tsf_parse(&tsf, c.diag, lsp_find_arch, &arch)) {
		for (size_t i = 0; i < tsf->point_count; i++)
			needed |= tsf->points[i].tp.kind != TSF_TP_STATIC;
		if (!needed || !lsp_module_open(jobs, job, tsf, c.diag)) {
			struct compilation one = needed ? jobs->c : c;

			one.diag = c.diag;
			one.tsf = tsf;
			if (!compile_points(&one, &out))
				inlined_check(&one, &out);
			compile_free(&one, &out);
		}
	}
	notes_end(&notes);
	json_close(&notes.json, ']');
	if (diag_exhausted(c.diag) || notes.message.error)
		answer->error = ENOMEM;
	free(notes.message.data);
	tsf_free(tsf);
	diag_close(c.diag);
}

/* ---- around the cursor ---- */

struct lsp_view {
	struct lsp_jobs *jobs;
	const struct lsp_job *job;
	struct lsp_cursor cursor;
	struct diag *diag;	/* of the header */
	struct tsf *tsf;	/* the header; NULL: it has errors */
	bool open;		/* jobs->c has the module */
	struct scope_place place;
	bool has_place;		/* TP has sites */
	struct json json;
	size_t items;
	bool cut;		/* there are more items */
};

static void view_ignore(void *context, const struct diag_note *note)
{
}

/* The header, the module, and the sites of the tracepoint. False: no memory. */
static bool lsp_view_open(struct lsp_view *v)
{
	const struct lsp_job *job = v->job;
	struct lsp_arch arch = { v->jobs, job };
	char *header;

	if (!lsp_cursor_find(&v->cursor, job->text, job->size, job->offset))
		return false;
	header = text_format("%.*s TRACE TP=x", (int)v->cursor.header_end,
			     job->text);
	if (!header || diag_open_text(&v->diag, NULL, header, strlen(header),
				      0, NULL)) {
		free(header);
		return false;
	}
	free(header);
	if (tsf_parse(&v->tsf, v->diag, lsp_find_arch, &arch))
		return !diag_exhausted(v->diag);
	v->open = !lsp_module_open(v->jobs, job, v->tsf, v->diag);
	v->jobs->c.tsf = NULL;
	if (!v->open || v->cursor.tp == v->cursor.tp_end)
		return !diag_exhausted(v->diag);
	v->has_place = !scope_open(&v->place, &v->jobs->c,
				   job->text + v->cursor.tp,
				   v->cursor.tp_end - v->cursor.tp, 0,
				   view_ignore, NULL);
	if (!v->has_place)
		scope_close(&v->place);
	return !diag_exhausted(v->diag);
}

static void lsp_view_close(struct lsp_view *v)
{
	if (v->has_place)
		scope_close(&v->place);
	tsf_free(v->tsf);
	diag_close(v->diag);
}

static const struct named_functions *view_functions(struct lsp_view *v)
{
	static const struct run_globs none;
	struct lsp_jobs *jobs = v->jobs;

	if (!jobs->functions_known &&
	    !functions_find(&jobs->functions, jobs->c.module, jobs->c.dwarf,
			    &none, &none))
		jobs->functions_known = true;
	else if (!jobs->functions_known)
		functions_free(&jobs->functions);
	return jobs->functions_known ? &jobs->functions : NULL;
}

/* ---- completion ---- */

/* An item that replaces what is from `start` up to the cursor; `filter` is what
 * the editor compares with that. */
static void item_add_filtered(struct lsp_view *v, size_t start, int kind,
			      const char *label, const char *filter,
			      const char *insert, const char *detail,
			      const char *about, int order)
{
	const struct lsp_job *job = v->job;
	struct lsp_range range = lsp_text_range(job->text, job->size, start,
						job->offset, job->encoding);
	char sort[16];

	if (v->items == LSP_ITEMS_MAX) {
		v->cut = true;
		return;
	}
	snprintf(sort, sizeof(sort), "%d%04zu", order, v->items++);
	json_open(&v->json, NULL, '{');
	json_string(&v->json, "label", label);
	json_number(&v->json, "kind", kind);
	if (*detail)
		json_string(&v->json, "detail", detail);
	if (*about)
		json_string(&v->json, "documentation", about);
	json_string(&v->json, "sortText", sort);
	json_string(&v->json, "filterText", filter);
	json_open(&v->json, "textEdit", '{');
	lsp_text_json(&v->json, "range", &range);
	json_string(&v->json, "newText", insert);
	json_close(&v->json, '}');
	json_close(&v->json, '}');
}

static void item_add(struct lsp_view *v, size_t start, int kind,
		     const char *label, const char *insert, const char *detail,
		     const char *about, int order)
{
	item_add_filtered(v, start, kind, label, insert, insert, detail, about,
			  order);
}

/* The characters typed are in the name, in either case. */
static bool is_typed(const char *name, const char *typed, size_t length)
{
	if (!length)
		return true;
	for (; *name; name++)
		if (!strncasecmp(name, typed, length))
			return true;
	return false;
}

static void complete_keywords(struct lsp_view *v, const char *clause)
{
	const struct lsp_cursor *cursor = &v->cursor;
	const struct keyword *keyword;
	char insert[32];
	size_t at = 0;

	while ((keyword = keyword_next(&at))) {
		bool begins = !strcmp(keyword->word, "TRACE");
		bool clauses = !*clause || !strcmp(clause, "TRACE");

		if (strcmp(keyword->clause, clause) &&
		    !(begins && !strcmp(clause, "TRACE")))
			continue;
		clauses |= !strcmp(clause, "TYPELIST");
		snprintf(insert, sizeof(insert), "%s%s", keyword->word,
			 begins ? " " :
			 clauses && strcmp(keyword->word, "RETEP") ? "=" : "");
		item_add(v, cursor->word, ITEM_KEYWORD, keyword->word, insert,
			 "", keyword->help, 5);
	}
}

static void complete_functions(struct lsp_view *v, size_t start)
{
	const struct lsp_job *job = v->job;
	bool dot = start < job->offset && job->text[start] == '.';
	const char *typed = job->text + start + dot;
	size_t length = job->text + job->offset - typed, shown = 0;
	const struct named_functions *all = view_functions(v);

	for (size_t i = 0; all && i < all->count && !v->cut; i++) {
		const struct named_function *f = &all->list[i];
		const char *label = f->shown ? f->shown : f->name;
		const char *tp = f->tp + (*f->tp == '.' && !dot);
		bool by_label = is_typed(label, typed, length);
		char *insert, *filter, *type = NULL;

		if (*f->tp == '@' || (dot && *f->tp != '.' &&
				      !isalpha((unsigned char)*f->tp)) ||
		    (!by_label && !is_typed(f->name, typed, length)))
			continue;
		insert = text_format("%s%s", dot && *tp != '.' ? "." : "", tp);
		filter = text_format("%s%s", dot ? "." : "",
				     by_label ? label : f->name);
		if (insert && v->jobs->c.dwarf && shown++ < LSP_TYPED_ITEMS)
			type = function_signature(v->jobs->c.dwarf,
						  f->symbol->address);
		if (insert && filter)
			item_add_filtered(v, start, ITEM_FUNCTION, label,
					  filter, insert, type ? type : "", "",
					  1);
		free(type);
		free(filter);
		free(insert);
	}
}

static void complete_usdt(struct lsp_view *v, size_t start)
{
	struct usdt_probes all = { 0 };

	if (usdt_load(v->jobs->c.module, &all))
		v->json.text->error = ENOMEM;
	for (size_t i = 0; i < all.count; i++) {
		const struct usdt_probe *probe = &all.probes[i];
		char *tp = text_format("@USDT,%s,%s", probe->provider,
				       probe->name);
		bool again = false;

		for (size_t k = 0; k < i && !again; k++)
			again = !strcmp(all.probes[k].provider,
					probe->provider) &&
				!strcmp(all.probes[k].name, probe->name);
		if (tp && !again)
			item_add(v, start, ITEM_EVENT, tp, tp,
				 probe->arguments, "", 2);
		free(tp);
	}
	usdt_free(&all);
}

static void complete_files(struct lsp_view *v, size_t start)
{
	struct dwarf_file *dwarf = v->jobs->c.dwarf;
	struct key_map seen = { 0 };
	Dwarf_CU *position = NULL;
	struct unit *unit;
	bool failed = false;

	while (dwarf && (unit = dwarf_unit_next(dwarf, &position, &failed)) &&
	       !v->cut) {
		const char *path = dwarf_diename(&unit->die);
		const char *base = path ? source_path_base(path) : "";
		uint64_t key = hash_fnv(HASH_FNV_START, base, strlen(base));
		char *insert;

		if (!unit->code_count || !*base || key_map_find(&seen, key) ||
		    key_map_add(&seen, key, unit))
			continue;
		insert = text_format("@%s,", base);
		if (insert)
			item_add(v, start, ITEM_FILE, base, insert, path, "",
				 3);
		free(insert);
	}
	key_map_free(&seen);
}

/* After "TP=" */
static void complete_place(struct lsp_view *v)
{
	static const char *const forms[] = { "@USDT,", "@ADDR,", "@STATIC" };
	const struct lsp_job *job = v->job;
	size_t start = v->cursor.value;

	while (start < job->offset && isspace((unsigned char)job->text[start]))
		start++;
	if (start == job->offset || job->text[start] == '@') {
		if (v->open)
			complete_usdt(v, start);
		if (v->open && !memchr(job->text + start, ',',
				       job->offset - start))
			complete_files(v, start);
		for (size_t i = 0; i < 3; i++)
			item_add(v, start, ITEM_KEYWORD, forms[i], forms[i],
				 "", "", 4);
	}
	if (v->open && (start == job->offset || job->text[start] != '@'))
		complete_functions(v, start);
}

struct item_list {
	struct lsp_view *v;
	size_t start;
	const char *before;	/* of the name in the text: "." */
	int kind;
};

static int item_variable(void *context, const struct scope_variable *variable)
{
	struct item_list *list = context;
	char about[640], *insert;

	/* what a dot is before is a name */
	if (*list->before && *variable->name == '$')
		return 0;
	snprintf(about, sizeof(about), "%s, %s%s", variable->kind,
		 *variable->where ? variable->where : "not available here: ",
		 *variable->where ? "" : variable->why);
	insert = text_format("%s%s", list->before, variable->name);
	if (!insert)
		return -ENOMEM;
	item_add(list->v, list->start, list->kind, variable->name, insert,
		 variable->type, about, *variable->where ? 1 : 3);
	free(insert);
	return list->v->cut;
}

static void complete_registers(struct lsp_view *v, const char *before)
{
	const struct arch *arch = v->open ? v->jobs->c.module->arch :
					    v->jobs->s->arch;
	char name[24];

	for (size_t i = 0; arch && i < arch->register_count; i++) {
		const struct arch_register *reg = &arch->registers[i];

		if (reg->kind == ARCH_BASE)
			continue;
		snprintf(name, sizeof(name), "%s%s", before, reg->name);
		for (char *p = name; *before && *p; p++)
			*p = tolower((unsigned char)*p);
		item_add(v, v->cursor.word, ITEM_VALUE, name, name, "register",
			 "", 4);
	}
}

static void complete_variables(struct lsp_view *v)
{
	const struct lsp_cursor *cursor = &v->cursor;
	const struct lsp_job *job = v->job;
	struct item_list list = {
		v, cursor->word, "", ITEM_VARIABLE,
	};
	bool dot = cursor->word && job->text[cursor->word - 1] == '.';

	if (cursor->object_end) {
		list.kind = ITEM_FIELD;
		if (v->has_place)
			scope_members(&v->place.c, v->place.out.points->sites,
				      job->text + cursor->chain,
				      cursor->object_end - cursor->chain,
				      item_variable, &list);
		return;
	}
	if (!lsp_cursor_in_expression(cursor)) {
		list.before = ".";
		list.start -= dot;
	}
	if (v->has_place)
		scope_each(&v->place.c, v->place.out.points->sites,
			   item_variable, &list);
	if (lsp_cursor_in_expression(cursor) &&
	    cursor->word < job->offset && job->text[cursor->word] == '$')
		complete_registers(v, "$");
}

static void complete_names(struct lsp_view *v, bool groups)
{
	const struct tsf_name *names = groups ? v->tsf->groups : v->tsf->types;
	size_t count = groups ? v->tsf->group_count : v->tsf->type_count;
	char id[24];

	for (size_t i = 0; i < count; i++) {
		snprintf(id, sizeof(id), "ID %u", names[i].id);
		item_add(v, v->cursor.word, ITEM_VALUE, names[i].name,
			 names[i].name, id, "", 1);
	}
}

static void view_complete(struct lsp_view *v)
{
	const struct lsp_cursor *cursor = &v->cursor;
	const char *clause = cursor->clause;
	bool memory = !strncmp(clause, "MEM", 3) ||
		      !strncmp(clause, "ASCIIZ", 6) || !strcmp(clause, "LEN");

	if (!strcmp(clause, "TP") || !strcmp(clause, "CALL"))
		complete_place(v);
	else if (!strcmp(clause, "TYPE") && v->tsf)
		complete_names(v, false);
	else if (!strcmp(clause, "GROUP") && v->tsf)
		complete_names(v, true);
	else if (lsp_cursor_in_expression(cursor))
		complete_variables(v);
	else if (cursor->depth && (memory || !strcmp(clause, "REGS")))
		complete_variables(v);
	if (cursor->depth && !strcmp(clause, "REGS"))
		complete_registers(v, "");
	if (cursor->depth && memory)
		complete_keywords(v, "MEM32");
	if (!strcmp(clause, "RETEP") || !strcmp(clause, "ONFAULT"))
		complete_keywords(v, clause);
	if (!cursor->in_trace &&
	    (!strcmp(clause, "TYPELIST") || !strcmp(clause, "GROUPLIST") ||
	     !strcmp(clause, "ID")))
		complete_keywords(v, "TYPELIST");
	if (cursor->keyword)
		complete_keywords(v, cursor->in_trace ? "TRACE" : "");
}

static void lsp_complete(struct lsp_view *v)
{
	json_open(&v->json, NULL, '{');
	json_open(&v->json, "items", '[');
	if (!v->cursor.in_text)
		view_complete(v);
	json_close(&v->json, ']');
	json_boolean(&v->json, "isIncomplete", v->cut);
	json_close(&v->json, '}');
}

/* ---- hover ---- */

struct hover {
	struct lsp_view *v;
	struct text text;
	const struct compile_site *site;
	bool several;
};

static int hover_variable(void *context, const struct scope_variable *variable)
{
	struct hover *h = context;
	char site[320];

	if (!h->text.used)
		text_print(&h->text, "%s: %s", variable->name, variable->type);
	if (!h->text.used)
		return 0;
	if (h->several)
		message_site_name(h->site, site, sizeof(site));
	text_print(&h->text, "\n%s, %s%s%s%s", variable->kind,
		   *variable->where ? variable->where : "not available: ",
		   *variable->where ? "" : variable->why,
		   h->several ? " at " : "", h->several ? site : "");
	return 0;
}

static void hover_expression(struct hover *h)
{
	const struct lsp_cursor *cursor = &h->v->cursor;
	const struct compile_point *point = h->v->place.out.points;
	const struct compilation *c = &h->v->place.c;

	h->several = point->site_count > 1;
	for (size_t i = 0; i < point->site_count && i < LSP_SITES_MAX; i++) {
		h->site = &point->sites[i];
		scope_expression(c, h->site, h->v->job->text + cursor->chain,
				 cursor->word_end - cursor->chain,
				 hover_variable, h);
	}
	if (h->text.used && point->site_count > LSP_SITES_MAX)
		text_print(&h->text, "\n... %zu sites", point->site_count);
}

static void hover_place(struct hover *h)
{
	const struct compile_point *point = h->v->place.out.points;
	const struct compilation *c = &h->v->place.c;
	const struct compile_site *first = point->sites;
	struct dwarf_functions found = { 0 };
	Dwarf_Die function = { 0 };
	const char *file;
	uint32_t line;
	char name[320], *type, *full;

	/* one that was inlined, else the one around it */
	if (c->dwarf && !dwarf_scopes_choose(c->dwarf, &first->from,
					     &function) &&
	    !dwarf_function_at(c->dwarf, first->nominal, &found) && found.count)
		function = found.functions->die;
	dwarf_functions_free(&found);
	if (function.addr) {
		function = dwarf_die_root(&function);
		full = dwarf_function_name(&function);
		type = function_signature_of(c->dwarf, &function);
		if (full && type)
			text_print(&h->text, "%s: %s\n", full, type);
		free(full);
		free(type);
	}
	text_print(&h->text, "%zu site%s", point->site_count,
		   point->site_count == 1 ? "" : "s");
	for (size_t i = 0; i < point->site_count && i < LSP_SITES_MAX; i++) {
		const struct compile_site *site = &point->sites[i];

		message_site_name(site, name, sizeof(name));
		text_print(&h->text, "\n%s", name);
		if (c->module->elf || c->map)
			text_print(&h->text, " at %#" PRIx64, site->nominal);
		if (c->dwarf && dwarf_line_from(c->dwarf, &site->from, &file,
						&line))
			text_print(&h->text, ", %s:%u", source_path_base(file),
				   line);
	}
	if (point->site_count > LSP_SITES_MAX)
		text_print(&h->text, "\n...");
}

static void hover_keyword(struct hover *h)
{
	const struct lsp_cursor *cursor = &h->v->cursor;
	const char *word = h->v->job->text + cursor->word;
	size_t length = cursor->word_end - cursor->word, at = 0;
	const struct keyword *keyword;

	while (!h->text.used && (keyword = keyword_next(&at)))
		if (strlen(keyword->word) == length &&
		    !strncasecmp(keyword->word, word, length))
			text_print(&h->text, "%s: %s", keyword->word,
				   keyword->help);
}

static void lsp_hover(struct lsp_view *v)
{
	const struct lsp_cursor *cursor = &v->cursor;
	const struct lsp_job *job = v->job;
	struct hover h = { .v = v };
	size_t start = cursor->word, end = cursor->word_end;

	if (!cursor->in_text && v->has_place && cursor->tp <= job->offset &&
	    job->offset <= cursor->tp_end) {
		hover_place(&h);
		start = cursor->tp;
		end = cursor->tp_end;
	} else if (!cursor->in_text && start < end &&
		   !lexer_is_digit(job->text[start])) {
		if (v->has_place && cursor->depth) {
			start = cursor->chain;
			hover_expression(&h);
		}
		if (!h.text.used)
			hover_keyword(&h);
	}
	text_add_char(&h.text, '\0');
	if (h.text.error) {
		v->json.text->error = h.text.error;
	} else if (h.text.used == 1) {
		json_null(&v->json, NULL);
	} else {
		struct lsp_range range = lsp_text_range(job->text, job->size,
							start, end,
							job->encoding);

		json_open(&v->json, NULL, '{');
		json_open(&v->json, "contents", '{');
		json_string(&v->json, "kind", "plaintext");
		json_string(&v->json, "value", h.text.data);
		json_close(&v->json, '}');
		lsp_text_json(&v->json, "range", &range);
		json_close(&v->json, '}');
	}
	free(h.text.data);
}

int lsp_job_run(struct lsp_jobs *jobs, const struct lsp_job *job,
		struct text *answer)
{
	struct lsp_view v = {
		.jobs = jobs, .job = job, .json = { .text = answer },
	};

	if (job->kind == LSP_DIAGNOSE) {
		lsp_diagnose(jobs, job, answer);
	} else if (!lsp_view_open(&v)) {
		answer->error = ENOMEM;
	} else if (job->kind == LSP_COMPLETE) {
		lsp_complete(&v);
	} else {
		lsp_hover(&v);
	}
	if (job->kind != LSP_DIAGNOSE)
		lsp_view_close(&v);
	jobs->c.diag = NULL;
	jobs->c.tsf = NULL;
	if (jobs->c.module && jobs->c.module->exhausted)
		answer->error = ENOMEM;
	return -answer->error;
}
