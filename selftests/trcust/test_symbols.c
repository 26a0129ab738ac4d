// SPDX-License-Identifier: GPL-2.0
/* Symbols by the names that a TSF may give them, without debug information. */
#include <time.h>
#include "compiled.h"
#include "lib/debug/module/demangle.h"

static const char source_a[] =
	"namespace ns {\n"
	"struct cls {\n"
	"	cls(); ~cls(); int fn(int) const; int fn(const char *);\n"
	"	int only(const char *, unsigned long); static int count;\n"
	"	bool operator<(const cls &) const; operator bool();\n"
	"	static void *operator new(unsigned long);\n"
	"	static void *operator new[](unsigned long);\n"
	"	int operator[](int); operator unsigned long();\n"
	"	template<class T> T tm(T); };\n"
	"int cls::count;\n"
	"cls::cls() {}\n"
	"cls::~cls() {}\n"
	"int cls::fn(int a) const { return a; }\n"
	"int cls::fn(const char *s) { return *s; }\n"
	"int cls::only(const char *s, unsigned long) { return *s; }\n"
	"bool cls::operator<(const cls &) const { return true; }\n"
	"cls::operator bool() { return true; }\n"
	"cls::operator unsigned long() { return 1; }\n"
	"int cls::operator[](int i) { return i; }\n"
	"void *cls::operator new(unsigned long) { return &count; }\n"
	"void *cls::operator new[](unsigned long) { return &count; }\n"
	"template<class T> T cls::tm(T t) { return t; }\n"
	"template int cls::tm<int>(int);\n"
	"template long cls::tm<long>(long);\n"
	"}\n"
	"template<class T> T tf(T t) { return t; }\n"
	"template<class T> T *tp(const T *t) { return (T *)t; }\n"
	"template<class T> void (*tr(T))(char) { return 0; }\n"
	"template int tf<int>(int);\n"
	"template int *tp<int>(const int *);\n"
	"template void (*tr<int>(int))(char);\n"
	"extern \"C\" int plain(int a) { return a; }\n"
	"int plain(const char *) { return 1; }\n"
	"extern \"C\" {\n"
	"__attribute__((noinline,used)) static int twin(int a) { return a; }\n"
	"__attribute__((noinline,used)) static int alone(int a) { return a; }\n"
	"}\n"
	"int main() { return twin(3); }\n";

static const char source_b[] =
	"extern \"C\" {\n"
	"__attribute__((noinline,used)) static int twin(int a) { return a; }\n"
	"int use_b(int a) { return twin(a); }\n"
	"}\n";

static const struct {
	const char *name, *symbol;	/* NULL: none */
	bool others;
} names[] = {
	{ "plain", "plain" },
	{ "plain(char const*)", "_Z5plainPKc" },
	{ "plain(const char *)", "_Z5plainPKc" },
	{ "fn(int)", "_ZNK2ns3cls2fnEi" },
	{ "cls::fn(int) const", "_ZNK2ns3cls2fnEi" },
	{ "ns::cls::fn(char const *)", "_ZN2ns3cls2fnEPKc" },
	{ "_ZN2ns3cls2fnEPKc", "_ZN2ns3cls2fnEPKc" },
	{ "only", "_ZN2ns3cls4onlyEPKcm" },
	{ "cls::only", "_ZN2ns3cls4onlyEPKcm" },
	{ "only(const char*,unsigned long)", "_ZN2ns3cls4onlyEPKcm" },
	{ "only(const char*)", NULL },
	{ "s::cls::only", NULL },
	{ "tm<long>", "_ZN2ns3cls2tmIlEET_S2_" },
	{ "ns::cls::tm<int>", "_ZN2ns3cls2tmIiEET_S2_" },
	{ "int ns::cls::tm<int>(int)", "_ZN2ns3cls2tmIiEET_S2_" },
	{ "int ns::cls::tm<int> (int)", "_ZN2ns3cls2tmIiEET_S2_" },
	{ "long ns::cls::tm<int>(int)", NULL },
	{ "int cls::tm<int>(int)", NULL },
	{ "int tf<int>(int)", "_Z2tfIiET_S0_" },
	{ "tf<int>(int)", "_Z2tfIiET_S0_" },
	{ "long tf<int>(int)", NULL },
	{ "int* tp<int>(int const*)", "_Z2tpIiEPT_PKS0_" },
	{ "int *tp<int>(const int *)", "_Z2tpIiEPT_PKS0_" },
	{ "void (*tr<int>(int))(char)", "_Z2trIiEPFvcET_" },
	{ "cls::operator unsigned long", "_ZN2ns3clscvmEv" },
	{ "ns::cls::operator unsigned long()", "_ZN2ns3clscvmEv" },
	{ "cls::operator<", "_ZNK2ns3clsltERKS0_" },
	{ "cls::operator bool", "_ZN2ns3clscvbEv" },
	{ "cls::operator[]", "_ZN2ns3clsixEi" },
	{ "operator new(unsigned long)", "_ZN2ns3clsnwEm" },
	{ "cls::operator new", "_ZN2ns3clsnwEm" },
	{ "cls::operator new[]", "_ZN2ns3clsnaEm" },
	{ "cls::operator new[](unsigned long)", "_ZN2ns3clsnaEm" },
	{ "cls::cls", "_ZN2ns3clsC1Ev" },
	{ "~cls", "_ZN2ns3clsD1Ev" },
	{ "alone", "alone" },
	{ "a.cc:alone", "alone" },
	{ "A.CC:alone", "alone" },
	{ "dir/a.cc:alone", "alone" },
	{ "b.cc:alone", NULL },
	{ "b.cc:main", NULL },
	{ "none", NULL },
};

