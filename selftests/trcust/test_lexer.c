// SPDX-License-Identifier: GPL-2.0
/* The TSF becomes the right tokens, at the right places. */
#include "tap.h"
#include "trcust/tsf/lexer.h"

static char kind_letter(enum token_kind kind)
{
	return "eWNSMYP"[kind];
}

/* All tokens as "Kline:column:text", with blanks between. */
static void tokens_text(const char *text, size_t size, char *out, size_t room)
{
	struct diag *diag;
	struct lexer lexer;
	struct token token;
	size_t used = 0;

	if (diag_open_text(&diag, "text", text, size, 2, NULL))
		tap_bail("no memory");
	lexer_init(&lexer, diag);
	out[0] = 0;
	while ((token = lexer_next(&lexer)).kind != TOKEN_END)
		used += snprintf(out + used, room - used, "%s%c%u:%u:%.*s",
				 used ? " " : "", kind_letter(token.kind),
				 token.pos.line, token.pos.column,
				 (int)token.length, token.text);
	if (lexer.failed)
		snprintf(out + used, room - used, "%s!", used ? " " : "");
	diag_close(diag);
}

static const struct {
	const char *name, *text, *tokens;
} rows[] = {
	{ "nothing", "", "" },
	{ "blanks", " \t\r\n\f\v ", "" },
	{ "words", "MODNAME = a_b$9", "W1:1:MODNAME M1:9:= W1:11:a_b$9" },
	{ "numbers", "010 0x1F 9C", "N1:1:010 N1:5:0x1F N1:10:9C" },
	{ "marks", "=(.@+-*),", "M1:1:= M1:2:( M1:3:. M1:4:@ M1:5:+ M1:6:- "
				"M1:7:* M1:8:) M1:9:," },
	{ "lines", "a\nb\r\n\tc", "W1:1:a W2:1:b W3:2:c" },
	{ "no line end", "a ; b", "W1:1:a" },
	{ "; comment", "a;b\"/*\nc", "W1:1:a W2:1:c" },
	{ "C comment", "a/* \" ; */b", "W1:1:a W1:11:b" },
	{ "nested comments", "a/*/**//*x*/y*/b", "W1:1:a W1:16:b" },
	{ "a comment over lines", "a/*\n/*\n*/ */ b", "W1:1:a W3:7:b" },
	{ "/*/ is not closed", "/*/ */b", "W1:7:b" },
	{ "an open comment", "a /* /* */", "W1:1:a !" },
	{ "*/ alone", "a*/", "W1:1:a M1:2:* M1:3:/" },
	{ "a star and a comment", "I*+6*/*x*/,", "W1:1:I M1:2:* M1:3:+ N1:4:6 "
						"M1:5:* M1:11:," },
	{ "strings", "\"a b\" \"\"", "S1:1:a b S1:7:" },
	{ "quotes in strings", "\"a\\\"b\" \"\\\\\" c",
	  "S1:1:a\\\"b S1:8:\\\\ W1:13:c" },
	{ "comments in strings", "\"a;/*b\"", "S1:1:a;/*b" },
	{ "a line end in a string", "x \"a\nb\"", "W1:1:x !" },
	{ "an escaped line end", "\"a\\\nb\"", "!" },
	{ "a carriage return in a string", "\"a\r\n\"", "!" },
	{ "an open string", "x \"a", "W1:1:x !" },
	{ "a string open after a backslash", "\"\\", "!" },
	{ "a byte order mark", "\xef\xbb\xbfMAJOR", "W1:4:MAJOR" },
	{ "the end of file of DOS", "a\r\n\x1a", "W1:1:a" },
	{ "UTF-8 in words", "gr\xc3\xbc\xc3\x9f" "e", "W1:1:grüße" },
};

static void rows_check(void)
{
	char got[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tokens_text(rows[i].text, strlen(rows[i].text), got,
			    sizeof(got));
		tap_str(got, rows[i].tokens, "%s", rows[i].name);
	}
	tokens_text("a \0 b", 5, got, sizeof(got));
	tap_ok(!strncmp(got, "W1:1:a M1:3:", 12) && strstr(got, "W1:5:b"),
	       "a zero is a mark");
	tokens_text("a \"\0\" b", 7, got, sizeof(got));
	tap_str(got, "W1:1:a !", "a zero in a string");
}

