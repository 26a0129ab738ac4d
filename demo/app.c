// SPDX-License-Identifier: GPL-2.0
/* An order desk: the program that app.tsf traces. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct customer {
	uint32_t number;
	char city[12];
};

struct account {
	uint64_t cents;
	struct customer *owner;
};

struct note {
	uint16_t length;
	char text[];
};

struct order {
	uint32_t number;
	uint32_t cents;
	struct account *account;
	struct note *note;
	const char *item;
};

static struct note *note_make(const char *text)
{
	size_t length = strlen(text);
	struct note *note = malloc(sizeof(*note) + length);

	if (!note)
		abort();
	note->length = length;
	memcpy(note->text, text, length);
	return note;
}

__attribute__((noipa))
uint64_t order_book(struct order *order, unsigned int count)
{
	uint64_t cents = (uint64_t)order->cents * count;

	if (cents > order->account->cents)
		return 0;
	order->account->cents -= cents;
	return cents;
}

int main(void)
{
	struct customer owners[] = { { 1001, "Aachen" }, { 1002, "Zwolle" } };
	struct account accounts[] = {
		{ 100000, &owners[0] }, { 2000, &owners[1] },
	};
	struct order orders[] = {
		{ 1, 1250, &accounts[0], note_make("gift wrap"), "lamp" },
		{ 2, 89900, &accounts[1], note_make("ring twice"), "bicycle" },
		{ 3, 499, &accounts[0], NULL, "tea, loose" },
	};

	for (unsigned int i = 0; i < 3; i++)
		printf("%s: %llu cents\n", orders[i].item,
		       (unsigned long long)order_book(&orders[i], i + 1));
	free(orders[0].note);
	free(orders[1].note);
	return 0;
}
