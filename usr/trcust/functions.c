// SPDX-License-Identifier: GPL-2.0
#include "functions.h"

#include <ctype.h>
#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/arch/arch.h"
#include "lib/hash.h"

#define NAMESAKES_MAX	32	/* functions with one name without its scope: of
				 * more, each has the linked name, as comparing
				 * each with all takes long */
#define NAMESAKES_SLOTS	(1 << 14)

bool function_matches(const char *glob, const struct named_function *f)
{
	char *plain, *whole;
	bool matches;

	/* in Go "[...]" is a part of names */
	if (!fnmatch(glob, f->name, 0) || !strcmp(glob, f->name))
		return true;
	if (!f->full) {
		/* gcc's clone of a function */
		const char *clone = strstr(f->name, ".isra.");

		if (!clone)
			clone = strstr(f->name, ".constprop.");
		plain = clone ? strndup(f->name, clone - f->name) : NULL;
		matches = plain && !fnmatch(glob, plain, 0);
		free(plain);
		return matches;
	}
	plain = strndup(f->full, demangle_plain_length(f->full));
	matches = !fnmatch(glob, f->full, 0) ||
		  (plain && !fnmatch(glob, plain, 0));
	free(plain);
	/* as TP has it, and as DESC does */
	if (matches || demangle_matches(f->full, glob) ||
	    (f->shown && !fnmatch(glob, f->shown, 0)))
		return true;
	plain = demangle_shorten(f->full);
	matches = plain && !fnmatch(glob, plain, 0);
	free(plain);
	/* with the return type only where the pattern has one: "ns::*" isn't
	 * "ns::type other::fn<int>" */
	if (matches || !strchr(f->full, '<') || !strchr(glob, ' '))
		return matches;
	whole = demangle_whole(f->name);
	matches = whole && !fnmatch(glob, whole, 0);
	free(whole);
	return matches;
}

static bool function_is_wanted(const struct named_function *f,
			       const struct run_globs *include,
			       const struct run_globs *exclude)
{
	bool wanted = !include->count;

	for (size_t i = 0; i < include->count && !wanted; i++)
		wanted = function_matches(include->globs[i], f);
	for (size_t i = 0; i < exclude->count && wanted; i++)
		wanted = !function_matches(exclude->globs[i], f);
	return wanted;
}

/* By address; of several names of one the first is taken: global, short. */
static int function_compare(const void *a, const void *b)
{
	const struct module_symbol *x = ((const struct named_function *)a)->symbol;
	const struct module_symbol *y = ((const struct named_function *)b)->symbol;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if ((x->bind == STB_LOCAL) != (y->bind == STB_LOCAL))
		return x->bind == STB_LOCAL ? 1 : -1;
	if (x->name_length != y->name_length)
		return x->name_length < y->name_length ? -1 : 1;
	return memcmp(x->name, y->name, x->name_length);
}

static void named_function_free(struct named_function *f)
{
	free(f->name);
	free(f->full);
	free(f->shown);
	free(f->tp);
}

static uint32_t *namesakes_of(struct named_functions *n,
			      const struct named_function *f)
{
	size_t length;
	const char *base = demangle_base(f->full, &length);

	return &n->namesakes[hash_fnv(HASH_FNV_START, base, length) %
			     NAMESAKES_SLOTS];
}

static int functions_gather(struct named_functions *n,
			    const struct run_globs *include,
			    const struct run_globs *exclude)
{
	const struct module *module = n->module;
	size_t kept = 0;

	n->list = calloc(module->symbol_count + 1, sizeof(*n->list));
	n->namesakes = calloc(NAMESAKES_SLOTS, sizeof(*n->namesakes));
	if (!n->list || !n->namesakes)
		return -ENOMEM;
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];
		struct named_function *f = &n->list[n->count];
		const char *cold;

		if (!(symbol->defined && !symbol->absolute &&
		      !symbol->old_version && symbol->type == STT_FUNC &&
		      symbol->size && symbol->name_length))
			continue;
		f->symbol = symbol;
		f->name = strndup(symbol->name, symbol->name_length);
		f->full = f->name ? demangle_symbol(f->name) : NULL;
		f->shown = f->full ? demangle_display(f->full) : NULL;
		if (!f->name || (f->full && !f->shown)) {
			named_function_free(f);
			return -ENOMEM;
		}
		if (f->full)
			++*namesakes_of(n, f);

		/* "work.cold", "work.cold.3": what the compiler moved out of a
		 * function */
		cold = strstr(f->name, ".cold");
		if (!(cold && symbol->bind == STB_LOCAL &&
		      (!cold[5] || cold[5] == '.')) &&
		    function_is_wanted(f, include, exclude)) {
			n->count++;
			continue;
		}
		named_function_free(f);
		memset(f, 0, sizeof(*f));
	}
	qsort(n->list, n->count, sizeof(*n->list), function_compare);
	for (size_t i = 0; i < n->count; i++) {
		if (kept && n->list[kept - 1].symbol->address ==
			    n->list[i].symbol->address)
			named_function_free(&n->list[i]);
		else
			n->list[kept++] = n->list[i];
	}
	n->count = kept;
	return 0;
}