static uint64_t nm_address(const char *symbol)
{
	char command[128], line[128] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "nm a | grep ' %s$'", symbol);
	pipe = popen(command, "r");
	if (pipe && !fgets(line, sizeof(line), pipe))
		line[0] = '\0';
	if (pipe)
		pclose(pipe);
	return strtoull(line, NULL, 16);
}

static void check_names(const struct module *module)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct module_symbol *symbol;
		bool others;

		symbol = module_symbol_find(module, names[i].name,
					    MODULE_CODE, &others);
		tap_is(symbol ? symbol->address : 0,
		       names[i].symbol ? nm_address(names[i].symbol) : 0,
		       "'%s'", names[i].name);
		if (others)
			tap_ok(false, "'%s' is one only", names[i].name);
	}
}

static void check_several(struct module *module)
{
	const struct module_symbol *a, *b;
	char text[512];
	bool others;

	tap_ok(module_symbol_find(module, "cls::fn", MODULE_CODE, &others) &&
	       others, "an overloaded name means several");
	module_symbol_candidates(module, "cls::fn", MODULE_CODE, text,
				 sizeof(text));
	tap_ok(strstr(text, "ns::cls::fn(int) const (_ZNK2ns3cls2fnEi) at 0x") &&
	       strstr(text, "ns::cls::fn(char const*) (_ZN2ns3cls2fnEPKc) at 0x"),
	       "which are reported: %s", text);
	tap_ok(module_symbol_find(module, "twin", MODULE_CODE, &others) &&
	       others, "so do local ones of two files");
	module_symbol_candidates(module, "twin", MODULE_CODE, text,
				 sizeof(text));
	tap_ok(strstr(text, "a.cc:twin at") && strstr(text, "b.cc:twin at"),
	       "which are reported: %s", text);
	a = module_symbol_find(module, "a.cc:twin", MODULE_CODE, &others);
	tap_ok(a && !others, "the file chooses one");
	b = module_symbol_find(module, "b.cc:twin", MODULE_CODE, &others);
	tap_ok(a && b && !others && a->address != b->address,
	       "and the other");
	tap_ok(module_symbol_find(module, "cls::count", MODULE_DATA, &others) &&
	       !others, "a static member");
	module_symbol_near(module, "cls::onli", MODULE_CODE, text,
			   sizeof(text));
	tap_str(text, "ns::cls::only(char const*, unsigned long)",
		"a near name of C++");
	module_symbol_near(module, "int ns::cls::tm<int>(char)", MODULE_CODE,
			   text, sizeof(text));
	tap_ok(strstr(text, "ns::cls::tm<int>(int)"),
	       "a near name after a return type: %s", text);
	module_symbol_near(module, "int tf<int>(char)", MODULE_CODE, text,
			   sizeof(text));
	tap_ok(strstr(text, "tf<int>(int)"), "of a template: %s", text);
	module_symbol_near(module, "plane", MODULE_CODE, text, sizeof(text));
	tap_ok(strstr(text, "plain"), "a near name of C: %s", text);
}

