// SPDX-License-Identifier: GPL-2.0
/* What the snippets in this folder trace. */
int number = 1;
char text[] = "text";
char *pointer = text;

int alpha(int a, int b)
{
	return a + b + number;
}

int beta(int a)
{
	return a - number;
}

int delta(char *s)
{
	return s[0] + pointer[0];
}

char big[64];

struct both {
	char *s;
	long n;
};

int late(int a, char *s, struct both both)
{
	int b = alpha(a, 1);

	return b + beta(b) + s[0] + both.s[0] + both.n;
}

struct opaque;

struct thing {
	int count, list[4];
	unsigned int bits : 3;
	float ratio;
	struct opaque *hidden;
	struct thing *next;
	void *any;
	int rest[];
};

struct thing thing;
