// SPDX-License-Identifier: GPL-2.0
#include "kallsyms.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES	1024	/* KSYM_NAME_LEN is 512 */

static int kallsyms_symbol_compare(const void *a, const void *b)
{
	const struct kallsyms_symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void symbol_free(void *node)
{
	struct kallsyms_symbol *symbol = node;

	free(symbol->name);
	free(symbol);
}

void kallsyms_add(struct kallsyms *kallsyms, const char *name)
{
	struct kallsyms_symbol *symbol = calloc(1, sizeof(*symbol));
	void *found = NULL;

	if (symbol)
		symbol->name = strdup(name);
	if (symbol && symbol->name)
		found = tsearch(symbol, &kallsyms->tree,
				kallsyms_symbol_compare);
	if (!found)
		kallsyms->failed = true;
	if (symbol && (!found || *(void **)found != symbol))
		symbol_free(symbol);
}

static struct kallsyms_symbol *
kallsyms_symbol_find(const struct kallsyms *kallsyms, char *name)
{
	struct kallsyms_symbol key = { .name = name };
	void *found = tfind(&key, &kallsyms->tree, kallsyms_symbol_compare);

	return found ? *(struct kallsyms_symbol **)found : NULL;
}

/* "ffffffffc0a01000 t loop_exit\t[loop]" */
static void line_take(struct kallsyms *kallsyms, char *line)
{
	char *end, *name, *module = "";
	uint64_t address = strtoull(line, &end, 16);
	struct kallsyms_symbol *symbol;

	if (end == line || strlen(end) < 4)
		return;
	if (address)
		kallsyms->hidden = false;
	name = end + 3;		/* " t " */
	name[strcspn(name, "\n")] = '\0';
	end = strchr(name, '\t');
	if (end) {
		*end = '\0';
		module = end + 2;
		module[strcspn(module, "]")] = '\0';
	}
	if (strcmp(module, kallsyms->module))
		return;
	symbol = kallsyms_symbol_find(kallsyms, name);
	if (symbol && !symbol->count++)
		symbol->address = address;
}

int kallsyms_read(struct kallsyms *kallsyms, struct error *err)
{
	char line[LINE_MAX_BYTES];
	FILE *file;

	if (kallsyms->failed)
		return error_no_memory(err);
	file = fopen("/proc/kallsyms", "re");
	if (!file) {
		int code = -errno;

		error_set(err, code, "cannot read /proc/kallsyms: %s",
			  strerror(errno));
		if (code == -ENOENT)
			error_hint(err, "is /proc mounted, and has the kernel CONFIG_KALLSYMS?");
		return code;
	}
	kallsyms->hidden = true;
	while (fgets(line, sizeof(line), file))
		line_take(kallsyms, line);
	fclose(file);
	return 0;
}

const struct kallsyms_symbol *kallsyms_find(const struct kallsyms *kallsyms,
					    const char *name)
{
	const struct kallsyms_symbol *symbol =
		kallsyms_symbol_find(kallsyms, (char *)name);

	return kallsyms->hidden || !symbol || !symbol->count ? NULL : symbol;
}

void kallsyms_free(struct kallsyms *kallsyms)
{
	tdestroy(kallsyms->tree, symbol_free);
	kallsyms->tree = NULL;
}

int kallsyms_hidden_error(struct error *err)
{
	FILE *file = fopen("/proc/sys/kernel/kptr_restrict", "re");
	int level = 0;

	if (file && fscanf(file, "%d", &level) != 1)
		level = 0;
	if (file)
		fclose(file);
	error_set(err, -EACCES,
		  "the kernel hides its addresses, by which its data are found");
	if (level >= 2)
		error_hint(err, "it shows them to root with sysctl kernel.kptr_restrict=1");
	else
		error_hint(err, "it shows them to root (CAP_SYSLOG)");
	return -EACCES;
}
