// SPDX-License-Identifier: GPL-2.0
/* trcust: options, and what they ask for. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "lib/options.h"
#include "lib/debug/arch/arch.h"
#include "input.h"
#include "list.h"
#include "lsp.h"

static int take_level(void *context, const char *value)
{
	struct settings *s = context;

	if (value[0] >= '0' && value[0] <= '2' && !value[1]) {
		s->level = value[0] - '0';
		return 0;
	}
	fprintf(stderr, "trcust: the level of messages is 0, 1 or 2, not '%s'\n",
		value);
	return -1;
}

static int take_major(void *context, const char *value)
{
	struct settings *s = context;
	unsigned long major;
	char *end;

	errno = 0;
	major = strtoul(value, &end, strncasecmp(value, "0x", 2) ? 10 : 16);
	if (*value >= '0' && *value <= '9' && !*end && !errno && major &&
	    major <= 255) {
		s->major = major;
		return 0;
	}
	fprintf(stderr, "trcust: the major code is 1 to 255, not '%s'\n",
		value);
	return -1;
}

static int trcust_take_site(void *context, const char *value)
{
	static const char *const names[] = {
		[MOVE_NEVER] = "exact", [MOVE_SAFE] = "safe",
		[MOVE_FAST] = "fast",
	};
	struct settings *s = context;

	for (int i = MOVE_NEVER; i <= MOVE_FAST; i++)
		if (!strcmp(value, names[i])) {
			s->site = i;
			return 0;
		}
	fprintf(stderr, "trcust: a site is exact, safe or fast, not '%s'\n",
		value);
	return -1;
}

static int take_arch(void *context, const char *value)
{
	struct settings *s = context;

	s->arch = arch_find_named(value);
	if (s->arch)
		return 0;
	fprintf(stderr, "trcust: no processor '%s'; those there are:", value);
	for (size_t i = 0; arch_all[i]; i++)
		fprintf(stderr, " %s", arch_all[i]->name);
	fputc('\n', stderr);
	return -1;
}

static int glob_add(struct run_globs *globs, const char *value,
		    const char *what)
{
	if (globs->count == RUN_GLOBS_MAX) {
		fprintf(stderr, "trcust: '%s' is one %s too many: %d at most\n",
			value, what, RUN_GLOBS_MAX);
		return -1;
	}
	globs->globs[globs->count++] = value;
	return 0;
}

static int take_include(void *context, const char *value)
{
	return glob_add(&((struct settings *)context)->include, value,
			"pattern");
}

static int take_call(void *context, const char *value)
{
	struct settings *s = context;

	s->call = value;
	s->retep = true;
	return 0;
}

static int take_exclude(void *context, const char *value)
{
	return glob_add(&((struct settings *)context)->exclude, value,
			"pattern");
}

static int take_combine(void *context, const char *value)
{
	struct settings *s = context;

	s->mode = RUN_COMBINE;
	s->combine = value;
	return 0;
}

static int take_shapes(void *context, const char *value)
{
	return glob_add(&((struct settings *)context)->shapes, value,
			"file");
}

static int take_list(void *context, const char *value)
{
	static const char variables[] = "variables:";
	struct settings *s = context;

	s->mode = RUN_LIST;
	s->list = value;
	if (!strcmp(value, "functions") || !strcmp(value, "usdt") ||
	    !strcmp(value, "keywords"))
		return 0;
	if (!strncmp(value, variables, sizeof(variables) - 1) &&
	    value[sizeof(variables) - 1])
		return 0;
	return options_value_wrong("list", value, "functions, variables:PLACE, "
				   "usdt or keywords");
}

/* take_MODE(): that is what to do */
#define TAKE_MODE(name, value_of_mode)					\
static int take_##name(void *context, const char *value)		\
{									\
	((struct settings *)context)->mode = value_of_mode;		\
	return 0;							\
}
TAKE_MODE(dump, RUN_DUMP)
TAKE_MODE(from_source, RUN_FROM_SOURCE)
TAKE_MODE(from_module, RUN_FROM_MODULE)
TAKE_MODE(lsp, RUN_LSP)