static int shown_compare(const void *a, const void *b)
{
	struct named_function *const *x = a, *const *y = b;

	return strcmp((*x)->shown, (*y)->shown);
}

/* Names that several functions have get their parameters. 0 or -ENOMEM. */
static int shown_settle(struct named_functions *n)
{
	struct named_function **list = calloc(n->count + 1, sizeof(*list));
	size_t count = 0, end;
	int code = list ? 0 : -ENOMEM;

	for (size_t i = 0; list && i < n->count; i++)
		if (n->list[i].shown)
			list[count++] = &n->list[i];
	if (count)
		qsort(list, count, sizeof(*list), shown_compare);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count &&
				  !shown_compare(&list[i], &list[end]); end++)
			;
		for (size_t j = i; j < end && end > i + 1 && !code; j++) {
			char *text = demangle_shorten(list[j]->full);

			code = text ? 0 : -ENOMEM;
			if (!text)
				break;
			free(list[j]->shown);
			list[j]->shown = text;
		}
	}
	free(list);
	return code;
}

static bool is_made_of(const char *name, const char *others)
{
	while (isalnum((unsigned char)*name) || (*name && strchr(others, *name)))
		name++;
	return !*name;
}

/* As the manual has it (1.3.5.4), if possible */
char *function_name_write(struct module *module, const char *name)
{
	const char *form = ".\"%s\"";
	char *text = NULL;

	if (strpbrk(name, "\"\\\n"))
		return NULL;
	if (is_made_of(name, "_.$"))
		form = ".%s";
	else if (is_made_of(name, strstr(name, "::") ? "_:<>(), *&" :
						       "_.()[], *") &&
		 !strstr(name, "operator"))
		form = "%s";
	if (asprintf(&text, form, name) >= 0)
		return text;
	module->exhausted = true;
	return NULL;
}

/* The debug information knows just one function of the name, in the file if there
 * is one. */
static bool is_only_one(struct dwarf_file *dwarf, const struct named_function *f,
			const char *name, const char *file)
{
	struct dwarf_functions found;
	bool is_one = false;

	if (dwarf_function_find(dwarf, name, file, &found)) {
		dwarf->module->exhausted = true;
		return false;
	}
	for (size_t i = 0; i < found.count; i++) {
		if (found.functions[i].inlined)
			continue;
		is_one = found.functions[i].entry == f->symbol->address;
		if (!is_one)
			break;
	}
	dwarf_functions_free(&found);
	return is_one;
}

/* "file.c:name"; NULL: that isn't this function alone. */
static char *name_with_file(const struct named_functions *n,
			    const struct named_function *f)
{
	const char *file;
	char *name, *text;
	uint32_t line;

	if (!n->dwarf ||
	    !dwarf_line_of(n->dwarf, f->symbol->address, &file, &line))
		return NULL;
	file = source_path_base(file);
	if (!is_only_one(n->dwarf, f, f->name, file) ||
	    asprintf(&name, "%s:%s", file, f->name) < 0)
		return NULL;
	text = function_name_write(n->module, name);
	free(name);
	return text;
}

/* The symbols know just one function of the name. */
static bool symbol_is_only_one(const struct named_functions *n,
			       const struct named_function *f, const char *name)
{
	bool others;
	const struct module_symbol *found =
		module_symbol_find(n->module, name, MODULE_CODE, &others);

	return found && found->address == f->symbol->address && !others;
}

/* The name that people write, in short or with its parameters. NULL: neither
 * means this function alone. */
