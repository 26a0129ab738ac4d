// SPDX-License-Identifier: GPL-2.0
/*
 * A TSF with a tracepoint for each function of a module. The text is written,
 * compiled in silence, and written again with less where something could not
 * be compiled: so what is printed works.
 */
#include <ctype.h>
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "functions.h"
#include "input.h"
#include "lib/guard.h"
#include "lib/path.h"
#include "trcust/tsf/parse_point.h"

/* What a function takes and returns, as a TSF has it. */

#define SIGNATURE_PARAMETERS_MAX	32

struct signature_parameters {
	struct {
		char *name;
		bool readable;
	} list[SIGNATURE_PARAMETERS_MAX];	/* in order */
	size_t count, readable;
};

static void signature_parameters_free(struct signature_parameters *parameters)
{
	while (parameters->count)
		free(parameters->list[--parameters->count].name);
	parameters->readable = 0;
}

/* Of a vector register that is wider than the value the rest doesn't matter. */
static bool is_whole(struct dwarf_file *dwarf, const struct place *place,
		     Dwarf_Die *parameter)
{
	Dwarf_Die type = dwarf_type_bare(parameter), target;
	uint64_t bytes;
	const char *why;

	if (!place_is_known(place, 0,
			    dwarf_type_bytes(&type, &bytes) ? bytes : UINT32_MAX,
			    &why))
		return false;
	/* what a reference refers to may be declared only */
	if (dwarf_type_kind(&type) != DWARF_TYPE_REFERENCE)
		return true;
	target = dwarf_type_bare(&type);
	return target.addr && dwarf_type_complete(dwarf, &target) &&
	       dwarf_type_bytes(&target, &bytes);
}

/* The name means the parameter at pc, of which all is there. */
static bool is_readable(struct dwarf_file *dwarf, uint64_t pc, Dwarf_Die *die,
			const char *name)
{
	struct dwarf_from from = { .pc = pc, .outermost = true };
	struct dwarf_variable named[2];
	struct place place = { 0 };
	struct error err = { 0 };
	bool readable;
	int code;

	code = dwarf_variable_find(dwarf, &from, name, named);
	if (!code && named->die.addr != die->addr)
		return false;
	if (!code)
		code = dwarf_variable_place(dwarf, named, pc, &place, &err);
	dwarf->module->exhausted |= code == -ENOMEM;
	if (code)
		return false;
	readable = is_whole(dwarf, &place, die);
	place_free(&place);
	return readable;
}

/* DWARF 5 section 2.6: a list of locations or just one for all addresses */
static bool has_list(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (!dwarf_die_location(die, DW_AT_location, &attr))
		return true;
	switch (dwarf_whatform(&attr)) {
	case DW_FORM_sec_offset:
	case DW_FORM_loclistx:
	case DW_FORM_data4:
	case DW_FORM_data8:
		return true;
	}
	return false;
}

static bool signature_function(struct dwarf_file *dwarf, uint64_t entry,
			       Dwarf_Die *function)
{
	struct dwarf_functions found = { 0 };
	int code = dwarf ? dwarf_function_at(dwarf, entry, &found) : -ENOENT;
	bool is_one = !code && found.count && found.functions[0].entry == entry;

	if (code == -ENOMEM)
		dwarf->module->exhausted = true;
	if (is_one)
		*function = found.functions[0].die;
	dwarf_functions_free(&found);
	return is_one;
}

/*
 * The parameters of the function that begins at entry; readable: their names
 * mean them at pc, and they can be read there. *listed: where each of them is
 * is known address by address, so that it is right at the first instruction as
 * well. 0 or -ENOMEM.
 */
