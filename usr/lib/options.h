/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Command line options by table: getopt_long parses, and the same table
 * prints --help. The completion reads --help; a test holds the man pages
 * against it.
 */
#ifndef LIB_OPTIONS_H
#define LIB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Switches of OS/2 ("/W1", "/M=app.map", "/P:1f,20") among operands, which may
 * be paths: "/wide/app.tsf" begins as one, too.
 */

enum slash_word {
	SLASH_NONE,		/* a path, or anything else */
	SLASH_SWITCH,
	SLASH_BAD,		/* begins as one and isn't well formed */
};

/*
 * What the word is. `letters` are those of the switches, in capitals;
 * `well_formed` looks at what follows the letter. A word with a second slash is
 * a path, unless it is a switch whose value begins after the third character.
 * A word in which more than digits, '=' and ':' follow the letter is a path when
 * there is a file of that name.
 */
enum slash_word slash_word(const char *word, const char *letters,
			   bool (*well_formed)(char letter, const char *rest));

/* The message about a bad one; `switches` are those there are, for the hint. */
void slash_word_print(const char *program, const char *word,
		      const char *switches);

struct option_def {
	const char *name;	/* long name, without the dashes */
	char letter;		/* short name or 0 */
	const char *value;	/* name of the value in --help, NULL = none;
				 * "[=NAME]": may be left out */
	const char *help;	/* one line, lower case, no full stop; at its end
				 * which values there are, "a|b|c" */
	/* Take the value (NULL without one); 0, or -1 after a message. NULL: the
	 * value goes to a const char * at `place` of the context; without one a
	 * bool there becomes true. */
	int (*take)(void *context, const char *value);
	size_t place;
};

#define OPTION_PLACE(type, member)	NULL, offsetof(type, member)

struct command_def {
	const char *program;	/* "trace" */
	const char *name;	/* "on", or NULL for a program without commands */
	const char *operands;	/* "APP.TDF...", or "" */
	const char *help;	/* one line */
	const struct option_def *options;	/* ends with name = NULL */
};

#define OPTIONS_DONE	(-1)	/* --help or --version was printed: exit 0 */
#define OPTIONS_WRONG	(-2)	/* misuse, reported on stderr: exit 2 */

/*
 * Parse argv (argv[0] is skipped). Options may be before and between the
 * operands; "--" ends them; with `stop` the first operand does. Returns the
 * index of the first operand in argv (which is permuted), or OPTIONS_*.
 * Every command knows --help and --version.
 */
int options_parse(const struct command_def *command, int argc, char **argv,
		  bool stop, void *context);

/* Print that the value of an option is wrong, from take(). Returns -1. */
int options_value_wrong(const char *option, const char *value,
			const char *expected);

#endif
