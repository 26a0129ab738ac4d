#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The questions of docs/compare.md: each command, as it is printed there, answers
# within a minute.
. "$(dirname "$0")/../tap.sh"
need_tree
need_root
need cc
cd "$TMP" || exit 1
export RASTRACE_RUN="$TMP/run"

cat >server.c <<'EOF'
#include <unistd.h>
struct object { int type; char *ptr; };
struct client { int argc; struct object **argv; };
__attribute__((noipa)) int set_command(struct client *c)
{
	__asm__ volatile("" ::: "memory");
	return c->argc;
}
int main(void)
{
	struct object name = { 0, "SET" }, key = { 0, "user:17" };
	struct object *argv[] = { &name, &key };
	struct client c = { 2, argv };

	for (;;) {
		set_command(&c);
		usleep(10000);
	}
}
EOF
cat >shop.cc <<'EOF'
#include <string>
#include <vector>
#include <unistd.h>
namespace shop {
class Store {
	std::vector<std::string> names { "tea", "slow" };
public:
	__attribute__((noinline)) int find(const std::string &name)
	{
		if (name == "slow")
			usleep(3000);
		for (size_t i = 0; i < names.size(); i++)
			if (names[i] == name)
				return i;
		return -1;
	}
};
}
__attribute__((noinline)) void fail()
{
	__asm__ volatile("" ::: "memory");
}
int main()
{
	shop::Store store;
	int found = store.find("tea") + store.find("slow");

	if (store.find("cake") < 0)
		fail();
	return found + store.find("tea") < 0;
}
EOF
cat >basket.rs <<'EOF'
struct Basket { items: Vec<String>, total: u64 }
impl Basket {
    #[inline(never)]
    fn add(&mut self, item: &str, price: u64) -> Result<u64, String> {
        if price == 0 { return Err(format!("{} is free", item)); }
        self.items.push(item.to_string());
        self.total += price;
        Ok(self.total)
    }
}
fn main() {
    let mut b = Basket { items: vec![], total: 0 };
    for (item, price) in [("tea", 3), ("gift", 0)] {
        println!("{:?} {}", b.add(item, price), b.items.len());
    }
}
EOF
cc -g -O1 -o server server.c || bail "no server"

# commands: those of the page, in their order
sed -n 's/^    # //p' "$TOP/docs/compare.md" >commands
is "$(wc -l <commands)" 6 "six commands"

# answer N: what the N-th prints
answer() {
	timeout 60 sh -c "$(sed -n "$1p" commands)" 2>err
}

./server &
server=$!
sed -i "s/\$(pidof server)/$server/" commands
timeout -s INT 3 sh -c "exec $(sed -n 1p commands)" >out 2>err
ok "keys" grep -q '^c->argv\[1\]->ptr = user:17$' out
kill $server

if c++ -g -O2 -o shop shop.cc 2>log; then
	is "$(answer 2 | grep -c 'name = slow$')" 1 "slow calls, with strings"
	is "$(answer 3 | grep -c 'name = cake$')" 1 "the argument of the failure"
	answer 4 >out
	ok "how long all take" grep -q '^ *4 .* shop::Store::find$' out
	answer 6 >out
	is "$(grep -c 'find(.*"cake")' out) $(grep -c 'name = "tea"' out)" "1 1" \
		"what was before the error"
else
	skip "C++" "$(head -n 1 log)"
fi
if command -v rustc >/dev/null && rustc -g -O -o basket basket.rs 2>log; then
	is "$(answer 5 | grep -c 'item = ')" 2 "parameters of Rust"
else
	skip "Rust" "no rustc"
fi
tap_done
