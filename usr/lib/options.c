// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum slash_word slash_word(const char *word, const char *letters,
			   bool (*well_formed)(char letter, const char *rest))
{
	const char *rest, *end;
	char letter;

	if (word[0] != '/' || !word[1])
		return SLASH_NONE;
	letter = toupper((unsigned char)word[1]);
	if (!strchr(letters, letter))
		return SLASH_NONE;
	rest = word + 2;
	if (well_formed(letter, rest))
		return SLASH_SWITCH;
	if (*rest != '=' && *rest != ':' && strchr(rest, '/'))
		return SLASH_NONE;
	end = rest + strspn(rest, "0123456789");
	if (*end && *end != '=' && *end != ':' && !access(word, F_OK))
		return SLASH_NONE;
	return SLASH_BAD;
}

void slash_word_print(const char *program, const char *word,
		      const char *switches)
{
	fprintf(stderr, "%s: '%s' is not a switch: there are %s\n"
		"%s: a file of that name is '/.%s'\n",
		program, word, switches, program, word);
}

#define OPTION_HELP	0x100
#define OPTION_VERSION	0x101
#define OPTION_FIRST	0x200

static const char *program = "";	/* whose options are parsed */

static size_t option_count(const struct option_def *options)
{
	size_t n = 0;

	while (options && options[n].name)
		n++;
	return n;
}

static bool value_optional(const struct option_def *def)
{
	return def->value && def->value[0] == '[';
}

static void option_print(const struct option_def *def)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s%s", def->name,
		 !def->value || value_optional(def) ? "" : " ",
		 def->value ? def->value : "");
	if (def->letter)
		printf("  -%c, --%-22s %s\n", def->letter, text, def->help);
	else
		printf("      --%-22s %s\n", text, def->help);
}

static void command_name(const struct command_def *command, char *text,
			 size_t size)
{
	snprintf(text, size, "%s%s%s", command->program,
		 command->name ? " " : "", command->name ? command->name : "");
}

static void options_help(const struct command_def *command)
{
	static const struct option_def common[] = {
		{ "help", 'h', NULL, "print this and exit" },
		{ "version", 'V', NULL, "print the version and exit" },
	};
	char name[80];

	command_name(command, name, sizeof(name));
	printf("usage: %s [OPTIONS] %s\n\n%s\n\noptions:\n", name,
	       command->operands, command->help);
	for (size_t i = 0; i < option_count(command->options); i++)
		option_print(&command->options[i]);
	for (size_t i = 0; i < 2; i++)
		option_print(&common[i]);
}

/* getopt_long's form of the table, and its string of letters. */
static struct option *options_make(const struct option_def *defs, char *letters)
{
	size_t n = option_count(defs);
	struct option *longs = calloc(n + 3, sizeof(*longs));

	if (!longs)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		longs[i].name = defs[i].name;
		longs[i].has_arg = !defs[i].value ? no_argument :
				   value_optional(&defs[i]) ?
				   optional_argument : required_argument;
		longs[i].val = OPTION_FIRST + i;
		if (!defs[i].letter)
			continue;
		*letters++ = defs[i].letter;
		if (defs[i].value)
			*letters++ = ':';
		if (value_optional(&defs[i]))
			*letters++ = ':';
	}
	longs[n] = (struct option){ "help", no_argument, NULL, OPTION_HELP };
	longs[n + 1] = (struct option){ "version", no_argument, NULL,
					OPTION_VERSION };
	strcpy(letters, "hV");
	return longs;
}

static const struct option_def *option_of(const struct option_def *defs, int c)
{
	if (c >= OPTION_FIRST)
		return &defs[c - OPTION_FIRST];
	while (defs->letter != c)
		defs++;
	return defs;
}

/* One result of getopt_long: 0 go on, or OPTIONS_*. */
static int option_take(const struct command_def *command, int c, void *context)
{
	const struct option_def *def;
	char name[80];

	command_name(command, name, sizeof(name));
	switch (c) {
	case 'h':
	case OPTION_HELP:
		options_help(command);
		return OPTIONS_DONE;
	case 'V':
	case OPTION_VERSION:
		printf("%s (rastrace) %s\n", command->program,
		       RASTRACE_VERSION);
		return OPTIONS_DONE;
	case '?':
		fprintf(stderr, "%s: try '%s --help'\n", command->program,
			name);
		return OPTIONS_WRONG;
	}
	def = option_of(command->options, c);
	if (def->take)
		return def->take(context, optarg) ? OPTIONS_WRONG : 0;
	if (def->value)
		*(const char **)((char *)context + def->place) = optarg;
	else
		*(bool *)((char *)context + def->place) = true;
	return 0;
}

int options_value_wrong(const char *option, const char *value,
			const char *expected)
{
	fprintf(stderr, "%s: --%s '%s': %s\n", program, option, value,
		expected);
	return -1;
}

static int memory_missing(const struct command_def *command)
{
	fprintf(stderr, "%s: out of memory\n", command->program);
	return OPTIONS_WRONG;
}

int options_parse(const struct command_def *command, int argc, char **argv,
		  bool stop, void *context)
{
	size_t n = option_count(command->options);
	char *letters = malloc(3 * n + 8);
	struct option *longs;
	int c, result = 0;

	if (!letters)
		return memory_missing(command);
	program = command->program;
	letters[0] = '+';
	longs = options_make(command->options, letters + (stop ? 1 : 0));
	if (longs) {
		optind = 0;
		argv[0] = (char *)command->program;	/* in messages */
		while (!result && (c = getopt_long(argc, argv, letters, longs,
						   NULL)) != -1)
			result = option_take(command, c, context);
	} else {
		result = memory_missing(command);
	}
	free(longs);
	free(letters);
	return result ? result : optind;
}
