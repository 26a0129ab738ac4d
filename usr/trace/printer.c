// SPDX-License-Identifier: GPL-2.0
#include "printer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "lib/arm/arm.h"
#include "sibling.h"

/* Options of tracefmt, as they are given there; of the command that runs */
static struct settings_values print;
static bool formed;		/* the form of output is among them */
static bool whole;

static int print_take(const char *option, const char *value)
{
	char *text = NULL;

	if (asprintf(&text, value ? "--%s=%s" : "--%s", option, value) < 0) {
		fputs("trace: out of memory\n", stderr);
		return -1;
	}
	return settings_add(&print, option, text);
}

/* forms: it selects the form of output; needs_all: which needs all events. */
#define PRINTER_OPTION(name, option, forms, needs_all) \
int printer_take_##name(void *context, const char *value) \
{ \
	formed |= forms; \
	whole |= needs_all; \
	return print_take(option, value); \
}

/* Forms that are printed as events come */
static bool is_live(const char *format)
{
	static const char *const formats[] = {
		"auto", "text", "manual", "line", "json", "csv",
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i], format))
			return true;
	return false;
}

PRINTER_OPTION(format, "format", true, !is_live(value))
PRINTER_OPTION(pair, "pair", true, true)
PRINTER_OPTION(tree, "tree", true, true)
PRINTER_OPTION(calls, "calls", true, false)
PRINTER_OPTION(summary, "summary", true, true)
PRINTER_OPTION(last, "last", false, true)
PRINTER_OPTION(slow, "slow", false, false)
PRINTER_OPTION(fields, "fields", false, false)
PRINTER_OPTION(field, "field", false, false)
PRINTER_OPTION(prefix, "prefix", false, false)
PRINTER_OPTION(utc, "utc", false, false)
PRINTER_OPTION(relative, "relative", false, false)
PRINTER_OPTION(hex, "hex", false, false)
PRINTER_OPTION(symbols, "symbols", false, false)
PRINTER_OPTION(color, "color", false, false)
PRINTER_OPTION(quiet, "no-summary", false, false)

bool printer_is_whole(void)
{
	return whole;
}

pid_t printer_start(const struct printer_input *input, struct error *err)
{
	const char *argv[2 * SETTINGS_MOST] = { "tracefmt" };
	unsigned int count = 1;
	void (*interrupt)(int);
	sigset_t term, before;
	pid_t pid;

	if (!formed)
		argv[count++] = "--format=auto";
	if (input->tff) {
		argv[count++] = "--tff";
		argv[count++] = input->tff;
	}
	if (input->condition) {
		argv[count++] = "--field";
		argv[count++] = input->condition;
	}
	if (input->follow)
		argv[count++] = "--follow";
	for (unsigned int i = 0; i < print.count; i++)
		argv[count++] = print.items[i];
	if (!input->follow)
		return sibling_start((char *const *)argv, -1, -1, err);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	interrupt = signal(SIGINT, SIG_IGN);
	pid = sibling_start((char *const *)argv, -1, -1, err);
	signal(SIGINT, interrupt);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int printer_wait(pid_t pid, struct error *err)
{
	int status = sibling_wait(pid, "tracefmt", err);

	return status <= 0 ? status :
	       error_set(err, -EIO, "tracefmt could not print all records");
}
