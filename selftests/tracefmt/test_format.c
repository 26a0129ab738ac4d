// SPDX-License-Identifier: GPL-2.0
/* Formatting strings compile into the controls that manual 1.3.5.7 lists. */
#include <tap.h>
#include <rastrace/tff.h>
#include "lib/formats/format.h"

struct row {
	const char *string;
	const char *steps;	/* letters; text in quotes; count of %I */
	int unknown_at;
};

static const struct row rows[] = {
	{ "", "", -1 },
	{ "plain", "'plain'", -1 },
	{ "memory byte = %P%B", "'memory byte = 'PB", -1 },
	/* the manual's three spellings */
	{ "%P%W here", "PW' here'", -1 },
	{ "%p%w here", "PW' here'", -1 },
	{ "%P %W here", "PW' here'", -1 },
	{ "%R %W|", "RW'|'", -1 },
	{ "%P here", "P' here'", -1 },
	/* and the later one */
	{ "%PW here", "PW' here'", -1 },
	{ "a %pq|%Pb%PS", "'a 'PQ'|'PBPS", -1 },
	{ "%PI2 x%PI3", "PI2'x'PI3", -1 },
	{ "%PW%B", "PWB", -1 },
	{ "%PI2x", "P'I2x'", -1 },
	{ "%Phere %PData %PAX=%W", "P'here 'P'Data 'P'AX='W", -1 },
	{ "%PX %P W", "P'X 'P' W'", -1 },
	{ "%P\n%W", "P'\n'W", -1 },
	{ "%P%P%W", "PPW", -1 },
	{ "%P %X", "P' 'X", -1 },
	{ "%W %W", "W' 'W", -1 },
	{ "%b%w%d%f%q%a%s%u%x%y%l%c", "BWDFQASUXYLC", -1 },
	/* %Innn: a blank or the end must follow and is removed */
	{ "ten %I10 here", "'ten 'I10'here'", -1 },
	{ "%I6", "I6", -1 },
	{ "%I6\n", "I6'\n'", -1 },
	{ "%i007 ", "I7", -1 },
	{ "%P %I2 x", "PI2'x'", -1 },
	{ "%I10here", "'%I10here'", 0 },
	{ "%I here", "'%I here'", 0 },
	{ "%I65535 ", "I65535", -1 },
	{ "%I65536 ", "'%I65536 '", 0 },
	{ "%I99999999999999999999 ", "'%I99999999999999999999 '", 0 },
	/* per cent signs */
	{ "100%%", "'100%'", -1 },
	{ "%%P%P", "'%P'P", -1 },
	{ "%%%W", "'%'W", -1 },
	/* what is no control is text */
	{ "a%Zb%W", "'a%Zb'W", 1 },
	{ "%W%Z%J", "W'%Z%J'", 2 },
	{ "end%", "'end%'", 3 },
	{ "% W", "'% W'", 0 },
	{ "\xff%\xff", "'\xff%\xff'", 1 },
	{ "%R", "'%R'", 0 },
	{ "%R text", "'%R text'", 0 },
	{ "%R%X", "'%R'X", 0 },
	{ "%R%R%W", "'%R'RW", 0 },
	/* typed controls */
	{ "%{d8}%{d16}%{d32}%{d64}", "{d8}{d16}{d32}{d64}", -1 },
	{ "%{u8}%{x16}%{o32}%{b64}", "{u8}{x16}{o32}{b64}", -1 },
	{ "%{f32} %{f64}", "{f32}' '{f64}", -1 },
	{ "%{p32}%{p64}%{bool}%{c}%{s}", "{p32}{p64}{bool}{c}{s}", -1 },
	{ "%{hex}%{hex5}%{hex65535}", "{hex}{hex5}{hex65535}", -1 },
	{ "%P%{x8}", "P{x8}", -1 },
	{ "%P %{struct request}", "P{struct request}", -1 },
	{ "%R%{struct request}|", "R{struct request}'|'", -1 },
	{ "%{std::vector<int, std::allocator<int> >}",
	  "{std::vector<int, std::allocator<int> >}", -1 },
	{ "%{time}%{time32}%{time64}%{timespec}%{timeval}%{ns}",
	  "{8}{4}{8}{16}{16}{8}", -1 },
	{ "%{be16}%{be32}%{be64}%{ip4}%{ip6}%{mac}%{dump}",
	  "{u16be}{u32be}{u64be}{4}{16}{6}{0}", -1 },
	{ "%{d1}%{u12}%{x40be}%{o63}%{b7}%{f64be}%{p32be}%{d64be}",
	  "{d1}{u12}{x40be}{o63}{b7}{f64be}{p32be}{d64be}", -1 },
	{ "%{str16}%{dump64}%{hex5}%{time_ns}%{time_us}%{time_ms}%{us}%{ms}",
	  "{s16}{64}{hex5}{8}{8}{8}{8}{8}", -1 },
	{ "%{enum8:RED=0,GREEN=1, BLUE=0x7f}",
	  "{enum8 RED=0/FF GREEN=1/FF BLUE=7F/FF}", -1 },
	{ "%R%{enum16be:NO=-1,A.b-c+d_2=0xFFfe}",
	  "R{enum16be NO=FFFF/FFFF A.b-c+d_2=FFFE/FFFF}", -1 },
	{ "%{flags5:NONE=0,RD=1,WR=2,MODE=8/12,TOP=0x10}",
	  "{flags5 NONE=0/1F RD=1/1 WR=2/2 MODE=8/C TOP=10/10}", -1 },
	{ "%{flags64:ALL=0xffffffffffffffff}",
	  "{flags64 ALL=FFFFFFFFFFFFFFFF/FFFFFFFFFFFFFFFF}", -1 },
	{ "%{enum8:A=1}%{flags8:B=2}%W%{enum8:C=3}",
	  "{enum8 A=1/FF}{flags8 B=2/2}W{enum8 C=3/FF}", -1 },
	/* names and values of another form */
	{ "%{enum8:}", "'%{enum8:}'", 0 },
	{ "%{enum8:A}", "'%{enum8:A}'", 0 },
	{ "%{enum8:=1}", "'%{enum8:=1}'", 0 },
	{ "%{enum8:A=}", "'%{enum8:A=}'", 0 },
	{ "%{enum8:A=0x}", "'%{enum8:A=0x}'", 0 },
	{ "%{enum8:A=1,}", "'%{enum8:A=1,}'", 0 },
	{ "%{enum8:A=1 }", "'%{enum8:A=1 }'", 0 },
	{ "%{enum8:A=256}", "'%{enum8:A=256}'", 0 },
	{ "%{enum8:A=-129}", "'%{enum8:A=-129}'", 0 },
	{ "%{enum8:A=1/1}", "'%{enum8:A=1/1}'", 0 },
	{ "%{enum8:A B=1}", "'%{enum8:A B=1}'", 0 },
	{ "%{enum:A=1}", "'%{enum:A=1}'", 0 },
	{ "%{enum65:A=1}", "'%{enum65:A=1}'", 0 },
	{ "%{enum64:A=18446744073709551616}",
	  "'%{enum64:A=18446744073709551616}'", 0 },
	{ "%{flags8:A=-1}", "'%{flags8:A=-1}'", 0 },
	{ "%{flags8:A=4/3}", "'%{flags8:A=4/3}'", 0 },
	{ "%{flags8:A=1/-1}", "'%{flags8:A=1/-1}'", 0 },
	{ "%{flags8:A=0/0}", "'%{flags8:A=0/0}'", 0 },
	{ "%{flags8:A=1/256}", "'%{flags8:A=1/256}'", 0 },
	{ "%{flags8}", "'%{flags8}'", 0 },
	/* no such width, other case: a type's name, here an unknown one */
	{ "%{f16}", "'%{f16}'", 0 },
	{ "%{p8}", "'%{p8}'", 0 },
	{ "%{d0}", "'%{d0}'", 0 },
	{ "%{d032}", "'%{d032}'", 0 },
	{ "%{d65}", "'%{d65}'", 0 },
	{ "%{d128}", "'%{d128}'", 0 },
	{ "%{d32le}", "'%{d32le}'", 0 },
	{ "%{dbe}", "'%{dbe}'", 0 },
	{ "%{f16be}", "'%{f16be}'", 0 },
	{ "%{be24}", "'%{be24}'", 0 },
	{ "%{str}", "'%{str}'", 0 },
	{ "%{str0}", "'%{str0}'", 0 },
	{ "%{hex0}", "'%{hex0}'", 0 },
	{ "%{hex65536}", "'%{hex65536}'", 0 },
	{ "%{D32}", "'%{D32}'", 0 },
	{ "a%{no such}%W", "'a%{no such}'W", 1 },
	{ "%P%{no such}", "P'%{no such}'", 2 },
	{ "%R%{no such}", "'%R%{no such}'", 0 },
	{ "%{}", "'%{}'", 0 },
	{ "%{", "'%{'", 0 },
	{ "%{d32", "'%{d32'", 0 },
	{ "%{d32\n}", "'%{d32\n}'", 0 },
	{ "%{d%W}", "'%{d'W'}'", 0 },
};

