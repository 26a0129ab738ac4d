// SPDX-License-Identifier: GPL-2.0
/* C expressions become the right tree, and what is none is refused. */
#include "tap.h"
#include "trcust/tsf/tsf.h"
#include "trcust/tsf/parse_expr.h"

/* The tree, what was kept of the text, and what follows; static. */
static const char *parse(const char *text)
{
	static struct bytes out;
	struct parser p = { 0 };
	const struct expr *expr;
	const char *kept = "";

	out.size = 0;
	if (diag_open_text(&p.diag, "text", text, strlen(text), 2, NULL))
		tap_bail("no memory");
	p.tsf = tsf_make();
	p.point = tsf_alloc(p.tsf, sizeof(*p.point));
	lexer_init(&p.lexer, p.diag);
	parser_next(&p);
	if (parse_expr(&p, &expr, &kept)) {
		expr_print(expr, &out);
		bytes_add(&out, " [", 2);
		bytes_add(&out, kept, strlen(kept));
		bytes_add(&out, "] ", 2);
		bytes_add(&out, p.token.text, p.token.length);
	} else {
		bytes_add(&out, "refused", 7);
	}
	bytes_add(&out, "", 1);
	tsf_free(p.tsf);
	diag_close(p.diag);
	return (const char *)out.data;
}

static const struct {
	const char *text, *tree;	/* NULL: refused */
	const char *kept, *after;	/* NULL: the text, nothing */
} rows[] = {
	/* where an expression ends */
	{ "a", "a" },
	{ "a, b", "a", "a", "," },
	{ "a : 4", "a", "a", ":" },
	{ "(a)) x", "a", "(a)", ")" },
	{ "a ? b : c : 4", "(a ? b : c)", "a ? b : c", ":" },
	{ "a ::b", "a::b" },
	{ "a TRACE", "a", "a", "TRACE" },
	{ "a  +\n\t b /* sum */ * 2 ; note\n", "(a + (b * 2))", "a + b * 2" },
	/* precedence, C11 section 6.5 */
	{ "a*b/c%d", "(((a * b) / c) % d)" },
	{ "a+b-c*d", "((a + b) - (c * d))" },
	{ "a<<1+b>>2", "((a << (1 + b)) >> 2)" },
	{ "a<b==c>d", "((a < b) == (c > d))" },
	{ "a<=b!=c>=d", "((a <= b) != (c >= d))" },
	{ "a&b==c", "(a & (b == c))" },
	{ "a|b^c&d", "(a | (b ^ (c & d)))" },
	{ "a||b&&c|d", "(a || (b && (c | d)))" },
	{ "a?b?c:d:e?f:g", "(a ? (b ? c : d) : (e ? f : g))" },
	{ "a||b?c:d", "((a || b) ? c : d)" },
	{ "-a*b", "((-a) * b)" },
	{ "*p->q", "(*(*p).q)" },
	{ "&a[1].b", "(&a[1].b)" },
	{ "!~-+a", "(!(~(-(+a))))" },
	{ "a - -b", "(a - (-b))" },
	{ "a[b+1][2]", "a[(b + 1)][2]" },
	{ "r->next->len", "(*(*r).next).len" },
	{ "a.b::c", "a.b::c" },
	{ "a&&b", "(a && b)" },
	{ "a& &b", "(a & (&b))" },
	/* names, registers, arguments */
	{ "::g + ns::x", "(::g + ns::x)" },
	{ "'file.c'::x", "file.c:x" },
	{ "'file.c' :: ns::x", "file.c:ns::x" },
	{ "'box<int>::count'", "box<int>::count" },
	{ "$rax + $EAX", "($rax + $EAX)" },
	{ "$arg1 + $arg12", "($arg1 + $arg12)" },
	{ "$arg0 + $arg1x", "($arg0 + $arg1x)" },
	/* numbers and characters */
	{ "10 + 010 + 0x10 + 0", "(((10 + 8) + 16) + 0)" },
	{ "1u + 1L + 1ull + 1LLU", "(((1u + 1l) + 1ull) + 1ull)" },
	{ "18446744073709551615", "18446744073709551615" },
	{ "'a' + '\\n' + '\\0' + '\\x41' + '\\101'",
	  "((((97 + 10) + 0) + 65) + 65)" },
	{ "';' + '\"' + '\\'' + '('", "(((59 + 34) + 39) + 40)" },
	{ "'\\\\'", "92" },
	/* casts */
	{ "(int)a + b", "(((int)a) + b)" },
	{ "(unsigned char)-a", "((unsigned char)(-a))" },
	{ "(long unsigned int long)a", "((unsigned long long)a)" },
	{ "(const struct s *)a", "((struct s *)a)" },
	{ "(struct ns::s **const)a", "((struct ns::s **)a)" },
	{ "(enum e)a", "((enum e)a)" },
	{ "(T)a", "((T)a)" },
	{ "(T)(a)", "((T)a)" },
	{ "(T *)a", "((T *)a)" },
	{ "(T *)-a", "((T *)(-a))" },
	{ "(ns::T)1", "((ns::T)1)" },
	{ "((struct s *)p)->m", "(*((struct s *)p)).m" },
	{ "(a) == b", "(a == b)" },
	{ "(a)[1]", "a[1]" },
	{ "(a)->b", "(*a).b" },
	{ "(a) && b", "(a && b)" },
	{ "(a * b)", "(a * b)" },
	{ "(T)-1", "(((T)(-1)) or (T - 1))" },
	{ "(T)-a*b+c",
	  "(((((T)(-a)) * b) + c) or ((T - (a * b)) + c))" },
	{ "x*(T)*p", "((x * ((T)(*p))) or ((x * T) * p))" },
	{ "(T)&x", "(((T)(&x)) or (T & x))" },
	{ "sizeof a", "sizeof(a)" },
	{ "sizeof(a)+1", "(sizeof(a) + 1)" },
	{ "sizeof(T)-1", "(sizeof(T) - 1)" },
	{ "sizeof(T *)*2", "(sizeof(T *) * 2)" },
	{ "sizeof(struct s)", "sizeof(struct s)" },
	{ "sizeof *p", "sizeof((*p))" },
	{ "sizeof(a)[0].b", "sizeof(a[0].b)" },
	/* refused */
	{ "" }, { "," }, { "a +" }, { "(a" }, { "a[1" }, { "a." }, { "a->1" },
	{ "a = b" }, { "a += b" }, { "a++" }, { "--a" }, { "f(1)" },
	{ "a ? b" }, { "1.5" }, { "08" }, { "0x" }, { "1lul" }, { "1lL" },
	{ "99999999999999999999" }, { "\"text\"" }, { "'a" }, { "''" },
	{ "a::" }, { "&&a" }, { "(int" }, { "(int)" },
	{ "(unsigned float)a" }, { "(short long)a" }, { "(struct)a" },
	{ "(int[2])a" },
};

