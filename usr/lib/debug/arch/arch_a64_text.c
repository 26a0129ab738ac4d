// SPDX-License-Identifier: GPL-2.0
/* Text of instructions, and of those of extensions: FEAT_LSE, FEAT_LRCPC,
 * FEAT_PAuth, FEAT_BTI. Encodings: Arm ARM, C4.1 and C6.2. */
#include "arch_a64_text.h"

#include <stdarg.h>
#include <stdio.h>

void a64_text_add(struct a64_text *text, const char *format, ...)
{
	size_t room = text->used < text->size ? text->size - text->used : 0;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(room ? text->out + text->used : NULL, room, format,
			   args);
	va_end(args);
	text->used += length > 0 ? length : 0;
}

void a64_text_register(struct a64_text *text, char letter, unsigned int number,
		       char kind_of_31)
{
	if (number != 31)
		a64_text_add(text, "%c%u", letter, number);
	else if (kind_of_31 == 'z')
		a64_text_add(text, "%czr", letter);
	else
		a64_text_add(text, letter == 'w' ? "wsp" : "sp");
}

static void zero_or_register(struct a64_text *text, char letter,
			     unsigned int number)
{
	a64_text_register(text, letter, number & 31, 'z');
}

static void a64_text_base(struct a64_text *text, uint32_t word)
{
	a64_text_add(text, ", [");
	a64_text_register(text, 'x', word >> 5 & 31, 's');
}

/* "al", "b": acquire, release and the size of what is less than a word */
static void atomic_suffix(struct a64_text *text, uint32_t word, bool acquires,
			  bool releases)
{
	static const char *const sizes[] = { "b", "h", "", "" };

	a64_text_add(text, "%s%s%s ", acquires ? "a" : "", releases ? "l" : "",
		     sizes[word >> 30]);
}

/* ldadd w0, w1, [x2] and the like; stadd w0, [x2] where what was there goes
 * nowhere */
static bool atomic_print(uint32_t word, struct a64_text *text)
{
	static const char *const operations[] = {
		"add", "clr", "eor", "set", "smax", "smin", "umax", "umin",
	};
	bool acquires = word >> 23 & 1, releases = word >> 22 & 1;
	unsigned int operation = word >> 12 & 15;
	char letter = word >> 30 == 3 ? 'x' : 'w';
	bool stores = operation < 8 && (word & 31) == 31 && !acquires;

	if ((word & 0x3f200c00) != 0x38200000 || operation > 8)
		return false;
	if (operation == 8)
		a64_text_add(text, "swp");
	else
		a64_text_add(text, "%s%s", stores ? "st" : "ld",
			     operations[operation]);
	atomic_suffix(text, word, acquires, releases);
	zero_or_register(text, letter, word >> 16);
	if (!stores) {
		a64_text_add(text, ", ");
		zero_or_register(text, letter, word);
	}
	a64_text_base(text, word);
	a64_text_add(text, "]");
	return true;
}

/* cas w0, w1, [x2]; ldapr w0, [x1] */
static bool cas_print(uint32_t word, struct a64_text *text)
{
	bool cas = (word & 0x3fa07c00) == 0x08a07c00;
	char letter = word >> 30 == 3 ? 'x' : 'w';

	if (!cas && (word & 0x3ffffc00) != 0x38bfc000)
		return false;
	a64_text_add(text, cas ? "cas" : "ldapr");
	atomic_suffix(text, word, cas && word >> 22 & 1, cas && word >> 15 & 1);
	if (cas) {
		zero_or_register(text, letter, word >> 16);
		a64_text_add(text, ", ");
	}
	zero_or_register(text, letter, word);
	a64_text_base(text, word);
	a64_text_add(text, "]");
	return true;
}

static bool casp_print(uint32_t word, struct a64_text *text)
{
	char letter = word >> 30 & 1 ? 'x' : 'w';
	unsigned int from = word >> 16 & 31, to = word & 31;

	if ((word & 0xbfa07c00) != 0x08207c00 || from & 1 || to & 1)
		return false;
	a64_text_add(text, "casp%s%s ", word >> 22 & 1 ? "a" : "",
		     word >> 15 & 1 ? "l" : "");
	for (unsigned int i = 0; i < 4; i++) {
		a64_text_add(text, i ? ", " : "");
		zero_or_register(text, letter,
				 (i < 2 ? from : to) + (i & 1));
	}
	a64_text_base(text, word);
	a64_text_add(text, "]");
	return true;
}

