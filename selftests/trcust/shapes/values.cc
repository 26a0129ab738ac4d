// SPDX-License-Identifier: GPL-2.0
// Functions whose arguments have shapes; prints what tracefmt has to print.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif
using std::string;

enum class Color : unsigned char { red = 1, green, blue = 9 };
struct Item { string name; int n; };
struct Status { Color color; char text[12]; bool good; double ratio; };

#define KEEP(x) asm volatile("" :: "r"(&x) : "memory")
#define POINT __attribute__((noinline))

// As tracefmt has it: text in something else is quoted and has 64 bytes.
static string cut(size_t have, size_t of, const char *unit)
{
	return "<cut: " + std::to_string(have) + " of " + std::to_string(of) +
	       unit + ">";
}

static string bare(std::string_view s)
{
	return string(s.substr(0, 128)) +
	       (s.size() > 128 ? cut(128, s.size(), " bytes") : "");
}

static string show(const string &s)
{
	return "\"" + s.substr(0, 64) + "\"" +
	       (s.size() > 64 ? " " + cut(64, s.size(), " bytes") : "");
}

static string show(int n) { return std::to_string(n); }

static string show(const Item &i)
{
	return "{name = " + show(i.name) + ", n = " + show(i.n) + "}";
}

template<class T> static string show_all(const T &all, size_t most)
{
	string text = "{";
	size_t n = 0;

	for (const auto &x : all) {
		if (n == most)
			break;
		text += (n++ ? ", " : "") + show(x);
	}
	if (all.size() > most)
		text += ", " + cut(most, all.size(), "");
	return text + "}";
}

template<class T> static string show_one(const T *p)
{
	return p ? show(*p) : "NULL";
}

POINT void texts(const string &s, std::string_view v, const string *p)
{
	KEEP(s); KEEP(v); KEEP(p);
	printf("s=%s\nv=%s\np=%s\n", bare(s).c_str(), bare(v).c_str(),
	       bare(*p).c_str());
}

POINT void sequences(const std::vector<int> &v, const std::vector<string> *w,
		     const std::array<int, 3> &a)
{
	KEEP(v); KEEP(w); KEEP(a);
	printf("i=%s\nw=%s\na=%s\n", show_all(v, 16).c_str(),
	       show_all(*w, 8).c_str(), show_all(a, 3).c_str());
}

POINT void items(const std::vector<Item> &v, const std::pair<int, string> *p)
{
	KEEP(v); KEEP(p);
	printf("t=%s\npair={%d, %s}\n",
	       show_all(v, 8).c_str(), p->first, show(p->second).c_str());
}

POINT void optionals(const std::optional<int> *o,
		     const std::optional<string> *s,
		     const std::unique_ptr<Item> *u,
		     const std::shared_ptr<Item> *h)
{
	KEEP(o); KEEP(s); KEEP(u); KEEP(h);
	printf("o=%s\nos=%s\nu=%s\nh=%s\n", *o ? show(**o).c_str() : "nullopt",
	       *s ? show(**s).c_str() : "nullopt",
	       show_one(u->get()).c_str(), show_one(h->get()).c_str());
}

POINT void status(const Status *st)
{
	static const char *const names[] = {
		"0", "red", "green", "3", "4", "5", "6", "7", "8", "blue",
	};

	KEEP(st);
	printf("st={color = %s, text = \"%s\", good = %s, ratio = %g}\n",
	       names[(int)st->color], st->text, st->good ? "true" : "false",
	       st->ratio);
}

static unsigned seed = 1;

static unsigned draw(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static string word()
{
	static const unsigned lengths[] = { 1, 16, 23, 70, 140, 400 };
	string s;

	for (unsigned n = draw(lengths[draw(6)] + 1); n; n--)
		s += 'a' + draw(26);
	return s;
}

int main(int argc, char **argv)
{
	for (int round = atoi(argv[1]); round; round--) {
		string s = word(), p = word();
		std::vector<int> v(draw(24));
		std::vector<string> w(draw(11));
		std::vector<Item> t(draw(4));
		std::array<int, 3> a;
		std::pair<int, string> pair(draw(9), word());
		std::optional<int> o;
		std::optional<string> os;
		std::unique_ptr<Item> u;
		std::shared_ptr<Item> h;
		Status st = { (Color)(draw(2) ? 9 : 1 + draw(3)), "", false,
			      draw(100) / 4.0 };

		for (auto &x : v)
			x = draw(2000) - 1000;
		for (auto &x : w)
			x = word().substr(0, 12);
		for (auto &x : t)
			x = { word().substr(0, 40), (int)draw(7) };
		for (auto &x : a)
			x = draw(50);
		if (draw(2))
			o = draw(100);
		if (draw(2))
			os = word().substr(0, 50);
		if (draw(2))
			u = std::make_unique<Item>(Item{ word().substr(0, 30),
							 (int)draw(9) });
		if (draw(2))
			h = std::make_shared<Item>(Item{ word().substr(0, 30),
							 (int)draw(9) });
		strcpy(st.text, word().substr(0, 11).c_str());
		st.good = draw(2);
		texts(s, p, &p);
		sequences(v, &w, a);
		items(t, &pair);
		optionals(&o, &os, &u, &h);
		status(&st);
	}
}
