/* SPDX-License-Identifier: GPL-2.0 */
/* Programs that a test compiles, in a directory of its own, to look into. */
#ifndef TRCUST_COMPILED_H
#define TRCUST_COMPILED_H

#include <stdarg.h>
#include <unistd.h>
#include "tap.h"
#include "lib/debug/dwarf/dwarf_file.h"

static char compiled_directory[] = "/tmp/rastrace.XXXXXX";

struct compiled {
	struct module *module;
	struct dwarf_file *dwarf;	/* NULL: none, err says why */
	struct error err;
};

static void compiled_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", compiled_directory);
	if (chdir("/") || system(command))
		perror(command);
}

/* Make the directory and change to it; compiled_remove() removes it. */
__attribute__((unused))
static void compiled_begin(void)
{
	if (!mkdtemp(compiled_directory) || chdir(compiled_directory))
		tap_bail("no directory to compile in");
	atexit(compiled_remove);
}

__attribute__((unused))
static void compiled_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		tap_bail("cannot write %s", path);
}

/* Run a shell command; its output is shown when it fails. */
__attribute__((format(printf, 1, 2), unused))
static bool compiled_run(const char *format, ...)
{
	char command[4096], line[256];
	FILE *log;
	va_list args;
	size_t length;

	strcpy(command, "(");
	va_start(args, format);
	length = vsnprintf(command + 1, sizeof(command) - 16, format, args);
	va_end(args);
	if (length >= sizeof(command) - 16)
		tap_bail("the command is too long");
	strcat(command, ") >log 2>&1");
	if (!system(command))
		return true;
	log = fopen("log", "r");
	tap_diag("failed: %s", command);
	while (log && fgets(line, sizeof(line), log))
		tap_diag("%s", strtok(line, "\n"));
	if (log)
		fclose(log);
	return false;
}

/* A program that the test can do without is there. */
__attribute__((unused))
static bool compiled_have(const char *program)
{
	char command[256];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
	return !system(command);
}

/* Open a module and the debug information that `search` leads to. */
__attribute__((unused))
static bool compiled_open(struct compiled *c, const char *path,
			  const struct dwarf_search *search)
{
	static const struct dwarf_search nothing;

	memset(c, 0, sizeof(*c));
	if (module_open(&c->module, path, path, 0, &c->err))
		return tap_ok(false, "open %s: %s", path, c->err.text);
	dwarf_file_open(&c->dwarf, c->module, path,
			search ? search : &nothing, &c->err);
	return true;
}

__attribute__((unused))
static void compiled_close(struct compiled *c)
{
	dwarf_file_close(c->dwarf);
	module_close(c->module);
}

/* The address of a symbol. */
__attribute__((unused))
static uint64_t compiled_symbol(const struct compiled *c, const char *name)
{
	const struct module_symbol *symbol;
	bool others;

	symbol = module_symbol_find(c->module, name, MODULE_CODE, &others);
	if (!symbol)
		tap_bail("no symbol %s", name);
	return symbol->address;
}

#endif