static const struct option_def options[] = {
	{"level", 'W', "N",
	 "print messages: 0 fatal and severe ones, 1 also errors, 2 also "
	 "warnings (default 2): 0|1|2",
	 take_level},
	{"output-dir", 'o', "DIR",
	 "write the TDF and TFF to DIR; with --from-*, the TSF to this file",
	 OPTION_PLACE(struct settings, output)},
	{"module", 'm', "FILE", "read this file instead of the one that MODNAME names",
	 OPTION_PLACE(struct settings, module)},
	{"map", 'M', "FILE",
	 "search a linker map, System.map or output of nm for more names",
	 OPTION_PLACE(struct settings, map)},
	{"debug", 0, "FILE", "read the debug information of the module from this file",
	 OPTION_PLACE(struct settings, debug)},
	{"btf", 0, "FILE",
	 "types of a kernel without debug information: an ELF or BTF file; none "
	 "for no types (default: the running kernel's)",
	 OPTION_PLACE(struct settings, btf)},
	{"sysroot", 0, "DIR", "look for the target's files below DIR",
	 OPTION_PLACE(struct settings, sysroot)},
	{"site", 0, "HOW",
	 "how far a probe may move to a faster instruction (default safe): "
	 "exact|safe|fast",
	 trcust_take_site},
	{"shapes", 0, "FILE",
	 "also read what types mean from FILE, or from the files *.shapes of a "
	 "directory; may be repeated",
	 take_shapes},
	{"arch", 0, "ARCH",
	 "processor of a kernel whose file is not available (default: this "
	 "machine's): x86-64|aarch64",
	 take_arch},
	{"exit-zero", 0, NULL, "always exit with status 0",
	 OPTION_PLACE(struct settings, exit_zero)},
	{"explain", 0, NULL,
	 "print where each probe is and where its data is; write no files",
	 OPTION_PLACE(struct settings, explain)},
	{"combine", 'C', "FILE", "combine the TFFs that the operand lists into this file",
	 take_combine},
	{"dump", 0, NULL, "print TDFs, TFFs or parsed TSFs as text", take_dump},
	{"from-source", 0, NULL,
	 "print a TSF made from the trace comments in source files", take_from_source},
	{"from-module", 0, NULL,
	 "print a TSF with a tracepoint for each function of a module",
	 take_from_module},
	{"list", 0, "WHAT",
	 "print what of a module a TSF can name; variables are those of a place: "
	 "functions|variables:PLACE|usdt|keywords",
	 take_list},
	{"lsp", 0, NULL,
	 "serve an editor: the Language Server Protocol on standard input and output",
	 take_lsp},
	{"json", 0, NULL, "with --list: print JSON",
	 OPTION_PLACE(struct settings, json)},
	{"include", 0, "GLOB",
	 "with --from-module and --list: only functions that match; may be repeated",
	 take_include},
	{"exclude", 0, "GLOB",
	 "with --from-module and --list: no functions that match; may be repeated",
	 take_exclude},
	{"retep", 0, NULL, "with --from-module: also tracepoints at the exits",
	 OPTION_PLACE(struct settings, retep)},
	{"call", 0, "CONDITION",
	 "with --from-module: whole calls for which the condition holds, where CALL is possible, else --retep",
	 take_call},
	{"args", 0, NULL, "with --from-module: log parameters and return values",
	 OPTION_PLACE(struct settings, args)},
	{"modname", 0, "NAME", "MODNAME of the generated TSF",
	 OPTION_PLACE(struct settings, modname)},
	{"major", 0, "N", "MAJOR of the generated TSF", take_major},
	{0},
};

static const struct command_def command = {
	"trcust", NULL, "APP.TSF [APP.TDF] [/M=MAP] [/W0|/W1|/W2]\n"
	"       trcust --from-module [OPTIONS] MODULE\n"
	"       trcust --list=WHAT [OPTIONS] MODULE\n"
	"       trcust --lsp [OPTIONS]\n"
	"       trcust --from-source [OPTIONS] SOURCE...\n"
	"       trcust -C TFF LIST\n"
	"       trcust --dump FILE...",
	"compile a trace source file into a TDF and a TFF", options,
};

static bool slash_is_well_formed(char letter, const char *rest)
{
	if (letter == 'W')
		return rest[0] >= '0' && rest[0] <= '2' && !rest[1];
	return rest[0] == '=' && rest[1];
}

/* Move the slash options out of the operands; returns how many are left, or -1
 * after a message. */
static int take_slash_options(struct settings *s, int count, char **operands)
{
	int kept = 0;

	for (int i = 0; i < count; i++) {
		char *word = operands[i];

		switch (slash_word(word, "WMC", slash_is_well_formed)) {
		case SLASH_SWITCH:
			if (toupper((unsigned char)word[1]) == 'W')
				s->level = word[2] - '0';
			else if (toupper((unsigned char)word[1]) == 'M')
				s->map = word + 3;
			else
				take_combine(s, word + 3);
			break;
		case SLASH_BAD:
			slash_word_print("trcust", word,
					 "/W0, /W1, /W2, /M=FILE, /C=FILE");
			return -1;
		default:
			operands[kept++] = word;
		}
	}
	return kept;
}

