// SPDX-License-Identifier: GPL-2.0
#include "slash_word.h"

#include <ctype.h>
#include <stdio.h>
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
