// SPDX-License-Identifier: GPL-2.0
// Functions whose arguments are lists, trees, hash tables, pairs and tuples;
// prints what tracefmt has to print.
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
using std::string;

struct Big { alignas(16) char text[24]; long n; };
struct None {};

using Ints = std::list<int>;
using Lists = std::list<Ints>;
using Names = std::map<string, int>;
using Groups = std::map<int, std::vector<string>>;
using Index = std::unordered_map<string, std::pair<int, string>>;
using Choice = std::variant<int, string, std::monostate, Big>;
using Milliseconds = std::chrono::milliseconds;
using Time = std::chrono::time_point<std::chrono::system_clock,
				     std::chrono::nanoseconds>;
using Minutes = std::chrono::minutes;
using Row = std::tuple<int, string, char, None, std::pair<short, long>>;

#define KEEP(x) asm volatile("" :: "r"(&x) : "memory")
#define POINT __attribute__((noinline))

static string cut(size_t have, const string &of, const char *unit)
{
	return "<cut: " + std::to_string(have) + " of " + of + unit + ">";
}

static string show(int n) { return std::to_string(n); }
static string show(short n) { return std::to_string(n); }
static string show(long n) { return std::to_string(n); }
static string show(char c) { return string("'") + c + "'"; }
static string show(const None &) { return "{}"; }

static string show(const string &s)
{
	return "\"" + s.substr(0, 64) + "\"" +
	       (s.size() > 64 ? " " + cut(64, std::to_string(s.size()),
					  " bytes") : "");
}

static string show(const Big &b)
{
	return "{text = \"" + string(b.text) + "\", n = " + show(b.n) + "}";
}

static string show(bool b) { return b ? "true" : "false"; }
static string show(const std::monostate &) { return "{}"; }

static string show(const Choice &c)
{
	return c.valueless_by_exception() ? "valueless" :
	       std::visit([](const auto &x) { return show(x); }, c);
}

// As tracefmt has it: the largest unit of which there is one.
static string show_time(long long ns)
{
	static const struct { long long ns; int digits; const char *name; } units[] = {
		{ 1000000000, 9, "s" }, { 1000000, 6, "ms" }, { 1000, 3, "us" },
		{ 1, 0, "ns" },
	};
	string sign = ns < 0 ? "-" : "";
	int i = 0;

	if (ns < 0)
		ns = -ns;
	if (!ns)
		return "0s";
	while (ns < units[i].ns)
		i++;
	char part[32];
	string text = sign + std::to_string(ns / units[i].ns);

	if (ns % units[i].ns) {
		snprintf(part, sizeof(part), ".%0*lld", units[i].digits,
			 ns % units[i].ns);
		text += part;
		while (text.back() == '0')
			text.pop_back();
	}
	return text + units[i].name;
}

template<class A, class B> static string show(const std::pair<A, B> &p)
{
	return "{" + show(p.first) + ", " + show(p.second) + "}";
}

template<class A, class B> static string entry(const std::pair<A, B> &p);

// `size`: a text, as it may not be known
template<class T, class F>
static string show_all(const T &all, size_t most, const string &size, F shown)
{
	string text = "{";
	size_t n = 0;

	for (const auto &x : all) {
		if (n == most)
			return text + ", " + cut(most, size, "") + "}";
		text += (n++ ? ", " : "") + shown(x);
	}
	return text + "}";
}

template<class T> static string show_list(const T &all, size_t most)
{
	return show_all(all, most, std::to_string(all.size()),
			[](const auto &x) { return show(x); });
}

template<class T> static string show_map(const T &all, size_t most)
{
	return show_all(all, most, std::to_string(all.size()),
			[](const auto &x) { return entry(x); });
}

static string show(const std::vector<string> &v) { return show_list(v, 4); }

template<class A, class B> static string entry(const std::pair<A, B> &p)
{
	return show(p.first) + ": " + show(p.second);
}

// The size of a list that has none (_GLIBCXX_USE_CXX11_ABI=0)
template<class T> static string list_size(const T &list)
{
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
	return "more";
#else
	return std::to_string(list.size());
#endif
}