#define STRING	"std::__cxx11::basic_string<char, std::char_traits<char>, " \
		"std::allocator<char> >"

static const struct {
	const char *full, *wanted;
	bool matches;
} matches[] = {
	{ "a::b<int, c<long> >::f(int)", "b::f", true },
	{ "a::b<int, c<long> >::f(int)", "b<int,c<long>>::f", true },
	{ "a::b<int, c<long> >::f(int)", "b<int>::f", false },
	{ "a::b<int, c<long> >::f(int)", "::f", false },
	{ "int a::f<int>(int)", "a::f", true },
	{ "std::vector<int, x> a::f<int>(int)", "a::f(int)", true },
	{ "std::vector<int, x> a::f<int>(int)", "vector::f(int)", false },
	{ "f()", "f(void)", true },
	{ "f()", "f()", true },
	{ "f(unsigned int)", "f(unsigned  int)", true },
	{ "f(unsigned int)", "f(unsignedint)", false },
	{ "f(a<char const*>, char const* const*)",
	  "f(a<const char *>,const char *const *)", true },
	{ "f(a<int, std::allocator<int> > const&, int const&)",
	  "f(const a<int, std::allocator<int>> &, const int &)", true },
	{ "f(" STRING " const&, std::vector<" STRING " > const&)",
	  "f(const std::string &, std::vector<std::string> const &)", true },
	{ "f(void (*)(int const&))", "f(void(*)(const int &))", true },
	{ "f(int) [clone .cold]", "f", false },
	{ "f(int) [clone .cold]", "f(int) [clone .cold]", true },
	{ "main::{lambda(int)#1}::operator()(int) const", "operator()", true },
	{ "(anonymous namespace)::f(int)", "f", true },
	{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f", true },
	{ "s::operator<<(a, b)", "operator<<", true },
	{ "s::operator<<(a, b)", "operator<", false },
	{ "s::operator-><int>(a)", "s::operator->", true },
	{ "operator new[](unsigned long)", "operator new(unsigned long)",
	  false },
	{ "operator new[](unsigned long)", "operator new", false },
	{ "operator new(unsigned long)", "operator new[]", false },
	{ "operator new(unsigned long)", "operator new (unsigned long)", true },
	{ "operator new[](unsigned long)", "operator new[](unsigned long)",
	  true },
	{ "s::operator delete[](void*)", "operator delete(void*)", false },
	{ "s::operator delete[](void*)", "s::operator delete[]", true },
	{ "s::operator[](int)", "operator[]", true },
	{ "s::operator unsigned long() const", "operator unsigned long", true },
	{ "s::operator unsigned long() const", "long", false },
	{ "f[abi:cxx11](int)", "f", true },
	{ "f(int)::g::h(long)", "h(long)", true },
	{ "f(" STRING " const&)", "f(std::string const&)", true },
	{ "f(" STRING " const&)", "f(const std::string &)", true },
	{ "f(" STRING " const&)", "f(std::basic_string<char> const&)", true },
	{ "f(" STRING " const&)", "f(std::wstring const&)", false },
	{ "f(" STRING ")", "f(std::string const&)", false },
	{ "a::b<" STRING " >::f(int)", "b<std::string>::f", true },
	{ "f(std::vector<int, my::allocator<int> >)", "f(std::vector<int>)",
	  false },
	{ "<k::a::B>::f", "<k::a::B>::f", true },
	{ "<k::a::B>::f", "<a::B>::f", true },
	{ "<k::a::B>::f", "B::f", true },
	{ "<k::a::B>::f", "f", true },
	{ "<k::a::B>::f", "C::f", false },
	{ "<k::a::B<u8>>::f", "B<u8>::f", true },
	{ "<k::a::B<u8>>::f", "B::f", true },
	{ "<k::a::B<u8>>::f", "<B<i8>>::f", false },
	{ "k::a::B::f", "<a::B>::f", true },
	{ "<k::a::B as k::a::T>::f", "<B as T>::f", true },
	{ "<k::a::B as k::a::T>::f", "<B as U>::f", false },
	{ "<k::a::B as k::a::T>::f", "<C as T>::f", false },
	{ "<k::a::B as k::a::T>::f", "B::f", true },
	{ "<k::a::B as k::a::T>::f", "T::f", false },
	{ "<k::a::B>::f", "<B as T>::f", false },
	{ "<[u8] as k::T>::f", "<[u8] as T>::f", true },
	{ "<k::B>::f::{closure#0}", "B::f", false },
	{ "k::f::<i32>", "f", true },
	{ "k::f::<i32>", "k::f<i32>", true },
	{ "k::f::<i32>", "f::<i32>", true },
	{ "k::f::<i32>", "f::<u8>", false },
};

static const struct {
	const char *full, *display;
} displays[] = {
	{ "Circle::area() const", "Circle::area" },
	{ "int ns::tm<int>(int)", "ns::tm<int>" },
	{ "a::b<" STRING " >::f(int)", "a::b<std::string>::f" },
	{ "std::map<" STRING ", std::vector<int, std::allocator<int> >, "
	  "std::less<" STRING " >, std::allocator<std::pair<" STRING
	  " const, std::vector<int, std::allocator<int> > > > >::at(int)",
	  "std::map<std::string, std::vector<int>>::at" },
	{ "std::map<int, int, std::greater<int>, std::allocator<int> >::at()",
	  "std::map<int, int, std::greater<int>>::at" },
	{ "std::tuple<int, std::allocator<int> >::f()",
	  "std::tuple<int, std::allocator<int>>::f" },
	{ "std::forward<x, std::allocator<x> >(x)",
	  "std::forward<x, std::allocator<x>>" },
	{ "std::stack<int, std::deque<int, std::allocator<int> > >::top()",
	  "std::stack<int>::top" },
	{ "std::basic_ostream<char, std::char_traits<char> >::flush()",
	  "std::ostream::flush" },
	{ "mystd::vector<int, std::allocator<int> >::f()",
	  "mystd::vector<int, std::allocator<int>>::f" },
	{ "operator< <int>(a)", "operator< <int>" },
	{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
	{ "<k::a::B as k::a::T>::f", "<k::a::B as k::a::T>::f" },
	{ "std::vector<int", "std::vector<int" },
	{ "std::vector<", "std::vector<" },
	{ "std::", "std::" },
	{ "", "" },
};

static void check_displays(void)
{
	for (size_t i = 0; i < sizeof(displays) / sizeof(displays[0]); i++) {
		char *text = demangle_display(displays[i].full);

		tap_str(text, displays[i].display, "'%s' in short",
			displays[i].full);
		free(text);
	}
}

static void check_matches(void)
{
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++)
		tap_ok(demangle_matches(matches[i].full, matches[i].wanted) ==
		       matches[i].matches, "'%s' %s '%s'", matches[i].wanted,
		       matches[i].matches ? "means" : "isn't",
		       matches[i].full);
}

/* Each parameter has the one before it twice: 2^36 parts. */
static void check_bomb(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1fSt4pairIiiE", *at = name + strlen(name), *text;
	clock_t start = clock();

	for (const char *digit = digits; *digit; digit++)
		at += sprintf(at, "S_IS%c_S%c_E", *digit, *digit);
	text = demangle_symbol(name);
	tap_ok((double)(clock() - start) / CLOCKS_PER_SEC < 1 && !text,
	       "a name that means gigabytes takes no time");
	free(text);
	name[strlen("_Z1fSt4pairIiiES_IS0_S0_E")] = '\0';
	text = demangle_symbol(name);
	tap_str(text, "f(std::pair<int, int>, std::pair<std::pair<int, int>, "
		"std::pair<int, int> >)", "a small one of the kind");
	free(text);
}

int main(void)
{
	struct compiled c;

	compiled_begin();
	compiled_write("a.cc", source_a);
	compiled_write("b.cc", source_b);
	check_matches();
	check_displays();
	check_bomb();
	if (!compiled_run("g++ -O1 a.cc b.cc -o a")) {
		tap_skip("symbols of C++", "the compiler can't do it");
		return tap_done();
	}
	if (!compiled_open(&c, "a", NULL))
		return tap_done();
	tap_ok(!c.dwarf && !c.err.text[0], "it has no debug information");
	check_names(c.module);
	check_several(c.module);
	compiled_close(&c);
	return tap_done();
}