static int signature_parameters_find(struct dwarf_file *dwarf, uint64_t entry,
				     uint64_t pc,
				     struct signature_parameters *parameters,
				     bool *listed)
{
	Dwarf_Die function, die;

	*listed = true;
	if (!signature_function(dwarf, entry, &function) ||
	    dwarf_child(&function, &die))
		return 0;
	do {
		const char *name = dwarf_diename(&die);
		size_t i = parameters->count;

		/* Go's results are parameters, too */
		if (dwarf_tag(&die) != DW_TAG_formal_parameter || !name ||
		    dwarf_die_flag(&die, DW_AT_variable_parameter))
			continue;
		*listed &= has_list(&die);
		if (i == SIGNATURE_PARAMETERS_MAX)
			continue;
		parameters->list[i].name = strdup(name);
		parameters->list[i].readable = is_readable(dwarf, pc, &die,
							   name);
		parameters->readable += parameters->list[i].readable;
		if (!parameters->list[parameters->count++].name)
			return -ENOMEM;
	} while (dwarf_die_next(&die));
	return 0;
}

#define GO_RESULTS_MAX	8	/* that are logged */

/* Those of Go, which may be several; NULL: none, or no memory. */
static char *go_results_find(Dwarf_Die *function)
{
	struct bytes text = { 0 };
	unsigned int count = 0;
	Dwarf_Die entry;

	while (count < GO_RESULTS_MAX &&
	       dwarf_go_result_entry(function, count, &entry))
		count++;
	if (!count)
		return NULL;
	bytes_print(&text, "FMT=\"returns");
	for (unsigned int i = 0; i < count; i++)
		bytes_print(&text, "%s %%P%%{auto}", i ? "," : "");
	bytes_print(&text, "\",\n\tVARS=($result");
	for (unsigned int i = 1; i < count; i++)
		bytes_print(&text, ", $result%u", i + 1);
	bytes_print(&text, ")");
	bytes_add(&text, "", 1);
	if (!text.failed)
		return (char *)text.data;
	bytes_free(&text);
	return NULL;
}

/*
 * Clauses that log the return value, malloc'd. NULL: there is none, or there is
 * no memory.
 */
static char *signature_result_find(const struct module *module,
				   struct dwarf_file *dwarf, uint64_t entry)
{
	const char *reg = module->arch->result;
	Dwarf_Die function, type;

	if (!signature_function(dwarf, entry, &function))
		return text_format("FMT=\"%s = %%{x%u}\",\n\tREGS=(%s)", reg,
				   module->elf_class == ELFCLASS64 ? 64 : 32,
				   reg);
	if (dwarf_go_is_function(&function))
		return go_results_find(&function);
	if (!dwarf_type_of(&function, &type))
		return NULL;
	return text_format("FMT=\"returns %%P%%{auto}\",\n"
			   "\tVARS=($result)");
}

/* The same with what a returned pointer points to; NULL: it is none to a
 * structure. */
static char *signature_target_find(struct dwarf_file *dwarf, uint64_t entry)
{
	Dwarf_Die function, type;
	enum dwarf_type_kind kind;

	if (!signature_function(dwarf, entry, &function) ||
	    dwarf_go_is_function(&function))
		return NULL;
	type = dwarf_type_bare(&function);
	if (!type.addr || dwarf_type_kind(&type) != DWARF_TYPE_POINTER)
		return NULL;
	type = dwarf_type_bare(&type);
	kind = dwarf_type_kind(&type);
	return kind != DWARF_TYPE_STRUCT ? NULL :
	       text_format("FMT=\"returns %%P%%{auto} to %%P%%{auto}\",\n"
			   "\tVARS=($result, *$result)");
}

#define POST		0x8000	/* minor of a return point: that of the entry's
				 * and this */
#define FUNCTIONS_MAX	(POST - 1)
#define USUAL_MAX	200	/* bytes of a string or sequence, mostly */
#define NAME_MAX_SHOWN	200	/* bytes of a name in a DESC */

/* What a tracepoint has; less when that doesn't compile. */
enum level { LEVEL_NONE, LEVEL_BARE, LEVEL_DATA, LEVEL_TARGET };

struct made_point {
	enum level level;
	bool good;		/* it compiled */
};

