// SPDX-License-Identifier: GPL-2.0
/* A map has each key with its value, however many there are and alike they
 * are, and nothing else. */
#include <string.h>
#include <tap.h>
#include "lib/key_map.h"

#define MANY	20000

static uint64_t dense(unsigned int i)
{
	return i;
}

/* The lower half is the same. */
static uint64_t upper(unsigned int i)
{
	return (uint64_t)i << 32;
}

static uint64_t address(unsigned int i)
{
	return 0x7f0000000000 + 64 * (uint64_t)i;
}

static uint64_t last(unsigned int i)
{
	return UINT64_MAX - i;
}

static void check(const char *name, uint64_t (*key)(unsigned int i))
{
	static char values[MANY], met[MANY];
	struct key_map map = { 0 };
	unsigned int wrong = 0, seen = 0;
	size_t at = 0;
	char *value;

	memset(met, 0, sizeof(met));
	for (unsigned int i = 0; i < MANY; i++) {
		wrong += key_map_find(&map, key(i)) != NULL;
		wrong += key_map_add(&map, key(i), &values[i]) != 0;
		wrong += key_map_find(&map, key(i)) != &values[i];
		wrong += key_map_find(&map, key(i / 2)) != &values[i / 2];
	}
	for (unsigned int i = 0; i < MANY; i++) {
		wrong += key_map_find(&map, key(i)) != &values[i];
		wrong += key_map_find(&map, key(MANY + i)) != NULL;
	}
	while ((value = key_map_next(&map, &at))) {
		wrong += met[value - values]++;
		seen++;
	}
	tap_ok(!wrong && seen == MANY && map.count == MANY && 2 * MANY <= map.size,
	       "%s: %u wrong, %u of %u", name, wrong, seen, MANY);
	key_map_free(&map);
	tap_ok(!map.count && !key_map_find(&map, key(0)), "%s: nothing is left",
	       name);
}

/* Of each key two values; then every second key is removed, one value first. */
static void check_each(void)
{
	static char values[2 * MANY];
	struct key_map map = { 0 };
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < 2 * MANY; i++)
		wrong += key_map_reserve(&map) ||
			 key_map_add(&map, dense(i / 2), &values[i]);
	for (unsigned int i = 0; i < MANY; i += 2) {
		key_map_remove(&map, dense(i), &values[2 * i + 1]);
		wrong += key_map_find(&map, dense(i)) != &values[2 * i];
		key_map_remove(&map, dense(i), &values[2 * i]);
	}
	for (unsigned int i = 0; i < MANY; i++) {
		unsigned int met = 0;
		size_t step = 0;
		char *value;

		while ((value = key_map_each(&map, dense(i), &step)))
			met += value == &values[2 * i] ? 1 :
			       value == &values[2 * i + 1] ? 2 : 4;
		wrong += met != (i % 2 ? 3 : 0);
	}
	tap_ok(!wrong && map.count == MANY,
	       "two values of a key, and removing: %u wrong, %zu left", wrong,
	       map.count);
	key_map_free(&map);
}

/* Where a key goes is random: in many maps its values go on from the last slot
 * to the first. One value is removed and added again. */
static void check_order(void)
{
	static char values[200];
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < 200; i++) {
		struct key_map map = { 0 };
		size_t step = 0, met = 0;
		char *value;

		for (unsigned int j = 0; j < 200; j++) {
			wrong += key_map_add(&map, i, &values[j]) != 0;
			wrong += key_map_add(&map, ~i, &values[j]) != 0;
		}
		key_map_remove(&map, i, &values[0]);
		wrong += key_map_add(&map, i, &values[0]) != 0;
		while ((value = key_map_each(&map, i, &step)))
			wrong += value != &values[++met % 200];
		wrong += met != 200;
		key_map_free(&map);
	}
	tap_ok(!wrong, "values of a key are in the order of adding: %u wrong",
	       wrong);
}

int main(void)
{
	struct key_map map = { 0 };
	size_t at = 0;

	tap_ok(!key_map_find(&map, 0) && !key_map_next(&map, &at),
	       "there is nothing in a new one");
	key_map_add_number(&map, 0, 7);
	tap_ok(key_map_number(&map, 0) == 7 && !key_map_number(&map, 1),
	       "numbers as values");
	key_map_free(&map);
	tap_ok(key_map_serial(&map, 70) == 1 && key_map_serial(&map, 0) == 2 &&
	       key_map_serial(&map, 70) == 1, "serial numbers of keys");
	key_map_free(&map);
	check("small keys", dense);
	check("in the upper half", upper);
	check("addresses", address);
	check("the largest", last);
	check_each();
	check_order();
	return tap_done();
}