static char *repeated(const char *part, size_t count, const char *last)
{
	char *text = calloc(1, strlen(part) * count + strlen(last) + 1);

	for (size_t i = 0; text && i < count; i++)
		strcat(text, part);
	if (!text)
		tap_bail("no memory");
	return strcat(text, last);
}

/* However deep or long: refused, without a crash. */
static void test_limits(void)
{
	static const char *const parts[] = {
		"(", "-", "a+", "a?", "a?b:", "a[", "*", "sizeof ", "(int)",
		"(T)-", "a.", "(T)-(", "a->",
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		char *text = repeated(parts[i], 9000, "a");

		tap_str(parse(text), "refused", "9000 times '%s'", parts[i]);
		free(text);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *kept = rows[i].kept ? rows[i].kept : rows[i].text;
		const char *after = rows[i].after ? rows[i].after : "";
		char *expected;

		if (!rows[i].tree) {
			tap_str(parse(rows[i].text), "refused", "'%s'",
				rows[i].text);
			continue;
		}
		if (asprintf(&expected, "%s [%s] %s", rows[i].tree, kept,
			     after) < 0)
			tap_bail("no memory");
		tap_str(parse(rows[i].text), expected, "%s", rows[i].text);
		free(expected);
	}
	test_limits();
	return tap_done();
}