static const struct {
	const char *text;
	bool valid;
	uint64_t value;
} numbers[] = {
	{ "0", true, 0 },
	{ "08", true, 8 },
	{ "0010", true, 10 },
	{ "0x10", true, 16 },
	{ "0XfF", true, 255 },
	{ "65535", true, 65535 },
	{ "18446744073709551615", true, UINT64_MAX },
	{ "18446744073709551616", true, UINT64_MAX },
	{ "99999999999999999999999999", true, UINT64_MAX },
	{ "0x10000000000000001", true, UINT64_MAX },
	{ "0x", false, 0 },
	{ "0xg", false, 0 },
	{ "9C", false, 0 },
	{ "1_000", false, 0 },
	{ "word", false, 0 },
};

static void numbers_check(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const char *text = numbers[i].text;
		struct token token;
		struct lexer lexer;
		struct diag *diag;
		uint64_t value;
		bool valid;

		if (diag_open_text(&diag, "", text, strlen(text), 2, NULL))
			tap_bail("no memory");
		lexer_init(&lexer, diag);
		token = lexer_next(&lexer);
		valid = token_number(&token, &value);
		tap_ok(valid == numbers[i].valid &&
		       (!valid || value == numbers[i].value), "%s", text);
		diag_close(diag);
	}
}

static void reread_check(const char *text, bool path, const char *expected)
{
	struct token token;
	struct lexer lexer;
	struct diag *diag;
	char got[64];

	if (diag_open_text(&diag, "", text, strlen(text), 2, NULL))
		tap_bail("no memory");
	lexer_init(&lexer, diag);
	token = lexer_next(&lexer);
	token = path ? lexer_reread_path(&lexer, token) :
		       lexer_reread_symbol(&lexer, token);
	snprintf(got, sizeof(got), "%c%.*s", kind_letter(token.kind),
		 (int)token.length, token.text);
	token = lexer_next(&lexer);
	snprintf(got + strlen(got), sizeof(got) - strlen(got), " %.*s",
		 (int)token.length, token.text);
	tap_str(got, expected, "%s as a %s", text, path ? "path" : "symbol");
	diag_close(diag);
}

/* What of a text after a dot is the name of a symbol. */
static const struct {
	const char *text, *name;
} names[] = {
	{ "f.part.0@VER+4", "f.part.0@VER" },
	{ "file.c:name,RETEP", "file.c:name" },
	{ "16bit,x", "16bit" },
	{ "ns::cls::fn,RETEP", "ns::cls::fn" },
	{ "::fn", "::fn" },
	{ "fn(int, char const*), x", "fn(int, char const*)" },
	{ "fn() const, x", "fn() const" },
	{ "fn() const &,", "fn() const &" },
	{ "fn() constant,", "fn()" },
	{ "fn(int (*)(char)) [clone .cold],", "fn(int (*)(char)) [clone .cold]" },
	{ "cls<int>::fn+4", "cls<int>::fn" },
	{ "cls<std::pair<int, char> >::fn(int)", "cls<std::pair<int, char> >::fn(int)" },
	{ "cls<(e)1>::fn-4", "cls<(e)1>::fn" },
	{ "cls<decltype(a->b)>::fn-4", "cls<decltype(a->b)>::fn" },
	{ "fn<int>.part.0,", "fn<int>.part.0" },
	{ "~cls,", "~cls" },
	{ "cls::~cls(),", "cls::~cls()" },
	{ "~,", "" },
	{ "fn[abi:cxx11](int),", "fn[abi:cxx11](int)" },
	{ "a[4]", "a" },
	{ "(anonymous namespace)::fn,", "(anonymous namespace)::fn" },
	{ "(8)", "" },
	{ "f()::{lambda(int)#1}::operator()(int) const,",
	  "f()::{lambda(int)#1}::operator()(int) const" },
	{ "operator+,", "operator+" },
	{ "operator+(a, b)", "operator+(a, b)" },
	{ "operator+4", "operator" },
	{ "operator - 4", "operator" },
	{ "operator+(4)", "operator" },
	{ "my_operator+(x)", "my_operator" },
	{ "ns::operator<<(a&, b),", "ns::operator<<(a&, b)" },
	{ "cls::operator->() const", "cls::operator->() const" },
	{ "operator()(int)", "operator()(int)" },
	{ "operator,DIRECT", "operator" },
	{ "operator,(a, b)", "operator,(a, b)" },
	{ "operator==,", "operator==" },
	{ "operator<=>(a)", "operator<=>(a)" },
	{ "operator< <int>(a)", "operator<" },
	{ "operator new[],", "operator new[]" },
	{ "operator delete(void*),", "operator delete(void*)" },
	{ "cls::operator char const*(),", "cls::operator char const*()" },
	{ "operator TYPE=(PRE)", "operator" },
	{ "operator\"\" _km(long),", "operator\"\" _km(long)" },
	{ "fn(int", "fn" },
	{ "fn(int\n)", "fn" },
	{ "fn(int]", "fn" },
	{ "fn(a/*c*/)", "fn" },
	{ "cls<int", "cls" },
	{ "", "" },
};