static const auto shown = [](const auto &x) { return show(x); };

POINT void lists(const Ints &l, const std::list<string> *s,
		 const std::forward_list<int> &f)
{
	KEEP(l); KEEP(s); KEEP(f);
	printf("l=%s\ns=%s\nf=%s\n",
	       show_all(l, 16, list_size(l), shown).c_str(),
	       show_all(*s, 8, list_size(*s), shown).c_str(),
	       show_all(f, 16, "more", shown).c_str());
}

static string show_inner(const Ints &l)
{
	return show_all(l, 4, list_size(l), shown);
}

POINT void nested(const Lists &l, const std::forward_list<Big> &b)
{
	KEEP(l); KEEP(b);
	printf("ll=%s\nb=%s\n",
	       show_all(l, 4, list_size(l), show_inner).c_str(),
	       show_all(b, 16, "more", shown).c_str());
}

POINT void trees(const std::set<int> &s, const Names &m)
{
	KEEP(s); KEEP(m);
	printf("set=%s\nmap=%s\n", show_list(s, 16).c_str(),
	       show_map(m, 8).c_str());
}

POINT void groups(const Groups &g, const std::multimap<char, int> *m)
{
	KEEP(g); KEEP(m);
	printf("g=%s\nm=%s\n", show_map(g, 4).c_str(),
	       show_list(*m, 16).c_str());
}

POINT void tables(const Index &x, const std::unordered_set<int> &s)
{
	KEEP(x); KEEP(s);
	printf("x=%s\nus=%s\n", show_map(x, 4).c_str(),
	       show_list(s, 16).c_str());
}

POINT void rows(const Row &r, const std::pair<string, Big> *p)
{
	KEEP(r); KEEP(p);
	printf("r={%s, %s, %s, %s, %s}\np=%s\n", show(std::get<0>(r)).c_str(),
	       show(std::get<1>(r)).c_str(), show(std::get<2>(r)).c_str(),
	       show(std::get<3>(r)).c_str(), show(std::get<4>(r)).c_str(),
	       show(*p).c_str());
}

POINT void blocks(const std::deque<int> &d, const std::deque<string> &s,
		  const std::deque<Big> *b)
{
	KEEP(d); KEEP(s); KEEP(b);
	printf("d=%s\nds=%s\ndb=%s\n", show_list(d, 16).c_str(),
	       show_list(s, 8).c_str(), show_list(*b, 16).c_str());
}

POINT void choices(const Choice &c, const std::vector<Choice> &v,
		   const std::vector<bool> &b,
		   const std::array<string, 2> &a)
{
	KEEP(c); KEEP(v); KEEP(b); KEEP(a);
	printf("c=%s\nvc=%s\nvb=%s\na=%s\n", show(c).c_str(),
	       show_list(v, 8).c_str(),
	       show_all(b, 16, std::to_string(b.size()),
			[](bool x) { return show(x); }).c_str(),
	       show_list(a, 2).c_str());
}

POINT void times(const Milliseconds &m, const Time &t, Minutes n)
{
	KEEP(m); KEEP(t); KEEP(n);
	printf("ms=%s\ntime=%s\nmin=%s\n",
	       show_time(m.count() * 1000000LL).c_str(),
	       show_time(t.time_since_epoch().count()).c_str(),
	       show_time(n.count() * 60000000000LL).c_str());
}

POINT void owners(const std::weak_ptr<string> &a,
		  const std::weak_ptr<string> &b)
{
	KEEP(a); KEEP(b);
	printf("wa=%s\nwb=%s\n", a.expired() ? "NULL" : show(*a.lock()).c_str(),
	       b.expired() ? "NULL" : show(*b.lock()).c_str());
}

static unsigned seed = 1;

