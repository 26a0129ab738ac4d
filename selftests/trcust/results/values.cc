// SPDX-License-Identifier: GPL-2.0
/* values COUNT: functions return values of C++'s types, each of which is printed
 * as tracefmt prints it. */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define F __attribute__((noinline))
#define END asm volatile("" : : : "memory")

enum class color : char { red, green = 5 };
struct plain { int a; int get() const { return a; } };
struct copied {
	int a;
	explicit copied(int n) : a(n) {}
	copied(const copied &other) : a(other.a + 0) {}
};
struct destroyed { short a; ~destroyed() { asm volatile(""); } };
struct moved { long a; moved(moved &&) = default; explicit moved(long n) : a(n) {} };
struct empty {};
struct derived : empty, plain { long b; };
struct holds { std::unique_ptr<int> p; };

F std::string text(int n) { END; return std::string(n % 40, 'x'); }
F std::string_view view(int n) { END; return n & 1 ? "odd" : "even"; }
F std::vector<int> list(int n) { END; return std::vector<int>(n % 5, n); }
F std::optional<int> maybe(int n) { END; if (n & 1) return n; return {}; }
F std::optional<std::string> maybe_text(int n)
{
	END;
	if (n & 1)
		return "odd";
	return {};
}
F std::unique_ptr<int> owned(int n)
{
	END;
	return std::unique_ptr<int>(n & 1 ? new int(n) : nullptr);
}
F std::shared_ptr<int> shared(int n) { END; return std::make_shared<int>(n); }
F std::string &reference(int n)
{
	static std::string texts[] = { "one", "another one" };

	END;
	return texts[n & 1];
}
F std::string *pointer(int n)
{
	static std::string texts[] = { "one", "another one" };

	END;
	return &texts[n & 1];
}
F color hue(int n) { END; return n & 1 ? color::green : color::red; }
F plain by_value(int n) { END; return plain{ n }; }
F copied by_copy(int n) { END; return copied(n); }
F destroyed by_address(int n) { END; return destroyed{ (short)n }; }
F moved by_move(int n) { END; return moved(n); }
F derived bases(int n) { END; derived d; d.a = n; d.b = -n; return d; }
F holds inner(int n) { END; return holds{ std::make_unique<int>(n) }; }

static void print_list(const std::vector<int> &v)
{
	printf("returns {");
	for (size_t i = 0; i < v.size(); i++)
		printf("%s%d", i ? ", " : "", v[i]);
	printf("}\n");
}

static void print_texts(int n)
{
	printf("returns %s\n", text(n).c_str());
	printf("returns %s\n", view(n).data());
	print_list(list(n));
	std::optional<int> m = maybe(n);
	printf(m ? "returns %d\n" : "returns nullopt\n", m ? *m : 0);
	std::optional<std::string> o = maybe_text(n);
	printf(o ? "returns \"%s\"\n" : "returns nullopt\n", o ? o->c_str() : "");
	std::unique_ptr<int> p = owned(n);
	printf(p ? "returns %d\n" : "returns NULL\n", p ? *p : 0);
	printf("returns %d\n", *shared(n));
	printf("returns %s\n", reference(n).c_str());
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;

	for (int n = 0; n < count; n++) {
		print_texts(n);
		std::string *to = pointer(n);
		printf("returns 0x%lX to %s\n", (unsigned long)to, to->c_str());
		printf("returns %s\n", hue(n) == color::red ? "red" : "green");
		printf("returns {a = %d}\n", by_value(n).a);
		printf("returns {a = %d}\n", by_copy(n).a);
		printf("returns {a = %d}\n", by_address(n).a);
		printf("returns {a = %ld}\n", by_move(n).a);
		derived d = bases(n);
		printf("returns {empty = {}, plain = {a = %d}, b = %ld}\n", d.a,
		       d.b);
		printf("returns {p = %d}\n", *inner(n).p);
	}
	return 0;
}
