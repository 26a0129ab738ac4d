/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Switches of OS/2 ("/W1", "/M=app.map", "/P:1f,20") among operands, which may
 * be paths: "/wide/app.tsf" begins as one, too.
 */
#ifndef LIB_SLASH_WORD_H
#define LIB_SLASH_WORD_H

#include <stdbool.h>

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

#endif