static unsigned draw(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static string word()
{
	string s(draw(6) ? draw(20) : draw(90), ' ');

	for (char &c : s)
		c = 'a' + draw(26);
	return s;
}

static unsigned length() { return draw(9) ? draw(7) : draw(60); }

static Big big()
{
	Big b = { "", (long)draw(1000) - 500 };

	snprintf(b.text, sizeof(b.text), "%.20s", word().c_str());
	return b;
}

static Ints ints()
{
	Ints list;

	for (unsigned n = length(); n--;)
		list.push_back(draw(2) ? (int)draw(100) : -(int)draw(30000));
	return list;
}

static void do_lists()
{
	std::list<string> s;
	std::forward_list<int> f;

	for (unsigned n = length(); n--;)
		s.push_front(word());
	for (unsigned n = length(); n--;)
		f.push_front(draw(1000));
	lists(ints(), &s, f);
}

static void do_nested()
{
	std::forward_list<Big> b;
	Lists l;

	for (unsigned n = draw(7); n--;)
		l.push_back(ints());
	for (unsigned n = draw(20); n--;)
		b.push_front(big());
	nested(l, b);
}

static void do_trees()
{
	std::set<int> s;
	Names m;
	Groups g;
	std::multimap<char, int> mm;

	for (unsigned n = draw(3) ? draw(40) : draw(3000); n--;)
		s.insert((int)draw(30000) - 9000);
	for (unsigned n = s.size() / 4; n--;)
		s.erase(s.begin());
	for (unsigned n = length(); n--;)
		m[word()] = draw(1000);
	for (unsigned n = draw(9); n--;)
		for (unsigned k = draw(6); k--;)
			g[n].push_back(word());
	for (unsigned n = length(); n--;)
		mm.emplace('a' + draw(5), draw(99));
	trees(s, m);
	groups(g, &mm);
}

static void do_tables()
{
	std::unordered_set<int> s;
	Index x;

	for (unsigned n = length(); n--;)
		s.insert(draw(1000));
	for (unsigned n = length(); n--;)
		x[word()] = { (int)draw(99), word() };
	tables(x, s);
}

struct Thrower {
	operator int() const { throw 1; }
};

static Choice choice()
{
	Choice c;

	switch (draw(5)) {
	case 0:
		c = (int)draw(1000);
		break;
	case 1:
		c = word();
		break;
	case 2:
		c = std::monostate();
		break;
	case 3:
		c = big();
		break;
	case 4:
		c = word();
		try {
			c.emplace<0>(Thrower());
		} catch (int) {
		}
	}
	return c;
}

static void do_blocks()
{
	std::deque<int> d;
	std::deque<string> s;
	std::deque<Big> b;

	for (unsigned n = draw(600); n--;)
		draw(3) ? d.push_back(draw(1000)) : d.push_front(n);
	for (unsigned n = draw(2) ? d.size() : d.size() / 3; n--;)
		d.pop_front();
	for (unsigned n = length(); n--;)
		draw(2) ? s.push_back(word()) : s.push_front(word());
	for (unsigned n = length(); n--;)
		b.push_front(big());
	blocks(d, s, &b);
}

static void do_choices()
{
	std::vector<Choice> v;
	std::vector<bool> b;

	for (unsigned n = draw(12); n--;)
		v.push_back(choice());
	for (unsigned n = length(); n--;)
		b.push_back(draw(2));
	choices(choice(), v, b, { word(), word() });
	times(Milliseconds((long)draw(20000) - 5000),
	      Time(std::chrono::nanoseconds(draw(30000) * (draw(2) ? 1LL :
					    123456789LL) - draw(9999))),
	      Minutes(draw(100)));
}

static void do_owners()
{
	std::shared_ptr<string> s = std::make_shared<string>(word());
	std::weak_ptr<string> a = s, b;

	if (draw(3))
		b = std::make_shared<string>(word());
	if (draw(2))
		owners(a, b);
	s.reset();
	owners(b, a);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	while (rounds--) {
		std::pair<string, Big> p(word(), big());

		do_lists();
		do_nested();
		do_trees();
		do_tables();
		do_blocks();
		do_choices();
		do_owners();
		rows(Row(draw(99), word(), 'a' + draw(26), None(),
			 std::pair<short, long>(draw(9), draw(9999))), &p);
	}
}