struct made_function {
	const struct named_function *f;
	bool at_label;		/* the entry's point is at the symbol itself */
	bool meets_exit;	/* or it has to be: after the prologue it is
				 * where an exit is */
	bool elsewhere;		/* TP means another function */
	bool whole;		/* --call: entry and exits are a CALL */
	struct signature_parameters parameters;
	char *unknown;		/* why nothing is known of them; or NULL */
	char *results[2];	/* clauses of LEVEL_DATA and _TARGET at the
				 * exits */
	struct made_point entry, post;
};

struct tsf_maker {
	const struct settings *s;
	const char *modname;
	unsigned int major;
	struct module *module;
	struct dwarf_file *dwarf;	/* NULL: none */
	const struct shapes *shapes;
	struct made_function *candidates;	/* minor - 1 is the index */
	struct named_functions functions;
	size_t count;
	size_t left_out;
	bool again;		/* entries have other places now */
	const char *registers;	/* of arguments, when nothing else is known of
				 * these; or NULL */
	struct bytes text;
	struct bytes lost;	/* comments about what is left out */
};

static void candidate_free(struct made_function *c)
{
	free(c->results[0]);
	free(c->results[1]);
	signature_parameters_free(&c->parameters);
	free(c->unknown);
}

/* The name with template arguments deeper than `most` as "...", so that its end
 * stays: how long it is, of which what has room is put there. */
static size_t name_fold(const char *name, unsigned int most,
			char to[NAME_MAX_SHOWN])
{
	unsigned int depth = 0;
	size_t n = 0;

	for (size_t i = 0; name[i]; i++) {
		/* "operator<", "<<" and "->" are no brackets */
		bool plain = (i >= 8 && !memcmp(name + i - 8, "operator", 8)) ||
			     (i && name[i - 1] == '<') || name[i + 1] == '<';

		if (depth && name[i] == '>' && name[i - 1] != '-' &&
		    depth-- == most + 1)
			for (unsigned int dot = 0; dot < 3; dot++)
				if (n++ < NAME_MAX_SHOWN)
					to[n - 1] = '.';
		if (depth <= most && n++ < NAME_MAX_SHOWN)
			to[n - 1] = name[i];
		if (name[i] == '<' && !plain)
			depth++;
	}
	return n;
}

/* As a string of the TSF has it (manual 1.3.5.6), cut to size. */
static void text_quote(struct bytes *text, const char *name)
{
	char folded[NAME_MAX_SHOWN];
	size_t size = strlen(name);

	for (unsigned int most = 4; size > NAME_MAX_SHOWN && most--;)
		size = name_fold(name, most, folded);
	if (strlen(name) > NAME_MAX_SHOWN)
		name = folded;
	for (size_t i = 0; i < size && i < NAME_MAX_SHOWN; i++) {
		if (name[i] == '"' || name[i] == '\\')
			bytes_add(text, "\\", 1);
		bytes_add(text, iscntrl((unsigned char)name[i]) ? "?" :
				&name[i], 1);
	}
	if (size > NAME_MAX_SHOWN)
		bytes_add(text, "...", 3);
}

