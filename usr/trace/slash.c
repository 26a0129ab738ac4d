// SPDX-License-Identifier: GPL-2.0
#include "slash.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "commands.h"

/* /S and the like: a command without operands */
static const struct {
	char letter;
	const char *command;
} commands[] = {
	{ 'S', "suspend" }, { 'R', "resume" }, { 'C', "clear" },
	{ 'Q', "query" },
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))
#define LETTERS		"PSRCQBD"

static bool all_of(const char *list, int (*fits)(int c))
{
	bool empty = true;

	for (; *list; list++) {
		if (*list == ',' ? empty : !fits((unsigned char)*list))
			return false;
		empty = *list == ',';
	}
	return !empty;
}

/* "/P:1f,20", "/B:512", "/D:PROCNAME,TID", "/S" */
static bool is_well_formed(char letter, const char *rest)
{
	switch (letter) {
	case 'P':
		return *rest == ':' && all_of(rest + 1, isxdigit);
	case 'B':
		return *rest == ':' && all_of(rest + 1, isdigit) &&
		       !strchr(rest, ',');
	case 'D':
		return *rest == ':' && all_of(rest + 1, isalnum);
	default:
		return !*rest;
	}
}

/* Is the word a switch? Its letter, as a capital; else 0. */
static char letter_of(const char *arg)
{
	return slash_word(arg, LETTERS, is_well_formed) == SLASH_SWITCH ?
		toupper((unsigned char)arg[1]) : 0;
}

static const char *command_of(const char *arg)
{
	char letter = letter_of(arg);

	for (size_t i = 0; i < COMMANDS; i++)
		if (letter == commands[i].letter)
			return commands[i].command;
	return NULL;
}

static bool is_value(const char *arg)
{
	return letter_of(arg) && !command_of(arg);
}

/* "/P:xyz". What follows an option may be its value: "--context /docker". */
static bool is_bad(char **argv, int i)
{
	return slash_word(argv[i], LETTERS, is_well_formed) == SLASH_BAD &&
	       argv[i - 1][0] != '-';
}

static bool is_on(const char *arg)
{
	return !strcmp(arg, "on") || !strcmp(arg, "ON");
}

static bool is_off(const char *arg)
{
	return !strcmp(arg, "off") || !strcmp(arg, "OFF");
}

bool slash_used(int argc, char **argv)
{
	if (argc < 2)
		return false;
	if (letter_of(argv[1]) || is_bad(argv, 1) ||
	    !strcmp(argv[1], "ON") || !strcmp(argv[1], "OFF"))
		return true;
	if (!is_on(argv[1]) && !is_off(argv[1]))
		return false;
	for (int i = 2; i < argc; i++)
		if (letter_of(argv[i]) || is_bad(argv, i))
			return true;
	return false;
}

/* The command line of `trace on`, as it is made; all are freed. */
struct slash_words {
	char **items;
	int count, room;
	bool failed;
};

static void slash_add(struct slash_words *words, char *word)
{
	if (!word || words->count + 1 >= words->room) {
		words->failed = true;
		free(word);
		return;
	}
	words->items[words->count++] = word;
}

static void slash_add_option(struct slash_words *words, const char *option,
			     const char *value, const char *unit)
{
	char *word;

	slash_add(words, asprintf(&word, "--%s=%s%s", option, value, unit) < 0 ?
		  NULL : word);
}

/* The options of /P:hex,hex /D:name,name /B:KB. Names are as OS/2 had them;
 * process and thread ids are in every record. */
static void slash_value_add(struct slash_words *words, const char *arg)
{
	char *copy = strdup(arg + 3), *rest = copy, *item, decimal[24];

	while (copy && (item = strsep(&rest, ","))) {
		switch (letter_of(arg)) {
		case 'P':
			snprintf(decimal, sizeof(decimal), "%lu",
				 strtoul(item, NULL, 16));
			slash_add_option(words, "pid", decimal, "");
			break;
		case 'D':
			if (!strcasecmp(item, "PID") ||
			    !strcasecmp(item, "TID"))
				break;
			slash_add_option(words, "context",
					 strcasecmp(item, "PROCNAME") ? item :
					 "comm", "");
			break;
		default:
			slash_add_option(words, "buffer", item, "K");
		}
	}
	words->failed |= !copy;
	free(copy);
}

/* The statement ON or OFF, with its operands and options. */
static int statement_run(int argc, char **argv, int verb,
			 int (*run)(int argc, char **argv))
{
	bool off = is_off(argv[verb]);
	int status = COMMAND_DONE;
	struct slash_words words = { .room = 4 };
	char **copy = NULL;

	for (int i = 1; i < argc; i++)
		if (is_value(argv[i]) && off) {
			fprintf(stderr, "trace: '%s' goes with ON\n", argv[i]);
			return COMMAND_MISUSE;
		}
	/* each character of a list may be a word */
	for (int i = 0; i < argc; i++)
		words.room += 1 + (is_value(argv[i]) ? strlen(argv[i]) : 0);
	words.items = calloc(words.room, sizeof(*words.items));
	if (!words.items)
		words.room = 0;
	slash_add(&words, strdup(argv[0]));
	slash_add(&words, strdup(off ? "off" : "on"));
	for (int i = 1; i < argc; i++) {
		if (is_value(argv[i]))
			slash_value_add(&words, argv[i]);
		else if (i != verb && !command_of(argv[i]))
			slash_add(&words, strdup(argv[i]));
	}
	/* the options' parser moves them about */
	if (!words.failed)
		copy = calloc(words.count + 1, sizeof(*copy));
	if (copy) {
		memcpy(copy, words.items, words.count * sizeof(*copy));
		status = run(words.count, copy);
	} else {
		fputs("trace: out of memory\n", stderr);
		status = COMMAND_FAILED;
	}
	free(copy);
	while (words.count)
		free(words.items[--words.count]);
	free(words.items);
	return status;
}

static int verb_find(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!command_of(argv[i]) && !is_value(argv[i]))
			return is_on(argv[i]) || is_off(argv[i]) ? i : -1;
	return 0;
}

int slash_run(int argc, char **argv, int (*run)(int argc, char **argv))
{
	int status = COMMAND_DONE, verb = verb_find(argc, argv);

	for (int i = 1; i < argc; i++)
		if (is_bad(argv, i)) {
			slash_word_print("trace", argv[i],
					 "/P:HEX,HEX, /B:KB, /D:NAME,NAME, /S, "
					 "/R, /C, /Q");
			return COMMAND_MISUSE;
		}
	for (int i = 1; i < argc && !verb && !status; i++)
		if (is_value(argv[i]))
			verb = -1;
	if (verb < 0) {
		fputs("trace: ON or OFF is missing\n"
		      "trace: try 'trace --help'\n", stderr);
		return COMMAND_MISUSE;
	}
	for (int i = 1; i < argc && status == COMMAND_DONE; i++) {
		const char *command = command_of(argv[i]);

		if (command) {
			char name[16], *alone[] = { argv[0], name, NULL };

			snprintf(name, sizeof(name), "%s", command);
			status = run(2, alone);
		} else if (i == verb) {
			status = statement_run(argc, argv, verb, run);
		}
	}
	return status;
}