/* Of C types there are "struct request" and a C++ name. */
static uint32_t type_find(const void *context, const char *name, size_t length)
{
	static const char *const names[] = {
		"struct request", "std::vector<int, std::allocator<int> >",
	};

	for (uint32_t i = 0; i < 2; i++)
		if (strlen(names[i]) == length &&
		    !memcmp(names[i], name, length))
			return i;
	return TFF_CTYPE_NONE;
}

static const struct format_types types = { type_find };

static char *names_show(const struct format_step *step, char *text)
{
	text += sprintf(text, "{%s%u%s", step->type == FORMAT_ENUM ? "enum" :
			"flags", step->bits, step->big ? "be" : "");
	for (size_t i = 0; i < step->name_count; i++) {
		const struct format_name *name = &step->names[i];

		text += sprintf(text, " %.*s=%llX/%llX", (int)name->length,
				name->text, (unsigned long long)name->value,
				(unsigned long long)name->mask);
	}
	return text + sprintf(text, "}");
}

static char *typed_show(const struct format_step *step, char *text)
{
	static const char letters[] = {
		[FORMAT_INT] = 'd', [FORMAT_UINT] = 'u', [FORMAT_HEX] = 'x',
		[FORMAT_OCTAL] = 'o', [FORMAT_BINARY] = 'b',
		[FORMAT_FLOAT] = 'f', [FORMAT_POINTER] = 'p',
	};

	switch (step->type) {
	case FORMAT_NAMED:
		return text + sprintf(text, "{%.*s}", (int)step->length,
				      step->text);
	case FORMAT_BYTES:
		return text + (step->bytes ? sprintf(text, "{hex%u}",
						     step->bytes) :
					     sprintf(text, "{hex}"));
	case FORMAT_BOOL:
		return text + sprintf(text, "{bool}");
	case FORMAT_CHAR:
		return text + sprintf(text, "{c}");
	case FORMAT_STRING:
		return text + (step->bytes ? sprintf(text, "{s%u}",
						     step->bytes) :
					     sprintf(text, "{s}"));
	case FORMAT_ENUM:
	case FORMAT_FLAGS:
		return names_show(step, text);
	case FORMAT_INT ... FORMAT_BINARY:
	case FORMAT_FLOAT:
	case FORMAT_POINTER:
		return text + sprintf(text, "{%c%u%s}", letters[step->type],
				      step->bits, step->big ? "be" : "");
	default:
		return text + sprintf(text, "{%u}", step->bytes);
	}
}

