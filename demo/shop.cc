// SPDX-License-Identifier: GPL-2.0
/* A shop: the program that shop.tsf traces. */
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace shop {

enum class Pay { cash, card };

struct Item {
	std::string name;
	int count;
};

class Store {
	unsigned int sold = 0;

public:
	__attribute__((noinline))
	bool order(const std::string &customer, const std::vector<Item> &items,
		   Pay pay, const std::optional<std::string> &coupon)
	{
		unsigned int count = 0;

		for (const Item &item : items)
			count += item.count;
		if (pay == Pay::cash && count > 9 && !coupon)
			return false;
		sold += count;
		std::printf("%s: %u\n", customer.c_str(), count);
		return true;
	}
};

}

int main()
{
	shop::Store store;

	store.order("Alice", { { "lamp", 1 }, { "tea, loose", 3 } },
		    shop::Pay::card, std::nullopt);
	store.order("Bob Baker & Sons, Zwolle", { { "bicycle", 2 } },
		    shop::Pay::cash, "SPRING");
	store.order("Carol", {}, shop::Pay::card, std::nullopt);
	return 0;
}
