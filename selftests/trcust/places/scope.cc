// SPDX-License-Identifier: GPL-2.0
#include "scope.h"

namespace outer {
char in_outer[31];
inline namespace v1 {
char in_inline[32];
}
namespace inner {
char in_inner[33], twice[34];
struct cls {
	static char member[35];
	static const int constant = 7;
	int a;
	enum class kind { red = 1 };
	NEVER_INLINE int method(int parameter);
};
char cls::member[35];
}
char twice[36];
}

namespace {
char anonymous[37];
}
static union {
	int as_int;
	char as_bytes[4];
};
char twice[38];
namespace used {
char through_using[39];
}
using namespace used;
using outer::in_outer;

int outer::inner::cls::method(int parameter)
{
	USE(parameter);
	USE(member);
	USE(anonymous);
	USE(as_int);
	MARK(in_method);
	return parameter + constant + (int)kind::red;
}

template <int N> NEVER_INLINE int instance()
{
	char filled[N];

	USE(filled);
	MARK(in_instance);
	return filled[0];
}

int main()
{
	outer::inner::cls object = { 3 };
	char local[41];
	auto lambda = [&](char parameter) NEVER_INLINE {
		char in_lambda[42];

		USE(in_lambda);
		USE(parameter);
		MARK(in_body_of_lambda);
	};

	USE(local);
	USE(twice);
	USE(used::through_using);
	USE(outer::in_inline);
	USE(outer::in_outer);
	USE(outer::twice);
	USE(outer::inner::twice);
	USE(outer::inner::in_inner);
	lambda(1);
	MARK(in_main);
	return object.method(1) + instance<43>();
}