static void text_point(struct tsf_maker *m, const struct made_function *c, bool post)
{
	enum level level = post ? c->post.level : c->entry.level;
	const char *scope = c->f->symbol->bind == STB_LOCAL ? "PRIV" : "PUB";
	struct bytes *text = &m->text;
	unsigned int minor = c - m->candidates + 1;
	const char *before;

	if (level == LEVEL_NONE || (post && c->whole))
		return;
	if (!post) {
		/* A comment of the parameters that aren't logged. */
		before = "\n; can't be logged here: ";
		if (c->unknown) {
			bytes_print(text, "\n; no parameters are known: ");
			text_quote(text, c->unknown);
		}
		for (size_t i = 0; i < c->parameters.count; i++) {
			if (c->entry.level != LEVEL_BARE &&
			    c->parameters.list[i].readable)
				continue;
			bytes_print(text, "%s", before);
			text_quote(text, c->parameters.list[i].name);
			before = ", ";
		}
	}
	bytes_print(text, "\nTRACE MINOR=0x%04x,\n\t%s=%s%s,\n",
		    post ? minor | POST : minor, c->whole ? "CALL" : "TP",
		    c->f->tp, post && !m->module->elf ? ",RETEP=CALLER" :
		    post ? ",RETEP" : c->at_label ? "+0" : "");
	bytes_print(text, "\tTYPE=(%s%s),\n\tDESC=\"(", scope,
		    c->whole ? "" : post ? ",POST" : ",PRE");
	text_quote(text, path_base(m->modname));
	bytes_print(text, ") ");
	text_quote(text, c->f->shown ? c->f->shown : c->f->name);
	bytes_print(text, "%s\"", c->whole ? "" : post ? " Post-Invocation" :
							" Pre-Invocation");
	before = ",\n\tVARS=(";
	for (size_t i = 0; level != LEVEL_BARE && !post &&
			   i < c->parameters.count; i++) {
		if (!c->parameters.list[i].readable)
			continue;
		bytes_print(text, "%s%s", before, c->parameters.list[i].name);
		before = ", ";
	}
	if (level != LEVEL_BARE && post)
		bytes_print(text, ",\n\t%s", c->results[level - LEVEL_DATA]);
	else if (level != LEVEL_BARE && c->parameters.readable)
		bytes_print(text, ")");
	before = c->whole && c->post.level > LEVEL_BARE ?
		 strstr(c->results[c->post.level - LEVEL_DATA], "VARS=") : NULL;
	if (before)
		bytes_print(text, ",\n\tRESULT%s", strchr(before, '='));
	if (c->whole && m->s->call[0])
		bytes_print(text, ",\n\tIF=(%s)", m->s->call);
	bytes_print(text, "\n");
	if (!post && m->registers)
		bytes_print(text, ";\t,REGS=(%s)\n", m->registers);
}

static void made_text_write(struct tsf_maker *m)
{
	m->text.size = 0;
	if (!m->dwarf)
		bytes_print(&m->text, "; There is no debug information: the "
			    "parameters of the functions are not known.\n");
	if (m->registers)
		bytes_print(&m->text, "; The registers of arguments are in "
			    "comments: remove the semicolon to log them.\n");
	bytes_print(&m->text, "MODNAME = \"%s\"\nMAJOR = %u\n\n",
		    m->modname, m->major);
	bytes_print(&m->text, "TYPELIST NAME=PUB,ID=1,\n"
		    "\tNAME=PRIV,ID=2,\n"
		    "\tNAME=PRE,ID=4,\n"
		    "\tNAME=POST,ID=8\n");
	for (size_t i = 0; i < m->count; i++) {
		text_point(m, &m->candidates[i], false);
		text_point(m, &m->candidates[i], true);
	}
}

typedef int take_point(struct tsf_maker *m, struct made_function *c,
		       struct made_point *tracepoint,
		       const struct compile_point *point);

static int take_points(struct tsf_maker *m, const struct compiled *compiled,
		       take_point *take)
{
	int code = 0;

	for (size_t i = 0; !code && i < compiled->point_count; i++) {
		const struct compile_point *point = &compiled->points[i];
		unsigned int minor = point->tsf->minor;
		struct made_function *candidate;

		guard_step();
		candidate = &m->candidates[(minor & ~POST) - 1];
		code = take(m, candidate, minor & POST ? &candidate->post :
			    &candidate->entry, point);
	}
	return code;
}

static const struct arch *made_find_arch(void *context, const char *modname)
{
	const struct tsf_maker *m = context;

	return m->module->arch;
}

