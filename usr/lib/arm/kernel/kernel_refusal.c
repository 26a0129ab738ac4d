// SPDX-License-Identifier: GPL-2.0
/* Functions in which the kernel allows no probes, and why. */
#include "kernel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "lib/error.h"

#define BLACKLIST	"/sys/kernel/debug/kprobes/blacklist"

struct refused {
	uint64_t start, end;		/* 0: hidden */
	char symbol[512];
};

/* "0xffffffff81000000-0xffffffff81000050\tname" */
static bool line_parse(const char *line, struct refused *refused)
{
	unsigned long long start, end;

	if (sscanf(line, "%llx-%llx %511s", &start, &end,
		   refused->symbol) != 3)
		return false;
	refused->start = start;
	refused->end = end;
	return true;
}

static bool site_refused(const struct tdf *tdf, const struct tdf_site *site,
			 uint64_t bias, const struct refused *refused)
{
	uint64_t address = site->address + bias;

	if (bias && refused->start)
		return address >= refused->start && address < refused->end;
	return !strcmp(tdf_string(tdf, site->symbol), refused->symbol);
}

static int point_check(const struct tdf *tdf, const struct tdf_point *point,
		       const uint64_t *biases, const struct refused *refused,
		       struct error *err)
{
	for (uint32_t i = 0; i < point->sites; i++) {
		uint32_t index = point->first_site + i;

		if (!site_refused(tdf, &tdf->sites[index], biases[index],
				  refused))
			continue;
		error_set(err, -EPERM,
			  "tracepoint %u ('%s'): the kernel allows no probes in '%s'",
			  point->minor, tdf_string(tdf, point->name),
			  refused->symbol);
		error_hint(err, "it is on the blacklist of kprobes (%s): probes run through it",
			   BLACKLIST);
		return -EPERM;
	}
	return 0;
}

int kernel_refusal_check(const struct tdf *tdf, const struct tdf_module *module,
			 const bool *picked, const uint64_t *biases,
			 struct error *err)
{
	FILE *file = fopen(BLACKLIST, "re");
	struct refused refused;
	char line[1024];
	int code = 0;

	while (file && !code && fgets(line, sizeof(line), file)) {
		if (!line_parse(line, &refused))
			continue;
		for (uint32_t i = 0; i < tdf->header->points.count && !code;
		     i++)
			if (picked[i] &&
			    &tdf->modules[tdf->points[i].module] == module)
				code = point_check(tdf, &tdf->points[i],
						   biases, &refused, err);
	}
	if (file)
		fclose(file);
	return code;
}

/* Is the function among those that ftrace can trace? True when that isn't
 * known. */
static bool symbol_traceable(const char *symbol)
{
	FILE *file = fopen("/sys/kernel/tracing/available_filter_functions",
			   "re");
	size_t length = strlen(symbol);
	bool found = !file, any = false;
	char line[1024];

	while (file && !found && fgets(line, sizeof(line), file)) {
		any = true;
		found = !strncmp(line, symbol, length) &&
			strchr(" \n", line[length]);
	}
	if (file)
		fclose(file);
	return found || !any;
}

void kernel_refusal_explain(const char *symbol, int code, struct error *err)
{
	if (code == -EADDRNOTAVAIL)
		error_hint(err, "several functions have this name: compile the TSF with the kernel's file");
	else if (code == -EINVAL && !symbol_traceable(symbol))
		error_hint(err, "'%s' is marked notrace, and this kernel has no CONFIG_KPROBE_EVENTS_ON_NOTRACE",
			   symbol);
	else if (code == -EINVAL)
		error_hint(err, "the kernel takes none on an instruction that it changes itself (ftrace's, static keys), that it expects to fault (on AArch64), that probes run through, or that is gone (__init)");
}