static char *name_as_written(struct named_functions *n, const struct named_function *f)
{
	char *whole = demangle_shorten(f->full), *text = NULL;
	const char *names[] = { f->shown, whole };

	/* debug information has names without the tags of an ABI */
	for (size_t i = 0; i < 2 && !text && names[i]; i++)
		if (!strstr(names[i], "[abi:") &&
		    (n->dwarf ? is_only_one(n->dwarf, f, names[i], NULL) :
				symbol_is_only_one(n, f, names[i])))
			text = function_name_write(n->module, names[i]);
	free(whole);
	return text;
}

/* What TP is: the name as people write it, or as linked, with its file where it
 * isn't the only one, or the bare address. */
static int function_place(struct named_functions *n, struct named_function *f)
{
	if (f->full && *namesakes_of(n, f) <= NAMESAKES_MAX)
		f->tp = name_as_written(n, f);
	if (!f->tp)
		f->tp = symbol_is_only_one(n, f, f->name) ?
				function_name_write(n->module, f->name) :
				name_with_file(n, f);
	if (!f->tp && asprintf(&f->tp, "@ADDR,%#" PRIx64,
			       f->symbol->address) < 0)
		f->tp = NULL;
	return f->tp ? 0 : -ENOMEM;
}

int functions_find(struct named_functions *n, struct module *module,
		   struct dwarf_file *dwarf, const struct run_globs *include,
		   const struct run_globs *exclude)
{
	int code;

	*n = (struct named_functions) { .module = module, .dwarf = dwarf };
	code = functions_gather(n, include, exclude);
	if (!code)
		code = shown_settle(n);
	for (size_t i = 0; i < n->count && !code; i++)
		code = function_place(n, &n->list[i]);
	return code;
}

void functions_free(struct named_functions *n)
{
	for (size_t i = 0; i < n->count; i++)
		named_function_free(&n->list[i]);
	free(n->list);
	free(n->namesakes);
}

/* A type, and the name of what has it ("": none). */
static bool signature_add(struct bytes *text, Dwarf_Die *die, const char *name)
{
	Dwarf_Die type = dwarf_type_declared(die);
	char *spelled = dwarf_type_spell(&type, 0, 0);
	char *shown = spelled ? demangle_shorten(spelled) : NULL;
	size_t length = shown ? strlen(shown) : 0;

	if (shown)
		bytes_print(text, "%s%s%s", shown, *name && length &&
			    !strchr("*&", shown[length - 1]) ? " " : "", name);
	free(spelled);
	free(shown);
	return shown;
}

char *function_signature_of(struct dwarf_file *dwarf, Dwarf_Die *function)
{
	struct bytes text = { 0 };
	const char *before = " (";
	bool known = true;
	Dwarf_Die die;
	int children;

	if (!dwarf_go_is_function(function))
		known = signature_add(&text, function, "");
	else
		bytes_print(&text, "func");
	children = dwarf_child(function, &die);
	while (known && !children) {
		const char *name = dwarf_diename(&die);

		/* Go's results are parameters, too */
		if (dwarf_tag(&die) == DW_TAG_formal_parameter &&
		    !dwarf_die_flag(&die, DW_AT_variable_parameter)) {
			bytes_print(&text, "%s", before);
			known = signature_add(&text, &die, name ? name : "");
			before = ", ";
		} else if (dwarf_tag(&die) == DW_TAG_unspecified_parameters) {
			bytes_print(&text, "%s...", before);
			before = ", ";
		}
		children = !dwarf_die_next(&die);
	}
	bytes_print(&text, *before == ' ' ? " ()" : ")");
	bytes_add(&text, "", 1);
	if (known && !text.failed)
		return (char *)text.data;
	dwarf->module->exhausted = true;
	bytes_free(&text);
	return NULL;
}

char *function_signature(struct dwarf_file *dwarf, uint64_t entry)
{
	struct dwarf_functions found = { 0 };
	char *text = NULL;

	if (dwarf_function_at(dwarf, entry, &found))
		dwarf->module->exhausted = true;
	else if (found.count && found.functions[0].entry == entry)
		text = function_signature_of(dwarf, &found.functions[0].die);
	dwarf_functions_free(&found);
	return text;
}

const char *function_registers(const struct module *module)
{
	bool others;

	if (module->arch == &arch_aarch64)
		return "X0,X1,X2,X3,X4,X5";
	if (module->arch != &arch_x86_64)
		return NULL;
	return module->elf && module_symbol_find(module, "runtime.main",
						 MODULE_CODE, &others) ?
		       "RAX,RBX,RCX,RDI,RSI,R8" : "RDI,RSI,RDX,RCX,R8,R9";
}