/* Write and compile; `take` sees every tracepoint that is good. */
static int text_compile(struct tsf_maker *m, take_point *take)
{
	struct compilation c = {
		.module = m->module, .dwarf = m->dwarf, .shapes = m->shapes,
	};
	struct compiled compiled = { 0 };
	struct tsf *tsf = NULL;
	int code;

	made_text_write(m);
	if (m->text.failed)
		return -ENOMEM;
	code = diag_open_text(&c.diag, m->modname, (char *)m->text.data,
			      m->text.size, 0, NULL) ? -ENOMEM : 0;
	if (!code)
		code = tsf_parse(&tsf, c.diag, made_find_arch, m);
	c.tsf = tsf;
	if (!code)
		code = compile_points(&c, &compiled);
	if (code == -ENOMEM || (c.diag && diag_exhausted(c.diag)))
		code = -ENOMEM;
	else
		code = code ? -EINVAL : take_points(m, &compiled, take);
	compile_free(&c, &compiled);
	tsf_free(tsf);
	diag_close(c.diag);
	return code;
}

/* After the prologue, or at the symbol where more of them can be read and all
 * that is known of them holds there, too. */
static int find_parameters(struct tsf_maker *m, struct made_function *c,
			   const struct compile_point *point)
{
	struct signature_parameters at_label = { 0 };
	uint64_t entry = c->f->symbol->address;
	char text[512];
	bool listed;
	int code;

	if (!c->unknown &&
	    dwarf_unit_lacks(m->dwarf, entry, text, sizeof(text))) {
		c->unknown = strdup(text);
		return c->unknown ? 0 : -ENOMEM;
	}
	code = signature_parameters_find(m->dwarf, entry,
					 point->sites[0].nominal,
					 &c->parameters, &listed);
	if (!code && listed)
		code = signature_parameters_find(m->dwarf, entry, entry,
						 &at_label, &listed);
	if (!code && at_label.readable > c->parameters.readable) {
		signature_parameters_free(&c->parameters);
		c->parameters = at_label;
		c->at_label = true;
	} else {
		signature_parameters_free(&at_label);
	}
	return code;
}

/* Does the function leave by the instruction? */
static bool leaves_at(struct module *module, uint64_t address)
{
	struct arch_insn insn;
	const uint8_t *code;
	size_t available;

	code = module_code(module, address, &available, NULL);
	return code && !arch_insn_decode(module->arch, code, available, &insn) &&
	       (insn.flow == ARCH_FLOW_RETURN || insn.flow == ARCH_FLOW_JUMP);
}

static int take_place(struct tsf_maker *m, struct made_function *c,
		      struct made_point *tracepoint,
		      const struct compile_point *point)
{
	const struct compile_site *site = &point->sites[0];
	bool post = point->tsf->minor & POST;

	/* At the symbol's address, not that of another function with the name.
	 * Entries are seen before return points. */
	if (!post && *c->f->tp != '@')
		c->elsewhere = site->address - site->symbol_offset !=
			       c->f->symbol->address;
	if (c->elsewhere)
		return 0;
	tracepoint->good = true;
	if (!post && m->s->retep && !c->at_label && *c->f->tp != '@' &&
	    site->nominal != c->f->symbol->address &&
	    leaves_at(m->module, site->nominal)) {
		c->at_label = c->meets_exit = true;
		m->again = true;
		return 0;
	}
	if (!m->s->args)
		return 0;
	if (post) {
		c->results[0] = signature_result_find(m->module, m->dwarf,
						      c->f->symbol->address);
		c->results[1] = signature_target_find(m->dwarf,
						      c->f->symbol->address);
	}
	if (!post && m->dwarf && *c->f->tp != '@')
		return find_parameters(m, c, point);
	return 0;
}

static int take_place_again(struct tsf_maker *m, struct made_function *c,
			    struct made_point *tracepoint,
			    const struct compile_point *point)
{
	return c->meets_exit ? take_place(m, c, tracepoint, point) : 0;
}

static int take_whole(struct tsf_maker *m, struct made_function *c,
		      struct made_point *tracepoint,
		      const struct compile_point *point)
{
	tracepoint->good = true;
	return 0;
}

