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