static int run_dump(const struct settings *s, int count, char **paths)
{
	int code = 0;

	for (int i = 0; i < count; i++) {
		struct error err = { 0 };
		size_t length = strlen(paths[i]);

		if (length > 4 && !strcasecmp(paths[i] + length - 4, ".tsf")) {
			code |= run_dump_tsf(s, paths[i]);
		} else if (dump_file(paths[i], &err)) {
			error_print("trcust", &err);
			code = 1;
		}
	}
	return code;
}

static const struct {
	const char *option;	/* NULL: none is needed */
	int least, most;	/* operands; most 0: any number */
	const char *operands;
} modes[] = {
	[RUN_COMPILE] = { NULL, 1, 2, "a TSF and a TDF" },
	[RUN_COMBINE] = { "--combine", 1, 1, "a list of TFFs" },
	[RUN_DUMP] = { "--dump", 1, 0, "a TDF, TFF or TSF" },
	[RUN_FROM_SOURCE] = { "--from-source", 1, 0, "a source file" },
	[RUN_FROM_MODULE] = { "--from-module", 1, 1, "a module" },
	[RUN_LIST] = { "--list", 1, 1, "a module" },
	[RUN_LSP] = { "--lsp", 0, 0, "no file" },
};

/* 0, or the exit status. */
static int check_operands(const struct settings *s, int count, char **operands)
{
	int most = modes[s->mode].most, least = modes[s->mode].least;
	struct diag *diag;

	if (s->json && s->mode != RUN_LIST) {
		fputs("trcust: --json is an option of --list\n", stderr);
		return 2;
	}
	if (s->mode == RUN_LSP ||
	    (s->mode == RUN_LIST && !strcmp(s->list, "keywords"))) {
		if (count)
			fprintf(stderr, "trcust: %s takes no file, '%s' is too "
				"many\n", s->mode == RUN_LSP ? "--lsp" :
				"--list=keywords", operands[0]);
		return count ? 2 : 0;
	}
	for (int i = 0; i < count; i++)
		if (!*operands[i]) {
			fputs("trcust: the name of a file is empty\n", stderr);
			return 2;
		}
	if (count < least) {
		if (s->mode == RUN_COMPILE || s->mode == RUN_COMBINE) {
			if (diag_open(&diag, NULL, s->level))
				return 1;
			diag_report(diag, (struct srcpos){ 0 },
				    s->mode == RUN_COMBINE ? TRCERR_NO_TCF :
							     TRCERR_NO_TSF);
			diag_hint(diag, "try 'trcust --help'");
			diag_close(diag);
			return 2;
		}
		fprintf(stderr, "trcust: %s needs %s\n",
			modes[s->mode].option, modes[s->mode].operands);
		return 2;
	}
	if (!most || count <= most)
		return 0;
	fprintf(stderr, "trcust: %s at most, '%s' is too many\n",
		modes[s->mode].operands, operands[most]);
	return 2;
}

static int trcust_run(const struct settings *s, int count, char **operands)
{
	int code = check_operands(s, count, operands);

	if (code)
		return code;
	switch (s->mode) {
	case RUN_COMBINE:
		return run_combine(s, operands[0]);
	case RUN_DUMP:
		return run_dump(s, count, operands);
	case RUN_FROM_SOURCE:
		return run_from_source(s, count, operands);
	case RUN_LSP:
		return run_lsp(s);
	case RUN_LIST:
		return run_list(s, count ? operands[0] : NULL);
	case RUN_FROM_MODULE:
		return run_from_module(s, operands[0]);
	default:
		return run_compile(s, operands[0],
				   count > 1 ? operands[1] : NULL);
	}
}

int main(int argc, char **argv)
{
	struct settings s = {.level = 2, .site = MOVE_SAFE, .arch = arch_own()};
	int first, count, code;

	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);	/* a message may have many parts */
	first = options_parse(&command, argc, argv, false, &s);
	if (first < 0)
		return first == OPTIONS_DONE ?
		       error_check_stdout("trcust", "cannot write") : 2;
	count = take_slash_options(&s, argc - first, argv + first);
	if (count < 0)
		return 2;
	code = trcust_run(&s, count, argv + first);
	if (error_check_stdout("trcust", "cannot write") && !code)
		code = 1;
	return s.exit_zero ? 0 : code;
}