/* Entry and exits that can be a CALL become one. */
static int wholes_settle(struct tsf_maker *m)
{
	size_t apart = 0;
	int code;

	for (size_t i = 0; i < m->count; i++) {
		struct made_function *c = &m->candidates[i];

		c->whole = c->entry.level != LEVEL_NONE &&
			   c->post.level != LEVEL_NONE && !c->at_label;
	}
	code = text_compile(m, take_whole);
	for (size_t i = 0; i < m->count && code != -ENOMEM; i++) {
		struct made_function *c = &m->candidates[i];

		c->whole &= c->entry.good;
		apart += !c->whole && c->post.level != LEVEL_NONE;
	}
	if (apart)
		fprintf(stderr, "trcust: %zu functions can't be traced as whole calls with this condition: entry and exits are recorded, always\n",
			apart);
	/* EINVAL: there is not one */
	return code == -EINVAL ? 0 : code;
}

/* As many of the parameters as a record has room for when strings and sequences
 * are as long as most are. */
static int made_take_data(struct tsf_maker *m, struct made_function *c,
			  struct made_point *tracepoint,
			  const struct compile_point *point)
{
	unsigned int bytes = 0, most;
	size_t item = 0;

	/* a pointer to what has no shape is the pointer only */
	tracepoint->good = tracepoint->level != LEVEL_TARGET ||
			   (point->item_count == 2 && point->items[1].items);
	if (tracepoint != &c->entry || tracepoint->level == LEVEL_BARE)
		return 0;
	for (size_t i = 0; i < c->parameters.count; i++) {
		if (!c->parameters.list[i].readable ||
		    item == point->item_count)
			continue;
		most = point->items[item].bytes;
		bytes += RAS_ITEM_PREFIX +
			 (point->items[item++].variable && most > USUAL_MAX ?
				  USUAL_MAX : most);
		if (bytes <= TDF_DATA_DEFAULT)
			continue;
		c->parameters.list[i].readable = false;
		c->parameters.readable--;
	}
	return 0;
}

/* All to begin with; those that didn't compile get less. True: some did. */
static bool levels_lower(struct tsf_maker *m)
{
	bool lowered = false;

	for (size_t i = 0; i < m->count; i++) {
		struct made_point *both[] = { &m->candidates[i].entry,
					      &m->candidates[i].post };

		for (int j = 0; j < 2; j++) {
			if (both[j]->level != LEVEL_NONE && !both[j]->good) {
				both[j]->level--;
				lowered = true;
			}
			both[j]->good = false;
		}
	}
	return lowered;
}

static int points_settle(struct tsf_maker *m)
{
	int code;

	for (size_t i = 0; i < m->count; i++) {
		struct made_function *c = &m->candidates[i];

		c->entry.level = LEVEL_BARE;
		c->post.level = m->s->retep && *c->f->tp != '@' ? LEVEL_BARE :
							       LEVEL_NONE;
	}
	code = text_compile(m, take_place);
	if (!code && m->again)
		code = text_compile(m, take_place_again);
	levels_lower(m);
	if (code)
		return code;
	for (size_t i = 0; i < m->count; i++) {
		struct made_function *c = &m->candidates[i];

		if (!m->s->args)
			break;
		if (c->entry.level != LEVEL_NONE && c->parameters.readable)
			c->entry.level = LEVEL_DATA;
		if (c->post.level != LEVEL_NONE && c->results[0])
			c->post.level = c->results[1] ? LEVEL_TARGET :
							LEVEL_DATA;
	}
	if (m->s->args)
		do
			code = text_compile(m, made_take_data);
		while (!code && levels_lower(m));
	return code || !m->s->call ? code : wholes_settle(m);
}