static void steps_show(const struct format *format, char *text)
{
	for (size_t i = 0; i < format->count; i++) {
		const struct format_step *step = &format->steps[i];

		if (step->kind == FORMAT_TEXT)
			text += sprintf(text, "'%.*s'", (int)step->length,
					step->text);
		else if (step->letter == '{')
			text = typed_show(step, text);
		else if (step->letter == 'I')
			text += sprintf(text, "I%u", step->count);
		else
			*text++ = step->letter;
	}
	*text = '\0';
}

static void name_show(const char *string, char *text)
{
	for (; *string; string++)
		*text++ = *string < ' ' ? '.' : *string;
	*text = '\0';
}

/* Each control remembers where it stood. */
static void test_places(void)
{
	struct format format;

	format_compile(&format, "ab%P %W%Q", NULL);
	tap_is(format.steps[1].at, 2, "place of %%P");
	tap_is(format.steps[2].at, 5, "place of %%W");
	tap_is(format.steps[3].at, 7, "place of %%Q");
	format_free(&format);
}

static void test_names(void)
{
	struct format format;

	format_compile(&format, "%{any name}%W", NULL);
	tap_is(format.count, 2, "without types every name is one");
	format_free(&format);
	tap_is(format_type_match("struct s", TFF_CTYPE_STRUCT, "struct s", 8),
	       2, "a type's own name");
	tap_is(format_type_match("s", TFF_CTYPE_STRUCT, "struct s", 8), 1,
	       "struct in front of a class");
	tap_is(format_type_match("s", TFF_CTYPE_ENUM, "enum s", 6), 1,
	       "enum in front of an enum");
	tap_is(format_type_match("s", TFF_CTYPE_ENUM, "struct s", 8), 0,
	       "struct in front of an enum");
	tap_is(format_type_match("struct s2", TFF_CTYPE_STRUCT, "struct s", 8),
	       0, "a longer name");
	tap_is(format_type_match("struct ", TFF_CTYPE_STRUCT, "struct s", 8),
	       0, "a shorter name");
	tap_ok(format_name_reserved("x16"), "x16 is a control's");
	tap_ok(format_name_reserved("x17"), "x17, too");
	tap_ok(!format_name_reserved("x65"), "x65 is not");
	tap_ok(!format_name_reserved("s16"), "s16 is not, the kernel has it");
	tap_ok(!format_name_reserved("enum8:A=1"), "no name of a type");
	tap_ok(!format_name_reserved(""), "no name");
}

static void test_long(void)
{
	size_t n = 1 << 20;
	char *string = malloc(2 * n + 1);
	struct format format;

	for (size_t i = 0; i < n; i++)
		memcpy(string + 2 * i, "%P", 2);
	string[2 * n] = '\0';
	format_compile(&format, string, NULL);
	tap_is(format.count, n, "a million of prefixes");
	format_free(&format);
	for (size_t i = 0; i < n; i++)
		memcpy(string + 2 * i, i % 2 ? "%W" : "xx", 2);
	format_compile(&format, string, NULL);
	tap_is(format.count, n, "text and controls in turn");
	format_free(&format);
	free(string);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct format format;
		char steps[256], name[256];

		name_show(rows[i].string, name);
		if (format_compile(&format, rows[i].string, &types))
			tap_bail("no memory");
		steps_show(&format, steps);
		tap_str(steps, rows[i].steps, "'%s'", name);
		tap_is((int)format.unknown_at, rows[i].unknown_at,
		       "'%s': first unknown control", name);
		format_free(&format);
	}
	test_places();
	test_names();
	test_long();
	return tap_done();
}