/* And of a function, in TP. */
static const struct {
	const char *text, *name;
} functions[] = {
	{ "main.(*Cache).Get,RETEP", "main.(*Cache).Get" },
	{ "example.com/a-b/c%2e1.(*T[int]).F+4",
	  "example.com/a-b/c%2e1.(*T[int]).F" },
	{ "main.F[...],", "main.F[...]" },
	{ "main.(*T).F-fm,", "main.(*T).F-fm" },
	{ "fn-4", "fn" },
	{ "fn-0x4", "fn" },
	{ "fn/*c*/,", "fn" },
	{ "<a::B>::fn,", "<a::B>::fn" },
	{ "<a::B<C> as d::E>::fn::<F>+4", "<a::B<C> as d::E>::fn::<F>" },
	{ "<&[u8] as E>::fn::{closure#0},", "<&[u8] as E>::fn::{closure#0}" },
	{ "<a::B>", "" },
	{ "fn(*),", "fn(*)" },
	{ "fn(*)+4", "fn(*)" },
	{ "/x", "" },
	{ "-x", "" },
};

static void functions_check(void)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const char *text = functions[i].text;
		size_t n = lexer_function_length(text, text + strlen(text));

		tap_ok(n == strlen(functions[i].name) &&
		       !memcmp(text, functions[i].name, n),
		       "the function in '%s'", text);
	}
}

static void names_check(void)
{
	char deep[400];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = names[i].text;
		size_t n = lexer_symbol_length(text, text + strlen(text));

		tap_ok(n == strlen(names[i].name) &&
		       !memcmp(text, names[i].name, n), "the name in '%.*s'",
		       (int)strcspn(text, "\n"), text);
	}
	memset(deep, '(', 200);
	memset(deep + 200, ')', 200);
	deep[0] = 'f';
	tap_is(lexer_symbol_length(deep, deep + 399), 1,
	       "too many brackets within brackets");
	tap_is(lexer_symbol_length(deep + 150, deep + 250), 0, "and no name");
	deep[150] = 'f';
	tap_is(lexer_symbol_length(deep + 150, deep + 249), 99, "not too many");
}

int main(void)
{
	rows_check();
	names_check();
	functions_check();
	numbers_check();
	reread_check("\\c\\src\\x-y.dll MAJOR", true, "P\\c\\src\\x-y.dll MAJOR");
	reread_check("/usr/lib/x+.so.1=", true, "P/usr/lib/x+.so.1 =");
	reread_check("a.c,28", true, "Pa.c ,");
	reread_check("a/*c*/ 1", true, "Pa 1");
	reread_check("= b", true, "M= b");
	reread_check("f.part.0@VER+4", false, "Yf.part.0@VER +");
	reread_check("a::b(c", false, "Ya::b (");
	reread_check("16bit,x", false, "Y16bit ,");
	reread_check(", b", false, "M, b");
	return tap_done();
}