static int points_make(struct tsf_maker *m, struct error *err)
{
	size_t good = 0, i;
	int code = functions_find(&m->functions, m->module, m->dwarf,
				  &m->s->include, &m->s->exclude);

	if (!code) {
		m->count = m->functions.count;
		m->candidates = calloc(m->count + 1, sizeof(*m->candidates));
		code = m->candidates ? 0 : -ENOMEM;
	}
	for (i = 0; i < m->count && !code; i++)
		m->candidates[i].f = &m->functions.list[i];
	if (!m->dwarf)
		m->registers = function_registers(m->module);
	if (!code && m->count > FUNCTIONS_MAX) {
		error_set(err, -E2BIG, "%zu functions are more than the "
			  "%d that minors can number", m->count,
			  FUNCTIONS_MAX);
		error_hint(err, "--include and --exclude choose");
		return -E2BIG;
	}
	if (!code && m->count)
		code = points_settle(m);
	if (m->module->exhausted)
		code = -ENOMEM;
	if (code == -EINVAL)
		return error_set(err, code, "nothing can be compiled for '%s'",
				 m->modname);
	if (code)
		return error_no_memory(err);
	for (i = 0; i < m->count; i++) {
		const struct made_function *c = &m->candidates[i];

		if (c->entry.level != LEVEL_NONE ||
		    c->post.level != LEVEL_NONE) {
			good++;
			continue;
		}
		m->left_out++;
		bytes_print(&m->lost,
			    "; left out, no probe can be placed there: ");
		text_quote(&m->lost, c->f->name);
		bytes_print(&m->lost, "\n");
	}
	if (good)
		return 0;
	if (m->s->include.count && !m->count)
		error_set(err, -ENOENT,
			  "no function of '%s' matches --include '%s'",
			  m->modname, m->s->include.globs[0]);
	else
		error_set(err, -ENOENT, "no function of '%s' can be traced",
			  m->modname);
	if (!m->module->elf)
		error_hint(err, "--module names the kernel's file with symbols");
	else if (!m->dwarf && !m->module->has_symtab)
		error_hint(err, "it has no names of functions: a debug file has (--debug FILE, a package, or DEBUGINFOD_URLS), and so have the libraries that it calls");
	return -ENOENT;
}

/* Write the TSF of the module that was opened. The exit status. */
static int tsf_make_print(const struct compilation *c,
			  const struct settings *s, const char *modname)
{
	struct tsf_maker m = {
		.s = s, .module = c->module, .dwarf = c->dwarf,
		.shapes = c->shapes,
		.modname = s->modname ? s->modname : modname,
		.major = s->major ? s->major : 1,
	};
	struct error err = { 0 };
	char *text = NULL;
	int code;

	if (strpbrk(m.modname, "\"\n"))
		code = error_set(&err, -EINVAL, "MODNAME can't be '%s': a quotation mark or a line's end is in it",
				 m.modname);
	else
		code = points_make(&m, &err);
	if (!code) {
		made_text_write(&m);
		if (m.left_out) {
			bytes_add(&m.text, "\n", 1);
			bytes_join(&m.text, &m.lost);
		}
		if (m.text.failed || m.lost.failed ||
		    !(text = malloc(m.text.size + 1)))
			code = error_no_memory(&err);
		else
			memcpy(text, m.text.data, m.text.size);
	}
	if (m.left_out)
		fprintf(stderr, "trcust: %zu functions can't be traced and are left out\n",
			m.left_out);
	if (code) {
		error_print("trcust", &err);
		code = 1;
	} else {
		code = output_print(s, text, m.text.size);
	}
	for (size_t i = 0; m.candidates && i < m.count; i++)
		candidate_free(&m.candidates[i]);
	free(m.candidates);
	functions_free(&m.functions);
	bytes_free(&m.text);
	bytes_free(&m.lost);
	return code;
}

struct module_run {
	const struct settings *settings;
	const char *module;
};

static int run_module(void *context)
{
	const struct module_run *run = context;
	const struct settings *s = run->settings;
	const char *module = run->module;
	struct compilation c = { 0 };
	struct input input = { 0 };
	int code = 1;

	if (diag_open(&c.diag, NULL, s->level))
		return 1;
	if (!input_open(&c, s, &input, module, "", true))
		code = tsf_make_print(&c, s, module);
	input_close(&c, &input);
	diag_close(c.diag);
	return error_check_stdout("trcust", "cannot write") ? 1 : code;
}

int run_from_module(const struct settings *s, const char *module)
{
	struct module_run run = { s, module };
	struct error err = { 0 };
	struct diag *diag;
	char *file = NULL;
	int code = guard_run(run_module, &run, &file, &err);

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
