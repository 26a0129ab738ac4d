/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TAP 13 for C tests. One program, one subject:
 *
 *	int main(void)
 *	{
 *		if (geteuid())
 *			tap_skip_all("needs root");
 *		tap_ok(2 + 2 == 4, "addition of %d", 2);
 *		return tap_done();
 *	}
 *
 * The plan is printed by tap_plan() at the start or by tap_done() at the end.
 * Exit status: 0 passed, 1 failed, 4 skipped as a whole.
 */
#ifndef RASTRACE_TAP_H
#define RASTRACE_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define TAP_SKIPPED	4

static int tap_count, tap_planned = -1, tap_failures;

static inline void tap_start(void)
{
	static bool started;

	if (started)
		return;
	started = true;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("TAP version 13");
}

static inline void tap_plan(int points)
{
	tap_start();
	tap_planned = points;
	printf("1..%d\n", points);
}

__attribute__((format(printf, 1, 2), unused))
static void tap_diag(const char *fmt, ...)
{
	va_list ap;

	tap_start();
	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* A test point; returns @passed, so that a caller can say more on failure. */
__attribute__((format(printf, 2, 3), unused))
static bool tap_ok(bool passed, const char *fmt, ...)
{
	va_list ap;

	tap_start();
	tap_failures += !passed;
	printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	return passed;
}

/* Two numbers are equal; prints both when they are not. */
__attribute__((format(printf, 3, 4), unused))
static bool tap_is(long long got, long long expected, const char *fmt, ...)
{
	char name[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	if (tap_ok(got == expected, "%s", name))
		return true;
	tap_diag("got %lld (%#llx), expected %lld (%#llx)", got, got, expected,
		 expected);
	return false;
}

/* Two strings are equal (NULL equals NULL); prints both when they are not. */
__attribute__((format(printf, 3, 4), unused))
static bool tap_str(const char *got, const char *expected, const char *fmt, ...)
{
	bool same = got && expected ? !strcmp(got, expected) : got == expected;
	char name[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	if (tap_ok(same, "%s", name))
		return true;
	tap_diag("got '%s', expected '%s'", got ? got : "(null)",
		 expected ? expected : "(null)");
	return false;
}

/* A test point that can't run here. */
__attribute__((unused))
static void tap_skip(const char *name, const char *reason)
{
	tap_start();
	printf("ok %d - %s # SKIP %s\n", ++tap_count, name, reason);
}

/* The whole test can't run here. */
__attribute__((noreturn, unused))
static void tap_skip_all(const char *reason)
{
	tap_start();
	printf("1..0 # SKIP %s\n", reason);
	exit(TAP_SKIPPED);
}

__attribute__((noreturn, format(printf, 1, 2), unused))
static void tap_bail(const char *fmt, ...)
{
	va_list ap;

	tap_start();
	fputs("Bail out! ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	exit(1);
}

/* No more memory than that; but a sanitizer takes what it takes. */
__attribute__((unused))
static void tap_limit_memory(unsigned long bytes)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rlimit limit = { bytes, bytes };

	setrlimit(RLIMIT_AS, &limit);
#endif
}

/* Prints the plan when there was none; the value is main()'s. */
__attribute__((unused))
static int tap_done(void)
{
	tap_start();
	if (tap_planned < 0)
		tap_plan(tap_count);
	if (tap_planned != tap_count)
		tap_diag("planned %d, ran %d", tap_planned, tap_count);
	return tap_failures || tap_planned != tap_count || !tap_count;
}

#endif