static bool hint_print(uint32_t word, struct a64_text *text)
{
	static const char *const hints[128] = {
		"nop", "yield", "wfe", "wfi", "sev", "sevl", NULL, "xpaclri",
		"pacia1716", NULL, "pacib1716", NULL,
		"autia1716", NULL, "autib1716", NULL,
		"esb", "psb csync", "tsb csync", NULL, "csdb",
		[24] = "paciaz", "paciasp", "pacibz", "pacibsp",
		"autiaz", "autiasp", "autibz", "autibsp",
		"bti", NULL, "bti c", NULL, "bti j", NULL, "bti jc",
	};
	unsigned int hint = word >> 5 & 0x7f;

	if ((word & 0xfffff01f) != 0xd503201f)
		return false;
	if (hints[hint])
		a64_text_add(text, "%s", hints[hint]);
	else
		a64_text_add(text, "hint #0x%x", hint);
	return true;
}

/* ret, eret, br and blr that check the address */
static bool checked_branch_print(uint32_t word, struct a64_text *text)
{
	unsigned int kind = word >> 21 & 7;
	char key = word >> 10 & 1 ? 'b' : 'a';
	bool modifier = word >> 24 & 1;

	if ((word & 0xfefff800) == 0xd61f0800 ||
	    (word & 0xfefff800) == 0xd63f0800) {
		if (!modifier && (word & 31) != 31)
			return false;
		a64_text_add(text, "%sa%c%s ", kind == 1 ? "blr" : "br", key,
			     modifier ? "" : "z");
		zero_or_register(text, 'x', word >> 5);
		if (modifier) {
			a64_text_add(text, ", ");
			a64_text_register(text, 'x', word & 31, 's');
		}
		return true;
	}
	if ((word & 0xfffffbff) != 0xd65f0bff &&
	    (word & 0xfffffbff) != 0xd69f0bff)
		return false;
	a64_text_add(text, "%sa%c", kind == 2 ? "ret" : "eret", key);
	return true;
}

/* pacia x0, x1; paciza x0; xpaci x0 */
static bool sign_print(uint32_t word, struct a64_text *text)
{
	static const char *const names[] = {
		"pacia", "pacib", "pacda", "pacdb",
		"autia", "autib", "autda", "autdb",
		"paciza", "pacizb", "pacdza", "pacdzb",
		"autiza", "autizb", "autdza", "autdzb", "xpaci", "xpacd",
	};
	unsigned int which = word >> 10 & 0x3f;

	if ((word & 0xffff0000) != 0xdac10000 ||
	    which >= sizeof(names) / sizeof(names[0]) ||
	    (which >= 8 && (word >> 5 & 31) != 31))
		return false;
	a64_text_add(text, "%s ", names[which]);
	zero_or_register(text, 'x', word);
	if (which < 8) {
		a64_text_add(text, ", ");
		a64_text_register(text, 'x', word >> 5 & 31, 's');
	}
	return true;
}

static bool pacga_print(uint32_t word, struct a64_text *text)
{
	if ((word & 0xffe0fc00) != 0x9ac03000)
		return false;
	a64_text_add(text, "pacga ");
	zero_or_register(text, 'x', word);
	a64_text_add(text, ", ");
	zero_or_register(text, 'x', word >> 5);
	a64_text_add(text, ", ");
	a64_text_register(text, 'x', word >> 16 & 31, 's');
	return true;
}

static bool ldraa_print(uint32_t word, struct a64_text *text)
{
	int distance = (word >> 12 & 0x1ff) * 8;

	if ((word & 0xff200400) != 0xf8200400)
		return false;
	if (word >> 22 & 1)
		distance -= 4096;
	a64_text_add(text, "ldra%c ", word >> 23 & 1 ? 'b' : 'a');
	zero_or_register(text, 'x', word);
	a64_text_base(text, word);
	if (distance)
		a64_text_add(text, ", #%d", distance);
	a64_text_add(text, "]%s", word >> 11 & 1 ? "!" : "");
	return true;
}

bool a64_extension_print(uint32_t word, struct a64_text *text)
{
	if (!(word & 0xffff0000)) {
		a64_text_add(text, "udf #%u", word);
		return true;
	}
	return atomic_print(word, text) || cas_print(word, text) ||
	       casp_print(word, text) || hint_print(word, text) ||
	       checked_branch_print(word, text) || sign_print(word, text) ||
	       pacga_print(word, text) || ldraa_print(word, text);
}
